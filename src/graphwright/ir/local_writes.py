"""Writes of a function of the user's own to what it made: the trace sees functional ops.

Forward and backward of an `autograd.Function` run where nothing may be written any more::

    out = softmax(x, -1)                 # ops.softmax
    out[0].mul_(2)                       # select, mul, view_scatter into out

The tensors that the function holds are the same afterwards; which node's value each has is looked
up here: memory has a present value, and a view of it is taken from that value anew.
"""

from __future__ import annotations

from typing import Any

from graphwright.ir.graph.node import map_leaves
from graphwright.ir.lowered_graph import CannotLower, ViewStep
from graphwright.ir.views.inverse import REPEATING, new_value, put_back, view_again
from graphwright.runtime.fake.fake_tensor import FakeTensor, fake_kernel
from graphwright.runtime.ops.table import Op
from graphwright.runtime.record import Record


class _Memory(Record, frozen=False, eq=False):
    """The present value of what one op made, and how often it was written."""

    value: FakeTensor
    version: int = 0


class _Part(Record, frozen=False, eq=False):
    """`tensor` is `memory` through `chain`; `value` is its value at `version`."""

    tensor: FakeTensor
    memory: _Memory
    chain: tuple[ViewStep, ...]
    value: FakeTensor
    version: int = 0


def same_layout(one: FakeTensor, two: FakeTensor) -> bool:
    """Whether two tensors of one storage have the same layout and dtype."""
    return (str(one.shape), str(one.stride()), str(one.storage_offset()), one.dtype) == (
        str(two.shape), str(two.stride()), str(two.storage_offset()), two.dtype)


class LocalWrites:
    """The tensors made while functions of the user's own run, and what was written to them."""

    def __init__(self) -> None:
        self._parts: dict[int, _Part] = {}
        self._memories: dict[int, _Memory] = {}
        self._kept: list[Any] = []

    @property
    def some(self) -> bool:
        """Whether a function of the user's own has made tensors."""
        return bool(self._memories)

    def knows(self, value: Any) -> bool:
        """Whether a function of the user's own has it already."""
        return id(value) in self._parts

    def note(self, op: Op, args: tuple[Any, ...], value: Any) -> None:
        """An op of the function, or a view of what it made, gave `value`, or a tuple of such."""
        if op.is_view:
            made = isinstance(value, FakeTensor) and not self.knows(value)
            parent = self._part_of(args[0]) if made else None
            if parent is not None:
                step = (op, args[1:])
                self._parts[id(value)] = _Part(
                    value, parent.memory, (*parent.chain, step), value, parent.memory.version)
            return
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, FakeTensor) and id(each._storage) not in self._memories:
                memory = self._memories[id(each._storage)] = _Memory(each)
                self._parts[id(each)] = _Part(each, memory, (), each)

    def _part_of(self, tensor: Any) -> _Part | None:
        """What the tensor shows; one that was saved for backward is another object of its type."""
        part = self._parts.get(id(tensor))
        memory = None if part is not None else self._memories.get(id(tensor._storage))
        if memory is not None:
            twins = (each for each in self._parts.values() if each.memory is memory)
            part = next((each for each in twins if same_layout(each.tensor, tensor)), None)
            if part is not None:
                self._parts[id(tensor)] = part
                self._kept.append(tensor)
        return part

    def present(self, leaf: Any) -> Any:
        """The tensor that has the present value of one; any other value as it is.

        Raises: CannotLower where its memory was written, and how it shows that is not known.
        """
        if not self._memories or not isinstance(leaf, FakeTensor):
            return leaf
        part = self._part_of(leaf)
        if part is None:
            memory = self._memories.get(id(leaf._storage))
            if memory is not None and memory.version:
                raise CannotLower("a function of the user's own reads what it has written to by "
                                  "an op that may give a view")
            return leaf
        if part.version != part.memory.version:
            value = part.memory.value
            for step in part.chain:
                value = view_again(step, value)
            part.value, part.version = value, part.memory.version
        return part.value

    def write(self, op: Op, args: tuple[Any, ...]) -> Any:
        """What the in-place op gives: its tensor, which has another value from now on.

        Raises: CannotLower for memory that the function did not make, and for views that may show
            a place more than once.
        """
        target = args[0]
        part = self._part_of(target) if isinstance(target, FakeTensor) else None
        if part is None:
            raise CannotLower(f"{op.name} within a function of the user's own writes to what it "
                              "did not make")
        if any(step.name in REPEATING for step, _ in part.chain):
            raise CannotLower(f"{op.name} within a function of the user's own may write to some "
                              "places more than once")
        if op.name == "copy_" and args[0] is args[1]:
            return target
        fake_kernel(op, args)
        memory = part.memory
        part.value = new_value(op, map_leaves(args, self.present))
        memory.value = put_back(memory.value, part.chain, part.value)
        memory.version += 1
        part.version = memory.version
        return target
