"""What a graph assumes of the sizes and strides of a tensor that it is given."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from typing import Any

from graphwright.capture.guards.guards import TensorLayout
from graphwright.runtime import _core
from graphwright.runtime.fake.fake_tensor import FakeTensor
from graphwright.runtime.ops.strides import dense_order, nesting
from graphwright.runtime.symbolic.places import STRIDE, integers_of


def symbolic_places(fake: FakeTensor) -> tuple[int, ...]:
    """The places of an input (sizes and strides) whose values are not fixed."""
    return tuple(place for place, value in integers_of(fake) if not isinstance(value, int))


def layout_of(tensor: Any, places: Collection[int]) -> TensorLayout:
    """What a graph assumes of an input some of whose integers are symbolic.

    Strides of dense tensors with symbolic sizes follow from these.
    """
    shape = tuple(tensor.shape)
    order = dense_order(shape, tensor.stride()) if places else None
    strides: Any
    if order is None:
        steps = enumerate(tensor.stride(), STRIDE)
        strides = tuple(None if place in places else step for place, step in steps)
    else:
        outwards = order[::-1]
        strides = "contiguous" if outwards == tuple(range(len(shape))) else ("order", outwards)
    return TensorLayout(
        cls=type(tensor),
        dtype=tensor.dtype,
        device=tensor.device,
        sizes=tuple(None if dim in places else size for dim, size in enumerate(shape)),
        strides=strides,
        requires_grad=tensor.requires_grad,
    )


def holds_tensors(value: Any) -> bool:
    """Whether a value is a tensor, or a tuple or list with one in it."""
    if isinstance(value, (tuple, list)):
        return any(map(holds_tensors, value))
    return isinstance(value, _core.TensorBase)


def assume_nesting(fake: FakeTensor, tensor: Any) -> None:
    """Guard how the dimensions of a tensor with gaps lie in each other.

    Each inner dimension fills the step of the next outer one, leaves a gap or overlaps it, as it
    does now: that decides all questions about contiguity, order and overlap of elements.
    """
    strides: tuple[Any, ...] = tuple(fake.stride())
    for inner, outer in pairwise(nesting(tensor.stride())):
        filled = strides[inner] * fake.shape[inner]
        if not strides[outer] > filled and strides[outer] != filled:
            bool(strides[outer] >= strides[inner])
