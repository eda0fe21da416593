"""Tensors joined, padded, and made from numbers."""

from __future__ import annotations

from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value, computed_in
from graphwright.onnx.exporting.ops.views import span
from graphwright.onnx.exporting.registry import form, forms
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes


@form("cat")
def _cat(g: Builder, out: Any, tensors: Any, dim: int) -> Value:
    """Empty vectors, which join with anything, are left out."""
    parts = [g.cast(one, out.dtype) for one in tensors
             if not (one.shape == (0,) and len(out.shape) > 1)]
    return g.op("Concat", *parts, axis=dim % max(len(out.shape), 1))


def _padded(g: Builder, x: Value, pad: Any, mode: str, value: Any) -> Value:
    """Sizes are added before and behind each dim, from the last dim on."""
    if not len(pad) or x.ndim == 0:
        return x
    wide = computed_in(x.dtype)
    given = g.cast(x, wide)
    number = g.constant(value, wide) if mode == "constant" and value else None
    dims = list(range(x.ndim - 1, x.ndim - 1 - len(pad) // 2, -1))
    amounts = g.sizes([*pad[0::2], *pad[1::2]])
    return g.cast(g.op("Pad", given, amounts, number, dims, mode=mode), x.dtype)


_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@form("pad", accepts=lambda x, pad, mode, value: mode != "circular")
def _pad(g: Builder, out: Any, x: Value, pad: Any, mode: str, value: Any) -> Value:
    return _padded(g, x, pad, _MODES[mode], value or 0)


def filled(g: Builder, number: Any, dtype: Any, shape: Any) -> Value:
    """A tensor of one number."""
    one = g.operand(number, dtype)
    if not len(shape):
        return one
    return g.op("Expand", one, g.sizes(shape), shape=tuple(shape))


forms({
    "full full_like": lambda g, out, like, value, *rest: filled(g, value, out.dtype, out.shape),
    # memory that nobody has written: zeros
    "empty": lambda g, out, *rest: filled(g, 0, out.dtype, out.shape),
    "constant_pad constant_pad_nd": lambda g, out, x, pad, value: _padded(
        g, x, pad, "constant", value),
})


@form("arange")
def _arange(g: Builder, out: Any, start: Any, end: Any, step: Any, *rest: Any) -> Value:
    """start + step * i, which rounds as the op does."""
    first, gap = (0, 1) if end is None else (start or 0, step)
    plain = not isinstance(first, SymInt) and not isinstance(gap, SymInt)
    exact = not plain or all(float(one).is_integer() for one in (first, gap))
    wide = dtypes.int64 if exact or not out.dtype.is_floating_point else dtypes.float64
    places = g.cast(span(g, out.shape[0]), wide)
    if not (plain and gap == 1):
        places = g.math("Mul", places, _number(gap, wide), dtype=wide)
    if not (plain and first == 0):
        places = g.math("Add", places, _number(first, wide), dtype=wide)
    return g.cast(places, out.dtype)


def _number(one: Any, dtype: Any) -> Any:
    return int(one) if dtype is dtypes.int64 and not isinstance(one, SymInt) else one
