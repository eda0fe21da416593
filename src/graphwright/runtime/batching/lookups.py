"""Values looked up in other values."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.batching.fallback import loop
from graphwright.runtime.batching.levels import Level
from graphwright.runtime.batching.rules import rule
from graphwright.runtime.batching.tensor import BatchedTensor, spread, whole
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Op


@rule("isin")
def isin(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Elements of all examples among the same ones."""
    elements, test_elements, *options = args
    if type(elements) is not BatchedTensor or not elements.batched or (
        type(test_elements) is BatchedTensor and test_elements.batched
    ):
        return loop(op, args, level)
    tests = test_elements.value if type(test_elements) is BatchedTensor else test_elements
    return dispatch(op, (elements.value, tests, *options))


@rule("search_positions")
def search_positions(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Places in sorted sequences: one for all values, or one for each row of them."""
    sequence, values, out_int32, right, sorter = args
    many = type(values) is BatchedTensor
    if not sequence.batched and (sorter is None or not sorter.batched) and sequence.ndim == 1:
        order = None if sorter is None else sorter.value
        return dispatch(op, (sequence.value, values.value, out_int32, right, order))
    given = whole(values) if many else spread(
        ops.full((), values, device=sequence.device), level)
    order = None if sorter is None else whole(sorter)
    if sequence.ndim > 1:
        return dispatch(op, (whole(sequence), given, out_int32, right, order))
    flat = ops.reshape(given, (level.size, -1))
    found = dispatch(op, (whole(sequence), flat, out_int32, right, order))
    return ops.reshape(found, given.shape)


@rule("segment_numbers")
def segment_numbers(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Every row of bounds has segments of its own."""
    bounds, *options = args
    return dispatch(op, (whole(bounds), *options))
