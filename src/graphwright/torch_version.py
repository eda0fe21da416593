"""`torch.torch_version`: a version that is a str and compares by its numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any


def _numbers(version: Any) -> tuple[int, ...] | None:
    """The numbers of a release, without zeros at their end; None for what is no version."""
    if isinstance(version, Iterable) and not isinstance(version, str):
        version = ".".join(map(str, version))
    found = re.match(r"v?(\d+(?:\.\d+)*)", str(version))
    if found is None:
        return None
    numbers = [int(number) for number in found[1].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


class TorchVersion(str):
    """A str that compares with others, with tuples and with versions by the release's numbers.

    `TorchVersion("2.13.0+cpu") >= (2, 4)`, `> "2.9"` and `== "2.13"` are true. What is no version
    compares as a str does.
    """

    __slots__ = ()
    __hash__ = str.__hash__

    def _compare(self, other: Any, method: str) -> Any:
        theirs = _numbers(other)
        if theirs is None:
            return getattr(str, method)(self, other)
        return getattr(tuple, method)(_numbers(self), theirs)

    def __eq__(self, other: object) -> Any:
        return self._compare(other, "__eq__")

    def __ne__(self, other: object) -> Any:
        return self._compare(other, "__ne__")

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, "__lt__")

    def __le__(self, other: Any) -> Any:
        return self._compare(other, "__le__")

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, "__gt__")

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, "__ge__")
