"""`Later`: a value that is made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from graphwright.runtime.locks import Lock

T = TypeVar("T")


class Later(Generic[T]):
    """Made by `make`, once, in the thread that asks first. One that fails is tried again."""

    __slots__ = ("_lock", "_made", "_make")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make: Callable[[], T] | None = make
        self._made: T
        self._lock = Lock()

    def get(self) -> T:
        """The value."""
        with self._lock.now:
            if self._make is not None:
                self._made = self._make()
                self._make = None
            return self._made
