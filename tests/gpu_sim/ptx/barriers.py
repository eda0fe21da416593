"""mbarrier objects and fences. `bar` is the scheduler's.

An mbarrier is a word in shared memory: its phase, how many arrivals a phase expects, how many are
pending, and the bytes that are still to arrive.
"""

from __future__ import annotations

import numpy as np

from .decode import Form, form
from .moves import HINTS, nothing
from .text import Address
from .threads import Step, Threads
from .values import TYPES, Array, Fault

COUNT = np.int64((1 << 20) - 1)
PENDING, PHASE, BYTES = np.int64(20), np.int64(40), np.int64(41)
U32 = TYPES["u32"]


def pack(phase: Array, expected: Array, pending: Array, left: Array) -> Array:
    return (expected | (pending << PENDING) | (phase << PHASE) | (left << BYTES)).view(np.uint64)


def unpack(word: Array) -> tuple[Array, Array, Array, Array]:
    signed = word.view(np.int64)
    return (signed >> PHASE) & np.int64(1), signed & COUNT, (signed >> PENDING) & COUNT, (
        signed >> BYTES)


def update(t: Threads, lane: int, address: Array, arrivals: int, bytes_left: int) -> None:
    """Arrive at a barrier of the lane's block, and expect (or, negative, complete) bytes."""
    lanes = np.array([lane])
    phase, expected, pending, left = unpack(t.load("shared", lanes, address, 8))
    pending, left = pending - arrivals, left + bytes_left
    if pending[0] < 0:
        raise Fault(f"more arrivals at an mbarrier than the {int(expected[0])} that it expects, "
                    f"{t.blocks.describe(lane)}")
    if pending[0] == 0 and left[0] == 0:
        phase, pending = phase ^ np.int64(1), expected
    t.store("shared", lanes, address, pack(phase, expected, pending, left), 8)


@form("mbarrier")
def mbarrier(f: Form) -> Step:
    kind = f.choice("init", "inval", "arrive", "try_wait", "test_wait")
    f.flag("shared", "shared::cta", "b64", *HINTS)
    if kind == "inval":
        return nothing
    if kind == "init":
        return init(f)
    return arrive(f) if kind == "arrive" else wait(f)


def arrive(f: Form) -> Step:
    """`mbarrier.arrive {state,} [barrier] {, count}`, or with the bytes that will arrive."""
    place = next((at for at, one in enumerate(f.operands) if isinstance(one, Address)), 0)
    address, transaction = f.address(place), f.flag("expect_tx")
    amount = f.read(place + 1, U32) if len(f.operands) > place + 1 else None

    def step(t: Threads) -> None:
        where = address(t)
        values = t.full(amount(t)) if amount is not None else None
        for lane in t.active():
            number = 1 if values is None else int(values[lane])
            update(t, int(lane), where[lane:lane + 1],
                   *((1, number) if transaction else (number, 0)))
    return step


def init(f: Form) -> Step:
    address, count = f.address(0), f.read(1, U32)

    def step(t: Threads) -> None:
        expected = t.chosen(count(t)).astype(np.int64)
        zero = np.zeros_like(expected)
        word = pack(zero, expected, expected, zero)
        t.store("shared", t.active(), t.chosen(address(t)), word, 8)
    return step


def wait(f: Form) -> Step:
    """Whether the phase of that parity is over; the scheduler then prefers other threads."""
    f.need("parity")
    put, address, parity = f.write(0), f.address(1), f.read(2, U32)

    def step(t: Threads) -> None:
        words = t.load("shared", t.active(), t.chosen(address(t)), 8)
        over = unpack(words)[0] != (t.chosen(parity(t)) & np.uint32(1))
        t.stalled = not over.all()
        put(t, t.spread(over))
    return step


@form("fence", "membar", "griddepcontrol", "setmaxnreg", "nanosleep")
def fence(f: Form) -> Step:
    """The lanes run in lockstep and see each other's accesses at once."""
    f.flag("proxy", "async", "alias", "async::generic", "async.shared::cta", "shared::cta",
           "global", "tensormap::generic", "sc", "cluster", "gl", "mbarrier_init", "wait",
           "launch_dependents", "inc", "dec", "sync", "aligned", "u32", *HINTS)
    return nothing
