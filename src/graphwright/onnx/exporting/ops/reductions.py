"""Reductions over dims, and sums along one."""

from __future__ import annotations

from functools import partial
from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value, computed_in
from graphwright.onnx.exporting.ops.joining import filled
from graphwright.onnx.exporting.registry import form
from graphwright.runtime.tensor import dtypes


def _dims(dim: Any) -> list[int]:
    return [] if dim is None else [dim] if isinstance(dim, int) else list(dim)


def _reduced(
    kind: str, g: Builder, out: Any, x: Value, dim: Any, keepdim: bool, dtype: Any = None
) -> Value:
    """A reduction over a dim, several, or all (None or none), computed in the result's dtype."""
    wide = computed_in(out.dtype, bools=True)
    axes = g.sizes(_dims(dim)) if _dims(dim) and x.ndim else None
    return g.cast(g.op(kind, g.cast(x, wide), axes, keepdims=int(keepdim)), out.dtype)


for _name, _kind in {"sum": "ReduceSum", "prod": "ReduceProd", "amax": "ReduceMax",
                     "amin": "ReduceMin"}.items():
    form(_name)(partial(_reduced, _kind))


@form("mean")
def _mean(g: Builder, out: Any, x: Value, dim: Any, keepdim: bool, dtype: Any) -> Value:
    """Of no elements, NaN."""
    if any(type(x.shape[one]) is int and x.shape[one] == 0 for one in _dims(dim) or range(x.ndim)):
        return filled(g, float("nan"), out.dtype, out.shape)
    return _reduced("ReduceMean", g, out, x, dim, keepdim)


@form("any")
def _any(g: Builder, out: Any, x: Value, dim: Any, keepdim: bool) -> Value:
    """Unless all are False, which holds of no elements too."""
    none = g.op("Not", g.cast(x, dtypes.bool), shape=x.shape)
    return g.cast(g.op("Not", _every(g, none, dim, keepdim)), out.dtype)


@form("all")
def _all(g: Builder, out: Any, x: Value, dim: Any, keepdim: bool) -> Value:
    return g.cast(_every(g, g.cast(x, dtypes.bool), dim, keepdim), out.dtype)


def _every(g: Builder, x: Value, dim: Any, keepdim: bool) -> Value:
    """Whether all bools are true."""
    return _reduced("ReduceMin", g, x, x, dim, keepdim)


def _place(kind: str, g: Builder, out: Any, x: Value, dim: Any, keepdim: bool) -> Value:
    given = g.cast(x, computed_in(x.dtype, bools=True))
    if dim is not None and x.ndim:
        return g.op(kind, given, dtype=dtypes.int64, axis=dim, keepdims=int(keepdim))
    flat = g.op("Reshape", given, [-1])
    found = g.op(kind, flat, dtype=dtypes.int64, axis=0, keepdims=0)
    return g.op("Reshape", found, [1] * x.ndim) if keepdim and x.ndim else found


form("argmax")(partial(_place, "ArgMax"))
form("argmin")(partial(_place, "ArgMin"))


@form("p_norm", accepts=lambda x, order, *rest: order in (1, 2) and not x.dtype.is_complex)
def _p_norm(g: Builder, out: Any, x: Value, order: float, dim: Any, keepdim: bool,
            dtype: Any) -> Value:
    return _reduced(f"ReduceL{int(order)}", g, out, x, dim, keepdim)


def _cumulative(kind: str, g: Builder, out: Any, x: Value, dim: int, dtype: Any) -> Value:
    if x.ndim == 0:
        return g.cast(x, out.dtype)
    wide = dtypes.int64 if computed_in(out.dtype) is dtypes.int32 else out.dtype
    return g.cast(g.op(kind, g.cast(x, wide), g.scalar(dim)), out.dtype)


form("cumsum")(partial(_cumulative, "CumSum"))
form("cumprod", since=26)(partial(_cumulative, "CumProd"))
