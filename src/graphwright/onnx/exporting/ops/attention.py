"""Scaled dot product attention as one operator, from opset 23 on."""

from __future__ import annotations

from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.ops.unary import is_float
from graphwright.onnx.exporting.ops.views import same_size
from graphwright.onnx.exporting.registry import form


def _fits(
    query: Any, key: Any, value: Any, mask: Any, dropout: float, is_causal: bool, scale: Any,
    grouped: bool,
) -> bool:
    """Batches of heads, without dropout; all alike but in the number of heads of key and value."""
    if dropout or not len(query.shape) == len(key.shape) == len(value.shape) == 4:
        return False
    alike = [(query.shape[0], key.shape[0]), (query.shape[0], value.shape[0]),
             (key.shape[1], value.shape[1])]
    if not grouped:
        alike.append((query.shape[1], key.shape[1]))
    return (is_float(query) and query.dtype.itemsize > 1
            and all(same_size(a, b) for a, b in alike) and (mask is None or len(mask.shape) >= 2))


@form("scaled_dot_product_attention", since=23, accepts=_fits)
def _attention(
    g: Builder, out: Any, query: Value, key: Value, value: Value, mask: Value | None,
    dropout: float, is_causal: bool, scale: float | None, grouped: bool,
) -> Value:
    if mask is not None:
        wanted = (query.shape[2], key.shape[2])
        if not all(same_size(a, b) for a, b in zip(mask.shape[-2:], wanted, strict=True)):
            mask = g.once("Expand", mask, [*(1,) * (mask.ndim - 2), *wanted])
    return g.op("Attention", query, key, value, mask, is_causal=int(is_causal) or None,
                scale=None if scale is None else float(scale))
