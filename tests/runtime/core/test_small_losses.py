"""Losses of few elements against their definitions."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import graphwright as gw

F = gw.nn.functional


def _collapsed(path: tuple[int, ...], blank: int) -> tuple[int, ...]:
    """The labels of a path: repetitions and blanks left out."""
    kept = [c for i, c in enumerate(path) if i == 0 or c != path[i - 1]]
    return tuple(c for c in kept if c != blank)


def _summed_over_paths(scores: np.ndarray, target: tuple[int, ...], blank: int) -> float:
    steps, classes = scores.shape
    weights = [
        np.exp(sum(scores[t, c] for t, c in enumerate(path)))
        for path in product(range(classes), repeat=steps)
        if _collapsed(path, blank) == target
    ]
    return float(-np.log(sum(weights))) if weights else float("inf")


@pytest.mark.parametrize("blank", [0, 2])
@pytest.mark.parametrize("flat", [False, True])
def test_ctc_loss_sums_all_paths_of_a_target(blank: int, flat: bool) -> None:
    first, second = (1, 3 - blank), (1, 1)
    scores = gw.log_softmax(gw.randn(5, 3, 4, dtype=gw.float64), -1)
    labels = [*first, *second] if flat else [first, second, (1, 1)]
    losses = F.ctc_loss(
        scores, gw.tensor(labels), (5, 4, 2), (2, 2, 0), blank=blank, reduction="none"
    )
    values = scores.numpy()
    want = [
        _summed_over_paths(values[:5, 0], first, blank),
        _summed_over_paths(values[:4, 1], second, blank),
        _summed_over_paths(values[:2, 2], (), blank),
    ]
    np.testing.assert_allclose(losses.numpy(), want, rtol=1e-10)


def test_ctc_loss_of_a_target_that_does_not_fit_is_infinite() -> None:
    scores = gw.log_softmax(gw.zeros(2, 1, 3), -1).requires_grad_()
    loss = F.ctc_loss(scores, gw.tensor([[1, 1]]), (2,), (2,), reduction="none")
    assert loss.item() == float("inf")
    F.ctc_loss(scores, gw.tensor([[1, 1]]), (2,), (2,), zero_infinity=True).backward()
    assert scores.grad is not None and not scores.grad.any()


def test_ctc_loss_has_no_slope_where_there_is_no_path() -> None:
    scores = gw.log_softmax(gw.zeros(2, 2, 4), -1).requires_grad_()
    F.ctc_loss(scores, gw.tensor([[1, 1], [1, 2]]), (2, 2), (2, 2), reduction="sum").backward()
    assert scores.grad is not None
    assert scores.grad.isnan()[:, 0].all() and not scores.grad.isnan()[:, 1].any()


def test_ctc_loss_refuses_labels_beyond_the_classes() -> None:
    with pytest.raises((RuntimeError, IndexError)):
        F.ctc_loss(gw.zeros(2, 1, 3), gw.tensor([[3]]), (2,), (1,))


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_multi_margin_loss_counts_classes_near_the_right_one(p: int, weighted: bool) -> None:
    x = np.random.default_rng(0).normal(size=(4, 3))
    target, weight = np.array([2, 0, 1, 1]), np.array([0.5, 1.0, 2.0])
    rows = [
        sum(max(0.0, 0.8 - x[i, c] + x[i, j]) ** p for j in range(3) if j != c)
        * (weight[c] if weighted else 1) / 3
        for i, c in enumerate(target)
    ]  # fmt: skip
    args: Any = (gw.from_numpy(x), gw.from_numpy(target), p, 0.8)
    given = gw.from_numpy(weight) if weighted else None
    for how, want in (("none", rows), ("sum", sum(rows)), ("mean", np.mean(rows))):
        loss = F.multi_margin_loss(*args, given, reduction=how)
        np.testing.assert_allclose(loss.numpy(), want, rtol=1e-12)
    with pytest.raises(RuntimeError):
        F.multi_margin_loss(args[0], args[1] + 2)
