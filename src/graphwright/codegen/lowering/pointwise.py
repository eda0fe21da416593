"""Lowering of pointwise ops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from graphwright.codegen.loops import Apply, Const
from graphwright.codegen.lowering.context import (
    Lowering,
    Tensor,
    Unlowerable,
    apply,
    broadcast,
    computed,
    const,
    convert,
    scalar,
)
from graphwright.codegen.lowering.nodes import Index, axis_symbols
from graphwright.codegen.lowering.rules import RULES, Call, lowering
from graphwright.ir.passes.keep_data_checks import may_be_zero
from graphwright.runtime.ops.kernels import EXACT, SCALARS, power_of_ten, rounded_number, rounds
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype
from graphwright.runtime.tensor.promotion import result_dtype

Scalar = Callable[..., Any]


def operand(x: Any, index: Index, call: Call, dtype: dtype) -> Any:
    """A tensor's element at `index` of the result, or a number, in `dtype`."""
    if isinstance(x, Tensor):
        return convert(broadcast(x, index, call.shape), dtype)
    return scalar(x, dtype)


def emit(
    context: Lowering, call: Call, operands: tuple[Any, ...], function: Scalar, compute: dtype,
    common: dtype | None = None, exact: int = 0,
) -> Tensor:
    """The pointwise node function(*operands) computed in `compute`, in the result's dtype.

    Operands are first rounded to the dtype `common`, where it is a half type; `exact`: see
    `kernels.rounds`.
    """
    if common is not None and computed(common) is not common:
        operands = tuple(_rounded(context, x, common) if rounds(at, x, exact) else x
                         for at, x in enumerate(operands))

    def at(index: Index) -> Any:
        values = [operand(x, index, call, compute) for x in operands]
        return convert(function(*values), call.dtype)
    return context.pointwise(call.op.name, call.shape, call.dtype, at)


def _rounded(context: Lowering, x: Any, half: dtype) -> Any:
    """An operand rounded to a half type."""
    if x.__class__ in SCALARS:
        return rounded_number(x, half)
    shape = x.shape if isinstance(x, Tensor) else ()
    if isinstance(x, Tensor):
        if x.dtype is half or x.dtype.itemsize == 1:
            return x
        x = x.at(axis_symbols(shape))
    value = convert(scalar(x, half) if not hasattr(x, "dtype") else x, half)
    return context.settled("rounded", shape, half, value)


def _unary(name: str, function: Scalar) -> None:
    def rule(context: Lowering, call: Call, x: Tensor, *unused: Any) -> Tensor:
        return emit(context, call, (x,), function, computed(call.dtype))
    RULES[name] = rule


def _rounding(name: str) -> None:
    def function(x: Any) -> Any:
        return apply(name, x) if x.dtype.is_floating_point else x
    _unary(name, function)


def _predicate(name: str, function: Scalar) -> None:
    """Unary ops from floats to bool; `function` is not asked about integers."""
    def rule(context: Lowering, call: Call, x: Tensor) -> Tensor:
        if not x.dtype.is_floating_point:
            known = Const(name == "isfinite", dtypes.bool)
            return context.pointwise(name, call.shape, dtypes.bool, lambda index: known)
        return emit(context, call, (x,), function, computed(x.dtype))
    RULES[name] = rule


def _binary(name: str, function: Scalar) -> None:
    exact = EXACT.get(name, 0)

    def rule(context: Lowering, call: Call, a: Any, b: Any, *unused: Any) -> Tensor:
        return emit(context, call, (a, b), function, computed(call.dtype), call.dtype, exact)
    RULES[name] = rule


def _compare(name: str) -> None:
    def rule(context: Lowering, call: Call, a: Any, b: Any) -> Tensor:
        common = result_dtype((a, b))
        return emit(context, call, (a, b),
                    lambda x, y: apply(name, x, y, dtype=dtypes.bool), computed(common), common)
    RULES[name] = rule


def _logical(name: str, op: str) -> None:
    def rule(context: Lowering, call: Call, a: Any, b: Any) -> Tensor:
        return emit(context, call, (a, b), lambda x, y: apply(op, x, y), dtypes.bool)
    RULES[name] = rule


def logical_not(x: Any) -> Any:
    """True where `x` is zero."""
    return apply("not", x)


def finite(x: Any) -> Any:
    """False for inf and nan."""
    return apply("lt", apply("abs", x), const(math.inf, x.dtype), dtype=dtypes.bool)


def relu(x: Any) -> Any:
    """max(0, x); nan and -0 stay what they are."""
    return apply("max", const(0, x.dtype), x)


def absolute(x: Any) -> Any:
    """|x|; the identity on unsigned types."""
    return apply("abs", x) if x.dtype.is_signed else x


def power(x: Any, y: Any) -> Any:
    """x ** y; small constant exponents become products, roots and quotients."""
    if isinstance(y, Const) and x.dtype.is_floating_point:
        exact: dict[float, Callable[[], Any]] = {
            0.0: lambda: const(1, x.dtype),
            1.0: lambda: x,
            2.0: lambda: apply("mul", x, x),
            3.0: lambda: apply("mul", apply("mul", x, x), x),
            -1.0: lambda: apply("reciprocal", x),
            0.5: lambda: apply("sqrt", x),
            -0.5: lambda: apply("rsqrt", x),
        }
        if y.value in exact:
            return exact[y.value]()
    if isinstance(y, Const) and y.value == 2 and not isinstance(x, Const):
        return apply("mul", x, x)
    return apply("pow", x, y)


def power_by_number(x: Any, y: Any) -> Any:
    """x ** y, where y stands for a number: 0.5 and -0.5 are roots."""
    if isinstance(y, Const):
        return power(x, y)
    result = apply("pow", x, y)
    for exponent, root in ((0.5, "sqrt"), (-0.5, "rsqrt")):
        is_root = apply("eq", y, const(exponent, y.dtype), dtype=dtypes.bool)
        result = apply("where", is_root, apply(root, x), result, dtype=x.dtype)
    return result


def logical_arithmetic(op: str, on_bool: str) -> Scalar:
    """`op` on numbers, `on_bool` on bools."""
    return lambda x, y: apply(on_bool if x.dtype is dtypes.bool else op, x, y)


for _name in ("neg", "sqrt", "rsqrt", "reciprocal", "exp", "expm1", "log", "log1p",
              "log2", "sin", "cos", "tan", "tanh", "sigmoid", "erf", "normal_cdf",
              "sign"):
    _unary(_name, lambda x, _op=_name: apply(_op, x))
_unary("abs", absolute)
_unary("relu", relu)
_unary("bitwise_not", lambda x: apply("not", x))
for _name in ("floor", "ceil", "trunc"):
    _rounding(_name)
_predicate("isnan", lambda x: apply("isnan", x, dtype=dtypes.bool))
_predicate("isinf", lambda x: apply("isinf", x, dtype=dtypes.bool))
_predicate("isfinite", finite)

_binary("mul", logical_arithmetic("mul", "and"))
_binary("pow", power)
_binary("pow_number", power_by_number)
_binary("maximum", logical_arithmetic("max", "or"))
_binary("minimum", logical_arithmetic("min", "and"))
_binary("atan2", lambda x, y: apply("atan2", x, y))
for _name, _op in (("bitwise_and", "and"), ("bitwise_or", "or"), ("bitwise_xor", "xor")):
    _binary(_name, lambda x, y, _op=_op: apply(_op, x, y))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _compare(_name)
for _name, _op in (("logical_and", "and"), ("logical_or", "or"), ("logical_xor", "xor")):
    _logical(_name, _op)


@lowering("clone", "contiguous")
def _clone(context: Lowering, call: Call, x: Tensor, *unused: Any) -> Tensor:
    return emit(context, call, (x,), lambda value: value, call.dtype)


@lowering("round")
def _round(context: Lowering, call: Call, x: Tensor, decimals: int = 0) -> Tensor:
    def function(value: Any) -> Any:
        if not value.dtype.is_floating_point:
            return value
        if decimals == 0:
            return apply("round", value)
        scale = const(power_of_ten(decimals), value.dtype)
        grow, shrink = ("mul", "div") if decimals > 0 else ("div", "mul")
        return apply(shrink, apply("round", apply(grow, value, scale)), scale)
    return emit(context, call, (x,), function, computed(call.dtype))


@lowering("bitwise_left_shift", "bitwise_right_shift")
def _shift(context: Lowering, call: Call, a: Any, b: Any) -> Tensor:
    """Counts below 0 or from the width on shift everything out."""
    op = "shl" if call.op.name == "bitwise_left_shift" else "shr"

    def function(x: Any, count: Any) -> Any:
        shifted = apply(op, x, count)
        if x.dtype.is_signed:
            return shifted
        width = const(8 * x.dtype.itemsize, count.dtype)
        fits = apply("lt", count, width, dtype=dtypes.bool)
        return apply("where", fits, shifted, const(0, x.dtype), dtype=x.dtype)
    return emit(context, call, (a, b), function, computed(call.dtype))


@lowering("signbit")
def _signbit(context: Lowering, call: Call, x: Tensor) -> Tensor:
    """The first bit of a float, that of a nan too; False for bools and unsigned integers."""
    bits = {4: dtypes.int32, 8: dtypes.int64}

    def function(value: Any) -> Any:
        if value.dtype.is_floating_point:
            value = apply("bitcast", value, dtype=bits[value.dtype.itemsize])
        if not value.dtype.is_signed or value.dtype is dtypes.bool:
            return const(False, dtypes.bool)
        return apply("lt", value, const(0, value.dtype), dtype=dtypes.bool)
    return emit(context, call, (x,), function, computed(x.dtype))


@lowering("view_dtype")
def _view_dtype(context: Lowering, call: Call, x: Tensor, dtype: Any) -> Tensor:
    """The bits of each element; other views of bytes run as plain Python's do."""
    if x.dtype.itemsize != dtype.itemsize or dtype.itemsize < 4:
        raise Unlowerable(f"view of {x.dtype.name} as {dtype.name}")
    return emit(context, call, (x,), lambda value: apply("bitcast", value, dtype=dtype), x.dtype)


@lowering("logical_not")
def _logical_not(context: Lowering, call: Call, x: Tensor) -> Tensor:
    return emit(context, call, (x,), logical_not, dtypes.bool)


@lowering("add", "sub")
def _add(context: Lowering, call: Call, a: Any, b: Any, alpha: Any = 1) -> Tensor:
    op = call.op.name
    if computed(call.dtype) is not call.dtype and alpha.__class__ in SCALARS:
        alpha = rounded_number(alpha, call.dtype)

    fused = context.strict and call.dtype.is_floating_point and all(
        x.dtype is call.dtype for x in (a, b) if isinstance(x, Tensor))

    def function(x: Any, y: Any) -> Any:
        if alpha != 1 and fused:    # as the eager kernel of tensors of one dtype
            return apply("fma", y, const(alpha if op == "add" else -alpha, y.dtype), x)
        scaled = y if alpha == 1 else apply("mul", y, const(alpha, y.dtype))
        return apply("or" if x.dtype is dtypes.bool else op, x, scaled)
    return emit(context, call, (a, b), function, computed(call.dtype), call.dtype)


def refuse_zeros(call: Call, divisor: Any) -> None:
    """Integer division by what may be 0 is left to the eager kernel, which raises.

    Raises: Unlowerable for a tensor, a size that may be 0, or a number that is 0 in the dtype of
        the result, where that is an integer dtype.
    """
    if not call.dtype.is_floating_point and may_be_zero(divisor, call.dtype):
        raise Unlowerable(f"{call.op.name} of integers by what may be zero")


@lowering("fmod", "remainder")
def _remainder(context: Lowering, call: Call, a: Any, b: Any) -> Tensor:
    refuse_zeros(call, b)
    return emit(context, call, (a, b), lambda x, y: apply(call.op.name, x, y),
                computed(call.dtype), call.dtype)


@lowering("div")
def _div(context: Lowering, call: Call, a: Any, b: Any, rounding_mode: str | None = None
         ) -> Tensor:
    rounded = {"floor": "floordiv", "trunc": "truncdiv"}
    refuse_zeros(call, b)
    exact = EXACT["div" if rounding_mode is None else "floor_divide"]
    if context.strict and isinstance(b, Tensor) and call.dtype.is_floating_point:
        b = context.settled("divisor", b.shape, b.dtype, b.at(axis_symbols(b.shape)))

    def function(x: Any, y: Any) -> Any:
        if rounding_mode is None:
            return quotient(x, y)
        if rounding_mode == "trunc" and call.dtype is not x.dtype and rounds(1, b, exact):
            return apply("trunc", convert(convert(apply("div", x, y), call.dtype), x.dtype))
        return apply(rounded[rounding_mode], x, y)
    return emit(context, call, (a, b), function, computed(call.dtype), call.dtype, exact)


def quotient(x: Any, y: Any) -> Any:
    """x / y; a product where the reciprocal of a constant is exact."""
    if isinstance(y, Const) and _power_of_two(y.value):
        return apply("mul", x, const(1.0 / y.value, y.dtype))
    return apply("div", x, y)


def _power_of_two(value: float) -> bool:
    """Whether 1/value is exact, so that a division may become a product."""
    return value != 0 and math.isfinite(value) and abs(math.frexp(value)[0]) == 0.5 \
        and abs(math.frexp(value)[1]) < 100


@lowering("where")
def _where(context: Lowering, call: Call, condition: Tensor, a: Any, b: Any) -> Tensor:
    def at(index: Index) -> Any:
        mask = operand(condition, index, call, dtypes.bool)
        return apply("where", mask, operand(a, index, call, call.dtype),
                     operand(b, index, call, call.dtype), dtype=call.dtype)
    return context.pointwise("where", call.shape, call.dtype, at)


@lowering("clamp")
def _clamp(context: Lowering, call: Call, x: Tensor, low: Any = None, high: Any = None) -> Tensor:
    """Where a value equals a bound the value is the result: clamp(-0.0, min=0.0) is -0.0."""
    bounds = tuple(b for b in (low, high) if b is not None)
    ops = [op for op, b in (("max", low), ("min", high)) if b is not None]

    def function(value: Any, *limits: Any) -> Any:
        for op, limit in zip(ops, limits, strict=True):
            value = apply(op, limit, value)
        return value
    return emit(context, call, (x, *bounds), function, computed(call.dtype))


def _given(context: Lowering, call: Call, value: Any) -> Tensor:
    """The node of an explicit conversion: to a half-precision dtype it rounds, while results that
    pass from op to op in a fused kernel stay in float32."""
    if not isinstance(value, Apply) or computed(call.dtype) is call.dtype:
        return context.pointwise(call.op.name, call.shape, call.dtype, lambda index: value)
    return context.settled(call.op.name, call.shape, call.dtype, value)


@lowering("to_dtype")
def _to_dtype(context: Lowering, call: Call, x: Tensor, *unused: Any) -> Tensor:
    return _given(context, call, convert(x.at(axis_symbols(call.shape)), call.dtype))


@lowering("copy")
def _copy(context: Lowering, call: Call, x: Tensor, src: Any, *unused: Any) -> Tensor:
    return _given(context, call, operand(src, axis_symbols(call.shape), call, call.dtype))


@lowering("fill", "full_like")
def _fill(context: Lowering, call: Call, x: Tensor, value: Any, *unused: Any) -> Tensor:
    return context.pointwise(
        "fill", call.shape, call.dtype, lambda index: operand(value, index, call, call.dtype))
