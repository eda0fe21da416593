"""The operators whose result on numbers follows from the numbers, in place or not."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

ON_NUMBERS: dict[Any, Callable[..., Any]] = {
    operator.add: operator.add,
    operator.iadd: operator.add,
    operator.sub: operator.sub,
    operator.isub: operator.sub,
    operator.mul: operator.mul,
    operator.imul: operator.mul,
    operator.truediv: operator.truediv,
    operator.itruediv: operator.truediv,
    operator.neg: operator.neg,
    operator.pos: operator.pos,
    operator.abs: operator.abs,
}
