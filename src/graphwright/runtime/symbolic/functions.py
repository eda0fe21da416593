"""`sym_max` and its like: what Python's operators do, on ints that may be symbolic."""

from __future__ import annotations

import math
from typing import Any


class SymFloat:
    """A symbolic float, as annotations name it; there are none outside of graphs."""


class SymBool:
    """A symbolic bool, as annotations name it; there are none."""


def sym_not(a: Any) -> Any:
    """`not a`.

    Args:
        a: a bool, symbolic ones too.

    Example:
        >>> gw.sym_not(True)
        False
    """
    return not a


def sym_float(a: Any) -> Any:
    """`float(a)`; floats and symbolic floats as they are.

    Args:
        a: a number, symbolic ones too.

    Example:
        >>> gw.sym_float(2)
        2.0
    """
    return a if isinstance(a, float) else float(a)


def sym_int(a: Any) -> Any:
    """A number rounded towards 0; ints, symbolic ones too, as they are.

    Args:
        a: a number.

    Example:
        >>> gw.sym_int(-2.5)
        -2
    """
    if isinstance(a, float):
        return math.trunc(a)
    return a if hasattr(a, "__index__") else int(a)


def sym_max(a: Any, b: Any) -> Any:
    """The larger of two numbers, as a float where one of them is.

    Args:
        a: a number, symbolic ones too.
        b: a number, symbolic ones too.

    Example:
        >>> gw.sym_max(1, 2.0)
        2.0
    """
    larger = a if a >= b else b
    return float(larger) if isinstance(a, float) or isinstance(b, float) else larger


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers, as a float where one of them is.

    Args:
        a: a number, symbolic ones too.
        b: a number, symbolic ones too.

    Example:
        >>> gw.sym_min(1, 2.0)
        1.0
    """
    smaller = a if a <= b else b
    return float(smaller) if isinstance(a, float) or isinstance(b, float) else smaller


def sym_sum(args: Any) -> Any:
    """Sum of several numbers.

    Args:
        args: a sequence of numbers, symbolic ones too.

    Example:
        >>> gw.sym_sum([1, 2, 3])
        6
    """
    return sum(args)


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """`t if b else f`.

    Args:
        b: a bool, symbolic ones too.
        t: the result where `b` holds.
        f: the result where it does not.

    Example:
        >>> gw.sym_ite(True, 1, 2)
        1
    """
    return t if b else f


def sym_sqrt(a: Any) -> float:
    """Square root of a number.

    Args:
        a: a number, symbolic ones too.

    Example:
        >>> gw.sym_sqrt(4)
        2.0
    """
    return math.sqrt(a)
