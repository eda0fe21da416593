"""Losses on margins, ranks and distances as functions.

`reduction` is "none", "mean" or "sum"; `size_average` and `reduce` are its older forms, which
warn. ValueError for another reduction.
"""

from __future__ import annotations

from collections.abc import Callable

from graphwright.nn.functions.reduction import reduction_of
from graphwright.runtime.errors import require_tensor
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.tensor.tensor import Tensor


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """input where target is 1, max(0, margin - input) where it is -1."""
    kind = reduction_of(reduction, size_average, reduce)
    return ops.hinge_embedding_loss(input, target, margin, kind)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos where target is 1, max(0, cos - margin) where it is -1.

    Inputs [N, D] and target [N], or inputs [D] and target [].
    """
    kind = reduction_of(reduction, size_average, reduce)
    return ops.cosine_embedding_loss(input1, input2, target, margin, kind)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, -target * (input1 - input2) + margin). RuntimeError unless of one rank."""
    kind = reduction_of(reduction, size_average, reduce)
    for argument, value in (("input1", input1), ("input2", input2), ("target", target)):
        require_tensor("margin_ranking_loss", argument, value)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {tuple(input1.shape)}, input2: {tuple(input2.shape)}, "
            f"target: {tuple(target.shape)} "
        )
    return ops.margin_ranking_loss(input1, input2, target, margin, kind)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Sum over i != t of max(0, margin - x[t] + x[i])**p * weight[t] / C: input [N, C] or [C]."""
    kind = reduction_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    return ops.multi_margin_loss(input, target, p, margin, weight, kind)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Sum over targets t and other classes i of max(0, 1 - x[t] + x[i]) / C.

    The targets of a row are the entries before its first negative one.
    """
    return ops.multilabel_margin_loss(
        input, target, reduction_of(reduction, size_average, reduce)
    )


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross entropy of logits [*, C], the mean over classes."""
    kind = reduction_of(reduction, size_average, reduce)
    return ops.multilabel_soft_margin_loss(input, target, weight, kind)


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """log(1 + exp(-target * input)) with targets 1 and -1."""
    require_tensor("soft_margin_loss", "target", target)
    return ops.soft_margin_loss(input, target, reduction_of(reduction, size_average, reduce))


def _check_margin(margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) with distances of norm p.

    `swap` (Balntas et al., 2016) takes d(positive, negative) where that is smaller.
    """
    kind = reduction_of(reduction, size_average, reduce)
    _check_margin(margin)
    return ops.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, kind)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """As `triplet_margin_loss` with any distance of two tensors; by default the Euclidean."""
    kind = reduction_of(reduction)
    _check_margin(margin)
    for argument, value in (("anchor", anchor), ("positive", positive), ("negative", negative)):
        require_tensor("triplet_margin_with_distance_loss", argument, value)
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative "
            f"{negative.ndim}D inputs"
        )
    distance = ops.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    loss = ops.clamp_min(ops.add(ops.sub(near, far), margin), 0)
    if kind == "none":
        return loss
    return ops.mean(loss) if kind == "mean" else ops.sum(loss)
