"""What stands for a device that is not there: functions that refuse, classes that make nothing.

Questions have the answers of a machine without the device (`graphwright.cuda.is_available()` is
False); what could only be done with it raises, with a sentence that says so.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import TracebackType
from typing import Any, NoReturn, Self

from graphwright.runtime import _core
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
    """A queue of an accelerator's work: `cuda.Stream(device, priority)`, where there is a GPU."""

    of = "ACCELERATOR"

    def __new__(cls, device: Any = None, *, priority: int = 0) -> Any:
        if cls is Stream and _core.cuda_absence() is None:
            return import_module("graphwright.cuda.streams").Stream(device, priority)
        return super().__new__(cls)


class Event(AbsentObject):
    """A mark in a queue of an accelerator's work: `cuda.Event(...)`, where there is a GPU."""

    of = "ACCELERATOR"

    def __new__(cls, device: Any = None, **how: bool) -> Any:
        """`device` says no more than that it is a GPU; `how`: as of `cuda.Event`."""
        if cls is Event and _core.cuda_absence() is None:
            return import_module("graphwright.cuda.streams").Event(**how)
        return super().__new__(cls)
