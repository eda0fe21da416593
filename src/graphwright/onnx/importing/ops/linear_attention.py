"""Attention with a state instead of keys."""

from __future__ import annotations

from typing import Any

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.importing.ops.attention import for_each_query_head, heads_of
from graphwright.onnx.importing.opsets import op


@op("LinearAttention")
def linear_attention(
    query: Tensor, key: Tensor, value: Tensor, past_state: Tensor | None = None,
    decay: Tensor | None = None, beta: Tensor | None = None, *, q_num_heads: int,
    kv_num_heads: int, scale: float = 0.0, update_rule: str = "gated_delta", chunk_size: int = 64,
) -> Any:  # fmt: skip
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
