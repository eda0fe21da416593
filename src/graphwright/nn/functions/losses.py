"""Losses of values, classes and distributions as functions.

`reduction` is "none", "mean" or "sum"; `size_average` and `reduce` are its older forms, which
warn. ValueError for another reduction.
"""

from __future__ import annotations

import warnings
from typing import Any

from graphwright.nn.functions.reduction import paired, reduction_of
from graphwright.runtime.errors import describe, require_tensor
from graphwright.runtime.ops import functions as ops
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
    """Squared error: `(input - target)**2`.

    Args:
        input: a tensor.
        target: of the shape of `input`; otherwise both are broadcast, with a warning.
        weight: factors of the shape of `input`; "mean" divides by their sum.
        size_average, reduce: older forms of `reduction`, which warn.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        ValueError: `weight` has another shape, or `reduction` is unknown.

    Example:
        >>> F.mse_loss(gw.tensor([1.0, 2.0]), gw.tensor([1.0, 4.0]))
        tensor(2.)
    """
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
    """Absolute error: `|input - target|`.

    Args:
        input: a tensor.
        target: of the shape of `input`; otherwise both are broadcast, with a warning.
        weight: factors of the shape of `input`; "mean" divides by their sum.
        size_average, reduce: older forms of `reduction`, which warn.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        ValueError: `weight` has another shape, or `reduction` is unknown.

    Example:
        >>> F.l1_loss(gw.tensor([1.0, 2.0]), gw.tensor([1.0, 4.0]))
        tensor(1.)
    """
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
    """`d**2 / (2 * beta)` where `d = |input - target|` is less than beta, else `d - beta / 2`.

    Girshick, "Fast R-CNN" (2015).

    Args:
        input: a tensor.
        target: of the shape of `input`; otherwise both are broadcast, with a warning.
        beta: where the two parts meet; not negative.
        size_average, reduce: older forms of `reduction`, which warn.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        RuntimeError: `beta` is negative.
        ValueError: `reduction` is unknown.

    Example:
        >>> F.smooth_l1_loss(gw.tensor([1.0, 2.0]), gw.tensor([1.0, 4.0]))
        tensor(0.7500)
    """
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
    """`d**2 / 2` where `d = |input - target|` is less than delta, else linear in d.

    The linear part is `delta * (d - delta / 2)` (Huber, 1964).

    Args:
        input: a tensor.
        target: of the shape of `input`; otherwise both are broadcast, with a warning.
        delta: where the two parts meet; positive.
        weight: factors of the shape of `input`.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        RuntimeError: `delta` is not positive.
        ValueError: `weight` has another shape, or `reduction` is unknown.

    Example:
        >>> F.huber_loss(gw.tensor([1.0, 2.0]), gw.tensor([1.0, 4.0]))
        tensor(0.7500)
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
    """Negative log-likelihood: `-weight[t] * input[n, t]` with `t = target[n]`.

    Args:
        input: logarithms of probabilities, `(N, C, *)` or `(C,)`.
        target: classes, int64, `(N, *)` or without dims.
        weight: a factor for each class, `(C,)`; "mean" divides by those of the targets. 1 if
            None.
        ignore_index: targets of this value count nothing.
        size_average, reduce: older forms of `reduction`, which warn.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        IndexError: a target is no class.
        RuntimeError: `weight` has not a factor for each class, or requires gradients.
        ValueError: the batches of input and target differ, or `reduction` is unknown.

    Example:
        >>> F.nll_loss(gw.tensor([[-0.5, -1.0], [-2.0, -0.25]]), gw.tensor([0, 1]))
        tensor(0.3750)
    """
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
    """Cross entropy of logits and classes: `-log(softmax(input)[target])`.

    Args:
        input: logits, `(N, C, *)` or `(C,)`.
        target: classes, int64 `(N, *)` or without dims; or probabilities, floating point, of
            the shape of `input`.
        weight: a factor for each class, `(C,)`; "mean" divides by those of the targets. 1 if
            None.
        ignore_index: targets of this value count nothing.
        label_smoothing: the part of each target, from 0 to 1, that is spread over all classes
            (Szegedy et al., 2016).
        size_average, reduce: older forms of `reduction`, which warn.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        IndexError: a target is no class.
        RuntimeError: shapes do not match, or `label_smoothing` is out of range.
        ValueError: the batches of input and target differ, or `reduction` is unknown.

    Example:
        >>> F.cross_entropy(gw.tensor([[2.0, 0.0], [0.0, 2.0]]), gw.tensor([0, 0]))
        tensor(1.1269)
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
    """`-weight * (t * log(p) + (1 - t) * log(1 - p))` of probabilities p and targets t.

    Logarithms are at least -100, so that no loss is infinite.

    Args:
        input: probabilities, floating point, from 0 to 1.
        target: of the shape of `input`.
        weight: factors that are broadcast to `input`; 1 if None.
        size_average, reduce: older forms of `reduction`, which warn.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        RuntimeError: an element of `input` is not from 0 to 1, or `weight` requires
            gradients.
        ValueError: the shapes of input and target differ, or `reduction` is unknown.

    Example:
        >>> F.binary_cross_entropy(gw.tensor([0.5, 0.5]), gw.tensor([0.0, 1.0]))
        tensor(0.6931)
    """
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
    """Binary cross entropy of `sigmoid(input)`, computed without overflow.

    Args:
        input: logits, floating point.
        target: probabilities of the shape of `input`.
        weight: factors that are broadcast to `input`; 1 if None.
        pos_weight: factors of the targets' part `t * log(p)`, broadcast to `input`; 1 if
            None.
        size_average, reduce: older forms of `reduction`, which warn.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        ValueError: the shapes of input and target differ, or `reduction` is unknown.

    Example:
        >>> F.binary_cross_entropy_with_logits(gw.tensor([0.0, 0.0]), gw.tensor([0.0, 1.0]))
        tensor(0.6931)
    """
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
    """Kullback-Leibler divergence: `target * (log(target) - input)`, 0 where target is 0.

    Args:
        input: logarithms of probabilities.
        target: probabilities, broadcast with `input`.
        log_target: `target` holds logarithms.
        size_average, reduce: older forms of `reduction`, which warn.
        reduction: "none", "mean" (of all elements, with a warning), "sum", or "batchmean":
            the sum divided by the first size.

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        ValueError: `reduction` is unknown.

    Example:
        >>> p = gw.tensor([[0.5, 0.5]])
        >>> F.kl_div(p.log(), p, reduction="batchmean")
        tensor(0.)
    """
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
    """Negative log-likelihood of Poisson counts: `exp(input) - target * input`.

    Args:
        input: logarithms of expected counts; the counts themselves without `log_input`.
        target: counts.
        log_input: whether `input` is a logarithm; otherwise `input - target * log(input +
            eps)` is computed.
        full: add Stirling's approximation of `log(target!)` where target is greater than 1.
        eps: keeps the logarithm finite.
        size_average, reduce: older forms of `reduction`, which warn.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        ValueError: `reduction` is unknown.

    Example:
        >>> F.poisson_nll_loss(gw.tensor([0.0]), gw.tensor([1.0]))
        tensor(1.)
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
    """Negative log-likelihood of normal variables: `(log(v) + (input - target)**2 / v) / 2`.

    Args:
        input: means.
        target: samples, of the shape of `input` or broadcast with it.
        var: variances: of the shape of `input`, with one for the last dim, or a number; v is
            at least `eps`.
        full: add `log(2 * pi) / 2`.
        eps: the least variance.
        reduction: "none", "mean" or "sum".

    Returns: a tensor without dims; the loss of each element or sample with "none".

    Raises:
        ValueError: `var` has another size, or a negative element; or `reduction` is unknown.

    Example:
        >>> F.gaussian_nll_loss(gw.tensor([0.0]), gw.tensor([2.0]), gw.tensor([1.0]))
        tensor(2.)
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


def _lengths(given: Any, device: Any) -> Any:
    """Ints, or a tensor of integers on the device, which is read when the program runs."""
    if isinstance(given, Tensor):
        if given.is_floating_point() or given.is_complex() or given.dtype is dtypes.bool:
            raise RuntimeError(f"ctc_loss: lengths must be integral, got {describe(given)}")
        return ops.reshape(given, (-1,)).to(device)
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
    """Connectionist temporal classification: minus the log-likelihood of all alignments.

    Graves et al. (2006). It can be differentiated once.

    Args:
        log_probs: logarithms of probabilities, `(T, N, C)` or `(T, C)`.
        targets: classes, `(N, S)`, or all in one dim; `(S,)` without a batch.
        input_lengths: N ints or a tensor of integers: the steps that count of each sequence.
        target_lengths: N ints or a tensor of integers: the length of each target.
        blank: the class that stands for none.
        reduction: "none", "mean" (each loss is divided by its target's length first) or
            "sum".
        zero_infinity: losses of targets that do not fit are 0, and their gradients.

    Returns: a tensor without dims; `(N,)` with "none".

    Raises:
        RuntimeError: shapes or lengths do not match.
        ValueError: `reduction` is unknown.

    Example:
        >>> probabilities = gw.full((2, 1, 2), 0.5)
        >>> F.ctc_loss(probabilities.log(), gw.tensor([[1]]), [2], [1])
        tensor(0.2877)
    """
    kind = reduction_of(reduction)
    require_tensor("ctc_loss", "log_probs", log_probs)
    require_tensor("ctc_loss", "targets", targets)
    batched = log_probs.ndim == 3
    inputs, lengths = (
        _lengths(given, log_probs.device) for given in (input_lengths, target_lengths))
    if not batched:
        log_probs, targets = ops.unsqueeze(log_probs, 1), ops.reshape(targets, (1, -1))
    loss = ops.ctc_loss_parts(log_probs, targets, inputs, lengths, blank)[0]
    if zero_infinity:
        loss = ops.where(ops.isinf(loss), 0.0, loss)
    if kind == "mean":
        counts = lengths if isinstance(lengths, Tensor) else tensor(lengths, device=loss.device)
        return ops.mean(ops.div(loss, ops.clamp(counts, 1)))
    if kind == "sum":
        return ops.sum(loss)
    return loss if batched else ops.squeeze(loss, 0)
