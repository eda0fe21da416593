"""Instructions of a whole warp: shuffles, votes, reductions, the election of a thread."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .decode import Form, form
from .text import Operand
from .threads import Reader, Step, Threads
from .values import B32, PRED, UFUNCS, Array, UnknownForm

LANE = np.arange(32)
WEIGHTS = np.uint32(1) << np.arange(32, dtype=np.uint32)
VOTES = {"all": lambda rows: rows.all(1), "any": lambda rows: rows.any(1),
         "uni": lambda rows: rows.all(1) | ~rows.any(1),
         "ballot": lambda rows: (rows * WEIGHTS).sum(1, dtype=np.uint32)}


def warps(t: Threads, values: Array) -> Array:
    """The values as rows of a warp's 32."""
    return t.full(values).reshape(-1, 32)


def members(f: Form, which: int | Operand) -> Step:
    """Checks that a member mask names all threads of a warp, and that all of them are there."""
    mask = f.read(which, B32)

    def check(t: Threads) -> None:
        t.whole_warps()
        named = t.chosen(mask(t))
        if (named != np.uint32(0xFFFF_FFFF)).any():
            raise UnknownForm(f"the member mask {int(named[0]):#x}, not of all threads")
    return check


@form("shfl")
def shuffle(f: Form) -> Step:
    """A value of another lane of the warp, or of a segment of it."""
    f.type()
    f.need("sync")
    mode, targets = f.choice("bfly", "up", "down", "idx"), f.writes(0)
    source, delta, check = f.read(1, B32), f.read(2, B32), members(f, 4)
    segment, clamp = f.constant(3) >> 8 & 31, f.constant(3) & 31
    low = LANE & segment
    high = low | (clamp & ~segment)

    def step(t: Threads) -> None:
        check(t)
        rows, by = warps(t, source(t)), delta(t).astype(np.int64) & 31
        by = by if len(by) == 1 else by.reshape(-1, 32)
        lane = (LANE ^ by if mode == "bfly" else LANE - by if mode == "up"
                else LANE + by if mode == "down" else low | (by & ~segment))
        inside = lane >= high if mode == "up" else lane <= high
        lane = np.where(inside, lane, LANE)
        values = np.take(rows, lane.reshape(-1), 1) if lane.size == 32 else (
            np.take_along_axis(rows, lane, 1))
        targets[0](t, values.reshape(-1))
        for put in targets[1:]:
            put(t, np.broadcast_to(inside, rows.shape).reshape(-1))
    return step


@form("redux")
def redux(f: Form) -> Step:
    kind, function = f.type(), f.table(UFUNCS)
    f.need("sync")
    return of_warps(f, f.read(1, kind), members(f, 2),
                    lambda rows: function.reduce(rows, 1, dtype=kind.dtype))


@form("vote")
def vote(f: Form) -> Step:
    f.type()
    f.need("sync")
    return of_warps(f, f.read(1, PRED), members(f, 2), f.table(VOTES))


@form("activemask")
def active_mask(f: Form) -> Step:
    f.type()
    return of_warps(f, Threads.members, lambda t: None, VOTES["ballot"])


def of_warps(f: Form, source: Reader, check: Step, function: Callable[[Array], Array]) -> Step:
    """Write what a function makes of each warp's row of values."""
    put = f.write(0)

    def step(t: Threads) -> None:
        check(t)
        put(t, np.repeat(function(warps(t, source(t))), 32))
    return step


@form("elect")
def elect(f: Form) -> Step:
    """The first lane of each warp: its number, and a predicate that only it has."""
    f.need("sync")
    check, (number, chosen) = members(f, 1), f.writes(0)

    def step(t: Threads) -> None:
        check(t)
        number(t, np.zeros(1, np.uint32))
        chosen(t, np.tile(LANE == 0, t.count // 32))
    return step
