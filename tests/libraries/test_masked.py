"""graphwright.masked: what a mask leaves out is in no result and gets no gradient."""

from __future__ import annotations

import math

import numpy as np
import pytest

import graphwright as gw
from graphwright import masked

VALUES = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
MASK = np.array([[True, False, True], [False, False, True]])


@pytest.fixture
def x() -> gw.Tensor:
    return gw.tensor(VALUES, requires_grad=True)


@pytest.fixture
def mask() -> gw.Tensor:
    return gw.tensor(MASK)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sum", [4.0, -6.0]),
        ("prod", [3.0, -6.0]),
        ("amax", [3.0, -6.0]),
        ("amin", [1.0, -6.0]),
        ("mean", [2.0, -6.0]),
        ("median", [1.0, -6.0]),
        ("norm", [math.sqrt(10), 6.0]),
        ("argmax", [2.0, 2.0]),
        ("argmin", [0.0, 2.0]),
    ],
)
def test_only_what_the_mask_keeps_is_reduced(
    x: gw.Tensor, mask: gw.Tensor, name: str, expected: list[float]
) -> None:
    found = getattr(masked, name)(x, dim=1, mask=mask)
    gw.testing.assert_close(found.detach(), gw.tensor(expected, dtype=gw.float64))


def test_gradients_are_zero_where_the_mask_leaves_out(x: gw.Tensor, mask: gw.Tensor) -> None:
    masked.var(x, mask=mask).backward()
    kept = VALUES[MASK]
    expected = np.where(MASK, 2 * (VALUES - kept.mean()) / (kept.size - 1), 0.0)
    np.testing.assert_allclose(x.grad.numpy(), expected)


def test_softmax_of_what_is_kept(x: gw.Tensor, mask: gw.Tensor) -> None:
    found = masked.softmax(x, 1, mask=mask).detach().numpy()
    assert found[0, 1] == 0
    np.testing.assert_allclose(found[0, [0, 2]], np.exp([1, 3]) / np.exp([1, 3]).sum())


def test_reductions_of_nothing_give_the_identity() -> None:
    x, none = gw.tensor([1, 2]), gw.tensor([False, False])
    assert masked.sum(x, mask=none).item() == 0
    assert masked.prod(x, mask=none).item() == 1
    assert masked.amax(x, mask=none).item() == gw.iinfo(gw.int64).min
    assert math.isnan(masked.mean(x.double(), mask=none).item())


def test_running_results_keep_the_dtype_of_integers() -> None:
    x, mask = gw.tensor([1, 2, 3], dtype=gw.uint8), gw.tensor([True, False, True])
    assert masked.cumsum(x, 0, mask=mask).dtype is gw.uint8
    assert masked.cumprod(x, 0, mask=mask).tolist() == [1, 1, 3]
    assert masked.cumsum(x, 0, dtype=gw.float32, mask=mask).dtype is gw.float32


def test_medians_of_integers_keep_their_dtype() -> None:
    x = gw.tensor([[5, 1, 3, 9]], dtype=gw.int32)
    found = masked.median(x, 1, mask=gw.tensor([[True, False, True, True]]))
    assert found.tolist() == [5] and found.dtype is gw.int32
    with pytest.raises(ValueError, match="fully masked out"):
        masked.median(x, 1, mask=gw.zeros(1, 4, dtype=gw.bool))


def test_results_of_complex_numbers_are_complex() -> None:
    values = np.array([1 + 2j, 3 - 1j, -2 + 0.5j])
    x, mask = gw.tensor(values), gw.tensor([True, True, False])
    kept = values[:2]
    found = masked.var(x, mask=mask)
    assert found.dtype is gw.complex128
    np.testing.assert_allclose(found.item(), kept.var(ddof=1))
    np.testing.assert_allclose(masked.logsumexp(x, mask=mask).item(), np.log(np.exp(kept).sum()))


def test_masks_that_do_not_fit_are_refused(x: gw.Tensor) -> None:
    with pytest.raises(IndexError, match="dimensionality"):
        masked.sum(x, mask=gw.ones(1, 2, 3, dtype=gw.bool))
    with pytest.raises(TypeError, match="bool"):
        masked.sum(x, mask=gw.ones(2, 3))
    with pytest.raises(ValueError, match="floating point"):
        masked.mean(x.long())


def test_the_same_compiled(x: gw.Tensor, mask: gw.Tensor) -> None:
    def f(x: gw.Tensor, mask: gw.Tensor) -> gw.Tensor:
        return masked.normalize(x, 2.0, 1, mask=mask) + masked.cumsum(x, 1, mask=mask)

    expected = f(x, mask)
    gw.testing.assert_close(gw.compile(f, fullgraph=True)(x, mask), expected)


def test_variances_far_from_zero() -> None:
    values = np.random.default_rng(0).random(10_000, np.float32) + np.float32(1e4)
    mask = np.arange(values.size) % 3 > 0
    got = masked.var(gw.from_numpy(values), mask=gw.from_numpy(mask)).item()
    wanted = values[mask].astype(np.float64).var(ddof=1)
    assert abs(got / wanted - 1) < 4 * np.log2(values.size) * 2.0**-23
