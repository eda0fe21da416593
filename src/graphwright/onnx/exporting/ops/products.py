"""Products of matrices."""

from __future__ import annotations

from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.element_types import NARROW
from graphwright.onnx.exporting.registry import form
from graphwright.runtime.tensor import dtypes


@form("mm", "bmm", "mv", "dot", "matmul", "broadcast_matmul")
def _matmul(g: Builder, out: Any, a: Value, b: Value) -> Value:
    return g.math("MatMul", a, b, dtype=out.dtype)


@form("linear")
def _linear(g: Builder, out: Any, x: Value, weight: Value, bias: Value | None) -> Value:
    if x.ndim == weight.ndim == 2 and x.dtype.is_floating_point:
        return g.op("Gemm", x, weight, bias, transB=1)
    turned = weight if weight.ndim == 1 else g.once("Transpose", weight, perm=[1, 0])
    product = g.math("MatMul", x, turned, dtype=out.dtype)
    return product if bias is None else g.math("Add", product, bias, dtype=out.dtype)


def _is_plain(x: Any, *rest: Any) -> bool:
    return bool(x.dtype.is_floating_point)


@form("addmm", accepts=_is_plain)
def _addmm(g: Builder, out: Any, x: Value, a: Value, b: Value, beta: Any, alpha: Any) -> Value:
    """Gemm. What beta multiplies counts for nothing where beta is 0."""
    return g.op("Gemm", a, b, x if beta else None, alpha=float(alpha), beta=float(beta))


def _is_equation(equation: Any, operands: Any) -> bool:
    return (isinstance(equation, str) and equation.replace(" ", "").replace(",", "").replace(
        "->", "").isalpha() and not any(
        one.dtype in NARROW or one.dtype in (dtypes.bool, dtypes.float16, dtypes.bfloat16)
        for one in operands))


@form("einsum", accepts=_is_equation)
def _einsum(g: Builder, out: Any, equation: str, operands: Any) -> Value:
    parts = [g.cast(one, out.dtype) for one in operands]
    return g.op("Einsum", *parts, equation=equation.replace(" ", ""))


@form("linalg_det", accepts=_is_plain)
def _det(g: Builder, out: Any, x: Value) -> Value:
    return g.op("Det", x)
