"""Losses on margins, ranks and distances as functions.

`reduction` is "none", "mean" or "sum"; `size_average` and `reduce` are its older forms, which
warn. ValueError for another reduction.
"""

from __future__ import annotations

from collections.abc import Callable

from graphwright.nn.functions.reduction import reduction_of
from graphwright.runtime.errors import require_tensor
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`input` where target is 1, `max(0, margin - input)` where it is -1.

    Args:
        input: distances.
        target: 1 or -1, broadcast with `input`.
        margin: the distance from which dissimilar pairs cost nothing.
        size_average, reduce: older forms of `reduction`, which warn.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        ValueError: `reduction` is unknown.

    Example:
        >>> F.hinge_embedding_loss(gw.tensor([0.5, 0.25]), gw.tensor([1.0, -1.0]))
        tensor(0.6250)
    """
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
    """`1 - cos` of two vectors where target is 1, `max(0, cos - margin)` where it is -1.

    Args:
        input1: `(N, D)` or `(D,)`.
        input2: of the shape of `input1`.
        target: 1 or -1, `(N,)` or without dims.
        margin: the cosine up to which dissimilar pairs cost nothing.
        size_average, reduce: older forms of `reduction`, which warn.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        RuntimeError: shapes do not match.
        ValueError: `reduction` is unknown.

    Example:
        >>> F.cosine_embedding_loss(gw.eye(2), gw.ones(2, 2), gw.tensor([1, -1]))
        tensor(0.5000)
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
    """`max(0, -target * (input1 - input2) + margin)`: target 1 ranks input1 higher.

    Args:
        input1: ranks.
        input2: ranks, broadcast with `input1`.
        target: 1 or -1, broadcast with both.
        margin: the least difference that costs nothing.
        size_average, reduce: older forms of `reduction`, which warn.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        RuntimeError: the numbers of dims differ.
        ValueError: `reduction` is unknown.

    Example:
        >>> F.margin_ranking_loss(gw.tensor([1.0]), gw.tensor([3.0]), gw.tensor([1.0]))
        tensor(2.)
    """
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
    """Sum over classes i other than t of `max(0, margin - x[t] + x[i])**p / C`, t the target.

    Args:
        input: scores, `(N, C)` or `(C,)`.
        target: classes, int64, `(N,)` or without dims.
        p: 1 or 2.
        margin: the least lead of the target that costs nothing.
        weight: a factor for each target class, `(C,)`; 1 if None.
        size_average, reduce: older forms of `reduction`, which warn.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        RuntimeError: shapes do not match.
        ValueError: `p` is not 1 or 2, or `weight` has not one dim; or `reduction` is unknown.

    Example:
        >>> F.multi_margin_loss(gw.tensor([[1.0, 2.0]]), gw.tensor([0]))
        tensor(1.)
    """
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
    """Sum over targets t and other classes i of `max(0, 1 - x[t] + x[i]) / C`.

    Args:
        input: scores, `(N, C)` or `(C,)`.
        target: classes, int64, of the shape of `input`; those before the first negative
            number are a row's targets.
        size_average, reduce: older forms of `reduction`, which warn.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        RuntimeError: shapes do not match, or a target is no class.
        ValueError: `reduction` is unknown.

    Example:
        >>> F.multilabel_margin_loss(gw.tensor([[1.0, 2.0]]), gw.tensor([[0, -1]]))
        tensor(1.)
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
    """Binary cross entropy of logits, its mean over the classes.

    Args:
        input: logits, `(*, C)`.
        target: 0 or 1, broadcast with `input`.
        weight: factors that are broadcast to `input`; 1 if None.
        size_average, reduce: older forms of `reduction`, which warn.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        ValueError: `reduction` is unknown.

    Example:
        >>> F.multilabel_soft_margin_loss(gw.tensor([[0.0, 0.0]]), gw.tensor([[0.0, 1.0]]))
        tensor(0.6931)
    """
    kind = reduction_of(reduction, size_average, reduce)
    return ops.multilabel_soft_margin_loss(input, target, weight, kind)


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`log(1 + exp(-target * input))` with targets 1 and -1.

    Args:
        input: scores.
        target: 1 or -1, broadcast with `input`.
        size_average, reduce: older forms of `reduction`, which warn.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        ValueError: `reduction` is unknown.

    Example:
        >>> F.soft_margin_loss(gw.tensor([0.0, 0.0]), gw.tensor([1.0, -1.0]))
        tensor(0.6931)
    """
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
    """`max(0, d(anchor, positive) - d(anchor, negative) + margin)` with distances `||.||_p`.

    Args:
        anchor: `(N, D)` or `(D,)`.
        positive: of the class of `anchor`, broadcast with it.
        negative: of another class, broadcast with both.
        margin: the least lead that costs nothing; positive.
        p: order of the norm.
        eps: added to each difference.
        swap: take `d(positive, negative)` where that is smaller (Balntas et al., 2016).
        size_average, reduce: older forms of `reduction`, which warn.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        RuntimeError: the numbers of dims differ.
        ValueError: `margin` is not positive, or `reduction` is unknown.

    Example:
        >>> F.triplet_margin_loss(gw.zeros(1, 2), gw.zeros(1, 2), gw.ones(1, 2))
        tensor(0.)
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
    """`triplet_margin_loss` with any distance.

    Args:
        anchor: a tensor that `distance_function` takes.
        positive: of the class of `anchor`.
        negative: of another class.
        distance_function: a function of two tensors; `pairwise_distance` if None.
        margin: the least lead that costs nothing; positive.
        swap: take `d(positive, negative)` where that is smaller.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        RuntimeError: the numbers of dims differ.
        ValueError: `margin` is not positive, or `reduction` is unknown.

    Example:
        >>> a, b = gw.zeros(1, 2), gw.ones(1, 2)
        >>> F.triplet_margin_with_distance_loss(a, a, b, margin=2.0)
        tensor(0.5858)
    """
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
