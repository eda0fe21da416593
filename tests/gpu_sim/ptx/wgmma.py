"""wgmma: products of a warp group's 64 rows, operands in shared memory behind descriptors."""

from __future__ import annotations

import re

import numpy as np

from .decode import Decoder, Form, constant, form
from .matrix import GROUP, MEMBER, elements, numbers_of, packed
from .moves import nothing
from .text import Operand, Vector
from .threads import Step, Threads
from .values import BITS, PRED, TYPES, Array, Fault, UnknownForm

SHAPE = re.compile(r"m64n(\d+)k(\d+)$")
# Of a descriptor: the width in bytes of a swizzled row, by its swizzle mode.
WIDTHS = {1: 128, 2: 64, 3: 32, 0: 16}
MASKS = {0: 0, 1: 7, 2: 3, 3: 1}


def swizzle(addresses: Array, mode: int) -> Array:
    """16-byte chunks are exchanged within rows: an XOR with the row's number."""
    return addresses ^ (((addresses >> 7) & MASKS[mode]) << 4)


def tile(t: Threads, descriptors: Array, groups: Array, shape: tuple[int, int], name: str,
         transposed: bool) -> Array:
    """Numbers `[groups, rows, depth]` of an operand in shared memory.

    `descriptors` has one for each group: its start, the byte offsets between groups of eight rows,
    the swizzle mode.
    """
    size = TYPES[name].size
    row, column = np.meshgrid(np.arange(shape[0]), np.arange(shape[1]), indexing="ij")
    start, leading, stride = (
        (((descriptors >> np.uint64(by)) & np.uint64(0x3FFF)).astype(np.int64) << 4)[:, None, None]
        for by in (0, 16, 32))
    modes = np.unique(descriptors >> np.uint64(62))
    if len(modes) != 1:
        raise Fault("wgmma descriptors of several swizzle modes")
    mode = int(modes[0])
    width = WIDTHS[mode]
    if transposed and mode == 0:  # here the two offsets change places
        per = width // size
        offset = ((row % per) * size + (row // per) * stride + (column % 8) * width
                  + (column // 8) * leading)
    elif transposed:
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
    blocks = np.repeat(t.blocks.index[groups * 128], row.size)
    lanes = np.repeat(groups * 128, row.size)
    data = t.blocks.shared.load(blocks, addresses.reshape(-1), size, t.describe(lanes))
    numbers = numbers_of(data.view(BITS[size]), name)
    return numbers.reshape(len(groups), *shape)


def register_operand(bits: Array, name: str, depth: int) -> Array:
    """A in registers `[groups, registers, 4 warps, 32]` as `[groups, 64, depth]`."""
    groups = bits.shape[0]
    numbers = elements(bits, name)  # groups, registers, warps, width, lanes
    width = numbers.shape[3]
    result = np.empty((groups, 4, 16, depth), np.float32)
    for register in range(bits.shape[1]):
        for element in range(width):
            rows = GROUP + 8 * (register & 1)
            columns = MEMBER * width + element + 4 * width * (register >> 1)
            result[:, :, rows, columns] = numbers[:, register, :, element]
    return result.reshape(groups, 64, depth)


def grouped(t: Threads, values: Array) -> Array:
    return t.full(values).reshape(-1, 4, 32)


@form("wgmma")
def wgmma(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    f.flag("sync"), f.flag("aligned")
    if f.flag("fence", "commit_group", "wait_group"):
        return nothing
    if not f.flag("mma_async"):
        raise UnknownForm("wgmma without .mma_async")
    f.flag("satfinite")
    right, left, sums = f.type().name, f.type().name, f.type().name
    match = SHAPE.match(f.rest[0]) if f.rest else None
    if match is None or not f.flag(match[0]):
        raise UnknownForm("wgmma without a shape")
    columns, depth = int(match[1]), int(match[2])
    if left != right:
        raise UnknownForm(f"the types .{left}.{right}")
    registers = isinstance(a[1], Vector)
    literals = [constant(one) for one in a[4:]]
    negate = [bool(literals) and literals[n] == -1 for n in (0, 1)]
    transposes = literals[2:]
    transposed_b = bool(transposes and transposes[-1])
    transposed_a = len(transposes) == 2 and bool(transposes[0])
    A = [d.read(x, TYPES["b32"]) for x in d.vector(a[1])] if registers else [
        d.read(a[1], TYPES["b64"])]
    B, keep = d.read(a[2], TYPES["b64"]), d.read(a[3], PRED)
    old = [d.read(x, TYPES["b32"]) for x in d.vector(a[0])]
    put = [d.write(x) for x in d.vector(a[0])]

    def operand_a(t: Threads, groups: Array) -> Array:
        if registers:
            bits = np.stack([grouped(t, source(t)) for source in A], 1)[groups]
            return register_operand(bits, left, depth)
        return tile(t, t.full(A[0](t))[groups * 128], groups, (64, depth), left, transposed_a)

    def step(t: Threads) -> None:
        groups = groups_of(t)
        left_matrix = operand_a(t, groups)
        right_matrix = tile(t, t.full(B(t))[groups * 128], groups, (columns, depth), right,
                            transposed_b)
        product = np.matmul(left_matrix, right_matrix.transpose(0, 2, 1))
        if negate[0] != negate[1]:
            product = -product
        accumulate(t, groups, product.reshape(-1, 4, 16, columns))

    def accumulate(t: Threads, groups: Array, product: Array) -> None:
        on = grouped(t, keep(t))[groups]
        for at, write in enumerate(put):
            before = elements(grouped(t, old[at](t))[groups], sums)
            width, parts = before.shape[2], []
            for n in range(width):
                number = at * width + n
                rows = GROUP + 8 * ((number >> 1) & 1)
                part = product[:, :, rows, (number // 4) * 8 + MEMBER * 2 + (number & 1)]
                start = np.where(on, before[:, :, n], before.dtype.type(0))
                parts.append((start + part).astype(before.dtype))
            write(t, spread_groups(t, groups, packed(parts)))
    return step


def groups_of(t: Threads) -> Array:
    """The numbers of the warp groups that run the step."""
    if t.mask is None:
        return np.arange(t.count // 128)
    rows = t.mask.reshape(-1, 128)
    if (rows.any(1) != rows.all(1)).any():
        raise Fault("only some threads of a warp group reach an instruction of the whole group")
    return np.nonzero(rows[:, 0])[0]


def spread_groups(t: Threads, groups: Array, values: Array) -> Array:
    if len(groups) * 128 == t.count:
        return values.reshape(-1)
    result = np.zeros((t.count // 128, 4, 32), values.dtype)
    result[groups] = values
    return result.reshape(-1)
