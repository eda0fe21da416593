"""Reductions over dims, and sums along one."""

from __future__ import annotations

from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.element_types import NARROW
from graphwright.onnx.exporting.ops.joining import filled
from graphwright.onnx.exporting.registry import form
from graphwright.runtime.tensor import dtypes


def reduced(g: Builder, kind: str, x: Value, dim: Any, keepdim: bool, dtype: Any) -> Value:
    """A reduction over a dim, several, or all (None or none), computed in `dtype`."""
    dims = [] if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if x.ndim == 0:
        dims = []
    wide = dtypes.int32 if dtype in NARROW else dtype
    axes = g.sizes(dims) if dims else None
    return g.cast(g.op(kind, g.cast(x, wide), axes, keepdims=int(keepdim)), dtype)


@form("sum")
def _sum(g: Builder, out: Any, x: Value, dim: Any, keepdim: bool, dtype: Any) -> Value:
    return reduced(g, "ReduceSum", x, dim, keepdim, out.dtype)


@form("mean")
def _mean(g: Builder, out: Any, x: Value, dim: Any, keepdim: bool, dtype: Any) -> Value:
    """Of no elements, NaN."""
    dims = range(x.ndim) if dim in (None, ()) else [dim] if isinstance(dim, int) else dim
    if 0 in [x.shape[one] for one in dims if x.shape and type(x.shape[one]) is int]:
        return filled(g, float("nan"), out.dtype, out.shape)
    return reduced(g, "ReduceMean", x, dim, keepdim, out.dtype)


@form("prod")
def _prod(g: Builder, out: Any, x: Value, dim: Any, keepdim: bool, dtype: Any) -> Value:
    return reduced(g, "ReduceProd", x, dim, keepdim, out.dtype)


def _extreme(g: Builder, kind: str, x: Value, dim: Any, keepdim: bool, dtype: Any) -> Value:
    """Of bools by way of integers."""
    wide = dtypes.int32 if dtype is dtypes.bool else dtype
    return g.cast(reduced(g, kind, x, dim, keepdim, wide), dtype)


@form("amax")
def _amax(g: Builder, out: Any, x: Value, dim: Any, keepdim: bool) -> Value:
    return _extreme(g, "ReduceMax", x, dim, keepdim, out.dtype)


@form("amin")
def _amin(g: Builder, out: Any, x: Value, dim: Any, keepdim: bool) -> Value:
    return _extreme(g, "ReduceMin", x, dim, keepdim, out.dtype)


@form("any")
def _any(g: Builder, out: Any, x: Value, dim: Any, keepdim: bool) -> Value:
    """Unless all are False, which holds of no elements too."""
    none = Value(g.op("Not", _truth(g, x)).name, dtypes.bool, x.shape)
    truth = g.op("Not", _extreme(g, "ReduceMin", none, dim, keepdim, dtypes.bool))
    return g.cast(truth, out.dtype)


@form("all")
def _all(g: Builder, out: Any, x: Value, dim: Any, keepdim: bool) -> Value:
    truth = _extreme(g, "ReduceMin", _truth(g, x), dim, keepdim, dtypes.bool)
    return g.cast(truth, out.dtype)


def _truth(g: Builder, x: Value) -> Value:
    return Value(g.cast(x, dtypes.bool).name, dtypes.bool, x.shape)


@form("argmax")
def _argmax(g: Builder, out: Any, x: Value, dim: Any, keepdim: bool) -> Value:
    return _place(g, "ArgMax", x, dim, keepdim)


@form("argmin")
def _argmin(g: Builder, out: Any, x: Value, dim: Any, keepdim: bool) -> Value:
    return _place(g, "ArgMin", x, dim, keepdim)


def _place(g: Builder, kind: str, x: Value, dim: Any, keepdim: bool) -> Value:
    wide = dtypes.int32 if x.dtype in NARROW or x.dtype is dtypes.bool else x.dtype
    given = g.cast(x, wide)
    if dim is None or x.ndim == 0:
        flat = g.op("Reshape", given, [-1])
        found = g.op(kind, flat, dtype=dtypes.int64, axis=0, keepdims=0)
        if keepdim and x.ndim:
            found = g.op("Reshape", found, [1] * x.ndim)
        return found
    found = g.op(kind, given, dtype=dtypes.int64, axis=dim, keepdims=int(keepdim))
    return found


@form("p_norm", accepts=lambda x, order, *rest: order in (1, 2) and not x.dtype.is_complex)
def _p_norm(g: Builder, out: Any, x: Value, order: float, dim: Any, keepdim: bool,
            dtype: Any) -> Value:
    return reduced(g, f"ReduceL{int(order)}", x, dim, keepdim, out.dtype)


@form("cumsum")
def _cumsum(g: Builder, out: Any, x: Value, dim: int, dtype: Any) -> Value:
    if x.ndim == 0:
        return g.cast(x, out.dtype)
    wide = dtypes.int64 if out.dtype in NARROW else out.dtype
    return g.cast(g.op("CumSum", g.cast(x, wide), g.constant(dim, dtypes.int64)), out.dtype)


@form("cumprod", since=26)
def _cumprod(g: Builder, out: Any, x: Value, dim: int, dtype: Any) -> Value:
    if x.ndim == 0:
        return g.cast(x, out.dtype)
    wide = dtypes.int64 if out.dtype in NARROW else out.dtype
    return g.cast(g.op("CumProd", g.cast(x, wide), g.constant(dim, dtypes.int64)), out.dtype)
