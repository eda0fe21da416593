"""Tables of Python's operators, for the trackers of numbers and of arrays."""

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

BINARY: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "&": operator.and_,
    "//": operator.floordiv,
    "<<": operator.lshift,
    "@": operator.matmul,
    "*": operator.mul,
    "%": operator.mod,
    "|": operator.or_,
    "**": operator.pow,
    ">>": operator.rshift,
    "-": operator.sub,
    "/": operator.truediv,
    "^": operator.xor,
    "+=": operator.iadd,
    "&=": operator.iand,
    "//=": operator.ifloordiv,
    "<<=": operator.ilshift,
    "@=": operator.imatmul,
    "*=": operator.imul,
    "%=": operator.imod,
    "|=": operator.ior,
    "**=": operator.ipow,
    ">>=": operator.irshift,
    "-=": operator.isub,
    "/=": operator.itruediv,
    "^=": operator.ixor,
}
COMPARE: dict[str, Callable[..., Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
SPECIAL = {
    function: f"__{function.__name__.strip('_')}__"
    for function in (*BINARY.values(), *COMPARE.values())
}
REFLECTED = {
    **{f"__{n}__": f"__r{n}__" for n in ("add", "sub", "mul", "matmul", "truediv", "floordiv")},
    **{f"__{n}__": f"__r{n}__" for n in ("mod", "pow", "and", "or", "xor", "lshift", "rshift")},
}
"""The method of numbers that an operator asks of the right operand."""
IN_PLACE = {f"__i{name[2:-2]}__": name for name in REFLECTED}
"""The plain method of one that writes in place."""
SWAPPED = {
    "__lt__": "__gt__",
    "__le__": "__ge__",
    "__gt__": "__lt__",
    "__ge__": "__le__",
    "__eq__": "__eq__",
    "__ne__": "__ne__",
}
"""What a comparison asks of the right operand."""
FORMATTING = (operator.mod, operator.imod)
COMPARISONS = frozenset(COMPARE.values())
