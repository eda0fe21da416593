"""Python's operators, as the trackers of numbers and of arrays tell them apart."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

PLAIN: dict[Any, Callable[..., Any]] = {
    operator.iadd: operator.add,
    operator.isub: operator.sub,
    operator.imul: operator.mul,
    operator.imatmul: operator.matmul,
    operator.itruediv: operator.truediv,
    operator.ifloordiv: operator.floordiv,
    operator.imod: operator.mod,
    operator.ipow: operator.pow,
    operator.ilshift: operator.lshift,
    operator.irshift: operator.rshift,
    operator.iand: operator.and_,
    operator.ior: operator.or_,
    operator.ixor: operator.xor,
}
"""What an in-place operator does to values that are never written."""

ON_NUMBERS: frozenset[Any] = frozenset([
    operator.add, operator.sub, operator.mul, operator.truediv,
    operator.neg, operator.pos, operator.abs,
])  # fmt: skip
"""Operators whose result on numbers follows from the numbers."""
