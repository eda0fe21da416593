"""Comparisons in which an object of a user's class takes part, in the order of CPython's
`do_richcompare` (Objects/object.c): the right operand's method first where its class derives from
the left one's, then the left one's, then the right one's; the caller settles what both leave."""

from __future__ import annotations

import collections
import operator
import types
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.class_guards import guard_member
from graphwright.capture.trackers.classes.enums import EnumVariable, own_operation
from graphwright.capture.trackers.containers.container_subclasses import ContainerObjectVariable
from graphwright.capture.trackers.numbers.scalar_subclasses import ScalarObjectVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.exceptions import ExceptionVariable
from graphwright.capture.trackers.values.namespaces import lookup
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.capture.trackers.values.operator_tables import SWAPPED

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

_EQUALITY = ("__eq__", "__ne__")
_NUMBERS = (int, float, complex)
_SETS = (set, frozenset)
_SET_LIKE: tuple[type, ...] = (*_SETS, type({}.keys()), type({}.items()))
_COMPARED_WITH: dict[type, tuple[type, ...]] = {
    type(None): (type(None),),      # which compares by a method of its own since Python 3.12
    int: (int,),
    float: (int, float),
    complex: _NUMBERS,
    str: (str,),
    bytes: (bytes,),
    tuple: (tuple,),
    list: (list,),
    dict: (dict,),
    collections.OrderedDict: (dict,),
    set: _SETS,
    frozenset: _SETS,
    type({}.keys()): _SET_LIKE,
    type({}.items()): _SET_LIKE,
    collections.deque: (collections.deque,),
    range: (range,),
    slice: (slice,),
    types.MethodType: (types.MethodType,),
    types.BuiltinMethodType: (types.BuiltinMethodType,),
    types.MethodWrapperType: (types.MethodWrapperType,),
}
"""What C's comparison of each type compares its instances with; it leaves all else alone."""
_WITHOUT_ORDER = (complex, dict, collections.OrderedDict, range)

_WITH_PAYLOAD = (ContainerObjectVariable, ScalarObjectVariable)


def has_own_say(value: VariableTracker) -> bool:
    """Whether the class of an operand may say in Python what an operator gives."""
    if isinstance(value, EnumVariable):
        return own_operation(type(value.value)) is not None
    return isinstance(value, (ObjectVariable, ExceptionVariable))


def compared(
    tx: Translator, name: str, left: VariableTracker, right: VariableTracker
) -> VariableTracker | None:
    """What the method of an operand gives; None where both leave it.

    name: the special method of the operator.
    """
    attempts = [(left, name, right), (right, SWAPPED[name], left)]
    left_type, right_type = left.python_type(), right.python_type()
    if left_type is not right_type and issubclass(right_type, left_type):
        attempts.reverse()
    for owner, method, other in attempts:
        result = _asked(tx, method, owner, other)
        if result is not None:
            return result
    return None


def leaves(kind: type, name: str, other: type) -> bool:
    """Whether instances of `kind` leave a comparison to an operand of class `other`."""
    static = lookup(kind, name)
    if static is getattr(object, name):
        return True
    base = getattr(static, "__objclass__", None)
    if name not in _EQUALITY and base in _WITHOUT_ORDER:
        return True
    return base in _COMPARED_WITH and not issubclass(other, _COMPARED_WITH[base])


def _asked(
    tx: Translator, name: str, owner: VariableTracker, other: VariableTracker
) -> VariableTracker | None:
    """The result of one operand's method; None for NotImplemented."""
    kind = owner.python_type()
    static = lookup(kind, name)
    if name == "__ne__" and static is object.__ne__:
        guard_member(tx, kind, name)
        equal = _asked(tx, "__eq__", owner, other)
        return None if equal is None else tx.constant(not tx.truth(equal))
    if isinstance(owner, (EnumVariable, ExceptionVariable)):
        said = owner.own(tx, name, other)
        if said is not None:
            return None if is_not_implemented(said) else said
    if not isinstance(owner, ObjectVariable):
        return _of_builtin(tx, name, kind, owner, other)
    if isinstance(owner, _WITH_PAYLOAD) and owner.is_builtin(static):
        return _of_builtin(tx, name, owner.cls, owner.payload, other)
    result = owner.binary(tx, name, other)
    return None if result is None or is_not_implemented(result) else result


def _of_builtin(
    tx: Translator, name: str, kind: type, value: VariableTracker, other: VariableTracker
) -> VariableTracker | None:
    """What C's comparison of a builtin type gives.

    kind: the class of the operand. value: what its base class keeps.
    """
    guard_member(tx, kind, name)
    if leaves(kind, name, other.python_type()):
        return None
    if getattr(lookup(kind, name), "__objclass__", None) not in _COMPARED_WITH:
        unsupported("GB0008", f"{value.describe()} compared with {other.describe()}")
    seen: VariableTracker = other.payload if isinstance(other, _WITH_PAYLOAD) else other
    if seen is other and isinstance(other, ObjectVariable):
        unsupported("GB0008", f"{value.describe()} compared with {other.describe()}")
    for side, cls in ((value, kind), (other, other.python_type())):
        if issubclass(cls, collections.deque) and cls is not collections.deque:
            guard_member(tx, cls, "__iter__")
            if lookup(cls, "__iter__") is not collections.deque.__iter__:
                unsupported("GB0008", f"items of {side.describe()}")
    return tx.operate(getattr(operator, name), value, seen)


def is_not_implemented(value: Any) -> bool:
    """Whether a method left an operator to the other operand."""
    return isinstance(value, ConstantVariable) and value.value is NotImplemented
