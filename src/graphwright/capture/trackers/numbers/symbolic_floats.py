"""Symbolic floats: they may differ from call to call without a recompilation."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from graphwright.capture import _eval_frame
from graphwright.capture.effects.class_templates import TemplateSource
from graphwright.capture.exc import unsupported
from graphwright.capture.guards.scalar_sources import ComputedSource, ScalarSource, source_of
from graphwright.capture.guards.source import (
    AttrSource,
    CellSource,
    ClosureSource,
    ConstSource,
    ForeignGlobalSource,
    GlobalSource,
    InstanceAttrSource,
    ItemSource,
    LocalSource,
    MroSource,
    Source,
)
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.numbers.size_quotients import QuotientVariable
from graphwright.capture.trackers.numbers.symint import SymIntVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.operator_tables import ON_NUMBERS, PLAIN
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.shape_env import LARGEST_INT

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.object_protocols import Values
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator

_LARGEST = 2**53


class FloatVariable(ConstantVariable):
    """A float from outside that has varied, or a function of such numbers.

    It is a constant to whoever looks at its value: then the graph holds for this value only.
    Arithmetic with floating tensors does not look: it takes the float as an input of the graph.

    leaves: the numbers that the expression is made of, with their values in this capture.
    guardable: whether guards can compute it.
    """

    __slots__ = ("expression", "guardable", "leaves", "output", "seen")

    def __init__(
        self,
        output: OutputGraph,
        value: Any,
        expression: Source,
        leaves: dict[Source, Any],
        guardable: bool = True,
    ) -> None:
        self.output = output
        self.seen = value
        self.expression = expression
        self.leaves = leaves
        self.guardable = guardable
        self.source = expression if expression in leaves else None

    @property
    def value(self) -> Any:
        """The value of this capture, which the graph is thereby specialised to."""
        if any(isinstance(value, numpy.generic) for value in self.leaves.values()):
            unsupported("GB0008", f"the value of {self.describe()}")
        compared = {self.expression: self.seen} if self.guardable else self.leaves
        for source in self.leaves:
            source.require_comparable()
        for source, value in compared.items():
            self.output.guards.equals(source, value)
        return self.seen

    def describe(self) -> str:
        return f"the {self.python_type().__name__} {self.expression}"

    def python_type(self) -> type:
        return type(self.seen)

    def truth(self, tx: Translator) -> bool:
        return bool(tx.operate(operator.ne, self, tx.constant(0.0)).as_constant())

    def reconstruct(self, cg: Reconstructor) -> None:
        self.expression.emit(cg.builder)

    def prefers_source(self) -> bool:
        return True

    def lies_between(self, tx: Values, least: float, largest: float) -> bool:
        """Whether it does, which guards hold on to; False of NaN, and of what none can compare."""
        above = number_operation(tx, operator.ge, [self, tx.constant(least)])
        below = number_operation(tx, operator.le, [self, tx.constant(largest)])
        return all(found is not None and found.as_constant() for found in (above, below))

    def equals(self, tx: Values, number: float) -> bool:
        """Whether it does, which guards hold on to; False of what none can compare."""
        equal = number_operation(tx, operator.eq, [self, tx.constant(number)])
        return equal is not None and bool(equal.as_constant())

    def in_graph(self, tx: Values, single: bool) -> VariableTracker | None:
        """The graph's input that stands for it."""
        return self.output.float_input(self.seen, ScalarSource(self.expression, single))


def float_argument(output: OutputGraph, value: float, source: Source) -> VariableTracker:
    """The tracker of a float from outside that has varied."""
    return FloatVariable(output, value, source, {source: value})


class _Operand(Record):
    """A number as an operand: where it is read, its value now, and what it is made of."""

    source: Source
    value: Any
    leaves: dict[Source, Any]
    guardable: bool = True

    def is_small(self) -> bool:
        """Whether it is a float, or an int from the program's text that floats hold."""
        if type(self.value) is float:
            return True
        return isinstance(self.source, ConstSource) and abs(self.value) < _LARGEST


def _operand(output: OutputGraph, arg: VariableTracker) -> _Operand | None:
    """None for what is no number."""
    env = output.shape_env
    if isinstance(arg, FloatVariable):
        return _Operand(arg.expression, arg.seen, arg.leaves, arg.guardable)
    if isinstance(arg, SymIntVariable):
        source = source_of(arg.value.expr, env)
        return _Operand(source, arg.value.hint, {source: arg.value.hint})
    if isinstance(arg, QuotientVariable):
        top = source_of(arg.top.expr, env)
        source = ComputedSource(operator.truediv, (top, ConstSource(arg.bottom)))
        return _Operand(source, arg.seen, {top: arg.top.hint})
    if type(arg) is ConstantVariable and type(arg.value) in (int, float, bool):
        return _Operand(ConstSource(arg.value), arg.value, {})
    return None


_TOTAL = ON_NUMBERS - {operator.truediv}
_OPERATORS = frozenset([
    *PLAIN.values(), *_TOTAL, operator.invert,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
])  # fmt: skip
_MOST_BITS = 62


def number_operation(
    tx: Values, function: Callable[..., Any], args: list[VariableTracker]
) -> VariableTracker | None:
    """A function of numbers some of which vary; None where it has to know their values.

    function: an operator, or another one that is written in C and depends on its arguments only.
    """
    function = PLAIN.get(function, function)
    if not any(isinstance(arg, _VARYING) for arg in args):
        return None
    if function in (operator.eq, operator.ne) and _is_text(*args):
        return tx.constant(function is operator.ne)
    operands = [_operand(tx.output, arg) for arg in args]
    known = [operand for operand in operands if operand is not None]
    if len(known) != len(operands) or len(known) > _MOST_OPERANDS:
        return None
    if function in (operator.pow, operator.lshift) and _is_huge(*known):
        return None
    try:
        with numpy.errstate(all="ignore"):    # each call of the frame is to warn
            result = function(*[operand.value for operand in known])
    except (ArithmeticError, TypeError, ValueError):
        return None
    return _computed(tx, function, known, result)


def sum_of_varying(tx: Values, numbers: list[VariableTracker]) -> VariableTracker | None:
    """`sum(others, start)` of floats some of which vary, with Python's own correction.

    numbers: the start, then the others. None where an int may be more than floats hold.
    """
    operands = [_operand(tx.output, number) for number in numbers]
    known = [operand for operand in operands if operand is not None and operand.is_small()]
    if len(known) != len(operands):
        return None
    leaves = {source: value for operand in known for source, value in operand.leaves.items()}
    source = ComputedSource(summed, tuple([operand.source for operand in known]))
    result = summed(*[operand.value for operand in known])
    return FloatVariable(tx.output, result, source, leaves, guardable=False)


def summed(start: float, *others: float) -> float:
    """`sum(others, start)`."""
    return sum(others, start)


_eval_frame.skip_code(summed.__code__)


def _is_text(left: VariableTracker, right: VariableTracker) -> bool:
    """Whether a Python number is compared with what equals none: a text, or None."""
    kinds = {left.python_type(), right.python_type()}
    return bool(kinds & {str, bytes, type(None)} and kinds & {int, float})


_MOST_OPERANDS = 4


def _is_huge(base: _Operand, exponent: _Operand) -> bool:
    """Whether an int of many digits may come out."""
    if type(base.value) is float or type(exponent.value) is float:
        return False
    return bool(exponent.value > _MOST_BITS)


def _computed(
    tx: Values, function: Callable[..., Any], operands: list[_Operand], result: Any
) -> VariableTracker | None:
    """What stands for `result`, with guards where that does not vary or could be missing."""
    output = tx.output
    leaves = {source: value for operand in operands for source, value in operand.leaves.items()}
    source = ComputedSource(function, tuple([operand.source for operand in operands]))
    in_numpy = type(function) is numpy.ufunc or issubclass(type(result), numpy.generic)
    guardable = all(operand.guardable for operand in operands) and not in_numpy
    if not in_numpy and not _is_total(function, operands):
        if not guardable or any(isinstance(value, numpy.generic) for value in leaves.values()):
            return None
        for leaf in leaves:
            leaf.require_comparable()
        if type(result) is bool:
            output.guards.equals(source, result)
            return tx.constant(result)
        output.guards.type_match(source, type(result))
    if type(result) is int:
        return _whole(tx, source, result)
    if not isinstance(result, (float, numpy.floating)):
        return None
    return FloatVariable(output, result, source, leaves, guardable)


def _is_total(function: Callable[..., Any], operands: list[_Operand]) -> bool:
    """Whether it gives a float for whatever floats the operands are."""
    if not all(operand.is_small() for operand in operands):
        return False
    if function is operator.truediv:
        divisor = operands[1]
        return isinstance(divisor.source, ConstSource) and bool(divisor.value)
    return function in _TOTAL


def _whole(tx: Values, source: Source, value: int) -> VariableTracker:
    """An int that is computed from symbolic numbers: a size symbol of the graph."""
    if value in (0, 1) or abs(value) >= LARGEST_INT:
        tx.guards.equals(source, value)
        return tx.constant(value)
    return tx.output.int_input(value, source)


_VARYING = (FloatVariable, SymIntVariable, QuotientVariable)


def may_vary(source: Source) -> bool:
    """Whether a number is read from where programs put another one: it may become an input."""
    return isinstance(source, _PLACES) and not isinstance(source.root, TemplateSource)


_PLACES = (
    LocalSource, AttrSource, InstanceAttrSource, ItemSource, CellSource, ClosureSource,
    GlobalSource, ForeignGlobalSource, MroSource,
)  # fmt: skip
