"""Connectionist temporal classification (Graves et al., 2006)."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.dtype_rules import require_dtype
from graphwright.runtime.ops.nn_support import (
    Array,
    compute,
    finish,
    internal,
    output,
    require_floating,
    same,
    spec,
)
from graphwright.runtime.ops.table import Kind
from graphwright.runtime.tensor.dtypes import int32, int64
from graphwright.runtime.tensor.tensor import Tensor


def _meta(log_probs: Any, targets: Any, *rest: Any) -> Any:
    require_floating("ctc_loss", log_probs)
    require_dtype("ctc_loss", log_probs.dtype, halves=False)
    if targets.dtype not in (int32, int64):
        raise RuntimeError(f"ctc_loss: targets must be integral, got {describe(targets)}")
    return spec((log_probs.shape[1],), log_probs), same(log_probs)


def _extended(targets: Array, lengths: Array, blank: int) -> Array:
    """Every target [N, 2 * S + 1] with blanks around its labels."""
    most = int(lengths.max(initial=0))
    labels = np.full((lengths.size, 2 * most + 1), blank, np.int64)
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1])) if targets.ndim == 1 else None
    for row, length in enumerate(lengths):
        own = targets[row] if starts is None else targets[starts[row] :]
        labels[row, 1 : 2 * length : 2] = own[:length]
    return labels


def _check_lengths(log_probs: Tensor, targets: Array, inputs: Array, lengths: Array) -> None:
    steps, batch = log_probs.shape[:2]
    for name, given in (("input_lengths", inputs), ("target_lengths", lengths)):
        if given.shape != (batch,):
            raise RuntimeError(f"ctc_loss: {name} must be of size batch_size, got {given.shape}")
    if (inputs > steps).any() or (inputs < 0).any():
        raise RuntimeError(
            f"ctc_loss: Expected input_lengths to have value at most {steps}, but got "
            f"{inputs.tolist()}"
        )
    room = targets.shape[1] if targets.ndim == 2 else targets.size
    used = lengths.max(initial=0) if targets.ndim == 2 else sum(lengths.tolist())
    if (lengths < 0).any() or used > room:
        raise RuntimeError(
            f"ctc_loss: Expected target_lengths to fit targets of shape {targets.shape}, but got "
            f"{lengths.tolist()}"
        )


def _sum3(a: Array, b: Array, c: Array) -> Array:
    return np.logaddexp(np.logaddexp(a, b), c)


def _forward(scores: Array, skips: Array, starts: Array) -> Array:
    """alpha [T, N, L]: the logarithm of the weight of all paths to a label at a time."""
    steps = scores.shape[0]
    alpha = np.full(scores.shape, -np.inf)
    alpha[0, :, :2] = scores[0, :, :2]
    alpha[0][~starts] = -np.inf
    nothing = np.full(scores.shape[1:], -np.inf)
    for t in range(1, steps):
        before, two = nothing.copy(), nothing.copy()
        before[:, 1:] = alpha[t - 1, :, :-1]
        two[:, 2:] = np.where(skips[:, 2:], alpha[t - 1, :, :-2], -np.inf)
        alpha[t] = _sum3(alpha[t - 1], before, two) + scores[t]
    return alpha


def _backward(scores: Array, skips: Array, inputs: Array, ends: Array) -> Array:
    """beta [T, N, L]: the same from a label at a time to the end, that label included."""
    steps, batch, size = scores.shape
    beta = np.full(scores.shape, -np.inf)
    following = np.full((batch, size), -np.inf)
    for t in range(steps - 1, -1, -1):
        one, two = np.full((batch, size), -np.inf), np.full((batch, size), -np.inf)
        one[:, :-1] = following[:, 1:]
        two[:, :-2] = np.where(skips[:, 2:], following[:, 2:], -np.inf)
        value = _sum3(following, one, two) + scores[t]
        last = (inputs - 1 == t)[:, None]
        value = np.where(last, np.where(ends, scores[t], -np.inf), value)
        beta[t] = following = value
    return beta


def _read(lengths: Any) -> Any:
    return tuple(lengths.tolist()) if isinstance(lengths, Tensor) else lengths


def _eager(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int,
) -> tuple[Tensor, Tensor]:
    _meta(log_probs, targets)
    if isinstance(input_lengths, Tensor) or isinstance(target_lengths, Tensor):
        return ops.ctc_loss_parts(
            log_probs, targets, _read(input_lengths), _read(target_lengths), blank)
    inputs, lengths = np.asarray(input_lengths), np.asarray(target_lengths)
    _check_lengths(log_probs, targets._nd, inputs, lengths)
    steps, batch, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    labels = _extended(targets._nd, lengths, blank)
    if (labels < 0).any() or (labels >= classes).any():
        raise RuntimeError(
            f"ctc_loss: Expected targets to have labels from 0 to {classes - 1}, the classes of "
            f"{describe(log_probs)}, but got {np.unique(labels).tolist()}"
        )
    probabilities = compute(log_probs).astype(np.float64)
    rows = np.arange(batch)[:, None]
    scores = probabilities[:, rows, labels]
    place = np.arange(labels.shape[1])
    within = place < 2 * lengths[:, None] + 1
    scores = np.where(within, scores, -np.inf)
    skips = np.zeros(labels.shape, bool)
    skips[:, 2:] = (labels[:, 2:] != blank) & (labels[:, 2:] != labels[:, :-2])
    ends = within & (place >= 2 * lengths[:, None] - 1)
    alpha = _forward(scores, skips, within)
    beta = _backward(scores, skips, inputs, ends)
    finals = alpha[np.maximum(inputs - 1, 0), np.arange(batch)]
    total = np.logaddexp.reduce(np.where(ends, finals, -np.inf), axis=1)
    total = np.where(inputs == 0, np.where(lengths == 0, 0.0, -np.inf), total)
    losses, out = output((batch,), log_probs.dtype)
    out[...] = -total
    slope, to_input = output(log_probs.shape, log_probs.dtype)
    shares = np.exp(alpha + beta - np.where(within, scores, 0) - total[:, None])
    taken = np.zeros(probabilities.shape)
    times = np.arange(steps)[:, None, None]
    np.add.at(taken, (times, rows, labels), shares)
    used = times < inputs[:, None]
    to_input[...] = np.where(used, np.exp(probabilities) - taken, 0)
    return finish(losses, out), finish(slope, to_input)


def _vjp(ctx: Any, grad: Any, grad_slope: Any) -> Any:
    if grad_slope is not None:
        raise RuntimeError("ctc_loss cannot be differentiated twice")
    slope = ops.mul(ctx.out1, ops.view(grad, (1, -1, 1)))
    return ops.where(ops.eq(ops.view(grad, (1, -1, 1)), 0), 0.0, slope), None


internal(
    "ctc_loss_parts(Tensor log_probs, Tensor targets, object input_lengths, "
    "object target_lengths, int blank)",
    Kind.OTHER,
    meta=_meta,
    vjp=_vjp,
    saves=("out1",),
    eager=_eager,
)
