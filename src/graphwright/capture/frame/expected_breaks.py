"""Breaks found in functions that a frame inlined, for when these are captured themselves.

A graph ends before the call that leads to a break, the call runs natively, and each function on
the way is captured in its turn. Where it breaks is known by then, so its translation stops there
at once: what comes before a break is translated once by the frame that found it and once by the
function that holds it, however many functions lie between.
"""

from __future__ import annotations

import types
from typing import Any

from graphwright.capture.exc import RestartTranslation, Unsupported, Waypoint

_OF_CALLER = frozenset(["GB0011"])
"""Breaks that a function has for where it is called from."""
_TOO_LONG = "GB0018"


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
