"""Tensors joined, padded, and made from numbers."""

from __future__ import annotations

from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.element_types import NARROW
from graphwright.onnx.exporting.ops.views import span
from graphwright.onnx.exporting.registry import form
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes


@form("cat")
def _cat(g: Builder, out: Any, tensors: Any, dim: int) -> Value:
    """Empty vectors, which join with anything, are left out."""
    parts = [g.cast(one, out.dtype) for one in tensors
             if not (one.shape == (0,) and len(out.shape) > 1)]
    return g.op("Concat", *parts, axis=dim % max(len(out.shape), 1))


def _pads(g: Builder, x: Value, pad: Any) -> tuple[Value, Value]:
    """Sizes to add before each dim, then behind each, and the dims; given from the last dim."""
    count = len(pad) // 2
    begins, ends = list(pad[0::2]), list(pad[1::2])
    dims = list(range(x.ndim - 1, x.ndim - 1 - count, -1))
    return g.sizes([*begins, *ends]), g.sizes(dims)


def _padded(g: Builder, x: Value, pad: Any, mode: str, value: Any) -> Value:
    if not len(pad) or x.ndim == 0:
        return x
    wide = dtypes.int32 if x.dtype in NARROW else x.dtype
    given = g.cast(x, wide)
    filled = g.constant(value, wide) if mode == "constant" and value else None
    amounts, dims = _pads(g, x, pad)
    return g.cast(g.op("Pad", given, amounts, filled, dims, mode=mode), x.dtype)


@form("constant_pad", "constant_pad_nd")
def _constant_pad(g: Builder, out: Any, x: Value, pad: Any, value: Any) -> Value:
    return _padded(g, x, pad, "constant", value)


_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@form("pad", accepts=lambda x, pad, mode, value: mode != "circular")
def _pad(g: Builder, out: Any, x: Value, pad: Any, mode: str, value: Any) -> Value:
    return _padded(g, x, pad, _MODES[mode], value or 0)


def filled(g: Builder, number: Any, dtype: Any, shape: Any) -> Value:
    """A tensor of one number."""
    one = g.operand(number, dtype)
    if not len(shape):
        return one
    made = g.op("Expand", one, g.sizes(shape))
    return Value(made.name, dtype, tuple(shape))


@form("full")
def _full(g: Builder, out: Any, size: Any, value: Any, *rest: Any) -> Value:
    return filled(g, value, out.dtype, out.shape)


@form("full_like")
def _full_like(g: Builder, out: Any, x: Value, value: Any, *rest: Any) -> Value:
    return filled(g, value, out.dtype, out.shape)


@form("empty")
def _empty(g: Builder, out: Any, *rest: Any) -> Value:
    """Memory that nobody has written: zeros."""
    return filled(g, 0, out.dtype, out.shape)


@form("arange")
def _arange(g: Builder, out: Any, start: Any, end: Any, step: Any, *rest: Any) -> Value:
    """start + step * i, which rounds as the op does."""
    first, gap = (0, 1) if end is None else (start or 0, step)
    places = span(g, out.shape[0])
    plain = not isinstance(first, SymInt) and not isinstance(gap, SymInt)
    exact = not plain or all(float(one).is_integer() for one in (first, gap))
    wide = dtypes.int64 if exact or not out.dtype.is_floating_point else dtypes.float64
    places = g.cast(places, wide)
    if not (plain and gap == 1):
        places = g.math("Mul", places, _number(gap, wide), dtype=wide)
    if not (plain and first == 0):
        places = g.math("Add", places, _number(first, wide), dtype=wide)
    return g.cast(places, out.dtype)


def _number(one: Any, dtype: Any) -> Any:
    return int(one) if dtype is dtypes.int64 and not isinstance(one, SymInt) else one
