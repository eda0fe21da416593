"""Attention, and the rotation of embeddings by position."""

from __future__ import annotations

from functools import reduce
from typing import Any

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.element_types import dtype_of
from graphwright.onnx.importing.opsets import PREVIEW, Tensors, op


def heads_of(x: Tensor, count: int | None) -> Tensor:
    """(batch, length, hidden) as (batch, heads, length, size); four dims stay."""
    if x.dim() == 4:
        return x
    if not count:
        raise ValueError("attention over three dims needs the number of heads")
    batch, length, hidden = x.shape
    return x.reshape([batch, length, count, hidden // count]).transpose(1, 2)


def behind(past: Tensor | None, new: Tensor) -> Tensor:
    """Keys or values of new positions behind those of past ones."""
    return new if past is None else gw.cat([past, new], dim=2)


def for_each_query_head(x: Tensor, heads: int) -> Tensor:
    """Keys or values with each head repeated for the query heads that share it."""
    own = x.shape[1]
    return x if own == heads else x.repeat_interleave(heads // own, dim=1)


@op("Attention")
def attention(
    q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None,
    past_key: Tensor | None = None, past_value: Tensor | None = None,
    nonpad_kv_seqlen: Tensor | None = None, *, is_causal: int = 0, kv_num_heads: int | None = None,
    left_window_size: int = -1, q_num_heads: int | None = None, qk_matmul_output_mode: int = 0,
    right_window_size: int = -1, scale: float | None = None, softcap: float = 0.0,
    softmax_precision: int | None = None, n_outputs: int = 1,
) -> Tensors:  # fmt: skip
    """softmax(q k^T scale + mask) v of each head; keys, values and scores too where asked for."""
    packed = q.dim() == 3
    q, k, v = heads_of(q, q_num_heads), heads_of(k, kv_num_heads), heads_of(v, kv_num_heads)
    n_past = 0 if past_key is None else past_key.shape[2]
    present = k, v = behind(past_key, k), behind(past_value, v)
    heads = q.shape[1]
    k, v = for_each_query_head(k, heads), for_each_query_head(v, heads)
    root = (q.shape[-1] ** -0.5 if scale is None else scale) ** 0.5
    scores = gw.matmul(q * root, (k * root).transpose(-1, -2))
    capped = softcap * gw.tanh(scores / softcap) if softcap else scores
    allowed = _allowed(
        q.shape[2], k.shape[2], n_past, nonpad_kv_seqlen, bool(is_causal), left_window_size,
        right_window_size,
    )
    masked, allowed = _masked(capped, attn_mask, allowed)
    weights = _softmax(masked, allowed, softmax_precision).to(q.dtype)
    y = gw.matmul(weights, v)
    if packed:
        y = y.transpose(1, 2).reshape([y.shape[0], y.shape[2], -1])
    stages = (scores, capped, masked, weights)
    return (y, *present, stages[qk_matmul_output_mode])[:n_outputs]


def _allowed(
    queries: int, keys: int, n_past: int, lengths: Tensor | None, causal: bool, left: int,
    right: int,
) -> Tensor | None:  # fmt: skip
    """Which keys queries may see: (batch or 1, 1, queries, keys), or None for all."""
    if lengths is None and not causal and left < 0 and right < 0:
        return None
    key = gw.arange(keys).reshape([1, 1, 1, keys])
    place: Tensor = gw.arange(queries).reshape([1, 1, queries, 1]) + n_past
    limits = []
    if lengths is not None:
        lengths = lengths.to(gw.int64).reshape([-1, 1, 1, 1])
        limits.append(key < lengths)
        if n_past == 0:
            place = place + (lengths - queries)
    if causal:
        limits.append(key <= place)
    if left >= 0:
        limits.append(key >= place - left)
    if right >= 0:
        limits.append(key <= place + right)
    return reduce(gw.bitwise_and, limits)


def _masked(
    scores: Tensor, mask: Tensor | None, allowed: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """Scores with the mask added and -inf where keys are not seen; which are seen."""
    if mask is not None:
        lacking = scores.shape[-1] - mask.shape[-1]
        if lacking > 0:
            fill = False if mask.dtype == gw.bool else float("-inf")
            mask = gw.nn.functional.pad(mask, [0, lacking], "constant", fill)
        if mask.dtype == gw.bool:
            allowed = mask if allowed is None else allowed & mask
        else:
            scores = scores + mask
    if allowed is not None:
        scores = scores.masked_fill(~allowed, float("-inf"))
    if mask is not None and mask.dtype != gw.bool:
        seen = mask > float("-inf")
        allowed = seen if allowed is None else allowed & seen
    return scores, allowed


def _softmax(scores: Tensor, allowed: Tensor | None, precision: int | None) -> Tensor:
    """Softmax over keys, 0 for queries that see none."""
    wide = scores if precision is None else scores.to(dtype_of(precision))
    weights = gw.softmax(wide, dim=-1)
    if allowed is None:
        return weights
    return weights.masked_fill(~allowed.any(-1, keepdim=True), 0.0)


@op("RotaryEmbedding")
def rotary_embedding(
    x: Tensor, cos_cache: Tensor, sin_cache: Tensor, position_ids: Tensor | None = None, *,
    interleaved: int = 0, num_heads: int | None = None, rotary_embedding_dim: int = 0,
) -> Tensor:  # fmt: skip
    """Pairs of elements of each head turned by angles that depend on the position."""
    packed = x.dim() == 3
    shape = list(x.shape)
    rows = heads_of(x, num_heads).transpose(1, 2)  # (batch, length, heads, size)
    if position_ids is not None:
        cos_cache, sin_cache = cos_cache[position_ids], sin_cache[position_ids]
    cos, sin = cos_cache.unsqueeze(2), sin_cache.unsqueeze(2)
    size = rotary_embedding_dim or rows.shape[-1]
    turned, rest = rows[..., :size], rows[..., size:]
    if interleaved:
        a, b = turned[..., 0::2], turned[..., 1::2]
    else:
        a, b = turned[..., : size // 2], turned[..., size // 2 :]
    real, imaginary = cos * a - sin * b, sin * a + cos * b
    if interleaved:
        turned = gw.stack([real, imaginary], dim=-1).reshape(turned.shape)
    else:
        turned = gw.cat([real, imaginary], dim=-1)
    whole = gw.cat([turned, rest], dim=-1)
    return whole.reshape(shape) if packed else whole.transpose(1, 2)


@op("FlexAttention", domain=PREVIEW)
def flex_attention(
    q: Tensor, k: Tensor, v: Tensor, *, scale: float | None = None,
    softmax_precision: int | None = None, score_mod: Any = None, prob_mod: Any = None,
) -> Tensor:  # fmt: skip
    """Attention whose scores and probabilities pass through subgraphs."""
    heads = q.shape[1]
    k, v = for_each_query_head(k, heads), for_each_query_head(v, heads)
    wide = gw.float64 if q.dtype == gw.float64 else gw.float32
    if softmax_precision is not None:
        wide = dtype_of(softmax_precision)
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    scores = (gw.matmul(q, k.transpose(-1, -2)) * factor).to(wide)
    if score_mod is not None:
        (scores,) = score_mod(scores)
    weights = gw.softmax(scores, dim=-1)
    if prob_mod is not None:
        (weights,) = prob_mod(weights)
    return gw.matmul(weights.to(v.dtype), v)


@op("LinearAttention")
def linear_attention(
    query: Tensor, key: Tensor, value: Tensor, past_state: Tensor | None = None,
    decay: Tensor | None = None, beta: Tensor | None = None, *, q_num_heads: int,
    kv_num_heads: int, scale: float = 0.0, update_rule: str = "gated_delta", chunk_size: int = 64,
) -> Tensors:  # fmt: skip
    """Each query times a state to which each key and value are added; outputs and the state.

    The rules, where g is the decay, b is beta, k, v and q are those of a step:

        linear         S = S + k v^T
        gated          S = exp(g) S + k v^T
        delta          S = S + b k (v - S^T k)^T
        gated_delta    S = exp(g) S; S = S + b k (v - S^T k)^T
    """
    if update_rule not in ("linear", "gated", "delta", "gated_delta"):
        raise ValueError(f"LinearAttention: no update rule {update_rule!r}")
    gated, delta = "gated" in update_rule, "delta" in update_rule
    if (gated and decay is None) or (delta and beta is None):
        raise ValueError(f"LinearAttention: {update_rule!r} needs decay, beta or both")
    q = heads_of(query, q_num_heads)
    k, v = heads_of(key, kv_num_heads), heads_of(value, kv_num_heads)
    batch, _, length, size = q.shape
    state = past_state
    if state is None:
        state = gw.zeros([batch, kv_num_heads, size, v.shape[-1]], dtype=q.dtype)
    dtype = state.dtype
    q, k, v, state = [x.float() if x.element_size() < 4 else x for x in (q, k, v, state)]
    factor = scale if scale else size**-0.5
    outputs = []
    for time in range(length):
        row_k, row_v = k[:, :, time], v[:, :, time]
        if gated:
            state = state * _of_heads(decay, time, kv_num_heads).exp()
        if delta:
            held = gw.matmul(row_k.unsqueeze(-2), state).squeeze(-2)
            row_v = (row_v - held) * _of_heads(beta, time, kv_num_heads).squeeze(-1)
        state = state + row_k.unsqueeze(-1) * row_v.unsqueeze(-2)
        for_queries = for_each_query_head(state, q_num_heads)
        outputs.append(gw.matmul(q[:, :, time].unsqueeze(-2), for_queries).squeeze(-2))
    y = gw.stack(outputs, dim=1) * factor  # (batch, length, heads, size)
    return y.reshape([batch, length, -1]).to(query.dtype), state.to(dtype)


def _of_heads(x: Any, time: int, heads: int) -> Tensor:
    """Numbers of one step, (batch, heads, 1 or size of keys, 1)."""
    row: Tensor = x[:, time]
    if row.shape[-1] == 1:
        return row.reshape([row.shape[0], 1, 1, 1])
    return row.reshape([row.shape[0], heads, -1, 1])
