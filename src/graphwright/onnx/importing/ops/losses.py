"""Losses."""

from __future__ import annotations

from typing import Any

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.importing.opsets import op


@op("NegativeLogLikelihoodLoss")
def negative_log_likelihood_loss(
    x: Tensor, target: Tensor, weight: Tensor | None = None, *, ignore_index: int | None = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Minus the logarithms x (N, C, sizes...) of the targets' probabilities, weighted by class."""
    target = target.to(gw.int64)
    ignored = None if ignore_index is None else target == ignore_index
    index = target if ignored is None else gw.where(ignored, gw.zeros_like(target), target)
    loss = -gw.gather(x, 1, index.unsqueeze(1)).squeeze(1)
    weights = gw.ones_like(loss) if weight is None else weight[index]
    if ignored is not None:
        weights = gw.where(ignored, gw.zeros_like(weights), weights)
    loss = loss * weights
    if reduction == "none":
        return loss
    return loss.sum() if reduction == "sum" else loss.sum() / weights.sum()


@op("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy_loss(
    scores: Tensor, labels: Tensor, weights: Tensor | None = None, *,
    ignore_index: int | None = None, reduction: str = "mean", n_outputs: int = 1,
) -> Any:  # fmt: skip
    """The likelihood loss of softmax over classes; the logarithms of the probabilities too."""
    logarithms = gw.log_softmax(scores, dim=1)
    loss = negative_log_likelihood_loss(
        logarithms, labels, weights, ignore_index=ignore_index, reduction=reduction
    )
    return (loss, logarithms) if n_outputs > 1 else loss
