"""Generators of the frame's own functions: suspended translators."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

from graphwright.capture.exc import unsupported
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.iterators import IteratorVariable

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator


class GeneratorVariable(IteratorVariable):
    """A generator; its frame runs on at each `next`."""

    def __init__(self, frame: Translator) -> None:
        self.frame = frame
        self.started = False

    def python_type(self) -> type:
        return types.GeneratorType

    def describe(self) -> str:
        return f"generator {self.frame.code.co_qualname}"

    def next(self, tx: Translator) -> VariableTracker | None:
        frame = self.frame
        if frame.returned is not None:
            return None
        frame.parent = tx
        frame.depth = tx.depth + 1
        if self.started:
            frame.push(tx.constant(None))
        self.started = True
        frame.yielded = None
        while frame.yielded is None:
            if frame.returned is not None:
                return None
            frame.step()
        return frame.yielded

    def result(self) -> VariableTracker:
        """What the generator returned."""
        if self.frame.returned is None:
            unsupported("GB0013", f"{self.describe()} is still running")
        return self.frame.returned
