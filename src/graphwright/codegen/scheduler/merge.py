"""Joins whole groups: a kernel and one that reads its results, if one set of loops serves both."""

from __future__ import annotations

from graphwright.codegen.scheduler.affine import volume
from graphwright.codegen.scheduler.groups import (
    ALONE,
    Group,
    Grouping,
    has_room,
    join,
    join_level,
)
from graphwright.runtime.record import replace


def merge_groups(state: Grouping) -> None:
    """Merge groups with groups that they read from, as long as that works."""
    for number in sorted(state.groups):
        merged = True
        while merged and number in state.groups:
            merged = any(_merge_pair(state, earlier, number)
                         for earlier in sorted(_read_groups(state, number), reverse=True))


def _read_groups(state: Grouping, number: int) -> set[int]:
    """The groups whose results the members of a group read."""
    members = state.groups[number].members.values()
    sources = {a.source for m in members for a in m.reads}
    return {state.home[s] for s in sources if s in state.home} - {number}


def _merge_pair(state: Grouping, earlier: int, later: int) -> bool:
    one, two = state.groups[earlier], state.groups[later]
    if one.style in ALONE or two.style in ALONE:
        return False
    if not has_room(state, one, two.members):
        return False
    if state.precedence.is_apart(earlier, later):
        return False
    joined = _appended(state, one, two) or _as_facts(state, one, two)
    if joined is None:
        return False
    _replace(state, earlier, later, joined)
    return True


def _appended(state: Grouping, one: Group, two: Group) -> Group | None:
    """The first group with the members of the second."""
    joined: Group | None = one
    for name in two.members:
        joined = join(state, joined, name) if joined is not None else None
    return joined


def _as_facts(state: Grouping, one: Group, two: Group) -> Group | None:
    """The second group with the members of the first computed once per row."""
    if one.reduced or not two.reduced or (
            volume([d.extent for d in one.dims]) != volume([d.extent for d in two.kept])):
        return None
    joined: Group | None = replace(two, members={})
    for name in one.members:
        joined = join_level(state, joined, name, row=False) if joined is not None else None
    for name in two.members:
        joined = join(state, joined, name) if joined is not None else None
    return joined


def _replace(state: Grouping, earlier: int, later: int, joined: Group) -> None:
    """Let `earlier` be the merged group."""
    del state.groups[later]
    state.groups[earlier] = joined
    state.precedence.merge(earlier, later)
    for name in joined.members:
        state.home[name] = earlier
