"""Triangles of matrices, and matrices made of diagonals."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.strides import product
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.views.layouts import row_major
from graphwright.runtime.tensor import dtypes


def _triangle(name: str, compare: str) -> Any:
    def decompose(input: Any, diagonal: int) -> Any:
        if input.ndim < 2:
            raise RuntimeError(
                f"{name}: input tensor must have at least 2 dimensions, got {describe(input)}"
            )
        rows = ops.unsqueeze(ops.arange(input.shape[-2], device=input.device), 1)
        columns = ops.arange(input.shape[-1], device=input.device)
        kept = getattr(ops, compare)(ops.sub(columns, rows), diagonal)
        zero = False if input.dtype is dtypes.bool else 0
        result = ops.where(kept, input, zero)
        return row_major(result)

    return decompose


_TRIANGLE_DOCS = {
    "tril": """Lower triangle of matrices: what lies above a diagonal is 0.

    Args:
        input: a tensor of shape (..., rows, columns).
        diagonal: the last diagonal that is kept: 0 is the main one, positive ones lie above
            it.

    Returns: a new tensor of the shape and dtype of `input`.

    Raises:
        RuntimeError: `input` has fewer than two dims.

    Example:
        >>> gw.tril(gw.tensor([[1, 2], [3, 4]]))
        tensor([[1, 0],
                [3, 4]])
    """,
    "triu": """Upper triangle of matrices: what lies below a diagonal is 0.

    Args:
        input: a tensor of shape (..., rows, columns).
        diagonal: the first diagonal that is kept: 0 is the main one, positive ones lie above
            it.

    Returns: a new tensor of the shape and dtype of `input`.

    Raises:
        RuntimeError: `input` has fewer than two dims.

    Example:
        >>> gw.triu(gw.tensor([[1, 2], [3, 4]]), 1)
        tensor([[0, 2],
                [0, 0]])
    """,
}
for _name, _compare in (("tril", "le"), ("triu", "ge")):
    define(
        f"{_name}(Tensor input, SymInt diagonal=0)",
        Kind.COMPOSITE,
        vjp=lambda ctx, grad, name=_name: getattr(ops, name)(grad, ctx.diagonal),
        decompose=_triangle(_name, _compare),
        doc=_TRIANGLE_DOCS[_name],
    )
define("tril_(Tensor input, SymInt diagonal=0)", Kind.INPLACE, functional="tril", public=False)
define("triu_(Tensor input, SymInt diagonal=0)", Kind.INPLACE, functional="triu", public=False)


# -- diagonals of new matrices


def _diag_embed(input: Any, offset: int, dim1: int, dim2: int) -> Any:
    ndim = input.ndim + 1
    a, b = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    if a == b:
        raise RuntimeError(
            f"diag_embed: diagonal dimensions cannot be identical {dim1}, {dim2}"
        )
    size = input.shape[-1] + abs(offset)
    along, across = (a, b) if offset >= 0 else (b, a)
    padded = ops.constant_pad(input, (0, abs(offset)), 0) if offset else input
    order = list(range(ndim - 2))
    order.insert(along - (across < along), ndim - 2)
    values = ops.unsqueeze(ops.permute(padded, tuple(order)), across)
    places = ops.arange(size, device=input.device)
    rows = ops.reshape(places, tuple(size if d == a else 1 for d in range(ndim)))
    columns = ops.reshape(places, tuple(size if d == b else 1 for d in range(ndim)))
    zero = False if input.dtype is dtypes.bool else 0
    result = ops.where(ops.eq(ops.sub(columns, rows), offset), values, zero)
    return row_major(result)


define(
    "diag_embed(Tensor input, int offset=0, int dim1=-2, int dim2=-1)",
    Kind.COMPOSITE,
    decompose=_diag_embed,
    doc="""Matrices with the rows of the last dim on a diagonal and 0 elsewhere.

    Args:
        input: a tensor of shape (..., n).
        offset: which diagonal: 0 is the main one, positive ones lie above it.
        dim1, dim2: the places of the rows and columns of the matrices in the result.

    Returns: a new tensor with one more dim; the matrices have the size `n + |offset|`.

    Raises:
        RuntimeError: `dim1` and `dim2` are one dim.
        IndexError: a place is out of range.

    Example:
        >>> gw.diag_embed(gw.tensor([1, 2]), 1)
        tensor([[0, 1, 0],
                [0, 0, 2],
                [0, 0, 0]])
    """,
)


def _diag(input: Any, diagonal: int) -> Any:
    if input.ndim == 1:
        return ops.diag_embed(input, diagonal)
    if input.ndim != 2:
        raise RuntimeError(f"diag: expects a 1D or 2D tensor, got {describe(input)}")
    return ops.clone(ops.diagonal(input, diagonal, 0, 1))


define(
    "diag(Tensor input, int diagonal=0)",
    Kind.COMPOSITE,
    decompose=_diag,
    doc="""Matrix with a vector on a diagonal; of a matrix, a copy of a diagonal.

    Args:
        input: a tensor of one or two dims.
        diagonal: which diagonal: 0 is the main one, positive ones lie above it.

    Returns: a new matrix with 0 elsewhere, or a new vector.

    Raises:
        RuntimeError: `input` has another number of dims.

    Example:
        >>> gw.diag(gw.tensor([1, 2]))
        tensor([[1, 0],
                [0, 2]])
    """,
)
define(
    "diagflat(Tensor input, int offset=0)",
    Kind.COMPOSITE,
    decompose=lambda input, offset: ops.diag_embed(ops.reshape(input, (-1,)), offset),
    doc="""Matrix with all elements, in row-major order, on a diagonal and 0 elsewhere.

    Args:
        input: a tensor of any shape.
        offset: which diagonal: 0 is the main one, positive ones lie above it.

    Returns: a new matrix of the size `input.numel() + |offset|`.

    Example:
        >>> gw.diagflat(gw.tensor([[1, 2]]))
        tensor([[1, 0],
                [0, 2]])
    """,
)


def _fill_diagonal_(input: Any, fill_value: Any, wrap: bool) -> Any:
    if input.ndim < 2:
        raise RuntimeError(
            f"fill_diagonal_: dimensions must be larger than 1, got {describe(input)}"
        )
    if input.ndim > 2 and any(n != input.shape[0] for n in input.shape):
        raise RuntimeError(
            f"fill_diagonal_: all dimensions of input must be of equal length, got "
            f"{describe(input)}"
        )
    strides, size = input.stride(), min(input.shape)
    step = sum(strides)
    ops.fill_(ops.as_strided(input, (size,), (step,)), fill_value)
    if wrap and input.ndim == 2 and input.shape[0] > input.shape[1] + 1:
        columns = input.shape[1]
        if product(input.shape) and columns:
            start = columns + 1
            for first in range(start, input.shape[0], start):
                part = ops.slice(input, 0, first, min(first + columns, input.shape[0]))
                ops.fill_(ops.diagonal(part), fill_value)
    return input


define(
    "fill_diagonal_(Tensor input, Scalar fill_value, bool wrap=False)",
    Kind.COMPOSITE,
    decompose=_fill_diagonal_,
    public=False,
    doc="""Write a number to the main diagonal, in place.

    Args:
        input: a tensor of at least two dims; of more than two, all of one size.
        fill_value: the number.
        wrap: of a matrix with more rows than columns, go on with a diagonal below, one row
            left out.

    Returns: `input`.

    Raises:
        RuntimeError: `input` has fewer than two dims, or more of different sizes.

    Example:
        >>> gw.zeros(2, 3).fill_diagonal_(5)
        tensor([[5., 0., 0.],
                [0., 5., 0.]])
    """,
)
