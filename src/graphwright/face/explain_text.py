"""An explanation as text: a tree of functions, their frames, graphs, breaks and recompiles."""

from __future__ import annotations

import os
import sysconfig
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from graphwright.capture.frame.code_owner import is_library
from graphwright.capture.frame.record import (
    BreakRecord,
    FrameRecord,
    GraphRecord,
    Location,
)
from graphwright.face.stage_dumps import artifacts_of, count

if TYPE_CHECKING:
    from graphwright.face.explain import Explanation, Stats

Branch = tuple[str, Sequence[Any]]
"""A line of the tree, and the branches below it."""


def lines(explanation: Explanation, guards: bool, libraries: bool) -> Iterator[str]:
    """The text, line by line; see `Explanation.text`."""
    subject = explanation.subject
    tree = Tree(guards)
    functions = tree.functions(explanation)
    if subject is not None:
        yield placed(subject)
    reason = explanation.nothing_compiled
    if reason is None or subject is None:
        yield counts(explanation.stats)
    else:
        yield f"No frame of {subject.function} was compiled, probably because: {reason}."
        if functions.get(subject) == [reason]:
            del functions[subject]
    if explanation.error is not None:
        yield (f"The call raised {type(explanation.error).__name__}; this is what was found until "
               "then.")
    folded = {} if libraries else {
        place: name for place in functions
        if place != subject and (name := library_of(place)) is not None}
    if subject is not None:
        yield from draw(tree.branches(functions.pop(subject, [])))
    for place, entries in functions.items():
        if place not in folded:
            yield placed(place)
            yield from draw(tree.branches(entries))
    kept = [(place, entry) for place in folded for entry in functions[place]]
    if any(not isinstance(entry, str) for _, entry in kept):
        yield summary(kept, folded)
        yield from draw(tree.unseen_breaks([entry for _, entry in kept]))


def counts(stats: Stats) -> str:
    """'1 graph, 0 graph breaks, 0 fallbacks, 0 recompiles, 2 kernels'."""
    return (f"{count(stats.graphs, 'graph')}, {count(stats.breaks, 'graph break')}, "
            f"{count(stats.fallbacks, 'fallback')}, {count(stats.recompiles, 'recompile')}, "
            f"{count(stats.kernels, 'kernel')}")


def placed(place: Location) -> str:
    """A function with its file and line, where it has one."""
    return f"{place.function} ({place.file}:{place.line})" if place.file else place.function


class Tree:
    """Makes branches of records; a graph break that was shown once is shown in one line after."""

    def __init__(self, guards: bool) -> None:
        self.guards = guards
        self.seen: set[tuple[str, Location, str]] = set()

    def functions(self, explanation: Explanation) -> dict[Location, list[Any]]:
        """For each captured function what became of it, in order: records, or why it was not."""
        functions: dict[Location, list[Any]] = {}
        for frame in explanation.frames:
            functions.setdefault(frame.location, []).append(frame)
        for broken in explanation.breaks:
            if broken.fallback:
                functions.setdefault(broken.frame or broken.location, []).append(broken)
        for recompile in explanation.recompiles:
            functions.setdefault(recompile.location, []).append(recompile)
        reported = {broken.frame for broken in explanation.breaks if broken.fallback}
        for place, reason in explanation.skipped:
            if place not in reported:
                functions.setdefault(place, []).append(reason)
        return functions

    def branches(self, entries: Sequence[Any]) -> list[Branch]:
        """The branches of a function."""
        return [self.branch(entry) for entry in entries]

    def branch(self, entry: Any) -> Branch:
        """The branch of one record, or of the reason why a function runs as plain Python."""
        if isinstance(entry, FrameRecord):
            return self.frame_branch(entry)
        if isinstance(entry, BreakRecord):
            return self.break_branch(entry)
        if isinstance(entry, str):
            return f"runs as plain Python: {entry}", ()
        advice = [(reason, ()) for reason in (*entry.reasons, entry.advice)]
        return f"{entry.code} recompile: {entry.title}", advice

    def frame_branch(self, frame: FrameRecord) -> Branch:
        """A translated frame: its graph, its guards, the break that it ended in."""
        below: list[Branch] = [
            (graph_text(graph), activations_branches(graph)) for graph in frame.graphs]
        below.append(guards_branch(frame, self.guards))
        if frame.broken is not None:
            below.append(self.break_branch(frame.broken))
        if frame.resumed is None:
            return "frame, from the start of the function", below
        return f"resume function, from line {frame.resumed.line}: {frame.resumed.source}", below

    def break_branch(self, broken: BreakRecord) -> Branch:
        """A graph break: where, why, and what to do; only where, if the rest was shown."""
        place = broken.location
        title = f"{broken.code} {broken.what} at {place.file}:{place.line}: {place.source}"
        key = (broken.code, place, broken.detail)
        if key in self.seen:
            return f"{title} (see above)", ()
        self.seen.add(key)
        return title, [(f"{broken.title}: {broken.detail}", ()), (broken.advice, ())]

    def unseen_breaks(self, entries: Sequence[Any]) -> list[Branch]:
        """The graph breaks of folded frames that no other frame has shown."""
        broken = [entry if isinstance(entry, BreakRecord) else getattr(entry, "broken", None)
                  for entry in entries]
        branches = [self.break_branch(entry) for entry in broken if entry is not None]
        return [branch for branch in branches if branch[1]]


def graph_text(graph: GraphRecord) -> str:
    """The sizes of a graph."""
    text = f"graph: {count(graph.n_ops, 'operation')}, {count(graph.n_inputs, 'input')}"
    found = artifacts_of(graph.graph)
    if found is None:
        return text
    weights, size = found.packed
    packed = f", {count(weights, 'packed weight')} of {size / 1e6:.1f} MB" if weights else ""
    return f"{text}, {count(found.kernels, 'kernel')}{packed}" + (
        f"; runs eagerly: {found.note}" if found.note else "")


def activations_branches(graph: GraphRecord) -> list[Branch]:
    """What a graph saves for its gradients, where it recomputes other values for them."""
    found = artifacts_of(graph.graph)
    activations = None if found is None or found.lowered is None else found.lowered.activations
    if activations is None or not activations.recomputed:
        return []
    return [(f"saved for backward: {activations.saved_bytes} bytes, by eager execution "
             f"{activations.eager_bytes}; recomputed: "
             f"{count(len(activations.recomputed), 'operation')}", ())]


def guards_branch(frame: FrameRecord, shown: bool) -> Branch:
    """How many guards there are, or all, the dearest first where their times were measured."""
    title = f"guards: {len(frame.guards)}"
    if frame.cost:
        title = f"{title}, {frame.cost:.0f} ns together"
    if not shown:
        kinds = [f"{number} {kind}" for kind, number in frame.kinds.items()]
        return f"{title} ({', '.join(kinds)})" if kinds else title, ()
    if not frame.costs:
        return title, [(guard.sentence(), ()) for guard in frame.guards]
    timed = sorted(zip(frame.costs, frame.guards, strict=True), key=lambda pair: -pair[0])
    return title, [(f"{cost:4.0f} ns  {guard.sentence()}", ()) for cost, guard in timed]


def summary(entries: list[tuple[Location, Any]], names: dict[Location, str]) -> str:
    """One line for the frames of libraries."""
    found = [entry for _, entry in entries]
    by_library = Counter(names[place] for place, entry in entries
                         if isinstance(entry, FrameRecord | BreakRecord))
    parts = ", ".join(f"{name} {number}" for name, number in by_library.most_common())
    frames = [entry for entry in found if isinstance(entry, FrameRecord)]
    numbers = {
        "graph": sum(len(frame.graphs) for frame in frames),
        "graph break": sum(frame.broken is not None for frame in frames),
        "fallback": sum(isinstance(entry, BreakRecord) for entry in found),
        "recompile": sum(hasattr(entry, "reasons") for entry in found),
    }
    text = ", ".join(count(number, noun) for noun, number in numbers.items() if number)
    total = count(sum(by_library.values()), "frame")
    return f"{total} of libraries, folded ({parts}): {text}"


_STDLIB = sysconfig.get_path("stdlib") + os.sep


def library_of(place: Location) -> str | None:
    """The library that a function belongs to; None where it is the user's own."""
    if place.of_package or is_library(place.file):
        return "graphwright"
    for folder in ("site-packages", "dist-packages"):
        _, found, rest = place.file.rpartition(f"{os.sep}{folder}{os.sep}")
        if found:
            return rest.partition(os.sep)[0].removesuffix(".py")
    if place.file.startswith((_STDLIB, "<frozen ")):
        return "Python"
    return None


def draw(branches: Sequence[Branch], indent: str = "") -> Iterator[str]:
    """The lines of a tree."""
    for number, (text, below) in enumerate(branches):
        last = number == len(branches) - 1
        yield f"{indent}{'└─' if last else '├─'} {text}"
        yield from draw(below, indent + ("   " if last else "│  "))
