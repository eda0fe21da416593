"""Mappings that can only be read: `types.MappingProxyType`, and what a class says it holds."""

from __future__ import annotations

import collections
import gc
import types
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import ConstSource, MroSource, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.mappings import DictVariable
from graphwright.capture.trackers.containers.sequences import SequenceMethod, exactly
from graphwright.capture.trackers.values.exceptions import raise_in_frame
from graphwright.capture.trackers.values.namespaces import ABSENT, instance_dict, lookup

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.trackers.classes.classes import ClassVariable
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_READERS = ("get", "keys", "values", "items", "copy", "__getitem__", "__contains__", "__len__",
            "__iter__")  # fmt: skip


class ProxyVariable(VariableTracker):
    """A view of a dict that cannot be written through."""

    def __init__(self, shown: DictVariable, source: Source | None = None) -> None:
        self.shown = shown
        self.source = source

    def has_identity(self) -> bool:
        return True

    def python_type(self) -> type:
        return types.MappingProxyType

    def parts(self) -> Iterable[VariableTracker]:
        return [self.shown]

    def snapshot(self, tx: Translator) -> VariableTracker:
        """The dict of which others take copies."""
        return self.shown

    def length(self, tx: Translator) -> VariableTracker:
        return self.shown.length(tx)

    def truth(self, tx: Translator) -> bool:
        return self.shown.truth(tx)

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        return self.shown.contains(tx, item)

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        return self.shown.getitem(tx, key)

    def iterate(self, tx: Translator) -> VariableTracker:
        return self.shown.iterate(tx)

    @staticmethod
    def methods() -> dict[str, Any]:
        """The methods that are interpreted, by name."""
        return dict.fromkeys(_READERS)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        return SequenceMethod(self, name) if name in _READERS else super().getattr(tx, name)

    def call_method(
        self, tx: Translator, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        if name not in _READERS:
            return super().call_method(tx, name, args, kwargs)
        return self.shown.call_method(tx, name, args, kwargs)

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(types.MappingProxyType)
        cg.push(self.shown)
        cg.builder.end_call(1)


def wrap_proxy(
    output: OutputGraph, value: types.MappingProxyType[Any, Any], source: Source
) -> VariableTracker | None:
    """An existing proxy, by what it is: it shows one dict for ever. None if that is no dict."""
    (mapping,) = gc.get_referents(value)
    if type(mapping) not in (dict, collections.OrderedDict):
        return None
    if not isinstance(source, ConstSource):
        output.guards.id_match(source, value)
    shown = output.wrap(mapping, ConstSource(mapping, source.name()))
    return ProxyVariable(shown, source) if isinstance(shown, DictVariable) else None


def make_proxy(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`types.MappingProxyType(mapping)`."""
    (shown,) = [arg.realize() for arg in exactly(1, args)]
    if not isinstance(shown, DictVariable) or kwargs:
        unsupported("GB0004", f"MappingProxyType({shown.describe()})")
    return ProxyVariable(shown)


class ClassDictVariable(VariableTracker):
    """`cls.__dict__`: the class's own attributes, unbound, each guarded when it is read."""

    def __init__(self, owner: ClassVariable) -> None:
        self.owner = owner

    def python_type(self) -> type:
        return types.MappingProxyType

    def describe(self) -> str:
        return f"__dict__ of {self.owner.describe()}"

    def parts(self) -> Iterable[VariableTracker]:
        return [self.owner]

    def _find(self, tx: Translator, key: VariableTracker) -> VariableTracker | None:
        name = key.realize().as_constant()
        if not isinstance(name, str) or tx.written_in_class(self.owner.value, name) is not None:
            unsupported("GB0008", f"{name!r} in {self.describe()}")
        assert self.owner.source is not None
        source, found = MroSource(self.owner.source, name), lookup(self.owner.value, name)
        if found is ABSENT:
            tx.guards.missing(source)
            return None
        tx.guards.id_match(source, found)
        return tx.output.wrap(found, source) if name in instance_dict(self.owner.value) else None

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        return self._find(tx, item) is not None

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        found = self._find(tx, key)
        if found is None:
            raise_in_frame(KeyError, [key])
        return found

    @staticmethod
    def methods() -> dict[str, Any]:
        """The methods that are interpreted, by name."""
        return {"get": None}

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        return SequenceMethod(self, name) if name == "get" else super().getattr(tx, name)

    def call_method(
        self, tx: Translator, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        if name != "get" or kwargs:
            return super().call_method(tx, name, args, kwargs)
        found = self._find(tx, args[0])
        if found is not None:
            return found
        return args[1] if len(args) > 1 else tx.constant(None)
