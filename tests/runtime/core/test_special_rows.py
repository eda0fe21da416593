"""Special functions in C at the edges of their domains, against their kernels in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

import graphwright as gw
from graphwright.runtime.ops.special import gamma
from graphwright.runtime.ops.table import op

EDGES = (0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, 1.0, 1.05, 2.0, 3.0, 7.0, 25.0, 150.0, 1e-6,
         -0.5, -1.0, -2.0, -3.5)
ONE = ("angle", "digamma", "i0", "isneginf", "isposinf", "isreal", "signbit", "sinc",
       "special_i0e", "special_i1", "special_i1e")
BESSEL = ("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "i0", "i0e", "i1", "i1e",
          "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1")
TWO = ("igamma", "igammac", "special_zeta")
SPREAD = np.concatenate([np.asarray(EDGES), np.random.default_rng(0).uniform(-30, 30, 200)])
TOLERANCE = {"float32": 3e-7, "float64": 3e-13}


def _agree(name: str, dtype: str, *args: Any) -> None:
    kernel: Any = op(name).run
    got, want = kernel(*args), kernel.fallback(*args)
    assert got.dtype is want.dtype
    bound = TOLERANCE[dtype]
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=bound, atol=bound)


def _tensor(values: Any, dtype: str) -> gw.Tensor:
    return gw.from_numpy(np.asarray(values, dtype))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", ONE)
def test_of_one_number(name: str, dtype: str) -> None:
    assert op(name)(gw.ones(())).shape == ()
    _agree(name, dtype, _tensor(SPREAD, dtype))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", BESSEL)
def test_bessel_functions_at_infinity_are_those_of_scipy(name: str, dtype: str) -> None:
    x = _tensor([np.inf, -np.inf, 1e3, 2e3], dtype)
    function = getattr(gw.special, name)
    short = name.replace("modified_bessel_", "").replace("bessel_", "")
    with np.errstate(all="ignore"):
        want = getattr(special, short)(x.numpy())
    for run in (function, gw.compile(function)):
        np.testing.assert_allclose(run(x).numpy(), want, rtol=2e-5)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", TWO)
def test_of_two_numbers(name: str, dtype: str) -> None:
    _agree(name, dtype, _tensor(EDGES, dtype)[:, None], _tensor(EDGES, dtype))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("order", [0, 1, 2, 3, 9, 20])
def test_polygamma(order: int, dtype: str) -> None:
    for values in (np.abs(SPREAD) + 0.25, np.asarray(EDGES)):
        x = _tensor(values, dtype)
        with np.errstate(all="ignore"):
            want = gamma.polygamma(order, x.numpy().astype(np.float64)).astype(dtype)
        bound = TOLERANCE[dtype]
        np.testing.assert_allclose(
            gw.polygamma(order, x).numpy(), want, rtol=bound, atol=bound
        )


def test_polygamma_of_huge_numbers() -> None:
    x = _tensor([1e59, 1e61, 1e110, 1e200, 1e307], "float64")
    np.testing.assert_allclose(gw.polygamma(1, x).numpy(), 1 / x.numpy(), rtol=1e-15)


@pytest.mark.parametrize("decimals", [-2, -1, 0, 1, 3])
def test_round_to_decimals(decimals: int) -> None:
    x = _tensor([-312.5, -0.25, 0.15, 2.5, 1234.5678, np.inf, np.nan], "float32")
    kernel: Any = op("round").run
    want = np.asarray(x.numpy(), np.float64) * 10.0**decimals
    np.testing.assert_allclose(
        kernel(x, decimals).numpy(), np.rint(want) / 10.0**decimals, rtol=1e-6
    )
