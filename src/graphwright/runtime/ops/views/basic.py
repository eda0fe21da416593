"""Views: ops that only change shape, strides and offset. Their kernels come from their rules."""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.errors import DataDependent, describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.kernels import copy_into
from graphwright.runtime.ops.strides import infer_size, may_overlap, view_strides
from graphwright.runtime.ops.table import Kind, Op, define, not_differentiable
from graphwright.runtime.ops.tensor_spec import ViewSpec
from graphwright.runtime.tensor.dtypes import int64
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.tensor.view_methods import strided_from, view_extent


def as_view(input: Any, spec: ViewSpec) -> Tensor:
    """The view of `input` that its rule describes."""
    offset = input.storage_offset() + spec.offset
    if spec.dtype is None:
        return _core.as_view(Tensor, input, spec.shape, spec.strides, offset)
    return _core.as_view(Tensor, input, spec.shape, spec.strides, offset, spec.dtype)


def _define_view(
    schema: str,
    meta: Any,
    vjp: Any,
    *,
    method: bool = True,
    public: bool = True,
) -> Op:
    def eager(input: Any, *args: Any) -> Tensor:
        spec = meta(input, *args)
        offset = input.storage_offset() + spec.offset
        return _core.as_view(Tensor, input, spec.shape, spec.strides, offset)

    return define(
        schema, Kind.VIEW, meta=meta, vjp=vjp, eager=eager, method=method, public=public
    )


# -- view, expand, permute


def _dtype_meta(input: Any, dtype: Any) -> ViewSpec:
    shape, strides = list(input.shape), list(input.stride())
    have, want = input.dtype.itemsize, dtype.itemsize
    offset = input.storage_offset() * have
    if have != want:
        what = f"to view {describe(input)} as {dtype.name} (different element sizes)"
        if not shape:
            raise RuntimeError(f"self.dim() cannot be 0 {what}")
        if strides[-1] != 1 and shape[-1] != 1:
            raise RuntimeError(f"self.stride(-1) must be 1 {what}, but got {strides[-1]}")
        if have < want and input.is_fake:
            raise DataDependent(f"view({dtype.name}) of {input.dtype.name} depends on where in "
                                "its memory the tensor begins")
        if offset % want or any(s * have % want for s in strides[:-1]):
            raise RuntimeError(f"strides and offset must be divisible by {want} bytes {what}")
        if shape[-1] * have % want:
            raise RuntimeError(f"self.size(-1) must be divisible by {want // have} {what}")
        shape[-1] = shape[-1] * have // want
        strides = [s * have // want for s in strides[:-1]] + [1]
    begin = offset // want - input.storage_offset()
    return ViewSpec(tuple(shape), tuple(strides), begin, dtype)


define(
    "view_dtype(Tensor input, dtype dtype)",
    Kind.VIEW,
    meta=_dtype_meta,
    vjp=not_differentiable,
    eager=lambda input, dtype: as_view(input, _dtype_meta(input, dtype)),
    method=False,
    public=False,
)

def _view_meta(input: Any, size: tuple[Any, ...]) -> ViewSpec:
    shape = infer_size("view", input.shape, size)
    strides = view_strides(input.shape, input.stride(), shape)
    if strides is None:
        raise RuntimeError(
            f"view: size {list(size)} is not compatible with the input's shape "
            f"{list(input.shape)} and strides {list(input.stride())} (at least one dimension "
            "spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return ViewSpec(shape, strides)


_define_view(
    "view(Tensor input, Size* size)",
    _view_meta,
    lambda ctx, grad: ops.reshape(grad, ctx.input.shape),
)


def _expand_meta(input: Any, size: tuple[Any, ...]) -> ViewSpec:
    shape, strides = input.shape, input.stride()
    lead = len(size) - len(shape)
    if lead < 0:
        raise RuntimeError(
            f"expand: the number of sizes provided ({len(size)}) must be greater or equal to "
            f"the number of dimensions in the tensor ({len(shape)})"
        )
    new_shape: list[Any] = []
    new_strides: list[Any] = []
    for i, wanted in enumerate(size):
        if i < lead:
            if wanted.__class__ is int and wanted < 0:
                raise RuntimeError(
                    f"expand: the expanded size {wanted} isn't allowed in a leading, "
                    f"non-existing dimension {i}"
                )
            new_shape.append(wanted)
            new_strides.append(0)
            continue
        have, stride = shape[i - lead], strides[i - lead]
        if (wanted.__class__ is int and wanted == -1) or wanted is have or have == wanted:
            new_shape.append(have)
            new_strides.append(stride)
        elif have == 1:
            new_shape.append(wanted)
            new_strides.append(0)
        else:
            raise RuntimeError(
                f"expand: the expanded size of the tensor ({wanted}) must match the existing "
                f"size ({have}) at non-singleton dimension {i}. Target sizes: {list(size)}. "
                f"Tensor sizes: {list(shape)}"
            )
    for i in range(lead - 1 if shape else -1, -1, -1):      # one that is new is around the rest
        if new_shape[i].__class__ is int and new_shape[i] == 1:
            new_strides[i] = new_shape[i + 1] * new_strides[i + 1]
    return ViewSpec(tuple(new_shape), tuple(new_strides))


_define_view(
    "expand(Tensor input, Size* size)",
    _expand_meta,
    lambda ctx, grad: ops.sum_to_size(grad, ctx.input.shape),
)


def _permute_meta(input: Any, dims: tuple[int, ...]) -> ViewSpec:
    if len(dims) != len(input.shape):
        raise RuntimeError(
            f"permute: number of dimensions in the tensor ({len(input.shape)}) is not equal to "
            f"the length of the desired ordering of dimensions ({len(dims)})"
        )
    strides = input.stride()
    return ViewSpec(tuple(input.shape[d] for d in dims), tuple(strides[d] for d in dims))


def _permute_vjp(ctx: Any, grad: Any) -> Any:
    inverse = [0] * len(ctx.dims)
    for i, dim in enumerate(ctx.dims):
        inverse[dim] = i
    return ops.permute(grad, tuple(inverse))


_define_view("permute(Tensor input, Perm* dims)", _permute_meta, _permute_vjp)


def _swapped(ndim: int, a: int, b: int) -> tuple[int, ...]:
    order = list(range(ndim))
    if ndim:
        order[a], order[b] = b, a
    return tuple(order)


_define_view(
    "transpose(Tensor input, Dim dim0, Dim dim1)",
    lambda input, dim0, dim1: _permute_meta(input, _swapped(len(input.shape), dim0, dim1)),
    lambda ctx, grad: ops.transpose(grad, ctx.dim0, ctx.dim1),
)


# -- squeeze, unsqueeze


def _unsqueeze_meta(input: Any, dim: int) -> ViewSpec:
    shape, strides = input.shape, input.stride()
    stride = shape[dim] * strides[dim] if dim < len(shape) else 1
    return ViewSpec(
        (*shape[:dim], 1, *shape[dim:]),
        (*strides[:dim], stride, *strides[dim:]),
    )


_define_view(
    "unsqueeze(Tensor input, NewDim dim)",
    _unsqueeze_meta,
    lambda ctx, grad: ops.squeeze(grad, ctx.dim),
)


def _squeeze_meta(input: Any, dim: Any) -> ViewSpec:
    """No dim given: all; `()`: none, unlike reductions."""
    strides, ndim = input.stride(), len(input.shape)
    if dim is None:
        dim = range(ndim)
    elif not isinstance(dim, tuple | list):
        dim = (wrap_dim(dim, ndim),)
    else:
        dim = tuple(wrap_dim(d, ndim) for d in dim)
        if len(set(dim)) != len(dim):
            raise RuntimeError(f"squeeze: a dim appears multiple times in the list of dims {dim}")
    kept = [i for i, size in enumerate(input.shape) if i not in dim or size != 1]
    return ViewSpec(tuple(input.shape[i] for i in kept), tuple(strides[i] for i in kept))


_define_view(
    "squeeze(Tensor input, Ints*? dim=None)",
    _squeeze_meta,
    lambda ctx, grad: ops.reshape(grad, ctx.input.shape),
)


# -- slice, select


def slice_bound(value: Any, default: Any, size: Any) -> Any:
    """A slice bound clamped into 0..size; symbolic sizes are compared, not converted.

    Raises TypeError for a float.
    """
    if value is None:
        return default
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        raise TypeError("'float' object cannot be interpreted as an integer")
    if value < 0:
        value = value + size
    if value < 0:
        return 0
    return size if value > size else value


def _slice_meta(input: Any, dim: int, start: Any, end: Any, step: Any) -> ViewSpec:
    if not input.shape:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    step = 1 if step is None else step
    if step <= 0:
        raise ValueError("step must be greater than zero")
    size, strides = input.shape[dim], input.stride()
    first = slice_bound(start, 0, size)
    last = slice_bound(end, size, size)
    if last < first:
        last = first
    length = last - first if step == 1 else (last - first + step - 1) // step
    shape = (*input.shape[:dim], length, *input.shape[dim + 1 :])
    stride = strides[dim] * step if step != 1 else strides[dim]
    return ViewSpec(shape, (*strides[:dim], stride, *strides[dim + 1 :]), first * strides[dim])


_define_view(
    "slice(Tensor input, Dim dim=0, SymInt? start=None, SymInt? end=None, SymInt? step=1)",
    _slice_meta,
    lambda ctx, grad: ops.slice_backward(
        grad, ctx.input.shape, ctx.dim, ctx.start, ctx.end, ctx.step
    ),
    method=False,
    public=False,
)


def wrapped_index(index: Any, size: Any, dim: int) -> Any:
    if hasattr(index, "item"):
        index = index.item()
    if index.__class__ is not int and not hasattr(index, "__add__"):
        index = index.__index__()
    if index >= size or index < -size:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")
    return index + size if index < 0 else index


def _select_meta(input: Any, dim: int, index: Any) -> ViewSpec:
    if not input.shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    strides = input.stride()
    position = wrapped_index(index, input.shape[dim], dim)
    return ViewSpec(
        (*input.shape[:dim], *input.shape[dim + 1 :]),
        (*strides[:dim], *strides[dim + 1 :]),
        position * strides[dim],
    )


_define_view(
    "select(Tensor input, Dim dim, SymInt index)",
    _select_meta,
    lambda ctx, grad: ops.select_backward(grad, ctx.input.shape, ctx.dim, ctx.index),
)


def _select_at_meta(input: Any, dim: int, index: Any) -> ViewSpec:
    """As of the first position: the offset, which is not known, is that of the input."""
    return _select_meta(input, dim, 0)


def _select_at_vjp(ctx: Any, grad: Any) -> tuple[Any, None]:
    zeros = ops.zeros(ctx.input.shape, dtype=grad.dtype, device=grad.device)
    place = ops.reshape(ctx.index, (1,))
    return ops.index_add(zeros, ctx.dim, place, ops.unsqueeze(grad, ctx.dim)), None


define(
    "select_at(Tensor input, Dim dim, Tensor index)",
    Kind.VIEW,
    meta=_select_at_meta,
    vjp=_select_at_vjp,
    saves=("index",),
    eager=lambda input, dim, index: ops.select(input, dim, int(index.item())),
    method=False,
    public=False,
)
"""`select` at the position that a 0-d tensor holds, while graphs are made."""


# -- as_strided, alias, detach, diagonal


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


_define_view(
    "as_strided(Tensor input, Size size, Size stride, SymInt? storage_offset=None)",
    _as_strided_meta,
    _as_strided_vjp,
)


def _same(input: Any) -> ViewSpec:
    return ViewSpec(input.shape, input.stride())


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


_define_view(
    "unfold(Tensor input, Dim dimension, int size, int step)",
    _unfold_meta,
    _unfold_vjp,
    public=False,
)


_define_view(
    "alias(Tensor input)", _same, lambda ctx, grad: grad, method=False, public=False
)
define(
    "detach(Tensor input)",
    Kind.VIEW,
    meta=_same,
    vjp=not_differentiable,
    eager=lambda input: _core.detach(Tensor, input),
    method=False,
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


_define_view(
    "diagonal(Tensor input, int offset=0, Dim dim1=0, Dim dim2=1)",
    _diagonal_meta,
    lambda ctx, grad: ops.diagonal_backward(
        grad, ctx.input.shape, ctx.offset, ctx.dim1, ctx.dim2
    ),
)


# -- gradients of views: zeros with the gradient written into the viewed part


def _slice_backward(
    grad: Any, size: tuple[Any, ...], dim: int, start: Any, end: Any, step: Any
) -> Any:
    full = size[dim]
    first = slice_bound(start, 0, full)
    last = slice_bound(end, full, full)
    if step is None or step == 1:
        if last < first:
            last = first
        pads = [0, 0] * (len(size) - 1 - dim) + [first, full - last]
        return ops.constant_pad(grad, tuple(pads), 0.0)
    places = ops.arange(first, last, step, device=grad.device) if first < last else None
    zeros = ops.zeros(size, dtype=grad.dtype, device=grad.device)
    return zeros if places is None else ops.index_add(zeros, dim, places, grad)


def _slice_backward_eager(
    grad: Tensor, size: tuple[int, ...], dim: int, start: Any, end: Any, step: Any
) -> Tensor:
    if step is None or step == 1:
        return _slice_backward(grad, size, dim, start, end, step)
    zeros: Tensor = ops.zeros(size, dtype=grad.dtype, device=grad.device)
    copy_into(ops.slice(zeros, dim, start, end, step), grad)
    return zeros


define(
    "slice_backward(Tensor grad, Size size, int dim, object start, object end, object step)",
    Kind.COMPOSITE,
    decompose=_slice_backward,
    eager=_slice_backward_eager,
    method=False,
    public=False,
)


def _select_backward(grad: Any, size: tuple[Any, ...], dim: int, index: Any) -> Any:
    position = wrapped_index(index, size[dim], dim)
    pads = [0, 0] * (len(size) - 1 - dim) + [position, size[dim] - position - 1]
    return ops.constant_pad(ops.unsqueeze(grad, dim), tuple(pads), 0.0)


define(
    "select_backward(Tensor grad, Size size, int dim, object index)",
    Kind.COMPOSITE,
    decompose=_select_backward,
    method=False,
    public=False,
)


def _diagonal_backward(grad: Any, size: tuple[Any, ...], offset: int, dim1: int, dim2: int) -> Any:
    zeros = ops.zeros(tuple(size), dtype=grad.dtype, device=grad.device)
    return ops.diagonal_scatter(zeros, grad, offset, dim1, dim2)


define(
    "diagonal_backward(Tensor grad, Size size, int offset, int dim1, int dim2)",
    Kind.COMPOSITE,
    decompose=_diagonal_backward,
    method=False,
    public=False,
)
