"""Lowering of ops that make tensors from numbers, random ones included."""

from __future__ import annotations

from typing import Any

from graphwright.codegen.loops import Philox
from graphwright.codegen.lowering.context import (
    Lowering,
    Tensor,
    apply,
    const,
    convert,
    scalar,
)
from graphwright.codegen.lowering.nodes import Index, index_value, linear, row_major
from graphwright.codegen.lowering.rules import Call, lowering
from graphwright.runtime.ops.random.draws import HELD
from graphwright.runtime.symbolic.expr import as_expr
from graphwright.runtime.tensor import dtypes


@lowering("full")
def _full(context: Lowering, call: Call, size: Any, value: Any, *unused: Any) -> Tensor:
    return context.pointwise(
        "full", call.shape, call.dtype, lambda index: scalar(value, call.dtype))


@lowering("empty", "zeros")
def _empty(context: Lowering, call: Call, size: Any, *unused: Any) -> Tensor:
    return _full(context, call, size, 0)


@lowering("ones")
def _ones(context: Lowering, call: Call, size: Any, *unused: Any) -> Tensor:
    return _full(context, call, size, 1)


@lowering("arange")
def _arange(
    context: Lowering, call: Call, start: Any, end: Any, step: Any, *unused: Any
) -> Tensor:
    compute = dtypes.float64
    first, by = (int(v) if isinstance(v, float) else v for v in (start, step))

    def at(index: Index) -> Any:
        if not call.dtype.is_floating_point:
            return convert(index_value(as_expr(first) + index[0] * as_expr(by)), call.dtype)
        offset = apply("mul", convert(index_value(index[0]), compute), scalar(step, compute))
        return convert(apply("add", offset, scalar(start, compute)), call.dtype)
    return context.pointwise("arange", call.shape, call.dtype, at)


@lowering("rng_uniform")
def _rng_uniform(
    context: Lowering, call: Call, size: Any, dtype: Any, device: Any, rng_index: int
) -> Tensor:
    context.rng_ops = max(context.rng_ops, rng_index + 1)
    strides = row_major(call.shape)
    held = HELD.get(call.dtype)

    def at(index: Index) -> Any:
        value: Any = Philox(rng_index, linear(index, strides), dtypes.float32)
        if held is not None:
            whole = apply("floor", apply("mul", value, const(held, dtypes.float32)))
            value = apply("mul", whole, const(1.0 / held, dtypes.float32))
        return convert(value, call.dtype)
    return context.pointwise("rng_uniform", call.shape, call.dtype, at)
