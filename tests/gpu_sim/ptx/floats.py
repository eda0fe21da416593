"""Floating-point arithmetic, comparison and the approximate functions.

bfloat16 is computed in float32 and rounded; two packed halves are an array of two rows. What a
device only approximates (`.approx`, `.full`) is computed in float64 and rounded.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .decode import Decoder, Form, form
from .rounding import (
    adjust,
    flush,
    fma32,
    fma64,
    fma_sign,
    odd_sum,
    relu,
    sum_error,
    to_bfloat16,
    to_half,
    to_single,
    widen,
    zero_of_sum,
)
from .text import Operand
from .threads import Reader, Step, Threads, Writer
from .values import PRED, TYPES, Array, Type, UnknownForm

MODES = ("rn", "rz", "rm", "rp")
LOW32 = np.uint64(0xFFFF_FFFF)


def read(d: Decoder, operand: Operand, kind: Type, ftz: bool = False) -> Reader:
    """Reads an operand as numbers: float32 for bfloat16, two rows for packed halves."""
    if kind.name.endswith("x2"):
        bits = d.read(operand, TYPES["b32"])
        half = widen if kind.name == "bf16x2" else lambda v: v.view(np.float16)

        def packed(t: Threads) -> Array:
            both = bits(t)
            rows = np.stack([both, both >> np.uint32(16)]).astype(np.uint16)
            return half(rows)
        return packed
    if kind.name == "bf16":
        bits = d.read(operand, TYPES["b16"])
        return lambda t: widen(bits(t))
    plain = d.read(operand, kind)
    return (lambda t: flush(plain(t))) if ftz else plain


def write(d: Decoder, operand: Operand, kind: Type, ftz: bool = False) -> Writer:
    """Writes numbers as `read` has them, or exact ones in float64."""
    put = d.write(operand)
    if kind.name.endswith("x2"):
        half = to_bfloat16 if kind.name == "bf16x2" else (
            lambda v: to_half(v).view(np.uint16))

        def packed(t: Threads, values: Array) -> None:
            low, high = half(values).astype(np.uint32)
            put(t, low | (high << np.uint32(16)))
        return packed
    if kind.name == "bf16":
        return lambda t, values: put(t, to_bfloat16(values))
    if kind.name == "f16":
        return lambda t, values: put(t, to_half(values))
    return (lambda t, values: put(t, flush(values))) if ftz else put


def saturate(values: Array) -> Array:
    """Clamp to [0, 1]; NaN becomes 0."""
    return np.where(values > 0, np.minimum(values, values.dtype.type(1)),
                    values.dtype.type(0))


def rounded(name: str, kind: Type, mode: str) -> Callable[..., Array]:
    """add, sub, mul, div or sqrt with a directed rounding."""
    exact = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
             "sqrt": np.sqrt}[name]
    if kind.size == 4:
        def single(*values: Array) -> Array:
            wide = [v.astype(np.float64) for v in values]
            if name in ("add", "sub"):
                other = wide[1] if name == "add" else -wide[1]
                total = zero_of_sum(wide[0], other, odd_sum(wide[0], other), mode)
                return to_single(total, mode)
            return to_single(exact(*wide), mode)
        return single

    def double(*values: Array) -> Array:
        result = exact(*values)
        a, b = values[0], values[-1]
        error = {
            "add": lambda: sum_error(a, b, result), "sub": lambda: sum_error(a, -b, result),
            "mul": lambda: fma_sign(a, b, -result),
            "div": lambda: fma_sign(-result, b, a) * np.sign(b),
            "sqrt": lambda: fma_sign(-result, result, a),
        }[name]()
        overflow = np.isinf(result) & np.isfinite(a) & np.isfinite(b)
        if name == "div":
            overflow &= b != 0
        error = np.where(overflow, -np.sign(result), np.where(np.isfinite(result), error, 0))
        result = adjust(result, error, mode)
        if name in ("add", "sub"):
            return zero_of_sum(a, b if name == "add" else -b, result, mode)
        return result
    return double


def arithmetic(d: Decoder, f: Form, a: tuple[Operand, ...], kind: Type) -> Step:
    """add, sub, mul, div, sqrt of floating-point numbers."""
    ftz, sat = f.flag("ftz"), f.flag("sat")
    f.flag("noftz")
    mode = f.choice(*MODES, default="rn")
    if f.opcode in ("div", "sqrt"):
        f.flag("full", "approx")
    function: Callable[..., Array] = {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
        "sqrt": np.sqrt}[f.opcode]
    if mode != "rn":
        if kind.name not in ("f32", "f64"):
            raise UnknownForm(f"rounding of .{kind.name} with .{mode}")
        function = rounded(f.opcode, kind, mode)
    sources = [read(d, one, kind, ftz) for one in a[1:]]
    put = write(d, a[0], kind, ftz)
    if sat:
        plain = function
        function = lambda *values: saturate(plain(*values))  # noqa: E731
    if len(sources) == 1:
        x, = sources
        return lambda t: put(t, function(x(t)))
    x, y = sources
    return lambda t: put(t, function(x(t), y(t)))


@form("sqrt")
def sqrt(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    return arithmetic(d, f, a, f.type())


@form("fma")
def fma(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    return multiply_add(d, f, a, f.type())


def multiply_add(d: Decoder, f: Form, a: tuple[Operand, ...], kind: Type) -> Step:
    """fma, and mad of floating-point numbers, which is the same."""
    ftz, sat, positive = f.flag("ftz"), f.flag("sat"), f.flag("relu")
    mode = f.choice(*MODES, default="rn")
    x, y, z = (read(d, one, kind, ftz) for one in a[1:4])
    put = write(d, a[0], kind, ftz)
    if kind.name == "f32":
        function: Callable[..., Array] = lambda p, q, r: fma32(p, q, r, mode)  # noqa: E731
    elif mode != "rn":
        raise UnknownForm(f"fma of .{kind.name} with .{mode}")
    elif kind.name == "f64":
        function = fma64
    else:
        function = lambda p, q, r: odd_sum(  # noqa: E731
            p.astype(np.float64) * q, r.astype(np.float64))
    after = saturate if sat else relu if positive else None
    if after is None:
        return lambda t: put(t, function(x(t), y(t), z(t)))
    return lambda t: put(t, after(function(x(t), y(t), z(t))))


def extremum(smallest: bool, propagate: bool) -> Callable[[Array, Array], Array]:
    """min or max: NaN loses, or wins; -0 is below +0."""
    function = (np.minimum if smallest else np.maximum) if propagate else (
        np.fmin if smallest else np.fmax)

    def compute(x: Array, y: Array) -> Array:
        result = function(x, y)
        zero = (x == 0) & (y == 0)
        if zero.any():
            sign = np.signbit(x) | np.signbit(y) if smallest else np.signbit(x) & np.signbit(y)
            signed = np.where(sign, result.dtype.type(-0.0), result.dtype.type(0.0))
            result = np.where(zero, signed, result)
        return result
    return compute


def minimum_maximum(d: Decoder, f: Form, a: tuple[Operand, ...], kind: Type) -> Step:
    """min and max of floating-point numbers."""
    ftz = f.flag("ftz")
    function = extremum(f.opcode == "min", f.flag("NaN"))
    sources = [read(d, one, kind, ftz) for one in a[1:]]
    put = write(d, a[0], kind, ftz)
    if len(sources) == 3:
        x, y, z = sources
        return lambda t: put(t, function(function(x(t), y(t)), z(t)))
    x, y = sources
    return lambda t: put(t, function(x(t), y(t)))


SIGNS = {1: 0x80, 2: 0x8000, 4: 0x8000_0000, 8: 1 << 63}


def sign_change(d: Decoder, f: Form, a: tuple[Operand, ...], kind: Type) -> Step:
    """neg and abs of floating-point numbers: of their bits."""
    ftz = f.flag("ftz")
    sign = 0x8000_8000 if kind.name.endswith("x2") else SIGNS[kind.size]
    bits = kind.bits
    change = bits.type(sign if f.opcode == "neg" else ~sign & ((1 << 8 * kind.size) - 1))
    source, put = d.read(a[1], TYPES[f"b{8 * kind.size}"]), d.write(a[0])
    function = np.bitwise_xor if f.opcode == "neg" else np.bitwise_and
    if ftz:
        return lambda t: put(t, flush(function(source(t), change).view(np.float32)))
    return lambda t: put(t, function(source(t), change))


@form("copysign")
def copysign(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind = f.type()
    sign, size, put = d.read(a[1], kind), d.read(a[2], kind), d.write(a[0])
    return lambda t: put(t, np.copysign(size(t), sign(t)))


def inverse_sqrt(x: Array) -> Array:
    return 1 / np.sqrt(x)


APPROXIMATE: dict[str, Callable[[Array], Array]] = {
    "ex2": np.exp2, "lg2": np.log2, "rsqrt": inverse_sqrt, "rcp": np.reciprocal,
    "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
}


@form(*APPROXIMATE)
def approximate(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind, ftz = f.type(), f.flag("ftz")
    mode = f.choice("approx", *MODES)
    if not mode:
        raise UnknownForm(f"{f.opcode} without .approx or a rounding mode")
    function = APPROXIMATE[f.opcode]
    if kind.name == "f64":
        source, put = d.read(a[1], kind), d.write(a[0])
        if mode == "approx" and ftz:
            return upper_half(source, put, function)
        return lambda t: put(t, function(source(t)))
    x, put = read(d, a[1], kind, ftz), write(d, a[0], kind, ftz)
    if kind.name == "f32":
        modes = mode if mode in MODES else "rn"
        return lambda t: put(t, to_single(function(x(t).astype(np.float64)), modes))
    return lambda t: put(t, function(x(t).astype(np.float64)))


def upper_half(source: Reader, put: Writer, function: Callable[[Array], Array]) -> Step:
    """rcp.approx.ftz.f64: of the upper 32 bits, the upper 32 bits."""
    def step(t: Threads) -> None:
        x = (source(t).view(np.uint64) & ~LOW32).view(np.float64)
        x = np.where(np.abs(x) < 2.0**-1022, np.copysign(0.0, x), x)
        result = function(x)
        result = np.where(np.abs(result) < 2.0**-1022, np.copysign(0.0, result), result)
        put(t, np.where(np.isnan(result), result.view(np.uint64),
                        result.view(np.uint64) & ~LOW32))
    return step


ORDERED = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
           "gt": np.greater, "ge": np.greater_equal}
UNORDERED = {f"{name}u": function for name, function in ORDERED.items()}
UNSIGNED = {"lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal}


def comparison(f: Form, kind: Type) -> Callable[[Array, Array], Array]:
    """The comparison that the form names, for numbers of the type."""
    name = f.choice(*ORDERED, *UNORDERED, *UNSIGNED, "num", "nan")
    if kind.kind != "f":
        if name in UNSIGNED:
            return UNSIGNED[name]
        if name in ORDERED:
            return ORDERED[name]
        raise UnknownForm(f"the comparison .{name} of .{kind.name}")
    if name == "num":
        return lambda x, y: ~(np.isnan(x) | np.isnan(y))
    if name == "nan":
        return lambda x, y: np.isnan(x) | np.isnan(y)
    if name == "ne":
        return lambda x, y: (x != y) & ~(np.isnan(x) | np.isnan(y))
    if name == "neu":
        return np.not_equal
    if name in ORDERED:
        return ORDERED[name]
    if name in UNORDERED:
        function = UNORDERED[name]
        return lambda x, y: function(x, y) | np.isnan(x) | np.isnan(y)
    raise UnknownForm(f"the comparison .{name}")


@form("setp")
def setp(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind, ftz = f.type(), f.flag("ftz")
    compare = comparison(f, kind)
    x, y = read(d, a[1], kind, ftz), read(d, a[2], kind, ftz)
    targets = [d.write(one) for one in d.vector(a[0])]
    combine = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor, "": None}[
        f.choice("and", "or", "xor")]
    if combine is None and len(targets) == 1:
        put, = targets
        return lambda t: put(t, compare(x(t), y(t)))
    other = d.read(a[3], PRED) if combine is not None else None

    def step(t: Threads) -> None:
        found = compare(x(t), y(t))
        for put, value in zip(targets, (found, ~found), strict=False):
            if combine is not None and other is not None:
                value = combine(value, other(t))
            put(t, value)
    return step


@form("set")
def set_value(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """Where the comparison holds, 1.0, or all bits for an integer destination."""
    source = f.type()
    kind, ftz = f.type(), f.flag("ftz")
    compare = comparison(f, source)
    x, y = read(d, a[1], source, ftz), read(d, a[2], source, ftz)
    if kind.kind == "f":
        put = write(d, a[0], kind)
        dtype = np.float16 if kind.name.startswith("f16") else (
            np.float32 if kind.size < 8 else np.float64)
        return lambda t: put(t, compare(x(t), y(t)).astype(dtype))
    store, bits = d.write(a[0]), kind.bits
    return lambda t: store(t, np.where(compare(x(t), y(t)), np.iinfo(bits).max, 0).astype(bits))

