"""Integers known by an expression over the sizes of inputs."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.values.operator_tables import PLAIN
from graphwright.runtime.symbolic.symint import SymInt

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator


class SymIntVariable(VariableTracker):
    """A symbolic size, or a symbolic `int` argument."""

    def __init__(self, value: SymInt, source: Source | None = None) -> None:
        self.value = value
        self.source = source

    def describe(self) -> str:
        return f"the integer {self.value}"

    def python_type(self) -> type:
        return int

    def as_node(self, tx: Translator) -> Any:
        return self.value

    def as_example(self) -> Any:
        return self.value

    def is_constant(self) -> bool:
        return False

    def as_constant(self) -> int:
        """The value itself, which the graph is thereby specialised to."""
        return int(self.value)

    def truth(self, tx: Translator) -> bool:
        return bool(self.value)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        return tx.constant(int(self.value)).getattr(tx, name)

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.push_expression(self.value.expr)


_EXACT = {
    operator.add,
    operator.sub,
    operator.mul,
    operator.floordiv,
    operator.mod,
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
}


_DIVISIONS = {operator.floordiv, operator.mod}


def symbolic_operation(
    tx: Translator, function: Callable[..., Any], args: list[VariableTracker]
) -> VariableTracker:
    """An operator on integers of which at least one is symbolic.

    Whether a divisor is zero becomes a guard; everything but the plain integer operators
    specialises to the values at hand.
    """
    if is_exact(function, args):
        values = [arg.as_example() for arg in args]
    else:
        values = [arg.as_constant() for arg in args]
    try:
        if PLAIN.get(function, function) in _DIVISIONS and values[1] == 0:
            raise ZeroDivisionError("division by zero")
        return tx.wrap_plain(function(*values))
    except (ArithmeticError, TypeError, ValueError) as error:
        unsupported("GB0007", f"{type(error).__name__}: {error}")


def is_exact(function: Callable[..., Any], args: list[VariableTracker]) -> bool:
    """Whether an operator on these gives an expression over the symbols."""
    return PLAIN.get(function, function) in _EXACT and all(map(_plain_int, args))


def _plain_int(arg: VariableTracker) -> bool:
    if isinstance(arg, SymIntVariable):
        return True
    return arg.is_constant() and arg.python_type() is int
