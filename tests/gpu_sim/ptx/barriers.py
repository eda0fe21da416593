"""mbarrier objects and fences. `bar` is the scheduler's: see machine.py.

An mbarrier is a word in shared memory: its phase, how many arrivals a phase expects, how many are
pending, and the bytes that are still to arrive.
"""

from __future__ import annotations

import numpy as np

from .decode import Decoder, Form, form
from .moves import nothing
from .text import Address, Operand
from .threads import Step, Threads
from .values import TYPES, Array, Fault, UnknownForm

COUNT = np.int64((1 << 20) - 1)
PENDING, PHASE, BYTES = np.int64(20), np.int64(40), np.int64(41)


def pack(phase: Array, expected: Array, pending: Array, left: Array) -> Array:
    return (expected | (pending << PENDING) | (phase << PHASE) | (left << BYTES)).view(np.uint64)


def unpack(word: Array) -> tuple[Array, Array, Array, Array]:
    signed = word.view(np.int64)
    return (signed >> PHASE) & np.int64(1), signed & COUNT, (signed >> PENDING) & COUNT, (
        signed >> BYTES)


def update(t: Threads, lane: int, address: Array, arrivals: int, bytes_left: int) -> None:
    """Arrive at a barrier of the lane's block, and expect (or, negative, complete) bytes."""
    block, describe = t.blocks.index[lane:lane + 1], t.describe(np.array([lane]))
    phase, expected, pending, left = unpack(t.blocks.shared.load(block, address, 8, describe))
    pending, left = pending - arrivals, left + bytes_left
    if (pending < 0).any():
        raise Fault(f"more arrivals at an mbarrier than the {int(expected[0])} that it expects, "
                    f"{describe(0)}")
    if pending[0] == 0 and left[0] == 0:
        phase, pending = phase ^ np.int64(1), expected
    t.blocks.shared.store(block, address, pack(phase, expected, pending, left), 8, describe)


@form("mbarrier")
def mbarrier(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind = f.choice("init", "inval", "arrive", "try_wait", "test_wait")
    f.flag("shared", "shared::cta"), f.flag("b64")
    while f.flag("release", "acquire", "cta", "relaxed"):
        pass
    if kind in ("try_wait", "test_wait"):
        return wait(d, f, a)
    place = next((n for n, one in enumerate(a) if isinstance(one, Address)), 0)
    address = d.address(a[place])
    if kind == "init":
        return init(d, a, address)
    if kind == "inval":
        return nothing
    if kind != "arrive":
        raise UnknownForm(f"mbarrier.{kind or f.rest}")
    transaction = f.flag("expect_tx")
    amount = d.read(a[place + 1], TYPES["u32"]) if len(a) > place + 1 else None

    def arrive(t: Threads) -> None:
        where = address(t)
        values = t.full(amount(t)) if amount is not None else None
        for lane in t.active():
            number = 1 if values is None else int(values[lane])
            arrivals, left = (1, number) if transaction else (number, 0)
            update(t, int(lane), where[lane:lane + 1], arrivals, left)
    return arrive


def init(d: Decoder, a: tuple[Operand, ...], address: object) -> Step:
    count = d.read(a[1], TYPES["u32"])

    def step(t: Threads) -> None:
        lanes = t.active()
        expected = t.full(count(t))[lanes].astype(np.int64)
        zero = np.zeros(len(lanes), np.int64)
        t.blocks.shared.store(t.blocks.index[lanes], address(t)[lanes],  # type: ignore[operator]
                              pack(zero, expected, expected, zero), 8, t.describe(lanes))
    return step


def wait(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """Whether the phase of that parity is over; the scheduler then prefers other threads."""
    if not f.flag("parity"):
        raise UnknownForm("a wait without .parity")
    put, address, parity = d.write(a[0]), d.address(a[1]), d.read(a[2], TYPES["u32"])

    def step(t: Threads) -> None:
        lanes = t.active()
        words = t.blocks.shared.load(t.blocks.index[lanes], address(t)[lanes], 8,
                                     t.describe(lanes))
        over = unpack(words)[0] != (t.full(parity(t))[lanes] & np.uint32(1))
        t.stalled = not over.all()
        result = np.zeros(t.count, bool)
        result[lanes] = over
        put(t, result)
    return step


@form("fence", "membar", "griddepcontrol", "setmaxnreg", "nanosleep")
def fence(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """The lanes run in lockstep and see each other's accesses at once."""
    while f.flag("proxy", "async", "alias", "async::generic", "async.shared::cta", "shared::cta",
                 "global", "tensormap::generic", "acquire", "release", "acq_rel", "sc", "cta",
                 "gpu", "sys", "cluster", "gl", "mbarrier_init", "wait", "launch_dependents",
                 "inc", "dec", "sync", "aligned", "u32"):
        pass
    return nothing
