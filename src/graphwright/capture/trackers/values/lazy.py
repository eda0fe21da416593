"""Values that the frame has not used yet: guards are added at the first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphwright.capture.guards.source import Source
from graphwright.capture.trackers.base import VariableTracker

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph


class LazyVariable(VariableTracker):
    """Becomes its real tracker, with guards, at the first `realize`."""

    def __init__(self, output: OutputGraph, value: Any, source: Source) -> None:
        self.output = output
        self.value = value
        self.source = source
        self._real: VariableTracker | None = None

    def realize(self) -> VariableTracker:
        if self._real is None:
            assert self.source is not None
            self._real = self.output.wrap_place(self.value, self.source)
        return self._real

    def realized(self) -> VariableTracker | None:
        """The real tracker, if the value was used already."""
        return self._real

    def python_type(self) -> type:
        return self.realize().python_type()

    def is_constant(self) -> bool:
        return self.realize().is_constant()

    def as_constant(self) -> Any:
        return self.realize().as_constant()

    def as_node(self, tx: Any) -> Any:
        return self.realize().as_node(tx)

    def as_example(self) -> Any:
        return self.realize().as_example()

    def has_tensor(self) -> bool:
        return self.realize().has_tensor()
