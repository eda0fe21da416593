"""Products along named dims: tensordot, inner, kron."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.products.vectors import require_one_dtype
from graphwright.runtime.ops.strides import product
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor.tensor import Tensor


def _tensordot_dims(a: Any, b: Any, dims: Any) -> tuple[list[int], list[int]]:
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, list | tuple):
        if len(dims) != 2:
            raise ValueError(
                f"tensordot(): dims must be two tuples of ints, but there are {len(dims)} of them"
            )
        first, second = dims
        for one in (first, second):
            if not isinstance(one, list | tuple):
                raise TypeError(
                    "tensordot(): dims must be int or two tuples of ints, but one is "
                    f"{type(one).__name__}"
                )
        first, second = list(first), list(second)
    else:
        if not isinstance(dims, int):
            raise RuntimeError(
                "tensordot expects dims to be int or a pair of lists of ints, "
                f"got {type(dims).__name__}"
            )
        if dims < 0 or dims > min(a.ndim, b.ndim):
            raise RuntimeError(
                "tensordot expects dims >= 0 and dims < ndim_a or ndim_b, "
                f"but got dims={dims} for {describe(a)} and {describe(b)}"
            )
        first, second = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    if len(first) != len(second):
        raise RuntimeError(f"tensordot: both dimension lists should have same length, got "
                           f"{first} and {second}")
    return [wrap_dim(d, a.ndim) for d in first], [wrap_dim(d, b.ndim) for d in second]


def _tensordot(a: Any, b: Any, dims: Any) -> Any:
    require_one_dtype("tensordot", a, b)
    first, second = _tensordot_dims(a, b, dims)
    if len(set(first)) != len(first) or len(set(second)) != len(second):
        raise RuntimeError(f"tensordot: a dim appears twice in {first} or {second}")
    for i, j in zip(first, second, strict=True):
        n, m = a.shape[i], b.shape[j]
        if n == m:
            continue
        if n == 1:
            b = ops.sum(b, (j,), True, dtype=b.dtype)
        elif m == 1:
            a = ops.sum(a, (i,), True, dtype=a.dtype)
        else:
            raise RuntimeError(
                f"tensordot: contracted dimensions need to match, but first has size {n} in dim "
                f"{i} and second has size {m} in dim {j}"
            )
    rows = [d for d in range(a.ndim) if d not in first]
    columns = [d for d in range(b.ndim) if d not in second]
    shape = (*(a.shape[d] for d in rows), *(b.shape[d] for d in columns))
    inner = product([a.shape[d] for d in first])
    left = ops.permute(a, (*rows, *first)) if a.ndim else a
    right = ops.permute(b, (*second, *columns)) if b.ndim else b
    left = ops.reshape(left, (product([a.shape[d] for d in rows]), inner))
    right = ops.reshape(right, (inner, product([b.shape[d] for d in columns])))
    return ops.reshape(ops.mm(left, right), shape)


def _inner(input: Any, other: Any) -> Any:
    if not input.shape or not other.shape:
        return ops.mul(input, other)
    require_one_dtype("inner", input, other)
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner(): the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    return _tensordot(input, other, ([input.ndim - 1], [other.ndim - 1]))


define(
    "tensordot(Tensor a, Tensor b, object dims=2)",
    Kind.COMPOSITE,
    decompose=_tensordot,
    method=False,
    doc="""Sum of products along chosen dims of both tensors.

    Args:
        a: any dtype but bool.
        b: of the dtype of `a`.
        dims: n, for the last n dims of `a` and the first n of `b`; or two lists, the dims of
            `a` and those of `b`, pair by pair.

    Returns: a tensor whose shape is the other dims of `a`, then those of `b`.

    Raises:
        RuntimeError: the sizes of a pair differ and neither is 1, a dim is named twice, or
            dtypes differ.

    Example:
        >>> gw.tensordot(gw.ones(2, 3, 4), gw.ones(3, 4, 5), 2).shape
        graphwright.Size([2, 5])
        >>> gw.tensordot(gw.ones(2, 3), gw.ones(4, 2), ([0], [1])).shape
        graphwright.Size([3, 4])
    """,
)
define(
    "inner(Tensor input, Tensor other)",
    Kind.COMPOSITE,
    decompose=_inner,
    doc="""Sum of products along the last dims; the product where one tensor has no dims.

    Args:
        input: `(*, k)`.
        other: `(+, k)`, of the dtype of `input`.

    Returns: a tensor of shape `(*, +)`.

    Raises:
        RuntimeError: the last sizes or the dtypes differ.

    Example:
        >>> gw.inner(gw.ones(2, 3), gw.ones(4, 3)).shape
        graphwright.Size([2, 4])
    """,
)


def _apart(input: Any, other: Any) -> tuple[Any, Any, tuple[Any, ...]]:
    """[a, 1, b, 1, ..] and [1, c, 1, d, ..], and the shape [a * c, b * d, ..] of the result."""
    ndim = max(input.ndim, other.ndim)
    a = (*(1,) * (ndim - input.ndim), *input.shape)
    b = (*(1,) * (ndim - other.ndim), *other.shape)
    left = ops.reshape(input, tuple(n for size in a for n in (size, 1)))
    right = ops.reshape(other, tuple(n for size in b for n in (1, size)))
    return left, right, tuple(n * m for n, m in zip(a, b, strict=True))


def _kron(input: Any, other: Any) -> Any:
    left, right, shape = _apart(input, other)
    return ops.reshape(ops.mul(left, right), shape)


_LARGE = 1 << 16    # elements from which the copies of factors are small beside the result


def _kron_eager(input: Tensor, other: Tensor) -> Tensor:
    """Factors of large matrices are first written out along the rows: these are long then."""
    left, right, shape = _apart(input, other)
    plain = input.is_contiguous() and other.is_contiguous()
    if plain and len(shape) > 1 and product(shape) > _LARGE:
        last = (left.shape[-2], right.shape[-1])
        left, right = (
            ops.reshape(ops.expand(t, (*t.shape[:-2], *last)), (*t.shape[:-2], shape[-1]))
            for t in (left, right)
        )
    return ops.reshape(ops.mul(left, right), shape)


define(
    "kron(Tensor input, Tensor other)",
    Kind.COMPOSITE,
    decompose=_kron,
    eager=_kron_eager,
    doc="""Kronecker product: each element of `input` times the whole of `other`, as blocks.

    Args:
        input: `(a, b, ...)`; the shape that has less dims gets ones in front.
        other: `(c, d, ...)`; dtypes are promoted.

    Returns: a tensor of shape `(a * c, b * d, ...)`.

    Example:
        >>> gw.kron(gw.eye(2), gw.tensor([[1.0, 2.0]]))
        tensor([[1., 2., 0., 0.],
                [0., 0., 1., 2.]])
    """,
)
