"""Matrix products of nodes in memory, by tensor cores where the factors are half types."""

from __future__ import annotations

from graphwright.codegen.loops import Apply
from graphwright.codegen.lowering.context import Lowering, Tensor, const
from graphwright.codegen.lowering.contractions import by_reduction
from graphwright.codegen.lowering.nodes import (
    Gemm,
    Pointwise,
    Read,
    View,
    axis_symbols,
    bind,
)
from graphwright.codegen.lowering.rules import Call
from graphwright.runtime.ops.kernels import HALVES
from graphwright.runtime.tensor import dtypes


def product_of(context: Lowering, call: Call, a: Tensor, b: Tensor) -> Tensor:
    """Products in the dtype of their operands, which tensor cores add up in float32."""
    inner = a.shape[-1]
    if inner == 0 or any(e == 0 for e in call.shape):
        return context.pointwise("mm", call.shape, call.dtype,
                                 lambda index: const(0, call.dtype))
    if not call.dtype.is_floating_point:
        return by_reduction(context, call, a, b)
    left, right = _narrow(context, a), _narrow(context, b)
    if call.dtype is dtypes.float32 and left and right and left.dtype is right.dtype:
        a, b = left, right
    return context.add(Gemm(context.unique(call.op.name), call.shape, call.dtype, a.name, b.name,
                            inner))


def _narrow(context: Lowering, x: Tensor) -> Tensor | None:
    """The half type numbers that `x` has cast to float32, where it is those."""
    node, own = context.nodes[x.name], axis_symbols(x.shape)
    if isinstance(node, View):
        inner = context.nodes[node.source]
        source = _narrow(context, Tensor(inner.name, inner.shape, inner.dtype))
        index = node.index
        return source and context.view("view", source, x.shape, lambda at: tuple(
            i.at(bind(x.shape, at)) for i in index))
    if not isinstance(node, Pointwise) or node.body.prologue:
        return None
    cast = node.body.value
    read = cast.args[0] if isinstance(cast, Apply) and cast.op == "cast" else None
    if not isinstance(read, Read) or read.index != own or read.mask is not None:
        return None
    source = context.nodes[read.source]
    whole = read.dtype in HALVES and source.shape == x.shape
    return Tensor(source.name, source.shape, source.dtype) if whole else None
