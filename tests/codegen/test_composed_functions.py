"""Functions that code generation composes of others, over their ranges and at their edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw

EDGES = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 1e-40, -1e-40, 3e38, -3e38, 1e9,
         1e18, 1.1e18, 2e38, 0.99999994, 1.0000001]
INVERSES: dict[str, Callable[[Any], Any]] = {
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
}


def samples(dtype: str) -> np.ndarray:
    every = np.arange(0, 1 << 32, 399_983, dtype="u4").view("f4")
    with np.errstate(invalid="ignore"):
        parts = [np.array(EDGES), every, np.linspace(-1, 1, 5001), np.linspace(1, 30, 5001)]
        return np.concatenate([part.astype(dtype) for part in parts])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", INVERSES)
def test_inverse_hyperbolic_functions_are_right_to_a_few_ulp(name: str, dtype: str) -> None:
    """Where 2|x| overflows too; zeros keep their signs."""
    x = samples(dtype)
    with np.errstate(all="ignore"):
        exact = INVERSES[name](x.astype(np.longdouble))
        want = exact.astype(dtype)
    got = gw.compile(lambda t: getattr(gw, name)(t))(gw.tensor(x)).numpy()
    finite = np.isfinite(want) & np.isfinite(got)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    error = np.abs(got[finite] - exact[finite]) / np.spacing(np.abs(want[finite]))
    assert error.max() < 3
    np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_mish_and_its_gradient_are_those_of_eager(dtype: str) -> None:
    x = gw.tensor(np.concatenate([samples(dtype)[:20], np.linspace(-90, 90, 999).astype(dtype)]))

    def slope(t: Any) -> Any:
        t = t.detach().requires_grad_()
        value = gw.nn.functional.mish(t)
        value.sum().backward()
        return value.detach(), t.grad

    eager, compiled = slope(x), gw.compile(slope)(x)
    close = 2e-6 if dtype == "f4" else 1e-14
    for want, got in zip(eager, compiled, strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=close, atol=1e-35)


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64, gw.float16, gw.bfloat16], ids=repr)
def test_signs_are_those_of_zeros_and_nans_too(dtype: gw.dtype) -> None:
    values = np.array([np.nan, -np.nan, 0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 1e-7, -1e-7] * 3)
    x = gw.tensor(np.copysign(values, [1, -1] * 15)).to(dtype)
    got, sizes = gw.compile(lambda t: (gw.signbit(t), gw.copysign(gw.full_like(t, 2), t)))(x)
    assert got.tolist() == [False, True] * 15
    assert sizes.tolist() == [2.0, -2.0] * 15


@pytest.mark.parametrize("dtype", [gw.int8, gw.int64, gw.uint8, gw.bool], ids=repr)
def test_signs_of_integers(dtype: gw.dtype) -> None:
    x = gw.tensor([0, 1, 200, 100, 3]).to(dtype)
    got = gw.compile(lambda t: gw.signbit(t))(x)
    assert got.tolist() == gw.signbit(x).tolist() == [v < 0 for v in x.tolist()]
