"""Functions that make numbers and compute with them: `int`, `round`, those of `math`, ..."""

from __future__ import annotations

import cmath
import functools
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.classes import Handler
from graphwright.capture.trackers.numbers.size_quotients import (
    QuotientVariable,
    as_float,
    whole_part,
)
from graphwright.capture.trackers.numbers.symbolic_floats import number_operation, sum_of_varying
from graphwright.capture.trackers.numbers.symint import SymIntVariable
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.tensors.tensor_item import (
    read_as,
    read_fact,
    read_sum,
    read_truth,
)
from graphwright.capture.trackers.values.constant import ConstantVariable, fold
from graphwright.capture.trackers.values.exceptions import raise_in_frame
from graphwright.capture.trackers.values.introspection import by_special
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.capture.trackers.values.operators import unary
from graphwright.capture.vm.bytecode import PYTHON

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


def folded(function: Callable[..., Any]) -> Handler:
    """A pure function of constants, or of symbolic numbers."""

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if not kwargs:
            number = number_operation(tx, function, [arg.realize() for arg in args])
            if number is not None:
                return number
        values = [arg.realize().as_constant() for arg in args]
        keywords = {key: value.realize().as_constant() for key, value in kwargs.items()}
        return tx.constant(fold(function, *values, **keywords))

    return handler


def _int(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if len(args) == 1 and isinstance(args[0].realize(), SymIntVariable):
        return args[0].realize()
    return _whole(tx, args, up=False) or _number(int)(tx, args, kwargs)


def _float(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    given = args[0].realize() if len(args) == 1 and not kwargs else None
    if isinstance(given, ConstantVariable) and given.python_type() is float:
        return given    # the very same object, as in CPython
    found = as_float(given) if given is not None else None
    return found or _number(float)(tx, args, kwargs)


def _whole(tx: Translator, args: Args, up: bool) -> VariableTracker | None:
    """The whole part of a float that is a quotient of sizes."""
    value = args[0].realize() if len(args) == 1 else None
    return whole_part(tx, value, up) if isinstance(value, QuotientVariable) else None


def _number(kind: type) -> Handler:
    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if len(args) == 1 and not kwargs and kind is not complex:
            found = read_as(tx, kind, args[0].realize())
            if found is not None:
                return found
        for arg in args:
            if isinstance(arg.realize(), TensorVariable):
                unsupported("GB0002", f"{kind.__name__}() of a tensor")
        return folded(kind)(tx, args, kwargs)

    return handler


def _bool(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    found = read_truth(tx, args[0].realize()) if args else None
    return found or tx.constant(tx.truth(args[0]) if args else False)


def _abs(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return unary(tx, operator.abs, args[0])


def _pow(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if len(args) == 2 and not kwargs:
        return tx.operate(operator.pow, *args)
    return folded(pow)(tx, args, kwargs)


def _round(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if args and isinstance(args[0].realize(), TensorVariable):
        raise_in_frame(TypeError)
    return folded(round)(tx, args, kwargs)


_NUMBERS = (int, float, bool)
_NEVER_SUMMED = (str, bytes, bytearray)
_MOST_UNCORRECTED = 2


def _sum(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`sum()`: leading numbers are summed as Python's fast path does, other items one by one."""
    total = kwargs.get("start", args[1] if len(args) > 1 else tx.constant(0)).realize()
    if issubclass(total.python_type(), _NEVER_SUMMED):
        unsupported("GB0007", "TypeError: sum() of texts")
    numbers: list[VariableTracker] | None = [total] if _is_number(total) else None
    for item in args[0].realize().draw(tx):
        item = item.realize()
        if numbers is not None and _is_number(item):
            numbers.append(item)
            continue
        if numbers is not None:
            total, numbers = _sum_of_numbers(tx, numbers), None
        total = tx.operate(operator.add, total, item)
    return total if numbers is None else _sum_of_numbers(tx, numbers)


def _sum_of_numbers(tx: Translator, numbers: list[VariableTracker]) -> VariableTracker:
    """The sum of numbers. Python 3.12 compensates rounding in sums of floats.

    For two floats the compensated sum is the plain one.
    """
    if len(numbers) > 1 and all(type(number) is ConstantVariable for number in numbers):
        start, *others = [number.as_constant() for number in numbers]
        return tx.constant(fold(sum, others, start))
    n_floats = sum(number.python_type() is float for number in numbers)
    if PYTHON < (3, 12) or n_floats <= _MOST_UNCORRECTED:
        return functools.reduce(functools.partial(tx.operate, operator.add), numbers)
    found = read_sum(numbers) or sum_of_varying(tx, numbers)
    if found is None:
        unsupported("GB0008", "sum() of floats and of symbolic ints, which Python corrects")
    return found


def _is_number(value: VariableTracker) -> bool:
    return value.python_type() in _NUMBERS


def _divmod(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if any(isinstance(arg.realize(), TensorVariable) for arg in args):
        raise_in_frame(TypeError)
    if any(isinstance(arg.realize(), ObjectVariable) for arg in args):
        return _divmod_of_objects(tx, args)
    numbers = [arg.realize() for arg in args]
    quotient = number_operation(tx, operator.floordiv, numbers)
    if quotient is None and all(number.is_constant() for number in numbers):
        parts = fold(divmod, *[number.as_constant() for number in numbers])   # errors name it
        return tx.tuple_of([tx.constant(part) for part in parts])
    quotient = quotient or tx.operate(operator.floordiv, *args)
    return tx.tuple_of([quotient, tx.operate(operator.mod, *args)])


def _divmod_of_objects(tx: Translator, args: Args) -> VariableTracker:
    """By the left operand's own method; by the right one's where the left is no object."""
    left, right = [arg.realize() for arg in args]
    owner, name, other = left, "__divmod__", right
    if not isinstance(left, ObjectVariable):
        owner, name, other = right, "__rdivmod__", left
    assert isinstance(owner, ObjectVariable)
    result = owner.binary(tx, name, other)
    if result is None or (isinstance(result, ConstantVariable) and result.value is NotImplemented):
        unsupported("GB0008", f"divmod() of {left.describe()} and {right.describe()}")
    return result


def _complex_function(function: Callable[..., Any]) -> Handler:
    """A function of `cmath`, of constants."""

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        values = [arg.realize().as_constant() for arg in args]
        keywords = {key: value.realize().as_constant() for key, value in kwargs.items()}
        return tx.constant(fold(function, *values, **keywords))

    return handler


def _number_function(function: Callable[..., Any]) -> Handler:
    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        fact = read_fact(function, args)
        if fact is not None:
            return fact
        for arg in args:
            if isinstance(arg.realize(), TensorVariable):
                unsupported("GB0002", f"math.{function.__name__}() of a tensor")
        if function is math.prod and not args[0].realize().is_constant():
            total = kwargs.get("start", tx.constant(1))
            for item in args[0].realize().draw(tx):
                total = tx.operate(operator.mul, total, item)
            return total
        if function in (math.floor, math.ceil, math.trunc):
            whole = _whole(tx, args, up=function is math.ceil)
            if whole is not None:
                return whole
        if function in (math.fsum, math.prod):
            args = [tx.tuple_of(list(args[0].realize().draw(tx))), *args[1:]]
        if function is math.dist:
            args = [tx.tuple_of(arg.realize().unpack(tx)) for arg in args]
        return folded(function)(tx, args, kwargs)

    return handler

NUMBERS: dict[Any, Handler] = {
    int: by_special("__int__", _int),
    float: by_special("__float__", _float),
    complex: _number(complex),
    bool: _bool,
    abs: _abs,
    pow: _pow,
    round: by_special("__round__", _round),
    divmod: _divmod,
    sum: _sum,
    **{
        function: _number_function(function)
        for name, function in vars(math).items()
        if callable(function) and not name.startswith("_")
    },
    **{
        function: _complex_function(function)
        for name, function in vars(cmath).items()
        if callable(function) and not name.startswith("_")
    },
}
