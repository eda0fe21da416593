"""Steps of optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.importing.opsets import TRAINING, op


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
    corrected = rate * gw.sqrt(1 - beta ** count.to(rate.dtype)) / (1 - alpha ** count.to(rate.dtype))
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
