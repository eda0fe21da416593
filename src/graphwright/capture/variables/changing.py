"""Functions that give another value at each call: the clock, and Python's random numbers."""

from __future__ import annotations

import random
import time
import types
from typing import TYPE_CHECKING, Any, NoReturn

from graphwright.capture.exc import unsupported
from graphwright.capture.variables.base import VariableTracker

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator

_CLOCKS = ("time", "perf_counter", "monotonic", "process_time", "thread_time")
_STATES = ("seed", "getstate", "setstate")


def changing(name: str) -> Any:
    """The handler of a function of that name."""

    def handler(
        tx: Translator, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
    ) -> NoReturn:
        unsupported("GB0019", f"{name}() gives another value at each call")

    return handler


def bound_random(value: Any) -> Any:
    """The handler of a builtin method of a `random.Random`; None for others."""
    draws = isinstance(value.__self__, random.Random) and value.__name__ not in _STATES
    return changing(f"random.{value.__name__}") if draws else None


CHANGING: dict[Any, Any] = {
    **{
        getattr(time, f"{name}{unit}"): changing(f"time.{name}{unit}")
        for name in _CLOCKS
        for unit in ("", "_ns")
    },
    **{
        function: changing(f"random.{name}")
        for name, function in vars(random.Random).items()
        if isinstance(function, types.FunctionType) and name not in _STATES and name[0] != "_"
    },
}
