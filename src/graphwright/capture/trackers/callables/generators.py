"""Generators of the frame's own functions: suspended translators."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING

from graphwright.capture.exc import AttributeMissing, unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.iterators import IteratorVariable, stop_iteration
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.exceptions import (
    ExceptionVariable,
    Raised,
    raise_in_frame,
    raised_by,
    stopped_by,
)
from graphwright.capture.vm.bytecode import PYTHON, exception_handlers

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


class GeneratorVariable(IteratorVariable):
    """A generator; its frame runs on at each `next`, `send` and `throw`.

    kind: the type that Python gives it, which is another one where the generator stands for an
    iterator of the standard library. drawn: how many items it has given. left: the number of
    items that remain after a number of them was drawn, for iterators that read by index.
    """

    left: Callable[[int], VariableTracker | None] | None = None

    def __init__(self, frame: Translator, kind: type = types.GeneratorType) -> None:
        self.frame = frame
        self.kind = kind
        self.started = False
        self.drawn = 0
        self.failed = False
        self.running = False
        self.closed_with: VariableTracker | None = None

    def python_type(self) -> type:
        return self.kind

    def describe(self) -> str:
        return f"generator {self.frame.code.co_qualname}"

    @property
    def finished(self) -> bool:
        """Whether nothing more comes."""
        return self.failed or self.frame.returned is not None

    def length_hint(self, tx: Translator) -> VariableTracker | None:
        if self.left is None:
            return None
        return tx.constant(0) if self.finished else self.left(self.drawn)

    def next(self, tx: Translator) -> VariableTracker | None:
        item = self.resume(tx, tx.constant(None))
        self.drawn += item is not None
        return item

    def resume(self, tx: Translator, sent: VariableTracker) -> VariableTracker | None:
        """Go on with a value; the next item, or None at the end.

        What the generator returned is for whoever meets its end, not for those after that.
        """
        if self.finished:
            if self.frame.returned is not None:
                self.frame.returned = tx.constant(None)
            return None
        if self.started:
            self.frame.push(sent)
        elif not sent.is_none():
            raise_in_frame(TypeError)
        self.started = True
        return self._run(tx)

    def throw(self, tx: Translator, error: Raised) -> VariableTracker | None:
        """Raise an exception where the generator waits."""
        frame = self.frame
        if self.finished or not self.started:
            self.failed = self.failed or not self.started
            raise error
        receiver = self._delegate()
        if receiver is None:
            return self._run(tx, error)
        frame.parent, frame.depth = tx, tx.depth + 1
        if not isinstance(receiver, GeneratorVariable):
            unsupported("GB0013", f"an exception is thrown into {receiver.describe()}")
        try:
            if issubclass(error.value.cls, GeneratorExit):
                receiver.close(tx)
                return self._run(tx, error)
            item = receiver.throw(tx, error)
        except Raised as escaped:
            return self._run(tx, escaped)
        if item is not None:
            return item
        frame.stack[-1:] = [*frame.stack[-1:][: PYTHON >= (3, 12)], receiver.result()]
        frame.ip = frame.instructions[frame.ip - 2].target
        return self._run(tx)

    def _delegate(self) -> VariableTracker | None:
        """The iterator of the `yield from` in which the frame waits."""
        before = self.frame.instructions[self.frame.ip - 2]
        return self.frame.stack[-1].realize() if before.opname == "SEND" else None

    def _run(self, tx: Translator, error: Raised | None = None) -> VariableTracker | None:
        frame = self.frame
        if self.running:
            unsupported("GB0006", "ValueError: generator already executing")
        frame.parent, frame.depth = tx, tx.depth + 1
        frame.yielded = None
        self.running = True
        try:
            if error is not None:
                frame.push(tx.constant(None))  # in place of what was sent
                frame.throw(error)
            while frame.yielded is None and frame.returned is None:
                frame.step()
        except Raised as raised:
            self.failed = True
            if issubclass(raised.value.cls, StopIteration):
                if self.kind is not types.GeneratorType:
                    raised.drop_frames()
                    self.stopped_with = raised.value
                    return None
                raise Raised(stopped_by(tx, raised.value)) from raised
            raise
        finally:
            self.running = False
        return frame.yielded

    def close(self, tx: Translator) -> None:
        """`generator.close()`."""
        if self.finished or not self.started:
            self.failed = True
            return
        leave = Raised(ExceptionVariable(GeneratorExit, []))
        try:
            item = self.throw(tx, leave)
        except Raised as raised:
            if not issubclass(raised.value.cls, (GeneratorExit, StopIteration)):
                raise
            raised.drop_frames()
            return
        finally:
            leave.drop_frames()
        if item is not None:
            raise_in_frame(RuntimeError)
        self.closed_with = self.frame.returned

    def result(self) -> VariableTracker:
        """What the generator returned."""
        if self.frame.returned is None and not self.failed:
            unsupported("GB0013", f"{self.describe()} is still running")
        return self.frame.returned or ConstantVariable(None)

    def is_open(self) -> bool:
        """Whether it waits inside of a block that Python would leave when it drops it."""
        if self.finished or not self.started:
            return False
        offset = self.frame.current.offset
        while True:
            around = [h for h in exception_handlers(self.frame.code) if h.start <= offset < h.end]
            if not around:
                return False
            target = self.frame.instructions[around[0].target]
            if target.opname != "CLEANUP_THROW":  # which is only about `yield from` itself
                return target.opname != "CALL_INTRINSIC_1"
            offset = target.offset

    # its methods

    @classmethod
    def methods(cls) -> dict[str, Callable[..., VariableTracker]]:
        return _METHODS

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if self.kind is not types.GeneratorType and name in ("send", "throw", "close"):
            raise AttributeMissing("GB0007", f"{self.kind.__name__} has no attribute {name!r}")
        return super().getattr(tx, name)

    def call_method(
        self, tx: Translator, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        method = _METHODS.get(name)
        if method is None or kwargs:
            return super().call_method(tx, name, args, kwargs)
        return method(self, tx, args)

    def _next_method(self, tx: Translator, args: Args) -> VariableTracker:
        return self._item_or_stop(tx, self.next(tx))

    def _send_method(self, tx: Translator, args: Args) -> VariableTracker:
        (sent,) = args
        return self._item_or_stop(tx, self.resume(tx, sent.realize()))

    def _throw_method(self, tx: Translator, args: Args) -> VariableTracker:
        given = [arg.realize() for arg in args]
        if len(given) > 1 and isinstance(given[1], ExceptionVariable):
            given = given[1:]
        return self._item_or_stop(tx, self.throw(tx, Raised(raised_by(tx, given[0]))))

    def _close_method(self, tx: Translator, args: Args) -> VariableTracker:
        self.close(tx)
        if PYTHON >= (3, 13) and self.closed_with is not None:
            return self.closed_with
        return tx.constant(None)

    def result_at_end(self, tx: Translator) -> VariableTracker | None:
        if self.frame.returned is None:
            return None
        value = self.frame.returned.realize()
        self.failed = True
        self.frame.returned = tx.constant(None)
        return None if value.is_none() else value

    def _item_or_stop(self, tx: Translator, item: VariableTracker | None) -> VariableTracker:
        return item if item is not None else stop_iteration(tx, self)


_METHODS: dict[str, Callable[..., VariableTracker]] = {
    "__next__": GeneratorVariable._next_method,
    "send": GeneratorVariable._send_method,
    "throw": GeneratorVariable._throw_method,
    "close": GeneratorVariable._close_method,
    "__iter__": lambda self, tx, args: self,
}
