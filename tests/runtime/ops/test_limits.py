"""Values and gradients at the limits of an op's domain and beyond them: eager and compiled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import graphwright as gw

F = gw.nn.functional
INF, NAN = float("inf"), float("nan")


def _gradient(function: Any, x: Any) -> Any:
    leaf = x.clone().requires_grad_()
    return gw.autograd.grad(function(leaf).sum(), leaf)[0].numpy()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("eps", "expected"), [
    (None, [NAN, INF, 4.0, INF, NAN, NAN]),
    (0.0, [0.0, INF, 4.0, INF, 0.0, NAN]),
    (0.1, [0.0, 0.0, 4.0, 0.0, 0.0, NAN]),
])
def test_logit(eps: float | None, expected: list[float], compiled: bool) -> None:
    x = gw.tensor([-1.0, 0.0, 0.5, 1.0, 2.0, NAN])
    logit = gw.compile(lambda x: gw.logit(x, eps)) if compiled else lambda x: gw.logit(x, eps)
    np.testing.assert_array_equal(_gradient(logit, x), expected)


@pytest.mark.parametrize("compiled", [False, True])
def test_the_nearest_pixels_do_not_depend_on_the_grid(compiled: bool) -> None:
    image = gw.arange(16.0).reshape(1, 1, 4, 4)

    def sampled(grid: Any) -> Any:
        return F.grid_sample(image, grid, mode="nearest", align_corners=False)

    grid = gw.tensor([[[[-0.9, 0.2], [NAN, INF]]]])
    gradient = _gradient(gw.compile(sampled) if compiled else sampled, grid)
    np.testing.assert_array_equal(gradient, np.zeros(grid.shape))


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64])
@pytest.mark.parametrize(("values", "expected"), [
    ([-INF, -INF, 0.0, -INF], [-INF, -INF, 0.0, 0.0]),
    ([INF, -INF, 0.0, INF], [INF, INF, INF, INF]),
    ([0.0, NAN, 0.0, INF], [0.0, NAN, NAN, NAN]),
    ([-800.0, 800.0, -800.0, 0.0], [-800.0, 800.0, 800.0, 800.0]),
])
def test_running_logarithms_of_sums(
    values: list[float], expected: list[float], dtype: Any
) -> None:
    lines = gw.tensor([values] * 70, dtype=dtype)
    want = np.array([expected] * 70)
    np.testing.assert_array_equal(gw.logcumsumexp(lines, 1).numpy(), want)
    np.testing.assert_array_equal(gw.logcumsumexp(lines.t().contiguous(), 0).numpy(), want.T)


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64, gw.int32, gw.int64])
@pytest.mark.parametrize("count", [1, 2, 3, 10, 101, 1024, 1025])
def test_medians_are_the_lower_middle_of_the_order(count: int, dtype: Any) -> None:
    rng = np.random.default_rng(count)
    values = rng.integers(-20, 20, count).astype(dtype.numpy)
    middle = np.sort(values)[(count - 1) // 2]
    assert gw.median(gw.from_numpy(values)).item() == middle
    if dtype.is_floating_point and count > 1:
        holed = np.append(values, dtype.numpy.type(NAN))
        rng.shuffle(holed)
        assert math.isnan(gw.median(gw.from_numpy(holed)).item())
        assert gw.nanmedian(gw.from_numpy(holed)).item() == middle


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("padding", "pixels"), [
    ("zeros", [0.0, 0.0, 0.0, 0.0]),
    ("border", [9.0, 12.0, 9.0, 12.0]),
    ("reflection", [9.0, 9.0, 9.0, 9.0]),
])
def test_a_grid_may_hold_what_is_no_place(
    padding: str, pixels: list[float], compiled: bool
) -> None:
    image = gw.arange(1.0, 17.0).reshape(1, 1, 4, 4)

    def sampled(grid: Any) -> Any:
        return F.grid_sample(image, grid, "nearest", padding, align_corners=False)

    grid = gw.tensor([[[[x, 0.1] for x in (NAN, INF, -INF, 1e30)]]])
    out = (gw.compile(sampled) if compiled else sampled)(grid)
    assert out.flatten().tolist() == pixels


def test_activations_of_the_greatest_numbers() -> None:
    def activated(x: Any) -> Any:
        return F.gelu(x), F.gelu(x, approximate="tanh"), F.hardswish(x)

    x = gw.tensor([3e38, -3e38, 1e30])
    for eager, compiled in zip(activated(x), gw.compile(activated)(x), strict=True):
        np.testing.assert_array_equal(eager.numpy(), compiled.numpy())


@pytest.mark.parametrize("compiled", [False, True])
def test_a_bias_of_a_vector_may_be_a_row(compiled: bool) -> None:
    x, weight = gw.tensor([1.0, 2.0]), gw.ones(3, 2)

    def mapped(bias: Any) -> Any:
        return F.linear(x, weight, bias)

    bias = gw.tensor([[1.0, 2.0, 3.0]])
    function = gw.compile(mapped) if compiled else mapped
    assert function(bias).tolist() == [4.0, 5.0, 6.0]
    np.testing.assert_array_equal(_gradient(function, bias), np.ones((1, 3)))


@pytest.mark.parametrize("compiled", [False, True])
def test_normalised_negative_zeros_are_positive(compiled: bool) -> None:
    def normalised(x: Any) -> Any:
        return F.layer_norm(x, (4,))

    out = (gw.compile(normalised) if compiled else normalised)(gw.full((2, 4), -0.0))
    assert not gw.signbit(out).any()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("dtype", "numbers", "expected"), [
    (gw.float16, (65519.0, 65520.0, -1e6), [65504.0, INF, -INF]),
    (gw.bfloat16, (3.395e38, 3.4e38, -3.4e38), [3.3895313892515355e38, INF, -INF]),
])
def test_assigned_numbers_beyond_half_precision_are_rounded(
    dtype: gw.dtype, numbers: tuple[float, ...], expected: list[float], compiled: bool
) -> None:
    def assigned(x: Any) -> Any:
        for place, number in enumerate(numbers):
            x[place] = number
        return x

    out = (gw.compile(assigned) if compiled else assigned)(gw.zeros(3, dtype=dtype))
    assert out.tolist() == expected


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("value", [float("inf"), float("nan"), 1e30, -1.5])
def test_padding_with_what_integers_cannot_hold(value: float, compiled: bool) -> None:
    def pad(x: Any) -> Any:
        return gw.nn.functional.pad(x, (1, 1), value=value)

    padded = gw.compile(pad) if compiled else pad
    with pytest.raises(RuntimeError, match="cannot be converted to type uint8 without overflow"):
        padded(gw.ones(2, dtype=gw.uint8))
    assert padded(gw.ones(1, dtype=gw.bool)).tolist() == [True] * 3


def test_places_that_are_no_integers_are_refused_alike() -> None:
    def roll(x: Any, shift: float) -> Any:
        return x.roll(shift, 0)

    compiled = gw.compile(roll)
    for shift in (2.5, 3.5):
        with pytest.raises(TypeError) as eager:
            roll(gw.ones(3), shift)
        with pytest.raises(TypeError) as refused:
            compiled(gw.ones(3), shift)
        assert str(refused.value) == str(eager.value)


@pytest.mark.parametrize("compiled", [False, True])
def test_logit_between_bounds_that_cross(compiled: bool) -> None:
    """What lies below the lower bound becomes it, though it is the greater one."""
    logit = gw.compile(gw.logit) if compiled else gw.logit
    low, high = gw.logit(gw.tensor([0.6, 0.4])).tolist()
    found = logit(gw.tensor([0.0, 0.5, 0.7, 1.0]), 0.6).tolist()
    np.testing.assert_allclose(found, [low, low, high, high], rtol=1e-5)


@pytest.mark.parametrize("compiled", [False, True])
def test_positions_of_rows_without_elements_are_checked(compiled: bool) -> None:
    pick = gw.compile(gw.index_select) if compiled else gw.index_select
    assert pick(gw.ones(3, 0), 0, gw.tensor([2, 0])).shape == (2, 0)
    for bad in (3, -1):
        with pytest.raises(RuntimeError, match="out of bounds"):
            pick(gw.ones(3, 0), 0, gw.tensor([0, bad]))


@pytest.mark.parametrize("name", ["expm1", "sinh"])
def test_the_least_numbers_are_kept(name: str) -> None:
    x = gw.tensor([1e-45, -1e-45, 1e-40, -0.0])
    found = gw.compile(getattr(gw, name))(x)
    assert found.tolist() == x.tolist() and gw.signbit(found).tolist() == gw.signbit(x).tolist()


@pytest.mark.parametrize("count", [5, 20_000])
@pytest.mark.parametrize("dtype", [gw.float32, gw.float64])
def test_cross_entropies_of_certainties_are_bounded(dtype: Any, count: int) -> None:
    certain = gw.tensor([0.0, 0.0, 1.0, 1.0, 0.5], dtype=dtype).repeat(count // 5)
    target = gw.tensor([0.0, 1.0, 0.0, 1.0, 0.25], dtype=dtype).repeat(count // 5)
    each = np.tile([0.0, 100.0, 100.0, 0.0, math.log(2.0)], count // 5)
    for reduction, expected in (("none", each), ("mean", each.mean()), ("sum", each.sum())):
        loss = F.binary_cross_entropy(certain, target, reduction=reduction)
        assert loss.dtype is dtype
        np.testing.assert_allclose(loss.numpy(), expected, 1e-5)
    for outside in (1.5, -0.5, NAN):
        with pytest.raises(RuntimeError, match="between 0 and 1"):
            F.binary_cross_entropy(gw.full((count,), outside, dtype=dtype), target)


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.0, INF])
@pytest.mark.parametrize("dim", [0, -1])
def test_bounded_norms_are_differentiated_twice(p: float, dim: int) -> None:
    x = gw.from_numpy(np.random.default_rng(0).standard_normal((2, 3, 2))).requires_grad_()
    bounded = gw.renorm(x, p, dim, 1.5)
    assert bounded.grad_fn is not None and bounded.grad_fn.next_functions[0][0].variable is x
    assert gw.autograd.gradcheck(lambda x: gw.renorm(x, p, dim, 1.5), x)
    assert gw.autograd.gradgradcheck(lambda x: gw.renorm(x, p, dim, 1.5), x)
