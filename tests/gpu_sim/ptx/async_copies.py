"""cp.async: copies to shared memory that land when they are waited for, not before.

The destination counts as unwritten while a copy is in flight, so that a read without the wait is
reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .decode import Form, form
from .moves import HINTS
from .tensor_maps import bulk
from .threads import Step, Threads
from .values import TYPES, Array


@dataclass
class Copy:
    """A copy of each of `lanes`: `kept` of its `size` bytes, then zeros.

    `groups` numbers each lane's groups that it committed, from 1; 0 is a copy not yet committed.
    """

    lanes: Array
    target: Array
    source: Array
    kept: Array
    groups: Array
    size: int

    def part(self, inside: Array) -> Copy:
        return Copy(self.lanes[inside], self.target[inside], self.source[inside],
                    self.kept[inside], self.groups[inside], self.size)


class Copies:
    """What is in flight in a group of blocks, and how many groups each lane has committed."""

    def __init__(self, lanes: int) -> None:
        self.flying: list[Copy] = []
        self.committed = np.zeros(lanes, np.int64)

    def commit(self, t: Threads) -> None:
        members = t.members()
        self.committed[members] += 1
        for copy in self.flying:
            new = (copy.groups == 0) & members[copy.lanes]
            copy.groups = np.where(new, self.committed[copy.lanes], copy.groups)

    def wait(self, t: Threads, newest: int) -> None:
        """Land all but each lane's `newest` groups."""
        members, flying, self.flying = t.members(), self.flying, []
        for copy in flying:
            due = (copy.groups > 0) & members[copy.lanes] & (
                copy.groups <= self.committed[copy.lanes] - newest)
            if due.any():
                land(t, copy.part(due))
            if not due.all():
                self.flying.append(copy.part(~due))


def land(t: Threads, copy: Copy) -> None:
    """Do a copy; byte by byte where only parts are copied."""
    values = np.zeros((len(copy.lanes), copy.size), np.uint8)
    whole = ((copy.kept == 0) | (copy.kept == copy.size)).all()
    size = copy.size if whole else 1
    for at in range(0, copy.size, size):
        some = np.nonzero(copy.kept > at)[0]
        loaded = t.load("global", copy.lanes[some], copy.source[some] + np.uint64(at), size)
        values[some, at:at + size] = loaded.view(np.uint8).reshape(-1, size)
    words = values.view(f"u{min(copy.size, 8)}")
    t.store("shared", copy.lanes, copy.target, words if copy.size > 8 else words[:, 0], copy.size)


def start_copy(f: Form) -> Step:
    """cp.async.ca.shared.global [to], [from], size {, bytes of the source} {, cache policy}."""
    for names in (("shared", "shared::cta"), ("global",), ("ca", "cg")):
        f.need(*names)
    partial = len(f.operands) - ("L2::cache_hint" in f.rest) > 3
    f.flag(*HINTS)
    target, source, size = f.address(0), f.address(1), f.constant(2)
    kept = f.read(3, TYPES["u32"]) if partial else None

    def step(t: Threads) -> None:
        lanes, to = t.active(), t.chosen(target(t))
        for _ in t.cells("shared", lanes, to, size, "start"):
            length = np.full(len(lanes), size) if kept is None else t.chosen(kept(t))
            t.copies.flying.append(Copy(lanes, to, t.chosen(source(t)), length,
                                        np.zeros(len(lanes), np.int64), size))
    return step


@form("cp")
def cp(f: Form) -> Step:
    """cp.async and what commits it and waits for it; cp.async.bulk."""
    f.need("async")
    if f.flag("bulk"):
        return bulk(f)
    if f.flag("commit_group"):
        return lambda t: t.copies.commit(t)
    newest = 0 if f.flag("wait_all") else f.constant(0) if f.flag("wait_group") else None
    if newest is None:
        return start_copy(f)
    everything = not f.operands

    def wait(t: Threads) -> None:
        if everything:
            t.copies.commit(t)
        t.copies.wait(t, newest)
    return wait
