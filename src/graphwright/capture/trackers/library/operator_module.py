"""The functions of the module `operator`."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.callables.generators import GeneratorVariable
from graphwright.capture.trackers.classes.classes import Handler
from graphwright.capture.trackers.containers.container_subclasses import ContainerObjectVariable
from graphwright.capture.trackers.values.constant import fold
from graphwright.capture.trackers.values.exceptions import raise_in_frame
from graphwright.capture.trackers.values.namespaces import ABSENT, lookup
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.capture.trackers.values.operators import unary

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


def _operator(function: Callable[..., Any]) -> Handler:
    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return tx.operate(function, *args)

    return handler


def _concatenation(function: Callable[..., Any]) -> Handler:
    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        kinds = [arg.realize().python_type() for arg in args]
        if not all(kind in _SEQUENCES for kind in kinds):
            unsupported("GB0008", f"concatenation of {' and '.join(k.__name__ for k in kinds)}")
        return tx.operate(function, *args)

    return handler


_SEQUENCES = (list, tuple, str, bytes, collections.deque)


def _unary(function: Callable[..., Any]) -> Handler:
    return lambda tx, args, kwargs: unary(tx, function, args[0])


def _index(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return tx.constant(fold(operator.index, *(arg.realize().as_constant() for arg in args)))


def _delitem(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    args[0].realize().delitem(tx, args[1])
    return tx.constant(None)


def _length_hint(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    value, default = [arg.realize() for arg in [*args, tx.constant(0)][:2]]
    if default.python_type() is not int:
        kind = default.python_type()
        if lookup(kind, "__index__") is not ABSENT:
            unsupported("GB0008", f"length_hint() with {default.describe()}")
        message = f"{kind.__name__!r} object cannot be interpreted as an integer"
        raise_in_frame(TypeError, [tx.constant(message)])
    plain = isinstance(value, ContainerObjectVariable) and value.plain(tx, "__len__")
    if isinstance(value, (ObjectVariable, GeneratorVariable)) and not plain:
        return value.length_hint(tx) or default
    return value.length(tx)


def _setitem(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    args[0].realize().setitem(tx, args[1], args[2])
    return tx.constant(None)


def _operator_functions() -> dict[Any, Handler]:
    names = ["add", "and_", "floordiv", "lshift", "matmul", "mul", "mod", "or_", "pow", "rshift"]
    names += ["sub", "truediv", "xor", "lt", "le", "eq", "ne", "gt", "ge"]
    names += [f"i{name.strip('_')}" for name in names[:13]]
    table: dict[Any, Handler] = {
        getattr(operator, name): _operator(getattr(operator, name)) for name in names
    }
    table[operator.index] = _index
    table[operator.concat] = _concatenation(operator.add)
    table[operator.iconcat] = _concatenation(operator.iadd)
    table[operator.length_hint] = _length_hint
    table[operator.delitem] = _delitem
    for name in ("neg", "pos", "invert", "abs"):
        table[getattr(operator, name)] = _unary(getattr(operator, name))
    table[operator.getitem] = lambda tx, args, kwargs: args[0].realize().getitem(tx, args[1])
    table[operator.setitem] = _setitem
    table[operator.not_] = lambda tx, args, kwargs: tx.constant(not tx.truth(args[0]))
    table[operator.truth] = lambda tx, args, kwargs: tx.constant(tx.truth(args[0]))
    table[operator.is_] = lambda tx, args, kwargs: tx.constant(tx.identical(*args))
    table[operator.is_not] = lambda tx, args, kwargs: tx.constant(not tx.identical(*args))
    table[operator.contains] = lambda tx, args, kwargs: tx.constant(
        args[0].realize().contains(tx, args[1])
    )
    return table


OPERATOR_FUNCTIONS = _operator_functions()
