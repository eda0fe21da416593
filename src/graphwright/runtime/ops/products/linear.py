"""linear and bilinear: affine maps of the last dimension."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.dtype_rules import require_dtype
from graphwright.runtime.ops.nn_support import (
    cast,
    compute,
    finish,
    internal,
    is_half,
    output,
    spec,
    widened,
)
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor.dtypes import bfloat16
from graphwright.runtime.tensor.tensor import Tensor

# linear


def _linear_meta(input: Any, weight: Any, bias: Any) -> Any:
    known = len(input.shape) > 0 and len(weight.shape) in (1, 2)
    if not known or input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            f"linear: input {describe(input)} and weight {describe(weight)} cannot be multiplied"
        )
    if input.dtype is not weight.dtype:
        raise RuntimeError(
            f"linear: expected input {describe(input)} and weight {describe(weight)} to have the "
            "same dtype"
        )
    if len(weight.shape) == 2:
        require_dtype("linear", input.dtype, bool=False)
    if bias is not None and bias.dtype is not input.dtype:
        raise RuntimeError(
            f"linear: expected input {describe(input)} and bias {describe(bias)} to have the same "
            "dtype"
        )
    shape = (*input.shape[:-1], *weight.shape[:-1])
    if bias is not None and not _fits(bias.shape, shape):
        raise RuntimeError(f"linear: bias {describe(bias)} does not fit weight {describe(weight)}")
    return spec(shape, input)


def _fits(shape: Any, result: Any) -> bool:
    """Whether a bias broadcasts to the result; the usual one has a size for each column.

    The bias of a vector may also be a row, as in PyTorch.
    """
    if len(shape) == 1 and result and shape[0] == result[-1]:
        return True
    if len(result) == 1 and len(shape) == 2:
        return bool(shape[0] == 1 and shape[1] == result[0])
    sizes = zip(reversed(shape), reversed(result), strict=False)
    return len(shape) <= len(result) and all(a == 1 or a == b for a, b in sizes)


def _linear_eager(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    shape = _linear_meta(input, weight, bias).shape
    if weight.ndim == 1:
        return _linear_of_vector(input, weight, bias)
    result, out = output(shape, input.dtype)
    x, w = compute(input), compute(weight)
    count = math.prod(shape[:-1])
    rows = x.reshape(count, x.shape[-1])
    y = out.reshape(count, w.shape[0])
    start = 0.0
    if bias is not None:
        out[...] = compute(bias)
        start = 1.0
    if out.dtype not in (np.float32, np.float64) or not (rows.size and w.size):
        y[...] = rows @ w.T + (y if bias is not None else 0)
    else:
        rows = np.ascontiguousarray(rows)
        if w.flags.f_contiguous and not w.flags.c_contiguous:
            _core.gemm(rows, w.T, y, False, False, 1.0, start)
        else:
            _core.gemm(rows, np.ascontiguousarray(w), y, False, True, 1.0, start)
    return finish(result, out)


def _linear_of_vector(input: Any, weight: Any, bias: Any) -> Any:
    """One output, which has no dim."""
    out = ops.matmul(input, weight)
    return out if bias is None else ops.add(out, bias)


def _linear_decompose(input: Any, weight: Any, bias: Any) -> Any:
    shape = _linear_meta(input, weight, bias).shape
    if len(weight.shape) == 1:
        return _linear_of_vector(input, weight, bias)
    own_products = input.dtype is bfloat16 and _core.has_bfloat16_products()
    if bias is not None and is_half(input.dtype) and not own_products:
        wide = _linear_decompose(widened(input), widened(weight), widened(bias))
        return cast(wide, input.dtype)      # rounded once, as by the kernel
    rows = input if len(input.shape) == 2 else ops.reshape(input, (-1, input.shape[-1]))
    out = ops.mm(rows, ops.transpose(weight, 0, 1))
    usual = bias is not None and len(bias.shape) == 1
    if usual:
        out = ops.add(out, bias)
    if len(shape) != 2:
        out = ops.view(out, shape)
    if usual or bias is None:
        return out
    return ops.add(out, bias if len(bias.shape) <= len(shape) else ops.view(bias, shape))


def _conjugate(tensor: Any) -> Any:
    return ops.conj(tensor) if tensor.dtype.is_complex else tensor


def _linear_vjp(ctx: Any, grad: Any) -> Any:
    if len(ctx.weight.shape) == 1:
        return _vector_vjp(ctx, grad)
    to_input = to_weight = to_bias = None
    rows = grad if len(grad.shape) == 2 else ops.reshape(grad, (-1, grad.shape[-1]))
    if ctx.needs["input"]:
        to_input = ops.mm(rows, _conjugate(ctx.weight))
        if len(grad.shape) != 2:
            to_input = ops.view(to_input, tuple(ctx.input.shape))
    if ctx.needs["weight"]:
        x = _conjugate(ctx.input)
        x = x if len(x.shape) == 2 else ops.reshape(x, (-1, x.shape[-1]))
        to_weight = ops.mm(ops.transpose(rows, 0, 1), x)
    if ctx.needs["bias"]:
        shape = tuple(ctx.bias.shape)
        usual = shape == (grad.shape[-1],)
        whole = rows if len(shape) > len(grad.shape) else grad
        to_bias = ops.sum(rows, 0) if usual else ops.sum_to_size(whole, shape)
    return to_input, to_weight, to_bias


def _vector_vjp(ctx: Any, grad: Any) -> Any:
    """The gradients of `_linear_of_vector`."""
    to_input = to_weight = to_bias = None
    if ctx.needs["input"]:
        to_input = ops.mul(ops.unsqueeze(grad, -1), _conjugate(ctx.weight))
    if ctx.needs["weight"]:
        rows = ops.reshape(_conjugate(ctx.input), (-1, ctx.weight.shape[0]))
        to_weight = ops.matmul(ops.reshape(grad, (-1,)), rows)
    if ctx.needs["bias"]:
        to_bias = ops.sum_to_size(grad, tuple(ctx.bias.shape))
    return to_input, to_weight, to_bias


# bilinear


def _check_bilinear(input1: Any, input2: Any, weight: Any, bias: Any) -> None:
    if input1.ndim != input2.ndim:
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}"
        )
    if tuple(input1.shape[:-1]) != tuple(input2.shape[:-1]):
        raise RuntimeError(
            "bilinear(): input batch dimensions do not match: got "
            f"{describe(input1)} and {describe(input2)}"
        )
    if weight.ndim != 3 or (input1.shape[-1], input2.shape[-1]) != tuple(weight.shape[1:]):
        raise RuntimeError(
            f"bilinear(): input sizes do not match weight size: got {describe(input1)}, "
            f"{describe(input2)} and {describe(weight)}"
        )
    if bias is not None and tuple(bias.shape) != (weight.shape[0],):
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {describe(bias)} and "
            f"{describe(weight)}"
        )


def _bilinear_decompose(input1: Any, input2: Any, weight: Any, bias: Any) -> Any:
    """out[n, o] = sum over i, j of input1[n, i] * weight[o, i, j] * input2[n, j] + bias[o]."""
    _check_bilinear(input1, input2, weight, bias)
    outputs, first, second = weight.shape
    x1 = ops.reshape(widened(input1), (-1, first))
    x2 = ops.reshape(widened(input2), (-1, 1, second))
    by_first = ops.reshape(ops.permute(widened(weight), (1, 0, 2)), (first, outputs * second))
    partial = ops.view(ops.mm(x1, by_first), (x1.shape[0], outputs, second))
    out = ops.sum(ops.mul(partial, x2), 2)
    if bias is not None:
        out = ops.add(out, widened(bias))
    return cast(ops.view(out, (*input1.shape[:-1], outputs)), input1.dtype)


internal(
    "linear(Tensor input, Tensor weight, Tensor? bias=None)",
    Kind.COMPOSITE,
    meta=_linear_meta,
    vjp=_linear_vjp,
    saves=("input?weight", "weight?input"),
    decompose=_linear_decompose,
    eager=_linear_eager,
    doc="""Affine map of the last dim: `y = input @ weight.T + bias`.

    Args:
        input: `(*, k)`.
        weight: `(m, k)`, of the dtype of `input`; or `(k,)`, for one output without dim.
        bias: `(m,)`, of the dtype of `input`; none if None.

    Returns: a tensor of shape `(*, m)`.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> F.linear(gw.tensor([[1.0, 2.0]]), gw.tensor([[1.0, 1.0], [0.0, 2.0]]), gw.ones(2))
        tensor([[4., 5.]])
    """,
)
define(
    "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None)",
    Kind.COMPOSITE,
    decompose=_bilinear_decompose,
    method=False,
    doc="""Bilinear map: `y[o] = sum_ij input1[i] * weight[o, i, j] * input2[j] + bias[o]`.

    Args:
        input1: `(*, a)`.
        input2: `(*, b)`.
        weight: `(m, a, b)`.
        bias: `(m,)`; none if None.

    Returns: a tensor of shape `(*, m)`.

    Raises:
        RuntimeError: shapes do not match.

    Example:
        >>> gw.bilinear(gw.ones(5, 2), gw.ones(5, 3), gw.ones(4, 2, 3)).shape
        graphwright.Size([5, 4])
    """,
)
