"""NumPy's scalars: constants of their own type, which operations on tensors take as numbers.

Functions of NumPy that are pure are called while translating, for constants and for arrays that
the frame made.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import ConstSource, LocalSource, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.classes import BuiltinVariable
from graphwright.capture.trackers.numbers.symbolic_floats import FloatVariable, number_operation
from graphwright.capture.trackers.tensors.arrays import evaluated
from graphwright.capture.trackers.values.constant import ConstantVariable

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


class NumpyScalarVariable(ConstantVariable):
    """A NumPy scalar whose value is known."""

    def as_node(self, tx: Translator) -> Any:
        return self.value.item()

    def as_example(self) -> Any:
        """The number that it is, but for what acts otherwise as an argument that is no operand.

        Truth values of NumPy are no bools, and its unsigned numbers have no negatives.
        """
        own = isinstance(self.value, (numpy.bool_, numpy.unsignedinteger))
        return self.value if own else self.value.item()

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
    """A pure function of NumPy, of what is known while translating."""

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if not kwargs and function not in _FACTS:
            number = number_operation(tx, function, [arg.realize() for arg in args])
            if number is not None:
                return number
        return evaluated(tx, function, args, kwargs)

    return handler


_FACTS = (numpy.dtype, numpy.finfo, numpy.iinfo)
_PURE = frozenset(
    [
        *("prod", "sum", "mean", "max", "min", "amax", "amin", "round", "around", "clip"),
        *("argmax", "argmin", "median", "std", "var", "dot", "isclose", "allclose", "any", "all"),
        *("ndim", "size", "can_cast", "isscalar", "interp", "linspace", "logspace", "geomspace"),
        *("concatenate", "stack", "vstack", "hstack", "where", "argsort", "sort", "cumsum"),
        *("cumprod", "outer", "tril", "triu", "tril_indices", "triu_indices", "diag", "eye"),
        *("meshgrid", "reshape", "transpose", "expand_dims", "squeeze", "repeat", "tile", "flip"),
        *("roll", "diff", "unique", "searchsorted", "array_equal", "split", "array_split"),
        *("arange", "array", "asarray", "zeros", "ones", "full", "identity", "zeros_like"),
        *("ones_like", "full_like", "inner", "cross", "kron", "nonzero", "ravel", "take", "tri"),
        *("broadcast_to", "swapaxes", "moveaxis", "hanning", "hamming", "blackman", "bartlett"),
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
    if type(value) is not type(numpy.prod):    # before any attribute of it is read
        return False
    return value.__name__ in _PURE and _in_numpy(value.__name__) is value


def _in_numpy(name: str) -> Any:
    return getattr(numpy, name, None)


NUMPY_FUNCTIONS: dict[Any, Any] = {
    _in_numpy(name): numpy_function(_in_numpy(name))
    for name in _PURE
    if isinstance(_in_numpy(name), (types.FunctionType, types.BuiltinFunctionType))
}
NUMPY_SCALARS: dict[Any, Any] = {
    kind: numpy_function(kind)
    for kind in vars(numpy).values()
    if isinstance(kind, type) and issubclass(kind, (numpy.number, numpy.bool_, *_FACTS))
}
