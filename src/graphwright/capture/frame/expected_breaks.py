"""Breaks found in functions that a frame inlined, for when these are captured themselves.

A graph ends before the call that leads to a break, the call runs natively, and each function on
the way is captured in its turn. Where it breaks is known by then, so its translation stops there
at once: what comes before a break is translated once by the frame that found it and once by the
function that holds it, however many functions lie between.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import RestartTranslation, Unsupported
from graphwright.runtime.record import Record

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

_OF_CALLER = frozenset(["GB0011"])
"""Breaks that a function has for where it is called from."""
_TOO_LONG = "GB0018"


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

    @classmethod
    def of(cls, frame: Translator, first: int | None) -> Waypoint:
        """Where a frame is."""
        return cls(frame.code, frame.steps, frame.current.offset, first,
                   frame.output.budget.idle_since(frame.began))

    def is_call_of(self, code: types.CodeType, slots: tuple[Any, ...]) -> bool:
        """Whether a captured call is the one that was inlined."""
        if code is not self.code or self.first is None:
            return code is self.code
        return id(slots[0]) == self.first


class ExpectedBreaks:
    """The way to the break that was found last, outermost function first."""

    def __init__(self) -> None:
        self._way: list[Waypoint] = []
        self._reason: Unsupported | None = None

    def note(self, reason: Unsupported) -> None:
        """A frame breaks for this reason: what it called is captured next.

        Where an earlier step is to blame, the functions on the way do not break where they were.
        """
        elsewhere = reason.code in _OF_CALLER or reason.cut_at is not None
        self._way = [] if elsewhere else reason.way[::-1]
        self._reason = reason.copy() if self._way else None

    def take(
        self, code: types.CodeType, slots: tuple[Any, ...], patience: int
    ) -> RestartTranslation | None:
        """The break of a call that is captured now; None where none is known of.

        patience: how many instructions without a tensor a call may take.
        """
        way, reason = self._way, self._reason
        place = next((i for i, point in enumerate(way) if point.is_call_of(code, slots)), None)
        if place is None or reason is None:
            self._way, self._reason = [], None
            return None
        self._way = way[place + 1 :]
        point = way[place]
        too_long = reason.code == _TOO_LONG
        if too_long and (point.idle is None or 2 * point.idle < patience):
            return None
        found = RestartTranslation(point.step, reason.copy())
        found.offset = point.offset
        found.pointless = too_long
        return found
