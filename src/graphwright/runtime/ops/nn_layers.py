"""linear, embedding, dropout and scaled dot product attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.dtypes import bool as bool_dtype
from graphwright.runtime.dtypes import float32, int64
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.nn_support import (
    Array,
    cast,
    compute,
    finish,
    internal,
    new,
    output,
    quietly,
    require_floating,
    same,
    spec,
)
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import Tensor

# linear


def _linear_meta(input: Any, weight: Any, bias: Any) -> Any:
    if len(input.shape) == 0 or len(weight.shape) != 2 or input.shape[-1] != weight.shape[1]:
        raise RuntimeError(
            f"linear: input {describe(input)} and weight {describe(weight)} cannot be multiplied"
        )
    if input.dtype is not weight.dtype:
        raise RuntimeError(
            f"linear: expected input {describe(input)} and weight {describe(weight)} to have the "
            "same dtype"
        )
    if bias is not None and tuple(bias.shape) != (weight.shape[0],):
        raise RuntimeError(f"linear: bias {describe(bias)} does not fit weight {describe(weight)}")
    return spec((*input.shape[:-1], weight.shape[0]), input)


def _linear_eager(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    shape = _linear_meta(input, weight, bias).shape
    result, out = output(shape, input.dtype)
    x, w = compute(input), compute(weight)
    rows = x.reshape(-1, x.shape[-1])
    y = out.reshape(-1, w.shape[0])
    start = 0.0
    if bias is not None:
        y[...] = compute(bias)
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


def _linear_decompose(input: Any, weight: Any, bias: Any) -> Any:
    shape = _linear_meta(input, weight, bias).shape
    rows = input if len(input.shape) == 2 else ops.reshape(input, (-1, input.shape[-1]))
    out = ops.mm(rows, ops.transpose(weight, 0, 1))
    if bias is not None:
        out = ops.add(out, bias)
    return out if len(shape) == 2 else ops.view(out, shape)


def _linear_vjp(ctx: Any, grad: Any) -> Any:
    to_input = to_weight = to_bias = None
    rows = grad if len(grad.shape) == 2 else ops.reshape(grad, (-1, grad.shape[-1]))
    if ctx.needs["input"]:
        to_input = ops.mm(rows, ctx.weight)
        if len(grad.shape) != 2:
            to_input = ops.view(to_input, tuple(ctx.input.shape))
    if ctx.needs["weight"]:
        x = ctx.input
        x = x if len(x.shape) == 2 else ops.reshape(x, (-1, x.shape[-1]))
        to_weight = ops.mm(ops.transpose(rows, 0, 1), x)
    if ctx.needs["bias"]:
        to_bias = ops.sum(rows, 0)
    return to_input, to_weight, to_bias


# embedding


def _check_embedding(weight: Any, indices: Any) -> None:
    if len(weight.shape) != 2:
        raise RuntimeError("'weight' must be 2-D")
    if indices.dtype.is_floating_point or indices.dtype is bool_dtype:
        raise RuntimeError(
            "embedding: expected indices of an integer dtype, but got " + describe(indices)
        )


def _embedding_meta(weight: Any, indices: Any, padding_idx: Any) -> Any:
    _check_embedding(weight, indices)
    return spec((*indices.shape, weight.shape[1]), weight)


def _embedding_eager(weight: Tensor, indices: Tensor, padding_idx: int | None) -> Tensor:
    _check_embedding(weight, indices)
    index = indices._nd
    rows = weight.shape[0]
    if index.size and (index.min() < 0 or index.max() >= rows):
        raise IndexError("index out of range in self")
    result = new((*index.shape, weight.shape[1]), weight.dtype)
    if result.numel():
        np.take(weight._nd, index, axis=0, out=result._nd, mode="clip")
    return result


def _embedding_decompose(weight: Any, indices: Any, padding_idx: Any) -> Any:
    shape = _embedding_meta(weight, indices, padding_idx).shape
    flat = ops.reshape(ops.to_dtype(indices, int64), (-1,))
    return ops.view(ops.index_select(weight, 0, flat), shape)


def _embedding_vjp(ctx: Any, grad: Any) -> Any:
    rows = ctx.weight.shape[0]
    return ops.embedding_backward(grad, ctx.indices, rows, ctx.padding_idx), None


def _embedding_backward_meta(grad: Any, indices: Any, rows: Any, padding_idx: Any) -> Any:
    return spec((rows, grad.shape[-1]), grad)


def _embedding_backward_decompose(grad: Any, indices: Any, rows: Any, padding_idx: Any) -> Any:
    index = ops.reshape(ops.to_dtype(indices, int64), (-1,))
    values = ops.reshape(grad, (-1, grad.shape[-1]))
    if padding_idx is not None:
        values = ops.where(ops.unsqueeze(ops.ne(index, padding_idx), 1), values, 0.0)
    zeros = ops.full((rows, grad.shape[-1]), 0.0, dtype=grad.dtype, device=grad.device)
    return ops.index_add(zeros, 0, index, values)


def _sum_by_row(values: Array, index: Array, out: Array) -> None:
    """out[index[i]] = sum of values[i]: rows sorted by index, then added in runs."""
    out[...] = 0
    if index.size == 0:
        return
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    out[ordered[starts]] = np.add.reduceat(values[order], starts, axis=0)


def _embedding_backward_eager(
    grad: Tensor, indices: Tensor, rows: int, padding_idx: int | None
) -> Tensor:
    index = indices._nd.reshape(-1)
    values = compute(grad).reshape(index.size, grad.shape[-1])
    if padding_idx is not None:
        keep = index != padding_idx
        index, values = index[keep], values[keep]
    result, out = output((rows, grad.shape[-1]), grad.dtype)
    _sum_by_row(values, index, out)
    return finish(result, out)


# dropout


def _scale(p: float) -> float:
    return 0.0 if p == 1.0 else 1.0 / (1.0 - p)


def _native_dropout_meta(input: Any, p: float) -> Any:
    require_floating("dropout", input)
    return same(input), spec(input.shape, input, bool_dtype)


def _native_dropout_eager(input: Tensor, p: float) -> tuple[Tensor, Tensor]:
    require_floating("dropout", input)
    uniform = np.empty(input.shape, np.float32)
    _core.philox_uniform(uniform, _core.seed(), _core.reserve_offset(1))
    mask = new(input.shape, bool_dtype)
    keep = mask._nd
    np.greater_equal(uniform, p, out=keep)
    result, out = output(input.shape, input.dtype)
    np.multiply(compute(input), keep, out=out)
    np.multiply(out, _scale(p), out=out)
    return finish(result, out), mask


def _native_dropout_decompose(input: Any, p: float) -> Any:
    require_floating("dropout", input)
    uniform = ops.rand(tuple(input.shape), dtype=float32, device=input.device)
    mask = ops.ge(uniform, p)
    return _masked(input, mask, p), mask


def _masked(tensor: Any, mask: Any, p: float) -> Any:
    return ops.mul(ops.mul(tensor, ops.to_dtype(mask, tensor.dtype)), _scale(p))


def _native_dropout_vjp(ctx: Any, grad: Any, grad_mask: Any) -> Any:
    return _masked(grad, ctx.out1, ctx.p)


def _dropout_decompose(input: Any, p: float, train: bool) -> Any:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not train or p == 0.0:
        return input
    return ops.native_dropout(input, p)[0]


# scaled dot product attention


def _attention_decompose(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
) -> Any:
    """softmax(query @ key^T * scale + mask) @ value (Vaswani et al., 2017)."""
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    ndim = len(key.shape)
    scores = ops.matmul(ops.mul(query, factor), ops.transpose(key, ndim - 2, ndim - 1))
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError("Explicit attn_mask should not be set when is_causal=True")
        rows = ops.unsqueeze(ops.arange(0, query.shape[-2], 1, dtype=int64), 1)
        attn_mask = ops.le(ops.arange(0, key.shape[-2], 1, dtype=int64), rows)
    if attn_mask is not None and attn_mask.dtype is bool_dtype:
        scores = ops.where(attn_mask, scores, -math.inf)
    elif attn_mask is not None:
        scores = ops.add(scores, cast(attn_mask, scores.dtype))
    weights = ops.softmax(scores, len(scores.shape) - 1)
    return ops.matmul(ops.dropout(weights, dropout_p, True), value)


internal(
    "linear(Tensor input, Tensor weight, Tensor? bias=None)",
    Kind.COMPOSITE,
    meta=_linear_meta,
    vjp=_linear_vjp,
    saves=("input", "weight"),
    decompose=_linear_decompose,
    eager=quietly(_linear_eager),
)
define(
    "embedding(Tensor weight, Tensor indices, int? padding_idx=None)",
    Kind.COMPOSITE,
    meta=_embedding_meta,
    vjp=_embedding_vjp,
    saves=("indices",),
    decompose=_embedding_decompose,
    eager=quietly(_embedding_eager),
    method=False,
)
internal(
    "embedding_backward(Tensor grad, Tensor indices, int rows, int? padding_idx)",
    Kind.COMPOSITE,
    meta=_embedding_backward_meta,
    decompose=_embedding_backward_decompose,
    eager=quietly(_embedding_backward_eager),
)
internal(
    "native_dropout(Tensor input, float p)",
    Kind.RANDOM,
    meta=_native_dropout_meta,
    vjp=_native_dropout_vjp,
    saves=("out1",),
    decompose=_native_dropout_decompose,
    eager=quietly(_native_dropout_eager),
)
define(
    "dropout(Tensor input, float p, bool train)",
    Kind.COMPOSITE,
    decompose=_dropout_decompose,
    method=False,
)
internal(
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
    "Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None)",
    Kind.COMPOSITE,
    decompose=_attention_decompose,
)
