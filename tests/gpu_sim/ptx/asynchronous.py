"""What runs beside the threads: fences, mbarriers, cp.async, and tensor maps with their copies.

An mbarrier is a word in shared memory: its phase, how many arrivals a phase expects, how many are
pending, and the bytes that are still to arrive.

A copy by cp.async lands when it is waited for, not before: its destination counts as unwritten
while it is in flight, so that a read without the wait is reported. Copies of boxes, which tensor
maps describe (TMA), land at once. A map's bytes are opaque on a device; here they are `LAYOUT`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .decode import Form, form
from .matrix import swizzle
from .moves import HINTS, nothing
from .text import Address
from .threads import Step, Threads, space_of
from .values import TYPES, U32, Array, Fault, UnknownForm

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
    lanes = np.array([lane])
    phase, expected, pending, left = unpack(t.load("shared", lanes, address, 8))
    pending, left = pending - arrivals, left + bytes_left
    if pending[0] < 0:
        raise Fault(f"more arrivals at an mbarrier than the {int(expected[0])} that it expects, "
                    f"{t.blocks.describe(lane)}")
    if pending[0] == 0 and left[0] == 0:
        phase, pending = phase ^ np.int64(1), expected
    t.store("shared", lanes, address, pack(phase, expected, pending, left), 8)


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


@form("mbarrier")
def mbarrier(f: Form) -> Step:
    action = f.table({"init": init, "inval": lambda f: nothing, "arrive": arrive,
                      "try_wait": wait, "test_wait": wait})
    f.flag("shared", "shared::cta", "b64", *HINTS)
    return action(f)


@form("fence", "membar", "griddepcontrol", "setmaxnreg", "nanosleep")
def fence(f: Form) -> Step:
    """The lanes run in lockstep and see each other's accesses at once."""
    f.flag("proxy", "async", "alias", "async::generic", "async.shared::cta", "shared::cta",
           "global", "tensormap::generic", "sc", "cluster", "gl", "mbarrier_init", "wait",
           "launch_dependents", "inc", "dec", "sync", "aligned", "u32", *HINTS)
    return nothing


# ---- cp.async

class Copy(NamedTuple):
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
        return Copy(*(one[inside] for one in self[:-1]), self.size)


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
            copy.groups[new] = self.committed[copy.lanes[new]]

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
    f.need("shared|shared::cta", "global", "ca|cg")
    partial = len(f.operands) - ("L2::cache_hint" in f.rest) > 3
    f.flag(*HINTS)
    target, source, size = f.address(0), f.address(1), f.constant(2)
    kept = f.read(3, U32) if partial else None

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


# ---- tensor maps and bulk copies

LAYOUT = np.dtype({
    "names": ["address", "elemtype", "rank", "swizzle_mode", "interleave_layout", "fill_mode",
              "global_dim", "box_dim", "element_stride", "global_stride"],
    "formats": ["u8", "u1", "u1", "u1", "u1", "u1", ("u4", 5), ("u4", 5), ("u4", 5), ("u8", 5)],
    "offsets": [0, 8, 9, 10, 11, 12, 16, 36, 56, 80], "itemsize": 128})
FIELDS = {name: name for name in LAYOUT.names or ()} | {"global_address": "address"}
ELEMENT_SIZES = {0: 1, 1: 2, 2: 4, 3: 4, 4: 8, 5: 8, 6: 2, 7: 4, 8: 8, 9: 4, 10: 2}
# From a map's swizzle mode to a descriptor's.
MODES = {0: 0, 1: 3, 2: 2, 3: 1}
RANKS = {f"{rank}d": rank for rank in range(1, 6)}


@form("tensormap")
def tensormap(f: Form) -> Step:
    if f.flag("cp_fenceproxy"):
        f.flag("global", "shared::cta", "tensormap::generic", "sync", "aligned", *HINTS)
        return copy_map(f)
    f.need("replace", "tile", "b1024", "shared::cta|shared")
    kind, field = f.type(), f.table(FIELDS)
    item, start = LAYOUT[field], LAYOUT.fields[field][1]  # type: ignore[index]
    ordinal = f.constant(1) if len(f.operands) > 2 else 0
    address, value = f.address(0), f.read(-1, kind)
    offset = start + ordinal * item.base.itemsize

    def step(t: Threads) -> None:
        places, values = t.chosen(address(t)), t.chosen(value(t)).astype(item.base)
        # Fields lie where their size does not divide the address of the map.
        for at, column in enumerate(values.view(np.uint8).reshape(len(places), -1).T, offset):
            t.store("shared", t.active(), places + np.uint64(at), column, 1)
    return step


def copy_map(f: Form) -> Step:
    """A map from shared to global memory."""
    target, source, size = f.address(0), f.address(1), f.constant(2)

    def step(t: Threads) -> None:
        # Each warp's lanes copy the same bytes: the first active lane of each block does.
        lanes = t.active()
        lanes = lanes[np.unique(t.blocks.index[lanes], return_index=True)[1]]
        to, start = target(t)[lanes], source(t)[lanes]
        for word in range(0, size, 8):
            values = t.load("shared", lanes, start + np.uint64(word), 8)
            t.store("global", lanes, to + np.uint64(word), values, 8)
    return step


def read_map(t: Threads, address: int, rank: int) -> np.void:
    """The map at a generic address."""
    _, (place,) = space_of(np.array([address], np.uint64))
    found = np.frombuffer(t.blocks.memory.read(int(place), 128), LAYOUT)[0]
    if int(found["rank"]) + 1 != rank or found["elemtype"] not in ELEMENT_SIZES or not (
            found["box_dim"][:rank].all()):
        raise Fault(f"no tensor map of {rank} dimensions at {place:#x}")
    return found


def box(found: np.void, corner: list[int], start: int) -> tuple[Array, Array, Array, int]:
    """Global and shared addresses of a box's elements, which exist, and their size."""
    rank, size = len(corner), ELEMENT_SIZES[int(found["elemtype"])]
    extents = [int(n) for n in found["box_dim"][:rank]]
    strides = [size, *(int(n) for n in found["global_stride"][:rank - 1])]
    grids = np.meshgrid(*(np.arange(n) for n in reversed(extents)), indexing="ij")[::-1]
    places = [(grid + at).reshape(-1) for grid, at in zip(grids, corner, strict=True)]
    inside = np.all([(place >= 0) & (place < int(end)) for place, end in zip(
        places, found["global_dim"], strict=False)], 0)
    far = int(found["address"]) + sum(
        place * stride for place, stride in zip(places, strides, strict=True))
    near = swizzle(start + np.arange(len(far)) * size, MODES[int(found["swizzle_mode"])])
    return far.astype(np.uint64), near, inside, size


def bulk(f: Form) -> Step:
    """cp.async.bulk: copies of boxes and what commits them and waits for them."""
    if f.flag("commit_group", "wait_group"):
        f.flag("read")
        return nothing
    f.need("tensor")
    rank = f.table(RANKS)
    f.flag("tile")
    loads = f.rest[:1] != ["global"]
    f.flag("shared::cta", "shared::cluster", "global")
    f.need("mbarrier::complete_tx::bytes" if loads else "bulk_group")
    tensor, shared = (f.operand(1), 0) if loads else (f.operand(0), 1)
    if not isinstance(tensor, Address) or len(tensor.coordinates) != rank:
        raise UnknownForm("a tensor without as many coordinates as dimensions")
    where, place = f.address(Address(tensor.base, tensor.offset)), f.address(shared)
    coordinates = [f.read(one, TYPES["s32"]) for one in tensor.coordinates]
    barrier = f.address(2) if loads else None

    def step(t: Threads) -> None:
        corners, maps, starts = [t.full(one(t)) for one in coordinates], where(t), place(t)
        for lane in map(int, t.active()):
            found = read_map(t, int(maps[lane]), rank)
            moved = move(t, lane, found, [int(one[lane]) for one in corners], int(starts[lane]),
                         loads)
            if barrier is not None:
                update(t, lane, barrier(t)[lane:lane + 1], 0, -moved)
    return step


def move(t: Threads, lane: int, found: np.void, corner: list[int], start: int,
         loads: bool) -> int:
    """Copy a box; the bytes that it has in shared memory."""
    if start % 128:
        raise Fault(f"a tensor's box at shared address {start}, which 128 does not divide, "
                    f"{t.blocks.describe(lane)}")
    far, places, inside, size = box(found, corner, start)
    lanes, some = np.full(len(places), lane), np.full(int(inside.sum()), lane)
    if loads:
        values = np.zeros(len(places), f"u{size}")
        if int(found["fill_mode"]) and size > 1:
            values[:] = np.iinfo(values.dtype).max
        values[inside] = t.load("global", some, far[inside], size)
        t.store("shared", lanes, places, values, size)
    else:
        values = t.load("shared", lanes, places, size)
        t.store("global", some, far[inside], values[inside], size)
    return len(places) * size
