"""Tuples, lists and slices."""

from __future__ import annotations

import operator
import sys
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.callables.builtin_attributes import builtin_member
from graphwright.capture.trackers.callables.builtin_signatures import check_method
from graphwright.capture.trackers.containers.iterators import ListIterator, SequenceIterator
from graphwright.capture.trackers.values.exceptions import raise_in_frame
from graphwright.runtime.tensor.size import Size

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


class SequenceVariable(VariableTracker):
    """Abstract: a tuple or list of known length."""

    items: list[VariableTracker]
    kind: type = tuple

    def python_type(self) -> type:
        return self.kind

    def parts(self) -> Iterable[VariableTracker]:
        return self.items

    def as_node(self, tx: Translator) -> Any:
        return self._like([item.as_node(tx) for item in self.items])

    def as_example(self) -> Any:
        return self._like([item.as_example() for item in self.items])

    def _like(self, values: list[Any]) -> Any:
        return values if self.kind is list else tuple(values)

    def length(self, tx: Translator) -> VariableTracker:
        return tx.constant(len(self.items))

    def truth(self, tx: Translator) -> bool:
        return bool(self.items)

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        return any(tx.same_or_equal(own, item) for own in self.items)

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        key = key.realize()
        if isinstance(key, SliceVariable):
            return self._slice(tx, self.items[key.as_slice()])
        index = index_of(tx, key)
        if not -len(self.items) <= index < len(self.items):
            name = "range object" if self.kind is range else self._name()
            raise_in_frame(IndexError, [tx.constant(f"{name} index out of range")])
        return self.items[index].realize()

    def _name(self) -> str:
        return "list" if self.kind is list else "tuple"

    def _slice(self, tx: Translator, items: list[VariableTracker]) -> VariableTracker:
        raise NotImplementedError

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        return builtin_member(tx, self.kind, name, SequenceMethod(self, name))

    def call_method(
        self, tx: Translator, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        method = self.methods().get(name)
        if method is None or (kwargs and name != "sort"):
            return super().call_method(tx, name, args, kwargs)
        return method(self, tx, args, kwargs)

    @classmethod
    def methods(cls) -> dict[str, Callable[..., VariableTracker]]:
        """The methods that are interpreted, by name."""
        return COMMON

    def _index(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        most = 1 if self.kind is range else 3
        limits = [limit.as_constant() for limit in args[1:]]
        if not 1 <= len(args) <= most or not all(type(limit) is int for limit in limits):
            unsupported("GB0007", f"TypeError: index() of {self.describe()}")
        value = args[0]
        start, stop = (*limits, None, None)[:2]
        for position in range(len(self.items))[start:stop]:
            if tx.same_or_equal(self.items[position], value):
                return tx.constant(position)
        if not value.realize().is_constant():
            unsupported("GB0007", f"ValueError: {value.describe()} is not in {self.describe()}")
        tx.fold(self.refusing_index(), value.as_constant())
        raise_in_frame(ValueError)

    def refusing_index(self) -> Callable[..., int]:
        """`index` of a sequence like this one without the value: it knows what to say."""
        return self.kind([]).index

    def _count(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return tx.constant(sum(tx.same_or_equal(own, args[0]) for own in self.items))


COMMON: dict[str, Callable[..., VariableTracker]] = {
    "index": SequenceVariable._index,
    "count": SequenceVariable._count,
    "__len__": lambda self, tx, args, kwargs: self.length(tx),
    "__getitem__": lambda self, tx, args, kwargs: self.getitem(tx, args[0]),
    "__iter__": lambda self, tx, args, kwargs: self.iterate(tx),
    "__contains__": lambda self, tx, args, kwargs: tx.constant(self.contains(tx, args[0])),
}


class SequenceMethod(VariableTracker):
    """A bound method of a container."""

    def __init__(self, owner: VariableTracker, name: str) -> None:
        self.owner = owner
        self.method = name

    def python_type(self) -> type:
        return types.BuiltinMethodType

    def describe(self) -> str:
        return f"{self.owner.python_type().__name__}.{self.method}"

    def parts(self) -> list[VariableTracker]:
        return [self.owner]

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if type(self.owner).call_method is VariableTracker.call_method:
            unsupported("GB0004", self.describe())
        table: dict[str, object] = getattr(self.owner, "methods", dict)()
        if self.method not in table:
            unsupported("GB0004", f"call of {self.describe()}")
        check_method(self.owner.python_type(), self.method, len(args), tuple(kwargs))
        return self.owner.call_method(tx, self.method, args, kwargs)

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.push(self.owner)
        cg.builder.load_attr(self.method)


class TupleVariable(SequenceVariable):
    """A tuple; also a tensor's shape."""

    def __init__(self, items: list[VariableTracker], source: Source | None = None) -> None:
        self.items = items
        self.source = source

    def has_identity(self) -> bool:
        return bool(self.items)

    def is_constant(self) -> bool:
        return all(item.is_constant() for item in self.items)

    def as_constant(self) -> Any:
        return tuple([item.as_constant() for item in self.items])

    def iterate(self, tx: Translator) -> VariableTracker:
        return SequenceIterator(self.items, self)

    def unpack(self, tx: Translator) -> list[VariableTracker]:
        return [item.realize() for item in self.items]

    def as_index(self, tx: Translator) -> VariableTracker:
        items = [item.realize() for item in self.items]
        given = [item.as_index(tx) for item in items]
        return self if all(map(operator.is_, given, items)) else TupleVariable(given)

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        key = key.realize()
        if self.kind is tuple and isinstance(key, SliceVariable):
            length = len(self.items)
            if key.as_slice().indices(length) == (0, length, 1):
                return self    # as CPython does, which needs no copy
        return super().getitem(tx, key)

    def _slice(self, tx: Translator, items: list[VariableTracker]) -> VariableTracker:
        return TupleVariable(items)

    def reconstruct(self, cg: Reconstructor) -> None:
        for item in self.items:
            cg.push(item)
        cg.builder.build("tuple", len(self.items))


class SizeVariable(TupleVariable):
    """A `gw.Size`: a tensor's shape, or a part of one.

    tensor: the argument of the graph whose `shape` it is.
    """

    kind = Size

    def __init__(
        self,
        items: list[VariableTracker],
        source: Source | None = None,
        tensor: VariableTracker | None = None,
    ) -> None:
        super().__init__(items, source)
        self.tensor = tensor

    def has_identity(self) -> bool:
        return True

    def as_constant(self) -> Any:
        return Size([item.as_constant() for item in self.items])

    def _slice(self, tx: Translator, items: list[VariableTracker]) -> VariableTracker:
        return SizeVariable(items)

    def call_method(
        self, tx: Translator, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        if name == "numel" and not args and not kwargs:
            total = tx.constant(1)
            for item in self.items:
                total = tx.operate(operator.mul, total, item)
            return total
        return super().call_method(tx, name, args, kwargs)

    @classmethod
    def methods(cls) -> dict[str, Callable[..., VariableTracker]]:
        return {**COMMON, "numel": COMMON["__len__"]}

    def reconstruct(self, cg: Reconstructor) -> None:
        if self.tensor is not None:
            cg.push(self.tensor)
            cg.builder.load_attr("shape")
            return
        cg.builder.begin_call(Size)
        super().reconstruct(cg)
        cg.builder.end_call(1)


class _Sorting(list[VariableTracker]):
    """What a list holds while it is sorted: nothing, and nothing may be put there."""

    def _refuse(self, *args: Any) -> NoReturn:
        unsupported("GB0008", "a list changes while it is sorted")

    append = extend = insert = clear = reverse = __iadd__ = __setitem__ = _refuse


_ASSIGNED = "list assignment index out of range"


class ListVariable(SequenceVariable):
    """A list. `items` is its contents now."""

    mutable = True
    owner: Any = None
    kind = list

    def __init__(self, items: list[VariableTracker], source: Source | None = None) -> None:
        self.items = items
        self.source = source

    def iterate(self, tx: Translator) -> VariableTracker:
        return ListIterator(self)

    def unpack(self, tx: Translator) -> list[VariableTracker]:
        return [item.realize() for item in self.items]

    def _slice(self, tx: Translator, items: list[VariableTracker]) -> VariableTracker:
        return ListVariable(items)

    def setitem(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        key = key.realize()
        if isinstance(key, SliceVariable):
            self._set_slice(tx, key.as_slice(), value)
            return
        position = self._position(tx, key, _ASSIGNED)
        tx.side_effects.mutate(self)
        self.items[position] = value

    def _set_slice(self, tx: Translator, where: slice, value: VariableTracker) -> None:
        """Of the length that the list has before the values are made, as in CPython."""
        length = len(self.items)
        start, stop, step = where.indices(length)
        new = value.unpack_iterator(tx)
        if step != 1 and len(self.items) != length:
            unsupported("GB0008", "a list changes while some of its items are replaced")
        tx.side_effects.mutate(self)
        try:
            self.items[slice(start, stop) if step == 1 else where] = new
        except ValueError as error:
            unsupported("GB0007", f"ValueError: {error}")

    def _position(self, tx: Translator, key: VariableTracker, error: str) -> int:
        index = index_of(tx, key)
        if not -len(self.items) <= index < len(self.items):
            raise_in_frame(IndexError, [tx.constant(error)])
        return index

    def delitem(self, tx: Translator, key: VariableTracker) -> None:
        key = key.realize()
        sliced = isinstance(key, SliceVariable)
        where = key.as_slice() if sliced else self._position(tx, key, _ASSIGNED)  # type: ignore[attr-defined]
        tx.side_effects.mutate(self)
        del self.items[where]

    @classmethod
    def methods(cls) -> dict[str, Callable[..., VariableTracker]]:
        return _LIST_METHODS

    def _append(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        (item,) = exactly(1, args)
        tx.side_effects.mutate(self)
        self.items.append(item)
        return tx.constant(None)

    def _extend(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        (values,) = exactly(1, args)
        for item in drawn_for(tx, self, values):
            tx.side_effects.mutate(self)
            self.items.append(item)
        return tx.constant(None)

    def _insert(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        where, item = exactly(2, args)
        index = index_of(tx, where)
        tx.side_effects.mutate(self)
        self.items.insert(index, item)
        return tx.constant(None)

    def _pop(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        error = "pop index out of range" if self.items else "pop from empty list"
        index = self._position(tx, args[0] if args else tx.constant(-1), error)
        tx.side_effects.mutate(self)
        return self.items.pop(index).realize()

    def _remove(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        (item,) = exactly(1, args)
        found = (place for place, own in enumerate(self.items) if tx.same_or_equal(own, item))
        position = next(found, None)
        if position is None:
            raise_in_frame(ValueError, [tx.constant("list.remove(x): x not in list")])
        tx.side_effects.mutate(self)
        del self.items[position]
        return tx.constant(None)

    def _clear(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        tx.side_effects.mutate(self)
        self.items.clear()
        return tx.constant(None)

    def _reverse(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        tx.side_effects.mutate(self)
        self.items.reverse()
        return tx.constant(None)

    def _copy(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return ListVariable(list(self.items))

    def _sort(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        exactly(0, args)
        items, self.items = self.items, _Sorting()
        try:
            ordered = tx.sorted_items(items, kwargs)
        finally:
            self.items = items
        tx.side_effects.mutate(self)
        self.items[:] = ordered
        return tx.constant(None)

    def reconstruct(self, cg: Reconstructor) -> None:
        for item in self.items:
            cg.push(item)
        cg.builder.build("list", len(self.items))


_LIST_METHODS: dict[str, Callable[..., VariableTracker]] = {
    **COMMON,
    "append": ListVariable._append,
    "extend": ListVariable._extend,
    "insert": ListVariable._insert,
    "pop": ListVariable._pop,
    "remove": ListVariable._remove,
    "clear": ListVariable._clear,
    "reverse": ListVariable._reverse,
    "copy": ListVariable._copy,
    "sort": ListVariable._sort,
}


class SliceVariable(VariableTracker):
    """`slice(start, stop, step)`."""

    def __init__(self, bounds: list[VariableTracker], source: Source | None = None) -> None:
        self.bounds = bounds
        self.source = source

    def has_identity(self) -> bool:
        return True

    def python_type(self) -> type:
        return slice

    def parts(self) -> Iterable[VariableTracker]:
        return self.bounds

    def as_node(self, tx: Translator) -> Any:
        return slice(*(bound.as_node(tx) for bound in self.bounds))

    def as_example(self) -> Any:
        return slice(*(bound.as_example() for bound in self.bounds))

    def is_constant(self) -> bool:
        return all(bound.is_constant() for bound in self.bounds)

    def as_constant(self) -> slice:
        return slice(*(bound.as_constant() for bound in self.bounds))

    def truth(self, tx: Translator) -> bool:
        return True

    def as_slice(self) -> slice:
        """The bounds, if they are some that a sequence can be cut at; a break if not."""
        bounds = self.as_constant()
        try:
            bounds.indices(0)
        except (TypeError, ValueError) as error:
            unsupported("GB0007", f"{type(error).__name__}: {error}")
        return bounds

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name in ("start", "stop", "step"):
            return self.bounds[("start", "stop", "step").index(name)]
        if name == "indices":
            return SequenceMethod(self, name)
        return super().getattr(tx, name)

    def call_method(
        self, tx: Translator, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        if name == "indices":
            length = index_of(tx, *exactly(1, args))
            return tx.constant(tx.fold(self.as_slice().indices, length))
        return super().call_method(tx, name, args, kwargs)

    @staticmethod
    def methods() -> dict[str, Any]:
        """The methods that are interpreted, by name."""
        return {"indices": None}

    def reconstruct(self, cg: Reconstructor) -> None:
        for bound in self.bounds:
            cg.push(bound)
        cg.builder.build("slice", 3)


def whole_number(tx: Translator, value: VariableTracker) -> VariableTracker:
    """What C takes for an index: the value of an int, what `__index__` of another object gives."""
    if issubclass(value.python_type(), int):
        number: VariableTracker = getattr(value, "payload", value)
        return number
    own = value.has_method("__index__")
    return value.call_special(tx, "__index__") if own else value  # type: ignore[attr-defined]


def index_of(tx: Translator, key: VariableTracker) -> int:
    """An index as an int; a break where it is not one."""
    own = key.realize()
    key = whole_number(tx, own)
    given = key is not own and key.is_constant() and key.python_type() is int
    if given and abs(key.as_constant()) > sys.maxsize:
        unsupported("GB0007", "IndexError: cannot fit the value into an index-sized integer")
    value = key.as_constant()
    if not isinstance(value, int):
        unsupported("GB0007", f"TypeError: indices must be integers, not {type(value).__name__}")
    return value


def drawn_for(
    tx: Translator, owner: VariableTracker, values: VariableTracker
) -> Iterable[VariableTracker]:
    """The items that are put into a container one by one, which may be its own."""
    values = values.realize()
    if values is owner:
        return values.unpack(tx)
    return values.draw_measured(tx) if owner.python_type() is list else values.draw(tx)


def exactly(count: int, args: Args) -> Args:
    """The arguments, if there are `count` of them."""
    if len(args) != count:
        unsupported("GB0007", f"TypeError: {count} arguments expected, got {len(args)}")
    return args
