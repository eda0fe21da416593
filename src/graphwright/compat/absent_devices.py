"""What stands for a device that is not there: functions that refuse, classes that make nothing.

Questions have the answers of a machine without the device (`graphwright.cuda.is_available()` is
False); what could only be done with it raises, with a sentence that says so.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, NoReturn, Self

from graphwright.runtime.tensor.device import absence


def refusal(
    device: str, error: type[Exception] = AssertionError
) -> Callable[..., NoReturn]:
    """A function that takes anything and raises `error`: there is no such device."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        """Raises: there is no such device."""
        raise error(absence(device))

    return refuse


class AbsentObject:
    """A base of classes whose instances belong to a device; making one raises RuntimeError."""

    of = "CUDA"

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(
            f"graphwright.{cls.of.lower()}.{cls.__name__} requires a {cls.of} device"
        )


class Block:
    """A `with` block that chooses something of a device; None and numbers below 0 are nothing."""

    of = "CUDA"

    def __init__(self, chosen: Any) -> None:
        self.chosen = chosen

    def __enter__(self) -> Self:
        if self.chosen is not None and not (isinstance(self.chosen, int) and self.chosen < 0):
            raise RuntimeError(f"graphwright has no {self.of} devices: {self.chosen!r} is none")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing was chosen."""


class Stream(AbsentObject):
    """A queue of an accelerator's work, of whatever kind that is."""

    of = "ACCELERATOR"


class Event(AbsentObject):
    """A mark in a queue of an accelerator's work."""

    of = "ACCELERATOR"
