"""Losses, and steps of optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graphwright as gw
from graphwright import Tensor
from graphwright.nn import functional as F
from graphwright.onnx.importing.opsets import TRAINING, Tensors, op


@op("NegativeLogLikelihoodLoss")
def negative_log_likelihood_loss(
    x: Tensor, target: Tensor, weight: Tensor | None = None, *, ignore_index: int | None = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Minus the logarithms x (N, C, sizes...) of the targets' probabilities, weighted by class."""
    ignored = -100 if ignore_index is None else ignore_index
    return F.nll_loss(
        x, target.to(gw.int64), weight, ignore_index=ignored, reduction=reduction
    )


@op("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy_loss(
    scores: Tensor, labels: Tensor, weights: Tensor | None = None, *,
    ignore_index: int | None = None, reduction: str = "mean", n_outputs: int = 1,
) -> Tensors:  # fmt: skip
    """The likelihood loss of softmax over classes; the logarithms of the probabilities too."""
    logarithms = gw.log_softmax(scores, dim=1)
    loss = negative_log_likelihood_loss(
        logarithms, labels, weights, ignore_index=ignore_index, reduction=reduction
    )
    return (loss, logarithms) if n_outputs > 1 else loss


def _each(
    tensors: tuple[Tensor, ...], per_weight: int, update: Callable[..., tuple[Tensor, ...]]
) -> tuple[Tensor, ...]:
    """Weights, then their gradients, then their state, in and, but for gradients, out."""
    count = len(tensors) // per_weight
    groups = [tensors[k * count : (k + 1) * count] for k in range(per_weight)]
    updated = [update(*parts) for parts in zip(*groups, strict=True)]
    return tuple([part for group in zip(*updated, strict=True) for part in group])


@op("Adagrad", domain=TRAINING)
def adagrad(
    rate: Tensor, count: Tensor, *tensors: Tensor, decay_factor: float, epsilon: float,
    norm_coefficient: float,
) -> tuple[Tensor, ...]:  # fmt: skip
    """One step of Adagrad for weights, gradients and sums of squares."""
    step = rate / (1 + count * decay_factor)

    def update(x: Tensor, gradient: Tensor, total: Tensor) -> tuple[Tensor, ...]:
        gradient = norm_coefficient * x + gradient
        total = total + gradient * gradient
        return x - step * gradient / (gw.sqrt(total) + epsilon), total

    return _each(tensors, 3, update)


@op("Adam", domain=TRAINING)
def adam(
    rate: Tensor, count: Tensor, *tensors: Tensor, alpha: float, beta: float, epsilon: float,
    norm_coefficient: float, norm_coefficient_post: float,
) -> tuple[Tensor, ...]:  # fmt: skip
    """One step of Adam for weights, gradients, means and means of squares."""
    times = count.to(rate.dtype)
    corrected = rate * gw.sqrt(1 - beta**times) / (1 - alpha**times)
    step = gw.where(count > 0, corrected, rate)

    def update(x: Tensor, gradient: Tensor, mean: Tensor, square: Tensor) -> Any:
        gradient = norm_coefficient * x + gradient
        mean = alpha * mean + (1 - alpha) * gradient
        square = beta * square + (1 - beta) * gradient * gradient
        x = x - step * mean / (gw.sqrt(square) + epsilon)
        return (1 - norm_coefficient_post) * x, mean, square

    return _each(tensors, 4, update)


@op("Momentum", domain=TRAINING)
def momentum(
    rate: Tensor, count: Tensor, *tensors: Tensor, alpha: float, beta: float, mode: str,
    norm_coefficient: float,
) -> tuple[Tensor, ...]:  # fmt: skip
    """One step of gradient descent with "standard" or "nesterov" momentum."""
    factor = gw.where(count > 0, gw.full_like(rate, beta), gw.ones_like(rate))

    def update(x: Tensor, gradient: Tensor, velocity: Tensor) -> tuple[Tensor, ...]:
        gradient = norm_coefficient * x + gradient
        velocity = alpha * velocity + factor * gradient
        change = velocity if mode == "standard" else gradient + alpha * velocity
        return x - rate * change, velocity

    return _each(tensors, 3, update)
