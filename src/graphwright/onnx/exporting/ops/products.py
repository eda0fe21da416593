"""Products of matrices."""

from __future__ import annotations

from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.ops.unary import is_float
from graphwright.onnx.exporting.registry import form


@form("mm", "bmm", "mv", "dot", "matmul", "broadcast_matmul")
def _matmul(g: Builder, out: Any, a: Value, b: Value) -> Value:
    return g.math("MatMul", a, b, dtype=out.dtype)


@form("linear")
def _linear(g: Builder, out: Any, x: Value, weight: Value, bias: Value | None) -> Value:
    if x.ndim == weight.ndim == 2 and is_float(x):
        return g.op("Gemm", x, weight, bias, transB=1)
    turned = weight if weight.ndim == 1 else g.once("Transpose", weight, perm=[1, 0])
    product = g.math("MatMul", x, turned, dtype=out.dtype)
    return product if bias is None else g.math("Add", product, bias, dtype=out.dtype)


@form("addmm", accepts=is_float)
def _addmm(g: Builder, out: Any, x: Value, a: Value, b: Value, beta: Any, alpha: Any) -> Value:
    """Gemm. What beta multiplies counts for nothing where beta is 0."""
    return g.op("Gemm", a, b, x if beta else None, alpha=float(alpha), beta=float(beta))


def _is_equation(equation: Any, operands: Any) -> bool:
    """Runtimes have Einsum for numbers of four and eight bytes, and letters alone."""
    return isinstance(equation, str) and equation.replace(" ", "").replace(",", "").replace(
        "->", "").isalpha() and all(one.dtype.itemsize >= 4 for one in operands)


@form("einsum", accepts=_is_equation)
def _einsum(g: Builder, out: Any, equation: str, operands: Any) -> Value:
    parts = [g.cast(one, out.dtype) for one in operands]
    return g.op("Einsum", *parts, equation=equation.replace(" ", ""))


@form("linalg_det", accepts=is_float)
def _det(g: Builder, out: Any, x: Value) -> Value:
    return g.op("Det", x)
