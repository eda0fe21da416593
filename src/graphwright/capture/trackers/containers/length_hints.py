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
    """What the first of the methods says that there is; None if none tells.

    A TypeError in one of them counts as not telling. What Python refuses ends the graph, and so
    does a length for which there may be no memory.
    """
    for name in names:
        method = method_of(name)
        if method is None:
            continue
        try:
            told = method.call(tx, [], {}).realize()
        except Raised as raised:
            if not issubclass(raised.value.cls, TypeError):
                raise
            raised.drop_frames()
            continue
        known = isinstance(told, ConstantVariable)
        if known and told.as_constant() is NotImplemented and name == "__length_hint__":
            return None
        whole = (known or isinstance(told, SymIntVariable)) and told.python_type() is int
        if not whole or not 0 <= told.as_example() <= _MUCH:
            unsupported("GB0008", f"{name} gives {told.describe()}")
        return told
    return None
