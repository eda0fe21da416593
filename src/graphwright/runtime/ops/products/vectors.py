"""Products of vectors: mv, dot, outer, cross; the checks that all products share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.dtype_rules import require_inexact
from graphwright.runtime.ops.kernels import wrap
from graphwright.runtime.ops.products.contractions import GEMM_TYPES, conjugated
from graphwright.runtime.ops.strides import broadcast_shapes
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor


def require_ndim(name: str, tensors: tuple[Any, ...], ndims: tuple[int, ...]) -> None:
    """Raise RuntimeError unless the tensors have those numbers of dims."""
    if tuple(len(t.shape) for t in tensors) != ndims:
        raise RuntimeError(
            f"{name}: expected tensors with {', '.join(map(str, ndims))} dimensions, "
            f"got {', '.join(map(describe, tensors))}"
        )


def require_tensors(name: str, values: Sequence[Any]) -> None:
    """Raise TypeError unless all values are tensors."""
    for position, value in enumerate(values):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name}(): expected Tensor as element {position}, but got {type(value).__name__}"
            )


def require_one_dtype(name: str, *tensors: Any) -> None:
    """Raise RuntimeError unless all tensors have one dtype."""
    if any(t.dtype is not tensors[0].dtype for t in tensors):
        raise RuntimeError(
            f"{name}: expected tensors of the same dtype, "
            f"got {', '.join(map(describe, tensors))}"
        )


# -- vectors


def _mv(input: Any, vec: Any) -> Any:
    require_ndim("mv", (input, vec), (2, 1))
    return ops.squeeze(ops.mm(input, ops.unsqueeze(vec, 1)), 1)


def _mv_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    return (
        ops.outer(grad, conjugated(ctx.vec)) if ctx.needs["input"] else None,
        ops.mv(ops.transpose(conjugated(ctx.input), 0, 1), grad) if ctx.needs["vec"] else None,
    )


def _dot(input: Any, other: Any) -> Any:
    require_ndim("dot", (input, other), (1, 1))
    require_one_dtype("dot", input, other)
    if input.shape[0] != other.shape[0]:
        raise RuntimeError(
            "dot: inconsistent tensor size, expected the same number of elements, "
            f"got {describe(input)} and {describe(other)}"
        )
    return ops.reshape(ops.mm(ops.unsqueeze(input, 0), ops.unsqueeze(other, 1)), ())


def _dot_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    return (
        ops.mul(grad, conjugated(ctx.tensor)) if ctx.needs["input"] else None,
        ops.mul(grad, conjugated(ctx.input)) if ctx.needs["tensor"] else None,
    )


def _dot_eager(input: Any, other: Any) -> Any:
    dtype = input.dtype
    if dtype is not other.dtype or dtype not in GEMM_TYPES or input.ndim != 1:
        return _dot(input, other)
    if input.shape != other.shape:
        return _dot(input, other)
    return wrap(np.dot(input._nd, other._nd), dtype)


def outer_product(input: Any, vec2: Any) -> Any:
    """[n] and [m] as [n, m]."""
    require_ndim("outer", (input, vec2), (1, 1))
    return ops.mul(ops.unsqueeze(input, 1), vec2)


def _vecdot(x: Any, y: Any, dim: Any) -> Any:
    at = wrap_dim(dim, max(x.ndim, y.ndim))
    require_inexact("linalg.vecdot", x)
    require_one_dtype("linalg.vecdot", x, y)
    return ops.sum(ops.mul(conjugated(x), y), (at,))


define(
    "mv(Tensor input, Tensor vec)",
    Kind.COMPOSITE,
    vjp=_mv_vjp,
    saves=("input?vec", "vec?input"),
    decompose=_mv,
    doc="""Product of a matrix and a vector.

    Args:
        input: `(n, k)`; any dtype but bool.
        vec: `(k,)`, of the dtype of `input`.

    Returns: a tensor of shape `(n,)`.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> gw.mv(gw.tensor([[1, 2], [3, 4]]), gw.tensor([1, 1]))
        tensor([3, 7])
    """,
)
define(
    "dot(Tensor input, Tensor tensor)",
    Kind.COMPOSITE,
    vjp=_dot_vjp,
    saves=("input?tensor", "tensor?input"),
    decompose=_dot,
    eager=_dot_eager,
    doc="""Sum of the products of two vectors' elements, without conjugation.

    Args:
        input: `(n,)`; any dtype but bool.
        tensor: `(n,)`, of the dtype of `input`.

    Returns: a tensor without dims.

    Raises:
        RuntimeError: a tensor is no vector, or lengths or dtypes differ.

    Example:
        >>> gw.dot(gw.tensor([1, 2]), gw.tensor([3, 4]))
        tensor(11)
    """,
)
define(
    "vdot(Tensor input, Tensor other)",
    Kind.COMPOSITE,
    decompose=lambda input, other: ops.dot(conjugated(input), other),
    doc="""Inner product of two vectors: `sum(conj(input) * other)`.

    Args:
        input: `(n,)`, conjugated; any dtype but bool.
        other: `(n,)`, of the dtype of `input`.

    Returns: a tensor without dims.

    Raises:
        RuntimeError: a tensor is no vector, or lengths or dtypes differ.

    Example:
        >>> gw.vdot(gw.tensor([1j, 2]), gw.tensor([1j, 1]))
        tensor(3.+0.j)
    """,
)
define(
    "outer(Tensor input, Tensor vec2)",
    Kind.COMPOSITE,
    decompose=outer_product,
    doc="""Outer product of two vectors: `out[i, j] = input[i] * vec2[j]`.

    Args:
        input: `(n,)`.
        vec2: `(m,)`; dtypes are promoted.

    Returns: a tensor of shape `(n, m)`.

    Raises:
        RuntimeError: a tensor is no vector.

    Example:
        >>> gw.outer(gw.tensor([1, 2]), gw.tensor([3, 4]))
        tensor([[3, 4],
                [6, 8]])
    """,
)
define(
    "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1)",
    Kind.COMPOSITE,
    decompose=_vecdot,
    method=False,
    public=False,
    doc="""Inner products of vectors along a dim: `sum(conj(x) * y, dim)`.

    Args:
        x: floating point or complex, conjugated.
        y: of the dtype of `x`; both are broadcast.
        dim: the dim of the vectors.

    Returns: a tensor of the broadcast shape without `dim`.

    Raises:
        IndexError: there is no such dim.
        RuntimeError: the tensors hold integers, or dtypes differ, or shapes are not
            broadcastable.

    Example:
        >>> gw.linalg.vecdot(gw.tensor([[1.0, 2.0], [3.0, 4.0]]), gw.tensor([1.0, 1.0]))
        tensor([3., 7.])
    """,
)


# -- cross products


def _linalg_cross(input: Any, other: Any, dim: Any) -> Any:
    if input.ndim != other.ndim:
        raise RuntimeError(
            "linalg.cross: inputs must have the same number of dimensions, "
            f"got {describe(input)} and {describe(other)}"
        )
    at = wrap_dim(dim, input.ndim)
    require_one_dtype("linalg.cross", input, other)
    if input.dtype is dtypes.bool:
        raise NotImplementedError(f"linalg.cross: not implemented for {describe(input)}")
    if not input.ndim or input.shape[at] != 3 or other.shape[at] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. "
            f"Got {describe(input)} and {describe(other)}"
        )
    shape = broadcast_shapes("linalg.cross", (input.shape, other.shape))
    a = ops.unbind(ops.expand(input, shape), at)
    b = ops.unbind(ops.expand(other, shape), at)
    turns = ((1, 2), (2, 0), (0, 1))
    parts = tuple(ops.sub(ops.mul(a[i], b[j]), ops.mul(a[j], b[i])) for i, j in turns)
    return ops.stack(parts, at)


def _cross(input: Any, other: Any, dim: Any) -> Any:
    if dim is None:
        threes = [d for d, n in enumerate(input.shape) if n == 3]
        if not threes:
            raise RuntimeError(f"no dimension of size 3 in input {describe(input)}")
        dim = threes[0]
    return _linalg_cross(input, other, dim)


define(
    "linalg_cross(Tensor input, Tensor other, *, int dim=-1)",
    Kind.COMPOSITE,
    decompose=_linalg_cross,
    method=False,
    public=False,
    doc="""Cross products of vectors of 3 elements.

    Args:
        input: any dtype but bool, of size 3 in `dim`.
        other: of the dtype and number of dims of `input`; the other dims are broadcast.
        dim: the dim of the vectors.

    Returns: a tensor of the broadcast shape.

    Raises:
        RuntimeError: a size in `dim` is not 3, or numbers of dims or dtypes differ.

    Example:
        >>> gw.linalg.cross(gw.tensor([1, 0, 0]), gw.tensor([0, 1, 0]))
        tensor([0, 0, 1])
    """,
)
define(
    "cross(Tensor input, Tensor other, int? dim=None)",
    Kind.COMPOSITE,
    decompose=_cross,
    doc="""Cross products of vectors of 3 elements.

    Args:
        input: any dtype but bool, of size 3 in `dim`.
        other: of the dtype and number of dims of `input`; the other dims are broadcast.
        dim: the dim of the vectors; the first of size 3 if None.

    Returns: a tensor of the broadcast shape.

    Raises:
        RuntimeError: there is no dim of size 3, or numbers of dims or dtypes differ.

    Example:
        >>> gw.cross(gw.tensor([1, 0, 0]), gw.tensor([0, 1, 0]))
        tensor([0, 0, 1])
    """,
)


define(
    "linalg_diagonal(Tensor A, *, int offset=0, Dim dim1=-2, Dim dim2=-1)",
    Kind.COMPOSITE,
    decompose=lambda A, offset, dim1, dim2: ops.diagonal(A, offset, dim1, dim2),
    method=False,
    public=False,
    doc="""View of the diagonals of matrices: `diagonal`, by default of the last two dims.

    Args:
        A: a tensor of at least 2 dims.
        offset: how far above the main diagonal; below it if negative.
        dim1, dim2: the dims of rows and of columns.

    Returns: a view of shape `(*, k)`, where k is the length of the diagonal.

    Raises:
        IndexError: there is no such dim.

    Example:
        >>> gw.linalg.diagonal(gw.tensor([[1, 2], [3, 4]]))
        tensor([1, 4])
    """,
)
