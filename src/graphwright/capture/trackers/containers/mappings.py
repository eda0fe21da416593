"""Dicts and their views."""

from __future__ import annotations

import collections
import numbers
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import Source
from graphwright.capture.trackers.base import IdVariable, VariableTracker
from graphwright.capture.trackers.callables.builtin_attributes import builtin_member
from graphwright.capture.trackers.classes.dataclass_keys import RecordKey, record_key
from graphwright.capture.trackers.containers.iterators import DictIterator
from graphwright.capture.trackers.containers.sequences import (
    ListVariable,
    SequenceMethod,
    TupleVariable,
    exactly,
)
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.exceptions import raise_in_frame
from graphwright.capture.trackers.values.namespaces import ABSENT, lookup

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


class DictVariable(VariableTracker):
    """A dict, OrderedDict or defaultdict: Python key -> (key tracker, value tracker)."""

    mutable = True
    owner: Any = None

    def __init__(
        self,
        entries: dict[Any, tuple[VariableTracker, VariableTracker]],
        kind: type = dict,
        source: Source | None = None,
        default_factory: VariableTracker | None = None,
    ) -> None:
        self.entries = entries
        self.kind = kind
        self.source = source
        self.default_factory = default_factory
        self.original = dict(entries)
        self.removals = 0
        self.removed: dict[Any, None] = {}

    def python_type(self) -> type:
        return self.kind

    def parts(self) -> Iterable[VariableTracker]:
        return [part for entry in self.entries.values() for part in entry]

    def as_node(self, tx: Translator) -> Any:
        return {key: value.as_node(tx) for key, (_, value) in self.entries.items()}

    def as_example(self) -> Any:
        return {key: value.as_example() for key, (_, value) in self.entries.items()}

    def length(self, tx: Translator) -> VariableTracker:
        return tx.constant(len(self.entries))

    def truth(self, tx: Translator) -> bool:
        return bool(self.entries)

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        return hashed(tx, item, self.entries) in self.entries

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        entry = self.entries.get(hashed(tx, key, self.entries))
        if entry is not None:
            return entry[1].realize()
        if self.owner is not None:
            found = self.owner.missing(tx, key)
            if found is not None:
                return found
        if self.default_factory is None:
            raise_in_frame(KeyError, [key])
        value = self.default_factory.call(tx, [], {})
        self._store(tx, key, value)
        return value

    def _store(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        """Set an item where C does it by the class's own `__setitem__`, if the object has one."""
        by_class = self.owner is not None and self.kind is not dict
        (self.owner if by_class else self).setitem(tx, key, value)

    def setitem(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        raw = hashed(tx, key, self.entries)
        tx.side_effects.mutate(self)
        known = self.entries.get(raw)
        self.entries[raw] = (known[0] if known else key.realize(), value)

    def delitem(self, tx: Translator, key: VariableTracker) -> None:
        raw = hashed(tx, key, self.entries)
        if raw not in self.entries:
            raise_in_frame(KeyError, [key])
        self._remove(tx, raw)

    def _remove(self, tx: Translator, raw: Any) -> tuple[VariableTracker, VariableTracker]:
        """Take an entry out; iterators of the dict notice."""
        tx.side_effects.mutate(self)
        self._note_removal(raw)
        return self.entries.pop(raw)

    def _note_removal(self, *keys: Any) -> None:
        self.removals += 1
        self.removed.update((key, None) for key in keys if key in self.original)

    def iterate(self, tx: Translator) -> VariableTracker:
        return DictIterator(self, "keys", self)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name == "default_factory" and self.kind is collections.defaultdict:
            return self.default_factory or tx.constant(None)
        return builtin_member(tx, self.kind, name, SequenceMethod(self, name))

    def call_method(
        self, tx: Translator, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        method = _DICT_METHODS.get(name)
        if name == "move_to_end" and issubclass(self.kind, collections.OrderedDict):
            method = DictVariable._move_to_end
        elif name == "__missing__" and self.default_factory is not None:
            method = DictVariable._missing
        if method is None:
            return super().call_method(tx, name, args, kwargs)
        if kwargs and name in ("setdefault", "pop"):    # OrderedDict has names for its parameters
            unsupported("GB0004", f"{self.kind.__name__}.{name} with keywords")
        return method(self, tx, args, kwargs)

    @classmethod
    def methods(cls) -> dict[str, Callable[..., VariableTracker]]:
        """The methods that are interpreted, by name."""
        return {**_DICT_METHODS, "move_to_end": cls._move_to_end, "__missing__": cls._missing}

    def _get(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        entry = self.entries.get(hashed(tx, args[0], self.entries))
        if entry is not None:
            return entry[1].realize()
        return args[1] if len(args) > 1 else tx.constant(None)

    def _view(self, kind: str) -> VariableTracker:
        return DictView(self, kind)

    def _pop(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        self._refuse_own_items(tx, "pop")
        raw = hashed(tx, args[0], self.entries)
        if raw not in self.entries:
            if len(args) > 1:
                return args[1]
            raise_in_frame(KeyError, [args[0]])
        return self._remove(tx, raw)[1].realize()

    def _missing(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        assert self.default_factory is not None
        value = self.default_factory.call(tx, [], {})
        self._store(tx, args[0], value)
        return value

    def _setdefault(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if self.owner is not None and self.kind is collections.OrderedDict:
            if self.owner.contains(tx, args[0]):
                found: VariableTracker = self.owner.getitem(tx, args[0])
                return found
            value = args[1] if len(args) > 1 else tx.constant(None)
            self._store(tx, args[0], value)
            return value
        entry = self.entries.get(hashed(tx, args[0], self.entries))
        if entry is not None:
            return entry[1].realize()
        value = args[1] if len(args) > 1 else tx.constant(None)
        self.setitem(tx, args[0], value)
        return value

    def _update(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        put = self._store if self.kind is collections.OrderedDict else self.setitem
        for key, value in pairs_of(tx, args, self.kind is collections.OrderedDict):
            put(tx, key, value)
        for name, value in kwargs.items():
            put(tx, tx.constant(name), value)
        return tx.constant(None)

    def _setitem_method(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        self.setitem(tx, *exactly(2, args))
        return tx.constant(None)

    def _delitem_method(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        self.delitem(tx, *exactly(1, args))
        return tx.constant(None)

    def _popitem(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        last = True
        self._refuse_own_items(tx, "popitem")
        if self.kind is collections.OrderedDict:
            given = [*args, *kwargs.values()]
            last = tx.truth(given[0]) if given else True
        elif args or kwargs:
            raise_in_frame(TypeError)
        if not self.entries:
            prefix = "" if self.kind is collections.OrderedDict else "popitem(): "
            raise_in_frame(KeyError, [tx.constant(f"{prefix}dictionary is empty")])
        raw = next(reversed(self.entries) if last else iter(self.entries))
        return tx.tuple_of(list(self._remove(tx, raw)))

    def _move_to_end(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        raw = hashed(tx, args[0], self.entries)
        last = [*args[1:], *kwargs.values()]
        if raw not in self.entries:
            raise_in_frame(KeyError, [args[0]])
        entry = self._remove(tx, raw)
        if not last or tx.truth(last[0]):
            self.entries[raw] = entry
        else:
            rest = dict(self.entries)
            self.entries.clear()
            self.entries[raw] = entry
            self.entries.update(rest)
        return tx.constant(None)

    def _clear(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        tx.side_effects.mutate(self)
        self._note_removal(*self.entries)
        self.entries.clear()
        return tx.constant(None)

    def _refuse_own_items(self, tx: Translator, name: str) -> None:
        """A break where some versions of OrderedDict call methods that a subclass overrides."""
        if self.owner is None or self.kind is not collections.OrderedDict:
            return
        if not self.owner.plain(tx, "__contains__", "__getitem__", "__delitem__"):
            unsupported("GB0004", f"{name} of {self.owner.describe()}, whose items are its own")

    def _copy(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if self.owner is not None:
            copied: VariableTracker = self.owner.copied(tx)
            return copied
        return self.copied()

    def copied(self) -> DictVariable:
        """A copy of the builtin kind."""
        return DictVariable(dict(self.entries), self.kind, None, self.default_factory)

    def reconstruct(self, cg: Reconstructor) -> None:
        if self.kind is not dict:
            cg.builder.begin_call(self.kind)
        if self.kind is collections.defaultdict:
            cg.push(self.default_factory or ConstantVariable(None))
        for key, value in self.entries.values():
            cg.push(key)
            cg.push(value)
        cg.builder.build("map", len(self.entries))
        if self.kind is not dict:
            cg.builder.end_call(2 if self.kind is collections.defaultdict else 1)


_DICT_METHODS: dict[str, Callable[..., VariableTracker]] = {
    "get": DictVariable._get,
    "keys": lambda self, tx, args, kwargs: self._view("keys"),
    "values": lambda self, tx, args, kwargs: self._view("values"),
    "items": lambda self, tx, args, kwargs: self._view("items"),
    "pop": DictVariable._pop,
    "setdefault": DictVariable._setdefault,
    "popitem": DictVariable._popitem,
    "update": DictVariable._update,
    "clear": DictVariable._clear,
    "copy": DictVariable._copy,
    "__getitem__": lambda self, tx, args, kwargs: self.getitem(tx, args[0]),
    "__contains__": lambda self, tx, args, kwargs: tx.constant(self.contains(tx, args[0])),
    "__len__": lambda self, tx, args, kwargs: self.length(tx),
    "__iter__": lambda self, tx, args, kwargs: self.iterate(tx),
    "__setitem__": DictVariable._setitem_method,
    "__delitem__": DictVariable._delitem_method,
}


def container_of(
    value: tuple[Any, ...] | list[Any] | dict[Any, Any], track: Callable[[Any], VariableTracker]
) -> VariableTracker:
    """The tracker of a tuple, list or dict that each run makes anew; `track` takes the members."""
    if isinstance(value, dict):
        return DictVariable({key: (track(key), track(value[key])) for key in value})
    items = [track(item) for item in value]
    return TupleVariable(items) if isinstance(value, tuple) else ListVariable(items)


class DictView(VariableTracker):
    """`d.keys()`, `d.values()` or `d.items()`."""

    def __init__(self, owner: DictVariable, kind: str) -> None:
        self.owner = owner
        self.kind = kind

    def python_type(self) -> type:
        return type(getattr({}, self.kind)())

    def parts(self) -> list[VariableTracker]:
        return [self.owner]

    def items(self, tx: Translator) -> list[VariableTracker]:
        if self.kind == "keys":
            return [key for key, _ in self.owner.entries.values()]
        if self.kind == "values":
            return [value for _, value in self.owner.entries.values()]
        return [tx.tuple_of(list(entry)) for entry in self.owner.entries.values()]

    def iterate(self, tx: Translator) -> VariableTracker:
        return DictIterator(self.owner, self.kind, self)

    def length(self, tx: Translator) -> VariableTracker:
        return self.owner.length(tx)

    def truth(self, tx: Translator) -> bool:
        return bool(self.owner.entries)

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        if self.kind == "keys":
            return self.owner.contains(tx, item)
        return any(tx.same_or_equal(own, item) for own in self.items(tx))

    def is_set_like(self) -> bool:
        """Whether the view has set operators."""
        return self.kind != "values"

    def raw(self, tx: Translator) -> Any:
        """A Python view of the same keys, or items."""
        for key in self.owner.entries:
            _refuse_record(key)
        if self.kind == "keys":
            return dict.fromkeys(self.owner.entries).keys()
        if self.kind == "items":
            return {k: hashed_member(tx, v) for k, (_, v) in self.owner.entries.items()}.items()
        return [hashed_member(tx, value) for _, value in self.owner.entries.values()]

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        return builtin_member(tx, self.python_type(), name, SequenceMethod(self, name))

    @staticmethod
    def methods() -> dict[str, Any]:
        """The methods that are interpreted, by name."""
        return {"isdisjoint": None, "__iter__": None, "__len__": None, "__contains__": None}

    def call_method(
        self, tx: Translator, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        if name == "isdisjoint":
            (other,) = exactly(1, args)
            return tx.constant(not any(self.contains(tx, v) for v in other.realize().draw(tx)))
        if name == "__iter__":
            return self.iterate(tx)
        if name == "__len__":
            return self.length(tx)
        if name == "__contains__":
            return tx.constant(self.contains(tx, *exactly(1, args)))
        return super().call_method(tx, name, args, kwargs)

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(getattr(self.owner.kind, self.kind))
        cg.push(self.owner)
        cg.builder.end_call(1)


def hashed(tx: Translator, key: VariableTracker, among: Iterable[Any] = ()) -> Any:
    """What finds `key` in a dict: its value, or the tracker where only identity counts.

    among: what finds the keys that it may be equal to.
    """
    raw = _hashed(tx, key)
    distinguish(tx, [raw], among)
    return raw


def distinguish(tx: Translator, *groups: Iterable[Any]) -> None:
    """A break where a result of `id()` and a number are keys of one container: they may be equal.

    groups: results of `hashed`, or pairs of them.
    """
    if not tx.output.ids:
        return
    ids, numeric = [], False
    waiting = [key for keys in groups for key in keys]
    for key in waiting:
        if isinstance(key, tuple):
            waiting += key
        elif isinstance(key, IdVariable):
            ids.append(key)
        else:
            numeric = numeric or issubclass(type(key), numbers.Number)
    if ids and numeric:
        unsupported("GB0004", f"{ids[0].describe()} as a key beside numbers")


def hashed_member(tx: Translator, key: VariableTracker, among: Iterable[Any] = ()) -> Any:
    """As `hashed`, of a set's member; a break for dataclasses: hashes decide the order."""
    raw = hashed(tx, key, among)
    _refuse_record(raw)
    return raw


def _refuse_record(raw: Any) -> None:
    if isinstance(raw, RecordKey):
        unsupported("GB0008", f"a set of {raw.cls.__name__}")


def _hashed(tx: Translator, key: VariableTracker) -> Any:
    key = key.realize()
    if key.hashes_by_identity(tx):
        tx.output.hashed[key] = None
        return key
    record = record_key(tx, key)
    if record is not None:
        return record
    value = key.as_key(tx)
    try:
        hash(value)
    except TypeError as error:
        unsupported("GB0007", f"TypeError: {error}")
    return value


def factory_of(tx: Translator, value: VariableTracker) -> VariableTracker | None:
    """What a defaultdict is given to call, None for None; the frame's TypeError for else."""
    factory = value.realize()
    if factory.is_none():
        return None
    if lookup(factory.python_type(), "__call__") is ABSENT:
        raise_in_frame(TypeError, [tx.constant("first argument must be callable or None")])
    return factory


def pairs_of(
    tx: Translator, args: Args, ordered: bool = False
) -> Iterator[tuple[VariableTracker, VariableTracker]]:
    """The (key, value) pairs that `dict(*args)` takes over, one by one.

    A dict that found the attribute `keys` reads it again to call it; an OrderedDict (`ordered`)
    calls what it found, and looks for `items` where it found none.
    """
    if not args:
        return
    (source,) = exactly(1, args)
    plain = tx.unwrapped(source, ordered)
    if hasattr(plain, "snapshot"):
        plain = plain.snapshot(tx)
    if isinstance(plain, DictVariable):
        yield from list(plain.entries.values())
        return
    source = source.realize()
    keys = source.mapping_method(tx, "keys")
    if keys is not None:
        yield from pairs_of_mapping(tx, source, keys if ordered else None)
        return
    items = source.mapping_method(tx, "items") if ordered else None
    for item in (plain if items is None else items.call(tx, [], {})).draw(tx):
        yield _pair(tx, item.realize())


def pairs_of_mapping(
    tx: Translator, source: VariableTracker, keys: VariableTracker | None = None
) -> Iterator[tuple[VariableTracker, VariableTracker]]:
    """The keys and values of a user's object that is a mapping; `keys`: its method, if it has been
    read."""
    keys = keys or source.mapping_method(tx, "keys")
    if keys is None:
        unsupported("GB0007", f"TypeError: {source.describe()} is not a mapping")
    for key in keys.call(tx, [], {}).unpack_iterator(tx):
        yield key, source.getitem(tx, key)


def _pair(tx: Translator, item: VariableTracker) -> tuple[VariableTracker, VariableTracker]:
    if not is_iterable(item.python_type()):
        unsupported("GB0007", "TypeError: a dictionary update sequence element is no sequence")
    pair = item.unpack_iterator(tx)
    if len(pair) != 2:
        unsupported("GB0007", "ValueError: dictionary update sequence element has no length 2")
    return pair[0], pair[1]


def is_iterable(kind: type) -> bool:
    """Whether Python goes through the items of such values."""
    return any(lookup(kind, name) is not ABSENT for name in ("__iter__", "__getitem__"))
