"""The order that writes to inputs need, and which of them may share a kernel with what.

A mutation comes after all that reads the memory as it was before, and after every check and every
routine that does not read what it writes, so that a run that ends with an error has written
nothing; what reads the memory as it is then comes after the mutation. Within a kernel a write and
another access of the same buffer are safe where both are of the same element in the same
iteration, or of elements that are never the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from graphwright.codegen.lowering.nodes import (
    WRITES,
    Pointwise,
    Routine,
    Source,
)
from graphwright.codegen.scheduler.materialised import Anchors, choose
from graphwright.codegen.scheduler.reads import CALLED, Access, called_with
from graphwright.runtime.record import Record


class Order(Record):
    """The anchors in an order in which they can run.

    `reads`: what each touches, once everything without memory is spliced into it. `after`: what
    must come before each. `checked`: those that may end the run with an error.
    """

    names: list[str]
    reads: dict[str, tuple[Access, ...]]
    after: dict[str, set[str]]
    checked: frozenset[str]


class Circle(Exception):
    """There is no order. `names` wait for one another."""

    def __init__(self, names: Collection[str]) -> None:
        super().__init__(f"{', '.join(names)} wait for one another")
        self.names = names


def settled(anchors: Anchors) -> Order:
    """An order, for which more values are kept in memory where there would be none."""
    while True:
        try:
            return order_of(anchors)
        except Circle as circle:
            anchors.stored |= to_store(anchors, circle)
            choose(anchors)


def order_of(anchors: Anchors) -> Order:
    """The nodes in the graph's order, with writes to inputs as late as possible.

    Raises: Circle if a write has to come both before and after another node.
    """
    nodes, chosen = anchors.nodes, anchors.chosen
    buffered = set(chosen) | {n for n, node in nodes.items() if isinstance(node, Source)}
    reads = {name: tuple(anchors.reads.spliced(name, buffered))
             for name in chosen if not isinstance(nodes[name], CALLED)}
    after = {name: set(_read(anchors, name, reads)) for name in chosen}
    writes = [name for name in chosen if isinstance(nodes[name], WRITES)]
    checked = frozenset(
        name for name in chosen if anchors.reads.is_checked(name, buffered)) if writes else ()
    routines = {name for name in chosen if isinstance(nodes[name], Routine)} if writes else set()
    readers: dict[str, set[str]] = {}
    for name, sources in after.items():
        for source in sources:
            readers.setdefault(source, set()).add(name)
    for name in writes:
        node = nodes[name]
        assert isinstance(node, WRITES)
        after[name] |= readers.get(node.target, set()).union(checked, (node.target,)) - {name}
        if routines:
            after[name] |= routines - _behind(readers, name)
    for name in chosen:
        after[name] &= chosen.keys()
    return Order(_sorted(list(chosen), after, writes), reads, after, frozenset(checked))


def _behind(readers: dict[str, set[str]], name: str) -> set[str]:
    """`name`, and the nodes that read its output, directly or through others."""
    found, pending = {name}, [name]
    while pending:
        more = readers.get(pending.pop(), set()) - found
        found |= more
        pending += more
    return found


def _read(
    anchors: Anchors, name: str, reads: dict[str, tuple[Access, ...]]
) -> Iterable[str]:
    node = anchors.nodes[name]
    if isinstance(node, CALLED):
        return called_with(node)
    return [a.source for a in reads[name] if a.source is not None and a.source != name]


def _sorted(
    names: list[str], after: dict[str, set[str]], late: Collection[str]
) -> list[str]:
    """Each after those that it comes after, `late` ones once nothing else can run."""
    if not late:
        return names
    done: dict[str, None] = {}
    pending = [[n for n in names if n not in late], list(late)]
    while any(pending):
        for waiting in pending:
            ready = next((n for n in waiting if after[n] <= done.keys()), None)
            if ready is not None:
                break
        else:
            raise Circle(_waiting({*pending[0], *pending[1]}, after))
        waiting.remove(ready)
        done[ready] = None
    return list(done)


def _waiting(left: set[str], after: dict[str, set[str]]) -> list[str]:
    """Those of `left` that others in it wait for, again and again."""
    while True:
        wanted = {n for name in left for n in after[name]} & left
        if wanted == left:
            return sorted(left)
        left = wanted


def to_store(anchors: Anchors, circle: Circle) -> set[str]:
    """Values to compute early and keep, so that their readers need not wait for one another."""
    found = {
        source for name in circle.names for source in anchors.reads.sources(name)
        if isinstance(anchors.nodes[source], Pointwise) and source not in anchors.chosen}
    assert found, str(circle)
    return found
