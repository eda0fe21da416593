"""Views of other strides: as_strided, windows of a dim, diagonals."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.strides import may_overlap
from graphwright.runtime.ops.tensor_spec import ViewSpec
from graphwright.runtime.ops.views.basic import define_view
from graphwright.runtime.tensor.dtypes import int64
from graphwright.runtime.tensor.view_methods import strided_from, view_extent


def _as_strided_meta(
    input: Any, size: tuple[Any, ...], stride: tuple[Any, ...], storage_offset: Any
) -> ViewSpec:
    if len(size) != len(stride):
        raise RuntimeError(
            f"as_strided: mismatch in length of strides and shape: {list(size)}, {list(stride)}"
        )
    if storage_offset.__class__ is int and storage_offset < 0:
        raise RuntimeError(f"as_strided: storage offset must not be negative: {storage_offset}")
    own = input.storage_offset()
    offset = 0 if storage_offset is None else storage_offset - own
    return ViewSpec(tuple(size), tuple(stride), offset)


def _as_strided_vjp(ctx: Any, grad: Any) -> Any:
    """Scatter-add into a flat buffer that spans both, then read it as the input lies.

    Elements of the input that share memory each get an equal part, as in PyTorch.
    """
    shape, strides, own = ctx.input.shape, ctx.input.strides, ctx.input.offset
    begin = own if ctx.storage_offset is None else ctx.storage_offset
    first = min(own, begin)
    own, start = own - first, begin - first
    extent = max(own + view_extent(shape, strides), start + view_extent(ctx.size, ctx.stride))
    flat = _scattered(grad, extent, start, ctx.stride)
    result = strided_from(flat, own, shape, strides)
    if not may_overlap(shape, strides):
        return result
    ones = ops.ones(shape, dtype=int64, device=grad.device)     # exact, of half types too
    count = _scattered(ones, extent, own, strides)
    return ops.div(result, strided_from(count, own, shape, strides))


def _scattered(values: Any, extent: Any, start: Any, strides: tuple[Any, ...]) -> Any:
    """A vector of `extent` elements to which `values`, laid out from `start` on, are added."""
    places = ops.arange(extent, device=values.device)
    places = ops.reshape(strided_from(places, start, values.shape, strides), (-1,))
    flat = ops.zeros((extent,), dtype=values.dtype, device=values.device)
    return ops.index_add(flat, 0, places, ops.reshape(values, (-1,)))


define_view(
    "as_strided(Tensor input, Size size, Size stride, SymInt? storage_offset=None)",
    _as_strided_meta,
    _as_strided_vjp,
    doc="""View of a tensor's storage with given sizes, strides and offset.

    Elements may overlap; a gradient of the view is added up where they do.

    Args:
        input: the tensor whose storage is viewed.
        size: the sizes of the view.
        stride: its strides, counted in elements.
        storage_offset: the position of its first element in the storage; that of `input` if
            None.

    Returns: a view of the storage of `input`.

    Raises:
        RuntimeError: `size` and `stride` differ in length, the offset is negative, or the view
            reaches out of the storage.

    Example:
        >>> gw.as_strided(gw.arange(6), (2, 3), (1, 2))
        tensor([[0, 2, 4],
                [1, 3, 5]])
    """,
)


def _unfold_meta(input: Any, dimension: int, size: Any, step: Any) -> ViewSpec:
    if size < 0:
        raise RuntimeError(f"unfold: size is {size} but must be >= 0")
    if step <= 0:
        raise RuntimeError(f"unfold: step is {step} but must be > 0")
    shape, strides = input.shape or (1,), input.stride() or (1,)
    have, stride = shape[dimension], strides[dimension]
    if size > have:
        raise RuntimeError(
            f"unfold: maximum size for tensor at dimension {dimension} is {have} but size is "
            f"{size}"
        )
    if not input.shape:
        return ViewSpec((size,), (1,))
    count = (have - size) // step + 1
    return ViewSpec(
        (*shape[:dimension], count, *shape[dimension + 1 :], size),
        (*strides[:dimension], stride * step, *strides[dimension + 1 :], stride),
    )


def _unfold_vjp(ctx: Any, grad: Any) -> Any:
    """Windows that overlap add up."""
    shape, dim = ctx.input.shape, ctx.dimension
    if not shape:
        return ops.reshape(grad, ()) if ctx.size == 1 else ops.sum(grad)
    places = ops.unfold(ops.arange(shape[dim], device=grad.device), 0, ctx.size, ctx.step)
    windows = ops.movedim(grad, -1, dim + 1)
    merged = (*shape[:dim], -1, *shape[dim + 1 :])
    if 0 in windows.shape:
        return ops.zeros(shape, dtype=grad.dtype, device=grad.device)
    zeros = ops.zeros(shape, dtype=grad.dtype, device=grad.device)
    flat = ops.reshape(windows, merged)
    return ops.index_add(zeros, dim, ops.reshape(places, (-1,)), flat)


define_view(
    "unfold(Tensor input, Dim dimension, int size, int step)",
    _unfold_meta,
    _unfold_vjp,
    public=False,
    doc="""View of the windows of a given size along one dim, in a new last dim.

    Args:
        input: a tensor of any shape.
        dimension: the dim that windows slide along; it then counts them.
        size: the size of windows, at most that of the dim.
        step: the distance of windows, above 0.

    Returns: a view of `input` with one dim more, where windows may overlap.

    Raises:
        RuntimeError: `size` exceeds the dim or is negative, or `step` is not positive.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.arange(5).unfold(0, 3, 1)
        tensor([[0, 1, 2],
                [1, 2, 3],
                [2, 3, 4]])
    """,
)


def _diagonal_meta(input: Any, offset: int, dim1: int, dim2: int) -> ViewSpec:
    if dim1 == dim2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    shape, strides = input.shape, input.stride()
    rows, columns = shape[dim1], shape[dim2]
    if offset >= 0:
        columns, start = columns - offset, offset * strides[dim2]
    else:
        rows, start = rows + offset, -offset * strides[dim1]
    length = rows if rows < columns else columns
    if length <= 0:
        length, start = 0, 0
    kept = [i for i in range(len(shape)) if i not in (dim1, dim2)]
    return ViewSpec(
        (*(shape[i] for i in kept), length),
        (*(strides[i] for i in kept), strides[dim1] + strides[dim2]),
        start,
    )


define_view(
    "diagonal(Tensor input, int offset=0, Dim dim1=0, Dim dim2=1)",
    _diagonal_meta,
    lambda ctx, grad: ops.diagonal_backward(
        grad, ctx.input.shape, ctx.offset, ctx.dim1, ctx.dim2
    ),
    doc="""View of a diagonal of the matrices that two dims span, in a new last dim.

    Args:
        input: a tensor of at least two dims.
        offset: which diagonal: 0 is the main one, positive ones lie above it.
        dim1, dim2: the dims of the rows and of the columns.

    Returns: a view of `input` without the two dims, and with one for the diagonal.

    Raises:
        RuntimeError: `dim1` and `dim2` are one dim.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.diagonal(gw.tensor([[1, 2], [3, 4]]))
        tensor([1, 4])
    """,
)
