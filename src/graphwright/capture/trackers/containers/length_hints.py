"""What Python asks an object before it makes a list of its items.

`list`, `tuple`, `sorted`, `extend`, `*value` and their like ask for the length once they have the
iterator, to know how much memory they need: `__len__`, or else `__length_hint__`. The number
changes nothing; but the methods are the program's, and may do or raise anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.numbers.symint import SymIntVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.exceptions import Raised

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

METHODS = ("__len__", "__length_hint__")
_MUCH = 1 << 20


def length_asked(
    tx: Translator, method_of: Callable[[str], VariableTracker | None],
    names: tuple[str, ...] = METHODS,
) -> VariableTracker | None:
    """The length by the first of the methods that returns one; None if none does.

    A method that raises TypeError is passed over. What Python refuses ends the graph, and so
    does a length for which there may be no memory.
    """
    for name in names:
        method = method_of(name)
        if method is None:
            continue
        try:
            length = method.call(tx, [], {}).realize()
        except Raised as raised:
            if not issubclass(raised.value.cls, TypeError):
                raise
            raised.drop_frames()
            continue
        known = isinstance(length, ConstantVariable)
        if known and length.as_constant() is NotImplemented and name == "__length_hint__":
            return None
        whole = (known or isinstance(length, SymIntVariable)) and length.python_type() is int
        if not whole or not 0 <= length.as_example() <= _MUCH:
            unsupported("GB0008", f"{name} gives {length.describe()}")
        return length
    return None
