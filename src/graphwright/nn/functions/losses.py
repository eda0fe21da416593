"""Losses of values, classes and distributions as functions.

`reduction` is "none", "mean" or "sum"; `size_average` and `reduce` are its older forms, which
warn. ValueError for another reduction.
"""

from __future__ import annotations

import warnings
from typing import Any

from graphwright.nn.functions.reduction import paired, reduction_of
from graphwright.runtime.errors import describe, require_tensor
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.int_arguments import as_ints
from graphwright.runtime.ops.table import refuse_gradients
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.from_data import tensor
from graphwright.runtime.tensor.tensor import Tensor


def _weighted(name: str, loss: Tensor, weight: Tensor, input: Tensor, reduction: str) -> Tensor:
    """A loss [*] times `weight` [*], reduced; the mean of mse and l1 is that of the weights."""
    if tuple(weight.shape) != tuple(input.shape):
        raise ValueError("Weights and input must have the same size.")
    loss = ops.mul(loss, weight)
    if reduction == "none":
        return loss
    if reduction == "sum":
        return ops.sum(loss)
    return ops.mean(loss) if name == "huber" else ops.div(ops.sum(loss), ops.sum(weight))


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """(input - target)**2, reduced; with `weight` [*] the weighted mean."""
    input, target = paired(input, target)
    kind = reduction_of(reduction, size_average, reduce)
    if weight is None:
        return ops.mse_loss(input, target, kind)
    return _weighted("mse", ops.mse_loss(input, target, "none"), weight, input, kind)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """|input - target|, reduced; with `weight` [*] the weighted mean."""
    input, target = paired(input, target)
    kind = reduction_of(reduction, size_average, reduce)
    if weight is None:
        return ops.l1_loss(input, target, kind)
    return _weighted("l1", ops.l1_loss(input, target, "none"), weight, input, kind)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """d**2 / (2*beta) where d = |input - target| < beta, else d - beta/2; reduced."""
    input, target = paired(input, target)
    kind = reduction_of(reduction, size_average, reduce)
    if not beta >= 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return ops.smooth_l1_loss(input, target, kind, beta)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """d**2 / 2 where d = |input - target| < delta, else delta * (d - delta/2); reduced.

    RuntimeError unless `delta` is positive.
    """
    input, target = paired(input, target)
    kind = reduction_of(reduction)
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is None:
        return ops.huber_loss(input, target, kind, delta)
    return _weighted("huber", ops.huber_loss(input, target, "none", delta), weight, input, kind)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-weight[t] * input[n, t] for t = target[n]: input [N, C, *] or [C], target [N, *] or []."""
    kind = reduction_of(reduction, size_average, reduce)
    refuse_gradients("nll_loss", weight=weight)
    return ops.nll_loss(input, target, weight, ignore_index, kind)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy of logits [N, C, *] (or [C]) with classes or with probabilities.

    Integer targets [N, *] are classes (those equal to `ignore_index` count nothing), floating
    ones [N, C, *] probabilities. IndexError for a class out of range.
    """
    kind = reduction_of(reduction, size_average, reduce)
    return ops.cross_entropy(input, target, weight, ignore_index, kind, label_smoothing)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-(t*log(p) + (1-t)*log(1-p)), logarithms limited to >= -100; shapes must be equal."""
    kind = reduction_of(reduction, size_average, reduce)
    refuse_gradients("binary_cross_entropy", weight=weight)
    return ops.binary_cross_entropy(input, target, weight, kind)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Binary cross entropy of sigmoid(input), computed without overflow."""
    kind = reduction_of(reduction, size_average, reduce)
    return ops.binary_cross_entropy_with_logits(input, target, weight, pos_weight, kind)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """target * (log(target) - input), 0 where target is 0; "batchmean" divides by the batch."""
    legacy = size_average is not None or reduce is not None
    by_batch = reduction == "batchmean" and not legacy
    kind = "sum" if by_batch else reduction_of(reduction, size_average, reduce)
    if kind == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support "
            "size. 'batchmean' divides only by the batch size, and aligns with the KL math "
            "definition.",
            stacklevel=2,
        )
    total = ops.kl_div(input, target, kind, log_target)
    return ops.div(total, input.shape[0]) if by_batch and input.ndim else total


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """exp(x) - target*x of x = input, or input - target*log(input + eps) without `log_input`.

    `full` adds Stirling's approximation of log(target!) where target > 1.
    """
    kind = reduction_of(reduction, size_average, reduce)
    require_tensor("poisson_nll_loss", "target", target)
    return ops.poisson_nll_loss(input, target, log_input, full, eps, kind)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """(log(v) + (input - target)**2 / v) / 2 of v = max(var, eps); `full` adds log(2*pi) / 2.

    `var` is a number, has input's shape, or one entry for the last dimension. ValueError where
    it has another size or a negative entry.
    """
    require_tensor("gaussian_nll_loss", "input", input)
    if not isinstance(var, float):
        require_tensor("gaussian_nll_loss", "var", var)
        negative = bool(ops.any(ops.lt(var, 0)))
        variance = _variance_like(var, input)
    else:
        negative = var < 0
        variance = ops.full_like(input, var)
    if negative:
        raise ValueError("var has negative entry/entries")
    return ops.gaussian_nll_loss(input, target, variance, full, eps, reduction_of(reduction))


def _variance_like(var: Tensor, input: Tensor) -> Tensor:
    size, own = tuple(input.shape), tuple(var.shape)
    if own == size:
        return var
    if own == size[:-1]:
        return ops.unsqueeze(var, -1)
    ones = [i for i, (a, b) in enumerate(zip(own, size, strict=False)) if a != b]
    if len(own) == len(size) and len(ones) == 1 and own[ones[0]] == 1:
        return var
    raise ValueError("var is of incorrect size")


def _lengths(given: Any) -> Any:
    """Ints, or a tensor of integers, which is read when the program runs."""
    if isinstance(given, Tensor):
        if given.is_floating_point() or given.is_complex() or given.dtype is dtypes.bool:
            raise RuntimeError(f"ctc_loss: lengths must be integral, got {describe(given)}")
        return ops.reshape(given, (-1,))
    return as_ints("ctc_loss(): lengths", tuple(given) if isinstance(given, list | tuple)
                   else (given,))


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Connectionist temporal classification (Graves et al., 2006).

    log_probs [T, N, C] or [T, C]; targets [N, S], one after the other in one dimension, or [S].
    "mean" divides every loss by its target's length first; `zero_infinity` makes the losses of
    targets that do not fit, and their gradients, zero. It can be differentiated once.
    """
    kind = reduction_of(reduction)
    require_tensor("ctc_loss", "log_probs", log_probs)
    require_tensor("ctc_loss", "targets", targets)
    batched = log_probs.ndim == 3
    inputs, lengths = _lengths(input_lengths), _lengths(target_lengths)
    if not batched:
        log_probs, targets = ops.unsqueeze(log_probs, 1), ops.reshape(targets, (1, -1))
    loss = ops.ctc_loss_parts(log_probs, targets, inputs, lengths, blank)[0]
    if zero_infinity:
        loss = ops.where(ops.isinf(loss), 0.0, loss)
    if kind == "mean":
        counts = lengths if isinstance(lengths, Tensor) else tensor(lengths)
        return ops.mean(ops.div(loss, ops.clamp(counts, 1)))
    if kind == "sum":
        return ops.sum(loss)
    return loss if batched else ops.squeeze(loss, 0)
