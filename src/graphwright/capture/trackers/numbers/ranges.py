"""Ranges whose bounds are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from graphwright.capture.guards.source import Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.iterators import SequenceIterator
from graphwright.capture.trackers.containers.sequences import SequenceVariable, SliceVariable

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator


class RangeVariable(SequenceVariable):
    """A range whose bounds are known."""

    kind = range

    def __init__(
        self, value: range, items: list[VariableTracker], source: Source | None = None
    ) -> None:
        self.value = value
        self.items = items
        self.source = source

    def is_constant(self) -> bool:
        return True

    def as_constant(self) -> range:
        return self.value

    def as_node(self, tx: Translator) -> Any:
        return list(self.value)

    def as_example(self) -> Any:
        return self.value

    def parts(self) -> Iterable[VariableTracker]:
        return ()

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name in ("start", "stop", "step"):
            return tx.constant(getattr(self.value, name))
        return super().getattr(tx, name)

    def iterate(self, tx: Translator) -> VariableTracker:
        return SequenceIterator(self.items, self)

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        key = key.realize()
        if isinstance(key, SliceVariable):
            return tx.range_of(self.value[key.as_slice()])
        return super().getitem(tx, key)

    def refusing_index(self) -> Callable[..., int]:
        return self.value.index

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.load_const(self.value)
