"""Elements picked and written by tensors of indices."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.batching.dimensions import shifted
from graphwright.runtime.batching.levels import Level
from graphwright.runtime.batching.pointwise import aligned
from graphwright.runtime.batching.rules import rule
from graphwright.runtime.batching.tensor import BatchedTensor, whole, wrap
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.op_errors import complete
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.indexing.advanced_indexing import is_mask
from graphwright.runtime.ops.strides import broadcast_shapes
from graphwright.runtime.ops.table import Op
from graphwright.runtime.tensor import dtypes


@rule("gather", "scatter_add", "scatter_extreme", "scatter_src", "scatter_value")
def along_index(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Input, index and source with one batch; examples without dimensions have one meanwhile."""
    rank = args[0].ndim
    values = []
    for param, arg in zip(op.schema.params, args, strict=True):
        if type(arg) is BatchedTensor:
            value = whole(arg)
            values.append(value if arg.ndim else ops.unsqueeze(value, 1))
        else:
            values.append(shifted(param.type, arg, rank))
    out = dispatch(op, tuple(values))
    shape = args[2].shape if op.name == "gather" else args[0].shape
    return out if len(shape) else ops.reshape(out, (out.shape[0],))


def _rows(level: Level, rank: int, device: Any) -> Any:
    """The numbers of the examples, with `rank` dimensions behind."""
    numbers = ops.arange(level.size, device=device)
    return ops.reshape(numbers, (level.size, *(1,) * rank))


@rule("index_select")
def index_select(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Rows of each example; with indices of its own by `gather`."""
    input, dim, index = args
    if not index.batched and input.ndim:
        return dispatch(op, (input.value, dim + 1, index.value))
    positions = ops.reshape(whole(index), (level.size, -1))
    count = positions.shape[1]
    if not input.ndim:
        picked = ops.gather(ops.unsqueeze(whole(input), 1), 1, positions)
        return ops.reshape(picked, (level.size,))
    before, after = tuple(input.shape[:dim]), tuple(input.shape[dim + 1 :])
    ones = (1,) * dim, (1,) * len(after)
    positions = ops.reshape(positions, (level.size, *ones[0], count, *ones[1]))
    positions = ops.expand(positions, (level.size, *before, count, *after))
    return ops.gather(whole(input), dim + 1, positions)


@rule("index_add")
def index_add(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Rows added to; with indices of its own each example is a stretch of one long tensor."""
    input, dim, index, source, alpha = args
    if not index.batched and input.ndim:
        return dispatch(op, (whole(input), dim + 1, index.value, whole(source), alpha))
    values, given = whole(input), whole(source)
    if not input.ndim:
        values, given = ops.unsqueeze(values, 1), ops.reshape(given, (level.size, -1))
    values, given = ops.movedim(values, dim + 1, 1), ops.movedim(given, dim + 1, 1)
    size, rest = values.shape[1], tuple(values.shape[2:])
    places = ops.reshape(whole(index), (level.size, -1))
    places = ops.reshape(ops.add(places, ops.mul(_rows(level, 1, places.device), size)), (-1,))
    flat = ops.reshape(values, (level.size * size, *rest))
    added = ops.index_add(
        flat, 0, places, ops.reshape(given, (places.shape[0], *rest)), alpha=alpha
    )
    out = ops.movedim(ops.reshape(added, (level.size, size, *rest)), 1, dim + 1)
    return out if input.ndim else ops.reshape(out, (level.size,))


def _adjacent(indices: tuple[Any, ...]) -> bool:
    """Whether the tensors among the indices stand side by side."""
    places = [place for place, index in enumerate(indices) if index is not None]
    return places[-1] - places[0] + 1 == len(places)


class _Picked:
    """How the result of indexing lies: dims before the indices', the indices', and those after.

    `front` is where the indices' dims begin in an example's result: behind the dims before them,
    or at 0 where the tensors of indices do not stand side by side. `own` are the indices of all
    examples at once, whose result begins with the batch and then the indices' dims.
    """

    def __init__(self, indices: tuple[Any, ...], level: Level) -> None:
        given = [index for index in indices if index is not None]
        self.rank = max([index.ndim for index in given])
        first = next(place for place, index in enumerate(indices) if index is not None)
        self.front = first if _adjacent(indices) else 0
        self.own: tuple[Any, ...] = (
            _rows(level, self.rank, given[0].device),
            *[None if index is None else aligned(index, self.rank) for index in indices],
        )

    def to_example(self, value: Any) -> Any:
        """The batch, the indices' dims and the rest -> the batch and an example's result."""
        return ops.movedim(value, *self._places()) if self.front and self.rank else value

    def from_example(self, value: Any) -> Any:
        """The inverse of `to_example`."""
        places = self._places()
        return ops.movedim(value, *places[::-1]) if self.front and self.rank else value

    def _places(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        there = tuple(range(1, self.rank + 1))
        return there, tuple([place + self.front for place in there])


def _without_masks(op: Op, indices: tuple[Any, ...], level: Level) -> tuple[Any, ...]:
    """Indices with masks as the places that they pick.

    Raises RuntimeError for a mask that differs between examples: so would the results' shapes.
    """
    found: list[Any] = []
    for index in indices:
        if not is_mask(index):
            found.append(index)
            continue
        if index.batched:
            raise complete(RuntimeError(
                "vmap: We do not support batching operators that can output dynamic shape. "
                f"Attempted to vmap over {op.name} with a mask"
            ))
        places = ops.unbind(ops.nonzero(index.value), 1)
        found += [wrap(place, level, batched=False) for place in places]
    return tuple(found)


@rule("index")
def index(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Elements of each example; indices that all share leave the batch alone where they can."""
    input, indices = args[0], _without_masks(op, args[1], level)
    own = any([index.batched for index in indices if index is not None])
    if not own and _adjacent(indices):
        shared = [None if index is None else index.value for index in indices]
        return ops.index(input.value, (None, *shared))
    picked = _Picked(indices, level)
    return picked.to_example(ops.index(whole(input), picked.own))


@rule("index_put")
def index_put(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Elements of each example replaced, or added to, by values broadcast to what is picked."""
    input, given, values, accumulate = args
    indices = _without_masks(op, given, level)
    picked = _Picked(indices, level)
    count = len([index for index in indices if index is not None])
    rank = picked.rank + input.ndim - count
    source = whole(values)
    if values.ndim < rank:
        source = ops.reshape(source, (level.size, *(1,) * (rank - values.ndim), *values.shape))
    own = picked.from_example(source)
    return ops.index_put(whole(input), picked.own, own, accumulate)


@rule("masked_scatter")
def masked_scatter(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """The mask's n-th place of an example takes the source's n-th element."""
    input, mask, source = args
    shape = broadcast_shapes("masked_scatter", [input.shape, mask.shape])
    rank = len(shape)
    size = (level.size, *shape)
    values, chosen = (
        ops.expand(aligned_whole(tensor, rank, level), size) for tensor in (input, mask)
    )
    flat = ops.reshape(chosen, (level.size, -1))
    order = ops.clamp(ops.sub(ops.cumsum(ops.to_dtype(flat, dtypes.int64), 1), 1), 0)
    stock = ops.reshape(whole(source), (level.size, -1))
    drawn = ops.gather(stock, 1, ops.clamp(order, max=stock.shape[1] - 1))
    return ops.where(chosen, ops.reshape(drawn, size), values)


def aligned_whole(tensor: BatchedTensor, rank: int, level: Level) -> Any:
    """All examples' values, with room for `rank` dimensions of each."""
    value = whole(tensor)
    return ops.reshape(value, (level.size, *(1,) * (rank - tensor.ndim), *tensor.shape))
