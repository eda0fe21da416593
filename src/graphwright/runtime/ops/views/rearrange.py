"""Elements in another order or repeated: flip, roll, rot90, repeat, tile."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import DataDependent, describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.creation.fill import check_size
from graphwright.runtime.ops.kernels import allocate
from graphwright.runtime.ops.strides import preserved_strides
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.ops.value_checks import checked
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor


def _distinct(name: str, dims: Any, ndim: int) -> tuple[int, ...]:
    """Wrapped dims, none of them twice."""
    wrapped = tuple(wrap_dim(d, ndim) for d in dims)
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(f"{name}: a dim appears multiple times in the list of dims {dims}")
    return wrapped


# -- flip


def _flip_meta(input: Any, dims: tuple[int, ...]) -> TensorSpec:
    _distinct("flip", dims, len(input.shape))
    strides = preserved_strides(input.shape, input.stride())
    return TensorSpec(input.shape, strides, input.dtype, input.device)


def _flip_eager(input: Any, dims: tuple[int, ...]) -> Tensor:
    spec = _flip_meta(input, dims)
    out = allocate(spec.shape, spec.strides, spec.dtype)
    turned = _distinct("flip", dims, input.ndim) if input.ndim else ()
    np.copyto(out._nd, np.flip(input._nd, turned) if turned else input._nd)
    return out


define(
    "flip(Tensor input, Size* dims)",
    Kind.INDEXING,
    meta=_flip_meta,
    vjp=lambda ctx, grad: ops.flip(grad, ctx.dims),
    eager=_flip_eager,
    doc="""Copy with the elements in reverse order along some dims.

    Args:
        input: a tensor of any shape.
        dims: the dims that are reversed.

    Returns: a new tensor of the shape of `input`.

    Raises:
        RuntimeError: a dim is named twice.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.flip(gw.tensor([[1, 2], [3, 4]]), (0, 1))
        tensor([[4, 3],
                [2, 1]])
    """,
)


def _flip_last(name: str, dim: int) -> Any:
    def decompose(input: Any) -> Any:
        if input.ndim <= dim:
            raise RuntimeError(f"{name}: Input must be >= {dim + 1}-d, got {describe(input)}")
        return ops.flip(input, (dim,))

    return decompose


define(
    "fliplr(Tensor input)",
    Kind.COMPOSITE,
    decompose=_flip_last("fliplr", 1),
    doc="""Copy with the elements in reverse order along the second dim.

    Args:
        input: a tensor of at least two dims.

    Returns: a new tensor of the shape of `input`.

    Raises:
        RuntimeError: `input` has fewer dims.

    Example:
        >>> gw.fliplr(gw.tensor([[1, 2], [3, 4]]))
        tensor([[2, 1],
                [4, 3]])
    """,
)
define(
    "flipud(Tensor input)",
    Kind.COMPOSITE,
    decompose=_flip_last("flipud", 0),
    doc="""Copy with the elements in reverse order along the first dim.

    Args:
        input: a tensor of at least one dim.

    Returns: a new tensor of the shape of `input`.

    Raises:
        RuntimeError: `input` has no dims.

    Example:
        >>> gw.flipud(gw.tensor([[1, 2], [3, 4]]))
        tensor([[3, 4],
                [1, 2]])
    """,
)


# -- roll, rot90


def _roll_along(input: Any, shift: Any, dim: int) -> Any:
    size = input.shape[dim]
    start = shift % size
    parts = (
        ops.slice(input, dim, size - start, size),
        ops.slice(input, dim, 0, size - start),
    )
    return ops.cat(parts, dim)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _roll(input: Any, shifts: Any, dims: Any) -> Any:
    moves = _as_tuple(shifts)
    if not moves:
        raise RuntimeError("roll: `shifts` required")
    if dims is None or dims == () or dims == []:
        if len(moves) != 1:
            raise RuntimeError(
                f"roll: shifts and dimensions must align. shifts: {len(moves)}, dims: 0"
            )
        flat = ops.reshape(input, (-1,))
        return ops.reshape(ops.roll(flat, moves, (0,)), input.shape)
    places = _as_tuple(dims)
    if len(moves) != len(places):
        raise RuntimeError(
            f"roll: shifts and dimensions must align. shifts: {len(moves)}, dims: {len(places)}"
        )
    wrapped = [wrap_dim(d, input.ndim) for d in places]
    if not input.ndim:
        raise IndexError("roll: dimension specified as 0 but tensor has no dimensions")
    if input.numel() == 0:
        return ops.clone(input)
    for shift, dim in zip(moves, wrapped, strict=True):
        input = _roll_along(input, shift, dim)
    return input


define(
    "roll(Tensor input, Ints shifts, Ints? dims=None)",
    Kind.COMPOSITE,
    decompose=_roll,
    doc="""Copy with the elements moved along some dims; what leaves at the end enters in front.

    Args:
        input: a tensor of any shape.
        shifts: by how many positions, an int or one for each dim; negative ones move back.
        dims: the dim or dims; if None, all elements are one row, and there is one shift.

    Returns: a new tensor of the shape of `input`.

    Raises:
        RuntimeError: there are more shifts than dims, or fewer.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.roll(gw.tensor([[1, 2, 3], [4, 5, 6]]), 1, 1)
        tensor([[3, 1, 2],
                [6, 4, 5]])
    """,
)


def _rot90(input: Any, k: int, dims: Any) -> Any:
    ndim = input.ndim
    if len(dims) != 2:
        raise RuntimeError(
            f"rot90: expected total rotation dims == 2, but got dims = {len(dims)}"
        )
    if ndim < 2:
        raise RuntimeError(f"rot90: expected total dims >= 2, but got {describe(input)}")
    for name, dim in zip(("dim0", "dim1"), dims, strict=True):
        if not -ndim <= dim < ndim:
            raise RuntimeError(f"rot90: rotation {name} out of range, {name} = {dim}")
    a, b = (d % ndim for d in dims)
    if a == b:
        raise RuntimeError(
            f"rot90: expected rotation dims to be different, but got dim0 = {dims[0]} and "
            f"dim1 = {dims[1]}"
        )
    turns = k % 4
    if turns == 0:
        return ops.clone(ops.contiguous(input))
    if turns == 2:
        return ops.flip(input, (a, b))
    return ops.transpose(ops.flip(input, (b if turns == 1 else a,)), a, b)


define(
    "rot90(Tensor input, int k=1, Ints dims=(0, 1))",
    Kind.COMPOSITE,
    decompose=_rot90,
    doc="""Copy turned by quarters in the plane of two dims, from the first one towards the second.

    Args:
        input: a tensor of at least two dims.
        k: how many quarter turns; negative ones turn back.
        dims: the two dims.

    Returns: a tensor with the two sizes swapped where `k` is odd.

    Raises:
        RuntimeError: `input` has fewer dims or no such dim, or the dims are not two different
            ones.

    Example:
        >>> gw.rot90(gw.tensor([[1, 2], [3, 4]]))
        tensor([[2, 4],
                [1, 3]])
    """,
)


# -- repeat, tile, repeat_interleave


def _repeat(input: Any, repeats: tuple[Any, ...]) -> Any:
    lead = len(repeats) - input.ndim
    if lead < 0:
        raise RuntimeError(
            "repeat: number of dimensions of repeat dims can not be smaller than number of "
            f"dimensions of tensor, got {list(repeats)} for {describe(input)}"
        )
    shape = (*(1 for _ in range(lead)), *input.shape)
    final = tuple(r * size for r, size in zip(repeats, shape, strict=True))
    if any(r.__class__ is int and r < 0 for r in repeats):
        raise RuntimeError(
            f"repeat: trying to create a tensor with a negative dimension: {list(final)}"
        )
    result = ops.reshape(input, tuple(n for size in shape for n in (1, size)))
    wide = tuple(n for r, size in zip(repeats, shape, strict=True) for n in (r, size))
    return ops.reshape(ops.contiguous(ops.expand(result, wide)), final)


define(
    "repeat(Tensor input, Size* repeats)",
    Kind.COMPOSITE,
    decompose=_repeat,
    public=False,
    doc="""Copy with the whole tensor repeated along each dim.

    Args:
        input: a tensor of any shape.
        repeats: how often along each dim; dims of size 1 are put in front where there are
            more.

    Returns: a new tensor; its sizes are those of `input` times `repeats`.

    Raises:
        RuntimeError: there are fewer numbers than dims, or one is negative.

    Example:
        >>> gw.tensor([1, 2]).repeat(2, 2)
        tensor([[1, 2, 1, 2],
                [1, 2, 1, 2]])
    """,
)
define(
    "tile(Tensor input, Size* dims)",
    Kind.COMPOSITE,
    decompose=lambda input, dims: _repeat(input, (*(1,) * (input.ndim - len(dims)), *dims)),
    doc="""Copy with the whole tensor repeated along each dim; as `repeat`, but for fewer numbers.

    Args:
        input: a tensor of any shape.
        dims: how often along each dim, from the last one on; the others once.

    Returns: a new tensor.

    Raises:
        RuntimeError: a number is negative.

    Example:
        >>> gw.tile(gw.tensor([[1, 2], [3, 4]]), (2,))
        tensor([[1, 2, 1, 2],
                [3, 4, 3, 4]])
    """,
)


def _positions_meta(repeats: Any, output_size: Any) -> TensorSpec:
    if output_size is None:
        raise DataDependent(
            f"repeat_interleave: the result's size depends on the values of {describe(repeats)}"
        )
    return TensorSpec((output_size,), (1,), repeats.dtype, repeats.device)


_NEGATIVE = "repeat_interleave: repeats can not be negative"


def _positions_eager(repeats: Any, output_size: int | None) -> Tensor:
    counts = repeats._nd
    if counts.size and counts.min() < 0:
        raise RuntimeError(f"{_NEGATIVE}, got {repeats}")
    fits = int(counts.max(initial=0)) * counts.size < 1 << 63
    total = int(counts.sum(dtype=np.int64)) if fits else sum(counts.tolist())
    if output_size is not None and total != output_size:
        raise RuntimeError(
            f"repeat_interleave: allocated size {output_size} does not match the required size "
            f"{total}"
        )
    check_size("repeat_interleave", (total,))
    places = np.repeat(np.arange(counts.size, dtype=counts.dtype), counts)
    made: Tensor = _core.from_ndarray(Tensor, places, repeats.dtype)
    return made


def _positions_by_search(repeats: Any, output_size: Any) -> Any:
    """Place i is in the first group that ends behind it."""
    repeats = checked(repeats, ops.ge(repeats, 0), _NEGATIVE)
    if 0 in repeats.shape:
        return ops.zeros((output_size or 0,), dtype=repeats.dtype, device=repeats.device)
    ends = ops.cumsum(repeats, 0)
    total = ops.select(ends, 0, -1)
    if output_size is None:
        output_size = int(total.item())
    ends = checked(ends, ops.eq(total, output_size),
                   f"repeat_interleave: allocated size {output_size} does not match the required "
                   "size")
    places = ops.arange(output_size, device=repeats.device)
    found = ops.search_positions(ends, places, False, True, None)
    return ops.to_dtype(found, repeats.dtype)


define(
    "repeat_positions(Tensor repeats, int? output_size=None)",
    Kind.INDEXING,
    meta=_positions_meta,
    vjp=not_differentiable,
    decompose=_positions_by_search,
    eager=_positions_eager,
    tags=("whole",),
    method=False,
    public=False,
)


def _check_repeats(repeats: Any) -> None:
    if repeats.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            f"repeat_interleave: repeats has to be Long or Int tensor, got {describe(repeats)}"
        )
    if repeats.ndim > 1:
        raise RuntimeError(
            "repeat_interleave: repeats must be 0-dim or 1-dim tensor, got "
            f"{describe(repeats)}"
        )


def _repeat_interleave(input: Any, repeats: Any, dim: int | None, output_size: Any) -> Any:
    if repeats is None:
        _check_repeats(input)
        if input.ndim != 1:
            raise RuntimeError(
                "repeat_interleave: only accepts a 1-d vector as repeats, got "
                f"{describe(input)}"
            )
        return ops.repeat_positions(input, output_size)
    if dim is None:
        input, dim = ops.reshape(input, (-1,)), 0
    dim = wrap_dim(dim, input.ndim)
    if isinstance(repeats, Tensor):
        return _repeat_by_tensor(input, repeats, dim, output_size)
    if repeats < 0:
        raise RuntimeError(f"repeat_interleave: repeats must be non-negative, got {repeats}")
    if not input.ndim:
        input = ops.reshape(input, (1,))
    shape = input.shape
    total = shape[dim] * repeats
    if output_size is not None and output_size != total:
        raise RuntimeError(
            f"repeat_interleave: invalid output_size, expected {total} but got {output_size}"
        )
    wide = (*shape[: dim + 1], repeats, *shape[dim + 1 :])
    spread = ops.contiguous(ops.expand(ops.unsqueeze(input, dim + 1), wide))
    result = ops.reshape(spread, (*shape[:dim], total, *shape[dim + 1 :]))
    return ops.clone(result) if repeats == 1 else result


def _repeat_by_tensor(input: Any, repeats: Any, dim: int, output_size: Any) -> Any:
    _check_repeats(repeats)
    if not input.ndim:
        input = ops.reshape(input, (1,))
    count = repeats.shape[0] if repeats.ndim else 1
    if count == 1:
        repeats = ops.expand(ops.reshape(repeats, (1,)), (input.shape[dim],))
    elif count != input.shape[dim]:
        raise RuntimeError(
            "repeat_interleave: repeats must have the same size as input along dim, but got "
            f"{describe(repeats)} for {describe(input)} along dim {dim}"
        )
    return ops.index_select(input, dim, ops.repeat_positions(repeats, output_size))


define(
    "repeat_interleave(Tensor input, SymInt|Tensor? repeats=None, int? dim=None, *, "
    "SymInt? output_size=None)",
    Kind.COMPOSITE,
    decompose=_repeat_interleave,
    doc="""Copy in which each position along one dim follows itself some times.

    Of one argument, the numbers 0, 1, 2, ..., each as often as the vector says.

    Args:
        input: a tensor of any shape; the vector of `repeats` where that is not given.
        repeats: how often, an int for all or an int32 or int64 vector with one for each
            position.
        dim: the dim; if None, all elements are one row.
        output_size: the size of the result along the dim, if known: it is not counted then.

    Returns: a new tensor.

    Raises:
        RuntimeError: `repeats` is negative, or has another dtype or length, or `output_size`
            is not its sum.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.repeat_interleave(gw.tensor([1, 2]), gw.tensor([2, 1]))
        tensor([1, 1, 2])
    """,
)
