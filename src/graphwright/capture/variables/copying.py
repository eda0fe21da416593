"""`copy.copy` and `copy.deepcopy` of trees of containers and simple objects."""

from __future__ import annotations

import copy
import copyreg
import types
from typing import TYPE_CHECKING

from graphwright.capture.exc import unsupported
from graphwright.capture.source import ConstSource
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.class_guards import guard_member
from graphwright.capture.variables.classes import BuiltinVariable, ClassVariable
from graphwright.capture.variables.constant import ConstantVariable
from graphwright.capture.variables.deques import DequeVariable
from graphwright.capture.variables.functions import FunctionVariable
from graphwright.capture.variables.mappings import DictVariable
from graphwright.capture.variables.named_tuples import NamedTupleVariable
from graphwright.capture.variables.nn_modules import NNModuleVariable
from graphwright.capture.variables.objects import (
    ABSENT,
    ObjectVariable,
    instance_dict,
    lookup,
)
from graphwright.capture.variables.ranges import RangeVariable
from graphwright.capture.variables.sequences import ListVariable, SequenceVariable, TupleVariable
from graphwright.capture.variables.sets import SetVariable, set_of
from graphwright.capture.variables.symint import SymIntVariable
from graphwright.capture.variables.tensor import TensorVariable

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator
    from graphwright.ir.node import Node

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
Memo = dict[VariableTracker, VariableTracker]
_ATOMS = (ConstantVariable, BuiltinVariable, ClassVariable, FunctionVariable, RangeVariable)
_HOOKS = (
    *("__copy__", "__deepcopy__", "__getstate__", "__setstate__"),
    *("__reduce__", "__reduce_ex__", "__getnewargs__", "__getnewargs_ex__", "__new__"),
)


def copy_handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`copy.copy(value)`."""
    (value,) = args
    value = tx.realized(value)
    if isinstance(value, (*_ATOMS, SymIntVariable)) or type(value) is TupleVariable:
        return value
    if isinstance(value, DictVariable):
        return value.call_method(tx, "copy", [], {})
    if isinstance(value, SetVariable):
        return set_of(tx, value)
    if isinstance(value, DequeVariable):
        return value.copied()
    if isinstance(value, ListVariable):
        return ListVariable(list(value.items))
    hook = _own_hook(tx, value, "__copy__")
    if hook is not None:
        return hook.call(tx, [], {})
    return _new_object(tx, value, {}, deep=False)


def deepcopy_handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`copy.deepcopy(value)`."""
    if len(args) != 1 or kwargs:
        unsupported("GB0004", "copy.deepcopy with a memo")
    return _deep(tx, tx.realized(args[0]), {})


def _own_hook(tx: Translator, value: VariableTracker, name: str) -> VariableTracker | None:
    if not isinstance(value, ObjectVariable):
        return None
    guard_member(tx, value.cls, name)
    if not isinstance(lookup(value.cls, name), types.FunctionType):
        return None
    return value.getattr(tx, name)


def _deep(tx: Translator, value: VariableTracker, memo: Memo) -> VariableTracker:
    value = value.realize()
    if isinstance(value, ConstantVariable) and isinstance(value.value, frozenset):
        unsupported("GB0004", "copy.deepcopy of a frozenset, which is another object")
    if isinstance(value, (*_ATOMS, SymIntVariable)):
        return value
    if value not in memo:
        memo[value] = _copied(tx, value, memo)
    return memo[value]


def _copied(tx: Translator, value: VariableTracker, memo: Memo) -> VariableTracker:
    if isinstance(value, TensorVariable):
        return _deep_tensor(tx, value, memo)
    if isinstance(value, DictVariable):
        made = DictVariable({}, value.kind, None, value.default_factory)
        memo[value] = made
        for key, (own, item) in value.entries.items():
            made.entries[key] = (_deep(tx, own, memo), _deep(tx, item, memo))
        return made
    if isinstance(value, SetVariable):
        return set_of(tx, value)
    if isinstance(value, ListVariable):
        copied = memo[value] = ListVariable([])
        copied.items += [_deep(tx, item, memo) for item in value.items]
        return copied
    if isinstance(value, DequeVariable):
        return DequeVariable([_deep(tx, item, memo) for item in value.items], value.maxlen)
    if isinstance(value, SequenceVariable):
        return _deep_tuple(tx, value, memo)
    if _own_hook(tx, value, "__deepcopy__") is not None:
        unsupported("GB0004", f"{value.describe()}.__deepcopy__")
    return _new_object(tx, value, memo, deep=True)


def _deep_tensor(tx: Translator, value: TensorVariable, memo: Memo) -> VariableTracker:
    """The copy of a tensor that the graph made, or of one argument.

    Not of views, nor of two arguments: their whole memory is copied, which those share that are
    copied together.
    """
    if value.present().fake.requires_grad or _is_something(tx.gradient_of(value)):
        unsupported("GB0004", "copy.deepcopy of a tensor that requires gradients, or has one")
    if value in tx.side_effects.attributes:
        unsupported("GB0004", f"copy.deepcopy of {value.describe()}, which has attributes")
    owner = _owner(tx, value)
    if owner is None:
        unsupported("GB0004", f"copy.deepcopy of {value.describe()}, which is a view")
    if owner.op != "placeholder":
        return value.call_method(tx, "clone", [], {})
    if any(isinstance(known, TensorVariable) and _is_given(tx, known) for known in memo):
        unsupported("GB0004", "copy.deepcopy of two arguments, which may share memory")
    return tx.output.run(tx, "call_function", copy.deepcopy, [value], {})


def _is_something(value: VariableTracker) -> bool:
    value = value.realize()
    return not isinstance(value, ConstantVariable) or value.value is not None


def _owner(tx: Translator, value: TensorVariable) -> Node | None:
    """The node that made the tensor with its memory; None for views."""
    memory = value.fake._storage
    found = next(node for node in tx.output.graph.nodes
                 if getattr(node.meta.get("val"), "_storage", None) is memory)
    return found if found.meta["val"] is value.fake else None


def _is_given(tx: Translator, value: TensorVariable) -> bool:
    owner = _owner(tx, value)
    return owner is not None and owner.op == "placeholder"


def _deep_tuple(tx: Translator, value: SequenceVariable, memo: Memo) -> VariableTracker:
    items = [_deep(tx, item, memo) for item in value.items]
    if value in memo:    # an item holds the tuple, which was thereby copied
        return memo[value]
    if isinstance(value, NamedTupleVariable):
        return NamedTupleVariable(items, value.kind)
    if type(value) is not TupleVariable:
        unsupported("GB0004", f"copy.deepcopy of {value.describe()}")
    unchanged = all(a is b.realize() for a, b in zip(items, value.items, strict=True))
    return value if unchanged else TupleVariable(items)


def _new_object(
    tx: Translator, value: VariableTracker, memo: Memo, deep: bool
) -> VariableTracker:
    if type(value) is not ObjectVariable or isinstance(value, NNModuleVariable):
        unsupported("GB0004", f"a copy of {value.describe()}")
    for name in (*_HOOKS, "__slots__", "__del__"):
        guard_member(tx, value.cls, name)
    hooks = [lookup(value.cls, name) for name in _HOOKS]
    plain = [getattr(object, name, ABSENT) for name in _HOOKS]
    if any(own is not usual for own, usual in zip(hooks, plain, strict=True)):
        unsupported("GB0004", f"a copy of {value.describe()}, which has its own way to be copied")
    if lookup(value.cls, "__slots__") is not ABSENT or lookup(value.cls, "__del__") is not ABSENT:
        unsupported("GB0004", f"a copy of {value.describe()}, which has slots")
    if value.cls in copyreg.dispatch_table:
        unsupported("GB0004", f"a copy of {value.describe()}, which copyreg knows of")
    registered = ConstSource(copyreg.dispatch_table, "copyreg.dispatch_table")
    tx.guards.length(registered, len(copyreg.dispatch_table))
    cls = tx.class_of(value)
    made = ObjectVariable(value.cls, None, None, cls.source)
    tx.side_effects.track_new(made)
    memo[value] = made
    stored = tx.side_effects.attributes.get(value, {})
    before = instance_dict(value.value) if value.value is not None else {}
    tx.guard_attribute_names(value)
    for name in dict.fromkeys([*before, *stored]):
        if tx.side_effects.is_deleted(value, name):
            continue
        item = value.getattr(tx, name)
        tx.side_effects.store_attribute(made, name, _deep(tx, item, memo) if deep else item)
    return made
