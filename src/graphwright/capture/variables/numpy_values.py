"""NumPy's scalars: constants of their own type, which operations on tensors take as numbers.

Functions of NumPy that are pure are called while translating where they give a scalar for
constants. Arrays can be written to by anybody: they end the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from graphwright.capture.exc import unsupported
from graphwright.capture.source import ConstSource, LocalSource, Source
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.classes import BuiltinVariable
from graphwright.capture.variables.constant import ConstantVariable, fold
from graphwright.capture.variables.floats import FloatVariable, number_operation

if TYPE_CHECKING:
    from graphwright.capture.output_graph import OutputGraph
    from graphwright.capture.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


class NumpyScalarVariable(ConstantVariable):
    """A NumPy scalar whose value is known."""

    def _in_graph(self) -> Any:
        return self.value.item()

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if isinstance(getattr(self.value, name, None), (numpy.dtype, numpy.ndarray)):
            unsupported("GB0008", f"attribute {name!r} of {self.describe()}")
        return super().getattr(tx, name)


def wrap_scalar(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    """A scalar read from somewhere: by what object it is, but for floating arguments."""
    if isinstance(source, ConstSource):
        return NumpyScalarVariable(value, source)
    if isinstance(value, numpy.floating) and isinstance(source, LocalSource):
        output.guards.type_match(source, type(value))
        return FloatVariable(output, value, source, {source: value}, guardable=False)
    output.guards.id_match(source, value)
    return NumpyScalarVariable(value, source)


def numpy_function(function: Callable[..., Any]) -> Any:
    """A pure function of NumPy, where it gives a scalar for constants."""

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if not kwargs and function not in _FACTS:
            number = number_operation(tx, function, [arg.realize() for arg in args])
            if number is not None:
                return number
        values = [_plain(arg) for arg in args]
        keywords = {key: _plain(value) for key, value in kwargs.items()}
        if not values and not keywords:
            unsupported("GB0004", f"call of numpy.{function.__name__}")
        result = fold(function, *values, **keywords)
        if not isinstance(result, _KNOWN):
            unsupported("GB0004", f"call of numpy.{function.__name__}, which gives an array")
        return tx.constant(result)

    return handler


_FACTS = (numpy.dtype, numpy.finfo, numpy.iinfo)
_KNOWN = (numpy.generic, int, float, complex, bool, *_FACTS)


def _plain(value: VariableTracker) -> Any:
    """The value of constants, and of sequences of them."""
    value = value.realize()
    if value.is_constant():
        return value.as_constant()
    kind = value.python_type()
    if issubclass(kind, (list, tuple)):
        items = [_plain(item) for item in value.parts()]
        return items if kind is list else tuple(items)
    return value.as_constant()


_PURE = frozenset(
    [
        *("prod", "sum", "mean", "max", "min", "amax", "amin", "round", "around", "clip"),
        *("argmax", "argmin", "median", "std", "var", "dot", "isclose", "allclose", "any", "all"),
        *("ndim", "size", "can_cast", "isscalar", "interp"),
    ]
)


def wrap_function(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    """A ufunc or another function of NumPy."""
    output.guards.id_match(source, value)
    return BuiltinVariable(value, numpy_function(value), source)


def is_pure(value: Any) -> bool:
    """Whether a function of NumPy depends on its arguments only."""
    if type(value) is numpy.ufunc:
        return True
    if type(value) is not type(numpy.prod):
        return False
    name = value.__name__
    return name in _PURE and getattr(numpy, name, None) is value


NUMPY_SCALARS: dict[Any, Any] = {
    kind: numpy_function(kind)
    for kind in vars(numpy).values()
    if isinstance(kind, type) and issubclass(kind, (numpy.number, numpy.bool_, *_FACTS))
}
