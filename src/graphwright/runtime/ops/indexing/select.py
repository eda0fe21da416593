"""Ops that pick elements by position: index_select, gather, take; and constant padding."""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.creation.fill import check_fits, may_exceed
from graphwright.runtime.ops.indexing.gather_layouts import READ, along, check_index, layout, pick
from graphwright.runtime.ops.strides import broadcast_shapes, contiguous_strides
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor


def _spec(input: Any, shape: tuple[Any, ...]) -> TensorSpec:
    return TensorSpec(shape, contiguous_strides(shape), input.dtype, input.device)


# -- index_select


def _index_select_meta(input: Any, dim: int, index: Any) -> TensorSpec:
    check_index("index_select", index)
    if len(index.shape) > 1:
        raise IndexError(
            f"index_select(): the index must be a vector, got {describe(index)}"
        )
    if not input.shape:
        if index.shape not in ((), (1,)):
            raise RuntimeError(
                f"index_select(): an index to a scalar can have only 1 value, got "
                f"{describe(index)}"
            )
        return _spec(input, ())
    length = index.shape[0] if index.shape else 1
    return _spec(input, (*input.shape[:dim], length, *input.shape[dim + 1 :]))


def _check_positions(input: Tensor, dim: int, index: Tensor) -> None:
    """Raise OutOfRange for positions of rows without elements, which nothing else looks at."""
    size = input.shape[dim] if input.shape else 1
    bad = [position for position in index.flatten().tolist() if not 0 <= position < size]
    if bad:
        raise _core.OutOfRange(
            f"index_select(): index {bad[0]} is out of bounds for a dimension of size {size}; "
            f"the tensor is {describe(input)}"
        )


def _index_select_eager(input: Any, dim: int, index: Any) -> Tensor:
    spec = _index_select_meta(input, dim, index)
    out: Tensor = _core.empty(Tensor, spec.shape, spec.dtype)
    if not out.numel():
        _check_positions(input, dim, index)
    domain, strides = layout(out)
    step = index.stride()[0] if index.shape else 0
    spread = tuple(step if d == dim else 0 for d in range(len(domain)))
    memory, entries = along(input, dim, index, spread)
    pick("index_select", READ, domain, input, memory, out, strides, entries)
    return out


def _index_select_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    if not ctx.input.shape:
        return grad, None
    zeros = ops.zeros(ctx.input.shape, dtype=grad.dtype, device=grad.device)
    return ops.index_add(zeros, ctx.dim, ctx.index, grad), None


define(
    "index_select(Tensor input, Dim dim, Tensor index)",
    Kind.INDEXING,
    meta=_index_select_meta,
    vjp=_index_select_vjp,
    saves=("index",),
    eager=_index_select_eager,
    doc="""Copy of the slices at given positions of one dim.

    Args:
        input: a tensor of any shape.
        dim: the dim.
        index: an int32 or int64 vector of positions, none negative.

    Returns: a new tensor with one slice along `dim` for each position.

    Raises:
        IndexError: a position is out of range, `index` is no vector, or `input` has no such
            dim.
        RuntimeError: `index` has another dtype.

    Example:
        >>> gw.index_select(gw.tensor([[1, 2], [3, 4]]), 1, gw.tensor([1, 0]))
        tensor([[2, 1],
                [4, 3]])
    """,
)


# -- gather


def check_ranks(name: str, input: Any, index: Any) -> None:
    """Raise RuntimeError unless both have one number of dims; 0-d counts as 1-d."""
    check_index(name, index)
    if (len(input.shape) or 1) != (len(index.shape) or 1):
        raise RuntimeError(
            f"{name}(): the index must have as many dims as the input, got {describe(index)} "
            f"and {describe(input)}"
        )


def check_covers(name: str, what: str, index: Any, other: Any, skipped: int = -1) -> None:
    """Raise RuntimeError where a dim of the index, but `skipped`, is longer than of `other`."""
    for d, (n, m) in enumerate(zip(index.shape, other.shape, strict=False)):
        if d != skipped and n > m:
            apart = "" if skipped < 0 else f" apart from dimension {skipped}"
            raise RuntimeError(
                f"{name}(): size does not match at dimension {d}: the index {describe(index)} "
                f"must not exceed the {what} {describe(other)}{apart}"
            )


def _gather_meta(input: Any, dim: int, index: Any, sparse_grad: bool) -> TensorSpec:
    if 0 not in index.shape:
        check_ranks("gather", input, index)
        check_covers("gather", "input", index, input, dim)
    return _spec(input, index.shape)


def _gather_eager(input: Any, dim: int, index: Any, sparse_grad: bool) -> Tensor:
    _gather_meta(input, dim, index, sparse_grad)
    out: Tensor = _core.empty(Tensor, index.shape, input.dtype)
    if out.numel() == 0:
        return out
    domain, strides = layout(out)
    memory, entries = along(input, dim, index, layout(index)[1])
    pick("gather", READ, domain, input, memory, out, strides, entries)
    return out


define(
    "gather(Tensor input, Dim dim, Tensor index, *, bool sparse_grad=False)",
    Kind.INDEXING,
    meta=_gather_meta,
    vjp=lambda ctx, grad: (
        ops.scatter_add(
            ops.zeros(ctx.input.shape, dtype=grad.dtype, device=grad.device),
            ctx.dim,
            ctx.index,
            grad,
        ),
        None,
    ),
    saves=("index",),
    eager=_gather_eager,
    doc="""Tensor of the elements at given positions: along `dim`, `out[i] = input[index[i]]`.

    Args:
        input: a tensor of any shape.
        dim: the dim that positions are along; in other dims, each element stays in its place.
        index: an int32 or int64 tensor of positions, none negative. It has as many dims as
            `input`, and no greater sizes but along `dim`.
        sparse_grad: without effect: gradients are dense.

    Returns: a new tensor of the shape of `index` and the dtype of `input`.

    Raises:
        IndexError: a position is out of range, or `input` has no such dim.
        RuntimeError: the shapes do not match, or `index` has another dtype.

    Example:
        >>> gw.gather(gw.tensor([[1, 2], [3, 4]]), 1, gw.tensor([[0], [1]]))
        tensor([[1],
                [4]])
    """,
)


def _take_along_dim(input: Any, indices: Any, dim: int | None) -> Any:
    check_index("take_along_dim", indices)
    if dim is None:
        input, indices, dim = ops.reshape(input, (-1,)), ops.reshape(indices, (-1,)), 0
    if input.ndim != indices.ndim:
        raise RuntimeError(
            "take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {describe(input)} and {describe(indices)}"
        )
    dim = wrap_dim(dim, input.ndim)
    if input.ndim:
        from_end = ops.add(indices, input.shape[dim])
        indices = ops.where(ops.lt(indices, 0), from_end, indices)
    ends = tuple(
        (*t.shape[:dim], 1, *t.shape[dim + 1 :]) if t.ndim else () for t in (input, indices)
    )
    shape = broadcast_shapes("take_along_dim", ends)
    sizes = [
        (*shape[:dim], t.shape[dim], *shape[dim + 1 :]) if t.ndim else ()
        for t in (input, indices)
    ]
    return ops.gather(ops.expand(input, sizes[0]), dim, ops.expand(indices, sizes[1]))


define(
    "take_along_dim(Tensor input, Tensor indices, int? dim=None)",
    Kind.COMPOSITE,
    decompose=_take_along_dim,
    doc="""Tensor of the elements at given positions along one dim, as `gather`, but broadcast.

    It takes what `argsort`, `argmax` with `keepdim` and their like return.

    Args:
        input: a tensor of any shape.
        indices: an int32 or int64 tensor of positions, which broadcasts with `input` but along
            `dim`; negative ones count from the end.
        dim: the dim; if None, all elements are one row.

    Returns: a new tensor of the broadcast shape, with the size of `indices` along `dim`.

    Raises:
        IndexError: a position is out of range, or `input` has no such dim.
        RuntimeError: the numbers of dims differ, the shapes do not broadcast, or `indices` has
            another dtype.

    Example:
        >>> gw.take_along_dim(gw.tensor([[3, 1], [2, 4]]), gw.tensor([[1], [0]]), 1)
        tensor([[1],
                [2]])
    """,
)


def _take(input: Any, index: Any) -> Any:
    if index.dtype.name != "int64":
        raise RuntimeError(f"take(): expected an index of dtype int64, got {describe(index)}")
    if input.numel() == 0 and index.numel() != 0:
        raise IndexError(f"take(): tried to take from an empty tensor, {describe(input)}")
    return ops.contiguous(ops.index(ops.reshape(input, (-1,)), (index,)))


define(
    "take(Tensor input, Tensor index)",
    Kind.COMPOSITE,
    decompose=_take,
    doc="""Tensor of the elements at positions of the flattened tensor.

    Args:
        input: a tensor of any shape.
        index: an int64 tensor of positions in row-major order; negative ones count from the
            end.

    Returns: a new tensor of the shape of `index` and the dtype of `input`.

    Raises:
        IndexError: a position is out of range.
        RuntimeError: `index` has another dtype.

    Example:
        >>> gw.take(gw.tensor([[1, 2], [3, 4]]), gw.tensor([0, -1]))
        tensor([1, 4])
    """,
)


# -- padding


def _check_filling(value: Any, dtype: Any) -> None:
    """Raise RuntimeError for a number that the dtype cannot hold; nothing wraps around.

    TypeError for a complex number where the dtype is not.
    """
    if isinstance(value, complex) and not dtype.is_complex:
        raise TypeError(f"constant_pad: value {value} is complex, the tensor is not")
    if isinstance(value, (int, float)) or (
        not dtype.is_floating_point and may_exceed(value, dtype)
    ):
        check_fits("constant_pad", value, dtype)
        if dtype in _UNSIGNED and value < 0:
            raise RuntimeError(f"constant_pad: value {value} cannot be converted to type "
                               f"{dtype.name} without overflow")


_UNSIGNED = (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64)


def _pad_meta(input: Any, pad: tuple[Any, ...], value: Any) -> TensorSpec:
    ndim = len(input.shape)
    if len(pad) % 2 or len(pad) > 2 * ndim:
        raise RuntimeError(
            f"constant_pad: pad {list(pad)} must have even length of at most {2 * ndim}"
        )
    _check_filling(value, input.dtype)
    shape = list(input.shape)
    for i in range(len(pad) // 2):
        at = ndim - 1 - i
        shape[at] = shape[at] + pad[2 * i] + pad[2 * i + 1]
        if shape[at] < 0:
            raise RuntimeError(
                f"constant_pad: pad {list(pad)} gives a negative size for {describe(input)}"
            )
    return _spec(input, tuple(shape))


def _pad_eager(input: Any, pad: tuple[int, ...], value: Any) -> Tensor:
    spec = _pad_meta(input, pad, value)
    out = _core.empty(Tensor, spec.shape, spec.dtype)
    target, source = out._nd, input._nd
    target.fill(value)
    to, of = [slice(None)] * source.ndim, [slice(None)] * source.ndim
    for i in range(len(pad) // 2):
        at, (before, after) = source.ndim - 1 - i, pad[2 * i : 2 * i + 2]
        to[at] = slice(max(before, 0), target.shape[at] - max(after, 0))
        of[at] = slice(max(-before, 0), source.shape[at] - max(-after, 0))
    target[tuple(to)] = source[tuple(of)]
    return out


define(
    "constant_pad(Tensor input, Size pad, Scalar value=0)",
    Kind.INDEXING,
    meta=_pad_meta,
    vjp=lambda ctx, grad: ops.constant_pad(grad, tuple(-p for p in ctx.pad), 0.0),
    eager=_pad_eager,
    method=False,
    public=False,
)
