"""Samples of activations in pieces, losses on margins, distances, bags and fused attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special
from scipy.spatial import distance

from .sample import Arr, Bad, OpErrors, OpSamples, S

Array = np.ndarray[Any, Any]


def _unary(name: str, reference: Any, *options: Any) -> OpSamples:
    samples = [S(Arr(shape)) for shape in ((3, 4), (2, 3, 4), (0, 3), ())]
    if options:
        samples.append(S(Arr((3, 4)), *options))
    return OpSamples(name, tuple(samples), reference, torch="")


_ALPHA, _SCALE = 1.6732632423543772, 1.0507009873554805
_X, _BATCH = Arr((3, 4)), Arr((2, 4, 3))


def _prelu(x: Array, w: Array) -> Array:
    return np.where(x > 0, x, x * (w if w.size == 1 else w.reshape((-1,) + (1,) * (x.ndim - 2))))


def _glu(x: Array, dim: int = -1) -> Array:
    a, b = np.split(x, 2, dim)
    return a * special.expit(b)


def _elu(x: Array, alpha: float = 1.0, scale: float = 1.0, inner: float = 1.0) -> Array:
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) * inner))


PIECEWISE = (
    _unary("mish", lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    _unary("selu", lambda x: _elu(x, _ALPHA, _SCALE)),
    _unary("celu", lambda x, a=1.0: _elu(x, a, 1.0, 1 / a), 0.6),
    _unary("hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6),
    _unary("hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6),
    _unary("hardshrink", lambda x, lam=0.5: np.where(np.abs(x) <= lam, 0, x), 0.9),
    _unary("softshrink", lambda x, lam=0.5: x - np.clip(x, -lam, lam), 0.9),
    OpSamples("threshold", (S(_X, 0.3, -1.5), S(Arr((3, 4), kind="int"), 0, 7)),
              lambda x, t, v: np.where(x > t, x, v), torch=""),
    OpSamples("prelu", (S(_X, Arr((1,))), S(_BATCH, Arr((4,))), S(Arr(()), Arr(()))),
              _prelu, torch=""),
    OpSamples("glu", (S(_X), S(_BATCH, 1)), _glu, torch=""),
    OpSamples("rrelu", (S(_X), S(_X, 0.1, 0.5)),
              lambda x, low=1 / 8, high=1 / 3: np.where(x > 0, x, x * (low + high) / 2),
              torch=""),
)  # fmt: skip


# Losses


def _reduced(loss: Array, reduction: str) -> Any:
    return loss if reduction == "none" else getattr(np, reduction)(loss)


def _loss(name: str, samples: tuple[Any, ...], formula: Any, **options: Any) -> OpSamples:
    return OpSamples(name, samples, formula, torch="", **options)


def _multi_margin(x: Array, t: Array, p: int, margin: float, w: Any, reduction: str) -> Any:
    rows, targets = np.atleast_2d(x), np.atleast_1d(t)
    loss = []
    for row, y in zip(rows, targets, strict=True):
        gaps = np.maximum(margin - row[y] + row, 0) ** p * (1 if w is None else w[y])
        loss.append((gaps.sum() - gaps[y]) / row.size)
    return _reduced(np.array(loss) if t.ndim else np.array(loss[0]), reduction)


def _poisson(x: Array, t: Array, log_input: bool, full: bool, eps: float, reduction: str) -> Any:
    loss = np.exp(x) - t * x if log_input else x - t * np.log(x + eps)
    if full:
        big = np.where(t > 1, t, 2)
        extra = big * np.log(big) - big + 0.5 * np.log(2 * np.pi * big)
        loss = loss + np.where(t > 1, extra, 0)
    return _reduced(loss, reduction)


_PAIR = (Arr((3, 4), -2, 2), Arr((3, 4), 0.1, 1.9))


MARGINS = (
    _loss("huber_loss", (S(*_PAIR, "none", 0.7), S(*_PAIR, "mean", 1.3)),
          lambda x, t, r, d: _reduced(
              np.where(abs(x - t) < d, (x - t) ** 2 / 2, d * (abs(x - t) - d / 2)), r)),
    _loss("soft_margin_loss", (S(*_PAIR, "none"), S(*_PAIR, "mean")),
          lambda x, t, r: _reduced(np.log1p(np.exp(-t * x)), r)),
    _loss("margin_ranking_loss", (S(_X, _X, _PAIR[1], 0.3, "sum"),),
          lambda a, b, t, m, r: _reduced(np.maximum(-t * (a - b) + m, 0), r)),
    _loss("multi_margin_loss",
          (S(Arr((4, 5)), Arr((4,), 0, 5, "index"), 1, 0.8, None, "none"),
           S(Arr((4, 5)), Arr((4,), 0, 5, "index"), 2, 1.1, Arr((5,), 0.5, 2, grad=False),
             "mean"),
           S(Arr((5,)), Arr((), 0, 5, "index"), 1, 1.0, None, "sum")),
          _multi_margin),
    _loss("multilabel_soft_margin_loss",
          (S(Arr((3, 4)), Arr((3, 4), 0.1, 0.9), None, "none"),
           S(Arr((3, 4)), Arr((3, 4), 0.1, 0.9), Arr((4,), 0.5, 2, grad=False), "mean")),
          lambda x, t, w, r: _reduced(
              -((t * special.log_expit(x) + (1 - t) * special.log_expit(-x))
                * (1 if w is None else w)).mean(-1), r)),
    _loss("poisson_nll_loss",
          (S(*_PAIR, True, False, 1e-8, "none"), S(*_PAIR, True, True, 1e-8, "mean"),
           S(_PAIR[1], _PAIR[1], False, False, 1e-3, "sum")),
          _poisson),
    _loss("gaussian_nll_loss",
          (S(*_PAIR, Arr((3, 4), 0.5, 2), False, 1e-6, "none"),
           S(*_PAIR, Arr((3, 1), 0.5, 2), True, 1e-6, "mean")),
          lambda x, t, v, f, e, r: _reduced(
              0.5 * (np.log(v) + (x - t) ** 2 / v) + 0.5 * np.log(2 * np.pi) * f, r)),
    _loss("triplet_margin_loss",
          (S(Arr((3, 4)), Arr((3, 4)), Arr((3, 4)), 1.0, 2.0, 1e-6, False, "none"),),
          lambda a, p, n, m, norm, e, s, r: _reduced(np.maximum(
              np.linalg.norm(a - p + e, axis=-1) - np.linalg.norm(a - n + e, axis=-1) + m, 0),
              r)),
)  # fmt: skip

# Distances and layers


def _pdist(x: Array, p: float = 2.0) -> Array:
    if p == np.inf:
        return distance.pdist(x, "chebyshev")
    return distance.pdist(x, "minkowski", p=p)


def _local_response(x: Array, size: int, alpha: float, beta: float, k: float) -> Array:
    square = np.pad(x * x, ((0, 0), (size // 2, (size - 1) // 2)) + ((0, 0),) * (x.ndim - 2))
    total = sum(square[:, i : i + x.shape[1]] for i in range(size))
    return x / (k + alpha * total / size) ** beta


def _instance(x: Array, w: Any, b: Any, m: Any, v: Any, own: bool, f: float, eps: float) -> Array:
    axes = tuple(range(2, x.ndim))
    shape = (-1,) + (1,) * len(axes)
    out = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)
    out = out * (1 if w is None else w.reshape(shape))
    return out + (0 if b is None else b.reshape(shape))


def _bags(
    w: Array, i: Array, o: Array, s: Any, mode: str, padding: int, by_frequency: bool
) -> tuple[Array, ...]:
    ends = [*o[1:], i.size]
    spans = enumerate(zip(o, ends, strict=True))
    numbers = np.concatenate([np.full(e - b, n) for n, (b, e) in spans])
    out = np.zeros((o.size, w.shape[1]))
    counts = np.zeros(o.size)
    chosen = np.full(out.shape, -1)
    for bag in range(o.size):
        rows = [k for k in range(i.size) if numbers[k] == bag and i[k] != padding]
        counts[bag] = len(rows)
        if not rows:
            continue
        values = np.stack([w[i[k]] * (1 if s is None else s[k]) for k in rows])
        out[bag] = values.max(0) if mode == "max" else getattr(values, mode)(0)
        if mode == "max":
            chosen[bag] = i[np.array(rows)[values.argmax(0)]]
    return out, numbers.astype(np.int64), counts, chosen if mode == "max" else np.zeros(0)


@dataclass(frozen=True)
class Offsets(Arr):
    """The starts of three bags among seven indices, the second one empty."""

    def values(self, salt: str) -> Array:
        return np.array([0, 3, 3])


_INDEX = Arr((7,), 0, 5, "index")
_OFFSETS = Offsets((3,), kind="int")
_QKV = (Arr((2, 3, 5, 4)), Arr((2, 3, 6, 4)), Arr((2, 3, 6, 2)))


def _attention(q: Array, k: Array, v: Array, mask: Any, causal: bool, scale: float) -> Any:
    scores = q @ np.swapaxes(k, -1, -2) * scale
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    if mask is not None:
        scores = scores + mask
    most = scores.max(-1, keepdims=True)
    weights = np.exp(scores - most)
    inverse = 1 / weights.sum(-1, keepdims=True)
    return weights * inverse @ v, np.concatenate([most, inverse], -1)


LAYERS = (
    OpSamples("pairwise_distance", (S(_X, _X), S(_X, Arr((4,)), 1.0, 1e-3, True)),
              lambda a, b, p=2.0, e=1e-6, keep=False: np.linalg.norm(
                  a - b + e, p, axis=-1, keepdims=keep), torch=""),
    OpSamples("cosine_similarity", (S(_X, _X), S(_BATCH, Arr((2, 4, 1)), 1), S(_X, _X, 0)),
              lambda a, b, dim=1: (a * b).sum(dim)
              / np.sqrt((a * a).sum(dim) * (b * b + 0 * a).sum(dim)), torch=""),
    OpSamples("pdist", (S(Arr((5, 3))), S(Arr((4, 3)), 1.0), S(Arr((4, 3)), 3.0)), _pdist,
              torch=""),
    OpSamples("bilinear",
              (S(Arr((3, 2)), Arr((3, 4)), Arr((5, 2, 4)), Arr((5,))),
               S(Arr((2, 3, 2)), Arr((2, 3, 4)), Arr((1, 2, 4)))),
              lambda a, b, w, bias=0: np.einsum("...i,oij,...j->...o", a, w, b) + bias, torch=""),
    OpSamples("local_response_norm", (S(_BATCH, 3, 0.5, 0.75, 1.0), S(_BATCH, 2, 0.1, 0.5, 2.0)),
              _local_response, torch=""),
    OpSamples("instance_norm",
              (S(_BATCH, Arr((4,)), Arr((4,)), None, None, True, 0.1, 1e-5),
               S(Arr((2, 3, 2, 2)), None, None, None, None, True, 0.1, 1e-3)),
              _instance, torch="", layouts=False, strides=False),
    OpSamples("embedding_bag_parts",
              (S(Arr((5, 3)), _INDEX, _OFFSETS, None, "sum", -1, False),
               S(Arr((5, 3)), _INDEX, _OFFSETS, None, "mean", 2, False),
               S(Arr((5, 3)), _INDEX, _OFFSETS, None, "max", -1, False),
               S(Arr((5, 3)), _INDEX, _OFFSETS, Arr((7,)), "sum", -1, False)),
              _bags, torch="", layouts=False),
    OpSamples("fused_attention",
              (S(*_QKV, None, False, 0.5), S(*_QKV, None, True, 0.5),
               S(*_QKV, Arr((5, 6), grad=False), False, 0.3),
               S(Arr((140, 4)), Arr((300, 4)), Arr((300, 3)), None, False, 0.5)),
              _attention, torch="", grad=False),
)  # fmt: skip

_BAD = (
    OpErrors("prelu", (Bad(S(_X, Arr((3,))), RuntimeError, "channel size"),)),
    OpErrors("glu", (Bad(S(Arr((3, 5))), RuntimeError, "even"),
                     Bad(S(Arr(())), RuntimeError, "0-dim"))),
    OpErrors("softshrink", (Bad(S(_X, -0.5), RuntimeError, "lambda"),)),
    OpErrors("pdist", (Bad(S(_BATCH), RuntimeError, "2D"),)),
    OpErrors("linear", (
        Bad(S(Arr((2, 3)), Arr((4, 2))), RuntimeError, "weight", names_op=True),
        Bad(S(Arr((2, 3)), Arr((4, 3)), Arr((3,))), RuntimeError, "bias", names_op=True),
        Bad(S(Arr((2, 3)), Arr((4, 3)), Arr((4,), kind="int")), RuntimeError, "bias"),
    )),
    OpErrors("bilinear", (Bad(S(_X, _X, Arr((2, 3, 3))), RuntimeError, "weight"),)),
    OpErrors("scaled_dot_product_attention",
             (Bad(S(_X, _X, _X, Arr((3, 3)), 0.0, True), RuntimeError, "is_causal"),
              Bad(S(Arr((4,)), _X, _X), RuntimeError, "dimensional"))),
    OpErrors("multi_margin_loss",
             (Bad(S(_X, Arr((2,), 0, 4, "index")), RuntimeError, "target size"),)),
)  # fmt: skip

NN_FUNCTIONS = (*PIECEWISE, *MARGINS, *LAYERS, *_BAD)
