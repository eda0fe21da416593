"""Integer arithmetic, shifts, bits, selection; add, sub, mul, mad, min, ... of any type."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import floats
from .decode import Decoder, Form, constant, form
from .text import Immediate, Operand
from .threads import Step, Threads
from .values import PRED, TYPES, Array, Type, UnknownForm

BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add, "sub": np.subtract, "min": np.minimum, "max": np.maximum,
}


def with_carry(d: Decoder, f: Form, a: tuple[Operand, ...], kind: Type) -> Step:
    """add.cc, addc, sub.cc, subc: with the carry (borrow) of the last, and keeping theirs."""
    carries = f.flag("cc")
    takes = f.opcode in ("addc", "subc")
    subtracts = f.opcode.startswith("sub")
    x, y, put = d.read(a[1], kind), d.read(a[2], kind), d.write(a[0])
    bits = kind.bits

    def step(t: Threads) -> None:
        first, second = x(t).view(bits), y(t).view(bits)
        carry = t.carry.astype(bits) if takes else bits.type(0)
        if subtracts:
            part = first - second
            result = part - carry
            out = (first < second) | (part < carry)
        else:
            part = first + second
            result = part + carry
            out = (part < first) | (result < part)
        put(t, result)
        if carries:
            t.carry = out if t.mask is None else np.where(t.mask, out, t.carry)
    return step


def packed(d: Decoder, f: Form, a: tuple[Operand, ...], kind: Type) -> Step:
    """add, min and max of two packed integers of 16 bits."""
    function, half = BINARY[f.opcode], TYPES[kind.name.removesuffix("x2")].dtype
    x, y, put = d.read(a[1], kind), d.read(a[2], kind), d.write(a[0])

    def step(t: Threads) -> None:
        first, second = (np.ascontiguousarray(t.full(one(t))).view(half) for one in (x, y))
        put(t, function(first, second).view(np.uint32))
    return step


@form("add", "sub", "min", "max")
def binary(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind = f.type()
    if kind.kind == "f":
        if f.opcode in ("min", "max"):
            return floats.minimum_maximum(d, f, a, kind)
        return floats.arithmetic(d, f, a, kind)
    if kind.name.endswith("x2"):
        return packed(d, f, a, kind)
    if "cc" in f.rest:
        return with_carry(d, f, a, kind)
    function = BINARY[f.opcode]
    x, y, put = d.read(a[1], kind), d.read(a[2], kind), d.write(a[0])
    return lambda t: put(t, function(x(t), y(t)))


@form("addc", "subc")
def carried(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    return with_carry(d, f, a, f.type())


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


def product(f: Form, kind: Type) -> tuple[Callable[[Array, Array], Array], Type]:
    """The product that .lo, .hi or .wide names, and its type."""
    part = f.choice("lo", "hi", "wide")
    if part == "wide":
        wide = TYPES[f"{kind.kind}{16 * kind.size}"]
        return lambda x, y: np.multiply(x, y, dtype=wide.dtype), wide
    if part == "hi":
        return high, kind
    if part == "lo":
        return np.multiply, kind
    raise UnknownForm(f"{f.opcode} without .lo, .hi or .wide")


@form("mul")
def mul(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind = f.type()
    if kind.kind == "f":
        return floats.arithmetic(d, f, a, kind)
    function, _ = product(f, kind)
    x, y, put = d.read(a[1], kind), d.read(a[2], kind), d.write(a[0])
    return lambda t: put(t, function(x(t), y(t)))


@form("mad", "madc")
def mad(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind = f.type()
    if kind.kind == "f":
        return floats.multiply_add(d, f, a, kind)
    function, result = product(f, kind)
    carries, takes = f.flag("cc"), f.opcode == "madc"
    x, y, z = d.read(a[1], kind), d.read(a[2], kind), d.read(a[3], result)
    put, bits = d.write(a[0]), result.bits
    if not carries and not takes:
        return lambda t: put(t, function(x(t), y(t)) + z(t))

    def step(t: Threads) -> None:
        part = function(x(t), y(t)).view(bits)
        total = part + z(t).view(bits)
        out = total < part
        if takes:
            more = total + t.carry.astype(bits)
            out, total = out | (more < total), more
        put(t, total)
        if carries:
            t.carry = out if t.mask is None else np.where(t.mask, out, t.carry)
    return step


@form("div", "rem")
def divide(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """Integer division truncates; by zero it gives all ones, as devices do."""
    kind = f.type()
    if kind.kind == "f":
        return floats.arithmetic(d, f, a, kind)
    remainder = f.opcode == "rem"
    x, y, put = d.read(a[1], kind), d.read(a[2], kind), d.write(a[0])
    bits = kind.bits

    def magnitude(values: Array) -> Array:
        return np.abs(values).view(bits) if kind.kind == "s" else values

    def step(t: Threads) -> None:
        first, second = x(t), y(t)
        zero = second == 0
        divisor = np.where(zero, second.dtype.type(1), second)
        quotient = magnitude(first) // magnitude(divisor)
        if kind.kind == "s":
            quotient = np.where((first < 0) ^ (divisor < 0), -quotient, quotient)
        rest = first.view(bits) - quotient * divisor.view(bits)
        if remainder:
            put(t, np.where(zero, first.view(bits), rest))
        else:
            put(t, np.where(zero, np.iinfo(bits).max, quotient))
    return step


@form("abs", "neg")
def unary(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind = f.type()
    if kind.kind == "f":
        return floats.sign_change(d, f, a, kind)
    function = np.abs if f.opcode == "abs" else np.negative
    x, put = d.read(a[1], kind), d.write(a[0])
    return lambda t: put(t, function(x(t)))


LOGIC = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


@form("and", "or", "xor")
def logic(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind, function = f.type(), LOGIC[f.opcode]
    x, y, put = d.read(a[1], kind), d.read(a[2], kind), d.write(a[0])
    return lambda t: put(t, function(x(t), y(t)))


@form("not")
def invert(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind = f.type()
    x, put = d.read(a[1], kind), d.write(a[0])
    return lambda t: put(t, ~x(t))


@form("lop3")
def lop3(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """Any function of three bits: bit i of the table is its value for (a, b, c) = bits of i."""
    kind, table = f.type(), constant(a[4])
    sources, put = [d.read(one, kind) for one in a[1:4]], d.write(a[0])

    def step(t: Threads) -> None:
        values = [source(t) for source in sources]
        result = np.zeros(1, kind.dtype)
        for entry in range(8):
            if table >> entry & 1:
                terms = [v if entry >> (2 - n) & 1 else ~v for n, v in enumerate(values)]
                result = result | (terms[0] & terms[1] & terms[2])
        put(t, result)
    return step


@form("shl", "shr")
def shift(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """Shifts by the width or more leave zeros, or the sign."""
    kind, left = f.type(), f.opcode == "shl"
    x, count, put = d.read(a[1], kind), d.read(a[2], TYPES["u32"]), d.write(a[0])
    width, dtype = 8 * kind.size, kind.dtype
    function = np.left_shift if left else np.right_shift
    if isinstance(a[2], Immediate) and 0 <= a[2].value < width:
        by = dtype.type(a[2].value)
        return lambda t: put(t, function(x(t), by))

    def step(t: Threads) -> None:
        n = count(t)
        values = function(x(t), np.minimum(n, width - 1).astype(dtype))
        put(t, values if kind.kind == "s" and not left else
            np.where(n >= width, dtype.type(0), values))
    return step


@form("shf")
def funnel(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind, left = f.type(), f.choice("l", "r") == "l"
    wraps = f.choice("wrap", "clamp") == "wrap"
    low, high_part, count = (d.read(one, kind) for one in a[1:4])
    put = d.write(a[0])

    def step(t: Threads) -> None:
        both = (high_part(t).astype(np.uint64) << np.uint64(32)) | low(t)
        n = count(t).astype(np.uint64)
        n = n & np.uint64(31) if wraps else np.minimum(n, np.uint64(32))
        put(t, ((both << n) >> np.uint64(32) if left else both >> n).astype(np.uint32))
    return step


@form("bfe")
def extract(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """A field of bits, its sign extended where the type is signed."""
    kind, byte = f.type(), TYPES["u32"]
    x, start, length = d.read(a[1], kind), d.read(a[2], byte), d.read(a[3], byte)
    put, width = d.write(a[0]), 8 * kind.size

    def step(t: Threads) -> None:
        position, count = (one(t).astype(np.int64) & 255 for one in (start, length))
        values = x(t)
        bits = kind.bits
        inside = np.clip(np.minimum(count, width - position), 0, width)
        shifted = np.where(position < width, values.view(bits)
                           >> np.minimum(position, width - 1).astype(bits), bits.type(0))
        mask = np.where(inside >= width, np.iinfo(bits).max,
                        (bits.type(1) << np.minimum(inside, width - 1).astype(bits))
                        - bits.type(1)).astype(bits)
        field = shifted & mask
        if kind.kind == "s":
            top = np.minimum(position + count - 1, width - 1)
            sign = (values.view(bits) >> np.maximum(top, 0).astype(bits)) & bits.type(1)
            field = np.where((sign == 1) & (count > 0), field | ~mask, field)
        put(t, field)
    return step


@form("bfi")
def insert(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """The low bits of the first, put into the second."""
    kind, byte = f.type(), TYPES["u32"]
    x, base = d.read(a[1], kind), d.read(a[2], kind)
    start, length, put = d.read(a[3], byte), d.read(a[4], byte), d.write(a[0])
    width, bits = 8 * kind.size, kind.bits

    def step(t: Threads) -> None:
        position, count = (one(t).astype(np.int64) & 255 for one in (start, length))
        ones = np.where(count >= width, np.iinfo(bits).max,
                        (bits.type(1) << np.minimum(count, width - 1).astype(bits))
                        - bits.type(1)).astype(bits)
        by = np.minimum(position, width - 1).astype(bits)
        mask = np.where(position < width, ones << by, bits.type(0))
        put(t, (base(t) & ~mask) | ((x(t) << by) & mask))
    return step


def reverse(x: Array) -> Array:
    """The bits in reverse order."""
    bits = np.unpackbits(np.ascontiguousarray(x).view(np.uint8).reshape(len(x), -1), axis=1)
    packed = np.packbits(bits, axis=1, bitorder="little")
    return packed[:, ::-1].copy().view(x.dtype).reshape(-1)


def leading_zeros(x: Array) -> Array:
    width = 8 * x.dtype.itemsize
    count = np.full(len(x), width, np.uint32)
    for bit in range(width):
        count = np.where(x >> x.dtype.type(bit) & x.dtype.type(1), width - 1 - bit, count)
    return count.astype(np.uint32)


@form("clz", "popc", "brev")
def count_bits(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind = f.type()
    x, put = d.read(a[1], kind), d.write(a[0])
    function = {"clz": leading_zeros, "brev": reverse,
                "popc": lambda v: np.bitwise_count(v).astype(np.uint32)}[f.opcode]
    return lambda t: put(t, function(x(t)))


@form("bfind")
def find_bit(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """The position of the leading bit that is no sign; all ones where there is none."""
    kind, amount = f.type(), f.flag("shiftamt")
    x, put, width = d.read(a[1], kind), d.write(a[0]), 8 * kind.size

    def step(t: Threads) -> None:
        values = x(t)
        bits = np.where(values < 0, ~values, values).view(kind.bits)
        position = np.uint32(width - 1) - leading_zeros(bits)
        found = np.uint32(width - 1) - position if amount else position
        put(t, np.where(bits == 0, np.uint32(0xFFFF_FFFF), found))
    return step


@form("prmt")
def permute(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """Any four of the eight bytes of two words; bit 3 of a selector copies the byte's sign."""
    kind = f.type()
    low, high_word, select = (d.read(one, kind) for one in a[1:4])
    put = d.write(a[0])

    def step(t: Threads) -> None:
        both = low(t).astype(np.uint64) | (high_word(t).astype(np.uint64) << np.uint64(32))
        selectors, result = select(t), np.zeros(1, np.uint32)
        for byte in range(4):
            one = (selectors >> np.uint32(4 * byte)) & np.uint32(15)
            by = (one & np.uint32(7)).astype(np.uint64) * np.uint64(8)
            value = ((both >> by) & np.uint64(255)).astype(np.uint32)
            sign = np.where(value & np.uint32(128), np.uint32(255), np.uint32(0))
            value = np.where(one & np.uint32(8), sign, value)
            result = result | (value << np.uint32(8 * byte))
        put(t, result)
    return step


@form("selp")
def select(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind = f.type()
    bits = TYPES[f"b{8 * kind.size}"] if kind.kind == "f" else kind
    x, y, which, put = d.read(a[1], bits), d.read(a[2], bits), d.read(a[3], PRED), d.write(a[0])
    return lambda t: put(t, np.where(which(t), x(t), y(t)))
