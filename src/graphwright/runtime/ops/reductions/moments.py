"""Distances from a mean, made of other ops.

A mean is rounded: that of numbers near 10,000 by up to 0.0005 in float32, which is much where
they differ by less than 1. What it lacks is the mean of the distances from it.
"""

from __future__ import annotations

from typing import Any

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.kernels import HALVES
from graphwright.runtime.ops.strides import product
from graphwright.runtime.tensor import dtypes


def gaps(input: Any, mean: Any, dim: tuple[int, ...]) -> tuple[Any, Any]:
    """`input - mean` and the mean of that, whose difference is accurate."""
    gap = ops.sub(input, mean)
    return gap, ops.mean(gap, dim, True)


def squared_gaps(gap: Any, rest: Any, dim: tuple[int, ...]) -> Any:
    """The sum of (gap - rest)**2, the dims kept: sum gap**2 - n rest**2, where that is finite."""
    total = ops.sum(ops.mul(gap, gap), dim, True)
    surplus = ops.mul(ops.mul(rest, rest), product(tuple(gap.shape[d] for d in dim)))
    exact = ops.clamp(ops.sub(total, surplus), 0)
    return ops.where(ops.lt(total, float("inf")), exact, total)


def scaled_gaps(input: Any, dim: tuple[int, ...], scale: Any) -> Any:
    """(input - mean) * scale, in the input's dtype."""
    x = ops.to_dtype(input, dtypes.float32) if input.dtype in HALVES else input
    gap, rest = gaps(x, ops.mean(x, dim, True), dim)
    result = ops.mul(ops.sub(gap, rest), ops.to_dtype(scale, gap.dtype))
    return ops.to_dtype(result, input.dtype)
