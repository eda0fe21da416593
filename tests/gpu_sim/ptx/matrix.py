"""mma.sync, ldmatrix, stmatrix: how a warp's registers hold matrices is a table of positions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from .decode import Form, form
from .rounding import decode, encode
from .threads import Reader, Step, Threads, Writer
from .values import BITS, TYPES, Array, Type, UnknownForm
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
    f.need("row")
    f.need("col")
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
    for names in (("m8n8",), ("shared", "shared::cta"), ("b16",)):
        f.need(*names)
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
    sources = f.reads(1, TYPES["b32"])

    def step(t: Threads) -> None:
        groups, rows = t.groups(32, "warp"), address(t)
        for number, source in enumerate(sources):
            lanes = row_lanes(groups, number)
            data = turned(warps(t, source(t))[groups], transposed)
            t.store("shared", lanes, rows[lanes], data.view(np.uint64).reshape(-1, 2), 16)
    return step
