"""Elementwise kernels of bfloat16 tensors with numbers: as in float32, rounded once.

Terms are numbers of bfloat16 themselves; factors, divisors and bounds are what they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw

N = 3000
CASES: dict[str, Callable[..., Any]] = {
    "add": lambda x, y, z: x + 0.3,
    "sub": lambda x, y, z: x - 0.3,
    "mul": lambda x, y, z: x * 0.3,
    "div": lambda x, y, z: x / 0.3,
    "number first": lambda x, y, z: 0.3 - x,
    "clamp": lambda x, y, z: gw.clamp(x, -0.3, 0.7),
    "clamp from below": lambda x, y, z: gw.clamp(x, min=0.1),
    "clamp to nan": lambda x, y, z: gw.clamp(x, 0.1, float("nan")),
    "leaky_relu": lambda x, y, z: gw.nn.functional.leaky_relu(x, 0.1),
    "hardshrink": lambda x, y, z: gw.nn.functional.hardshrink(x, 0.3),
    "softshrink": lambda x, y, z: gw.nn.functional.softshrink(x, 0.3),
    "threshold": lambda x, y, z: gw.nn.functional.threshold(x, 0.3, 5.1),
    "nan_to_num": lambda x, y, z: gw.nan_to_num(x, 0.3, 7.0, -7.0),
    "lerp": lambda x, y, z: gw.lerp(x, y, 0.3),
    "lerp back": lambda x, y, z: gw.lerp(x, y, 0.7),
    "add alpha": lambda x, y, z: gw.add(x, y, alpha=0.3),
    "sub alpha": lambda x, y, z: gw.sub(x, y, alpha=0.3),
    "addcmul": lambda x, y, z: gw.addcmul(x, y, z, value=0.3),
    "addcdiv": lambda x, y, z: gw.addcdiv(x, y, z, value=0.3),
    "in place": lambda x, y, z: x.clone().mul_(0.3).add_(1.1),
}
SMALL, LARGE = (gw.tensor(number, dtype=gw.bfloat16).item() for number in (0.3, 1.1))
IN_FLOAT32: dict[str, Callable[..., Any]] = {
    **CASES,
    "add": lambda x, y, z: x + SMALL,
    "sub": lambda x, y, z: x - SMALL,
    "number first": lambda x, y, z: SMALL - x,
    "add alpha": lambda x, y, z: gw.add(x, y, alpha=SMALL),
    "sub alpha": lambda x, y, z: gw.sub(x, y, alpha=SMALL),
    "in place": lambda x, y, z: x.mul(0.3).to(gw.bfloat16).float() + LARGE,
}


def operands() -> list[gw.Tensor]:
    random = np.random.default_rng(0)
    found = []
    for _ in range(3):
        array = random.standard_normal(N).astype(np.float32)
        array[::97] = random.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], array[::97].shape)
        found.append(gw.from_numpy(array).to(gw.bfloat16))
    return found


@pytest.mark.parametrize("name", CASES)
def test_as_float32_rounded(name: str) -> None:
    """But for where a product and a sum are rounded as one in only one of them: there the results
    may be neighbours in bfloat16, or what float32 left over of terms that cancel."""
    tensors = operands()
    got = CASES[name](*tensors)
    assert got.dtype is gw.bfloat16
    want = IN_FLOAT32[name](*[t.to(gw.float32) for t in tensors])
    want = want.to(gw.bfloat16).float().numpy()
    np.testing.assert_allclose(got.float().numpy(), want, rtol=2**-7, atol=2**-22)
    assert np.isclose(got.float().numpy(), want, rtol=0, atol=0, equal_nan=True).mean() > 0.95


@pytest.mark.parametrize("name", ["add", "clamp", "addcmul"])
def test_layouts(name: str) -> None:
    plain = [t.reshape(30, 100) for t in operands()]
    turned = [t.t().contiguous().t() for t in plain]
    mixed = [plain[0], turned[1], plain[2][:1]]
    for tensors in (turned, mixed):
        same = [t.contiguous() for t in gw.broadcast_tensors(*tensors)]
        got, want = CASES[name](*tensors), CASES[name](*same)
        np.testing.assert_array_equal(got.float().numpy(), want.float().numpy())


def test_the_limits_of_the_dtype_replace_infinities() -> None:
    x = gw.tensor([float("inf"), float("-inf"), float("nan"), 1.5], dtype=gw.bfloat16)
    limit = gw.finfo(gw.bfloat16).max
    assert gw.nan_to_num(x).tolist() == [limit, -limit, 0.0, 1.5]
