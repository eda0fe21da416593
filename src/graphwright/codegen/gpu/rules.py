"""Lowering rules that only GPU programs have, and the table of all of theirs.

Running folds are a node of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from graphwright.codegen.gpu.attention import fused_attention
from graphwright.codegen.gpu.contractions import product_of
from graphwright.codegen.gpu.convolutions import (
    conv_input_grad,
    conv_weight_grad,
    convolution,
)
from graphwright.codegen.gpu.float_bits import frexp_parts, nextafter
from graphwright.codegen.gpu.scattered_folds import scatter_extreme
from graphwright.codegen.gpu.searching import search_positions
from graphwright.codegen.gpu.sorting import argsort, kth_position, topk_positions
from graphwright.codegen.lowering.context import (
    Lowering,
    Tensor,
    apply,
    computed,
    const,
    convert,
)
from graphwright.codegen.lowering.nodes import (
    Body,
    Index,
    Scan,
    axis_symbols,
    index_value,
)
from graphwright.codegen.lowering.pointwise import emit, operand
from graphwright.codegen.lowering.rules import RULES, Call, Rule
from graphwright.runtime.ops.special.catalogue import FUNCTIONS
from graphwright.runtime.ops.special.polynomials import LIMITED, MAX_STEPS, TOO_HIGH
from graphwright.runtime.symbolic.expr import Int
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype


def scan(context: Lowering, hint: str, shape: Any, axis: int, kind: dtype, fold: str,
         value: Any) -> Tensor:
    """The running fold of value(index) along `axis`; the value itself where there is no loop."""
    if any(e == 0 for e in shape) or shape[axis] == 1:
        return context.pointwise(hint, shape, kind, value)
    return context.add(Scan(context.unique(hint), shape, kind, axis, fold,
                            Body(value(axis_symbols(shape)))))


def _finished(context: Lowering, call: Call, x: Tensor, result: dtype) -> Tensor:
    if x.dtype is result:
        return x
    return context.pointwise("to_dtype", x.shape, result,
                             lambda index: convert(x.at(index), result))


def _cumulative(fold: str) -> Rule:
    def rule(context: Lowering, call: Call, x: Tensor, dim: int, *unused: Any) -> Tensor:
        compute = computed(call.dtype)
        if not x.ndim:
            return context.pointwise(call.op.name, (), call.dtype,
                                     lambda index: convert(x.at(index), call.dtype))
        out = scan(context, call.op.name, x.shape, dim % x.ndim, compute, fold,
                   lambda index: convert(x.at(index), compute))
        return _finished(context, call, out, call.dtype)
    return rule


def _running(fold: str) -> Rule:
    """Running extrema and the last position of each: a running maximum of the positions taken."""

    def rule(context: Lowering, call: Call, x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
        result = call.val[0].dtype
        compute = dtypes.uint8 if x.dtype is dtypes.bool else computed(x.dtype)
        axis = dim % x.ndim if x.ndim else 0
        if not x.ndim:
            zero = context.pointwise("places", (), dtypes.int64,
                                     lambda index: const(0, dtypes.int64))
            return x, zero
        values = scan(context, call.op.name, x.shape, axis, compute, fold,
                      lambda index: convert(x.at(index), compute))

        def place(index: Index) -> Any:
            own = convert(x.at(index), compute)
            taken = apply("eq", own, values.at(index), dtype=dtypes.bool)
            if compute.is_floating_point:
                missing = apply("isnan", own, dtype=dtypes.bool)
                taken = apply("or", taken, missing, dtype=dtypes.bool)
            return apply("where", taken, index_value(index[axis]), const(0, dtypes.int64),
                         dtype=dtypes.int64)
        places = scan(context, "places", x.shape, axis, dtypes.int64, "max", place)
        return _finished(context, call, values, result), places
    return rule


# -- special functions ----------------------------------------------------------------------------

SPECIAL = {
    "erfc": "erfc", "erfinv": "erfinv", "lgamma": "lgamma", "i0": "bessel_i0",
    "special_i1": "bessel_i1", "special_bessel_j0": "bessel_j0",
    "special_bessel_j1": "bessel_j1", "special_bessel_y0": "bessel_y0",
    "special_bessel_y1": "bessel_y1", "special_modified_bessel_i0": "bessel_i0",
    "special_modified_bessel_i1": "bessel_i1", "special_erfcx": "erfcx",
    "special_ndtri": "normal_quantile",
}
"""Ops of one argument to the scalar operations that only GPU programs have."""


def _special(op: str) -> Rule:
    def rule(context: Lowering, call: Call, x: Tensor, *unused: Any) -> Tensor:
        return emit(context, call, (x,), lambda value: apply(op, value), computed(call.dtype))
    return rule


def _numeric(context: Lowering, call: Call, *args: Any) -> Tensor:
    """Functions that are the CPU's, computed in float64 as there."""
    name = call.op.name
    if name == "polygamma":
        name, args = f"polygamma_{args[0]}", args[1:]
    function = partial(apply, f"numeric_{name}")
    if name not in LIMITED:
        return emit(context, call, args, function, dtypes.float64)
    at = axis_symbols(call.shape)
    x, n = (operand(value, at, call, dtypes.float64) for value in args)
    high = apply("gt", n, const(MAX_STEPS, n.dtype), dtype=dtypes.bool)
    found = convert(apply("min", n, const(1e15, n.dtype)), dtypes.int64)
    wrong = apply("where", high, found, const(0, dtypes.int64), dtype=dtypes.int64)
    _, checks = context.check(wrong, Int(MAX_STEPS + 1), TOO_HIGH)
    order = apply("where", high, const(math.nan, n.dtype), n, dtype=n.dtype)
    return context.pointwise(call.op.name, call.shape, call.dtype,
                             lambda index: convert(function(x, order), call.dtype), checks)


def _integers(op: str) -> Rule:
    def rule(context: Lowering, call: Call, a: Any, b: Any) -> Tensor:
        return emit(context, call, (a, b), lambda x, y: apply(op, x, y), call.dtype)
    return rule


OWN: dict[str, Callable[..., Any]] = {
    "cumsum": _cumulative("sum"), "cumprod": _cumulative("prod"),
    "logcumsumexp": _cumulative("logaddexp"),
    "running_max": _running("max"), "running_min": _running("min"),
    "argsort": argsort, "topk_positions": topk_positions, "kth_position": kth_position,
    "search_positions": search_positions, "scatter_extreme": scatter_extreme,
    "frexp_parts": frexp_parts, "gcd": _integers("gcd"), "lcm": _integers("lcm"),
    "empty_strided": RULES["empty"], "mm": product_of, "bmm": product_of, "nextafter": nextafter,
    "fused_attention": fused_attention,
    "convolution": convolution, "conv_input_grad": conv_input_grad,
    "conv_weight_grad": conv_weight_grad,
    "polygamma": _numeric, **dict.fromkeys(FUNCTIONS, _numeric),
    **{name: _special(op) for name, op in SPECIAL.items()},
}
"""The rules of ops that CPU programs leave to eager kernels, or lower in another way."""


def gpu_rules() -> dict[str, Rule]:
    """All rules by the names of ops."""
    return {**RULES, **OWN}
