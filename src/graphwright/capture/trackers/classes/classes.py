"""Classes, modules and whatever else is known only by what it is."""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import AttributeMissing, unsupported
from graphwright.capture.guards.source import (
    AttrSource,
    ClassSource,
    ConstSource,
    MroSource,
    Source,
)
from graphwright.capture.guards.text import class_module, class_name, is_of_package
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.callables.builtin_signatures import check_call
from graphwright.capture.trackers.classes.class_guards import (
    LIBRARY_METACLASSES,
    class_source,
    guard_bases,
    guard_binding,
    guard_direct_bases,
    guard_member,
    guard_metaclass,
    may_be_written,
)
from graphwright.capture.trackers.classes.enums import (
    find_member,
    guard_entry,
    guard_members,
    is_enumeration,
    member_variable,
    members_of,
)
from graphwright.capture.trackers.containers.container_subclasses import make_container
from graphwright.capture.trackers.containers.length_hints import length_asked
from graphwright.capture.trackers.containers.mapping_proxies import ClassDictVariable
from graphwright.capture.trackers.numbers.decomposed_calls import run_parts
from graphwright.capture.trackers.numbers.scalar_subclasses import make_scalar_object
from graphwright.capture.trackers.values.exceptions import make_exception
from graphwright.capture.trackers.values.namespaces import (
    ABSENT,
    basicsize_of,
    flags_of,
    is_data_descriptor,
    lookup,
    may_change,
    mro_of,
)
from graphwright.capture.trackers.values.objects import ObjectVariable, bind_class_attribute
from graphwright.capture.vm.allowed import may_inline
from graphwright.compat.typed_constructors import default_tensor
from graphwright.library import AtenOp, CustomOp
from graphwright.runtime._core import OpFunction
from graphwright.runtime.tensor.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


class ClassVariable(VariableTracker):
    """A class; guarded by identity."""

    def __init__(self, value: type, source: Source | None = None) -> None:
        self.value = value
        self.source = source if source is not None else ConstSource(value, class_name(value))

    def python_type(self) -> type:
        return type(self.value)

    def describe(self) -> str:
        return f"class {class_name(self.value)}"

    def as_constant(self) -> type:
        return self.value

    def truth(self, tx: Translator) -> bool:
        if type(self.value) is not type:
            unsupported("GB0008", f"truth value of {self.describe()}")
        return True

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        if not may_be_written(self.value, name, value.realize()):
            super().setattr(tx, name, value)
        owner = tx.constant_class(self.value)
        tx.side_effects.store_attribute(owner, name, value)
        tx.side_effects.classes[self.value] = owner

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        assert self.source is not None
        written = tx.written_in_class(self.value, name)
        if written is not None:
            return written
        self._read_plainly(tx, name)
        if name in _OF_CLASS and lookup(type(self.value), name) is type.__dict__.get(name, ABSENT):
            return self._of_type(tx, name)
        if name in ("__module__", "__doc__") and not self._is_defined_anew(name):
            return self._of_type(tx, name)
        if name == "__class__":
            return tx.constant_class(type(self.value))
        if name == "__dict__" and not self._is_defined_anew(name):
            return ClassDictVariable(self)
        meta = lookup(type(self.value), name)
        if isinstance(meta, property) and isinstance(meta.fget, types.FunctionType):
            return tx.class_function(type(self.value), name, "fget").call(tx, [self], {})
        if is_data_descriptor(meta):
            unsupported("GB0010", f"attribute {name!r} of {self.describe()}")
        self._guard_metaclass(tx, name, meta)
        static = lookup(self.value, name)
        source = MroSource(self.source, name)
        if static is ABSENT and isinstance(meta, types.FunctionType):
            tx.guards.missing(MroSource(self.source, name))
            return tx.bound_method(tx.class_function(type(self.value), name), self)
        if static is ABSENT and meta is not ABSENT and _is_value(meta):
            tx.guards.missing(MroSource(self.source, name))
            return tx.class_function(type(self.value), name)
        if static is ABSENT and meta in (type.mro, type.__subclasses__):
            return tx.bound_method(tx.class_function(type, name), self)
        member = self._member(tx, name)
        if member is not None:
            return member
        if static is ABSENT:
            if meta is not ABSENT:
                unsupported("GB0010", f"attribute {name!r} of {self.describe()}")
            tx.guards.missing(source)
            return self._missing(tx, name)
        guard_binding(tx, static)
        return self._unbound(tx, static, source, name)

    def _missing(self, tx: Translator, name: str) -> VariableTracker:
        """What the metaclass's `__getattr__` gives, if it has one."""
        guard_member(tx, type(self.value), "__getattr__")
        fallback = lookup(type(self.value), "__getattr__")
        if fallback is ABSENT:
            raise AttributeMissing("GB0007", f"{self.describe()} has no attribute {name!r}")
        return self._by_metaclass(tx, "__getattr__", [tx.constant(name)])

    def _unbound(
        self, tx: Translator, static: Any, source: Source, name: str
    ) -> VariableTracker:
        if isinstance(static, _FUNCTIONS):
            return tx.output.wrap(static, source)
        if isinstance(static, (staticmethod, classmethod)):
            return bind_class_attribute(tx, static, source, self, name)
        if isinstance(static, property):
            return tx.output.wrap(static, source)
        if isinstance(static, (types.MemberDescriptorType, types.GetSetDescriptorType)):
            unsupported("GB0010", f"descriptor {name!r} of {self.describe()}")
        if isinstance(static, (types.WrapperDescriptorType, types.MethodDescriptorType)):
            return tx.output.wrap(static, source)
        if isinstance(lookup(type(static), "__get__"), types.FunctionType):
            owner = tx.output.wrap(static, source)
            return owner.getattr(tx, "__get__").call(tx, [tx.constant(None), self], {})
        if lookup(type(static), "__get__") is not ABSENT and not isinstance(static, type):
            unsupported("GB0010", f"descriptor {name!r} of {self.describe()}")
        return tx.output.wrap(static, source)

    def _read_plainly(self, tx: Translator, name: str) -> None:
        """The metaclass has, and keeps, `type`'s way of reading attributes."""
        read = lookup(type(self.value), "__getattribute__")
        if read is not type.__getattribute__:
            unsupported("GB0010", f"attribute {name!r} of {self.describe()}: __getattribute__ of "
                        "its metaclass")
        guard_member(tx, type(self.value), "__getattribute__")
        guard_metaclass(tx, self.value)

    def _guard_metaclass(self, tx: Translator, name: str, meta: Any) -> None:
        """The metaclass must not gain a data descriptor, which comes before the class."""
        kind = type(self.value)
        if kind in LIBRARY_METACLASSES:
            return
        source = MroSource(ClassSource.of(kind), name)
        if meta is ABSENT:
            tx.guards.missing(source)
        else:
            tx.guards.id_match(source, meta)
            guard_binding(tx, meta)

    def _member(self, tx: Translator, name: str) -> VariableTracker | None:
        """A member of an enumeration, as its class attribute gives it."""
        if type(self.value) is not enum.EnumType or name not in self.value.__members__:
            return None
        static = lookup(self.value, name)
        if static is not ABSENT and type(static) not in (enum.property, self.value):
            return None
        guard_member(tx, self.value, name)
        guard_entry(tx, self.value, "_member_map_", name)
        return member_variable(tx.guards, getattr(self.value, name))

    def length(self, tx: Translator) -> VariableTracker:
        if is_enumeration(self.value):
            return tx.constant(len(members_of(tx, self.value)))
        return self._by_metaclass(tx, "__len__", [])

    def length_hint(self, tx: Translator) -> VariableTracker | None:
        return length_asked(tx, functools.partial(self._of_metaclass, tx))

    def unpack_iterator(self, tx: Translator) -> list[VariableTracker]:
        return self.iterate(tx).unpack(tx)

    def _of_metaclass(self, tx: Translator, name: str) -> VariableTracker | None:
        """A method of the metaclass's own for the class, bound."""
        method = lookup(type(self.value), name)
        if is_enumeration(self.value) or method is ABSENT:
            return None
        if not isinstance(method, types.FunctionType):
            unsupported("GB0008", f"{name} of {self.describe()}")
        return tx.bound_method(tx.class_function(type(self.value), name), self)

    def iterate(self, tx: Translator) -> VariableTracker:
        if is_enumeration(self.value):
            members = members_of(tx, self.value)
            return tx.iterator_over([member_variable(tx.guards, m) for m in members])
        return self._by_metaclass(tx, "__iter__", [])

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        if is_enumeration(self.value):
            guard_members(tx, self.value)
            known: Any = self.value
            value = item.realize().as_constant()
            return bool(tx.fold(lambda: value in known))
        return tx.truth(self._by_metaclass(tx, "__contains__", [item]))

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        if is_enumeration(self.value):
            guard_members(tx, self.value)
            name = key.realize().as_constant()
            known: Any = self.value
            found = tx.fold(known.__members__.__getitem__, name)
            guard_entry(tx, self.value, "_member_map_", name)
            return member_variable(tx.guards, found)
        meta = lookup(type(self.value), "__getitem__")
        if meta is ABSENT and isinstance(lookup(self.value, "__class_getitem__"), classmethod):
            self._guard_metaclass(tx, "__getitem__", meta)
            return self.getattr(tx, "__class_getitem__").call(tx, [key], {})
        return self._by_metaclass(tx, "__getitem__", [key])

    def _by_metaclass(self, tx: Translator, name: str, args: Args) -> VariableTracker:
        method = lookup(type(self.value), name)
        if not isinstance(method, types.FunctionType):
            unsupported("GB0008", f"{name} of {self.describe()}")
        return tx.class_function(type(self.value), name).call(tx, [self, *args], {})

    def _is_defined_anew(self, name: str) -> bool:
        """Whether the metaclass has a descriptor of its own in place of that of `type`."""
        static = lookup(type(self.value), name)
        bound = lookup(type(static), "__get__") is not ABSENT
        return bound and static is not type.__dict__.get(name)

    def _of_type(self, tx: Translator, name: str) -> VariableTracker:
        """What `type` itself says about every class."""
        held = type.__dict__["__dict__"].__get__(self.value).get(name)
        if name == "__doc__" and isinstance(lookup(type(held), "__get__"), types.FunctionType):
            unsupported("GB0010", f"descriptor {name!r} of {self.describe()}")
        value = getattr(self.value, name)
        if name == "__mro__":
            guard_bases(tx, self.value)
        elif name in ("__bases__", "__base__"):
            guard_direct_bases(tx, self.value)
        elif may_change(self.value):
            return tx.output.wrap(value, AttrSource(class_source(self.value), name))
        return tx.constant(value)

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        guard_member(tx, type(self.value), "__call__")
        guard_member(tx, self.value, "__new__")
        guard_member(tx, self.value, "__init__")
        made = find_member(tx, self.value, args) if not kwargs else None
        if made is not None:
            return made
        if is_enumeration(self.value) and (len(args) == 2 or "names" in kwargs):
            return self._enumeration(tx, args, kwargs)
        meta = lookup(type(self.value), "__call__")
        if isinstance(meta, types.FunctionType) and not is_enumeration(self.value):
            return tx.class_function(type(self.value), "__call__").call(
                tx, [self, *args], kwargs
            )
        if meta is dict:    # a TypedDict
            return tx.output.wrap(dict, ConstSource(dict)).call(tx, args, kwargs)
        if meta not in _PLAIN_CALLS:
            unsupported("GB0004", f"creation of {self.describe()}")
        return self.instantiate(tx, args, kwargs)

    def _enumeration(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        """`Enum(name, names)`."""
        guard_members(tx, self.value)
        if members_of(tx, self.value):
            unsupported("GB0004", f"call of {self.describe()} with several values")
        create: Any = enum.EnumType.__dict__["_create_"]
        return tx.output.wrap(create, ConstSource(create)).call(tx, [self, *args], kwargs)

    def new_instance(self, tx: Translator) -> VariableTracker:
        """`object.__new__(cls)`."""
        if not self._is_plain():
            unsupported("GB0004", f"creation of {self.describe()}")
        assert self.source is not None
        instance = ObjectVariable(self.value, None, None, self.source)
        tx.side_effects.track_new(instance)
        return instance

    def _by_own_new(
        self, tx: Translator, new: staticmethod[..., Any], args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        assert self.source is not None
        source = AttrSource(MroSource(self.source, "__new__"), "__func__")
        made = tx.output.wrap(new.__func__, source).call(tx, [self, *args], kwargs).realize()
        kind = made.python_type()
        if kind is self.value and lookup(kind, "__init__") is object.__init__:
            tx.guards.id_match(MroSource(self.source, "__init__"), object.__init__)
        elif issubclass(kind, type):
            self._init_class(tx, made, args, kwargs)
        elif issubclass(kind, self.value):
            _require_none(made.getattr(tx, "__init__").call(tx, args, kwargs))
        return made

    def instantiate(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        """`type.__call__`."""
        if self.value is Tensor and not kwargs:
            return tx.output.wrap(default_tensor, ConstSource(default_tensor)).call(tx, args, {})
        new = lookup(self.value, "__new__")
        if new is type.__new__:
            return self._new_class(tx, args, kwargs)
        own = isinstance(new, staticmethod) and isinstance(new.__func__, types.FunctionType)
        if own:
            if not may_inline(new.__func__.__code__.co_filename):
                unsupported("GB0004", f"creation of {self.describe()}")
            return self._by_own_new(tx, new, args, kwargs)
        if issubclass(self.value, BaseException):
            error = make_exception(tx, self.value, args, kwargs)
            if error is not None:
                return error
        assert self.source is not None
        made = make_container(tx, self.value, self.source, args, kwargs)
        made = made or make_scalar_object(tx, self.value, self.source, args, kwargs)
        if made is not None:
            return made
        instance = self.new_instance(tx)
        init = lookup(self.value, "__init__")
        if isinstance(init, types.FunctionType):
            function = tx.output.wrap(init, MroSource(self.source, "__init__"))
            _require_none(function.call(tx, [instance, *args], kwargs))
        elif args or kwargs:
            unsupported("GB0007", f"TypeError: {self.value.__name__}() takes no arguments")
        return instance

    def _new_class(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        """A class of a metaclass that leaves the making to `type`."""
        maker = tx.output.wrap(type.__new__, ConstSource(type.__new__))
        made = maker.call(tx, [self, *args], kwargs)
        self._init_class(tx, made, args, kwargs)
        return made

    def _init_class(
        self, tx: Translator, made: VariableTracker, args: Args, kwargs: Kwargs
    ) -> None:
        init = tx.class_function(made.python_type(), "__init__")
        _require_none(init.call(tx, [made, *args], kwargs))

    def _is_plain(self) -> bool:
        """Whether `object.__new__` followed by a Python `__init__` is all that a call does."""
        init = lookup(self.value, "__init__")
        return (
            not flags_of(self.value) & _IS_ABSTRACT
            and (self.value is object or self._is_python_class())
            and _makes_plain_objects(lookup(self.value, "__new__"))
            and lookup(self.value, "__del__") is ABSENT
            and (isinstance(init, types.FunctionType) or init is object.__init__)
            and basicsize_of(self.value) <= _LARGEST_PLAIN
            and all(_may_be_made(base) for base in mro_of(self.value))
        )

    def _is_python_class(self) -> bool:
        """Whether no C code says how instances are made, or that there are none."""
        return flags_of(self.value) & (_HEAP_TYPE | _NOT_CALLABLE) == _HEAP_TYPE

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.load_const(self.value)


def _require_none(result: VariableTracker) -> None:
    result = result.realize()
    if not result.is_constant() or result.as_constant() is not None:
        unsupported("GB0007", "TypeError: __init__() should return None")


_HEAP_TYPE, _NOT_CALLABLE, _IS_ABSTRACT = 1 << 9, 1 << 7, 1 << 20
_OF_CLASS = ("__name__", "__qualname__", "__mro__", "__bases__", "__base__")
_PLAIN_CALLS = (type.__call__, enum.EnumType.__call__)


def _is_value(meta: Any) -> bool:
    return lookup(type(meta), "__get__") is ABSENT


def _makes_plain_objects(new: Any) -> bool:
    own = isinstance(new, staticmethod) and isinstance(new.__func__, types.FunctionType)
    return new is object.__new__ or own


def _may_be_made(base: type) -> bool:
    """Whether the class is not one of this package, whose instances mean something to it."""
    name = class_module(base)
    return not is_of_package(name) or name.startswith(_OF_PACKAGE)


_OF_PACKAGE = (
    *("graphwright.capture.vm.polyfills", "graphwright.distributions."),
    *("graphwright.amp.grad_scaler", "graphwright.runtime.tape.node"),
    *("graphwright.func", "graphwright.nn.", "graphwright.onnx.", "graphwright.optim."),
    *("graphwright.profiler", "graphwright.utils._pytree"),
    "graphwright._dynamo._trace_wrapped_higher_order_op",
)


class _Slotted:
    __slots__ = tuple(f"a{i}" for i in range(64))


_LARGEST_PLAIN = _Slotted.__basicsize__


class OpaqueVariable(VariableTracker):
    """A value that may be passed around, and nothing else; nothing about it is guarded.

    So nobody may look at it: only what messages call its kind is kept.
    """

    mutable = True

    def __init__(self, value: Any, source: Source) -> None:
        self.kind_text = type(value).__name__
        self.source = source

    def has_type(self, cls: type) -> bool:
        return False

    def is_none(self) -> bool:
        unsupported("GB0008", f"whether {self.source}, a {self.kind_text}, is None")

    def python_type(self) -> type:
        unsupported("GB0008", f"the type of {self.source}, a {self.kind_text}")

    def describe(self) -> str:
        return f"{self.kind_text} {self.source}"

    def has_tensor(self) -> bool:
        return False


class ReferenceVariable(VariableTracker):
    """An object guarded by identity, such as a type alias or a weak reference's class."""

    def __init__(self, value: Any, source: Source) -> None:
        self.value = value
        self.source = source

    def python_type(self) -> type:
        return type(self.value)

    def describe(self) -> str:
        return f"{type(self.value).__name__} {self.source}"

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        unsupported("GB0008", f"attribute {name!r} of {self.describe()}")


Handler = Callable[["Translator", Args, Kwargs], VariableTracker]
_DTYPES = (bool, int, float, complex)
"""Python's types that operations take for dtypes."""


_TOLD_BY = ("__repr__", "__str__", "__getattr__", "__getattribute__")
"""What the program may define, and describing a value would call."""


class BuiltinVariable(VariableTracker):
    """A builtin function or type with a handler, or a C function that nobody knows."""

    def __init__(self, value: Any, handler: Handler | None, source: Source | None = None) -> None:
        self.value = value
        self.handler = handler
        self.source = source if source is not None else ConstSource(value)

    def python_type(self) -> type:
        return type(self.value)

    def describe(self) -> str:
        kind = type(self.value)
        if any(isinstance(lookup(kind, name), types.FunctionType) for name in _TOLD_BY):
            return f"{kind.__name__} object"
        return f"{getattr(self.value, '__qualname__', self.value)}"

    def as_constant(self) -> Any:
        return self.value

    def _in_graph(self) -> Any:
        return self.value if self.value in _DTYPES else super()._in_graph()

    def truth(self, tx: Translator) -> bool:
        return True

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if isinstance(self.value, type):
            found = getattr(self.value, name, ABSENT)
            if found is ABSENT:
                raise AttributeMissing("GB0007", f"{self.describe()} has no attribute {name!r}")
            return tx.output.wrap(found, ConstSource(found, f"{self.describe()}.{name}"))
        if name in ("__name__", "__qualname__", "__module__"):
            found = getattr(self.value, name, ABSENT)
            if found is not ABSENT:
                return tx.constant(found)
        return super().getattr(tx, name)

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        """`list[int]`."""
        if not isinstance(self.value, type):
            return super().getitem(tx, key)
        kind: Any = self.value
        return tx.constant(tx.fold(lambda: kind[key.realize().as_constant()]))

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if self.handler is None:
            unsupported("GB0004", f"call of {self.describe()}")
        check_call(self.value, len(args), tuple(kwargs))
        return self.handler(tx, args, kwargs)

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.load_const(self.value)


_FUNCTIONS = (types.FunctionType, OpFunction)
_OF_FUNCTIONS = frozenset(
    ["__name__", "__qualname__", "__doc__", "__module__", "__annotations__", "__dict__"]
)


class OperationVariable(VariableTracker):
    """A function of this package that works on tensors: its calls go into the graph."""

    def __init__(self, value: Any, source: Source | None) -> None:
        self.value = value
        self.source: Source = source if source is not None else ConstSource(value)

    def python_type(self) -> type:
        return type(self.value)

    def describe(self) -> str:
        return f"{getattr(self.value, '__name__', self.value)}"

    def truth(self, tx: Translator) -> bool:
        return True

    def as_key(self, tx: Translator) -> Any:
        return self.value

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name in _OF_FUNCTIONS and isinstance(self.value, _FUNCTIONS):
            return tx.output.wrap(getattr(self.value, name), AttrSource(self.source, name))
        if name == "default" and isinstance(self.value, CustomOp):
            return self
        if isinstance(self.value, AtenOp) and isinstance(
            found := getattr(self.value, name, None), _FUNCTIONS
        ):
            return tx.output.wrap(found, ConstSource(found))
        return super().getattr(tx, name)

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        parts = run_parts(tx, self.value, args, kwargs)
        return parts or tx.output.run(tx, "call_function", self.value, args, kwargs)

