"""Instances of user classes: attributes are found through the MRO without running user code."""

from __future__ import annotations

import collections
import functools
import sys
import types
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from graphwright.capture import _eval_frame
from graphwright.capture.exc import AttributeMissing, unsupported
from graphwright.capture.guards.source import (
    AttrSource,
    ClassSource,
    InstanceAttrSource,
    InstanceDictSource,
    MroSource,
    Source,
)
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.callables.cmp_to_key import KEY_TYPE
from graphwright.capture.trackers.callables.functions import BoundMethodVariable
from graphwright.capture.trackers.classes.class_guards import (
    guard_binding,
    guard_member,
    refuse_wrapped_descriptor,
)
from graphwright.capture.trackers.containers.getitem_iterator import backwards, forwards
from graphwright.capture.trackers.containers.length_hints import length_asked
from graphwright.capture.trackers.values.exceptions import (
    ExceptionMethod,
    ExceptionVariable,
    Raised,
    item_of,
)
from graphwright.capture.trackers.values.namespaces import (
    ABSENT,
    dictoffset_of,
    instance_dict,
    is_data_descriptor,
    lookup,
    namespace_of,
)
from graphwright.capture.vm.polyfills import CompareKey, native_key
from graphwright.runtime._core import OpFunction, OpMethod

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_GENERIC: tuple[Any, ...] = (
    *(object, types.ModuleType, types.SimpleNamespace, dict, list, tuple, set, frozenset),
    *(collections.deque, collections.OrderedDict, collections.defaultdict),
    *(int, float, complex, str, bytes),
)
_PLAIN_READS = tuple([kind.__getattribute__ for kind in _GENERIC])
_PLAIN_WRITES = tuple([kind.__setattr__ for kind in _GENERIC])
_PLAIN_DELETES = tuple([kind.__delattr__ for kind in _GENERIC])


class ObjectVariable(VariableTracker):
    """An instance of a Python class; `value` is None for one that the frame itself made."""

    mutable = True

    def __init__(
        self,
        cls: type,
        value: object | None,
        source: Source | None,
        cls_source: Source | None = None,
    ) -> None:
        self.cls = cls
        self.value = value
        self.source = source
        self.cls_source = cls_source

    def python_type(self) -> type:
        return KEY_TYPE if self.cls is CompareKey else self.cls

    # reading

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        """Where reading raises AttributeError, `__getattr__` is asked."""
        try:
            found = self._read(tx, name)
        except AttributeMissing:
            if not self._has_fallback(tx):
                raise
            return self._fall_back(tx, name)
        except Raised as raised:
            if not issubclass(raised.value.cls, AttributeError) or not self._has_fallback(tx):
                raise
            return self._fall_back(tx, name)
        return found if found is not None else self._missing(tx, name)

    def _read(self, tx: Translator, name: str) -> VariableTracker | None:
        """What the class's `__getattribute__` gives; None where `object`'s finds nothing."""
        read = lookup(self.cls, "__getattribute__")
        if not isinstance(read, types.FunctionType):
            return self._found(tx, name)
        function = tx.output.wrap(read, self._class_source("__getattribute__"))
        return function.call(tx, [self, tx.constant(name)], {})

    def find(self, tx: Translator, name: str) -> VariableTracker:
        """`object.__getattribute__`, which asks no `__getattr__`."""
        found = self._found(tx, name)
        if found is None:
            self._guard_missing(tx, name)
            raise AttributeMissing.of(self.cls, name)
        return found

    def _found(self, tx: Translator, name: str) -> VariableTracker | None:
        guard_member(tx, self.cls, "__getattribute__")
        pending = tx.side_effects.attribute(self, name)
        if pending is not None:
            return pending.realize()
        if not isinstance(lookup(self.cls, "__getattribute__"), types.FunctionType):
            self._require_plain_attributes(tx)
        static = self._class_member(tx, name)
        if is_data_descriptor(static):
            return self._descriptor(tx, name, static)
        own = self._own_attribute(tx, name)
        if own is not None:
            return own
        written = tx.written_in_class(self.cls, name)
        if written is not None:
            self._guard_absent(tx, name)
            return written
        return self._class_attribute(tx, name, static) if static is not ABSENT else None

    def class_member(self, tx: Translator, name: str) -> Any:
        """What the class says of writes to an attribute, which stays so."""
        static = self._class_member(tx, name)
        if static is ABSENT or lookup(type(static), "__get__") is not ABSENT:
            guard_member(tx, self.cls, name)
        else:
            tx.guards.type_match(self._class_source(name), type(static))
        return static

    def _class_member(self, tx: Translator, name: str) -> Any:
        """The class's attribute; from then on it stays a descriptor or none."""
        static = lookup(self.cls, name)
        if static is not ABSENT:
            guard_binding(tx, static)
        return static

    def _require_plain_attributes(self, tx: Translator) -> None:
        read = lookup(self.cls, "__getattribute__")
        if read not in _PLAIN_READS:
            unsupported("GB0010", f"{self.cls.__name__} defines __getattribute__")
        tx.guards.id_match(self._class_source("__getattribute__"), read)

    def _own_attribute(self, tx: Translator, name: str) -> VariableTracker | None:
        if self.value is None or tx.side_effects.is_deleted(self, name):
            return None
        values = instance_dict(self.value)
        if not all(type(key) is str for key in values):
            unsupported("GB0010", f"the __dict__ of {self.describe()}: not all keys are strings")
        if name not in values:
            return None
        assert self.source is not None
        if isinstance(lookup(self.cls, "__getattribute__"), types.FunctionType):
            guard_member(tx, self.cls, name)
            return tx.output.wrap_place(values[name], InstanceAttrSource(self.source, name))
        return tx.output.wrap_place(values[name], AttrSource(self.source, name))

    def _descriptor(self, tx: Translator, name: str, static: Any) -> VariableTracker | None:
        if acts_as_property(static, "__get__"):
            getter = static.fget
            if not isinstance(getter, types.FunctionType):
                unsupported("GB0010", f"property {name!r} of {self.cls.__name__}")
            source = AttrSource(self._class_source(name), "fget")
            return tx.output.wrap(getter, source).call(tx, [self], {})
        if name == "__dict__":
            return tx.instance_dict_of(self)
        if isinstance(static, types.MemberDescriptorType):
            guard_member(tx, self.cls, name)
            return self._slot(tx, name, static)
        if name == "__class__":
            return self._class(tx)
        return self._own_descriptor(tx, static, name, "__get__", [self, self._class(tx)])

    def _own_descriptor(
        self, tx: Translator, static: Any, name: str, method: str, args: Args
    ) -> VariableTracker:
        """A call of a descriptor's method that is written in Python."""
        if not isinstance(lookup(type(static), method), types.FunctionType):
            unsupported("GB0010", f"descriptor {name!r} of {self.cls.__name__}")
        owner = tx.output.wrap(static, self._class_source(name))
        return owner.getattr(tx, method).call(tx, args, {})

    def _slot(
        self, tx: Translator, name: str, static: types.MemberDescriptorType
    ) -> VariableTracker | None:
        if not issubclass(self.cls, static.__objclass__):
            unsupported("GB0010", f"slot {name!r} of a class other than {self.cls.__name__}")
        if self.value is None or self.source is None or tx.side_effects.is_deleted(self, name):
            return None
        try:
            value = static.__get__(self.value, self.cls)
        except AttributeError:
            tx.guards.missing(AttrSource(self.source, name))
            return None
        return tx.output.wrap_place(value, AttrSource(self.source, name))

    def _class_source(self, name: str) -> Source:
        """The class is guarded by identity, so all instances share the guards on it."""
        return MroSource(ClassSource.of(self.cls), name)

    def _guard_absent(self, tx: Translator, name: str) -> None:
        """The instance's own dict must not gain the attribute."""
        if self.source is not None and self.value is not None:
            tx.guards.missing(InstanceAttrSource(self.source, name))

    def _class_attribute(self, tx: Translator, name: str, static: Any) -> VariableTracker:
        self._guard_absent(tx, name)
        if isinstance(static, functools.cached_property):
            return self._cached(tx, static, name)
        if isinstance(lookup(type(static), "__get__"), types.FunctionType):
            return self._own_descriptor(tx, static, name, "__get__", [self, self._class(tx)])
        return bind_class_attribute(tx, static, self._class_source(name), self, name)

    def _cached(
        self, tx: Translator, static: functools.cached_property[Any], name: str
    ) -> VariableTracker:
        if type(static.attrname) is not str:
            unsupported("GB0010", f"cached property {name!r}, which has no name of its own")
        if not dictoffset_of(self.cls):
            unsupported("GB0007", f"TypeError: {self.describe()} has no __dict__ for {name!r}")
        source = self._class_source(name)
        tx.guards.equals(AttrSource(source, "attrname"), static.attrname)
        value = tx.output.wrap(static.func, AttrSource(source, "func")).call(tx, [self], {})
        tx.side_effects.store_attribute(self, static.attrname, value)
        return value

    def attribute_names(self, tx: Translator) -> list[str]:
        """The names in the instance's `__dict__`, in order."""
        names = dict.fromkeys(instance_dict(self.value) if self.value is not None else ())
        if self.value is not None and self.source is not None and dictoffset_of(self.cls):
            source, read = self.source, lookup(self.cls, "__getattribute__")
            plain = read is object.__getattribute__
            table = AttrSource(source, "__dict__") if plain else InstanceDictSource(source)
            tx.guards.dict_keys(table, names)
        for name, value in tx.side_effects.attributes.get(self, {}).items():
            if isinstance(lookup(self.cls, name), types.MemberDescriptorType):
                continue
            if value is None:
                names.pop(name, None)
            else:
                names[name] = None
        return list(names)

    def _class(self, tx: Translator) -> VariableTracker:
        from_source = self.cls_source
        if from_source is not None:
            return tx.output.wrap(self.cls, from_source)
        return tx.constant_class(self.cls)

    def _missing(self, tx: Translator, name: str) -> VariableTracker:
        self._guard_missing(tx, name)
        if not self._has_fallback(tx):
            raise AttributeMissing.of(self.cls, name)
        return self._fall_back(tx, name)

    def _guard_missing(self, tx: Translator, name: str) -> None:
        """`object.__getattribute__` finds nothing."""
        self._guard_absent(tx, name)
        if lookup(self.cls, name) is ABSENT:
            tx.guards.missing(self._class_source(name))

    def _has_fallback(self, tx: Translator) -> bool:
        """Whether the class has a `__getattr__`."""
        if lookup(self.cls, "__getattr__") is not ABSENT:
            return True
        tx.guards.missing(self._class_source("__getattr__"))
        return False

    def _fall_back(self, tx: Translator, name: str) -> VariableTracker:
        fallback = lookup(self.cls, "__getattr__")
        if isinstance(fallback, types.FunctionType):
            function = tx.output.wrap(fallback, self._class_source("__getattr__"))
            return function.call(tx, [self, tx.constant(name)], {})
        return self._call_builtin(tx, "__getattr__", fallback, tx.constant(name))

    def _call_builtin(
        self, tx: Translator, name: str, static: Any, *args: VariableTracker
    ) -> VariableTracker:
        """A special method that is one of the builtin base's, as in `__getattr__ = dict.get`."""
        method = self.builtin_attribute(tx, static, getattr(static, "__name__", name))
        if method is None:
            unsupported("GB0010", f"{self.cls.__name__}.{name}")
        tx.guards.id_match(self._class_source(name), static)
        return method.call(tx, list(args), {})

    # writing

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        custom = lookup(self.cls, "__setattr__")
        if custom not in _PLAIN_WRITES:
            if not isinstance(custom, types.FunctionType):
                self._call_builtin(tx, "__setattr__", custom, tx.constant(name), value)
                return
            function = tx.output.wrap(custom, self._class_source("__setattr__"))
            function.call(tx, [self, tx.constant(name), value], {})
            return
        tx.guards.id_match(self._class_source("__setattr__"), custom)
        self.store(tx, name, value)

    def store(self, tx: Translator, name: str, value: VariableTracker) -> None:
        """`object.__setattr__`."""
        static = self.class_member(tx, name)
        if acts_as_property(static, "__set__") and isinstance(static.fset, types.FunctionType):
            source = AttrSource(self._class_source(name), "fset")
            tx.output.wrap(static.fset, source).call(tx, [self, value], {})
            return
        if isinstance(lookup(type(static), "__set__"), types.FunctionType):
            self._own_descriptor(tx, static, name, "__set__", [self, value])
            return
        if is_data_descriptor(static) and not is_slot(static):
            unsupported("GB0010", f"assignment to descriptor {name!r} of {self.cls.__name__}")
        if not dictoffset_of(self.cls) and not is_slot(static):
            unsupported("GB0007", f"AttributeError: {self.describe()} has no attribute {name!r}")
        tx.side_effects.store_attribute(self, name, value)

    def delattr(self, tx: Translator, name: str) -> None:
        custom = lookup(self.cls, "__delattr__")
        if isinstance(custom, types.FunctionType):
            function = tx.output.wrap(custom, self._class_source("__delattr__"))
            function.call(tx, [self, tx.constant(name)], {})
            return
        if custom not in _PLAIN_DELETES:
            self._call_builtin(tx, "__delattr__", custom, tx.constant(name))
            return
        tx.guards.id_match(self._class_source("__delattr__"), custom)
        self.remove(tx, name)

    def remove(self, tx: Translator, name: str) -> None:
        """`object.__delattr__`."""
        static = self.class_member(tx, name)
        if acts_as_property(static, "__delete__") and isinstance(static.fdel, types.FunctionType):
            source = AttrSource(self._class_source(name), "fdel")
            tx.output.wrap(static.fdel, source).call(tx, [self], {})
            return
        if isinstance(lookup(type(static), "__delete__"), types.FunctionType):
            self._own_descriptor(tx, static, name, "__delete__", [self])
            return
        if is_data_descriptor(static) and not is_slot(static):
            unsupported("GB0010", f"deletion of {name!r} of {self.cls.__name__}")
        if not self.has_own(tx, name):
            raise AttributeMissing(
                "GB0007", f"{self.cls.__name__!r} object has no attribute {name!r}"
            )
        tx.side_effects.store_attribute(self, name, None)

    def has_own(self, tx: Translator, name: str) -> bool:
        """Whether the instance has the attribute, in its `__dict__` or a slot."""
        if tx.side_effects.attribute(self, name) is not None:
            return True
        if self.value is None or self.source is None or tx.side_effects.is_deleted(self, name):
            return False
        static = lookup(self.cls, name)
        if isinstance(static, types.MemberDescriptorType):
            return self._slot(tx, name, static) is not None
        if name not in instance_dict(self.value):
            self._guard_absent(tx, name)
            return False
        tx.guards.present(InstanceAttrSource(self.source, name))
        return True

    # protocols, through the class's own methods

    def special(self, tx: Translator, name: str) -> VariableTracker | None:
        """The bound special method, if the class defines it in Python."""
        static = lookup(self.cls, name)
        if static is ABSENT:
            tx.guards.missing(self._class_source(name))
            return None
        if static is vars(object).get(name, ABSENT):
            tx.guards.id_match(self._class_source(name), static)
            return None
        if isinstance(static, staticmethod):
            source = AttrSource(self._class_source(name), "__func__")
            return tx.output.wrap(static.__func__, source)
        if not isinstance(static, (types.FunctionType, _eval_frame.CompiledFunction)):
            unsupported("GB0008", f"{self.cls.__name__}.{name}")
        return BoundMethodVariable(tx.output.wrap(static, self._class_source(name)), self)

    def call_special(self, tx: Translator, name: str, *args: VariableTracker) -> VariableTracker:
        """Call the special method of the class; a break where Python refuses its result."""
        method = self.special(tx, name)
        if method is None:
            unsupported("GB0007", f"TypeError: {self.cls.__name__!r} has no {name}")
        result = method.call(tx, list(args), {})
        if name in _RESULTS:
            _check_result(name, result.realize())
        return result

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        method = self.special(tx, "__call__")
        if method is None:
            unsupported("GB0007", f"TypeError: {self.cls.__name__!r} object is not callable")
        return method.call(tx, args, kwargs)

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        return self.call_special(tx, "__getitem__", key)

    def setitem(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        self.call_special(tx, "__setitem__", key, value)

    def delitem(self, tx: Translator, key: VariableTracker) -> None:
        self.call_special(tx, "__delitem__", key)

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        if lookup(self.cls, "__contains__") is ABSENT:
            guard_member(tx, self.cls, "__contains__")
            return any(tx.same_or_equal(own, item) for own in self.draw(tx))
        return tx.truth(self.call_special(tx, "__contains__", item))

    def length(self, tx: Translator) -> VariableTracker:
        return self.call_special(tx, "__len__")

    def length_hint(self, tx: Translator) -> VariableTracker | None:
        return length_asked(tx, functools.partial(self.special, tx))

    def unpack_iterator(self, tx: Translator) -> list[VariableTracker]:
        return self.iterate(tx).unpack(tx)

    def iterate(self, tx: Translator) -> VariableTracker:
        by_index = lookup(self.cls, "__getitem__") is not ABSENT
        if by_index and lookup(self.cls, "__iter__") is ABSENT:
            tx.guards.missing(self._class_source("__iter__"))
            return forwards(tx, self)
        made = self.call_special(tx, "__iter__").realize()
        if lookup(made.python_type(), "__next__") is ABSENT:
            unsupported("GB0007", f"TypeError: iter() returned {made.describe()}, no iterator")
        return made

    def next(self, tx: Translator) -> VariableTracker | None:
        method = self.special(tx, "__next__")
        if method is None:
            return self.call_special(tx, "__next__")
        return item_of(tx, self, method, [])

    def reversed(self, tx: Translator) -> VariableTracker:
        """`reversed(value)`."""
        method = self.special(tx, "__reversed__")
        if method is not None:
            return method.call(tx, [], {})
        if lookup(self.cls, "__getitem__") is ABSENT or lookup(self.cls, "__len__") is ABSENT:
            unsupported("GB0007", f"TypeError: {self.cls.__name__!r} object is not reversible")
        return backwards(tx, self)

    def truth(self, tx: Translator) -> bool:
        for name in ("__bool__", "__len__"):
            if self.special(tx, name) is not None:
                return tx.truth(self.call_special(tx, name))
        return True

    def hashes_by_identity(self, tx: Translator) -> bool:
        for name in ("__hash__", "__eq__"):
            static = lookup(self.cls, name)
            if static is not getattr(object, name):
                return False
            tx.guards.id_match(self._class_source(name), static)
        return True

    def has_method(self, name: str) -> bool:
        return isinstance(lookup(self.cls, name), types.FunctionType)

    def mapping_method(self, tx: Translator, name: str) -> VariableTracker | None:
        return tx.attribute_or_none(self, name)

    def builtin_attribute(
        self, tx: Translator, static: Any, name: str
    ) -> VariableTracker | None:
        """A method of a builtin base class, bound; None if `static` is not one."""
        return None

    def binary(
        self, tx: Translator, name: str, other: VariableTracker
    ) -> VariableTracker | None:
        """The result of a binary special method; None if the class does not define it."""
        method = self.special(tx, name)
        return method.call(tx, [other], {}) if method is not None else None

    # going back to Python

    def parts(self) -> Iterable[VariableTracker]:
        return ()

    def has_tensor(self) -> bool:
        return False

    def reconstruct(self, cg: Reconstructor) -> None:
        assert self.cls_source is not None
        if self.cls is CompareKey:
            self._reconstruct_key(cg)
            return
        namespace = issubclass(self.cls, types.SimpleNamespace)
        cg.builder.begin_call(types.SimpleNamespace.__new__ if namespace else object.__new__)
        self.cls_source.emit(cg.builder)
        cg.builder.end_call(1)
        if self.is_record():
            cg.fill_now(self)
        else:
            cg.fill_later(self)

    def is_record(self) -> bool:
        """Whether the object is equal to others by its fields, which never change."""
        params = lookup(self.cls, "__dataclass_params__", absent=None)
        return params is not None and bool(params.frozen and params.eq)

    def _reconstruct_key(self, cg: Reconstructor) -> None:
        values = cg.output.side_effects.attributes[self]
        cg.builder.begin_call(native_key)
        for value in (values["compare"], values["obj"]):
            assert value is not None
            cg.push(value)
        cg.builder.end_call(2)


_eval_frame.skip_code(native_key.__code__)
_RESULTS = {
    "__bool__": bool, "__len__": int, "__hash__": int, "__index__": int, "__int__": int,
    "__float__": float, "__str__": str, "__repr__": str, "__format__": str,
}  # fmt: skip


def _check_result(name: str, result: VariableTracker) -> None:
    right = result.python_type() is _RESULTS[name]
    if right and name == "__len__" and result.is_constant():
        right = 0 <= result.as_constant() <= sys.maxsize
    if not right:
        unsupported("GB0007", f"{name} gives {result.describe()}")


def acts_as_property(static: Any, method: str) -> bool:
    """Whether a class attribute is a property whose class does not override `method`."""
    kind = type(static)
    return issubclass(kind, property) and lookup(kind, method) is vars(property)[method]


def is_slot(static: Any) -> bool:
    """Whether a class attribute is one of `__slots__`; C may have members that nobody can set."""
    if not isinstance(static, types.MemberDescriptorType):
        return False
    return "__slots__" in namespace_of(static.__objclass__)


_FUNCTIONS = (
    types.FunctionType, _eval_frame.CompiledFunction, functools._lru_cache_wrapper, OpMethod,
)  # fmt: skip
"""What becomes a bound method when it is read through an instance."""


def bind_class_attribute(
    tx: Translator, static: Any, source: Source, owner: VariableTracker, name: str
) -> VariableTracker:
    """What reading a non-data class attribute through `owner` gives."""
    if isinstance(owner, ObjectVariable):
        builtin = owner.builtin_attribute(tx, static, name)
        if builtin is not None:
            tx.guards.id_match(source, static)
            return builtin
    builtin_init = name == "__init__" and isinstance(static, types.WrapperDescriptorType)
    if builtin_init and isinstance(owner, ExceptionVariable):
        return ExceptionMethod(owner, name)
    if isinstance(static, _FUNCTIONS):
        return BoundMethodVariable(tx.output.wrap(static, source), owner)
    if type(static) is OpFunction:
        return tx.output.wrap(static, source)
    if isinstance(static, staticmethod):
        return tx.output.wrap(static.__func__, AttrSource(source, "__func__"))
    if isinstance(static, classmethod):
        refuse_wrapped_descriptor(static, name)
        function = tx.output.wrap(static.__func__, AttrSource(source, "__func__"))
        return BoundMethodVariable(function, tx.class_of(owner))
    if static is vars(object)["__init_subclass__"]:
        return BoundMethodVariable(tx.output.wrap(static, source), tx.class_of(owner))
    if lookup(type(static), "__get__") is not ABSENT and not isinstance(static, type):
        special = tx.object_method(static, owner)
        if special is not None:
            return special
        unsupported("GB0010", f"descriptor {name!r} ({type(static).__name__})")
    return tx.output.wrap(static, source)
