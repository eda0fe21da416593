"""How capture gives up, and what the user then sees.

`Unsupported` is the only exception that makes capture fall back to plain Python; anything else
that escapes is a bug of the compiler and surfaces as `InternalCaptureError`.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from graphwright.capture.breaks import BREAKS, BreakKind
from graphwright.capture.frame.record import Location
from graphwright.capture.guards.text import class_module
from graphwright.capture.trackers.values.namespaces import flags_of
from graphwright.runtime.record import Record

if TYPE_CHECKING:
    from graphwright.capture.guards.source import Source


class Signal(Exception):
    """Goes on its way through capture only: no program sees it.

    made: those of the capture that is going on, whose frames hold each other.
    """

    made: ClassVar[list[Signal]] = []

    def __init__(self, text: str) -> None:
        super().__init__(text)
        Signal.made.append(self)

    @staticmethod
    def forget() -> None:
        """At the end of a capture: release the frames that its signals came through."""
        made, Signal.made = Signal.made, []
        for signal in made:
            signal.drop_frames()

    def drop_frames(self) -> None:
        """Release the frames that it and those behind it came through.

        They hold the user's objects, and often the exception itself.
        """
        behind: tuple[Any, ...] = (self.__cause__, self.__context__)
        self.__traceback__ = self.__cause__ = self.__context__ = None
        for error in behind:
            if issubclass(type(error), Signal):
                error.drop_frames()


class Waypoint(Record):
    """An inlined function on the way to a break.

    step, offset: the instruction that led there, as the how manieth of the call. first: the id of
    the object of a Python class that is the first argument, if it is one. idle: how many
    instructions the call took, if it met no tensor.
    """

    code: types.CodeType
    step: int
    offset: int
    first: int | None
    idle: int | None

    def is_call_of(self, code: types.CodeType, slots: tuple[Any, ...]) -> bool:
        """Whether a captured call is the one that was inlined."""
        if code is not self.code or self.first is None:
            return code is self.code
        return id(slots[0]) == self.first


class Unsupported(Signal):
    """Something that the graph cannot hold. `code` names an entry of `breaks.BREAKS`.

    cut_at: the step of the captured frame that should run natively instead, where that is not
    the one being run. way: the inlined functions that it came through, innermost first.
    lacking: what was not there, so that the graph ends there only as long as it is not.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.location: Location | None = None
        self.cut_at: int | None = None
        self.way: list[Waypoint] = []
        self.lacking: Source | None = None

    def copy(self) -> Unsupported:
        """The same at the same place, for another frame, which has other arguments."""
        made = Unsupported(self.code, self.detail)
        made.location = self.location
        if self.lacking is not None and self.lacking.everywhere:
            made.lacking = self.lacking
        return made

    def blame(self, step: int) -> None:
        """Remember the step before which a break would have avoided this; the innermost counts."""
        if self.cut_at is None:
            self.cut_at = step

    def note_location(self, location: Location) -> None:
        """Remember where it happened; the innermost place counts."""
        if self.location is None:
            self.location = location

    @property
    def kind(self) -> BreakKind:
        """The registry entry: title, explanation and advice."""
        return BREAKS[self.code]


_HEAP_TYPE = 1 << 9
_KINDS = _HEAP_TYPE | 1 << 8  # types of C, which errors name with their modules, are immutable


class AttributeMissing(Unsupported):
    """The attribute provably does not exist; `hasattr` and `getattr` with a default catch it.

    text: what Python says, where that is known.
    """

    text: str | None = None

    @classmethod
    def of(cls, owner: type, name: str) -> AttributeMissing:
        """Of a plain object, found by nobody."""
        text = f"{owner.__name__!r} object has no attribute {name!r}"
        missing = cls("GB0007", text)
        if class_module(owner) == "builtins" or flags_of(owner) & _KINDS == _HEAP_TYPE:
            missing.text = text
        return missing


class RestartTranslation(Signal):
    """Translate the frame again from its start, stopping before root instruction `step`.

    pointless: what is before that step has nothing for a graph, and nor has what follows.
    offset: of the instruction that has to be met at that step, if it was found in another frame.
    reached: whether the translation came there.
    """

    pointless = False
    offset: int | None = None
    reached = False

    def __init__(self, step: int, reason: Unsupported) -> None:
        super().__init__(f"restart, break before step {step}: {reason}")
        self.step = step
        self.reason = reason

    def is_expected(self) -> bool:
        """Whether another frame found it, and this one has come there."""
        return self.offset is not None and self.reached

    def without_frames(self) -> RestartTranslation:
        """The same, without the frames that it came through: they hold the user's objects."""
        self.drop_frames()
        self.reason.drop_frames()
        return self


class Reconsidered(Signal):
    """Translate the frame again from its start, knowing a `lesson`: see `FrameState.lessons`."""

    def __init__(self, lesson: str) -> None:
        super().__init__(f"reconsidered: {lesson}")
        self.lesson = lesson


class SkipFrame(Exception):
    """Run the whole frame as plain Python; `reason` is None when there was nothing to compile.

    guards: what has to hold for the same to be found.
    """

    def __init__(self, reason: Unsupported | None = None, guards: tuple[Any, ...] = ()) -> None:
        super().__init__(str(reason or "no tensor operation in the frame"))
        self.reason = reason
        self.guards = guards


class BackendFailed(Exception):
    """Carries an exception past capture, which has no say in it: the backend's, or one that the
    program's caller is to see."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class GraphBreakError(RuntimeError):
    """Raised under `fullgraph=True` where the frame cannot be one graph."""


class InternalCaptureError(RuntimeError):
    """A bug of the capture stage, with the user's code location and the original as cause."""


def unsupported(code: str, detail: str) -> NoReturn:
    """Give up on the current instruction: the graph ends before it, and Python runs it."""
    raise Unsupported(code, detail)
