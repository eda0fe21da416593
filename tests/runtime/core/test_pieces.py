"""prelu and smooth_l1_loss in C at sizes of many pieces, against their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw

F = gw.nn.functional


def drawn(*shape: int, dtype: Any = np.float64) -> Any:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("shape", "weights"),
    [((70001,), 1), ((5, 3, 7, 1001), 3), ((9000, 5), 5), ((3, 17), 1), ((2, 1, 9000), 1)],
)
def test_prelu_scales_what_is_not_positive(shape: Any, weights: int, dtype: Any) -> None:
    x, w = drawn(*shape, dtype=dtype), np.linspace(-1, 1, weights).astype(dtype)
    x.reshape(-1)[::97] = np.nan
    wide = w.reshape((1, -1) + (1,) * (len(shape) - 2)) if weights > 1 else w
    out = F.prelu(gw.from_numpy(x), gw.from_numpy(w)).numpy()
    np.testing.assert_array_equal(out, np.where(x > 0, x, x * wide))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("beta", [1.0, 0.25])
@pytest.mark.parametrize("shape", [(3,), (4096,), (300, 401)])
def test_smooth_l1_is_square_below_beta(shape: Any, beta: float, dtype: Any) -> None:
    x, t = drawn(*shape, dtype=dtype), drawn(*shape, dtype=dtype)[..., ::-1].copy()
    distance = np.abs(x.astype(np.float64) - t)
    each = np.where(distance < beta, distance**2 / (2 * beta), distance - beta / 2)
    for reduction, expected in (("none", each), ("sum", each.sum()), ("mean", each.mean())):
        out = F.smooth_l1_loss(gw.from_numpy(x), gw.from_numpy(t), reduction=reduction, beta=beta)
        np.testing.assert_allclose(out.numpy(), expected, 2e-6, 1e-6)


@pytest.mark.parametrize("beta", [0.0, 1e-50, 1e-38, 1e-20, 1000.0])
def test_smooth_l1_where_squares_or_inverses_are_no_floats(beta: float) -> None:
    x, t = gw.tensor([1.0, 1e36, 3.0], requires_grad=True), gw.tensor([0.0, 0.0, 3.0])
    distance = np.array([1.0, 1e36, 0.0])
    square = distance**2 / (2 * beta) if beta == 1000 else 0 * distance
    expected = np.where(distance < beta, square, distance - beta / 2 * (distance > 0))
    for call in (F.smooth_l1_loss, gw.compile(F.smooth_l1_loss)):
        each = call(x, t, reduction="none", beta=beta)
        np.testing.assert_allclose(each.tolist(), expected, 1e-6)
        x.grad = None
        call(x, t, reduction="sum", beta=beta).backward()
        np.testing.assert_allclose(x.grad.tolist(), [min(1, 1 / max(beta, 1e-30)), 1, 0], 1e-6)


@pytest.mark.parametrize("x", [0.0, -0.0])
@pytest.mark.parametrize("t", [0.0, -0.0])
def test_smooth_l1_of_no_distance_is_not_negative(x: float, t: float) -> None:
    for call in (F.smooth_l1_loss, gw.compile(F.smooth_l1_loss)):
        loss = call(gw.tensor([x]), gw.tensor([t]), reduction="none")
        assert not loss.signbit().any()


def test_gradients_are_those_of_the_parts() -> None:
    x = gw.from_numpy(drawn(6, 3, 5)).requires_grad_()
    w = gw.from_numpy(np.array([0.5, -0.25, 2.0])).requires_grad_()
    t = gw.from_numpy(drawn(6, 3, 5) * 0.5).requires_grad_()
    assert gw.autograd.gradcheck(F.prelu, (x, w))
    assert gw.autograd.gradgradcheck(F.prelu, (x, w))
    assert gw.autograd.gradcheck(F.smooth_l1_loss, (x, t))
    assert gw.autograd.gradgradcheck(F.smooth_l1_loss, (x, t))


def test_the_sum_does_not_depend_on_the_number_of_threads() -> None:
    x, t = (gw.from_numpy(drawn(200, n, dtype=np.float32)) for n in (1000, 1000))
    before, losses = gw.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            gw.set_num_threads(threads)
            losses.append(F.smooth_l1_loss(x, -t, reduction="sum").item())
    finally:
        gw.set_num_threads(before)
    assert losses[1:] == losses[:1] * 2
