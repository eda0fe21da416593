"""Writes to what existed before the frame ran, and objects that it made: replayed after the graph.

The trackers of containers hold their contents of the moment; here is which of them changed, and
what was stored into attributes, globals and cells. Python code after the graph then sees exactly
what it would have seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from graphwright.capture.exc import Reconsidered, Unsupported, unsupported
from graphwright.capture.trackers.base import Clock, VariableTracker
from graphwright.capture.trackers.callables.functions import CellVariable
from graphwright.runtime.record import Record

STEPS = "steps of optimisers and schedules"


class DeferredCall(Record):
    """A call that runs after the graph, for its effect: of a method, or of `owner` itself.

    tensors: whether it reads and writes tensors, as a step of an optimiser does. step: when the
    frame made it. versions: of the tensors that must not be written between the call and the end
    of the graph. notifies: whether the call may run code that sees what is written (a handler).
    """

    owner: VariableTracker
    name: str | None
    args: tuple[VariableTracker, ...]
    tensors: bool
    grad_mode: bool
    line: int
    step: int
    versions: tuple[tuple[Any, int], ...] = ()
    notifies: bool = True

    def describe(self) -> str:
        """The call as messages name it."""
        what = self.owner.describe()
        return f"{what}.{self.name}()" if self.name is not None else f"{what}()"

    def refuse(self) -> NoReturn:
        """Take a step of an optimiser into the graph instead; a break before another call."""
        if self.tensors:
            raise Reconsidered(STEPS)
        reason = Unsupported("GB0004", f"{self.describe()} before that")
        reason.blame(self.step)
        raise reason


class CachedCall(Record):
    """A call of a cached function; `result` is what it gave where the cache had nothing."""

    args: tuple[VariableTracker, ...]
    kwargs: dict[str, VariableTracker]
    result: VariableTracker | None


class CacheUse:
    """What the frame did with one cache: results by key, how many it added, and all calls."""

    def __init__(self) -> None:
        self.results: dict[Any, VariableTracker] = {}
        self.fills = 0
        self.calls: list[CachedCall] = []


class SideEffects:
    """The writes of one frame so far, in order of their first occurrence.

    before: what changed containers that existed before held at first. stored: the step of the
    first write to an attribute, or (of None) to a global.
    classes: the trackers under which `attributes` has those written in classes. modules: the
    modules in `attributes`, by the id of their `__dict__`.
    functions: those whose attributes were written, by their id.
    contexts: what context variables were set to, and not reset.
    blocks: those of `warnings.catch_warnings` that the frame is in.
    locks: those that the frame takes, by their id; it holds them to its end. inside: those of
    the blocks that the translation is in.
    touched: what changes, where somebody wants to know: see `touching`.
    earlier: the effects before a part of the frame that has records of its own, and cannot read
them.
    """

    def __init__(self, earlier: SideEffects | None = None) -> None:
        self.earlier = earlier
        self.mutated: dict[VariableTracker, int] = {}
        self.before: dict[VariableTracker, list[VariableTracker]] = {}
        self.stored: dict[tuple[VariableTracker | None, str], int] = {}
        self.attributes: dict[VariableTracker, dict[str, VariableTracker | None]] = {}
        self.classes: dict[type, VariableTracker] = {}
        self.modules: dict[int, VariableTracker] = {}
        self.globals: dict[str, VariableTracker | None] = {}
        self.cells: dict[CellVariable, None] = {}
        self.created: dict[VariableTracker, None] = {}
        self.passing: set[tuple[VariableTracker, str]] = set()
        self.generators: list[VariableTracker] = []
        self.calls: list[DeferredCall] = []
        self.caches: dict[VariableTracker, CacheUse] = {}
        self.functions: dict[int, VariableTracker] = {}
        self.contexts: dict[VariableTracker, VariableTracker] = {}
        self.blocks: list[Any] = earlier.blocks if earlier is not None else []
        self.locks: dict[int, Any] = {}
        self.inside: list[Any] = []
        self.touched: dict[VariableTracker | None, None] | None = None

    @contextmanager
    def touching(self) -> Iterator[dict[VariableTracker | None, None]]:
        """Gives what changes within the block, as a set; None stands for globals."""
        outer, self.touched = self.touched, {}
        try:
            yield self.touched
        finally:
            if outer is not None:
                outer.update(self.touched)
            self.touched = outer

    def touch(self, value: VariableTracker | None) -> None:
        """Note that a value changes, whoever made it."""
        if self.touched is not None:
            self.touched[value] = None

    def __bool__(self) -> bool:
        existing = any(owner not in self.created for owner in self.attributes)
        written = any(cell.push_cell is not None for cell in self.cells)
        changed = written or bool(self.globals) or any(True for _ in self.containers())
        changed = changed or any((self.calls, self.caches, self.contexts, self.locks))
        return existing or changed or any(made.is_open() for made in self.generators)

    def cache_use(self, function: VariableTracker) -> CacheUse:
        """What the frame did so far with the cache of a function."""
        return self.caches.setdefault(function, CacheUse())

    def entered(self) -> int | None:
        """The step before which the frame is in none of the blocks."""
        return min((block.step for block in self.blocks), default=None)

    def check_finished(self) -> None:
        """A break if Python would run `finally` blocks of generators that are dropped."""
        for made in self.generators:
            if made.is_open():
                unsupported("GB0013", f"{made.describe()} is left inside of a with or try block")

    def refuse_after_calls(self, tensors: bool = False) -> None:
        """A break before the first deferred call that could see the next effect, if there is one.

        tensors: whether the effect is on tensors only.
        """
        for call in self.calls:
            if call.tensors or (call.notifies and not tensors):
                call.refuse()

    def store_global(self, name: str, value: VariableTracker) -> None:
        """Note a write to a global of the captured function."""
        self.refuse_after_calls()
        self.touch(None)
        self.stored.setdefault((None, name), Clock.step)
        self.globals[name] = value

    def delete_global(self, name: str, existed: bool) -> None:
        """Note that a global of the captured function is gone; existed: before the frame ran."""
        self.refuse_after_calls()
        self.touch(None)
        if existed:
            self.stored.setdefault((None, name), Clock.step)
            self.globals[name] = None
        else:
            del self.globals[name]

    def track_new(self, value: VariableTracker) -> None:
        """Note an object that the frame made."""
        self.created[value] = None
        self.attributes.setdefault(value, {})

    def mutate(self, container: VariableTracker) -> None:
        """Note that a list, dict or set changes, and at which step it did first."""
        self.touch(container)
        if container.source is not None:
            self.refuse_after_calls()
            if container not in self.before:
                self.before[container] = list(container.parts())
        self.mutated.setdefault(container, Clock.step)

    def is_mutated(self, container: VariableTracker) -> bool:
        """Whether `mutate` was called for it."""
        return container in self.mutated

    def is_filled_later(self, container: VariableTracker) -> bool:
        """Whether its items are written only after the iterators over it are made."""
        new = container.source is None and getattr(container, "owner", None) is not None
        return new or self.is_mutated(container)

    def containers(self) -> Iterable[VariableTracker]:
        """The changed containers that existed before."""
        return [container for container in self.mutated if container.source is not None]

    def attribute(self, owner: VariableTracker, name: str) -> VariableTracker | None:
        """The value that the frame stored in an attribute; None if none, or if deleted."""
        if self.earlier is not None and name in self.earlier.attributes.get(owner, {}):
            unsupported("GB0004", f"{name!r} of {owner.describe()}, which the frame has changed")
        return self.attributes.get(owner, {}).get(name)

    def is_deleted(self, owner: VariableTracker, name: str) -> bool:
        """Whether the frame deleted the attribute."""
        return name in self.attributes.get(owner, {}) and self.attribute(owner, name) is None

    def store_attribute(
        self, owner: VariableTracker, name: str, value: VariableTracker | None
    ) -> None:
        """Note a write, or with None a deletion."""
        if owner.source is None and owner not in self.created:
            unsupported("GB0008", f"assignment to attribute {name!r} of {owner.describe()}")
        self.touch(owner)
        if owner not in self.created:
            self.refuse_after_calls()
            self.stored.setdefault((owner, name), Clock.step)
        if owner.namespace is not None:
            self.modules[id(owner.namespace)] = owner
        known = self.attributes.setdefault(owner, {})
        if value is None and known.get(name) is not None:
            self.passing.add((owner, name))
        if value is not None and name in known and known[name] is None:
            if owner not in self.created:
                unsupported("GB0008", f"{name!r} of {owner.describe()} is deleted and set again")
            del known[name]
        known[name] = value

    def store_cell(self, cell: CellVariable, value: VariableTracker | None) -> None:
        """Note a write to a cell; None empties it."""
        self.touch(cell)
        if cell.push_cell is not None:
            self.refuse_after_calls()
        cell.contents = value
        self.cells[cell] = None
