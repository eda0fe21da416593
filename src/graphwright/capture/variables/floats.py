"""Floats that vary from call to call."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.float_sources import FloatSource, ScalarSource
from graphwright.capture.run_errors import name_of
from graphwright.capture.source import (
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
from graphwright.capture.templates import TemplateSource
from graphwright.capture.variables.arithmetic import ON_NUMBERS
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.constant import ConstantVariable
from graphwright.capture.variables.tensor import TensorVariable
from graphwright.runtime import dtypes

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.output_graph import OutputGraph
    from graphwright.capture.values import Values

_LARGEST = 2**53


class FloatVariable(ConstantVariable):
    """A float from outside that has varied, or plain arithmetic on such.

    It is a constant to whoever looks at its value: then the graph holds for this value only.
    Arithmetic with floating tensors does not look: it takes the float as an input of the graph.

    leaves: the numbers that the expression is made of, with their values in this capture.
    """

    __slots__ = ("expression", "leaves", "output", "seen")

    def __init__(
        self, output: OutputGraph, value: float, expression: Source, leaves: dict[Source, float]
    ) -> None:
        self.output = output
        self.seen = value
        self.expression = expression
        self.leaves = leaves
        self.source = expression if expression in leaves else None

    @property
    def value(self) -> Any:
        """The value of this capture, which the graph is thereby specialised to."""
        for source, value in self.leaves.items():
            source.require_comparable()
            self.output.guards.equals(source, value)
        return self.seen

    def describe(self) -> str:
        return f"the float {self.expression}"

    def python_type(self) -> type:
        return float

    def reconstruct(self, cg: Reconstructor) -> None:
        self.expression.emit(cg.builder)

    def prefers_source(self) -> bool:
        return True

    def in_graph(self, tx: Values, single: bool) -> VariableTracker | None:
        """The graph's input that stands for it."""
        return self.output.float_input(self.seen, ScalarSource(self.expression, single))


def float_argument(output: OutputGraph, value: float, source: Source) -> VariableTracker:
    """The tracker of a float from outside that has varied."""
    return FloatVariable(output, value, source, {source: value})


def float_operation(
    function: Callable[..., Any], args: list[VariableTracker]
) -> VariableTracker | None:
    """An operator on floats that vary; None where it has to know the values."""
    plain = ON_NUMBERS.get(function)
    varying = [arg for arg in args if isinstance(arg, FloatVariable)]
    if plain is None or not varying or not all(map(_plain_number, args)):
        return None
    if plain is operator.truediv and (isinstance(args[1], FloatVariable) or not _value(args[1])):
        return None
    leaves = {source: value for arg in varying for source, value in arg.leaves.items()}
    operands = tuple([
        arg.expression if isinstance(arg, FloatVariable) else ConstSource(_value(arg))
        for arg in args
    ])
    result = plain(*[_value(arg) for arg in args])
    return FloatVariable(varying[0].output, result, FloatSource(plain, operands), leaves)


def _plain_number(arg: VariableTracker) -> bool:
    if isinstance(arg, FloatVariable):
        return True
    if type(arg) is not ConstantVariable:
        return False
    return type(arg.value) is float or (type(arg.value) is int and abs(arg.value) < _LARGEST)


def _value(arg: VariableTracker) -> Any:
    assert isinstance(arg, ConstantVariable)
    return arg.seen if isinstance(arg, FloatVariable) else arg.value


_SCALAR_OPERATIONS = frozenset(
    [
        *("add", "iadd", "sub", "isub", "mul", "imul", "truediv", "itruediv", "div"),
        *("lt", "le", "gt", "ge", "eq", "ne"),
    ]
)


def scalar_arguments(
    tx: Values, target: Any, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
) -> list[VariableTracker]:
    """The arguments of an operation, with floats that vary made inputs of the graph.

    Only where a 0-d tensor gives the very same result as the number: in arithmetic and
    comparisons, with a dtype that changes the result's no more than the number does.
    """
    if kwargs or len(args) != 2 or name_of(target) not in _SCALAR_OPERATIONS:
        return args
    for arg in args:
        if type(arg) is ConstantVariable and not isinstance(arg.value, (int, float, complex)):
            unsupported("GB0007", f"TypeError: {name_of(target)} with {arg.describe()}")
    singles = {_wants_single(arg) for arg in args if isinstance(arg, TensorVariable)}
    if len(singles) != 1 or None in singles:
        return args
    single = True in singles
    return [arg.in_graph(tx, single) or arg for arg in args]


def _wants_single(arg: TensorVariable) -> bool | None:
    """Whether float32 beside the tensor is the same as a number, or float64; None: neither."""
    dtype = arg.fake.dtype
    if dtype is dtypes.float64 or (dtype.is_floating_point and arg.fake.ndim):
        return False
    default = dtypes.get_default_dtype()
    if dtype is dtypes.float32 or (_is_integral(dtype) and default is dtypes.float32):
        return True
    return None


def _is_integral(dtype: dtypes.dtype) -> bool:
    return not dtype.is_floating_point and not dtype.is_complex


def may_vary(source: Source) -> bool:
    """Whether a number is read from where programs put another one: it may become an input."""
    return isinstance(source, _PLACES) and not isinstance(source.root, TemplateSource)


_PLACES = (
    LocalSource, AttrSource, InstanceAttrSource, ItemSource, CellSource, ClosureSource,
    GlobalSource, ForeignGlobalSource, MroSource,
)  # fmt: skip
