"""What the tests of half types share."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphwright as gw

HALVES = (gw.float16, gw.bfloat16)


def strict(function: Any, backend: str) -> Any:
    """A function compiled to round as eager execution does, as one graph."""
    return gw.compile(function, backend=backend, fullgraph=True, options={"strict": True})


def distance(actual: Any, expected: Any) -> int:
    """How many representable numbers two tensors' elements are apart at most; nans are equal,
    zeros of two signs are not."""
    a, b = actual.detach().numpy(), expected.detach().numpy()
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    if not expected.dtype.is_floating_point:
        return int((a != b).sum())
    both_nan = np.isnan(a.astype(np.float64)) & np.isnan(b.astype(np.float64))
    places = [_places(values) for values in (a, b)]
    apart = np.where(both_nan, 0, np.abs(places[0] - places[1]))
    return int(apart.max(initial=0))


def _places(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Each float's number in their order, in which -0.0 comes before 0.0."""
    width = values.dtype.itemsize
    bits = np.ascontiguousarray(values).view(f"i{width}").astype(np.int64)
    return np.where(bits < 0, np.iinfo(f"i{width}").min - bits - 1, bits)
