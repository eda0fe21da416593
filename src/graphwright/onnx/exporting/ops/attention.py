"""Scaled dot product attention as one operator, from opset 23 on."""

from __future__ import annotations

from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.ops.views import same_size
from graphwright.onnx.exporting.registry import form
from graphwright.runtime.tensor import dtypes


def _fits(
    query: Any, key: Any, value: Any, mask: Any, dropout: float, is_causal: bool, scale: Any,
    grouped: bool,
) -> bool:
    """Batches of heads, without dropout; all alike but in the number of heads of key and value."""
    if dropout or not len(query.shape) == len(key.shape) == len(value.shape) == 4:
        return False
    if query.dtype not in (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16):
        return False
    if not all(same_size(query.shape[0], other.shape[0]) for other in (key, value)):
        return False
    if not same_size(key.shape[1], value.shape[1]):
        return False
    if not grouped and not same_size(query.shape[1], key.shape[1]):
        return False
    return mask is None or len(mask.shape) >= 2


@form("scaled_dot_product_attention", since=23, accepts=_fits)
def _attention(
    g: Builder, out: Any, query: Value, key: Value, value: Value, mask: Value | None,
    dropout: float, is_causal: bool, scale: float | None, grouped: bool,
) -> Value:
    if mask is not None:
        wanted = ((query.shape or ())[2], (key.shape or ())[2])
        assert mask.shape is not None
        if not all(same_size(a, b) for a, b in zip(mask.shape[-2:], wanted, strict=True)):
            mask = g.once("Expand", mask, [*(1,) * (mask.ndim - 2), *wanted])
    return g.op("Attention", query, key, value, mask, is_causal=int(is_causal) or None,
                       scale=None if scale is None else float(scale))
