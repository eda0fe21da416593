"""wgmma: products of a warp group's 64 rows, operands in shared memory behind descriptors."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from .decode import Form, form
from .matrix import assembled, fragments, spread, taken_apart
from .moves import nothing
from .rounding import decode
from .text import Vector
from .threads import Step, Threads
from .values import BITS, PRED, TYPES, Array, Fault, Type, UnknownForm

SHAPE = re.compile(r"m64n(\d+)k(\d+)$")
# By a descriptor's swizzle mode: the width in bytes of a row, and what is exchanged.
WIDTHS, MASKS = {1: 128, 2: 64, 3: 32, 0: 16}, {0: 0, 1: 7, 2: 3, 3: 1}


def swizzle(addresses: Array, mode: int) -> Array:
    """16-byte chunks are exchanged within rows: an XOR with the row's number."""
    return addresses ^ (((addresses >> 7) & MASKS[mode]) << 4)


def tile(t: Threads, descriptors: Array, groups: Array, shape: tuple[int, int], kind: Type,
         transposed: bool) -> Array:
    """Numbers `[groups, rows, depth]` of an operand in shared memory.

    `descriptors` has one for each group: its start, the byte offsets between groups of eight rows,
    the swizzle mode.
    """
    row, column = np.meshgrid(np.arange(shape[0]), np.arange(shape[1]), indexing="ij")
    start, leading, stride = (
        (((descriptors >> np.uint64(by)) & np.uint64(0x3FFF)).astype(np.int64) << 4)[:, None, None]
        for by in (0, 16, 32))
    modes = np.unique(descriptors >> np.uint64(62))
    if len(modes) != 1:
        raise Fault("wgmma descriptors of several swizzle modes")
    mode, size = int(modes[0]), kind.size
    width = WIDTHS[mode]
    if transposed:
        if mode == 0:  # here the two offsets change places
            leading, stride = stride, leading
        per = width // size
        offset = ((row % per) * size + (row // per) * leading + (column % 8) * width
                  + (column // 8) * stride)
    elif mode == 0:
        offset = ((row % 8) * width + (row // 8) * stride + (column * size) % width
                  + (column * size) // width * leading)
    else:
        offset = (row % 8) * width + (row // 8) * stride + column * size
        if shape[1] * size > width:
            raise Fault(f"a wgmma tile of {shape[1] * size} bytes in rows of {width}")
    addresses = swizzle(start + offset, mode)
    bits = t.load("shared", np.repeat(groups * 128, row.size), addresses.reshape(-1), size)
    values = decode(bits.view(BITS[size]), kind).reshape(len(groups), *shape)
    return values.astype(np.float32) if values.dtype == np.float16 else values


@form("wgmma")
def wgmma(f: Form) -> Step:
    f.flag("sync", "aligned", "satfinite")
    if f.flag("fence", "commit_group", "wait_group"):
        return nothing
    f.need("mma_async")
    right, left, sums = f.type(), f.type(), f.type()
    match = next((found for one in f.rest if (found := SHAPE.match(one))), None)
    if match is None or left != right:
        raise UnknownForm(f"wgmma without a shape, or of .{left.name}.{right.name}")
    f.need(match[0])
    columns, depth = int(match[1]), int(match[2])
    # Signs of A and B, then whether they are transposed, of those that are in shared memory.
    literals = [f.constant(one) for one in f.operands[4:]]
    sign = np.float32(np.prod(literals[:2] or [1]))
    transposed = [bool(one) for one in literals[2:]]
    a = left_operand(f, left, depth, bool(transposed[1:]) and transposed[0])
    b, keep = f.read(2, TYPES["b64"]), f.read(3, PRED)
    old, put = f.reads(0, TYPES["b32"]), f.writes(0)

    def step(t: Threads) -> None:
        groups = t.groups(128, "warp group")
        second = tile(t, t.full(b(t))[groups * 128], groups, (columns, depth), right,
                      transposed[-1:] == [True])
        product = np.matmul(a(t, groups), second.transpose(0, 2, 1)) * sign
        before = assembled(of_groups(fragments(t, old), groups), sums, "c", (16, columns))
        kept = np.repeat(t.full(keep(t))[groups * 128], 4)[:, None, None]
        start = np.where(kept, before, before.dtype.type(0))
        words = taken_apart(start + product.reshape(start.shape).astype(start.dtype), sums)
        for at, write in enumerate(put):
            write(t, spread(t, groups, words[:, at].reshape(-1, 128)))
    return step


def of_groups(rows: Array, groups: Array) -> Array:
    """The rows, one for each warp, of the warps of some groups."""
    return rows.reshape(-1, 4, *rows.shape[1:])[groups].reshape(-1, *rows.shape[1:])


def left_operand(f: Form, kind: Type, depth: int,
                 transposed: bool) -> Callable[[Threads, Array], Array]:
    """A function that gives A as `[groups, 64, depth]`, of registers or of shared memory."""
    if isinstance(f.operand(1), Vector):
        sources = f.reads(1, TYPES["b32"])
        return lambda t, groups: assembled(
            of_groups(fragments(t, sources), groups), kind, "a", (16, depth),
        ).reshape(-1, 64, depth)
    descriptor = f.read(1, TYPES["b64"])
    return lambda t, groups: tile(t, t.full(descriptor(t))[groups * 128], groups, (64, depth),
                                  kind, transposed)
