"""Instances of user classes that derive from list, dict, tuple, set or deque."""

from __future__ import annotations

import collections
import operator
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.opaque_container_sources import PLAIN
from graphwright.capture.guards.source import MroSource, Source
from graphwright.capture.guards.text import class_module, is_of_package
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.class_guards import guard_member
from graphwright.capture.trackers.classes.named_tuples import names_its_items
from graphwright.capture.trackers.containers.deques import DequeVariable, make_deque
from graphwright.capture.trackers.containers.mappings import DictVariable, factory_of
from graphwright.capture.trackers.containers.sequences import (
    ListVariable,
    SequenceMethod,
    SequenceVariable,
    TupleVariable,
)
from graphwright.capture.trackers.containers.sets import SetVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.namespaces import ABSENT, flags_of, lookup
from graphwright.capture.trackers.values.objects import ObjectVariable

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
BASES: tuple[type, ...] = (
    collections.OrderedDict,
    collections.defaultdict,
    collections.deque,
    dict,
    list,
    tuple,
    set,
)
_DESCRIPTORS = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)
_NOT_CALLABLE = 1 << 7
_FIELDS = ("default_factory", "maxlen")
_MERGES = ("__or__", "__ior__")


def base_of(cls: type) -> type | None:
    """The builtin container that a class derives from."""
    return next((base for base in BASES if issubclass(cls, base)), None)


class ContainerObjectVariable(ObjectVariable):
    """`payload` is what the base class keeps; attributes are those of any object."""

    def __init__(
        self,
        cls: type,
        payload: Any,
        value: object | None,
        source: Source | None,
        cls_source: Source | None = None,
    ) -> None:
        super().__init__(cls, value, source, cls_source)
        base = base_of(cls)
        assert base is not None
        self.base: type = base
        self.payload = payload
        if not isinstance(payload, TupleVariable):
            payload.owner = self

    def release(self) -> None:
        if not isinstance(self.payload, TupleVariable):
            self.payload.owner = None

    def is_builtin(self, static: Any) -> bool:
        """Whether a class attribute is the base class's own."""
        return isinstance(static, _DESCRIPTORS) and static.__objclass__ in self.base.__mro__

    def builtin_attribute(
        self, tx: Translator, static: Any, name: str
    ) -> VariableTracker | None:
        if not self.is_builtin(static) or static is getattr(object, name, None):
            return None
        if name == "__init__":
            return ContainerInit(self)
        if isinstance(static, types.ClassMethodDescriptorType):
            unsupported("GB0004", f"call of {self.cls.__name__}.{name}")
        return InheritedMethod(self, static, name)

    def special(self, tx: Translator, name: str) -> VariableTracker | None:
        static = lookup(self.cls, name)
        if static is not ABSENT and static is not getattr(object, name, None):
            own = self.builtin_attribute(tx, static, name)
            if own is not None:
                tx.guards.id_match(self._class_source(name), static)
                return own
        return super().special(tx, name)

    def _descriptor(self, tx: Translator, name: str, static: Any) -> VariableTracker | None:
        if name in _FIELDS and static is vars(self.base).get(name):
            guard_member(tx, self.cls, name)
            field: VariableTracker = self.payload.getattr(tx, name)
            return field
        return super()._descriptor(tx, name, static)

    def plain(self, tx: Translator, *names: str) -> bool:
        """Whether these methods are the base class's own."""
        for name in names:
            guard_member(tx, self.cls, name)
        return all(self.is_builtin(lookup(self.cls, name)) for name in names)

    def iterate(self, tx: Translator) -> VariableTracker:
        if self.plain(tx, "__iter__"):
            iterator: VariableTracker = self.payload.iterate(tx)
            return iterator
        return super().iterate(tx)

    def unpack(self, tx: Translator) -> list[VariableTracker]:
        if self.plain(tx, "__iter__"):
            self.length_hint(tx)
            items: list[VariableTracker] = self.payload.unpack(tx)
            return items
        return super().unpack(tx)

    def unpack_iterator(self, tx: Translator) -> list[VariableTracker]:
        if self.plain(tx, "__iter__"):
            items: list[VariableTracker] = self.payload.unpack(tx)
            return items
        return super().unpack_iterator(tx)

    def length_hint(self, tx: Translator) -> VariableTracker | None:
        return None if self.plain(tx, "__len__") else super().length_hint(tx)

    def missing(self, tx: Translator, key: VariableTracker) -> VariableTracker | None:
        """What `__missing__` gives, if the class has one."""
        if not isinstance(lookup(self.cls, "__missing__"), types.FunctionType):
            return None
        return self.call_special(tx, "__missing__", key)

    def binary(
        self, tx: Translator, name: str, other: VariableTracker
    ) -> VariableTracker | None:
        guard_member(tx, self.cls, name)
        static = lookup(self.cls, name)
        function = getattr(operator, name, None)
        if function is None and isinstance(self.payload, SetVariable) and self.is_builtin(static):
            return tx.operate(getattr(operator, f"__{name[3:]}"), other, self.payload)
        if not self.is_builtin(static) or function is None:
            return super().binary(tx, name, other) if static is not ABSENT else None
        if static is getattr(object, name, None):
            return None
        mapping = isinstance(self.payload, DictVariable) and name in _MERGES
        if isinstance(other, ContainerObjectVariable):
            other = _items_of(tx, other) if mapping else other.payload
        elif isinstance(other, ObjectVariable) and not issubclass(other.cls, tuple(PLAIN)):
            if isinstance(self.payload, SequenceVariable) or (mapping and name == "__ior__"):
                unsupported("GB0008", f"{self.cls.__name__}.{name} of {other.describe()}")
            return None
        own = as_mapping(tx, self) if mapping and name == "__or__" else self.payload
        if mapping and self.base is dict and isinstance(other, DictVariable):
            other = DictVariable(other.entries)     # whose class has no say beside one of dicts
        result = tx.operate(function, own, other)
        if result is not self.payload:
            if isinstance(result, DictVariable | DequeVariable) and self.base is not dict:
                unsupported("GB0004", f"{self.cls.__name__}.{name}, which calls the class")
            return result
        return TupleVariable(result.items) if isinstance(result, TupleVariable) else self

    def copied(self, tx: Translator) -> VariableTracker:
        """What the base class's own `copy` gives: an instance of the class, but for a dict."""
        payload = self.payload
        if self.base is dict:
            return as_mapping(tx, self).copied()
        cls = tx.class_of(self)
        if isinstance(payload, DequeVariable):
            longest = [] if payload.maxlen is None else [tx.constant(payload.maxlen)]
            return cls.call(tx, [self, *longest], {})
        if self.base is collections.defaultdict:
            factory = payload.default_factory or tx.constant(None)
            return cls.call(tx, [factory, self], {})
        made = cls.call(tx, [], {})
        for key, _ in list(payload.entries.values()):
            made.setitem(tx, key, self.getitem(tx, key))
        return made

    def parts(self) -> Iterable[VariableTracker]:
        return [self.payload]

    def reconstruct(self, cg: Reconstructor) -> None:
        assert self.cls_source is not None
        cg.builder.begin_call(self.base.__new__)
        self.cls_source.emit(cg.builder)
        if isinstance(self.payload, TupleVariable):
            cg.push(self.payload)
        cg.builder.end_call(1 + isinstance(self.payload, TupleVariable))
        cg.fill_later(self)

    def prepare(
        self, cg: Reconstructor, push: Callable[[], None], clear: bool
    ) -> Callable[[], None]:
        """What gives the object its items, by the base class's own methods."""
        base: Any = self.base
        payload = self.payload
        if isinstance(payload, TupleVariable):
            return lambda: None
        if isinstance(payload, SetVariable):
            return payload.write_back(cg, push, base)
        if isinstance(payload, DictVariable):
            pairs = [(cg.hold(key), cg.hold(value)) for key, value in payload.entries.values()]
            calls: list[tuple[Any, tuple[Callable[[], None], ...]]] = [
                (base.__setitem__, pair) for pair in pairs
            ]
            if payload.default_factory is not None and not clear:
                calls.insert(0, (base.__init__, (cg.hold(payload.default_factory),)))
        else:
            calls = [(base.append, (cg.hold(item),)) for item in payload.items]
            if isinstance(payload, DequeVariable) and payload.maxlen is not None and not clear:
                parts = (ConstantVariable(()), ConstantVariable(payload.maxlen))
                calls.insert(0, (base.__init__, tuple(map(cg.hold, parts))))
        if clear:
            calls.insert(0, (base.clear, ()))

        def write() -> None:
            for function, args in calls:
                cg.builder.begin_call(function)
                push()
                for arg in args:
                    arg()
                cg.builder.end_call(1 + len(args))
                cg.builder.pop()

        return write


class InheritedMethod(SequenceMethod):
    """A method of the builtin base class, bound: the class may have its own of that name."""

    def __init__(self, owner: ContainerObjectVariable, static: Any, name: str) -> None:
        super().__init__(owner.payload, name)
        self.instance = owner
        self.static = static

    def parts(self) -> list[VariableTracker]:
        return [self.instance]

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(self.static.__get__)
        cg.push(self.instance)
        cg.builder.end_call(1)


class ContainerInit(VariableTracker):
    """`list.__init__` and the like, bound."""

    def __init__(self, owner: ContainerObjectVariable) -> None:
        self.owner = owner

    def python_type(self) -> type:
        return types.MethodWrapperType

    def parts(self) -> list[VariableTracker]:
        return [self.owner]

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        payload = self.owner.payload
        if self.owner not in tx.side_effects.created or isinstance(payload, TupleVariable):
            unsupported("GB0004", f"{self.owner.base.__name__}.__init__()")
        if isinstance(payload, DictVariable):
            if payload.kind is collections.defaultdict and args:
                factory, *args = args
                payload.default_factory = factory_of(tx, factory)
            payload.call_method(tx, "update", args, kwargs)
        elif isinstance(payload, DequeVariable):
            made: Any = make_deque(tx, args, kwargs)
            payload.items, payload.maxlen = made.items, made.maxlen
        elif isinstance(payload, SetVariable):
            payload.start(tx, _single(self.owner.cls, args, kwargs))
        else:
            payload.items = _items(tx, self.owner.cls, args, kwargs)
        tx.side_effects.mutated.pop(payload, None)
        return tx.constant(None)


def _items(tx: Translator, cls: type, args: Args, kwargs: Kwargs) -> list[VariableTracker]:
    """The items for which the constructor of a list or tuple subclass is called."""
    given = _single(cls, args, kwargs)
    return given.unpack(tx) if given is not None else []


def _single(cls: type, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    """The one argument of a container's constructor; None if there is none."""
    if kwargs or len(args) > 1:
        unsupported("GB0007", f"TypeError: wrong arguments for {cls.__name__}()")
    return args[0].realize() if args else None


def _empty(base: type) -> Any:
    if issubclass(base, dict):
        return DictVariable({}, base)
    if base is set:
        return SetVariable(set())
    return DequeVariable([]) if base is collections.deque else ListVariable([])


def _may_be_made(cls: type) -> bool:
    """Whether a class is not one of this package, but for what modules keep their state in."""
    name = class_module(cls)
    return not is_of_package(name) or name.startswith("graphwright.nn.")


def make_container(
    tx: Translator, cls: type, source: Source, args: Args, kwargs: Kwargs
) -> VariableTracker | None:
    """An instance of a class that derives from a container; None where that is not modelled."""
    base = base_of(cls)
    if base is None or not is_modelled(cls) or lookup(cls, "__new__") is not base.__new__:
        return None
    if base is tuple:
        own = isinstance(lookup(cls, "__init__"), types.FunctionType)
        made = _tuple_object(tx, cls, source, _items(tx, cls, args, {} if own else kwargs))
    else:
        made = ContainerObjectVariable(cls, _empty(base), None, None, source)
        tx.side_effects.track_new(made)
    init = lookup(cls, "__init__")
    if isinstance(init, types.FunctionType):
        tx.output.wrap(init, MroSource(source, "__init__")).call(tx, [made, *args], kwargs)
    elif base is not tuple:
        ContainerInit(made).call(tx, args, kwargs)
    return made


def is_modelled(cls: type) -> bool:
    """Whether instances end silently, and nothing but the class says how they are made."""
    silent = lookup(cls, "__del__") is ABSENT
    callable = not flags_of(cls) & _NOT_CALLABLE
    return silent and callable and _may_be_made(cls)


def _tuple_object(
    tx: Translator, cls: type, source: Source, items: list[VariableTracker]
) -> ContainerObjectVariable:
    made = ContainerObjectVariable(cls, TupleVariable(items), None, None, source)
    tx.side_effects.track_new(made)
    return made


def new_tuple(
    tx: Translator, cls: type, source: Source, items: list[VariableTracker]
) -> VariableTracker | None:
    """`tuple.__new__(cls, items)` of a user's class, as its own `__new__` calls it."""
    plain = base_of(cls) is tuple and not names_its_items(cls) and is_modelled(cls)
    return _tuple_object(tx, cls, source, items) if plain else None


def as_mapping(tx: Translator, value: ContainerObjectVariable) -> DictVariable:
    """What C reads a dict's items from, past the class's own `[]`; a break at its own order."""
    if not value.plain(tx, "__iter__", "__getattribute__"):
        unsupported("GB0008", f"items of {value.describe()}")
    payload: DictVariable = value.payload
    return payload


def _items_of(tx: Translator, value: ContainerObjectVariable) -> VariableTracker:
    """The items that an operator reads; a break where it would call methods of a subclass."""
    items = unwrapped(tx, value)
    if items is value:
        unsupported("GB0008", f"items of {value.describe()}")
    return items


def unwrapped(tx: Translator, value: VariableTracker, ordered: bool = False) -> VariableTracker:
    """What a C function sees of a dict or list, past the class's own methods; else the value.

    A dict that has a dict's own iterator is read as it is. All others, and any that an OrderedDict
    is updated with (`ordered`), are asked for `keys()` and each item.
    """
    value = value.realize()
    if not isinstance(value, ContainerObjectVariable):
        return value
    if not value.plain(tx, "__getattribute__"):
        unsupported("GB0008", f"items of {value.describe()}")
    payload: VariableTracker = value.payload
    if not isinstance(payload, DictVariable):
        if not value.plain(tx, "__iter__", "__getitem__"):
            unsupported("GB0008", f"items of {value.describe()}")
        return payload
    guard_member(tx, value.cls, "__iter__")
    as_it_is = not ordered and lookup(value.cls, "__iter__") is dict.__iter__
    return payload if as_it_is or value.plain(tx, "keys", "__getitem__") else value
