"""`copy.copy` and `copy.deepcopy` of trees of containers and simple objects."""

from __future__ import annotations

import copy
import types
from typing import TYPE_CHECKING, Any, NoReturn

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import AttrSource, Source
from graphwright.capture.guards.tensor_data_aliases import memory_source
from graphwright.capture.trackers.base import IdVariable, VariableTracker
from graphwright.capture.trackers.callables.functions import FunctionVariable
from graphwright.capture.trackers.classes.class_guards import guard_member
from graphwright.capture.trackers.classes.classes import BuiltinVariable, ClassVariable
from graphwright.capture.trackers.classes.named_tuples import (
    NamedTupleVariable,
    has_hidden_fields,
)
from graphwright.capture.trackers.containers.deques import DequeVariable
from graphwright.capture.trackers.containers.mappings import DictVariable
from graphwright.capture.trackers.containers.sequences import (
    ListVariable,
    SequenceVariable,
    TupleVariable,
)
from graphwright.capture.trackers.containers.sets import SetVariable, set_of
from graphwright.capture.trackers.numbers.ranges import RangeVariable
from graphwright.capture.trackers.numbers.symint import SymIntVariable
from graphwright.capture.trackers.tensors.differentiation import detached_as
from graphwright.capture.trackers.tensors.nn_modules import NNModuleVariable
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.copy_reduce import Copying, copy_object
from graphwright.capture.trackers.values.instance_dicts import InstanceDictVariable
from graphwright.capture.trackers.values.namespaces import ABSENT, lookup
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.nn.parameter import Parameter
from graphwright.runtime.ops.strides import dense_order
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator
    from graphwright.ir.graph.node import Node

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_ATOMS = (ConstantVariable, BuiltinVariable, ClassVariable, FunctionVariable, RangeVariable)


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
    return copy_object(tx, value, Copying(_as_it_is, _as_it_is, None))


def _as_it_is(value: VariableTracker) -> VariableTracker:
    return value


def deepcopy_handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`copy.deepcopy(value, memo)`."""
    value, *given = [*args, *kwargs.values()]
    memo = given[0].realize() if given else tx.constant(None)
    if len(given) > 1 or kwargs.keys() - {"memo"}:
        unsupported("GB0004", "copy.deepcopy with other arguments")
    if not isinstance(memo, MemoVariable) and not memo.is_none():
        unsupported("GB0004", "copy.deepcopy with a memo of the program's")
    known = memo.memo if isinstance(memo, MemoVariable) else Memo()
    return _deep(tx, tx.realized(value), known)


def _own_hook(tx: Translator, value: VariableTracker, name: str) -> VariableTracker | None:
    """A method of the class for copies: of `deepcopy` the object itself is asked."""
    if not isinstance(value, ObjectVariable):
        return None
    if name == "__copy__":
        found = tx.attribute_or_none(tx.class_of(value), name)
        return tx.bound_method(found, value) if found is not None else None
    guard_member(tx, value.cls, name)
    static = lookup(value.cls, name)
    if not isinstance(value, NNModuleVariable):
        return tx.attribute_or_none(value, name)
    if static is ABSENT:
        return None
    if not isinstance(static, types.FunctionType):
        unsupported("GB0004", f"a copy of {value.describe()}, whose {name} is no function")
    return tx.bound_method(tx.class_function(value.cls, name), value)


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
    hook = _own_hook(tx, value, "__deepcopy__")
    if hook is not None:
        return hook.call(tx, [MemoVariable(memo)], {}).realize()
    how = Copying(
        lambda made: memo.setdefault(value, made),
        lambda part: _deep(tx, part, memo),
        lambda owner: _deep_attributes(tx, InstanceDictVariable(owner), memo),
    )
    return copy_object(tx, value, how)


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
        unsupported("GB0004", f"copy.deepcopy of {value.describe()}, of a subclass or with .grad")
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
    """The storages that one deepcopy has copied."""

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


class MemoVariable(VariableTracker):
    """The memo that `__deepcopy__` is given: good for ids, and for being handed on."""

    mutable = True

    def __init__(self, memo: Memo) -> None:
        self.memo = memo

    def python_type(self) -> type:
        return dict

    def describe(self) -> str:
        return "the memo of a copy"

    def has_tensor(self) -> bool:
        return False

    def _owner(self, key: VariableTracker) -> VariableTracker:
        known = key.realize()
        if not isinstance(known, IdVariable):
            unsupported("GB0004", f"{known.describe()} as a key of the memo of a copy")
        return known.owner

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        return self._owner(item) in self.memo

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        found = self.memo.get(self._owner(key))
        return found or unsupported("GB0006", "KeyError: of the memo of a copy")

    def setitem(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        self.memo[self._owner(key)] = value.realize()

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name != "get":
            return super().getattr(tx, name)
        return BuiltinVariable(dict.get, self._get)

    def _get(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        key, *default = args
        return self.memo.get(self._owner(key), default[0] if default else tx.constant(None))


def _is_something(value: VariableTracker) -> bool:
    value = value.realize()
    return not isinstance(value, ConstantVariable) or value.value is not None


def _deep_tuple(tx: Translator, value: SequenceVariable, memo: Memo) -> VariableTracker:
    items = [_deep(tx, item, memo) for item in value.items]
    if value in memo:    # an item holds the tuple, which was thereby copied
        return memo[value]
    if isinstance(value, NamedTupleVariable) and value.held is not None:
        unsupported("GB0004", f"a copy of {value.describe()}, which may have attributes")
    if isinstance(value, NamedTupleVariable) and not has_hidden_fields(value.kind):
        return NamedTupleVariable(items, value.kind)
    if type(value) is not TupleVariable:
        unsupported("GB0004", f"copy.deepcopy of {value.describe()}")
    unchanged = all(a is b.realize() for a, b in zip(items, value.items, strict=True))
    return value if unchanged else TupleVariable(items)
