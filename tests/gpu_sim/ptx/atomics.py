"""atom and red: one lane after the other where several have one address, in the order of the lanes
or, where the memory has a generator to shuffle them, in a random one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .decode import Form, form
from .moves import HINTS, SPACES, WIDTHS
from .rounding import decode, encode
from .threads import Reader, Step, Threads
from .values import TYPES, UFUNCS, Array, Type, UnknownForm, halves, joined

Update = Callable[..., Array]
UPDATES: dict[str, Update] = UFUNCS | {
    "exch": lambda old, new: new,
    "cas": lambda old, expected, new: np.where(old == expected, new, old),
    "inc": lambda old, top: np.where(old >= top, old.dtype.type(0), old + old.dtype.type(1)),
    "dec": lambda old, top: np.where((old == 0) | (old > top), top, old - old.dtype.type(1)),
}


def combine(view: Array, index: Array, update: Update, values: list[Array]) -> Array:
    """Update the places in the order of the lanes; what each found there."""
    order = np.argsort(index, kind="stable")
    starts = np.flatnonzero(np.diff(index[order], prepend=-1))
    counts = np.diff(starts, append=len(index))
    old = np.empty(len(index), view.dtype)
    if isinstance(update, np.ufunc) and counts.max(initial=0) > len(starts):
        for start, count in zip(starts, counts, strict=True):  # place by place
            lanes = order[start:start + count]
            place = index[lanes[0]]
            steps = update.accumulate(np.append(view[place], values[0][lanes]), dtype=view.dtype)
            old[lanes], view[place] = steps[:-1], steps[-1]
        return old
    for turn in range(counts.max(initial=0)):
        some = order[starts[counts > turn] + turn]
        at = index[some]
        old[some] = view[at]
        view[at] = update(view[at], *(v[some] for v in values))
    return old


def on_bits(kind: Type, update: Update) -> Update:
    """An update of bfloat16 or of packed halves, on bit patterns."""
    half = kind.half
    if half is None:
        return lambda *bits: encode(update(*(decode(one, kind) for one in bits)), kind)
    return lambda *bits: joined(encode(update(*(decode(halves(one), half) for one in bits)), half))


@form("atom", "red")
def atomic(f: Form) -> Step:
    kind, returns = f.type(), f.opcode == "atom"
    space, count = f.table(SPACES, "generic"), f.table(WIDTHS, 1)
    name = f.choice(*UPDATES)
    f.flag("noftz", *HINTS)
    if space in ("local", "param"):
        raise UnknownForm(f"atomics on .{space}")
    update = UPDATES[name]
    if kind.name in ("bf16", "f16x2", "bf16x2"):
        update, kind = on_bits(kind, update), TYPES[f"b{8 * kind.size}"]
    first = int(returns)
    columns = [f.reads(at, kind) for at in range(first + 1, len(f.operands))]
    if any(len(column) != count for column in columns):
        raise UnknownForm("operands that are not as many as the vector has")
    address, targets = f.address(first), f.writes(0) if returns else []

    def one(t: Threads, at: int, sources: list[Reader]) -> None:
        lanes, shuffle = t.active(), t.blocks.memory.shuffle
        lanes = lanes if shuffle is None else shuffle.permutation(lanes)
        values = [t.full(source(t))[lanes] for source in sources]
        places = address(t)[lanes] + np.uint64(at * kind.size)
        old = np.zeros(t.count, kind.dtype)
        for some, view, index in t.cells(space, lanes, places, kind.size, "read"):
            old[lanes[some]] = combine(view.view(kind.dtype), index, update,
                                       [v[some] for v in values])
        if targets:
            targets[at](t, old)

    def step(t: Threads) -> None:
        for at in range(count):
            one(t, at, [column[at] for column in columns])
    return step
