"""Sets of values that are known: a Python set of the same history keeps their order."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import Unsupported, unsupported
from graphwright.capture.guards.source import ConstSource, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.callables.builtin_attributes import builtin_member
from graphwright.capture.trackers.containers.iterators import IteratorVariable
from graphwright.capture.trackers.containers.mappings import (
    DictVariable,
    DictView,
    distinguish,
    hashed_member,
)
from graphwright.capture.trackers.containers.sequences import SequenceMethod, exactly
from graphwright.capture.trackers.values.constant import ConstantVariable, fold
from graphwright.capture.vm.bytecode import PYTHON

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_SMALLEST_TABLE = 8


class SetVariable(VariableTracker):
    """A set of constants.

    real: what the set holds, made by the operations that Python would do, so that it has the
    same order. `ordered` is False for a set that existed before and for what is made of one: its
    members are guarded, and their order when it is first looked at. origin: the members in the
    order in which they went in, or in which an existing set has them. log: what changed it.
    """

    mutable = True

    def __init__(
        self,
        real: set[Any],
        source: Source | None = None,
        ordered: bool = True,
        origin: Iterable[Any] | None = None,
    ) -> None:
        self.real = real
        self.origin = origin
        self.source = source
        self._ordered = ordered and source is None
        self.log: list[tuple[str, list[Any]]] = []

    @property
    def ordered(self) -> bool:
        """Whether the order of the members is the one that Python has."""
        by_identity = _has_trackers(self.real)
        return (self._ordered and not by_identity) or order_is_fixed(self.real)

    def python_type(self) -> type:
        return set

    def length(self, tx: Translator) -> VariableTracker:
        return tx.constant(len(self.real))

    def truth(self, tx: Translator) -> bool:
        return bool(self.real)

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        item = item.realize()
        if isinstance(item, SetVariable):
            return frozenset(item.real) in self.real
        return hashed_member(tx, item, self.real) in self.real

    def iterate(self, tx: Translator) -> VariableTracker:
        return SetIterator(self, self.unpack(tx))

    def unpack(self, tx: Translator) -> list[VariableTracker]:
        return [tx.constant(item) for item in self.in_order(tx)]

    def in_order(self, tx: Translator) -> list[Any]:
        """The members as Python goes over them; guarded for a set that existed before.

        A break where their order is known only when running.
        """
        if self.ordered:
            return list(self.real)
        if self.source is None or self.origin is None or self.log:
            unsupported("GB0017", _NO_ORDER)
        return guarded_order(tx, self.source, self.origin)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        return builtin_member(tx, set, name, SequenceMethod(self, name))

    @classmethod
    def methods(cls) -> dict[str, Callable[..., VariableTracker]]:
        """The methods that are interpreted, by name."""
        return _METHODS

    def call_method(
        self, tx: Translator, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        method = _METHODS.get(name)
        if method is None or kwargs:
            return super().call_method(tx, name, args, kwargs)
        return method(self, tx, args)

    def change(self, tx: Translator, name: str, values: list[Any]) -> Any:
        """Do what a mutating method does."""
        result = fold(getattr(self.real, name), *values)
        tx.side_effects.mutate(self)
        self.log.append((name, values))
        return result

    def pop(self, tx: Translator, args: Args) -> VariableTracker:
        """`set.pop`."""
        exactly(0, args)
        if not self.real:
            fold(set().pop)
        member = self.in_order(tx)[0]
        self.change(tx, "remove", [member])
        return tx.constant(member)

    def reconstruct(self, cg: Reconstructor) -> None:
        members = list(self.real)
        origin = self.origin if self.ordered else None
        if origin is not None and not _has_trackers(origin) and list(set(members)) != members:
            self._replay(cg, origin)
            return
        order = _order_of_making(members) if self.ordered else None
        if order is None:
            unsupported("GB0015", "a set whose order is known only when running")
        for member in order:
            cg.push(cg.output.constant(member))
        cg.builder.build("set", len(members))

    def _replay(self, cg: Reconstructor, origin: Iterable[Any]) -> None:
        """Make the set as the frame made it."""
        name = cg.builder.temporary()
        cg.builder.begin_call(set)
        cg.builder.load_const(origin)
        cg.builder.end_call(1)
        cg.builder.store_local(name)
        self.write_back(cg, lambda: cg.builder.load_local(name))()
        cg.builder.load_local(name)

    def start(self, tx: Translator, items: VariableTracker | None) -> None:
        """`set.__init__`."""
        if self.real:
            self.change(tx, "clear", [])
        if items is not None:
            self.call_method(tx, "update", [items], {})

    def write_back(
        self, cg: Reconstructor, push: Callable[[], None], base: type | None = None
    ) -> Callable[[], None]:
        """What changes the existing set as the frame did; by the methods of `base` if given."""

        calls = [(name, [_load(cg, value) for value in values]) for name, values in self.log]

        def write() -> None:
            for name, loads in calls:
                if base is None:
                    cg.call_method(push, name, *loads)
                else:
                    cg.call_for_effect(getattr(base, name), push, *loads)

        return write


def guarded_order(tx: Translator, source: Source, members: Iterable[Any]) -> list[Any]:
    """The members of an existing set in the order that they have, which is guarded.

    A break for tuples and frozensets: the guard cannot distinguish them from equal ones.
    """
    known = list(members)
    if any(isinstance(member, (tuple, frozenset)) for member in known):
        unsupported("GB0017", _NO_ORDER)
    tx.guards.set_order(source, known)
    return known


_NO_ORDER = "the order of a set is known only when running"


def _order_of_making(members: list[Any]) -> tuple[Any, ...] | None:
    """In which order members must go into a new set so that it has this order."""
    for order in itertools.islice(itertools.permutations(members), _MOST_ORDERS):
        if list(set(order)) == members:
            return order
    return None


_MOST_ORDERS = 720


def _load(cg: Reconstructor, value: Any) -> Callable[[], None]:
    if isinstance(value, VariableTracker):
        return cg.hold(value)
    several = isinstance(value, Iterable) and not isinstance(value, (str, bytes))
    if several and _has_trackers(value):
        unsupported("GB0015", "objects were added to a set together")
    return lambda: cg.builder.load_const(value)


def _has_trackers(members: Iterable[Any]) -> bool:
    """Whether some member stands for an object that is hashed by identity."""
    return any(isinstance(member, VariableTracker) for member in members)


def order_is_fixed(members: Iterable[Any]) -> bool:
    """Whether a set of these members has one order only, whatever its history.

    Tuples are distinguished from equal ones: those of a set that existed before are not known.
    """
    known = list(members)
    if len(known) < 2:
        return not any(isinstance(member, (tuple, frozenset)) for member in known)
    if _has_trackers(known):
        return False
    return all(type(member) is int and 0 <= member < _SMALLEST_TABLE for member in known)


class SetIterator(IteratorVariable):
    """Over a set, which must keep its size meanwhile."""

    def __init__(self, owner: SetVariable, items: list[VariableTracker]) -> None:
        self.owner = owner
        self.items = items
        self.position = 0

    def python_type(self) -> type:
        return type(iter(set()))

    def next(self, tx: Translator) -> VariableTracker | None:
        self._check_unchanged()
        if self.position >= len(self.items):
            return None
        self.position += 1
        return self.items[self.position - 1]

    def _check_unchanged(self) -> None:
        if len(self.owner.real) != len(self.items):
            reason = Unsupported("GB0006", "RuntimeError: Set changed size during iteration")
            reason.blame(self.born)
            raise reason

    def parts(self) -> list[VariableTracker]:
        return [self.owner]

    def reconstruct(self, cg: Reconstructor) -> None:
        self._check_unchanged()
        if cg.output.side_effects.is_filled_later(self.owner):
            unsupported("GB0015", "an iterator of a changed set is needed after the graph")
        cg.push(self.owner)
        cg.builder.emit("GET_ITER")
        cg.skip_items(self.position)


def is_set_like(value: VariableTracker) -> bool:
    """Whether set operators take the value."""
    if isinstance(value, ConstantVariable):
        return isinstance(value.value, frozenset)
    return isinstance(value, SetVariable) or (isinstance(value, DictView) and value.is_set_like())


def raws(tx: Translator, *values: VariableTracker) -> list[Any]:
    """Python iterables of the trackers' members, which hash and compare as the members do."""
    found = [_raw(tx, value) for value in values]
    distinguish(tx, *found)
    return found


def _raw(tx: Translator, value: VariableTracker) -> Any:
    """A Python iterable of what the tracker holds, of the same kind."""
    value = seen_by_sets(value)
    if isinstance(value, SetVariable):
        return value.real
    if isinstance(value, ConstantVariable) and isinstance(value.value, frozenset):
        return value.value
    if isinstance(value, DictVariable):
        return dict.fromkeys(value.entries)
    if isinstance(value, DictView):
        keys = value.raw(tx)
        return keys
    return [hashed_member(tx, item) for item in value.draw(tx)]


def seen_by_sets(value: VariableTracker) -> VariableTracker:
    """What sets see of an instance of a subclass of set or frozenset: its members."""
    value = value.realize()
    payload = getattr(value, "payload", None)
    if isinstance(payload, (SetVariable, ConstantVariable)) and is_set_like(payload):
        return payload
    return value


def has_order(value: VariableTracker) -> bool:
    """Whether the tracker knows the order of what it holds."""
    value = seen_by_sets(value)
    if isinstance(value, SetVariable):
        return value.ordered
    if isinstance(value, ConstantVariable) and isinstance(value.value, frozenset):
        return constant_has_order(value)
    return True


def constant_has_order(value: ConstantVariable) -> bool:
    """A frozenset that came in is guarded by its members alone, until its order is looked at."""
    own = value.source is None or isinstance(value.source, ConstSource)
    return own or order_is_fixed(value.value)


def frozen_items(tx: Translator, owner: ConstantVariable) -> list[Any]:
    """The members of a frozenset in the order that it has."""
    if constant_has_order(owner):
        return list(owner.value)
    assert owner.source is not None
    return guarded_order(tx, owner.source, owner.value)


def result_of(tx: Translator, result: Any, operands: Args) -> VariableTracker:
    """The tracker of a new set, a frozenset or a plain value."""
    ordered = all(map(has_order, operands))
    if isinstance(result, set):
        return SetVariable(result, None, ordered)
    if isinstance(result, frozenset) and any(isinstance(m, VariableTracker) for m in result):
        unsupported("GB0015", "a frozenset of objects")
    if isinstance(result, frozenset) and not (ordered or order_is_fixed(result)):
        unsupported("GB0015", "a frozenset whose order is known only when running")
    return tx.constant(result)


def set_operator(
    tx: Translator, function: Callable[..., Any], left: VariableTracker, right: VariableTracker
) -> VariableTracker:
    """`|`, `&`, `-`, `^` and the comparisons of sets."""
    result = fold(function, *raws(tx, left, right))
    return result_of(tx, result, [left, right])


def set_update_operator(
    tx: Translator, name: str, left: SetVariable, right: VariableTracker
) -> VariableTracker:
    """`|=`, `&=`, `-=` and `^=`."""
    left.change(tx, name, [_copied(raws(tx, left, right)[1])])
    return left


def frozen_method(
    tx: Translator, owner: ConstantVariable, name: str, args: Args
) -> VariableTracker:
    """A method of a frozenset."""
    if name == "__contains__":
        return tx.constant(owner.contains(tx, *exactly(1, args)))
    args = _met(tx, owner.value, name, args)
    result = fold(getattr(owner.value, name), *raws(tx, owner, *args)[1:])
    return result_of(tx, result, [owner, *args])


def _copied(value: Any) -> Any:
    return set(value) if isinstance(value, set) else value


Method = Callable[..., VariableTracker]


def _pure(name: str) -> Method:
    def method(self: SetVariable, tx: Translator, args: Args) -> VariableTracker:
        args = _met(tx, self.real, name, args)
        result = fold(getattr(self.real, name), *raws(tx, self, *args)[1:])
        return result_of(tx, result, [self, *args])

    return method


def _update(self: SetVariable, tx: Translator, args: Args) -> VariableTracker:
    """`set.update`: what an iterator gives is added item by item."""
    for given in args:
        values = seen_by_sets(given)
        if _runs_code(values):
            for item in values.draw(tx):
                _METHODS["add"](self, tx, [item])
        else:
            _changing("update")(self, tx, [values])
    return tx.constant(None)


def _runs_code(values: VariableTracker) -> bool:
    """Whether making the next of the values may do anything, and depend on what was done."""
    return isinstance(values, IteratorVariable) or any(
        map(values.has_method, ("__iter__", "__getitem__")))


def _met(tx: Translator, own: Any, name: str, args: Args) -> Args:
    """What `intersection` draws: no more once all members of the set have come.

    So does `issubset` from Python 3.12 on.
    """
    if not name.startswith("intersection") and (name != "issubset" or PYTHON < (3, 12)):
        return args
    left = set(own)
    met: Args = []
    for values in map(seen_by_sets, args):
        if isinstance(values, (SetVariable, ConstantVariable, DictVariable, DictView)):
            met.append(values)
            left.intersection_update(raws(tx, values)[0])
            continue
        found: set[Any] = set()
        drawn = []
        for item in values.draw(tx):
            drawn.append(item)
            found |= left.intersection(*raws(tx, tx.tuple_of([item])))
            if found and len(found) == len(left):
                break
        left = found
        met.append(tx.tuple_of(drawn))
    return met


def _until(name: str, wanted: bool) -> Method:
    """A question about each item of an iterator, which an answer other than `wanted` ends."""
    plain = _pure(name)

    def method(self: SetVariable, tx: Translator, args: Args) -> VariableTracker:
        (values,) = [seen_by_sets(value) for value in exactly(1, args)]
        if not _runs_code(values):
            return plain(self, tx, args)
        return tx.constant(all(self.contains(tx, item) is wanted for item in values.draw(tx)))

    return method


def _changing(name: str) -> Method:
    def method(self: SetVariable, tx: Translator, args: Args) -> VariableTracker:
        args = _met(tx, self.real, name, args)
        if not all(map(has_order, args)) and "update" in name:
            self._ordered = False
        self.change(tx, name, [_copied(members) for members in raws(tx, self, *args)[1:]])
        return tx.constant(None)

    return method


def _changing_member(name: str) -> Method:
    def method(self: SetVariable, tx: Translator, args: Args) -> VariableTracker:
        (item,) = exactly(1, args)
        self.change(tx, name, [hashed_member(tx, item, self.real)])
        return tx.constant(None)

    return method


_METHODS: dict[str, Method] = {
    **{
        name: _pure(name)
        for name in ("union", "intersection", "difference", "symmetric_difference", "issubset")
    },
    "copy": _pure("copy"),
    "issuperset": _until("issuperset", wanted=True),
    "isdisjoint": _until("isdisjoint", wanted=False),
    "update": _update,
    **{name: _changing(name) for name in ("intersection_update", "clear")},
    **{name: _changing(name) for name in ("difference_update", "symmetric_difference_update")},
    **{name: _changing_member(name) for name in ("add", "discard", "remove")},
    "pop": SetVariable.pop,
    "__contains__": lambda self, tx, args: tx.constant(self.contains(tx, *exactly(1, args))),
    "__len__": lambda self, tx, args: self.length(tx),
    "__iter__": lambda self, tx, args: self.iterate(tx),
}


def set_of(tx: Translator, items: VariableTracker | None) -> SetVariable:
    """`set(items)`."""
    if items is None:
        return SetVariable(set())
    items = seen_by_sets(items)
    (values,) = raws(tx, items)
    origin = tuple(values) if isinstance(values, list) else None
    return SetVariable(set(values), None, has_order(items), origin)


def frozenset_of(tx: Translator, items: VariableTracker | None) -> VariableTracker:
    """`frozenset(items)`."""
    if items is None:
        return ConstantVariable(frozenset())
    items = items.realize()
    if isinstance(items, ConstantVariable) and type(items.value) is frozenset:
        return items
    return result_of(tx, frozenset(*raws(tx, items)), [items])
