"""Losses on margins and distances, and those of likelihoods: written in terms of other ops."""

from __future__ import annotations

import math
from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.creation.fill import check_held
from graphwright.runtime.ops.dtype_rules import is_inexact, require_dtype
from graphwright.runtime.ops.nn_support import (
    cast,
    internal,
    reduced,
    require_floating,
    widened,
)
from graphwright.runtime.ops.table import Kind
from graphwright.runtime.ops.value_checks import checked, inside
from graphwright.runtime.tensor.dtypes import bool_, float32, int64


def _huber_loss(input: Any, target: Any, reduction: str, delta: float) -> Any:
    require_floating("huber_loss", input)
    if target.dtype.is_complex:
        raise RuntimeError(f"huber_loss: target {describe(target)} cannot be complex")
    difference = ops.sub(input, cast(target, input.dtype) if target.dtype is bool_ else target)
    distance = ops.abs(difference)
    near = ops.clamp(distance, None, delta)
    loss = ops.mul(near, ops.sub(distance, near, alpha=0.5))
    return reduced(cast(loss, input.dtype), reduction)


def _soft_margin_loss(input: Any, target: Any, reduction: str) -> Any:
    """log(1 + exp(-target * input))."""
    require_floating("soft_margin_loss", input)
    loss = ops.neg(ops.logsigmoid(ops.mul(target, input)))
    if loss.shape != input.shape:
        raise RuntimeError(
            f"soft_margin_loss: target {describe(target)} does not broadcast to {describe(input)}"
        )
    return reduced(cast(loss, input.dtype), reduction)


def _hinge_embedding_loss(input: Any, target: Any, margin: float, reduction: str) -> Any:
    """In the input's dtype: of integers, the whole part of the margin."""
    check_held("hinge_embedding_loss", input.dtype, margin)
    if not is_inexact(input.dtype):
        margin = int(margin)
    apart = ops.clamp_min(ops.sub(margin, input), 0)
    other = ops.where(ops.ne(target, 1), apart, 0)
    own = ops.where(ops.ne(target, -1), input, 0)
    return reduced(ops.add(other, own), reduction)


def _margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float, reduction: str
) -> Any:
    gap = ops.mul(ops.neg(target), ops.sub(input1, input2))
    return reduced(ops.clamp_min(ops.add(gap, margin * 1.0), 0), reduction)


def _cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float, reduction: str
) -> Any:
    if target.ndim > 1:
        raise RuntimeError(
            f"0D or 1D target tensor expected, multi-target not supported, got {describe(target)}"
        )
    dim = target.ndim
    if input1.ndim != dim + 1 or input2.ndim != dim + 1:
        raise RuntimeError(
            f"{dim}D target tensor expects {dim + 1}D input tensors, but found inputs "
            f"{describe(input1)} and {describe(input2)}."
        )
    kind = input1.dtype if input1.dtype.is_floating_point else float32
    x1, x2 = widened(cast(input1, kind)), widened(cast(input2, kind))
    squares = [ops.add(ops.sum(ops.mul(x, x), dim), 1e-12) for x in (x1, x2)]
    cosine = ops.div(ops.sum(ops.mul(x1, x2), dim), ops.sqrt(ops.mul(*squares)))
    near = ops.where(ops.eq(target, 1), ops.sub(1.0, cosine), 0.0)
    far = ops.where(ops.eq(target, -1), ops.clamp_min(ops.sub(cosine, margin), 0), 0.0)
    return reduced(cast(ops.add(near, far), kind), reduction)


# Classes


def _rows(name: str, input: Any) -> tuple[Any, Any]:
    """(batch, classes) of input [N, C], [C] or []; RuntimeError for another rank or no classes."""
    require_floating(name, input)
    require_dtype(name, input.dtype, halves=False)
    if input.ndim == 0:
        return 1, 1
    if input.ndim > 2 or input.shape[-1] == 0:
        raise RuntimeError(
            f"{name}: Expected non-empty vector or matrix with optional 0-dim batch size, "
            f"but got: {list(input.shape)}"
        )
    return (1 if input.ndim == 1 else input.shape[0]), input.shape[-1]


def _require_classes(name: str, target: Any) -> None:
    if target.dtype is not int64:
        raise RuntimeError(f"{name}: expected a target of int64, got {describe(target)}")


def _multi_margin_loss(
    input: Any, target: Any, p: int, margin: float, weight: Any, reduction: str
) -> Any:
    batch, classes = _rows("multi_margin_loss", input)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if target.ndim > 1 or target.numel() != batch:
        raise RuntimeError(
            "target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{batch}], but got {list(target.shape)}"
        )
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(
            f"inconsistent weight size, expected {classes} but got {list(weight.shape)}"
        )
    _require_classes("multi_margin_loss", target)
    x, index = ops.reshape(input, (batch, classes)), ops.reshape(target, (batch, 1))
    gap = ops.clamp_min(ops.add(ops.sub(x, ops.gather(x, 1, index)), margin), 0)
    if p == 2:
        gap = ops.mul(gap, gap)
    if weight is not None:
        gap = ops.mul(gap, ops.unsqueeze(ops.index_select(weight, 0, ops.squeeze(index, 1)), 1))
    other = ops.ne(ops.arange(0, classes, 1, dtype=int64, device=input.device), index)
    loss = ops.div(ops.sum(ops.where(other, gap, 0.0), 1), classes)
    return reduced(loss if target.ndim else ops.reshape(loss, ()), reduction)


def _multilabel_margin_loss(input: Any, target: Any, reduction: str) -> Any:
    """Targets of a row are the classes before its first negative entry."""
    batch, classes = _rows("multilabel_margin_loss", input)
    if tuple(target.shape) != tuple(input.shape):
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: "
            f"{list(input.shape)}"
        )
    _require_classes("multilabel_margin_loss", target)
    x, t = ops.reshape(input, (batch, classes)), ops.reshape(target, (batch, classes))
    text = f"multilabel_margin_loss: target out of range, expected -1 to {classes - 1}"
    t = checked(t, inside(t, -1, classes - 1), text)
    given = ops.eq(ops.cumsum(ops.to_dtype(ops.lt(t, 0), int64), 1), 0)
    index = ops.where(given, t, 0)
    counts = ops.scatter_add(ops.zeros_like(index), 1, index, ops.to_dtype(given, int64))
    pairs = ops.sub(ops.unsqueeze(x, 1), ops.unsqueeze(ops.gather(x, 1, index), 2))
    counted = ops.logical_and(ops.unsqueeze(given, 2), ops.unsqueeze(ops.eq(counts, 0), 1))
    gaps = ops.where(counted, ops.clamp_min(ops.add(pairs, 1.0), 0), 0.0)
    loss = ops.div(ops.sum(gaps, (1, 2)), classes)
    return reduced(loss if input.ndim == 2 else ops.reshape(loss, ()), reduction)


def _multilabel_soft_margin_loss(input: Any, target: Any, weight: Any, reduction: str) -> Any:
    positive = ops.mul(target, ops.logsigmoid(input))
    negative = ops.mul(ops.sub(1, target), ops.logsigmoid(ops.neg(input)))
    loss = ops.neg(ops.add(positive, negative))
    if weight is not None:
        loss = ops.mul(loss, weight)
    dim = input.ndim - 1
    return reduced(ops.div(ops.sum(loss, dim), input.shape[dim]), reduction)


# Likelihoods


def _poisson_nll_loss(
    input: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: str
) -> Any:
    if log_input:
        loss = ops.sub(ops.exp(input), ops.mul(target, input))
    else:
        loss = ops.sub(input, ops.mul(target, ops.log(ops.add(input, eps))))
    if full:
        many = ops.gt(target, 1)
        t = ops.where(many, target, 1.0)
        stirling = ops.add(
            ops.sub(ops.mul(t, ops.log(t)), t), ops.mul(ops.log(ops.mul(t, 2 * math.pi)), 0.5)
        )
        loss = ops.add(loss, ops.where(many, stirling, 0.0))
    return reduced(loss, reduction)


def _gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool, eps: float, reduction: str
) -> Any:
    """The variance is limited to >= eps, which its gradient does not see."""
    raised = ops.sub(ops.clamp_min(var.detach(), eps), var.detach())
    limited = ops.add(var, raised)
    difference = ops.sub(input, target)
    spread = ops.div(ops.mul(difference, difference), limited)
    loss = ops.mul(ops.add(ops.log(limited), spread), 0.5)
    if full:
        loss = ops.add(loss, 0.5 * math.log(2 * math.pi))
    return reduced(loss, reduction)


def _triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float,
    p: float,
    eps: float,
    swap: bool,
    reduction: str,
) -> Any:
    ranks = (anchor.ndim, positive.ndim, negative.ndim)
    if len(set(ranks)) != 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            "dimensions, but got: anchor {}D, positive {}D, and negative {}D inputs".format(*ranks)
        )
    near = ops.pairwise_distance(anchor, positive, p, eps, False)
    far = ops.pairwise_distance(anchor, negative, p, eps, False)
    if swap:
        far = ops.minimum(far, ops.pairwise_distance(positive, negative, p, eps, False))
    return reduced(ops.clamp_min(ops.add(ops.sub(near, far), margin), 0), reduction)


def _loss(schema: str, decompose: Any) -> None:
    internal(schema, Kind.COMPOSITE, decompose=decompose)


_loss(
    "huber_loss(Tensor input, Tensor target, str reduction='mean', float delta=1.0)", _huber_loss
)
_loss("soft_margin_loss(Tensor input, Tensor target, str reduction='mean')", _soft_margin_loss)
_loss(
    "hinge_embedding_loss(Tensor input, Tensor target, float margin=1.0, str reduction='mean')",
    _hinge_embedding_loss,
)
_loss(
    "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, "
    "str reduction='mean')",
    _margin_ranking_loss,
)
_loss(
    "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, "
    "str reduction='mean')",
    _cosine_embedding_loss,
)
_loss(
    "multi_margin_loss(Tensor input, Tensor target, int p=1, float margin=1.0, "
    "Tensor? weight=None, str reduction='mean')",
    _multi_margin_loss,
)
_loss(
    "multilabel_margin_loss(Tensor input, Tensor target, str reduction='mean')",
    _multilabel_margin_loss,
)
_loss(
    "multilabel_soft_margin_loss(Tensor input, Tensor target, Tensor? weight=None, "
    "str reduction='mean')",
    _multilabel_soft_margin_loss,
)
_loss(
    "poisson_nll_loss(Tensor input, Tensor target, bool log_input=True, bool full=False, "
    "float eps=1e-08, str reduction='mean')",
    _poisson_nll_loss,
)
_loss(
    "gaussian_nll_loss(Tensor input, Tensor target, Tensor var, bool full=False, "
    "float eps=1e-06, str reduction='mean')",
    _gaussian_nll_loss,
)
_loss(
    "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, "
    "float p=2.0, float eps=1e-06, bool swap=False, str reduction='mean')",
    _triplet_margin_loss,
)
