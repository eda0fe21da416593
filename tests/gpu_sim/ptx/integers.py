"""Integer arithmetic, shifts, bits, selection; add, mul, min, ... of floats are in `floats`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import floats
from .decode import Form, form
from .threads import Reader, Step, Threads
from .values import PRED, TYPES, U32, UFUNCS, Array, Type, halves, joined


def bits_of(x: Array) -> Array:
    """Integers without their sign's meaning."""
    return x.view(f"u{x.itemsize}")


def remainder(x: Array, y: Array) -> Array:
    """Of the dividend's sign; x where y is zero."""
    return np.where(y == 0, x, np.fmod(x, np.where(y == 0, y.dtype.type(1), y)))


def quotient(x: Array, y: Array) -> Array:
    """Truncated; all ones where y is zero, as on devices."""
    exact = (x - remainder(x, y)) // np.where(y == 0, y.dtype.type(1), y)
    return np.where(y == 0, ~y, exact)


def high(x: Array, y: Array) -> Array:
    """The upper half of the product of two integers."""
    size = x.dtype.itemsize
    if size < 8:
        wide = np.dtype(f"{x.dtype.kind}{2 * size}")
        return ((x.astype(wide) * y.astype(wide)) >> wide.type(8 * size)).astype(x.dtype)
    mask, half = np.uint64(0xFFFF_FFFF), np.uint64(32)
    p, q = x.view(np.uint64), y.view(np.uint64)
    p0, p1, q0, q1 = p & mask, p >> half, q & mask, q >> half
    middle = p1 * q0 + ((p0 * q0) >> half)
    other = p0 * q1 + (middle & mask)
    result = p1 * q1 + (middle >> half) + (other >> half)
    if x.dtype.kind == "i":
        result = result - np.where(x < 0, q, np.uint64(0)) - np.where(y < 0, p, np.uint64(0))
    return result.view(x.dtype)


def reverse(x: Array) -> Array:
    """The bits in reverse order."""
    bits = np.unpackbits(np.ascontiguousarray(x).view(np.uint8).reshape(len(x), -1), axis=1)
    return np.packbits(bits, axis=1, bitorder="little")[:, ::-1].copy().view(x.dtype).reshape(-1)


def leading_zeros(x: Array) -> Array:
    x, width = bits_of(x), 8 * x.itemsize
    for by in (1, 2, 4, 8, 16, 32)[:width.bit_length() - 1]:
        x = x | x >> x.dtype.type(by)
    return (np.uint32(width) - np.bitwise_count(x)).astype(np.uint32)


def leading_bit(x: Array) -> Array:
    """How far the first bit that is no sign is from the top; all ones where there is none."""
    magnitude = np.where(x < 0, ~x, x)
    return np.where(magnitude == 0, np.uint32(0xFFFF_FFFF), leading_zeros(magnitude))


def shift_left(x: Array, n: Array) -> Array:
    """By the width or more: zero."""
    width = 8 * x.itemsize
    moved = x << np.minimum(n, width - 1).astype(x.dtype)
    return np.where(n < width, moved, x.dtype.type(0)) if (n >= width).any() else moved


def shift_right(x: Array, n: Array) -> Array:
    """By the width or more: zero, or the sign."""
    width = 8 * x.itemsize
    moved = x >> np.minimum(n, width - 1).astype(x.dtype)
    if x.dtype.kind == "i" or not (n >= width).any():
        return moved
    return np.where(n < width, moved, x.dtype.type(0))


def extract(x: Array, start: Array, length: Array) -> Array:
    """A field of bits, its sign extended where the type is signed."""
    start, length = start & np.uint32(255), length & np.uint32(255)
    above = np.uint32(8 * x.itemsize) - np.minimum(length, np.uint32(8 * x.itemsize))
    field = shift_right(shift_left(shift_right(x, start), above), above)
    return np.where(length == 0, x.dtype.type(0), field)


def insert(x: Array, base: Array, start: Array, length: Array) -> Array:
    """The low bits of the first, put into the second."""
    start, length = start & np.uint32(255), length & np.uint32(255)
    ones = np.full(1, np.iinfo(x.dtype).max, x.dtype)
    mask = shift_left(~shift_left(ones, length), start)
    return (base & ~mask) | (shift_left(x, start) & mask)


def permute(low: Array, upper: Array, selectors: Array) -> Array:
    """Any four of the eight bytes of two words; bit 3 of a selector copies the byte's sign."""
    both = low.astype(np.uint64) | (upper.astype(np.uint64) << np.uint64(32))
    result = np.zeros(1, np.uint32)
    for byte in range(4):
        one = (selectors >> np.uint32(4 * byte)) & np.uint32(15)
        by = (one & np.uint32(7)).astype(np.uint64) * np.uint64(8)
        value = ((both >> by) & np.uint64(255)).astype(np.uint32)
        sign = np.where(value & np.uint32(128), np.uint32(255), np.uint32(0))
        result = result | (np.where(one & np.uint32(8), sign, value) << np.uint32(8 * byte))
    return result


# By opcode, with the types of the operands: k is the instruction's, u a number of bits.
FUNCTIONS: dict[str, tuple[Callable[..., Array], str]] = {
    "abs": (np.abs, "k"), "neg": (np.negative, "k"), "not": (np.invert, "k"),
    "brev": (reverse, "k"), "clz": (leading_zeros, "k"),
    "popc": (lambda x: np.bitwise_count(x).astype(np.uint32), "k"),
    **{name: (function, "kk") for name, function in UFUNCS.items()},
    "sub": (np.subtract, "kk"), "div": (quotient, "kk"), "rem": (remainder, "kk"),
    "shl": (shift_left, "ku"), "shr": (shift_right, "ku"), "bfe": (extract, "kuu"),
    "bfi": (insert, "kkuu"), "prmt": (permute, "kkk"),
}


@form(*FUNCTIONS)
def integer(f: Form) -> Step:
    kind, (function, operands) = f.type(), FUNCTIONS[f.opcode]
    if kind.kind == "f":
        return (floats.sign_change if operands == "k" else floats.arithmetic)(f, kind)
    if kind.half is not None:  # of 16 bits each
        dtype = kind.half.dtype
        return f.apply(lambda x, y: joined(bits_of(
            function(halves(x).view(dtype), halves(y).view(dtype)))), kind, kind)
    if "cc" in f.rest:
        return sum_with_carry(f, f.read(1, kind), f.read(2, kind))
    return f.apply(function, *(kind if one == "k" else U32 for one in operands))


@form("addc", "subc")
def with_carry(f: Form) -> Step:
    kind = f.type()
    return sum_with_carry(f, f.read(1, kind), f.read(2, kind))


def sum_with_carry(f: Form, x: Reader, y: Reader) -> Step:
    """add.cc, sub.cc, mad.cc, and with the carry of the last addc, subc, madc.

    x - y is x + ~y + 1, whose carry is no borrow.
    """
    keeps, takes, put = f.flag("cc"), f.opcode.endswith("c"), f.write(0)
    subtracts = f.opcode.startswith("sub")

    def step(t: Threads) -> None:
        first, second = bits_of(x(t)), bits_of(y(t))
        carry = (t.carry if takes else np.zeros(1, np.bool_)) ^ subtracts
        part = first + (~second if subtracts else second)
        result = part + carry.astype(first.dtype)
        put(t, result)
        if keeps:
            out = ((part < first) | (result < part)) ^ subtracts
            t.carry = out if t.mask is None else np.where(t.mask, out, t.carry)
    return step


def product(f: Form, kind: Type) -> tuple[Callable[[Array, Array], Array], Type]:
    """The product that .lo, .hi or .wide names, and its type."""
    part = f.choice("lo", "hi", "wide")
    if part != "wide":
        return np.multiply if part == "lo" else high, kind
    wide = TYPES[f"{kind.kind}{16 * kind.size}"]
    return lambda x, y: np.multiply(x, y, dtype=wide.dtype), wide


@form("mul")
def mul(f: Form) -> Step:
    kind = f.type()
    return floats.arithmetic(f, kind) if kind.kind == "f" else f.apply(
        product(f, kind)[0], kind, kind)


@form("mad", "madc")
def mad(f: Form) -> Step:
    kind = f.type()
    if kind.kind == "f":
        return floats.arithmetic(f, kind)
    function, wide = product(f, kind)
    if f.opcode == "mad" and "cc" not in f.rest:
        return f.apply(lambda x, y, z: function(x, y) + z, kind, kind, wide)
    x, y = f.read(1, kind), f.read(2, kind)
    return sum_with_carry(f, lambda t: function(x(t), y(t)), f.read(3, wide))


@form("lop3")
def lop3(f: Form) -> Step:
    """Any function of three bits: bit i of the table is its value for (a, b, c) = bits of i."""
    kind, table, put = f.type(), f.constant(4), f.write(0)
    sources = [f.read(at, kind) for at in (1, 2, 3)]

    def step(t: Threads) -> None:
        values = [source(t) for source in sources]
        result = np.zeros(1, kind.dtype)
        for entry in range(8):
            if table >> entry & 1:
                terms = [v if entry >> (2 - n) & 1 else ~v for n, v in enumerate(values)]
                result = result | (terms[0] & terms[1] & terms[2])
        put(t, result)
    return step


@form("shf")
def funnel(f: Form) -> Step:
    """The upper (.l) or lower (.r) word of two that are shifted together."""
    kind, left = f.type(), f.choice("l", "r") == "l"
    wraps = f.choice("wrap", "clamp") == "wrap"

    def compute(low: Array, upper: Array, count: Array) -> Array:
        both = (upper.astype(np.uint64) << np.uint64(32)) | low
        n = count & np.uint32(31) if wraps else np.minimum(count, np.uint32(32))
        n = n.astype(np.uint64)
        return ((both << n) >> np.uint64(32) if left else both >> n).astype(np.uint32)
    return f.apply(compute, kind, kind, kind)


@form("bfind")
def find_bit(f: Form) -> Step:
    """The position of the leading bit that is no sign, or (.shiftamt) its distance to the top."""
    kind = f.type()
    if f.flag("shiftamt"):
        return f.apply(leading_bit, kind)
    top = np.uint32(8 * kind.size - 1)
    return f.apply(lambda x: np.where((at := leading_bit(x)) > top, at, top - at), kind)


@form("selp")
def select(f: Form) -> Step:
    kind = f.type()
    bits = TYPES[f"b{8 * kind.size}"] if kind.kind == "f" else kind
    return f.apply(lambda x, y, which: np.where(which, x, y), bits, bits, PRED)
