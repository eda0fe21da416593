"""Tensor maps and the bulk copies (TMA) of the boxes that they describe.

A map's 128 bytes are opaque on a device; here they are `LAYOUT`. Copies land at once.
"""

from __future__ import annotations

import math

import numpy as np

from .barriers import update
from .decode import Form, form
from .memory import PARAMETERS
from .moves import HINTS, nothing
from .text import Address
from .threads import Step, Threads, space_of
from .values import TYPES, Array, Fault, UnknownForm
from .wgmma import swizzle

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


def encode_map(address: int, shape: tuple[int, ...], element: int, box: tuple[int, ...],
               swizzle_mode: int) -> bytes:
    """The map of a dense array, as the driver's cuTensorMapEncodeTiled makes it.

    `element` is the driver's number of the type; `shape` and `box` begin with the outermost
    dimension.
    """
    size, rank = ELEMENT_SIZES[element], len(shape)
    made = np.zeros(1, LAYOUT)
    strides = [size * math.prod(shape[at:]) for at in range(rank - 1, 0, -1)]
    row = box[-1] * size
    if address % 16 or any(stride % 16 for stride in strides) or row % 16 or (
            row > {0: row, 1: 32, 2: 64, 3: 128}[swizzle_mode]) or max(box) > 256:
        raise ValueError(f"no tensor map of boxes {box} of an array of {shape} at {address:#x}")
    for name, value in (("address", address), ("elemtype", element), ("rank", rank - 1),
                        ("swizzle_mode", swizzle_mode)):
        made[name] = value
    for name, values in (("global_dim", shape[::-1]), ("box_dim", box[::-1]),
                         ("element_stride", (1,) * rank), ("global_stride", strides)):
        made[name][0, :len(values)] = values
    return made.tobytes()


@form("tensormap")
def tensormap(f: Form) -> Step:
    if f.flag("cp_fenceproxy"):
        f.flag("global", "shared::cta", "tensormap::generic", "sync", "aligned", *HINTS)
        return copy_map(f)
    for names in (("replace",), ("tile",), ("b1024",), ("shared::cta", "shared")):
        f.need(*names)
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
    place = int(place) + (PARAMETERS if place < 1 << 16 else 0)  # or in the parameters' own space
    found = np.frombuffer(t.blocks.memory.read(place, 128), LAYOUT)[0]
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
    address = np.full(grids[0].shape, int(found["address"]), np.int64)
    inside = np.ones(grids[0].shape, bool)
    for axis, grid in enumerate(grids):
        place = grid + corner[axis]
        inside &= (place >= 0) & (place < int(found["global_dim"][axis]))
        address += place * strides[axis]
    linear = start + np.arange(math.prod(extents)) * size
    places = swizzle(linear, MODES[int(found["swizzle_mode"])])
    return address.reshape(-1).astype(np.uint64), places, inside.reshape(-1), size


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
