"""cp.async: copies to shared memory that land when they are waited for, not before.

The destination counts as unwritten while a copy is in flight, so that a read without the wait is
reported.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .decode import Decoder, Form, constant, form
from .moves import HINTS
from .text import Operand
from .threads import Step, Threads
from .values import TYPES, Array, UnknownForm


@dataclass
class Copy:
    """A copy of each of `lanes`: `kept` of its `size` bytes, then zeros."""

    lanes: Array
    target: Array
    source: Array
    kept: Array
    size: int

    def part(self, inside: Array) -> Copy:
        return Copy(self.lanes[inside], self.target[inside], self.source[inside],
                    self.kept[inside], self.size)


@dataclass
class Group:
    """Copies that lanes committed together."""

    members: Array
    copies: list[Copy]


@dataclass
class Copies:
    """What is in flight in a group of blocks: copies not yet committed, and groups in order."""

    open: list[Copy] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)

    def commit(self, t: Threads) -> None:
        members = np.ones(t.count, bool) if t.mask is None else t.mask
        group, still = Group(members, []), []
        for copy in self.open:
            inside = members[copy.lanes]
            if inside.all():
                group.copies.append(copy)
            else:
                group.copies.append(copy.part(inside))
                still.append(copy.part(~inside))
        self.open = still
        self.groups.append(group)

    def wait(self, t: Threads, newest: int) -> None:
        """Land all but each lane's `newest` groups."""
        if t.mask is None and all(group.members.all() for group in self.groups):
            due = self.groups[:max(len(self.groups) - newest, 0)]
            self.groups = self.groups[len(due):]
            for group in due:
                for copy in group.copies:
                    land(t, copy)
            return
        waiting = np.ones(t.count, bool) if t.mask is None else t.mask
        newer = np.zeros(t.count, np.int64)
        landing: list[Copy] = []
        for group in reversed(self.groups):
            done = waiting & group.members & (newer >= newest)
            newer += group.members
            landing += [copy.part(done[copy.lanes]) for copy in group.copies]
            group.copies = [copy.part(~done[copy.lanes]) for copy in group.copies]
            group.members = group.members & ~done
        self.groups = [group for group in self.groups if group.members.any()]
        for copy in landing:
            land(t, copy)


def land(t: Threads, copy: Copy) -> None:
    """Do a copy."""
    if not len(copy.lanes):
        return
    describe = t.describe(copy.lanes)
    word = min(copy.size, 8)
    shape = (len(copy.lanes), copy.size // word)
    values = np.zeros(shape, f"u{word}")
    full = copy.kept == copy.size
    if (~full & (copy.kept > 0)).any():
        values = partial(t, copy, values)
    else:
        some = np.nonzero(full)[0]
        for lanes, view, index in t.blocks.memory.cells(
                copy.source[some], copy.size, t.describe(copy.lanes[some])):
            values[some[lanes]] = view[index].reshape(len(index), -1)
    flat = values if copy.size > 8 else values[:, 0]
    t.blocks.shared.store(t.blocks.index[copy.lanes], copy.target, flat, copy.size, describe)


def partial(t: Threads, copy: Copy, values: Array) -> Array:
    """Copies whose source is shorter, byte by byte."""
    data = values.view(np.uint8).reshape(len(copy.lanes), copy.size)
    for at in range(copy.size):
        some = np.nonzero(copy.kept > at)[0]
        for lanes, view, index in t.blocks.memory.cells(
                copy.source[some] + np.uint64(at), 1, t.describe(copy.lanes[some])):
            data[some[lanes], at] = view[index]
    return data.view(values.dtype)


def start_copy(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """cp.async.ca.shared.global [to], [from], size {, bytes of the source}."""
    if not (f.flag("shared", "shared::cta") and f.flag("global") and f.flag("ca", "cg")):
        raise UnknownForm("a copy other than from .global to .shared")
    policy = f.flag("L2::cache_hint")
    while f.flag(*HINTS):
        pass
    target, source, size = d.address(a[0]), d.address(a[1]), constant(a[2])
    rest = a[3:-1] if policy else a[3:]
    kept = d.read(rest[0], TYPES["u32"]) if rest else None

    def step(t: Threads) -> None:
        lanes = t.active()
        to, describe = target(t)[lanes], t.describe(lanes)
        shared = t.blocks.shared
        _, _, index = shared.cells(t.blocks.index[lanes], to, size, describe)
        shared.mark(index, size, False)
        length = (t.full(kept(t))[lanes] if kept is not None
                  else np.full(len(lanes), size, np.uint32))
        t.copies.open.append(Copy(lanes, to, source(t)[lanes], length, size))
    return step


def copy_async(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """cp.async and what commits it and waits for it."""
    if f.flag("commit_group"):
        return lambda t: t.copies.commit(t)
    if f.flag("wait_group"):
        newest = constant(a[0])
        return lambda t: t.copies.wait(t, newest)
    if f.flag("wait_all"):
        def wait_all(t: Threads) -> None:
            t.copies.commit(t)
            t.copies.wait(t, 0)
        return wait_all
    return start_copy(d, f, a)


@form("cp")
def cp(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    from . import tensor_maps

    if not f.flag("async"):
        raise UnknownForm("cp without .async")
    return tensor_maps.bulk(d, f, a) if f.flag("bulk") else copy_async(d, f, a)
