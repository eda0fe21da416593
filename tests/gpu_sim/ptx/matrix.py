"""mma.sync, ldmatrix, stmatrix: how a warp's registers hold matrices is a table of positions."""

from __future__ import annotations

from functools import cache

import numpy as np

from .decode import Decoder, Form, form
from .rounding import widen
from .text import Operand
from .threads import Reader, Step, Threads
from .values import TYPES, Array, UnknownForm

LANE = np.arange(32)
GROUP, MEMBER = LANE >> 2, LANE & 3
TF32_MASK = np.uint32(0xFFFF_E000)


def elements(bits: Array, name: str) -> Array:
    """Registers `[..., 32]` as numbers `[..., per register, 32]` of a type that computes."""
    if name in ("f64", "s32"):
        return bits.view(TYPES[name].dtype)[..., None, :]
    if name in ("f32", "tf32"):
        single = bits.view(np.uint32)
        return (single & TF32_MASK if name == "tf32" else single).view(np.float32)[..., None, :]
    size = TYPES[name].size
    part = np.dtype(f"u{size}")
    split = np.stack([(bits >> np.uint32(8 * size * n)).astype(part)
                      for n in range(4 // size)], -2)
    if name == "bf16":
        return widen(split)
    return split.view(TYPES[name].dtype).astype(np.float32)


def rows_of_a(register: int, element: int, width: int) -> tuple[Array, Array]:
    """Row and column of an element of A: 16 rows, registers alternate between halves of them."""
    return (GROUP + 8 * (register & 1),
            MEMBER * width + element + 4 * width * (register >> 1))


def rows_of_b(register: int, element: int, width: int) -> tuple[Array, Array]:
    return MEMBER * width + element + 4 * width * register, GROUP


def rows_of_c(number: int) -> tuple[Array, Array]:
    return GROUP + 8 * (number >> 1), MEMBER * 2 + (number & 1)


@cache
def gathering(which: str, rows: int, columns: int, registers: int, width: int) -> Array:
    """Where each matrix element, row by row, is among the elements of a warp's registers."""
    place = rows_of_a if which == "a" else rows_of_b
    index = np.full((rows, columns), -1)
    for register in range(registers):
        for element in range(width):
            row, column = place(register, element, width)
            index[row, column] = (register * 32 + LANE) * width + element
    assert (index >= 0).all()
    return index.reshape(-1)


def assemble(bits: Array, name: str, which: str, rows: int, columns: int) -> Array:
    """Matrices `[warps, rows, columns]` of registers `[warps, registers, 32]`."""
    parts = np.ascontiguousarray(bits).view(f"u{TYPES[name].size}").reshape(len(bits), -1)
    index = gathering(which, rows, columns, bits.shape[1], PER_REGISTER[name])
    return numbers_of(np.take(parts, index, axis=1), name).reshape(-1, rows, columns)


def numbers_of(bits: Array, name: str) -> Array:
    """One number, of a type that computes, for each bit pattern."""
    if name == "f64":
        return bits.view(np.float64)
    if name == "bf16":
        return widen(bits)
    if name == "tf32":
        return (bits & TF32_MASK).view(np.float32)
    return bits.view(TYPES[name].dtype).astype(np.float32)


def bits_of(t: Threads, sources: list[Reader]) -> Array:
    """Registers as `[warps, registers, 32]`."""
    return np.stack([t.warps(source(t)) for source in sources], 1)


SHAPES = {"m16n8k16": (16, 8, 16), "m16n8k8": (16, 8, 8), "m16n8k32": (16, 8, 32),
          "m8n8k4": (8, 8, 4), "m16n8k4": (16, 8, 4)}
PER_REGISTER = {"f16": 2, "bf16": 2, "tf32": 1, "f64": 1, "s8": 4, "u8": 4, "e4m3": 4, "e5m2": 4}


@form("mma")
def mma(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """D = A B + C of each warp; products are summed in float32, integers and float64 exactly."""
    f.flag("sync"), f.flag("aligned")
    rows, columns, depth = f.table(SHAPES)
    if not (f.flag("row") and f.flag("col")):
        raise UnknownForm("an order other than .row.col")
    f.flag("satfinite")
    sum_type = f.type().name
    right, left, result_type = f.type().name, f.type().name, f.type().name
    if left not in PER_REGISTER or right not in PER_REGISTER or result_type != sum_type:
        raise UnknownForm(f"the types .{result_type}.{left}.{right}.{sum_type}")
    word = TYPES["b64" if left == "f64" else "b32"]
    sum_word = TYPES["b64" if sum_type == "f64" else "b32"]
    A, B = ([d.read(x, word) for x in d.vector(a[n])] for n in (1, 2))
    C = [d.read(x, sum_word) for x in d.vector(a[3])]
    if (len(A) * PER_REGISTER[left] * 32, len(B) * PER_REGISTER[right] * 32) != (
            rows * depth, depth * columns):
        raise UnknownForm("registers that do not fit the shape")
    put = [d.write(x) for x in d.vector(a[0])]
    multiply = integer_product if left in ("s8", "u8") else np.matmul
    places = np.stack([row * columns + column for row, column in map(
        rows_of_c, range(rows * columns // 32))])

    def step(t: Threads) -> None:
        t.whole_warps()
        product = multiply(assemble(bits_of(t, A), left, "a", rows, depth),
                           assemble(bits_of(t, B), right, "b", depth, columns))
        total = elements(bits_of(t, C), sum_type)
        total = total + product.reshape(len(product), -1)[:, places].reshape(total.shape)
        for at, write in enumerate(put):
            write(t, packed([total[:, at, n] for n in range(total.shape[2])]).reshape(-1))
    return step


def integer_product(x: Array, y: Array) -> Array:
    """Products of bytes are sums below 2 ** 53, exact in float64."""
    return np.matmul(x.astype(np.float64), y.astype(np.float64)).astype(np.int32)


def packed(parts: list[Array]) -> Array:
    """One number as it is, two as halves of a word."""
    if len(parts) == 1:
        return np.ascontiguousarray(parts[0])
    low, high = (one.astype(np.float16).view(np.uint16).astype(np.uint32) for one in parts)
    return low | (high << np.uint32(16))


def warps_of(t: Threads) -> Array:
    """The numbers of the warps that run the step."""
    t.whole_warps()
    count = t.count // 32
    return np.arange(count) if t.mask is None else np.nonzero(t.mask[::32])[0]


def row_addresses(t: Threads, address: Reader, warps: Array, number: int) -> tuple[Array, Array]:
    """Lanes and shared addresses of a matrix's eight rows, which eight lanes hold."""
    lanes = (warps[:, None] * 32 + 8 * number + np.arange(8)).reshape(-1)
    return lanes, address(t)[lanes]


def spread_warps(t: Threads, warps: Array, values: Array) -> Array:
    """Values of some warps as one for each lane."""
    if len(values) * 32 == t.count:
        return values.reshape(-1)
    result = np.zeros((t.count // 32, 32), values.dtype)
    result[warps] = values
    return result.reshape(-1)


def matrix_form(d: Decoder, f: Form) -> tuple[int, bool]:
    """How many matrices, and whether transposed."""
    f.flag("sync"), f.flag("aligned")
    if not f.flag("m8n8") or not f.flag("shared", "shared::cta") or not f.flag("b16"):
        raise UnknownForm("matrices other than .m8n8 of .b16 in .shared")
    return int(f.choice("x1", "x2", "x4", default="x1")[1]), f.flag("trans")


@form("ldmatrix")
def ldmatrix(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    count, transposed = matrix_form(d, f)
    put, address = [d.write(x) for x in d.vector(a[0])], d.address(a[1])
    if len(put) != count:
        raise UnknownForm(f"{len(put)} destinations of .x{count}")

    def step(t: Threads) -> None:
        warps = warps_of(t)
        for number, write in enumerate(put):
            lanes, rows = row_addresses(t, address, warps, number)
            data = t.blocks.shared.load(t.blocks.index[lanes], rows, 16, t.describe(lanes))
            square = data.view(np.uint16).reshape(-1, 8, 8)
            if transposed:
                square = square.transpose(0, 2, 1)
            pair = square.reshape(-1, 8, 4, 2) if not transposed else np.ascontiguousarray(
                square).reshape(-1, 8, 4, 2)
            word = np.ascontiguousarray(pair).view(np.uint32).reshape(-1, 32)
            write(t, spread_warps(t, warps, word))
    return step


@form("stmatrix")
def stmatrix(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    count, transposed = matrix_form(d, f)
    sources, address = [d.read(x, TYPES["b32"]) for x in d.vector(a[1])], d.address(a[0])
    if len(sources) != count:
        raise UnknownForm(f"{len(sources)} sources of .x{count}")

    def step(t: Threads) -> None:
        warps = warps_of(t)
        for number, source in enumerate(sources):
            lanes, rows = row_addresses(t, address, warps, number)
            words = np.ascontiguousarray(t.warps(source(t))[warps])
            square = words.view(np.uint16).reshape(-1, 8, 8)
            if transposed:
                square = square.transpose(0, 2, 1)
            data = np.ascontiguousarray(square).view(np.uint64).reshape(-1, 2)
            t.blocks.shared.store(t.blocks.index[lanes], rows, data, 16, t.describe(lanes))
    return step
