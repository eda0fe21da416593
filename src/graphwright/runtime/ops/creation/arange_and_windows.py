"""Sequences of numbers: ranges with their end, and windows of signals."""

from __future__ import annotations

import math
import warnings
from typing import Any

from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import dtypes

# -- range, whose end belongs to it


def _range(start: Any, end: Any, step: Any, dtype: Any, device: Any) -> Any:
    warnings.warn(
        "range is deprecated, as in PyTorch, because its end belongs to it, unlike that of "
        "Python's range; use arange",
        UserWarning,
        stacklevel=3,
    )
    if step == 0:
        raise RuntimeError("range: step must be nonzero")
    if not all(math.isfinite(value) for value in (start, end)):
        raise RuntimeError(f"range: unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError(
            "range: upper bound and lower bound inconsistent with step sign: "
            f"{start}, {end}, {step}"
        )
    target = dtype or dtypes.get_default_dtype()
    count = math.floor((end - start) / step) + 1
    exact = dtypes.float64 if target.is_floating_point else dtypes.int64
    places = ops.arange(count, dtype=exact, device=device)
    scaled = places if step == 1 else ops.mul(places, step)
    return ops.to_dtype(scaled if start == 0 else ops.add(scaled, start), target)


define(
    "range(Scalar start, Scalar end, Scalar step=1, *, dtype? dtype=None, device? device=None)",
    Kind.COMPOSITE,
    decompose=_range,
    method=False,
    tags=("factory",),
)


# -- windows of signals


def _window(name: str, values: Any) -> Any:
    """values(places, last, *factors) for places 0..last; periodic ones drop the last place."""

    def decompose(window_length: int, periodic: bool, *rest: Any) -> Any:
        *factors, dtype, device = rest
        target = dtype or dtypes.get_default_dtype()
        if not target.is_floating_point:
            raise RuntimeError(f"{name}_window expects floating point dtypes, got: {target}")
        if window_length < 0:
            raise RuntimeError(
                f"{name}_window requires non-negative window_length, got {window_length}"
            )
        if window_length < 2:
            return ops.ones((window_length,), dtype=target, device=device)
        last = window_length if periodic else window_length - 1
        places = ops.arange(window_length, dtype=dtypes.float64, device=device)
        return ops.to_dtype(values(ops.div(places, last), *factors), target)

    return decompose


def _cosines(place: Any, *factors: float) -> Any:
    """The sum of (-1)^k factor_k cos(2 pi k place)."""
    total: Any = factors[0]
    for k, factor in enumerate(factors[1:], 1):
        wave = ops.cos(ops.mul(place, 2.0 * math.pi * k))
        total = ops.add(ops.mul(wave, -factor if k % 2 else factor), total)
    return total


def _kaiser(place: Any, beta: float) -> Any:
    centred = ops.sub(ops.mul(place, 2.0), 1.0)
    inside = ops.sqrt(ops.clamp(ops.sub(1.0, ops.mul(centred, centred)), 0.0, None))
    scale = ops.i0(ops.full((), float(beta), dtype=dtypes.float64, device=place.device))
    return ops.div(ops.i0(ops.mul(inside, beta)), scale)


for _name, _factors, _values in (
    ("hann", "", lambda place: _cosines(place, 0.5, 0.5)),
    ("hamming", "float alpha=0.54, float beta=0.46, ", _cosines),
    ("blackman", "", lambda place: _cosines(place, 0.42, 0.5, 0.08)),
    (
        "bartlett",
        "",
        lambda place: ops.sub(1.0, ops.abs(ops.sub(ops.mul(place, 2.0), 1.0))),
    ),
    ("kaiser", "float beta=12.0, ", _kaiser),
):
    define(
        f"{_name}_window(int window_length, bool periodic=True, {_factors}*, "
        "dtype? dtype=None, device? device=None)",
        Kind.COMPOSITE,
        decompose=_window(_name, _values),
        method=False,
        tags=("factory",),
    )
