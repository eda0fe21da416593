"""Views: ops that only change shape, strides and offset. Their kernels come from their rules."""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.errors import DataDependent, describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.strides import infer_size, view_strides
from graphwright.runtime.ops.table import Kind, Op, define, not_differentiable
from graphwright.runtime.ops.tensor_spec import ViewSpec
from graphwright.runtime.tensor.tensor import Tensor


def as_view(input: Any, spec: ViewSpec) -> Tensor:
    """The view of `input` that its rule describes."""
    offset = input.storage_offset() + spec.offset
    if spec.dtype is None:
        return _core.as_view(Tensor, input, spec.shape, spec.strides, offset)
    return _core.as_view(Tensor, input, spec.shape, spec.strides, offset, spec.dtype)


def define_view(
    schema: str,
    meta: Any,
    vjp: Any,
    *,
    method: bool = True, public: bool = True, doc: str = "",
) -> Op:
    """An op whose result is the view that `meta` describes."""

    def eager(input: Any, *args: Any) -> Tensor:
        spec = meta(input, *args)
        offset = input.storage_offset() + spec.offset
        return _core.as_view(Tensor, input, spec.shape, spec.strides, offset)

    return define(
        schema, Kind.VIEW, meta=meta, vjp=vjp, eager=eager, method=method, public=public, doc=doc
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


define_view(
    "view(Tensor input, Size* size)",
    _view_meta,
    lambda ctx, grad: ops.reshape(grad, ctx.input.shape),
    doc="""View of a tensor with another shape, over the same elements in row-major order.

    As a method it also takes a dtype, whose elements the same bytes are read as.

    Args:
        input: a tensor of any shape.
        size: the new sizes; one may be -1, which the others decide.

    Returns: a view of `input` that shares its memory.

    Raises:
        RuntimeError: the sizes do not have as many elements, or the strides of `input` allow
            no such view: `reshape` copies then.

    Example:
        >>> gw.arange(6).view(2, 3)
        tensor([[0, 1, 2],
                [3, 4, 5]])
    """,
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


define_view(
    "expand(Tensor input, Size* size)",
    _expand_meta,
    lambda ctx, grad: ops.sum_to_size(grad, ctx.input.shape),
    doc="""View in which dims of size 1 are repeated without a copy, and new dims put in front.

    Args:
        input: a tensor of any shape.
        size: the sizes of the result, from the last dim on; -1 keeps a size.

    Returns: a view of `input` with stride 0 along the dims that are repeated.

    Raises:
        RuntimeError: there are fewer sizes than dims, or a size differs from that of a dim
            that is not 1.

    Example:
        >>> gw.tensor([[1], [2]]).expand(-1, 3).stride()
        (1, 0)
    """,
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


define_view(
    "permute(Tensor input, Perm* dims)",
    _permute_meta,
    _permute_vjp,
    doc="""View with the dims in another order.

    Args:
        input: a tensor of any shape.
        dims: the dims of `input` in their new order, each once.

    Returns: a view of `input`.

    Raises:
        RuntimeError: a dim is missing or named twice.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.permute(gw.ones(2, 3, 4), (2, 0, 1)).shape
        graphwright.Size([4, 2, 3])
    """,
)


def _swapped(ndim: int, a: int, b: int) -> tuple[int, ...]:
    order = list(range(ndim))
    if ndim:
        order[a], order[b] = b, a
    return tuple(order)


define_view(
    "transpose(Tensor input, Dim dim0, Dim dim1)",
    lambda input, dim0, dim1: _permute_meta(input, _swapped(len(input.shape), dim0, dim1)),
    lambda ctx, grad: ops.transpose(grad, ctx.dim0, ctx.dim1),
    doc="""View with two dims swapped.

    Args:
        input: a tensor of any shape.
        dim0, dim1: the two dims.

    Returns: a view of `input`.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> gw.transpose(gw.tensor([[1, 2], [3, 4]]), 0, 1)
        tensor([[1, 3],
                [2, 4]])
    """,
)


# -- squeeze, unsqueeze


def _unsqueeze_meta(input: Any, dim: int) -> ViewSpec:
    shape, strides = input.shape, input.stride()
    stride = shape[dim] * strides[dim] if dim < len(shape) else 1
    return ViewSpec(
        (*shape[:dim], 1, *shape[dim:]),
        (*strides[:dim], stride, *strides[dim:]),
    )


define_view(
    "unsqueeze(Tensor input, NewDim dim)",
    _unsqueeze_meta,
    lambda ctx, grad: ops.squeeze(grad, ctx.dim),
    doc="""View with a new dim of size 1.

    Args:
        input: a tensor of any shape.
        dim: the place of the new dim in the result, from `-input.ndim - 1` to `input.ndim`.

    Returns: a view of `input`.

    Raises:
        IndexError: the place is out of range.

    Example:
        >>> gw.unsqueeze(gw.tensor([1, 2]), 1)
        tensor([[1],
                [2]])
    """,
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


define_view(
    "squeeze(Tensor input, Ints*? dim=None)",
    _squeeze_meta,
    lambda ctx, grad: ops.reshape(grad, ctx.input.shape),
    doc="""View without dims of size 1.

    Args:
        input: a tensor of any shape.
        dim: the dim or dims that go where they have size 1; all if None, none if empty.

    Returns: a view of `input`.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: a dim is named twice.

    Example:
        >>> gw.squeeze(gw.ones(1, 2, 1), 0).shape
        graphwright.Size([2, 1])
    """,
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


define_view(
    "slice(Tensor input, Dim dim=0, SymInt? start=None, SymInt? end=None, SymInt? step=1)",
    _slice_meta,
    lambda ctx, grad: ops.slice_backward(
        grad, ctx.input.shape, ctx.dim, ctx.start, ctx.end, ctx.step
    ),
    method=False,
    public=False,
)


def wrapped_index(index: Any, size: Any, dim: int) -> Any:
    """The position from 0 on that an index means. Raises IndexError outside of the dim."""
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


define_view(
    "select(Tensor input, Dim dim, SymInt index)",
    _select_meta,
    lambda ctx, grad: ops.select_backward(grad, ctx.input.shape, ctx.dim, ctx.index),
    doc="""View of the slice at one position of a dim: `input[..., index, ...]`.

    Args:
        input: a tensor of at least one dim.
        dim: the dim, which the result lacks.
        index: the position; negative ones count from the end.

    Returns: a view of `input`.

    Raises:
        IndexError: `input` has no such dim, or the dim no such position.

    Example:
        >>> gw.select(gw.tensor([[1, 2], [3, 4]]), 1, -1)
        tensor([2, 4])
    """,
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


# -- alias, detach


def _same(input: Any) -> ViewSpec:
    return ViewSpec(input.shape, input.stride())


define_view(
    "alias(Tensor input)", _same, lambda ctx, grad: grad, method=False, public=False
)
define(
    "detach(Tensor input)",
    Kind.VIEW,
    meta=_same,
    vjp=not_differentiable,
    eager=lambda input: _core.detach(Tensor, input),
    method=False,
    doc="""View through which no gradient flows.

    Args:
        input: a tensor of any shape.

    Returns: a view of `input` that does not require a gradient.

    Example:
        >>> gw.detach(gw.ones(2, requires_grad=True)).requires_grad
        False
    """,
)
