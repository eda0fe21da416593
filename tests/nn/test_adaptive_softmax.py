"""The adaptive softmax: clusters of rare classes are one distribution over all classes."""

from __future__ import annotations

import pytest

import graphwright as gw


@pytest.fixture
def layer() -> gw.nn.AdaptiveLogSoftmaxWithLoss:
    gw.manual_seed(0)
    return gw.nn.AdaptiveLogSoftmaxWithLoss(16, 20, [5, 10, 15], div_value=2.0)


def test_log_probabilities_sum_to_one(layer: gw.nn.AdaptiveLogSoftmaxWithLoss) -> None:
    total = layer.log_prob(gw.randn(3, 16)).exp().sum(1)
    gw.testing.assert_close(total, gw.ones(3))


def test_the_output_is_the_log_probability_of_the_target(
    layer: gw.nn.AdaptiveLogSoftmaxWithLoss,
) -> None:
    x, target = gw.randn(8, 16), gw.tensor([0, 4, 5, 9, 10, 14, 15, 19])
    output, loss = layer(x, target)
    gw.testing.assert_close(output, layer.log_prob(x)[gw.arange(8), target])
    gw.testing.assert_close(loss, -output.mean())
    assert (layer.predict(x) == layer.log_prob(x).argmax(1)).all() or layer.n_clusters
    gw.testing.assert_close(layer(x[2], target[2]).output, output[2])


def test_gradients_reach_head_and_tail(layer: gw.nn.AdaptiveLogSoftmaxWithLoss) -> None:
    layer(gw.randn(2, 16), gw.tensor([1, 17])).loss.backward()
    assert layer.head.weight.grad is not None
    assert [part[0].weight.grad is not None for part in layer.tail] == [False, False, True]


@pytest.mark.parametrize("cutoffs", [[], [5, 5], [7, 3], [0, 3], [3, 20]])
def test_cutoffs_that_are_no_partition(cutoffs: list[int]) -> None:
    with pytest.raises(ValueError, match="cutoffs"):
        gw.nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs)


@pytest.mark.parametrize(
    ("shape", "target", "message"),
    [
        ((2, 16), [1, 20], "Target values"),
        ((2, 16), [[1, 2]], "multi-target"),
        ((3, 16), [1, 2], "same size"),
        ((2,), [1, 2], "2D input"),
    ],
)
def test_targets_that_do_not_fit(
    layer: gw.nn.AdaptiveLogSoftmaxWithLoss, shape: tuple[int, ...], target: list, message: str
) -> None:
    with pytest.raises(RuntimeError, match=message):
        layer(gw.zeros(shape), gw.tensor(target))
