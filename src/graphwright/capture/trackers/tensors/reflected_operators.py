"""Operators between a tensor and an object whose class has methods of its own for them."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import TYPE_CHECKING

from graphwright.capture.guards.source import ClassSource, MroSource
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.namespaces import ABSENT, lookup
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.capture.trackers.values.operator_tables import IN_PLACE, REFLECTED, SWAPPED

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

_ASKED_OF_CLASS = ("__index__", "__torch_function__", "__getattr__")
_ASKED_OF_OBJECT = ("dtype", "item", "shape")


def beside_tensor(
    tx: Translator, args: list[VariableTracker], name: str | None
) -> VariableTracker | None:
    """What the object's method gives; None where a tensor's operator has its say.

    name: the method of the operator.
    """
    if name is None or len(args) != 2:
        return None
    left, right = args
    plain = IN_PLACE.get(name, name)
    other: VariableTracker
    if isinstance(left, ObjectVariable) and isinstance(right, TensorVariable):
        owner, names, other = left, tuple(dict.fromkeys((name, plain))), right
    elif isinstance(right, ObjectVariable) and _is_no_operand(tx, right):
        owner, names, other = right, ((REFLECTED | SWAPPED)[plain],), left
    else:
        return None
    if name in ("__eq__", "__ne__"):
        return _equality(tx, owner, name, other)
    return _first(tx, owner, names, other)


def _equality(
    tx: Translator, owner: ObjectVariable, name: str, other: VariableTracker
) -> VariableTracker | None:
    """Inequality is the opposite of an own `__eq__`, both are identity where nobody has a say."""
    found = _first(tx, owner, (name,), other)
    if found is not None or not _is_no_operand(tx, owner):
        return found
    static = lookup(owner.cls, name)
    if static is not getattr(object, name):
        return None
    equal = _first(tx, owner, ("__eq__",), other) if name == "__ne__" else None
    if equal is not None:
        return tx.constant(not tx.truth(equal))
    return tx.constant(name == "__ne__")


def _first(
    tx: Translator, owner: ObjectVariable, names: Iterable[str], other: VariableTracker
) -> VariableTracker | None:
    """The first result of own methods that is not NotImplemented."""
    for name in names:
        static = lookup(owner.cls, name)
        if static is ABSENT:
            tx.guards.missing(MroSource(ClassSource.of(owner.cls), name))
            continue
        if static is getattr(object, name, ABSENT):
            tx.guards.id_match(MroSource(ClassSource.of(owner.cls), name), static)
            continue
        if not isinstance(static, types.FunctionType):
            tx.guards.id_match(MroSource(ClassSource.of(owner.cls), name), static)
            return None
        result = owner.call_special(tx, name, other).realize()
        if not (isinstance(result, ConstantVariable) and result.value is NotImplemented):
            return result
    return None


def _is_no_operand(tx: Translator, value: VariableTracker) -> bool:
    """Whether tensors leave operators with the value to its class: nothing says it is a number."""
    if type(value) is not ObjectVariable:
        return False
    if isinstance(lookup(value.cls, "__getattribute__"), types.FunctionType):
        return False
    names = (*_ASKED_OF_CLASS, *_ASKED_OF_OBJECT)
    if any(lookup(value.cls, name) is not ABSENT for name in names):
        return False
    for name in names:
        tx.guards.missing(MroSource(ClassSource.of(value.cls), name))
    return not any(value.has_own(tx, name) for name in _ASKED_OF_OBJECT)
