"""`copy.copy` and `copy.deepcopy` of trees of containers and simple objects."""

from __future__ import annotations

import collections
import copy
import copyreg
import types
from typing import TYPE_CHECKING, Any, NoReturn

from graphwright.capture.data_aliases import memory_source
from graphwright.capture.exc import unsupported
from graphwright.capture.source import AttrSource, ConstSource, Source
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.class_guards import guard_member
from graphwright.capture.variables.classes import BuiltinVariable, ClassVariable
from graphwright.capture.variables.constant import ConstantVariable
from graphwright.capture.variables.containers import ContainerObjectVariable
from graphwright.capture.variables.deques import DequeVariable
from graphwright.capture.variables.differentiation import detached_as
from graphwright.capture.variables.functions import FunctionVariable
from graphwright.capture.variables.instance_dicts import InstanceDictVariable
from graphwright.capture.variables.mappings import DictVariable
from graphwright.capture.variables.named_tuples import NamedTupleVariable, has_hidden_fields
from graphwright.capture.variables.namespaces import ABSENT, instance_dict, lookup
from graphwright.capture.variables.nn_modules import NNModuleVariable
from graphwright.capture.variables.objects import ObjectVariable
from graphwright.capture.variables.ranges import RangeVariable
from graphwright.capture.variables.sequences import ListVariable, SequenceVariable, TupleVariable
from graphwright.capture.variables.sets import SetVariable, set_of
from graphwright.capture.variables.symint import SymIntVariable
from graphwright.capture.variables.tensor import TensorVariable
from graphwright.runtime.nn.module import Module
from graphwright.runtime.nn.parameter import Parameter
from graphwright.runtime.ops.strides import dense_order
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator
    from graphwright.ir.node import Node

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
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
    if isinstance(value, (DictVariable, InstanceDictVariable)):
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
    return _new_object(tx, value, Memo(), deep=False)


def deepcopy_handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`copy.deepcopy(value)`."""
    if len(args) != 1 or kwargs:
        unsupported("GB0004", "copy.deepcopy with a memo")
    return _deep(tx, tx.realized(args[0]), Memo())


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
        made = memo[value] = DictVariable({}, value.kind, None, value.default_factory)
        return _fill(tx, made, value, memo)
    if isinstance(value, InstanceDictVariable):
        return _deep_attributes(tx, value, memo)
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


def _fill(tx: Translator, made: DictVariable, held: DictVariable, memo: Memo) -> DictVariable:
    for key, (own, item) in held.entries.items():
        made.entries[key] = (_deep(tx, own, memo), _deep(tx, item, memo))
    return made


def _deep_attributes(tx: Translator, value: InstanceDictVariable, memo: Memo) -> DictVariable:
    """The copy of an object's `__dict__`; a break where that holds the object again.

    Python would then give the object's copy only the attributes that were copied by then.
    """
    owner = value.owner
    if owner in memo.dicts:
        return memo.dicts[owner]
    known, held = owner in memo, value.snapshot(tx)
    assert isinstance(held, DictVariable)
    copied = memo.dicts[owner] = DictVariable({}, held.kind)
    _fill(tx, copied, held, memo)
    if owner in memo and not known:
        unsupported("GB0004", "copy.deepcopy of a __dict__ that holds its own object")
    return copied


def _deep_tensor(tx: Translator, value: TensorVariable, memo: Memo) -> VariableTracker:
    """The copy of a leaf. Of a tensor all the memory is copied, of a parameter its elements."""
    fake = value.present().fake
    if value in tx.side_effects.attributes or _has_attributes(tx, value):
        unsupported("GB0004", f"copy.deepcopy of {value.describe()}, which has attributes")
    if not fake.is_leaf or value._has_history(tx):
        unsupported("GB0007", f"RuntimeError: copy.deepcopy of {value.describe()}, not a leaf")
    if value.cls is Parameter:
        copied = _copy_of(tx, value)
    elif value.cls is not Tensor or _is_something(tx.gradient_of(value)):
        unsupported("GB0004", f"copy.deepcopy of {value.describe()}, which has more than memory")
    else:
        copied = memo.memories.copied(tx, value)
    made = detached_as(tx, [tx.constant_class(value.cls), copied], {})
    if fake.requires_grad:
        assert isinstance(made, TensorVariable)
        return tx.tape_method("requires_grad_", made, [], {})
    return made


def _copy_of(tx: Translator, value: TensorVariable) -> TensorVariable:
    detached = tx.output.run(tx, "call_method", "detach", [value], {})
    copied = tx.output.run(tx, "call_method", "clone", [detached], {})
    assert isinstance(copied, TensorVariable)
    return copied


def _has_attributes(tx: Translator, value: TensorVariable) -> bool:
    """Whether the user gave a tensor from outside attributes; else a guard that there are none."""
    if value.source is None:
        return False
    if vars(tx.output.real_inputs()[value.node]):
        return True
    tx.guards.dict_keys(AttrSource(value.source, "__dict__"), ())
    return False


class _Memories:
    """The memories that one deepcopy has copied, by what tells them apart."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[TensorVariable, TensorVariable]] = {}
        self._given: dict[Source, int] = {}

    def copied(self, tx: Translator, value: TensorVariable) -> TensorVariable:
        """The tensor over the copy of its memory; a break where it has only a part of it."""
        fake = value.present().fake
        owner = next(node for node in tx.output.graph.nodes
                     if getattr(node.meta.get("val"), "_storage", None) is fake._storage)
        source = tx.output.inputs.get(owner)
        key: Any = id(fake._storage) if source is None else memory_source(source)
        if key in self._known:
            return self._again(tx, value, *self._known[key])
        dense = dense_order(fake.shape, fake.stride()) is not None
        if source is None:
            whole = owner.meta["val"]
            if not dense or fake.dtype is not whole.dtype or fake.numel() != whole.numel():
                self._refuse(value)
            made = _copy_of(tx, value)
        elif self._is_all(tx, value, memory_source(source), owner) and dense:
            made = _copy_of(tx, value)
        else:
            made = self._by_itself(tx, value, owner)
        self._known[key] = value, made
        return made

    def _by_itself(self, tx: Translator, value: TensorVariable, owner: Node) -> TensorVariable:
        """The copy of an argument that is a view, which the graph makes as plain Python does."""
        if owner is not value.node or value.present().fake.requires_grad:
            self._refuse(value)
        made = tx.output.run(tx, "call_function", copy.deepcopy, [value], {})
        assert isinstance(made, TensorVariable)
        return made

    def _again(
        self, tx: Translator, value: TensorVariable, before: TensorVariable, made: TensorVariable
    ) -> TensorVariable:
        fake, known = value.present().fake, before.present().fake
        same = fake.dtype is known.dtype and fake.shape == known.shape
        if not same or fake.stride() != known.stride():
            self._refuse(value)
        view = tx.output.run(tx, "call_method", "detach", [made], {})
        assert isinstance(view, TensorVariable)
        return view

    def _is_all(
        self, tx: Translator, value: TensorVariable, source: Source, owner: Node
    ) -> bool:
        """Whether it is as large as the memory of the argument, which no other one shares."""
        real = tx.output.real_inputs()[owner]
        fake, memory = value.present().fake, AttrSource(source, "_storage")
        size, place = fake.numel() * fake.dtype.itemsize, AttrSource(memory, "nbytes")
        total = real._storage.nbytes
        if id(real._storage) in self._given.values():
            self._refuse(value)
        if isinstance(size, SymInt):
            number = tx.output.int_input(total, place)
            assert isinstance(number, SymIntVariable)
            whole = bool(number.value == size)
        else:
            tx.guards.equals(place, total)
            whole = size == total
        self._given[memory] = id(real._storage)
        tx.guards.no_alias(list(self._given))
        return whole

    def _refuse(self, value: TensorVariable) -> NoReturn:
        unsupported("GB0004", f"copy.deepcopy of {value.describe()}, which is a view: clone it")


class Memo(dict[VariableTracker, VariableTracker]):
    """What one deepcopy has copied."""

    def __init__(self) -> None:
        self.memories = _Memories()
        self.dicts: dict[ObjectVariable, DictVariable] = {}
        """The copies of objects' `__dict__`, by the object."""


def _is_something(value: VariableTracker) -> bool:
    value = value.realize()
    return not isinstance(value, ConstantVariable) or value.value is not None


def _deep_tuple(tx: Translator, value: SequenceVariable, memo: Memo) -> VariableTracker:
    items = [_deep(tx, item, memo) for item in value.items]
    if value in memo:    # an item holds the tuple, which was thereby copied
        return memo[value]
    if isinstance(value, NamedTupleVariable) and not has_hidden_fields(value.kind):
        return NamedTupleVariable(items, value.kind)
    if type(value) is not TupleVariable:
        unsupported("GB0004", f"copy.deepcopy of {value.describe()}")
    unchanged = all(a is b.realize() for a, b in zip(items, value.items, strict=True))
    return value if unchanged else TupleVariable(items)


def _new_object(
    tx: Translator, value: VariableTracker, memo: Memo, deep: bool
) -> VariableTracker:
    if type(value) not in (ObjectVariable, NNModuleVariable, ContainerObjectVariable):
        unsupported("GB0004", f"a copy of {value.describe()}")
    assert isinstance(value, ObjectVariable)
    _check_copied_plainly(tx, value)
    made = _empty_like(tx, value)
    tx.side_effects.track_new(made)
    memo[value] = made
    stored = tx.side_effects.attributes.get(value, {})
    before = instance_dict(value.value) if value.value is not None else {}
    tx.guard_attribute_names(value)
    for name in dict.fromkeys([*before, *stored]):
        if tx.side_effects.is_deleted(value, name) or name == _COMPILED:
            continue
        item = value.getattr(tx, name)
        tx.side_effects.store_attribute(made, name, _deep(tx, item, memo) if deep else item)
    if isinstance(made, ContainerObjectVariable):
        assert isinstance(value, ContainerObjectVariable)
        for key, (own, item) in value.payload.entries.items():
            pair = (_deep(tx, own, memo), _deep(tx, item, memo)) if deep else (own, item)
            made.payload.entries[key] = pair
    return made


def _check_copied_plainly(tx: Translator, value: ObjectVariable) -> None:
    """A break where the class says how its instances are copied."""
    names: tuple[str, ...] = (*_HOOKS, "__slots__", "__del__")
    base: type = object
    if isinstance(value, ContainerObjectVariable):
        base = value.base
        names = (*names, *_FILLING)
        if base is not collections.OrderedDict:
            unsupported("GB0004", f"a copy of {value.describe()}")
    for name in names:
        guard_member(tx, value.cls, name)
    own = {name: lookup(value.cls, name) for name in names}
    if own["__getstate__"] is Module.__getstate__:
        del own["__getstate__"]
    if own.pop("__slots__") is not ABSENT or own.pop("__del__") is not ABSENT:
        unsupported("GB0004", f"a copy of {value.describe()}, which has slots")
    if any(found is not lookup(base, name) for name, found in own.items()):
        unsupported("GB0004", f"a copy of {value.describe()}, which has its own way to be copied")
    if value.cls in copyreg.dispatch_table:
        unsupported("GB0004", f"a copy of {value.describe()}, which copyreg knows of")
    registered = ConstSource(copyreg.dispatch_table, "copyreg.dispatch_table")
    tx.guards.length(registered, len(copyreg.dispatch_table))


def _empty_like(tx: Translator, value: ObjectVariable) -> ObjectVariable:
    """An object of the class without anything in it."""
    cls = tx.class_of(value)
    if isinstance(value, ContainerObjectVariable):
        entries = DictVariable({}, value.base)
        return ContainerObjectVariable(value.cls, entries, None, None, cls.source)
    return ObjectVariable(value.cls, None, None, cls.source)


_FILLING = ("__init__", "__iter__", "__setitem__", "items")
_COMPILED = "_compiled_call_impl"
