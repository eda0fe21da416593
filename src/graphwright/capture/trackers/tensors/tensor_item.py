"""Numbers that are read from tensors: `loss.item()`, `float(loss)`, `bool(mask.any())`.

The tensor is copied in the graph at the place where it is read, and the copy read once the graph
has run. Until then the number is an expression: arithmetic and comparisons that cannot raise grow
it, and arithmetic with tensors takes the copy as an operand. Where the program needs the value
itself, to branch by it or to call an unknown function with it, the graph ends.
"""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.constant_tensors import KNOWN, integer_of
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.numbers.size_quotients import as_float
from graphwright.capture.trackers.numbers.symbolic_floats import FloatVariable
from graphwright.capture.trackers.numbers.symint import SymIntVariable
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.operator_tables import ON_NUMBERS, PLAIN
from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.object_protocols import Values
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator
    from graphwright.ir.graph.node import Node

_DEEPEST = 64
_MOST_BITS = 1000


class NumberRead(VariableTracker):
    """Abstract: a number known once the graph has run.

    depth: of the expression. bits: how many it has at most, if it is an int.
    """

    kind: type
    depth = 0
    bits = 64

    def python_type(self) -> type:
        return self.kind

    def describe(self) -> str:
        return f"the {self.kind.__name__} that was read from a tensor"

    def as_constant(self) -> Any:
        unsupported("GB0002", f"the value of {self.describe()}")

    def _in_graph(self) -> Any:
        return self.as_constant()

    def truth(self, tx: Translator) -> bool:
        unsupported("GB0001", f"the truth value of {self.describe()}")

    def has_tensor(self) -> bool:
        return False

    def has_identity(self) -> bool:
        return True

    def settled(self, tx: Translator) -> NumberRead:
        """The same number, computed from nodes only: numbers from outside become such."""
        return self

    def nodes(self) -> Iterator[Node]:
        """The nodes that the number is computed from, once it is settled."""
        raise NotImplementedError

    def value(self, results: dict[Node, Any]) -> Any:
        """The number, from the tensors that these nodes gave."""
        raise NotImplementedError


class ItemRead(NumberRead):
    """`tensor.item()` of a tensor that is the graph's own copy."""

    def __init__(self, tensor: TensorVariable) -> None:
        self.tensor = tensor
        self.kind = _kind_of(tensor.fake.dtype)

    def nodes(self) -> Iterator[Node]:
        return iter((self.tensor.node,))

    def value(self, results: dict[Node, Any]) -> Any:
        return results[self.tensor.node].item()

    def in_graph(self, tx: Values, single: bool) -> VariableTracker | None:
        if single and self.kind is not float:
            return None
        return self._as(tx, [dtypes.float64, dtypes.float32] if single else [dtypes.float64])

    def as_integer(self, tx: Values) -> VariableTracker | None:
        """An int or bool as a 0-d tensor of int64; None of what may not fit."""
        if self.kind is float or self.tensor.fake.dtype is dtypes.uint64:
            return None
        return self._as(tx, [dtypes.int64])

    def _as(self, tx: Values, kinds: list[dtypes.dtype]) -> VariableTracker:
        """The 0-d tensor, converted to one dtype after the other."""
        made: VariableTracker = self.tensor
        for kind in kinds:
            made = tx.output.run(tx, "call_method", "to", [made, tx.constant(kind)], {})
        return tx.output.run(tx, "call_method", "reshape", [made, tx.tuple_of([])], {})

    def reconstruct(self, cg: Reconstructor) -> None:
        def method() -> None:
            cg.push(self.tensor)
            cg.builder.load_attr("item")

        cg.builder.begin_call_with(method)
        cg.builder.end_call(0)


class ComputedRead(NumberRead):
    """`function(*operands)`, which cannot raise."""

    def __init__(
        self, kind: type, function: Callable[..., Any], operands: list[VariableTracker]
    ) -> None:
        self.kind = kind
        self.function = function
        self.operands = operands
        self.depth = 1 + max(getattr(operand, "depth", 0) for operand in operands)
        self.bits = _bits_of(function, operands)
        if self.depth > _DEEPEST or self.bits > _MOST_BITS:
            self.as_constant()

    def settled(self, tx: Translator) -> NumberRead:
        made = copy.copy(self)
        made.operands = [_settled(tx, operand) for operand in self.operands]
        return made

    def nodes(self) -> Iterator[Node]:
        for operand in self.operands:
            if isinstance(operand, NumberRead):
                yield from operand.nodes()

    def value(self, results: dict[Node, Any]) -> Any:
        return self.function(*self._values(results))

    def _values(self, results: dict[Node, Any]) -> list[Any]:
        return [
            operand.value(results) if isinstance(operand, NumberRead) else operand.as_constant()
            for operand in self.operands
        ]

    def in_graph(self, tx: Values, single: bool) -> VariableTracker | None:
        """The same arithmetic in float64, as that of floats is, and which small ints allow."""
        whole = self.kind is not float
        if self.function not in ON_NUMBERS or (whole and (single or not _fits_float(self))):
            return None
        operands = [_as_operand(tx, operand) for operand in self.operands]
        known = [operand for operand in operands if operand is not None]
        if len(known) < len(operands):
            return None
        made = tx.output.run(tx, "call_function", self.function, known, {})
        if single:
            made = tx.output.run(tx, "call_method", "to", [made, tx.constant(dtypes.float32)], {})
        return made

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(self.function)
        for operand in self.operands:
            cg.push(operand)
        cg.builder.end_call(len(self.operands))


class SummedRead(ComputedRead):
    """`sum(others, start)` of numbers one of which is a float: with Python's own correction.

    operands: the start, then the others.
    """

    def __init__(self, operands: list[VariableTracker]) -> None:
        super().__init__(float, sum, operands)

    def value(self, results: dict[Node, Any]) -> Any:
        start, *others = self._values(results)
        return sum(others, start)

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(sum)
        start, *others = self.operands
        for other in others:
            cg.push(other)
        cg.builder.build("tuple", len(others))
        cg.push(start)
        cg.builder.end_call(2)


def _as_operand(tx: Values, operand: VariableTracker) -> VariableTracker | None:
    """A float, or an int that floats hold, as an operand of float64 tensors; None of others."""
    if type(operand) is ConstantVariable:
        return operand if operand.python_type() is float or _is_small(operand) else None
    fits = operand.python_type() is float or _fits_float(operand)
    return operand.in_graph(tx, False) if fits else None


def _fits_float(operand: VariableTracker) -> bool:
    """Whether it is an int of so few bits that floats have it as it is."""
    return isinstance(operand, NumberRead) and operand.kind is int and operand.bits <= _OF_FLOATS


_OF_FLOATS = 53


def _bits_of(function: Callable[..., Any], operands: list[VariableTracker]) -> int:
    """An int of so many bits at most; a float takes about a thousand, and raises beyond."""
    bits = [_bits(operand) for operand in operands]
    return sum(bits) if function is operator.mul else max(bits) + 1


def _bits(operand: VariableTracker) -> int:
    if type(operand) is ConstantVariable and type(operand.value) is int:
        return operand.value.bit_length()
    return int(getattr(operand, "bits", 64))


def _settled(tx: Translator, operand: VariableTracker) -> VariableTracker:
    """An operand whose value the graph gives, where it is not the same for all calls."""
    if isinstance(operand, NumberRead):
        return operand.settled(tx)
    if not isinstance(operand, (FloatVariable, SymIntVariable)):
        return operand
    dtype = dtypes.float64 if operand.python_type() is float else dtypes.int64
    held = tx.output.run(
        tx, "call_function", ops.full, [tx.tuple_of([]), operand], {"dtype": tx.constant(dtype)}
    )
    assert isinstance(held, TensorVariable)
    return ItemRead(held)


def _kind_of(dtype: dtypes.dtype) -> type:
    if dtype.is_floating_point:
        return float
    return bool if dtype is dtypes.bool else int


def may_be_read(output: OutputGraph, tensor: TensorVariable) -> bool:
    """Whether a number is read from it once the graph has run, rather than the graph ends."""
    if KNOWN in tensor.node.meta or output.side_effects.earlier is not None or _core.levels():
        return False
    single = tensor.fake.numel() == 1 and not tensor.fake.dtype.is_complex
    return bool(single) and output.check_read is None


def read_item(tx: Translator, tensor: TensorVariable) -> VariableTracker | None:
    """`tensor.item()`; None where the graph has to end."""
    integer = integer_of(tensor.node)
    if integer is not None:
        return tx.wrap_plain(integer)
    if not may_be_read(tx.output, tensor):
        return None
    alias = tx.output.run(tx, "call_method", "detach", [tensor], {})
    copy = tx.output.run(tx, "call_method", "clone", [alias], {})
    assert isinstance(copy, TensorVariable)
    return ItemRead(copy)


def read_truth(tx: Translator, value: VariableTracker) -> NumberRead | None:
    """`bool(value)` of a tensor or of what was read from one; None for anything else."""
    if isinstance(value, NumberRead):
        return value if value.kind is bool else ComputedRead(bool, bool, [value])
    if not isinstance(value, TensorVariable) or not may_be_read(tx.output, value):
        return None
    condition = tx.output.run(tx, "call_method", "ne", [value, tx.constant(0)], {})
    assert isinstance(condition, TensorVariable)
    return ItemRead(condition)


def read_negated(tx: Translator, value: VariableTracker) -> NumberRead | None:
    """`not value`, as `read_truth`."""
    truth = read_truth(tx, value)
    return None if truth is None else ComputedRead(bool, operator.not_, [truth])


def read_as(tx: Translator, kind: type, value: VariableTracker) -> VariableTracker | None:
    """`int(value)` or `float(value)`, as `read_truth`; floats may have no whole part."""
    found = read_item(tx, value) if isinstance(value, TensorVariable) else value
    if isinstance(value, TensorVariable) and not isinstance(found, NumberRead | None):
        return found if kind is int else as_float(found) or tx.constant(kind(found.as_constant()))
    if not isinstance(found, NumberRead) or found.kind is kind:
        return found if isinstance(found, NumberRead) else None
    if kind is int and found.kind is float:
        return None
    return ComputedRead(kind, kind, [found])


_COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
_FACTS = (math.isnan, math.isinf, math.isfinite)


def read_operation(
    function: Callable[..., Any], args: list[VariableTracker]
) -> VariableTracker | None:
    """An operator on numbers that were read; None where it may raise or is another one."""
    if not any(isinstance(arg, NumberRead) for arg in args) or not all(map(_is_number, args)):
        return None
    if function in _COMPARISONS:
        return ComputedRead(bool, function, args)
    plain = PLAIN.get(function, function)
    if plain not in ON_NUMBERS or (plain is operator.truediv and not _divides(args[1])):
        return None
    floats = plain is operator.truediv or any(arg.python_type() is float for arg in args)
    return ComputedRead(float if floats else int, plain, args)


def read_sum(numbers: list[VariableTracker]) -> VariableTracker | None:
    """The sum of floats and ints, the first of them the start; None where none was read."""
    read = any(isinstance(number, NumberRead) for number in numbers)
    return SummedRead(numbers) if read and all(map(_is_number, numbers)) else None


def read_fact(
    function: Callable[..., Any], args: list[VariableTracker]
) -> VariableTracker | None:
    """`math.isnan(value)` and the like, of a float that was read; None for anything else."""
    value = args[0].realize() if function in _FACTS and len(args) == 1 else None
    if isinstance(value, NumberRead) and value.kind is float:
        return ComputedRead(bool, function, [value])
    return None


def _is_number(arg: VariableTracker) -> bool:
    if isinstance(arg, (NumberRead, SymIntVariable)):
        return True
    if type(arg) not in (ConstantVariable, FloatVariable):
        return False
    return arg.python_type() is float or _is_small(arg)


def _is_small(arg: VariableTracker) -> bool:
    whole = arg.python_type() in (int, bool)
    return whole and abs(arg.as_constant()) < 2**53


def _divides(arg: VariableTracker) -> bool:
    """Whether it is a number other than zero."""
    return type(arg) is ConstantVariable and bool(arg.value)
