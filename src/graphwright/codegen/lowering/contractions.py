"""Lowering of matrix products."""

from __future__ import annotations

from graphwright.codegen.lowering.context import Lowering, Tensor, apply, const
from graphwright.codegen.lowering.nodes import Gemm, Index
from graphwright.codegen.lowering.rules import Call, lowering
from graphwright.runtime import _core
from graphwright.runtime.tensor import dtypes


@lowering("mm", "bmm")
def _mm(context: Lowering, call: Call, a: Tensor, b: Tensor) -> Tensor:
    inner = a.shape[-1]
    if inner == 0 or any(e == 0 for e in call.shape):
        return context.pointwise(
            "mm", call.shape, call.dtype, lambda index: const(0, call.dtype))
    if not call.dtype.is_floating_point:
        return by_reduction(context, call, a, b)
    whole = call.dtype is dtypes.bfloat16 and _core.has_bfloat16_products()
    if call.dtype.itemsize >= 4 or whole:
        return context.add(Gemm(
            context.unique(call.op.name), call.shape, call.dtype, a.name, b.name, inner))
    out = context.add(Gemm(context.unique(call.op.name), call.shape, dtypes.float32,
                           context.converted(a, dtypes.float32).name,
                           context.converted(b, dtypes.float32).name, inner))
    return context.converted(out, call.dtype)


def by_reduction(context: Lowering, call: Call, a: Tensor, b: Tensor) -> Tensor:
    """A matrix product as a sum over the inner axis."""
    domain = (*call.shape, a.shape[-1])

    def term(index: Index) -> object:
        *batch, m, n, k = index
        return apply("mul", a.at((*batch, m, k)), b.at((*batch, k, n)))
    return context.reduction("mm", domain, (len(domain) - 1,), call.dtype, "sum", term)
