"""Functions that the kernels of one source call, which are written before them.

Arguments are tensors, so that their dtype can be asked for.
"""

from __future__ import annotations

import re

from graphwright.codegen.triton.numeric_functions import PREFIX, numeric_source
from graphwright.runtime.tensor.float8 import FORMATS, Format

HEADER = "import triton\nimport triton.language as tl\n"
LIBDEVICE = "from triton.language.extra import libdevice\n"


def _function(name: str, parameters: str, *lines: str) -> str:
    return f"\n@triton.jit\ndef {name}({parameters}):\n" + "".join(f"    {x}\n" for x in lines)


FUNCTIONS: dict[str, str] = {
    "gw_divide": _function(
        "gw_divide", "a, b",
        "if a.dtype == tl.float32:",
        "    return tl.div_rn(a, b)",
        "return a / b"),
    "gw_sqrt": _function(
        "gw_sqrt", "x",
        "if x.dtype == tl.float32:",
        "    return tl.sqrt_rn(x)",
        "return tl.sqrt(x)"),
    "gw_nan_max": _function(
        "gw_nan_max", "a, b", "return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)"),
    "gw_nan_min": _function(
        "gw_nan_min", "a, b", "return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)"),
    "gw_any": _function(
        "gw_any", "x", "return tl.max(x.to(tl.int32) + tl.zeros([1], tl.int32)) > 0"),
    "gw_add": _function("gw_add", "a, b", "return a + b"),
    "gw_product": _function("gw_product", "a, b", "return a * b"),
    "gw_either": _function("gw_either", "a, b", "return a | b"),
    "gw_both": _function("gw_both", "a, b", "return a & b"),
    "gw_first_max": _function(
        "gw_first_max", "a, i, b, j",
        "better = (a > b) | ((a != a) & (b == b))",
        "same = (a == b) | ((a != a) & (b != b))",
        "first = better | (same & (i < j))",
        "return tl.where(first, a, b), tl.where(first, i, j)"),
    "gw_first_min": _function(
        "gw_first_min", "a, i, b, j",
        "better = (a < b) | ((a != a) & (b == b))",
        "same = (a == b) | ((a != a) & (b != b))",
        "first = better | (same & (i < j))",
        "return tl.where(first, a, b), tl.where(first, i, j)"),
    "gw_log_add_exp": _function(
        "gw_log_add_exp", "a, b",
        "high = tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)",
        "low = tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)",
        "sum = high + libdevice.log1p(libdevice.exp(low - high))",
        "return tl.where(a == b, a + 0.6931471805599453, sum)"),
    "gw_rescale": _function(
        "gw_rescale", "total, old, new",
        "return total * tl.where(old == new, 1.0, libdevice.exp(old - new))"),
    "gw_exp_below": _function(
        "gw_exp_below", "value, maximum",
        'return tl.where(value == float("-inf"), 0.0, libdevice.exp(value - maximum))'),
    "gw_greater": _function(
        "gw_greater", "a, b", "return tl.where((a > b) | (a != a), a, b)"),
    "gw_lesser": _function(
        "gw_lesser", "a, b", "return tl.where((a < b) | (a != a), a, b)"),
    "gw_sigmoid": _function(
        "gw_sigmoid", "x",
        "z = libdevice.exp(-tl.abs(x))",
        "return gw_divide(tl.where(x < 0, z, 1.0), 1.0 + z)"),
    "gw_sign": _function(
        "gw_sign", "x", "return (x > 0).to(x.dtype) - (x < 0).to(x.dtype)"),
    "gw_shl": _function(
        "gw_shl", "x, count, width: tl.constexpr",
        "fits = (count >= 0) & (count < width)",
        "return tl.where(fits, x << tl.where(fits, count, 0), 0)"),
    "gw_shr": _function(
        "gw_shr", "x, count, width: tl.constexpr",
        "fits = (count >= 0) & (count < width)",
        "return x >> tl.where(fits, count, width - 1)"),
    "gw_divisor": _function(
        "gw_divisor", "x, y, least: tl.constexpr",
        "if x.dtype.is_int_unsigned():",
        "    return tl.where(y == 0, 1, y)",
        "return tl.where((y == 0) | ((x == least) & (y == -1)), 1, y)"),
    "gw_quotient": _function(
        "gw_quotient", "x, y, least: tl.constexpr",
        "safe = gw_divisor(x, y, least)",
        "return tl.where(y == 0, 0, x // safe)"),
    "gw_rest": _function(
        "gw_rest", "x, y, least: tl.constexpr",
        "safe = gw_divisor(x, y, least)",
        "return tl.where(y == 0, 0, x - (x // safe) * safe)"),
    "gw_floor_quotient": _function(
        "gw_floor_quotient", "x, y, least: tl.constexpr",
        "quotient = gw_quotient(x, y, least)",
        "rest = gw_rest(x, y, least)",
        "if x.dtype.is_int_unsigned():",
        "    return quotient",
        "return tl.where((rest != 0) & ((rest ^ y) < 0), quotient - 1, quotient)"),
    "gw_floor_rest": _function(
        "gw_floor_rest", "x, y, least: tl.constexpr",
        "rest = gw_rest(x, y, least)",
        "if x.dtype.is_int_unsigned():",
        "    return rest",
        "return tl.where((rest != 0) & ((rest ^ y) < 0), rest + y, rest)"),
    "gw_float_remainder": _function(
        "gw_float_remainder", "x, y",
        "rest = libdevice.fmod(x, y)",
        "return tl.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)"),
    "gw_float_floordiv": _function(
        "gw_float_floordiv", "x, y",
        "rest = libdevice.fmod(x, y)",
        "ratio = gw_divide(x, y)",
        "quotient = gw_divide(x - rest, y)",
        "opposite = (rest != 0) & ((rest < 0) != (y < 0))",
        "quotient = tl.where(opposite, quotient - 1.0, quotient)",
        "whole = tl.floor(quotient)",
        "whole = tl.where(quotient - whole > 0.5, whole + 1.0, whole)",
        "whole = tl.where(quotient == 0, libdevice.copysign(whole * 0.0, ratio), whole)",
        "return tl.where(y == 0, ratio, whole)"),
    "gw_integer_power": _function(
        "gw_integer_power", "x, y, bits: tl.constexpr",
        "result = x * 0 + 1",
        "square = x",
        "rest = y",
        "for _ in tl.static_range(bits):",
        "    result = tl.where((rest & 1) != 0, result * square, result)",
        "    square = square * square",
        "    rest = rest >> 1",
        "if x.dtype.is_int_unsigned():",
        "    return result",
        "sign = tl.where((y & 1) == 0, 1, x)",
        "inverse = tl.where(x == 1, 1, tl.where(x == -1, sign, 0))",
        "return tl.where(y < 0, inverse, result)"),
    "gw_gcd": _function(
        "gw_gcd", "x, y, bits: tl.constexpr",
        "x = tl.abs(x)",
        "y = tl.abs(y)",
        "for _ in range(2 * bits):",
        "    rest = tl.where(y == 0, 0, x % tl.where(y == 0, 1, y))",
        "    x = tl.where(y == 0, x, y)",
        "    y = rest",
        "return x"),
    "gw_lcm": _function(
        "gw_lcm", "x, y, bits: tl.constexpr",
        "divisor = gw_gcd(x, y, bits)",
        "return tl.abs(tl.where(divisor == 0, 0, x // tl.where(divisor == 0, 1, divisor) * y))"),
    "gw_double_to_bfloat16": _function(
        "gw_double_to_bfloat16", "x",
        "near = x.to(tl.float32)",
        "back = near.to(tl.float64)",
        "bits = near.to(tl.int32, bitcast=True)",
        "step = tl.where(tl.abs(back) > tl.abs(x), -1, 1)",
        'odd = (back != x) & (x == x) & ((bits & 1) == 0) & (tl.abs(near) < float("inf"))',
        "bits = tl.where(odd, bits + step, bits)",
        "return bits.to(tl.float32, bitcast=True).to(tl.bfloat16)"),
    "gw_report": _function(
        "gw_report", "error, value, site: tl.constexpr, bad",
        "low = tl.full((), -4503599627370496, tl.int64)",
        "high = tl.full((), 4503599627370495, tl.int64)",
        "word = tl.minimum(tl.maximum(value, low), high) + (((1023 - site) << 53) - low)",
        'tl.atomic_max(error, word, mask=bad, sem="relaxed")'),
    "gw_philox_uniform": _function(
        "gw_philox_uniform", "seed, offset, i",
        "block = i >> 2",
        "low = (block & 0xFFFFFFFF).to(tl.uint32)",
        "high = (block >> 32).to(tl.uint32)",
        "zero = low * 0",
        "c2 = zero + (offset & 0xFFFFFFFF).to(tl.uint32)",
        "c3 = zero + (offset >> 32).to(tl.uint32)",
        "w0, w1, w2, w3 = tl.philox(seed, low, high, c2, c3)",
        "which = i & 3",
        "word = tl.where(which < 2, tl.where(which == 0, w0, w1), "
        "tl.where(which == 2, w2, w3))",
        "return (word >> 8).to(tl.float32) * 5.9604644775390625e-08"),
}

def _from_float8(name: str, form: Format) -> str:
    """As `codegen.emit.casts.float8_to_f32`: exact."""
    shift = 23 - form.mantissa
    lines = ["code = x.to(tl.int32)", f"body = code & {0x7F if form.signed else 0xFF}",
             f"bits = (body << {shift}) + {(127 - form.bias) << 23}"]
    if form.mantissa:
        step = 2.0 ** (1 - form.bias - form.mantissa)
        lines.append(f"small = (body.to(tl.float32) * {step!r}).to(tl.int32, bitcast=True)")
        lines.append(f"bits = tl.where(body < {form.least_normal}, small, bits)")
    else:
        lines.append(f"bits = tl.where(body == 0, {1 << 22}, bits)")
    special = str(0x7FC00000)
    if form.has_infinity:
        special = f"tl.where(body == {form.overflow}, {0x7F800000}, {special})"
    nan = f"code == {form.nan}" if form.nan == 0x80 else f"body > {form.largest}"
    lines.append(f"bits = tl.where({nan}, {special}, bits)")
    if form.signed:
        lines.append("bits = bits | ((code & 0x80) << 24)")
    lines.append("return bits.to(tl.float32, bitcast=True)")
    return _function(f"gw_from_{name}", "x", *lines)


def _to_float8(name: str, form: Format) -> str:
    """As `codegen.emit.casts.f32_to_float8`: to the nearest code."""
    shift, rebias = 23 - form.mantissa, (127 - form.bias) << 23
    lines = ["whole = x.to(tl.int32, bitcast=True)", "bits = whole & 0x7FFFFFFF",
             f"odd = (bits >> {shift}) & 1" if form.mantissa
             else f"odd = tl.where(bits < {1 << 23}, 0, 1)",
             f"code = ((bits + {(1 << (shift - 1)) - 1 - rebias} + odd).to(tl.uint32, "
             f"bitcast=True) >> {shift}).to(tl.int32)"]
    if form.mantissa:
        adder = rebias + ((shift + 1) << 23)
        lines += [f"adder = tl.full((), {adder}, tl.int32).to(tl.float32, bitcast=True)",
                  "small = (bits.to(tl.float32, bitcast=True) + adder).to(tl.int32, "
                  f"bitcast=True) - {adder}",
                  f"code = tl.where(bits < {rebias + (1 << 23)}, small, code)"]
    lines += [f"code = tl.where(code > {form.largest}, {form.overflow}, code)",
              f"code = tl.where(bits > {0x7F800000}, {form.nan}, code)"]
    if form.signed:
        lines.append("sign = (whole >> 24) & 0x80")
        if form.nan == 0x80:
            lines.append("sign = tl.where(code == 0, 0, sign)")
        lines.append("code = code | sign")
    lines.append("return code.to(tl.uint8)")
    return _function(f"gw_to_{name}", "x", *lines)


for _name, _form in FORMATS.items():
    FUNCTIONS[f"gw_from_{_name}"] = _from_float8(_name, _form)
    FUNCTIONS[f"gw_to_{_name}"] = _to_float8(_name, _form)


def function_text(name: str) -> str:
    """The text of a function.

    Raises: KeyError for a name that is none's.
    """
    if name.startswith(PREFIX):
        return numeric_source(name.removeprefix(PREFIX))
    return FUNCTIONS[name]


def called(text: str) -> set[str]:
    """The functions that a text calls."""
    return set(re.findall(r"\b(gw_\w+)\(", text))


def with_needs(names: set[str]) -> list[str]:
    """The texts of functions and of those that they call, in an order in which they can be
    defined."""
    found: dict[str, str] = {}

    def add(name: str) -> None:
        if name not in found:
            text = function_text(name)
            for other in sorted(called(text) - {name}):
                add(other)
            found[name] = text

    for name in sorted(names):
        add(name)
    return list(found.values())
