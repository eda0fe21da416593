"""The order of groups: closed over what is before what, also where groups become one."""

from __future__ import annotations

import random

import pytest

from graphwright.codegen.scheduler.precedence import Precedence, members


def reached(edges: dict[int, set[int]], group: int) -> set[int]:
    """All that is before a group, by walking its edges."""
    found: set[int] = set()
    pending = [*edges[group]]
    while pending:
        number = pending.pop()
        if number not in found:
            found.add(number)
            pending += edges[number]
    return found


def merged(edges: dict[int, set[int]], earlier: int, later: int) -> None:
    edges[earlier] = (edges[earlier] | edges.pop(later)) - {earlier, later}
    for number, needs in edges.items():
        if later in needs:
            edges[number] = needs - {later} | {earlier}


def check(precedence: Precedence, edges: dict[int, set[int]]) -> None:
    assert precedence.before.keys() == edges.keys()
    for group in edges:
        assert {*members(precedence.before[group])} == reached(edges, group)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_before_a_group_is_what_its_edges_reach(seed: int) -> None:
    rng, precedence, edges = random.Random(seed), Precedence(), dict[int, set[int]]()
    for group in range(30):
        needs = {*rng.sample(range(group), min(group, rng.randrange(4)))}
        older = rng.randrange(group + 1)
        free = needs - {older}
        if older < group and not any(older in reached(edges, number) for number in free):
            assert not precedence.has_after(older, free)
            precedence.add(older, needs)
            edges[older] |= free
        precedence.add(group, needs)
        edges[group] = needs
    check(precedence, edges)
    for later in sorted(edges):
        for earlier in sorted(edges[later]):
            apart = any(earlier in reached(edges, g) for g in reached(edges, later))
            assert precedence.is_apart(earlier, later) == apart
            if not apart:
                precedence.merge(earlier, later)
                merged(edges, earlier, later)
                check(precedence, edges)
                break


def test_members_are_ascending() -> None:
    assert members(0) == []
    assert members(0b1011 | 1 << 70) == [0, 1, 3, 70]
