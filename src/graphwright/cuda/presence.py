"""What to do without a GPU, and with one about what is not there yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from graphwright.compat.absent_devices import AbsentObject
from graphwright.runtime.cuda.devices import is_available
from graphwright.runtime.tensor.device import absence


def require() -> None:
    """Raise AssertionError where there is no GPU, as PyTorch does."""
    if not is_available():
        raise AssertionError(absence("cuda"))


def lacking(name: str, error: type[Exception] = AssertionError) -> Callable[..., NoReturn]:
    """A function that takes anything and raises: `error` without a GPU, else NotImplementedError.
    """

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        """Raises: there is no GPU, or this is not there yet."""
        if not is_available():
            raise error(absence("cuda"))
        raise NotImplementedError(f"graphwright.cuda.{name} is not there yet")

    return refuse


class LackingObject(AbsentObject):
    """A base of classes of which nothing can be made yet: RuntimeError without a GPU."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        if is_available():
            name = f"graphwright.{cls.of.lower()}.{cls.__name__}"
            raise NotImplementedError(f"{name} is not there yet")
        super().__new__(cls)
