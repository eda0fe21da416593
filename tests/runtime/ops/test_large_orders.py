"""Integers that say how often something is done: a bounded amount of work for any of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.ops.special.polynomials import MAX_STEPS, POLYNOMIALS

VALUES = [1.25, -3e4, 0.0, np.inf, np.nan]
X = np.array([-1.5, -1.0, -0.7, -1e-3, 0.0, 0.3, 0.99999, 1.0, 1.2])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("decimals", [310, 10**9, 2**63 - 1, -310, -(10**9), -(2**63)])
@pytest.mark.parametrize("compiled", [False, True])
def test_rounding_to_any_number_of_decimals(dtype: str, decimals: int, compiled: bool) -> None:
    """By a power of ten that is infinite: nan, as in PyTorch."""
    x = gw.tensor(VALUES, dtype=getattr(gw, dtype))

    def rounded(x: Any) -> Any:
        return x.round(decimals=decimals) * 1

    got = (gw.compile(rounded, backend="llvm") if compiled else rounded)(x).tolist()
    infinite = [np.inf * v for v in VALUES] if decimals < 0 else []
    assert all(np.isnan(v) or v in infinite for v in got)


@pytest.mark.parametrize("n", [MAX_STEPS + 1, 10**6 + 1, 2**31, 2**40])
@pytest.mark.parametrize("tensor", [False, True])
@pytest.mark.parametrize("name", sorted(POLYNOMIALS))
def test_polynomials_of_any_order(name: str, tensor: bool, n: int) -> None:
    function = getattr(gw.special, name)
    shifted = name.startswith("shifted")
    x = gw.tensor((X + 1) / 2 if shifted else X)
    order = gw.tensor(n) if tensor else n
    if name.startswith(("laguerre", "legendre")):
        with pytest.raises(ValueError, match=f"at most {MAX_STEPS}, got {n}"):
            function(x, order)
        return
    got = function(x, order).numpy()
    if name.startswith("hermite"):
        assert np.isnan(got).all()
        return
    angle = np.arccos(X[1:-1])
    inside = np.where(np.abs(X[1:-1]) < 1)[0]
    with np.errstate(invalid="ignore"):
        wanted = {
            "t": np.cos(n * angle),
            "u": np.sin((n + 1) * angle) / np.sin(angle),
            "v": np.cos((n + 0.5) * angle) / np.cos(angle / 2),
            "w": np.sin((n + 0.5) * angle) / np.sin(angle / 2),
        }[name[-1]]
    # the order times an angle is known to that many times its last bit
    tolerance = 64 * n * np.finfo(float).eps
    np.testing.assert_allclose(got[1:-1][inside], wanted[inside], rtol=tolerance,
                               atol=1e3 * tolerance)
    parity = 1 if n % 2 == 0 else -1
    ends = {
        "t": (parity, 1), "u": (parity * (n + 1), n + 1),
        "v": (parity * (2 * n + 1), 1), "w": (parity, 2 * n + 1),
    }[name[-1]]  # fmt: skip
    np.testing.assert_allclose(got[[1, -2]], ends, rtol=tolerance)


CHEBYSHEV = sorted(n for n in POLYNOMIALS if "chebyshev" in n)


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[] if name.startswith("shifted_chebyshev_polynomial_u")
                 else pytest.mark.slow)
    for name in CHEBYSHEV
])  # fmt: skip
def test_the_closed_form_continues_the_recurrence(name: str) -> None:
    """P(n + 1) = 2 y P(n) - P(n - 1), across the order from which on the other one is used."""
    function = getattr(gw.special, name)
    y = np.array([-0.9, 0.1, 0.8, 1.0])
    x = gw.tensor((y + 1) / 2 if name.startswith("shifted") else y)
    before, at, behind = (function(x, MAX_STEPS + k).numpy() for k in (-1, 0, 1))
    np.testing.assert_allclose(behind, 2 * y * at - before, rtol=1e-7, atol=1e-7 * abs(at).max())


def test_orders_of_several_sizes_in_one_tensor() -> None:
    n = gw.tensor([0, 1, 2, 3, 2**31, -1])
    got = gw.special.chebyshev_polynomial_t(gw.full((6,), 0.5, dtype=gw.float64), n).tolist()
    assert got[:4] == [1, 0.5, -0.5, -1] and got[5] == 0
    assert abs(got[4] - np.cos(2**31 * np.arccos(0.5))) < 1e-6
