"""`sym_max` and its like: what Python's operators do, on ints that may be symbolic."""

from __future__ import annotations

import math
from typing import Any


class SymFloat:
    """A symbolic float, as annotations name it; there are none outside of graphs."""


class SymBool:
    """A symbolic bool, as annotations name it; there are none."""


def sym_not(a: Any) -> Any:
    """`not a`."""
    return not a


def sym_float(a: Any) -> Any:
    """`float(a)`; floats as they are."""
    return a if isinstance(a, float) else float(a)


def sym_int(a: Any) -> Any:
    """`a` rounded towards 0; ints, symbolic ones too, as they are."""
    if isinstance(a, float):
        return math.trunc(a)
    return a if hasattr(a, "__index__") else int(a)


def sym_max(a: Any, b: Any) -> Any:
    """The larger number, as a float where one of them is."""
    larger = a if a >= b else b
    return float(larger) if isinstance(a, float) or isinstance(b, float) else larger


def sym_min(a: Any, b: Any) -> Any:
    """The smaller number, as a float where one of them is."""
    smaller = a if a <= b else b
    return float(smaller) if isinstance(a, float) or isinstance(b, float) else smaller


def sym_sum(args: Any) -> Any:
    """The sum of several numbers."""
    return sum(args)


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """`t if b else f`."""
    return t if b else f


def sym_sqrt(a: Any) -> float:
    """The square root."""
    return math.sqrt(a)
