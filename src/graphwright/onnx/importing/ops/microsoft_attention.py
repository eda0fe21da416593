"""Layers of transformers in ONNX Runtime's own domain, as its optimizer writes them."""

from __future__ import annotations

from typing import Any

import graphwright as gw
from graphwright import Tensor
from graphwright.nn import functional as F
from graphwright.onnx.importing.ops.attention import behind, heads_of
from graphwright.onnx.importing.ops.normalization import rms_normalization
from graphwright.onnx.importing.opsets import MICROSOFT, op

op("SimplifiedLayerNormalization", domain=MICROSOFT)(rms_normalization)  # its older name


@op("EmbedLayerNormalization", domain=MICROSOFT)
def embed_layer_normalization(
    input_ids: Tensor, segment_ids: Tensor | None, word: Tensor, position: Tensor,
    segment: Tensor | None, gamma: Tensor, beta: Tensor, mask: Tensor | None = None,
    position_ids: Tensor | None = None, *, epsilon: float = 1e-12, mask_index_type: int = 1,
    n_outputs: int = 1,
) -> Any:  # fmt: skip
    """LayerNormalization of sums of embeddings; how long examples are; the sums."""
    if position_ids is None:
        position_ids = gw.arange(input_ids.shape[1]).unsqueeze(0)
    total = F.embedding(input_ids, word) + F.embedding(position_ids, position)
    if segment_ids is not None and segment is not None:
        total = total + F.embedding(segment_ids, segment)
    y = F.layer_norm(total, [total.shape[-1]], gamma, beta, epsilon)
    if n_outputs == 1:
        return y
    lengths = gw.zeros([input_ids.shape[0]], dtype=gw.int32)
    if mask is not None:
        lengths = mask.sum(1).to(gw.int32)
    return (y, lengths, total)[:n_outputs]


def _attended(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None,
    unidirectional: int, scale: float, filter_value: float,
) -> Tensor:  # fmt: skip
    """Attention of heads (batch, heads, length, size) as (batch, length, hidden).

    `mask` has the lengths of examples, (batch,), or which keys count, (batch, keys) or (batch,
    queries, keys).
    """
    queries, keys = q.shape[2], k.shape[2]
    scores = gw.matmul(q, k.transpose(-1, -2)) * (scale or q.shape[-1] ** -0.5)
    if bias is not None:
        scores = scores + bias
    if mask is not None:
        if mask.dim() == 1:
            mask = (gw.arange(keys).unsqueeze(0) < mask.unsqueeze(1)).to(gw.int32)
        if mask.dim() > 3:
            raise NotImplementedError(f"attention with a mask of {mask.dim()} dims")
        shown = mask.unsqueeze(1) if mask.dim() == 3 else mask.unsqueeze(1).unsqueeze(1)
        scores = scores + (1 - shown.to(scores.dtype)) * filter_value
    if unidirectional:
        place = gw.arange(queries).unsqueeze(1) + (keys - queries)
        scores = gw.where(gw.arange(keys) <= place, scores, scores * 0 + filter_value)
    y = gw.matmul(gw.softmax(scores, dim=-1), v).transpose(1, 2)
    return y.reshape([*y.shape[:2], -1])


@op("Attention", domain=MICROSOFT)
def attention(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, mask_index: Tensor | None = None,
    past: Tensor | None = None, attention_bias: Tensor | None = None, *, num_heads: int,
    unidirectional: int = 0, mask_filter_value: float = -10000.0, scale: float = 0.0,
    qkv_hidden_sizes: list[int] | None = None, n_outputs: int = 1,
) -> Any:  # fmt: skip
    """Queries, keys and values of x (batch, length, hidden), and attention between them."""
    packed = gw.matmul(x, weight)
    packed = packed if bias is None else packed + bias
    sizes = qkv_hidden_sizes or [packed.shape[-1] // 3] * 3
    q, k, v = [heads_of(part, num_heads) for part in gw.split(packed, sizes, dim=-1)]
    if past is not None:
        k, v = behind(past[0], k), behind(past[1], v)
    y = _attended(
        q, k, v, mask_index, attention_bias, unidirectional, scale, mask_filter_value
    )
    return (y, gw.stack([k, v])) if n_outputs > 1 else y


@op("MultiHeadAttention", domain=MICROSOFT)
def multi_head_attention(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None = None,
    key_padding_mask: Tensor | None = None, attention_bias: Tensor | None = None,
    past_key: Tensor | None = None, past_value: Tensor | None = None, *, num_heads: int,
    unidirectional: int = 0, mask_filter_value: float = -10000.0, scale: float = 0.0,
    n_outputs: int = 1,
) -> Any:  # fmt: skip
    """Attention of queries, keys and values (batch, length, hidden); keys and values too."""
    if query.dim() != 3 or key.dim() != 3 or value.dim() != 3:
        raise NotImplementedError("MultiHeadAttention of packed inputs")
    if bias is not None:
        n, m = query.shape[-1], key.shape[-1]
        query, key, value = query + bias[:n], key + bias[n : n + m], value + bias[n + m :]
    q, k, v = [heads_of(x, num_heads) for x in (query, key, value)]
    k, v = behind(past_key, k), behind(past_value, v)
    y = _attended(
        q, k, v, key_padding_mask, attention_bias, unidirectional, scale, mask_filter_value
    )
    return (y, k, v)[:n_outputs]
