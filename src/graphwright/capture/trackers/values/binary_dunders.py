"""Binary operators of objects of users' classes, in the order of CPython's `binary_op1`
(Objects/abstract.c) and of its slots of classes in Python (Objects/typeobject.c)."""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.class_guards import guard_member
from graphwright.capture.trackers.classes.enums import EnumVariable
from graphwright.capture.trackers.containers.container_subclasses import ContainerObjectVariable
from graphwright.capture.trackers.containers.mappings import DictVariable
from graphwright.capture.trackers.containers.sequences import SequenceVariable
from graphwright.capture.trackers.containers.sets import is_set_like
from graphwright.capture.trackers.numbers.scalar_subclasses import ScalarObjectVariable
from graphwright.capture.trackers.values.constant import ConstantVariable, fold
from graphwright.capture.trackers.values.exceptions import ExceptionVariable
from graphwright.capture.trackers.values.namespaces import lookup
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.capture.trackers.values.operator_tables import (
    COMPARISONS,
    FORMATTING,
    IN_PLACE,
    REFLECTED,
    SPECIAL,
)
from graphwright.capture.trackers.values.rich_comparison import (
    compared,
    has_own_say,
    is_not_implemented,
    leaves,
)

if TYPE_CHECKING:
    from typing import TypeGuard

    from graphwright.capture.vm.translator import Translator

_NUMBERS = (int, float, complex)
_OF_SETS = frozenset([
    operator.or_, operator.and_, operator.xor, operator.sub,
    operator.ior, operator.iand, operator.ixor, operator.isub,
])  # fmt: skip


def formats_itself(tx: Translator, template: VariableTracker, value: VariableTracker) -> bool:
    """Whether the class of a value derives from its template's, and says what `%` gives."""
    cls = value.python_type()
    if cls is template.python_type() or not issubclass(cls, template.python_type()):
        return False
    guard_member(tx, cls, "__rmod__")
    return isinstance(lookup(cls, "__rmod__"), types.FunctionType)


Attempt = tuple[VariableTracker, str, VariableTracker]


def by_special_method(
    tx: Translator, function: Callable[..., Any], args: list[VariableTracker]
) -> VariableTracker | None:
    """The result of an operand's own method, tried in Python's order; None where all leave it."""
    if len(args) != 2 or not any(map(has_own_say, args)):
        return None
    left, right = args
    if function in COMPARISONS:
        return compared(tx, SPECIAL[function], left, right)
    formats = function in FORMATTING and left.python_type() in (str, bytes)
    if formats and not formats_itself(tx, left, right):
        return None
    if function is operator.ior and isinstance(left, DictVariable):
        return None     # it takes anything with items, whatever that says
    for attempt in _attempts(tx, SPECIAL[function], left, right):
        result = _attempted(tx, function, args, attempt)
        if result is not None:
            return result
    return None


def _attempts(
    tx: Translator, name: str, left: VariableTracker, right: VariableTracker
) -> list[Attempt]:
    """The methods to try, in order: the in-place one, then the plain and the reflected one. Those
    of a builtin sequence (`sq_concat`, `sq_repeat`) come after those of numbers, except its
    in-place `+=`."""
    plain = IN_PLACE.get(name, name)
    repeats = _is_sequence(left) and not _has_method_of_numbers(tx, left, plain)
    attempts: list[Attempt] = [(left, plain, right)]
    if left.python_type() is not right.python_type():
        attempts.append((right, REFLECTED[plain], left))
        if repeats or _overrides(tx, right, left, REFLECTED[plain]):
            attempts.reverse()
    if plain != name:
        late = name == "__imul__" and _is_sequence(left) and left.plain(tx, name)
        place = len(attempts) - repeats if late else 0
        attempts.insert(place, (left, name, right))
    return attempts


def _attempted(
    tx: Translator, function: Callable[..., Any], args: list[VariableTracker], attempt: Attempt
) -> VariableTracker | None:
    """What one method gives; None for NotImplemented."""
    owner, method, other = attempt
    if isinstance(owner, (ObjectVariable, EnumVariable, ExceptionVariable)):
        asked = owner.binary if isinstance(owner, ObjectVariable) else owner.own
        result = asked(tx, method, other)
        return None if result is None or is_not_implemented(result) else result
    if isinstance(owner, ConstantVariable) and isinstance(other, ScalarObjectVariable):
        found = _of_number(owner.value, method, other.payload.value)
        return tx.constant(found) if found is not NotImplemented else None
    if _is_of_family(other, owner, function):
        payload: VariableTracker = other.payload
        return tx.operate(function, *(payload if arg is other else arg for arg in args))
    if issubclass(owner.python_type(), np.generic):     # it asks the other for an array
        unsupported("GB0008", f"{owner.describe()} and {other.describe()}")
    return None


def _overrides(
    tx: Translator, right: VariableTracker, left: VariableTracker, name: str
) -> bool:
    """Whether the right operand's class derives from the left one's, with a method of its own."""
    right_type, left_type = right.python_type(), left.python_type()
    if not issubclass(right_type, left_type):
        return False
    guard_member(tx, right_type, name)
    guard_member(tx, left_type, name)
    return lookup(right_type, name) is not lookup(left_type, name)


def _is_sequence(value: VariableTracker) -> TypeGuard[ContainerObjectVariable]:
    return isinstance(value, ContainerObjectVariable) and isinstance(
        value.payload, SequenceVariable)


def _has_method_of_numbers(
    tx: Translator, value: ContainerObjectVariable, name: str
) -> bool:
    """Whether the class of a sequence has one in Python, or one that is reflected."""
    names = (name, REFLECTED[name])
    for own in names:
        guard_member(tx, value.cls, own)
    return any(isinstance(lookup(value.cls, own), types.FunctionType) for own in names)


def _is_of_family(
    other: VariableTracker, owner: VariableTracker, function: Callable[..., Any]
) -> TypeGuard[ContainerObjectVariable]:
    """Whether the C function of a builtin dict or set takes the other operand for one as well."""
    if not isinstance(other, (ContainerObjectVariable, ScalarObjectVariable)):
        return False
    if isinstance(owner, DictVariable) and isinstance(other.payload, DictVariable):
        return function is operator.or_
    return function in _OF_SETS and is_set_like(owner) and is_set_like(other.payload)


def plain_values(
    function: Callable[..., Any], args: list[VariableTracker]
) -> list[VariableTracker] | None:
    """What the C function of a builtin operand sees of one that its class leaves to it."""
    left, right = args[0], args[-1]
    if function is operator.imul and isinstance(left, ObjectVariable):
        return None     # which asks no sequence on the right
    if isinstance(right, ScalarObjectVariable) and not isinstance(left, ObjectVariable):
        kind = left.python_type()
        wider = issubclass(kind, _NUMBERS) and right.base in _NUMBERS
        if function in FORMATTING or (wider and leaves(kind, "__eq__", right.base)):
            return None
        return [left, right.payload]
    if isinstance(left, ScalarObjectVariable) and isinstance(right, SequenceVariable):
        return [left.payload, right]
    return None


def _of_number(value: Any, method: str, other: Any) -> Any:
    """What the own method of a number gives."""
    static = getattr(type(value), method, None)
    if static is None or not isinstance(value, _NUMBERS):
        return NotImplemented
    return fold(static, value, other)
