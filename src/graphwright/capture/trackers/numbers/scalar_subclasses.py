"""Instances of user classes that derive from a number, a text, bytes or frozenset."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from graphwright.capture import _eval_frame
from graphwright.capture.exc import unsupported
from graphwright.capture.guards.opaque_container_sources import PLAIN, PlainSource
from graphwright.capture.guards.source import ConstSource, MroSource, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.class_guards import guard_member
from graphwright.capture.trackers.containers.container_subclasses import (
    ContainerObjectVariable,
    is_modelled,
)
from graphwright.capture.trackers.containers.mappings import DictVariable
from graphwright.capture.trackers.containers.sequences import TupleVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.namespaces import lookup
from graphwright.capture.trackers.values.objects import ObjectVariable

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType)


def scalar_base(cls: type) -> type | None:
    """The builtin type of values that a class derives from."""
    return next((base for base in PLAIN if issubclass(cls, base)), None)


class ScalarObjectVariable(ObjectVariable):
    """`payload` is the value; attributes are those of any object.

    To others it is no constant: they would take it for the value alone.
    """

    def __init__(
        self,
        cls: type,
        payload: ConstantVariable,
        value: object | None,
        source: Source | None,
        cls_source: Source | None = None,
    ) -> None:
        super().__init__(cls, value, source, cls_source)
        base = scalar_base(cls)
        assert base is not None
        self.base: type = base
        self.payload = payload

    def is_builtin(self, static: Any) -> bool:
        """Whether a class attribute is the base type's own."""
        return isinstance(static, _METHODS) and static.__objclass__ is self.base

    def builtin_attribute(
        self, tx: Translator, static: Any, name: str
    ) -> VariableTracker | None:
        return ScalarMethod(self, static, name) if self.is_builtin(static) else None

    def special(self, tx: Translator, name: str) -> VariableTracker | None:
        static = lookup(self.cls, name)
        if self.is_builtin(static):
            tx.guards.id_match(self._class_source(name), static)
            return ScalarMethod(self, static, name)
        return super().special(tx, name)

    def _descriptor(self, tx: Translator, name: str, static: Any) -> VariableTracker | None:
        of_base = isinstance(static, (types.GetSetDescriptorType, types.MemberDescriptorType))
        if of_base and static.__objclass__ is self.base:
            tx.guards.id_match(self._class_source(name), static)
            return tx.constant(getattr(self.payload.value, name))
        return super()._descriptor(tx, name, static)

    def iterate(self, tx: Translator) -> VariableTracker:
        if self.is_builtin(lookup(self.cls, "__iter__")):
            guard_member(tx, self.cls, "__iter__")
            return self.payload.iterate(tx)
        return super().iterate(tx)

    def has_method(self, name: str) -> bool:
        return super().has_method(name) or self.is_builtin(lookup(self.cls, name))

    def as_node(self, tx: Translator) -> Any:
        for name in _OF_NUMBERS:
            static = lookup(self.cls, name)
            if static is not lookup(self.base, name):
                unsupported("GB0008", f"{self.cls.__name__}, which has its own {name}")
            guard_member(tx, self.cls, name)
        return self.payload.as_node(tx)

    def as_example(self) -> Any:
        return self.payload.as_example()

    def reconstruct(self, cg: Reconstructor) -> None:
        assert self.cls_source is not None
        cg.builder.begin_call(self.base.__new__)
        self.cls_source.emit(cg.builder)
        cg.push(self.payload)
        cg.builder.end_call(2)
        cg.fill_later(self)


_OF_NUMBERS = ("__bool__", "__complex__", "__float__", "__index__", "__int__")


class ScalarMethod(VariableTracker):
    """A method of the base type, bound: its result follows from the value alone."""

    def __init__(self, owner: ScalarObjectVariable, static: Any, name: str) -> None:
        self.owner = owner
        self.static = static
        self.name = name

    def python_type(self) -> type:
        slot = isinstance(self.static, types.WrapperDescriptorType)
        return types.MethodWrapperType if slot else types.BuiltinMethodType

    def describe(self) -> str:
        return f"{self.owner.cls.__name__}.{self.name}"

    def parts(self) -> Iterable[VariableTracker]:
        return [self.owner]

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        owner, values = self.owner, [arg.realize() for arg in args]
        if self.name in _OF_OBJECTS or (self.name == "__repr__" and owner.base is frozenset):
            unsupported("GB0004", f"call of {self.describe()}")
        if self.name == "__hash__" and owner.payload.value != owner.payload.value:
            unsupported("GB0008", "hash() of not a number, which is its address")
        if self.name in _ASKING and any(isinstance(v, ScalarObjectVariable) for v in values):
            unsupported("GB0004", f"call of {self.describe()} with other than plain values")
        values = [self._plain(value) for value in values]
        if self._formats_nothing(values):
            return owner
        if self._leaves_to(values):
            return tx.constant(NotImplemented)
        if self.name == "__iter__":
            return owner.payload.iterate(tx)
        if self.name == "__contains__" and len(values) == 1:
            return tx.constant(owner.payload.contains(tx, values[0]))
        return owner.payload.getattr(tx, self.name).call(tx, values, kwargs)

    def _plain(self, value: VariableTracker) -> VariableTracker:
        """What the method sees of an argument: the value alone of one of its own kind."""
        if isinstance(value, ContainerObjectVariable) and issubclass(value.base, set):
            algebra = self.name in _COMPARISONS or self.name in _ARITHMETIC
            return value.payload if algebra and self.owner.base is frozenset else value
        if not isinstance(value, ScalarObjectVariable):
            return value
        own = value.base is self.owner.base and not self._looks_up()
        number = value.base in _NUMBERS and self.owner.base is not frozenset
        return value.payload if own or number else value

    def _formats_nothing(self, values: Args) -> bool:
        """Whether a text has no places for values: then `%` and `format` give the text itself."""
        text = self.owner.payload.value
        if self.owner.base is not str or not text:
            return False
        if self.name == "format":
            return "{" not in text and "}" not in text
        if self.name != "__mod__" or "%" in text or len(values) != 1:
            return False
        given = values[0]
        return isinstance(given, DictVariable) or (
            isinstance(given, TupleVariable) and not given.items) or (
            given.is_constant() and given.as_constant() == ())

    def _looks_up(self) -> bool:
        """Whether the method asks an argument for its hash."""
        return self.owner.base is frozenset and self.name == "__contains__"

    def _leaves_to(self, values: Args) -> bool:
        """Whether an operator is left to another value, of which this one knows nothing."""
        if len(values) != 1:
            return False
        if self.owner.base in _NUMBERS and self.name in (*_ARITHMETIC, *_COMPARISONS):
            return not issubclass(values[0].python_type(), _NUMBERS)
        return self.name in _COMPARISONS and isinstance(values[0], ObjectVariable)

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(self.static.__get__)
        cg.push(self.owner)
        cg.builder.end_call(1)


_OF_OBJECTS = ("__getnewargs__", "__reduce__", "__sizeof__")
_ASKING = ("format", "format_map", "__mod__", "__rmod__", "__format__", "join", "translate")
_NUMBERS = (int, float, complex)
_COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
_ARITHMETIC = frozenset(
    f"__{reflected}{name}__"
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "divmod", "and", "or",
                 "xor")
    for reflected in ("", "r")
)


def make_scalar_object(
    tx: Translator, cls: type, source: Source, args: Args, kwargs: Kwargs
) -> VariableTracker | None:
    """An instance of a class that derives from a value type; None where that is not modelled."""
    base = scalar_base(cls)
    if base in (None, cls) or lookup(cls, "__new__") is not base.__new__:
        return None
    made = new_scalar_object(tx, cls, source, args, kwargs)
    init = lookup(cls, "__init__")
    if made is not None and isinstance(init, types.FunctionType):
        tx.output.wrap(init, MroSource(source, "__init__")).call(tx, [made, *args], kwargs)
    return made


def new_scalar_object(
    tx: Translator, cls: type, source: Source, args: Args, kwargs: Kwargs
) -> VariableTracker | None:
    """`base.__new__(cls, *args, **kwargs)`; None where that is not modelled."""
    base = scalar_base(cls)
    if base is None or not is_modelled(cls):
        return None
    payload = tx.output.wrap(base, ConstSource(base)).call(tx, args, kwargs).realize()
    if not isinstance(payload, ConstantVariable) or payload.python_type() is not base:
        return None
    made = ScalarObjectVariable(cls, payload, None, None, source)
    tx.side_effects.track_new(made)
    return made


def wrap_scalar_object(
    output: OutputGraph, value: Any, source: Source
) -> ScalarObjectVariable | None:
    """The tracker of an existing instance; None for a frozenset of other than constants."""
    base = scalar_base(type(value))
    assert base is not None
    known, place = PLAIN[base](value), PlainSource(source, base)
    if not _eval_frame.is_constant(known):
        return None
    if not isinstance(source, ConstSource):
        output.guards.type_match(source, type(value))
        output.guards.equals(place, known)
    return ScalarObjectVariable(type(value), ConstantVariable(known, place), value, source)
