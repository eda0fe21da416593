"""Products of matrices."""

from __future__ import annotations

from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.ops.unary import is_float
from graphwright.onnx.exporting.registry import form, forms

forms({
    "mm bmm mv dot matmul broadcast_matmul": lambda g, out, a, b: g.math(
        "MatMul", a, b, dtype=out.dtype),
})
forms({
    "linalg_det": lambda g, out, x: g.op("Det", x),
    # what beta multiplies counts for nothing where beta is 0
    "addmm": lambda g, out, x, a, b, beta, alpha: g.op(
        "Gemm", a, b, x if beta else None, alpha=float(alpha), beta=float(beta)),
}, accepts=is_float)


@form("linear")
def _linear(g: Builder, out: Any, x: Value, weight: Value, bias: Value | None) -> Value:
    if x.ndim == weight.ndim == 2 and is_float(x):
        return g.op("Gemm", x, weight, bias, transB=1)
    turned = weight if weight.ndim == 1 else g.once("Transpose", weight, perm=[1, 0])
    product = g.math("MatMul", x, turned, dtype=out.dtype)
    return product if bias is None else g.math("Add", product, bias, dtype=out.dtype)


def _is_equation(equation: Any, operands: Any) -> bool:
    """Runtimes have Einsum for numbers of four and eight bytes, and letters alone."""
    return isinstance(equation, str) and equation.replace(" ", "").replace(",", "").replace(
        "->", "").isalpha() and all(one.dtype.itemsize >= 4 for one in operands)


@form("einsum", accepts=_is_equation)
def _einsum(g: Builder, out: Any, equation: str, operands: Any) -> Value:
    parts = [g.cast(one, out.dtype) for one in operands]
    return g.op("Einsum", *parts, equation=equation.replace(" ", ""))
