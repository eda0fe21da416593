"""Tensor maps and the bulk copies (TMA) of the boxes that they describe.

A map's 128 bytes are opaque on a device; here they are `LAYOUT`, which the driver stand-in writes
too. Copies land at once.
"""

from __future__ import annotations

import math

import numpy as np

from .barriers import update
from .decode import Decoder, Form, constant, form
from .memory import PARAMETERS
from .moves import nothing, space_of
from .text import Address, Operand
from .threads import Step, Threads
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


@form("tensormap")
def tensormap(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    if f.flag("cp_fenceproxy"):
        while f.flag("global", "shared::cta", "tensormap::generic", "release", "gpu", "sync",
                     "aligned", "cta", "sys"):
            pass
        return copy_map(d, a)
    if not (f.flag("replace") and f.flag("tile") and f.flag("b1024")):
        raise UnknownForm("tensormap without .replace.tile or .cp_fenceproxy")
    kind = f.type()
    field = FIELDS.get(f.choice(*FIELDS), "")
    if not field:
        raise UnknownForm("a field of a tensor map")
    shared = f.flag("shared::cta", "shared")
    if not shared and not f.flag("global"):
        raise UnknownForm("a tensor map in neither .shared nor .global")
    if not shared:
        raise UnknownForm("a change of a tensor map in global memory")
    item, start = LAYOUT[field], LAYOUT.fields[field][1]  # type: ignore[index]
    ordinal = constant(a[1]) if len(a) > 2 else 0
    base, value = item.base, d.read(a[-1], kind)
    address = d.address(a[0])
    offset = np.uint64(start + ordinal * base.itemsize)

    def step(t: Threads) -> None:
        lanes = t.active()
        values = t.full(value(t))[lanes].astype(base)
        places = address(t)[lanes] + offset
        block = t.blocks.index[lanes]
        # Fields lie where their size does not divide the address of the map.
        for byte, column in enumerate(values.view(np.uint8).reshape(len(lanes), -1).T):
            t.blocks.shared.store(block, places + np.uint64(byte), column, 1, t.describe(lanes))
    return step


def copy_map(d: Decoder, a: tuple[Operand, ...]) -> Step:
    """A map from shared to global memory."""
    target, source, size = d.address(a[0]), d.address(a[1]), constant(a[2])
    words = [np.uint64(8 * n) for n in range(size // 8)]

    def step(t: Threads) -> None:
        # Each warp's lanes copy the same bytes: the first active lane of each block does.
        lanes = t.active()
        _, first = np.unique(t.blocks.index[lanes], return_index=True)
        lanes = lanes[first]
        to, describe = target(t)[lanes], t.describe(lanes)
        for word in words:
            values = t.blocks.shared.load(t.blocks.index[lanes], source(t)[lanes] + word, 8,
                                          describe)
            for some, view, index in t.blocks.memory.cells(to + word, 8, describe):
                view[index] = values[some]
    return step


def read_map(t: Threads, address: int) -> np.void:
    """The map at a global address, its rank as PTX writes it (less one)."""
    if address < 1 << 16:  # in the parameters' own space
        address += PARAMETERS
    found = np.frombuffer(t.blocks.memory.read(address, 128), LAYOUT)[0]
    if found["elemtype"] not in ELEMENT_SIZES or not found["box_dim"][:found["rank"] + 1].all():
        raise Fault(f"no tensor map at {address:#x}")
    return found


def box(found: np.void, corner: list[int], start: int) -> tuple[Array, Array, Array, int]:
    """Global and shared addresses of a box's elements, which exist, and their size."""
    rank, size = int(found["rank"]) + 1, ELEMENT_SIZES[int(found["elemtype"])]
    extents = [int(n) for n in found["box_dim"][:rank]]
    strides = [size, *(int(n) for n in found["global_stride"][:rank - 1])]
    grids = np.meshgrid(*(np.arange(n) for n in reversed(extents)), indexing="ij")[::-1]
    address = np.full(grids[0].shape, int(found["address"]), np.int64)
    inside = np.ones(grids[0].shape, bool)
    for axis, grid in enumerate(grids):
        place = grid + corner[axis]
        inside &= (place >= 0) & (place < int(found["global_dim"][axis]))
        address += place * strides[axis]
    mode = MODES[int(found["swizzle_mode"])]
    linear = start + np.arange(math.prod(extents)) * size
    return address.reshape(-1), swizzle(linear, mode), inside.reshape(-1), size


def bulk(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """cp.async.bulk: copies of boxes and what commits them and waits for them."""
    if f.flag("commit_group"):
        return nothing
    if f.flag("wait_group"):
        f.flag("read")
        return nothing
    if not f.flag("tensor"):
        raise UnknownForm("a bulk copy without .tensor")
    rank = f.table(RANKS)
    f.flag("tile")
    loads = bool(f.rest) and f.rest[0].startswith("shared")
    f.flag("shared::cta", "shared::cluster"), f.flag("global")
    if loads and not f.flag("mbarrier::complete_tx::bytes"):
        raise UnknownForm("a load without .mbarrier::complete_tx::bytes")
    if not loads and not f.flag("bulk_group"):
        raise UnknownForm("a store without .bulk_group")
    tensor, shared = (a[1], a[0]) if loads else (a[0], a[1])
    if not isinstance(tensor, Address) or len(tensor.coordinates) != rank:
        raise UnknownForm("a tensor without as many coordinates as dimensions")
    where, place = d.address(Address(tensor.base, tensor.offset)), d.address(shared)
    coordinates = [d.read(one, TYPES["s32"]) for one in tensor.coordinates]
    barrier = d.address(a[2]) if loads else None

    def step(t: Threads) -> None:
        lanes = t.active()
        if not len(lanes):
            return
        corners = [t.full(one(t)) for one in coordinates]
        maps, starts = where(t), place(t)
        for lane in lanes:
            _, address = space_of(t, maps[lane:lane + 1])
            found = read_map(t, int(address[0]))
            if int(found["rank"]) + 1 != rank:
                raise Fault(f"a tensor map of {int(found['rank']) + 1} dimensions")
            corner = [int(one[lane]) for one in corners]
            moved = move(t, int(lane), found, corner, int(starts[lane]), loads)
            if barrier is not None:
                update(t, int(lane), barrier(t)[lane:lane + 1], 0, -moved)
    return step


def move(t: Threads, lane: int, found: np.void, corner: list[int], start: int,
         loads: bool) -> int:
    """Copy a box; the bytes that it has in shared memory."""
    if start % 128:
        raise Fault(f"a tensor's box at shared address {start}, which 128 does not divide, "
                    f"{t.blocks.describe(lane)}")
    addresses, places, inside, size = box(found, corner, start)
    far, owners = addresses[inside].astype(np.uint64), np.full(len(places), t.blocks.index[lane])
    describe = t.describe(np.full(len(places), lane))
    shared = t.blocks.shared
    if loads:
        values = np.zeros(len(places), f"u{size}")
        if int(found["fill_mode"]) and size > 1:
            values[:] = np.iinfo(values.dtype).max
        loaded = values[inside]
        for some, view, index in t.blocks.memory.cells(far, size, describe):
            loaded[some] = view[index]
        values[inside] = loaded
        shared.store(owners, places, values, size, describe)
    else:
        values = shared.load(owners, places, size, describe)[inside]
        for some, view, index in t.blocks.memory.cells(far, size, describe):
            view[index] = values[some]
    return len(places) * size
