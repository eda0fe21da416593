"""Scaled dot product attention (Vaswani et al., 2017)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.kernels import compute_type
from graphwright.runtime.ops.nn_support import (
    Array,
    cast,
    compute,
    finish,
    internal,
    new,
    output,
    spec,
    widened,
)
from graphwright.runtime.ops.strides import broadcast_shapes
from graphwright.runtime.ops.table import Kind
from graphwright.runtime.symbolic.symint import hint_of
from graphwright.runtime.tensor.dtypes import bfloat16, float16, float32, float64, int64
from graphwright.runtime.tensor.dtypes import bool as bool_dtype
from graphwright.runtime.tensor.tensor import Tensor

_KINDS = (float32, float64, float16, bfloat16)


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
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise RuntimeError(
            "Expected the rows of query and key to have one length, and key and value to have as "
            f"many rows, but got query {describe(query)}, key {describe(key)} and value "
            f"{describe(value)}"
        )
    if attn_mask is None:
        return
    if is_causal:
        raise RuntimeError("Explicit attn_mask should not be set when is_causal=True")
    wanted = (query.shape[-2], key.shape[-2])
    given = (1, 1, *attn_mask.shape)[-2:]
    if any(have not in (1, want) for have, want in zip(given, wanted, strict=True)):
        raise RuntimeError(
            f"Expected attn_mask to broadcast to the scores {list(wanted)} of query and key, but "
            f"got attn_mask {describe(attn_mask)}"
        )
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


def _attending(attn_mask: Any) -> Any:
    """Which rows may attend to anything: [*, L, 1]."""
    last = attn_mask.ndim - 1
    if attn_mask.dtype is bool_dtype:
        return ops.any(attn_mask, last, True)
    return ops.ne(ops.amax(attn_mask.detach(), last, True), -math.inf)


def _weights(scores: Any, attn_mask: Any) -> tuple[Any, Any]:
    """(softmax of the masked scores, rows that may attend to anything or None for all)."""
    last = scores.ndim - 1
    if attn_mask is None:
        return ops.softmax(scores, last), None
    alive = _attending(attn_mask)
    if attn_mask.dtype is bool_dtype:
        allowed = ops.logical_or(attn_mask, ops.logical_not(alive))
        return ops.softmax(ops.where(allowed, scores, -math.inf), last), alive
    return ops.softmax(ops.add(scores, ops.where(alive, attn_mask, 0.0)), last), alive


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
    if is_causal:
        allowed = _causal_mask(query.shape[-2], key.shape[-2], query.device)
        weights = ops.softmax(ops.where(allowed, scores, -math.inf), scores.ndim - 1)
        alive = None
    else:
        weights, alive = _weights(scores, attn_mask)
    dropped = ops.dropout(weights, dropout_p, True) if dropout_p else weights
    out = ops.matmul(dropped, value)
    return (out if alive is None else ops.where(alive, out, 0.0)), weights


# The fused form: blocks of rows, without the weights of the whole


_MANY_CAUSAL = 1 << 12  # scores of a head from which half of them are worth leaving out,
_MANY_CAUSAL_TRAINING = 1 << 15  # and where there are gradients
_MANY = 1 << 19  # scores of all heads from which those of the whole leave the cache,
_MANY_TRAINING = 1 << 24  # and are too large to keep for the gradients


def _pays(query: Any, key: Any, value: Any, is_causal: bool) -> bool:
    """Whether graphs take the fused kernel, too.

    The form in ops is fused with what stands around it, and its backward reads the weights
    instead of recomputing them. But it computes all scores, causal or not, and keeps them.
    Symbolic sizes are not guarded: either form serves all of them.
    """
    rows, columns, size = (hint_of(n) for n in (query.shape[-2], key.shape[-2], query.shape[-1]))
    trains = any(tensor.requires_grad for tensor in (query, key, value))
    many_causal = _MANY_CAUSAL_TRAINING if trains else _MANY_CAUSAL
    many = _MANY_TRAINING if trains else _MANY
    return (is_causal and rows * columns >= many_causal) or (
        hint_of(query.numel()) // max(size, 1) * columns >= many)


def _fits(
    query: Any, key: Any, value: Any, attn_mask: Any, dropout_p: float, is_causal: bool
) -> bool:
    """Whether the fused kernel is taken: without dropout and gradients of the mask."""
    if dropout_p or not isinstance(query, Tensor):
        return False
    tracer = _core.tracer()
    eager = getattr(tracer, "fused_kernels", tracer is None and not query.is_fake)
    if not eager and not (query.is_fake and _pays(query, key, value, is_causal)):
        return False
    if query.dtype not in _KINDS or (attn_mask is not None and attn_mask.requires_grad):
        return False
    return min(query.numel(), key.numel(), value.numel()) > 0


def _lead(*shapes: Any) -> tuple[Any, ...]:
    return broadcast_shapes("scaled_dot_product_attention", [tuple(s[:-2]) for s in shapes])


def _fused_meta(
    query: Any, key: Any, value: Any, attn_mask: Any, is_causal: bool, scale: float
) -> Any:
    """The result, and for each row its greatest score and 1 / the sum of its exponentials."""
    lead = tuple(query.shape[:-1])
    kind = compute_type(query.dtype)
    return spec((*lead, value.shape[-1]), query), spec((*lead, 2), query, kind)


def _four(array: Array, lead: tuple[int, ...]) -> Array:
    """[*, rows, size] as [batch, heads, rows, size] with contiguous rows, copied if need be."""
    rows, size = array.shape[-2:]
    wide = array if array.shape[:-2] == lead else np.broadcast_to(array, (*lead, rows, size))
    if wide.strides[-1] != wide.itemsize or (rows > 1 and wide.strides[-2] < size * wide.itemsize):
        wide = np.ascontiguousarray(wide)
    if wide.ndim == 4:
        return wide
    if wide.ndim < 4:
        return wide.reshape((1,) * (4 - wide.ndim) + wide.shape)
    return wide.reshape(-1, *wide.shape[-3:])


def _four_mask(mask: Tensor | None, query: Tensor, columns: int, dtype: Any) -> Array | None:
    """The additive mask as [batch, heads, rows, columns]; -inf where a bool one says no."""
    if mask is None:
        return None
    if mask.dtype is bool_dtype:
        values = np.where(mask._nd, dtype.type(0), dtype.type(-np.inf))
    else:
        values = compute(mask)
    lead, rows = tuple(query.shape[:-2]), query.shape[-2]
    if values.shape[-1] != columns or values.strides[-1] != values.itemsize:
        values = np.ascontiguousarray(np.broadcast_to(values, (*values.shape[:-1], columns)))
    wide = np.broadcast_to(values, (*lead, rows, columns))
    if wide.ndim == 4:
        return wide
    if wide.ndim < 4:
        return wide.reshape((1,) * (4 - wide.ndim) + wide.shape)
    return wide.reshape(-1, *wide.shape[-3:])


def _operands(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None
) -> tuple[Array, Array, Array, Array | None]:
    lead = tuple(query.shape[:-2])
    q, k, v = (_four(compute(t), lead) for t in (query, key, value))
    return q, k, v, _four_mask(attn_mask, query, key.shape[-2], q.dtype)


def _fused_eager(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    is_causal: bool,
    scale: float,
) -> tuple[Tensor, Tensor]:
    result, out = output((*query.shape[:-1], value.shape[-1]), query.dtype)
    levels = new((*query.shape[:-1], 2), compute_type(query.dtype))
    q, k, v, mask = _operands(query, key, value, attn_mask)
    _core.attention(q, k, v, mask, is_causal, scale, out, levels._nd)
    return finish(result, out), levels


def _fused_vjp(ctx: Any, grad: Any, grad_levels: Any) -> Any:
    grads = ops.attention_backward(
        grad,
        ctx.query,
        ctx.key,
        ctx.value,
        ctx.attn_mask,
        ctx.out0,
        ctx.out1,
        ctx.is_causal,
        ctx.scale,
    )
    return (*grads, None)


def _backward_meta(grad: Any, query: Any, key: Any, value: Any, *rest: Any) -> Any:
    return tuple(spec(t.shape, t) for t in (query, key, value))


def _backward_eager(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    out: Tensor,
    levels: Tensor,
    is_causal: bool,
    scale: float,
) -> tuple[Tensor, ...]:
    q, k, v, mask = _operands(query, key, value, attn_mask)
    results = [output(t.shape, t.dtype) for t in (query, key, value)]
    to_query, to_key, to_value = (array for _, array in results)
    _core.attention_backward(
        np.ascontiguousarray(compute(grad)),
        q,
        k,
        v,
        mask,
        np.ascontiguousarray(compute(out)),
        np.ascontiguousarray(levels._nd),
        is_causal,
        scale,
        to_query,
        to_key,
        to_value,
    )
    return tuple(finish(tensor, array) for tensor, array in results)


def _backward_decompose(
    grad: Any,
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any,
    out: Any,
    levels: Any,
    is_causal: bool,
    scale: float,
) -> Any:
    """From query, key and value alone, so that it can be differentiated again."""
    last = key.ndim - 1
    weights = attention(query, key, value, attn_mask, 0.0, is_causal, scale)[1]
    if attn_mask is not None:
        weights = ops.where(_attending(attn_mask), weights, 0.0)
    to_value = ops.matmul(ops.transpose(weights, last - 1, last), grad)
    slope = ops.matmul(grad, ops.transpose(value, last - 1, last))
    total = ops.sum(ops.mul(weights, slope), last, True)
    to_scores = ops.mul(ops.mul(weights, ops.sub(slope, total)), scale)
    to_key = ops.matmul(ops.transpose(to_scores, last - 1, last), query)
    return ops.matmul(to_scores, key), to_key, to_value


def _fused(
    query: Any, key: Any, value: Any, attn_mask: Any, is_causal: bool, scale: float | None
) -> Any:
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    lead = _lead(query.shape, key.shape, value.shape)
    query, key, value = (
        t if tuple(t.shape[:-2]) == lead else ops.expand(t, (*lead, *t.shape[-2:]))
        for t in (query, key, value)
    )
    return ops.fused_attention(query, key, value, attn_mask, is_causal, factor)[0]


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
    if _fits(query, key, value, attn_mask, dropout_p, is_causal):
        return _fused(query, key, value, attn_mask, is_causal, scale)
    q, k, v = (widened(tensor) for tensor in (query, key, value))
    out = attention(q, k, v, attn_mask, dropout_p, is_causal, scale)[0]
    return cast(out, query.dtype)


internal(
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
    "Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, "
    "bool enable_gqa=False)",
    Kind.COMPOSITE,
    decompose=_attention_decompose,
    doc="""Attention: `softmax(query @ key^T * scale + mask) @ value`.

    Vaswani et al., "Attention is all you need" (2017). Eligible calls run as one fused kernel.

    Args:
        query: floating point, `(*, n, d)`.
        key: `(*, m, d)`, of the dtype of `query`.
        value: `(*, m, e)`, of the dtype of `query`.
        attn_mask: broadcastable to `(*, n, m)`: bool, True where a query may attend to a key;
            or terms of the dtype of `query`, added to the scores. None: no mask.
        dropout_p: probability with which each weight is set to 0; the others are scaled up.
        is_causal: query i attends to the keys up to i only.
        scale: factor of the scores; `1 / sqrt(d)` if None.
        enable_gqa: `key` and `value` may have less heads (third dim from the end) than `query`:
            each serves a group of queries' heads.

    Returns: a tensor of shape `(*, n, e)`; zeros for a query that a bool mask lets attend to no
    key.

    Raises:
        RuntimeError: shapes or dtypes do not match, or a mask is given with `is_causal`.

    Example:
        >>> q, k, v = gw.ones(1, 2, 4), gw.ones(1, 3, 4), gw.ones(1, 3, 5)
        >>> F.scaled_dot_product_attention(q, k, v).shape
        graphwright.Size([1, 2, 5])
    """,
)
internal(
    "fused_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, bool is_causal, "
    "float scale)",
    Kind.OTHER,
    meta=_fused_meta,
    vjp=_fused_vjp,
    saves=("query", "key", "value", "attn_mask", "out0", "out1"),
    eager=_fused_eager,
)
internal(
    "attention_backward(Tensor grad, Tensor query, Tensor key, Tensor value, Tensor? attn_mask, "
    "Tensor out, Tensor levels, bool is_causal, float scale)",
    Kind.OTHER,
    meta=_backward_meta,
    decompose=_backward_decompose,
    tags=("whole",),
    eager=_backward_eager,
)
