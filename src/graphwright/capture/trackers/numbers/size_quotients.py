"""Floats that are quotients of integers known by an expression: `n / 2`, `int(n * 0.75)`.

Python's result is the correctly rounded quotient `top / bottom` as long as every float on the way
to it is exact, which holds for binary fractions of few digits while integers stay below 2 ** 53.
Its integer part is then that of the exact quotient: the distance to the next integer is at least
`1 / bottom`, more than rounding can bridge.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.guards.scalar_sources import ComputedSource, ScalarSource, source_of
from graphwright.capture.guards.source import ConstSource
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.numbers.symint import SymIntVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.operator_tables import PLAIN
from graphwright.runtime.symbolic.symint import IntLike, SymInt, hint_of

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.object_protocols import Values
    from graphwright.capture.vm.translator import Translator

_EXACT_BELOW = 2**53
_MOST_DIGITS = 20


class QuotientVariable(ConstantVariable):
    """The float `top / bottom`.

    It is a constant to whoever looks at its value: then the graph holds for this value only.
    """

    __slots__ = ("bottom", "top")

    def __init__(self, top: SymInt, bottom: int) -> None:
        self.top = top
        self.bottom = bottom
        self.source = None

    @property
    def value(self) -> Any:
        """The value of this capture, which the graph is thereby specialised to."""
        return int(self.top) / self.bottom

    @property
    def seen(self) -> float:
        """The value of this capture; assumes nothing."""
        return self.top.hint / self.bottom

    @property
    def is_exact(self) -> bool:
        return self.bottom & (self.bottom - 1) == 0

    def describe(self) -> str:
        return f"the float {self.top} / {self.bottom}"

    def python_type(self) -> type:
        return float

    def prefers_source(self) -> bool:
        return True

    def in_graph(self, tx: Values, single: bool) -> VariableTracker | None:
        """The graph's input that stands for it."""
        top = source_of(self.top.expr, tx.output.shape_env)
        source = ComputedSource(operator.truediv, (top, ConstSource(self.bottom)))
        return tx.output.float_input(self.seen, ScalarSource(source, single))

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(operator.truediv)
        cg.push_expression(self.top.expr)
        cg.builder.load_const(self.bottom)
        cg.builder.end_call(2)


Parts = tuple[IntLike, int]
"""Numerator and positive denominator of an exact number."""


def _parts(value: VariableTracker) -> Parts | None:
    """None for what is no number, or none that few binary digits write."""
    if isinstance(value, SymIntVariable):
        return value.value, 1
    if isinstance(value, QuotientVariable):
        return (value.top, value.bottom) if value.is_exact else None
    if type(value) is not ConstantVariable or type(value.value) not in (int, float):
        return None
    if type(value.value) is float and not math.isfinite(value.value):
        return None
    top, bottom = value.value.as_integer_ratio()
    short = max(top.bit_length(), bottom.bit_length()) <= _MOST_DIGITS
    return (top, bottom) if short else None


def _product(one: Parts, other: Parts) -> Parts | None:
    """With a positive constant only: the sign of a zero would need to be known."""
    factors = [part[0] for part in (one, other) if not isinstance(part[0], SymInt)]
    if not factors or factors[0] <= 0:
        return None
    return one[0] * other[0], one[1] * other[1]


def _quotient(one: Parts, other: Parts) -> Parts | None:
    """By a positive constant only."""
    divisor = other[0]
    if isinstance(divisor, SymInt) or divisor <= 0:
        return None
    return one[0] * other[1], one[1] * divisor


def _sum(one: Parts, other: Parts) -> Parts | None:
    return one[0] * other[1] + other[0] * one[1], one[1] * other[1]


def _difference(one: Parts, other: Parts) -> Parts | None:
    return one[0] * other[1] - other[0] * one[1], one[1] * other[1]


_ARITHMETIC: dict[Any, Callable[[Parts, Parts], Parts | None]] = {
    operator.mul: _product,
    operator.truediv: _quotient,
    operator.add: _sum,
    operator.sub: _difference,
}
_COMPARISONS = frozenset(
    [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
)


def quotient_operation(
    tx: Translator, function: Callable[..., Any], args: list[VariableTracker]
) -> VariableTracker | None:
    """An operator on numbers that gives or takes such a float; None if values have to be known."""
    function = PLAIN.get(function, function)
    if len(args) != 2 or not _gives_float(function, args):
        return None
    one, other = _parts(args[0]), _parts(args[1])
    if one is None or other is None or not (_is_small(one[0]) and _is_small(other[0])):
        return None
    if function in _COMPARISONS:
        return tx.constant(function(one[0] * other[1], other[0] * one[1]))
    rule = _ARITHMETIC.get(function)
    found = None if rule is None else rule(one, other)
    if found is None:
        return None
    top, bottom = found
    return quotient(top, bottom) if isinstance(top, SymInt) else None


def _gives_float(function: Callable[..., Any], args: list[VariableTracker]) -> bool:
    """Whether the result is a float: an operand is one, or integers are divided by `/`."""
    kinds = {arg.python_type() for arg in args}
    return kinds <= {int, float} and (float in kinds or _ARITHMETIC.get(function) is _quotient)


def quotient(top: SymInt, bottom: int) -> QuotientVariable | None:
    """The float `top / bottom`; None if its parts are too large for floats."""
    return QuotientVariable(top, bottom) if bottom < _EXACT_BELOW and _is_small(top) else None


def _is_small(value: IntLike) -> bool:
    """Whether floats hold the integer; guarded where that is so."""
    small = -_EXACT_BELOW < hint_of(value) < _EXACT_BELOW
    return small and value > -_EXACT_BELOW and value < _EXACT_BELOW


def whole_part(tx: Translator, value: QuotientVariable, up: bool) -> VariableTracker | None:
    """`int(value)`, which for positive values is `math.floor`; `math.ceil` if `up`."""
    if value.top.hint < 0 or not value.top >= 0:
        return None
    if up:
        return tx.wrap_plain(-(-value.top // value.bottom))
    return tx.wrap_plain(value.top // value.bottom)


def as_float(value: VariableTracker) -> VariableTracker | None:
    """`float(value)` of an integer or of such a float; None for anything else."""
    if isinstance(value, SymIntVariable):
        return quotient(value.value, 1)
    return value if isinstance(value, QuotientVariable) else None
