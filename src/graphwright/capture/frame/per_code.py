"""What is known about code objects, each of them for itself.

Python calls two code objects equal that were compiled from the same text in two files. Their
tracebacks differ, and those of the functions that they define: nothing may pass between them.
"""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

V = TypeVar("V")
R = TypeVar("R")
P = ParamSpec("P")


class CodeTable(Generic[V]):
    """Values by the identity of code objects, which are not kept alive."""

    def __init__(self) -> None:
        self._items: dict[int, tuple[weakref.ref[types.CodeType], V]] = {}

    def get(self, code: types.CodeType) -> V | None:
        """What is stored for `code`, None if nothing is."""
        found = self._items.get(id(code))
        return found[1] if found is not None else None

    def __setitem__(self, code: types.CodeType, value: V) -> None:
        # Called at the end of `code` with the reference, which is the default of the pop: no
        # frame of Python's begins, which a function that profiles would see.
        ended = functools.partial(self._items.pop, id(code))
        self._items[id(code)] = weakref.ref(code, ended), value

    def __contains__(self, code: types.CodeType) -> bool:
        return id(code) in self._items

    def clear(self) -> None:
        """Forget all."""
        self._items.clear()


def per_code(
    function: Callable[Concatenate[types.CodeType, P], R],
) -> Callable[Concatenate[types.CodeType, P], R]:
    """`function`, which is called once for each code object and further arguments."""
    table: CodeTable[dict[Any, R]] = CodeTable()

    @functools.wraps(function)
    def look_up(code: types.CodeType, *args: P.args, **kwargs: P.kwargs) -> R:
        known = table.get(code)
        if known is None:
            known = table[code] = {}
        if args not in known:
            known[args] = function(code, *args, **kwargs)
        return known[args]

    return look_up
