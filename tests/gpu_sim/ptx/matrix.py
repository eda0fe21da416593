"""mma, wgmma, ldmatrix, stmatrix: how a warp's registers hold matrices is a table of positions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from .decode import Form, form
from .moves import nothing
from .rounding import decode, encode
from .text import Vector
from .threads import Reader, Step, Threads, Writer
from .values import B32, BITS, PRED, TYPES, Array, Fault, Type, UnknownForm
from .warp import warps

LANE = np.arange(32)
GROUP, MEMBER = LANE >> 2, LANE & 3


def place(which: str, register: int, element: int, width: int) -> tuple[Array, Array]:
    """Row and column that the lanes' registers hold of A, B, or the result C.

    A has 16 rows, of which registers alternate between halves; C has its columns by eights.
    """
    if which == "c":
        number = register * width + element
        return GROUP + 8 * (number >> 1 & 1), MEMBER * 2 + (number & 1) + 8 * (number >> 2)
    column = MEMBER * width + element
    if which == "b":
        return column + 4 * width * register, GROUP
    return GROUP + 8 * (register & 1), column + 4 * width * (register >> 1)


@cache
def positions(which: str, shape: tuple[int, int], size: int) -> Array:
    """Where each element of a matrix, row by row, is among those that a warp's registers hold."""
    width = max(4 // size, 1)
    index = np.full(shape, -1)
    for register in range(index.size // (32 * width)):
        for element in range(width):
            at = (register * 32 + LANE) * width + element
            index[place(which, register, element, width)] = at
    assert (index >= 0).all()
    return index.reshape(-1)


def word_type(kind: Type) -> Type:
    """Of the registers that hold numbers of a type."""
    return TYPES["b64" if kind.size == 8 else "b32"]


def fragments(t: Threads, sources: Sequence[Reader]) -> Array:
    """Registers as `[warps, registers, 32]`."""
    return np.stack([warps(t, source(t)) for source in sources], 1)


def assembled(bits: Array, kind: Type, which: str, shape: tuple[int, int]) -> Array:
    """Matrices `[warps, rows, columns]`, of a type that computes, of registers."""
    parts = np.ascontiguousarray(bits).view(BITS[kind.size]).reshape(len(bits), -1)
    values = decode(np.take(parts, positions(which, shape, kind.size), axis=1), kind)
    values = values.astype(np.float32) if values.dtype == np.float16 else values
    return values.reshape(-1, *shape)


def taken_apart(matrices: Array, kind: Type) -> Array:
    """Registers `[warps, registers, 32]` of results."""
    rows = encode(matrices.reshape(len(matrices), -1), kind).view(BITS[kind.size])
    parts = np.empty_like(rows)
    parts[:, positions("c", matrices.shape[1:], kind.size)] = rows
    return parts.view(word_type(kind).dtype).reshape(len(parts), -1, 32)


SHAPES = {"m16n8k16": (16, 8, 16), "m16n8k8": (16, 8, 8), "m16n8k32": (16, 8, 32),
          "m8n8k4": (8, 8, 4), "m16n8k4": (16, 8, 4)}
FACTORS = ("f16", "bf16", "tf32", "f64", "s8", "u8", "e4m3", "e5m2")


@form("mma")
def mma(f: Form) -> Step:
    """D = A B + C of each warp; products are summed in float32, integers and float64 exactly."""
    f.flag("sync", "aligned", "satfinite")
    rows, columns, depth = f.table(SHAPES)
    f.need("row", "col")
    total, right, left, result = f.type(), f.type(), f.type(), f.type()
    if left.name not in FACTORS or right.name not in FACTORS or result != total:
        raise UnknownForm(f"the types .{result.name}.{left.name}.{right.name}.{total.name}")
    operands = [f.reads(at, word_type(kind)) for at, kind in ((1, left), (2, right), (3, total))]
    shapes = (rows, depth), (depth, columns), (rows, columns)
    for sources, kind, shape in zip(operands, (left, right, total), shapes, strict=True):
        if len(sources) * word_type(kind).size * 32 != shape[0] * shape[1] * kind.size:
            raise UnknownForm("registers that do not fit the shape")
    put = f.writes(0)

    def step(t: Threads) -> None:
        t.whole_warps()
        a, b, c = (assembled(fragments(t, sources), kind, which, shape)
                   for sources, kind, which, shape in zip(
                       operands, (left, right, total), "abc", shapes, strict=True))
        words = taken_apart(c + np.matmul(a, b).astype(c.dtype), total)
        for at, write in enumerate(put):
            write(t, words[:, at].reshape(-1))
    return step


def spread(t: Threads, groups: Array, values: Array) -> Array:
    """Values `[groups, threads]` of some groups of threads as one for each lane."""
    if values.size == t.count:
        return values.reshape(-1)
    result = np.zeros((t.count // values.shape[1], values.shape[1]), values.dtype)
    result[groups] = values
    return result.reshape(-1)


def matrix_form(f: Form, registers: int, address: int) -> tuple[bool, Reader]:
    """Whether matrices are transposed, and their rows' addresses."""
    f.flag("sync", "aligned")
    f.need("m8n8", "shared|shared::cta", "b16")
    count = int(f.choice("x1", "x2", "x4")[1])
    if len(f.vector(registers)) != count:
        raise UnknownForm(f"{len(f.vector(registers))} registers of .x{count}")
    return f.flag("trans"), f.address(address)


def row_lanes(groups: Array, number: int) -> Array:
    """The lanes that hold the addresses of the eight rows of a matrix."""
    return (groups[:, None] * 32 + 8 * number + np.arange(8)).reshape(-1)


def turned(words: Array, transposed: bool) -> Array:
    """Matrices of 8 rows of 8 halves, as they are or transposed."""
    square = np.ascontiguousarray(words).view(np.uint16).reshape(-1, 8, 8)
    return np.ascontiguousarray(square.transpose(0, 2, 1)) if transposed else square


@form("ldmatrix")
def ldmatrix(f: Form) -> Step:
    transposed, address = matrix_form(f, 0, 1)
    put: list[Writer] = f.writes(0)

    def step(t: Threads) -> None:
        groups, rows = t.groups(32, "warp"), address(t)
        for number, write in enumerate(put):
            lanes = row_lanes(groups, number)
            data = turned(t.load("shared", lanes, rows[lanes], 16), transposed)
            write(t, spread(t, groups, data.view(np.uint32).reshape(-1, 32)))
    return step


@form("stmatrix")
def stmatrix(f: Form) -> Step:
    transposed, address = matrix_form(f, 1, 0)
    sources = f.reads(1, B32)

    def step(t: Threads) -> None:
        groups, rows = t.groups(32, "warp"), address(t)
        for number, source in enumerate(sources):
            lanes = row_lanes(groups, number)
            data = turned(warps(t, source(t))[groups], transposed)
            t.store("shared", lanes, rows[lanes], data.view(np.uint64).reshape(-1, 2), 16)
    return step


# ---- wgmma: of a warp group's 64 rows, operands in shared memory behind descriptors

GROUP_SHAPE = re.compile(r"m64n(\d+)k(\d+)$")
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
    match = next((found for one in f.rest if (found := GROUP_SHAPE.match(one))), None)
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
    old, put = f.reads(0, B32), f.writes(0)

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
        sources = f.reads(1, B32)
        return lambda t, groups: assembled(
            of_groups(fragments(t, sources), groups), kind, "a", (16, depth),
        ).reshape(-1, 64, depth)
    descriptor = f.read(1, TYPES["b64"])
    return lambda t, groups: tile(t, t.full(descriptor(t))[groups * 128], groups, (64, depth),
                                  kind, transposed)
