"""atom and red: one lane after the other where several have one address, in the order of the lanes
or, where the memory has a generator to shuffle them, in a random one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .decode import Decoder, Form, form
from .memory import Cells
from .moves import HINTS, SPACES, space_of
from .rounding import narrow, widen
from .text import Operand
from .threads import Reader, Step, Threads
from .values import TYPES, Array, Type, UnknownForm

Update = Callable[..., Array]
UPDATES: dict[str, Update] = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor,
    "exch": lambda old, new: new,
    "cas": lambda old, expected, new: np.asarray(np.where(old == expected, new, old)),
    "inc": lambda old, top: np.where(old >= top, old.dtype.type(0), old + old.dtype.type(1)),
    "dec": lambda old, top: np.where((old == 0) | (old > top), top, old - old.dtype.type(1)),
}
ORDERLESS = {"min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
             "xor": np.bitwise_xor, "add": np.add}


def ordered_lanes(t: Threads) -> Array:
    """The active lanes in the order of their updates: their own, or a random one."""
    shuffle = t.blocks.memory.shuffle
    return t.active() if shuffle is None else shuffle.permutation(t.active())


def places(t: Threads, lanes: Array, space: str, addresses: Array,
           size: int) -> Iterator[Cells]:
    """Where the lanes' accesses lie."""
    addresses, describe = addresses[lanes], t.describe(lanes)
    if space == "generic" and len(lanes):
        space, addresses = space_of(t, addresses)
    if space == "shared":
        shared = t.blocks.shared
        found = shared.cells(t.blocks.index[lanes], addresses, size, describe)
        if shared.check:
            shared.check_written(found.at, size, addresses, describe)
        yield found
    elif space == "global":
        yield from t.blocks.memory.cells(addresses, size, describe)
    else:
        raise UnknownForm(f"atomics on .{space}")


def ranks(index: Array) -> Array:
    """How many entries before it are equal, for each entry."""
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    first = np.r_[True, ordered[1:] != ordered[:-1]]
    starts = np.maximum.accumulate(np.where(first, np.arange(len(index)), 0))
    result = np.empty(len(index), np.int64)
    result[order] = np.arange(len(index)) - starts
    return result


def combine(view: Array, index: Array, update: Update, values: tuple[Array, ...]) -> Array:
    """Update the places in the order of the lanes; what each found there."""
    old = np.empty(len(index), view.dtype)
    rank = ranks(index) if len(index) else index
    for turn in range(int(rank.max(initial=-1)) + 1):
        some = np.nonzero(rank == turn)[0]
        at = index[some]
        old[some] = view[at]
        view[at] = update(view[at], *(v[some] for v in values))
    return old


def packed_update(kind: Type, update: Update) -> Update:
    """An update of bfloat16 or of two packed halves, on bit patterns."""
    if kind.name == "bf16":
        return lambda old, new: narrow(update(widen(old), widen(new)))

    def both(old: Array, new: Array) -> Array:
        parts = []
        for by in (np.uint32(0), np.uint32(16)):
            x, y = ((v >> by).astype(np.uint16) for v in (old, new))
            if kind.name == "bf16x2":
                part = narrow(update(widen(x), widen(y)))
            else:
                part = update(x.view(np.float16), y.view(np.float16)).view(np.uint16)
            parts.append(part.astype(np.uint32) << by)
        return parts[0] | parts[1]
    return both


@form("atom", "red")
def atomic(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind, returns = f.type(), f.opcode == "atom"
    space = SPACES.get(f.choice(*SPACES), "generic")
    count = {"": 1, "v2": 2, "v4": 4, "v8": 8}[f.choice("v2", "v4", "v8")]
    f.flag("noftz")
    name = f.choice(*UPDATES)
    while f.flag("acq_rel", *HINTS):
        pass
    if not name:
        raise UnknownForm("an atomic operation without a name")
    rest = a[1:] if returns else a
    address = d.address(rest[0])
    packed = kind.name in ("bf16", "f16x2", "bf16x2")
    read_as = TYPES[f"b{8 * kind.size}"] if packed else kind
    update = packed_update(kind, UPDATES[name]) if packed else UPDATES[name]
    columns = [[d.read(one, read_as) for one in d.vector(operand)] for operand in rest[1:]]
    targets = [d.write(one) for one in d.vector(a[0])] if returns else []
    quick = ORDERLESS.get(name) if not packed and (
        not returns or all(d.unused(one) for one in d.vector(a[0]))) else None
    if any(len(column) != count for column in columns):
        raise UnknownForm("operands that are not as many as the vector has")
    dtype = read_as.dtype

    def one(t: Threads, at: int, base: Array, sources: list[Reader]) -> None:
        lanes = ordered_lanes(t)
        values = tuple(t.full(source(t))[lanes] for source in sources)
        old = np.empty(len(lanes), dtype)
        places_at = base + np.uint64(at * kind.size)
        for some, view, index in places(t, lanes, space, places_at, kind.size):
            typed, mine = view.view(dtype), tuple(v[some] for v in values)
            if quick is not None:
                quick.at(typed, index, *mine)
            else:
                old[some] = combine(typed, index, update, mine)
        if targets:
            result = np.zeros(t.count, dtype)
            result[lanes] = old
            targets[at](t, result)

    def step(t: Threads) -> None:
        base = address(t)
        for at in range(count):
            one(t, at, base, [column[at] for column in columns])
    return step
