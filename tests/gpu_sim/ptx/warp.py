"""Instructions of a whole warp: shuffles, votes, reductions, the election of a thread."""

from __future__ import annotations

import numpy as np

from .decode import Decoder, Form, constant, form
from .text import Operand
from .threads import Step, Threads
from .values import PRED, TYPES, UnknownForm

LANE = np.arange(32)
WEIGHTS = np.uint32(1) << np.arange(32, dtype=np.uint32)
REDUCTIONS = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
              "or": np.bitwise_or, "xor": np.bitwise_xor}


def members(d: Decoder, operand: Operand) -> Step:
    """Checks that a member mask names all threads of a warp, and that all of them are there."""
    mask = d.read(operand, TYPES["b32"])

    def check(t: Threads) -> None:
        t.whole_warps()
        named = mask(t)
        named = named if t.mask is None or len(named) == 1 else named[t.mask]
        if (named != np.uint32(0xFFFF_FFFF)).any():
            raise UnknownForm(f"the member mask {int(named[0]):#x}, not of all threads")
    return check


@form("shfl")
def shuffle(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """A value of another lane of the warp, or of a segment of it."""
    f.type()
    if not f.flag("sync"):
        raise UnknownForm("shfl without .sync")
    check = members(d, a[4])
    mode = f.choice("bfly", "up", "down", "idx")
    targets = [d.write(one) for one in d.vector(a[0])]
    source, delta = d.read(a[1], TYPES["b32"]), d.read(a[2], TYPES["b32"])
    segment, clamp = constant(a[3]) >> 8 & 31, constant(a[3]) & 31
    low = LANE & segment
    high = low | (clamp & ~segment)

    def step(t: Threads) -> None:
        check(t)
        rows = t.warps(source(t))
        by = delta(t).astype(np.int64) & 31
        by = by if len(by) == 1 else by.reshape(-1, 32)
        lane = {"bfly": lambda: LANE ^ by, "up": lambda: LANE - by, "down": lambda: LANE + by,
                "idx": lambda: low | (by & ~segment)}[mode]()
        inside = lane >= high if mode == "up" else lane <= high
        lane = np.where(inside, lane, LANE)
        if lane.size == 32:
            values = rows[:, lane.reshape(-1)]
        else:
            values = np.take_along_axis(rows, lane.reshape(-1, 32), 1)
        targets[0](t, np.ascontiguousarray(values).reshape(-1))
        if len(targets) > 1:
            targets[1](t, np.broadcast_to(inside, rows.shape).reshape(-1))
    return step


@form("redux")
def redux(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind = f.type()
    function = f.table(REDUCTIONS)
    f.flag("sync")
    check = members(d, a[2])
    source, put = d.read(a[1], kind), d.write(a[0])

    def step(t: Threads) -> None:
        check(t)
        result = function.reduce(t.warps(source(t)), 1, dtype=kind.dtype)
        put(t, np.repeat(result, 32))
    return step


@form("vote")
def vote(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    f.type()
    f.flag("sync")
    mode = f.choice("all", "any", "uni", "ballot")
    check = members(d, a[2])
    source, put = d.read(a[1], PRED), d.write(a[0])

    def step(t: Threads) -> None:
        check(t)
        rows = t.warps(source(t))
        result = {"all": lambda: rows.all(1), "any": lambda: rows.any(1),
                  "uni": lambda: rows.all(1) | ~rows.any(1),
                  "ballot": lambda: (rows * WEIGHTS).sum(1, dtype=np.uint32)}[mode]()
        put(t, np.repeat(result, 32))
    return step


@form("activemask")
def active_mask(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    f.type()
    put = d.write(a[0])

    def step(t: Threads) -> None:
        rows = np.ones((t.count // 32, 32), bool) if t.mask is None else t.mask.reshape(-1, 32)
        put(t, np.repeat((rows * WEIGHTS).sum(1, dtype=np.uint32), 32))
    return step


@form("elect")
def elect(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """The first active lane of each warp; its number, and a predicate that only it has."""
    f.flag("sync")
    check = members(d, a[1])
    number, chosen = (d.write(one) for one in d.vector(a[0]))

    def step(t: Threads) -> None:
        check(t)
        lanes = np.tile(LANE, t.count // 32)
        number(t, np.zeros(1, np.uint32))
        chosen(t, lanes == 0)
    return step
