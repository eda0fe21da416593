"""Whether the builtins are those that capture itself was written for.

Programs may replace `len` or delete `iter`, for a test or for ever. The code of this package would
call what they put there, and translate their programs wrongly: such programs run as they are.
"""

from __future__ import annotations

import builtins
import types
from typing import Any

_OTHERS = frozenset(["print", "input", "open", "breakpoint", "exit", "quit", "help", "copyright",
                     "credits", "license"])
_NAMESPACE = vars(builtins)
_OF_INSTRUCTIONS = frozenset(["__import__", "__build_class__"])
_NEEDED = tuple(
    (name, value)
    for name, value in _NAMESPACE.items()
    if name in _OF_INSTRUCTIONS
    or (callable(value) and name not in _OTHERS and not name.startswith("_"))
)


def builtins_are_intact() -> bool:
    """Whether no builtin function or class has been replaced; calls none of them."""
    found = _NAMESPACE.get
    for name, value in _NEEDED:  # noqa: SIM110
        if found(name) is not value:
            return False
    return True


def builtins_of(function: types.FunctionType) -> dict[str, Any]:
    """Where a function finds names that its globals do not have."""
    opaque: Any = function      # whose stub does not always have __builtins__
    found: dict[str, Any] = opaque.__builtins__
    return found
