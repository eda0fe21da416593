"""The op functions: what `ops` means in rules.

A function knows its op by name; what its parameters are is read from the op table when it is first
called.
"""

from __future__ import annotations

from typing import Any

from graphwright.runtime.ops.aliases import names_of_aliases
from graphwright.runtime.ops.op_names import INTERNAL, NAMES
from graphwright.runtime.ops.signatures import op_function
from graphwright.runtime.ops.table import op


def _all() -> dict[str, Any]:
    made = {}
    for name in NAMES:
        entry = op(name)
        entry.call = made[name] = op_function(name, name, __name__)
    for name, target, renamed in names_of_aliases(NAMES):
        made[name] = op_function(name, target, __name__) if renamed else made[target]
    return made


_FUNCTIONS = _all()
globals().update(_FUNCTIONS)
_INTERNAL = frozenset(INTERNAL.split())
__all__ = [name for name in _FUNCTIONS if name not in _INTERNAL]
