"""Scaled dot product attention (Vaswani et al., 2017)."""

from __future__ import annotations

import math
from typing import Any

from graphwright.runtime.dtypes import bool as bool_dtype
from graphwright.runtime.dtypes import int64
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.nn_support import cast, internal
from graphwright.runtime.ops.table import Kind


def _check(query: Any, key: Any, value: Any, attn_mask: Any, is_causal: bool) -> None:
    if not query.dtype is key.dtype is value.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query "
            f"{describe(query)}, key {describe(key)} and value {describe(value)}"
        )
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be at least 2 dimensional, but got query "
            f"{describe(query)}, key {describe(key)} and value {describe(value)}"
        )
    if attn_mask is None:
        return
    if is_causal:
        raise RuntimeError("Explicit attn_mask should not be set when is_causal=True")
    if attn_mask.dtype is not bool_dtype and attn_mask.dtype is not query.dtype:
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or to match query dtype, but got attn_mask "
            f"{describe(attn_mask)} and query {describe(query)}"
        )


def _shared_heads(query: Any, tensor: Any) -> Any:
    """Key or value [*, Hk, S, E] as [*, Hq, S, E]: each head serves Hq / Hk queries."""
    if query.ndim < 3 or tensor.ndim < 3:
        raise RuntimeError("enable_gqa needs tensors of at least 3 dimensions")
    heads, own = query.shape[-3], tensor.shape[-3]
    if own == heads:
        return tensor
    if own == 0 or heads % own != 0:
        raise RuntimeError(
            "Number of heads in key and value must divide the number of heads in query, but got "
            f"{describe(query)} and {describe(tensor)}"
        )
    lead, (rows, columns) = tuple(tensor.shape[:-3]), tuple(tensor.shape[-2:])
    wide = ops.expand(
        ops.unsqueeze(tensor, tensor.ndim - 2), (*lead, own, heads // own, rows, columns)
    )
    return ops.reshape(wide, (*lead, heads, rows, columns))


def _causal_mask(rows: Any, columns: Any, device: Any) -> Any:
    last = ops.unsqueeze(ops.arange(0, rows, 1, dtype=int64, device=device), 1)
    return ops.le(ops.arange(0, columns, 1, dtype=int64, device=device), last)


def _weights(scores: Any, attn_mask: Any) -> tuple[Any, Any]:
    """(softmax of the masked scores, rows that are masked throughout or None)."""
    last = scores.ndim - 1
    if attn_mask is None:
        return ops.softmax(scores, last), None
    if attn_mask.dtype is bool_dtype:
        dead = ops.logical_not(ops.any(attn_mask, attn_mask.ndim - 1, True))
        allowed = ops.logical_or(attn_mask, dead)
        return ops.softmax(ops.where(allowed, scores, -math.inf), last), dead
    dead = ops.eq(ops.amax(attn_mask.detach(), attn_mask.ndim - 1, True), -math.inf)
    shift = ops.where(dead, 0.0, attn_mask)
    return ops.softmax(ops.add(scores, shift), last), dead


def attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
) -> tuple[Any, Any]:
    """(softmax(query @ key^T * scale + mask) @ value, the weights before dropout).

    Rows that may attend to nothing give zeros.
    """
    factor = 1 / math.sqrt(query.shape[-1] or 1) if scale is None else scale
    ndim = key.ndim
    scores = ops.matmul(ops.mul(query, factor), ops.transpose(key, ndim - 2, ndim - 1))
    mask = attn_mask
    if is_causal:
        allowed = _causal_mask(query.shape[-2], key.shape[-2], query.device)
        weights = ops.softmax(ops.where(allowed, scores, -math.inf), scores.ndim - 1)
        dead = None
    else:
        weights, dead = _weights(scores, mask)
    dropped = ops.dropout(weights, dropout_p, True) if dropout_p else weights
    out = ops.matmul(dropped, value)
    return (out if dead is None else ops.where(dead, 0.0, out)), weights


def _attention_decompose(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> Any:
    _check(query, key, value, attn_mask, is_causal)
    if enable_gqa:
        key, value = _shared_heads(query, key), _shared_heads(query, value)
    out = attention(query, key, value, attn_mask, dropout_p, is_causal, scale)[0]
    return cast(out, query.dtype)


internal(
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
    "Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, "
    "bool enable_gqa=False)",
    Kind.COMPOSITE,
    decompose=_attention_decompose,
)
