"""Objects that `copy` reduces and reconstructs by their classes' `__reduce_ex__`.

The protocol is that of `object.__reduce_ex__` and of `copy._reconstruct` in CPython.
"""

from __future__ import annotations

import collections
import copyreg
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import ConstSource
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.class_guards import guard_member
from graphwright.capture.trackers.containers.container_subclasses import ContainerObjectVariable
from graphwright.capture.trackers.containers.mappings import DictVariable
from graphwright.capture.trackers.containers.sequences import ListVariable, TupleVariable
from graphwright.capture.trackers.tensors.nn_modules import NNModuleVariable
from graphwright.capture.trackers.values.namespaces import (
    ABSENT,
    dictoffset_of,
    instance_dict,
    lookup,
)
from graphwright.capture.trackers.values.object_methods import ObjectMethodVariable
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.nn.module import Module

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Copied = Callable[[VariableTracker], VariableTracker]
_PLAIN_ONLY = ("__new__", "__getnewargs__", "__getnewargs_ex__")
_FILLING = ("__init__", "__iter__", "__setitem__", "items")
_KINDS = (ObjectVariable, NNModuleVariable, ContainerObjectVariable)
_COMPILED = "_compiled_call_impl"


class Copying:
    """How one copy is made: `note` remembers the new object, `part` copies what it holds.

    table: gives the copy of an object's `__dict__`, where that is copied; None: it is taken as is.
    """

    def __init__(
        self,
        note: Copied,
        part: Copied,
        table: Callable[[ObjectVariable], VariableTracker] | None,
    ) -> None:
        self.note = note
        self.part = part
        self.table = table


def has_own_reads(tx: Translator, value: ObjectVariable) -> bool:
    """Whether the program has a say in what attributes an object has."""
    if isinstance(value, NNModuleVariable):
        return False
    for name in _READS:
        guard_member(tx, value.cls, name)
    return any(isinstance(lookup(value.cls, name), types.FunctionType) for name in _READS)


_READS = ("__getattribute__", "__getattr__")


def copy_object(tx: Translator, value: VariableTracker, how: Copying) -> VariableTracker:
    """The copy of an object, of which the program defines no `__copy__` or `__deepcopy__`."""
    if type(value) not in _KINDS:
        unsupported("GB0004", f"a copy of {value.describe()}")
    assert isinstance(value, ObjectVariable)
    _check_class(tx, value)
    reduce, given = _own(tx, value, "__reduce_ex__"), [tx.constant(4)]
    if reduce is None:
        reduce, given = _own(tx, value, "__reduce__"), []
    if reduce is not None:
        return _rebuilt(tx, value, reduce.call(tx, list(given), {}).realize(), how)
    return _made_anew(tx, value, how)


def _base(value: ObjectVariable) -> type:
    return value.base if isinstance(value, ContainerObjectVariable) else object


def _own(tx: Translator, value: ObjectVariable, name: str) -> VariableTracker | None:
    """The object's method of the protocol, None where it is that of `object`, or of a builtin."""
    guard_member(tx, value.cls, name)
    static, plain = lookup(value.cls, name), lookup(_base(value), name)
    if has_own_reads(tx, value):
        found = tx.attribute_or_none(value, name)
        if static is plain and (found is None or isinstance(found, ObjectMethodVariable)):
            return None
        return found or unsupported("GB0004", f"a copy of {value.describe()} without {name}")
    if static is plain or static is Module.__getstate__:
        return None
    if not isinstance(static, types.FunctionType):
        unsupported("GB0004", f"a copy of {value.describe()}, whose {name} is no function")
    return value.getattr(tx, name)


def _check_class(tx: Translator, value: ObjectVariable) -> None:
    """A break where making an instance without a call is not known."""
    base = _base(value)
    names: tuple[str, ...] = _PLAIN_ONLY
    if base is collections.OrderedDict:
        names = (*names, *_FILLING)
    elif base not in (object, dict, list):
        unsupported("GB0004", f"a copy of {value.describe()}")
    for name in (*names, "__del__", "__slots__"):
        guard_member(tx, value.cls, name)
    if lookup(value.cls, "__del__") is not ABSENT:
        unsupported("GB0004", f"a copy of {value.describe()}, which has __del__")
    if any(lookup(value.cls, name) is not lookup(base, name) for name in names):
        unsupported("GB0004", f"a copy of {value.describe()}, whose class defines how to copy it")
    if value.cls in copyreg.dispatch_table:
        unsupported("GB0004", f"a copy of {value.describe()}, whose class copyreg registers")
    registered = ConstSource(copyreg.dispatch_table, "copyreg.dispatch_table")
    tx.guards.length(registered, len(copyreg.dispatch_table))


def _made_anew(tx: Translator, value: ObjectVariable, how: Copying) -> VariableTracker:
    """What `object.__reduce_ex__` leads to: an empty object, its state, its items."""
    getstate = _own(tx, value, "__getstate__")
    state = getstate.call(tx, [], {}).realize() if getstate is not None else None
    items = _items(tx, value)
    made = _empty_like(tx, value)
    tx.side_effects.track_new(made)
    how.note(made)
    if state is None and not _has_own_state(tx, made):
        _copy_attributes(tx, value, made, how)
    else:
        state = state if state is not None else _default_state(tx, value, how)
        _set_state(tx, made, state, how, getstate is not None)
    for key, item in items:
        if key is None:
            made.call_method(tx, "append", [how.part(item)], {})
        elif made.base is collections.OrderedDict:  # type: ignore[attr-defined]
            raw = value.payload.entries  # type: ignore[attr-defined]
            made.payload.entries.update(_copied_entries(raw, how))  # type: ignore[attr-defined]
            break
        else:
            made.setitem(tx, how.part(key), how.part(item))
    return made


def _copied_entries(entries: dict[Any, Any], how: Copying) -> dict[Any, Any]:
    return {raw: (how.part(key), how.part(item)) for raw, (key, item) in entries.items()}


def _items(
    tx: Translator, value: ObjectVariable
) -> list[tuple[VariableTracker | None, VariableTracker]]:
    """The keys and items of a container; a list has no keys."""
    if not isinstance(value, ContainerObjectVariable):
        return []
    if value.base is list:
        return [(None, item) for item in value.unpack(tx)]
    if value.base is collections.OrderedDict:
        return list(value.payload.entries.values())
    pairs = [pair.realize().unpack(tx) for pair in value.call_method(tx, "items", [], {}).draw(tx)]
    return [(key, item) for key, item in pairs]


def _has_own_state(tx: Translator, made: ObjectVariable) -> bool:
    guard_member(tx, made.cls, "__setstate__")
    return has_own_reads(tx, made) or lookup(made.cls, "__setstate__") is not ABSENT


def _copy_attributes(
    tx: Translator, value: ObjectVariable, made: ObjectVariable, how: Copying
) -> None:
    """The attributes of a plain object, one by one; slots through `setattr`."""
    stored = tx.side_effects.attributes.get(value, {})
    before = instance_dict(value.value) if value.value is not None else {}
    tx.guard_attribute_names(value)
    slots = _slots(tx, value)
    names = [name for name in dict.fromkeys([*before, *stored]) if name not in slots]
    names = [name for name in names if not tx.side_effects.is_deleted(value, name)]
    items = {name: how.part(value.getattr(tx, name)) for name in names if name != _COMPILED}
    placed = {name: how.part(item) for name, item in slots.items()}
    for name, item in items.items():
        tx.side_effects.store_attribute(made, name, item)
    for name, item in placed.items():
        made.setattr(tx, name, item)


def _slots(tx: Translator, value: ObjectVariable) -> dict[str, VariableTracker]:
    """What the object's slots hold."""
    if lookup(value.cls, "__slots__") is ABSENT:
        return {}
    names = copyreg._slotnames(value.cls)  # type: ignore[attr-defined]
    found = {name: tx.attribute_or_none(value, name) for name in names}
    return {name: item for name, item in found.items() if item is not None}


def _default_state(
    tx: Translator, value: ObjectVariable, how: Copying
) -> VariableTracker:
    """The state that `object.__reduce_ex__` returns: `__dict__` or None, or a tuple of that and
    the slots."""
    none, state = tx.constant(None), None
    if dictoffset_of(value.cls) and value.attribute_names(tx):
        state = how.table(value) if how.table is not None else tx.instance_dict_of(value)
    slots = {name: how.part(item) for name, item in _slots(tx, value).items()}
    if not slots:
        return state or none
    return tx.tuple_of([state or none, tx.dict_of(slots)])


def _set_state(
    tx: Translator, made: VariableTracker, state: VariableTracker, how: Copying, copied: bool
) -> None:
    """Give a new object its state, copied first where that is not done."""
    if state.is_none():
        return
    state = how.part(state).realize() if copied else state
    if not isinstance(made, ObjectVariable):
        unsupported("GB0004", f"the state of {made.describe()}, which is copied")
    setstate = tx.attribute_or_none(made, "__setstate__")
    if setstate is not None:
        setstate.call(tx, [state], {})
        return
    slots = None
    if type(state) is TupleVariable and len(state.items) == 2:
        state, slots = (item.realize() for item in state.items)
    if not state.is_none():
        made.getattr(tx, "__dict__").call_method(tx, "update", [state], {})
    if slots is not None and not slots.is_none():
        for name, item in tx.pairs([slots]):
            made.setattr(tx, name.as_constant(), item)


def _rebuilt(
    tx: Translator, value: ObjectVariable, given: VariableTracker, how: Copying
) -> VariableTracker:
    """What `copy._reconstruct` makes of what the program's own way to be reduced gives."""
    if given.is_constant() and type(given.as_constant()) is str:
        return value
    if type(given) is not TupleVariable or not 2 <= len(given.items) <= 5:
        unsupported("GB0004", f"a copy of {value.describe()} from {given.describe()}")
    none = tx.constant(None)
    parts = [part.realize() for part in given.items]
    function, args, state, items, pairs = [*parts, none, none, none][:5]
    made = function.call(tx, [how.part(arg) for arg in args.unpack(tx)], {}).realize()
    how.note(made)
    _set_state(tx, made, state, how, copied=True)
    if not items.is_none():
        for item in items.draw(tx):
            made.call_method(tx, "append", [how.part(item)], {})
    if not pairs.is_none():
        for pair in pairs.draw(tx):
            key, item = pair.realize().unpack(tx)
            made.setitem(tx, how.part(key), how.part(item))
    return made


def _empty_like(tx: Translator, value: ObjectVariable) -> ObjectVariable:
    """An object of the class without anything in it."""
    cls = tx.class_of(value)
    if isinstance(value, ContainerObjectVariable):
        empty: Any = ListVariable([]) if value.base is list else DictVariable({}, value.base)
        return ContainerObjectVariable(value.cls, empty, None, None, cls.source)
    return ObjectVariable(value.cls, None, None, cls.source)
