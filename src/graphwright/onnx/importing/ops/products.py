"""Products of matrices."""

from __future__ import annotations

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.importing.opsets import op, plain

plain("MatMul", gw.matmul, inputs=2)
plain("Det", gw.linalg.det)


@op("Gemm")
def gemm(
    a: Tensor, b: Tensor, c: Tensor | None = None, *, alpha: float, beta: float, transA: int = 0,
    transB: int = 0, broadcast: int = 1,
) -> Tensor:  # fmt: skip
    """alpha a b + beta c, of matrices or their transposes; c is broadcast."""
    a, b = a.t() if transA else a, b.t() if transB else b
    if c is not None and alpha == 1.0 and beta == 1.0 and a.dtype.is_floating_point:
        return gw.addmm(c, a, b)
    product = gw.mm(a, b)
    product = product if alpha == 1.0 else (product * alpha).to(a.dtype)
    if c is None:
        return product
    return product + (c if beta == 1.0 else (c * beta).to(c.dtype))


@op("Einsum")
def einsum(*operands: Tensor, equation: str) -> Tensor:
    """The sum of products that Einstein's notation describes."""
    return gw.einsum(equation.replace(" ", ""), *operands)


def of_rows(values: Tensor) -> Tensor:
    """A scale or zero point of a matrix: where there is one for each row, as a column."""
    return values.unsqueeze(-1) if values.dim() == 1 and values.shape[0] > 1 else values


def minus_zero_point(x: Tensor, zero_point: Tensor | None) -> Tensor:
    """x as int32 minus a zero point."""
    return x.to(gw.int32) if zero_point is None else x.to(gw.int32) - zero_point.to(gw.int32)


def exact_product(a: Tensor, b: Tensor, a_zero: Tensor | None, b_zero: Tensor | None) -> Tensor:
    """The product of integers of 8 bits minus their zero points, of all, each row of a or each
    column of b, as float64, which has it exactly."""
    a = minus_zero_point(a, None if a_zero is None else of_rows(a_zero))
    return gw.matmul(a.double(), minus_zero_point(b, b_zero).double())


@op("MatMulInteger")
def matmul_integer(
    a: Tensor, b: Tensor, a_zero_point: Tensor | None = None, b_zero_point: Tensor | None = None
) -> Tensor:
    """The product of 8-bit matrices minus their zero points, as int32."""
    return exact_product(a, b, a_zero_point, b_zero_point).to(gw.int32)
