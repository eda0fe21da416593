"""Samples of the neural network ops; references are written out in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from .sample import Arr, OpSamples, S

Array = np.ndarray[Any, Any]


def _unary(name: str, reference: Any, *options: Any) -> OpSamples:
    shapes = ((3, 4), (2, 3, 4), (0, 3), (), (5,))
    samples = [S(Arr(shape)) for shape in shapes]
    if options:
        samples.append(S(Arr((3, 4)), *options))
    return OpSamples(name, tuple(samples), reference, torch="")


def _unary_backward(name: str, slope: Any, *options: Any) -> OpSamples:
    shapes = ((3, 4), (0, 3), ())
    samples = tuple(S(Arr(shape), Arr(shape), *options) for shape in shapes)
    return OpSamples(name, samples, lambda g, x, *o: g * slope(x, *o), torch="")


def _gelu(x: Array, approximate: str = "none") -> Array:
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x * special.ndtr(x)


def _gelu_slope(x: Array, approximate: str) -> Array:
    if approximate == "tanh":
        return np.imag(_gelu(x + 1e-30j, approximate)) / 1e-30
    return special.ndtr(x) + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)


def _silu_slope(x: Array) -> Array:
    s = special.expit(x)
    return s + x * s * (1 - s)


_GELU = OpSamples(
    "gelu",
    (S(Arr((3, 4))), S(Arr((2, 3, 4)), approximate="tanh"), S(Arr((0, 3))), S(Arr(()))),
    _gelu,
    torch="",
)

ACTIVATIONS = (
    _GELU,
    _unary("silu", lambda x: x * special.expit(x)),
    _unary("leaky_relu", lambda x, slope=0.01: np.where(x > 0, x, slope * x), 0.2),
    _unary("elu", lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x)), 0.7),
    _unary("hardtanh", lambda x, low=-1, high=1: np.clip(x, low, high), -0.5, 0.7),
    _unary(
        "softplus",
        lambda x, beta=1, top=20: np.where(x * beta > top, x, np.log1p(np.exp(beta * x)) / beta),
        3.0,
        4.0,
    ),
    _unary("logsigmoid", special.log_expit),
    OpSamples(
        "gelu_backward",
        (S(Arr((3, 4)), Arr((3, 4)), "none"), S(Arr((3, 4)), Arr((3, 4)), "tanh")),
        lambda g, x, approximate: g * _gelu_slope(x, approximate),
        torch="",
    ),
    _unary_backward("silu_backward", _silu_slope),
)


# Softmax

_ROWS = (S(Arr((3, 4)), 1), S(Arr((3, 4)), 0), S(Arr((2, 3, 4)), -2), S(Arr(()), 0),
         S(Arr((0, 3)), 1), S(Arr((3, 0)), 1), S(Arr((5,)), -1))  # fmt: skip


def _softmax_backward(grad: Array, out: Array, dim: int) -> Array:
    return out * (grad - (grad * out).sum(dim, keepdims=True))


def _log_softmax_backward(grad: Array, out: Array, dim: int) -> Array:
    return grad - np.exp(out) * grad.sum(dim, keepdims=True)


_BACKWARD_ROWS = (
    S(Arr((3, 4)), Arr((3, 4), 0, 1), 1),
    S(Arr((2, 3, 4)), Arr((2, 3, 4), 0, 1), 0),
    S(Arr((0, 3)), Arr((0, 3)), 1),
)

SOFTMAX = (
    OpSamples("softmax", _ROWS, lambda x, dim: special.softmax(x, dim) if x.size else x,
              halves=True),
    OpSamples("log_softmax", _ROWS, lambda x, dim: special.log_softmax(x, dim) if x.size else x,
              halves=True),
    OpSamples("softmax_backward", _BACKWARD_ROWS, _softmax_backward, torch=""),
    OpSamples("log_softmax_backward", _BACKWARD_ROWS, _log_softmax_backward, torch=""),
)  # fmt: skip


# Losses


def _reduce(loss: Array, reduction: str) -> Any:
    if reduction == "none":
        return loss
    return loss.sum() if reduction == "sum" else loss.sum() / (loss.size or np.nan)


def _elementwise_loss(name: str, loss: Any, low: float = -2.0, high: float = 2.0) -> OpSamples:
    def reference(x: Array, t: Array, reduction: str = "mean", **options: Any) -> Any:
        return _reduce(loss(x, t, **options), reduction)

    def pair(shape: tuple[int, ...], other: tuple[int, ...], *rest: Any) -> Any:
        return S(Arr(shape, low, high), Arr(other, 0.1, 0.9), *rest)

    samples = (
        pair((3, 4), (3, 4)),
        pair((3, 4), (3, 4), *_reduction_argument(name, "none")),
        pair((2, 3), (2, 3), *_reduction_argument(name, "sum")),
        pair((0, 3), (0, 3)),
    )
    return OpSamples(name, samples, reference if _plain(name) else None, torch="")


def _plain(name: str) -> bool:
    return not name.startswith("binary")


def _reduction_argument(name: str, reduction: str) -> tuple[Any, ...]:
    gaps = {"binary_cross_entropy": 1, "binary_cross_entropy_with_logits": 2}.get(name, 0)
    return (None,) * gaps + (reduction,)


def _smooth_l1(x: Array, t: Array, beta: float = 1.0) -> Array:
    d = np.abs(x - t)
    return np.where(d < beta, d * d / (2 * beta), d - beta / 2)


def _nll(
    x: Array,
    t: Array,
    weight: Array | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Any:
    dim = 0 if x.ndim == 1 else 1
    weight = np.ones(x.shape[dim]) if weight is None else weight
    w = np.where(t == ignore_index, 0, weight[np.where(t == ignore_index, 0, t)])
    picked = np.take_along_axis(x, np.expand_dims(np.where(w == 0, 0, t), dim), dim)
    loss = -w * np.squeeze(picked, dim)
    if reduction == "mean":
        return loss.sum() / (w.sum() or np.nan)
    return _reduce(loss, reduction)


def _cross_entropy(x: Array, t: Array, *rest: Any) -> Any:
    dim = 0 if x.ndim == 1 else 1
    log_p = special.log_softmax(x, dim) if x.size else x
    if t.dtype.kind != "f":
        return _nll(log_p, t, *rest)
    return -(log_p * t).sum() / (x.size / x.shape[dim])


def _classes(shape: tuple[int, ...], count: int) -> Arr:
    return Arr(shape, 0, count, "index")


_WEIGHT = Arr((5,), 0.2, 2.0, grad=False)
_TARGETS = (
    S(Arr((6, 5)), _classes((6,), 5)),
    S(Arr((5,)), _classes((), 5)),
    S(Arr((6, 5)), _classes((6,), 5), None, 2, "none"),
    S(Arr((6, 5)), _classes((6,), 5), _WEIGHT, 1, "mean"),
    S(Arr((2, 5, 3)), _classes((2, 3), 5), _WEIGHT, -100, "sum"),
    S(Arr((0, 5)), _classes((0,), 5)),
)


def _nll_backward(
    grad: Array, size: Any, t: Array, weight: Any, ignore_index: int, reduction: str
) -> Array:
    x = np.zeros(size)
    result = np.zeros(size)
    for place in np.ndindex(*size):
        x[place] = 1
        part = _nll(x, t, weight, ignore_index, reduction)
        result[place] = (part * grad).sum()
        x[place] = 0
    return result


LOSSES = (
    _elementwise_loss("mse_loss", lambda x, t: (x - t) ** 2),
    _elementwise_loss("l1_loss", lambda x, t: np.abs(x - t)),
    _elementwise_loss("smooth_l1_loss", _smooth_l1),
    _elementwise_loss("kl_div", lambda x, t: t * (np.log(t) - x)),
    _elementwise_loss("binary_cross_entropy", None, 0.1, 0.9),
    _elementwise_loss("binary_cross_entropy_with_logits", None),
    OpSamples("nll_loss", _TARGETS, _nll, torch=""),
    OpSamples(
        "cross_entropy",
        (*_TARGETS, S(Arr((3, 5)), Arr((3, 5), 0.0, 1.0))),
        _cross_entropy,
        torch="",
    ),
    OpSamples(
        "nll_loss_backward",
        (
            S(Arr(()), (6, 5), _classes((6,), 5), None, 2, "mean"),
            S(Arr(()), (2, 5, 3), _classes((2, 3), 5), _WEIGHT, -100, "sum"),
            S(Arr((6,)), (6, 5), _classes((6,), 5), _WEIGHT, 1, "none"),
        ),
        _nll_backward,
        torch="",
    ),
)


# Norms


def _layer_norm_parts(
    x: Array, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> tuple[Array, Array, Array]:
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    mean = x.mean(axes, keepdims=True)
    rstd = 1 / np.sqrt(x.var(axes, keepdims=True) + eps)
    out = (x - mean) * rstd * (1 if weight is None else weight) + (0 if bias is None else bias)
    return out, mean, rstd


def _group_norm(
    x: Array, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Array:
    grouped = x.reshape(x.shape[0], groups, -1)
    out = _layer_norm_parts(grouped, grouped.shape[2:], eps=eps)[0].reshape(x.shape)
    channels = (-1,) + (1,) * (x.ndim - 2)
    out = out * (1 if weight is None else weight.reshape(channels))
    return out + (0 if bias is None else bias.reshape(channels))


def _rms_norm(x: Array, shape: Any, weight: Any = None, eps: float | None = None) -> Array:
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    eps = 2.0**-52 if eps is None else eps
    return x / np.sqrt((x * x).mean(axes, keepdims=True) + eps) * (1 if weight is None else weight)


def _channels(tensor: Array, ndim: int) -> Array:
    return tensor.reshape((-1,) + (1,) * (ndim - 2))


def _batch_norm_parts(x: Array, weight: Any, bias: Any, eps: float) -> tuple[Array, Array, Array]:
    axes = (0, *range(2, x.ndim))
    mean, variance = x.mean(axes), x.var(axes)
    out = _batch_norm(x, weight, bias, mean, variance, False, 0.1, eps)
    return out, mean, variance


def _batch_norm(
    x: Array,
    weight: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> Array:
    if training:
        return _batch_norm_parts(x, weight, bias, eps)[0]
    out = (x - _channels(mean, x.ndim)) / np.sqrt(_channels(variance, x.ndim) + eps)
    out = out * (1 if weight is None else _channels(weight, x.ndim))
    return out + (0 if bias is None else _channels(bias, x.ndim))


_LAYER = (
    S(Arr((2, 3, 4)), (4,), Arr((4,)), Arr((4,)), 1e-5),
    S(Arr((2, 3, 4)), (3, 4), Arr((3, 4)), None, 1e-3),
    S(Arr((3, 4)), (4,), None, None, 1e-5),
    S(Arr((0, 4)), (4,), Arr((4,)), Arr((4,)), 1e-5),
)
_C = Arr((3,))
_VARIANCE = Arr((3,), 0.5, 2.0)
_GIVEN = Arr((3,), grad=False), Arr((3,), 0.5, 2.0, grad=False)   # statistics, without gradients

NORMS = (
    OpSamples("layer_norm", _LAYER, lambda *a: _layer_norm_parts(*a)[0], torch=""),
    OpSamples("native_layer_norm", _LAYER, _layer_norm_parts, torch="", double_grad=False),
    *(
        OpSamples(
            name,
            (
                S(Arr((3, 4)), Arr((3, 4)), (4,), Arr((4,)), Arr((3, 1)), Arr((3, 1), 0.5, 2)),
                S(Arr((2, 6)), Arr((2, 6)), (6,), None, Arr((2, 1)), Arr((2, 1), 0.5, 2)),
            ),
            None,
            torch="",
        )
        for name in ("layer_norm_backward", "layer_norm_gradients")
    ),
    OpSamples(
        "rms_norm",
        (
            S(Arr((2, 3, 4)), (4,), Arr((4,)), 1e-5),
            S(Arr((2, 3, 4)), (3, 4), None, 1e-3),
            S(Arr((3, 4)), (4,), Arr((4,)), 1e-6),
        ),
        _rms_norm,
        torch="",
    ),
    OpSamples(
        "group_norm",
        (S(Arr((2, 4, 3)), 2, Arr((4,)), Arr((4,))), S(Arr((2, 6, 2, 2)), 3)),
        _group_norm,
        torch="",
    ),
    OpSamples(
        "group_norm_backward",
        (
            S(Arr((2, 4, 3)), Arr((2, 4, 3)), 2, Arr((4,)), 1e-5),
            S(Arr((2, 6, 2, 2)), Arr((2, 6, 2, 2)), 3, None, 1e-3),
        ),
        None,
        torch="",
    ),
    OpSamples(
        "batch_norm",
        (
            S(Arr((4, 3, 2)), _C, _C, None, None, True, 0.1, 1e-5),
            S(Arr((4, 3)), None, None, None, None, True, 0.1, 1e-3),
            S(Arr((4, 3, 2, 2)), _C, _C, *_GIVEN, False, 0.1, 1e-5),
            S(Arr((0, 3)), None, None, *_GIVEN, False, 0.1, 1e-5),
        ),
        _batch_norm,
        torch="",
        strides=False,
        layouts=False,
    ),
    OpSamples(
        "batch_norm_train",
        (S(Arr((4, 3, 2)), _C, _C, 1e-5), S(Arr((5, 3)), None, None, 1e-3)),
        _batch_norm_parts,
        torch="",
        double_grad=False,
    ),
    OpSamples(
        "batch_norm_backward",
        (
            S(Arr((4, 3, 2)), Arr((4, 3, 2)), _C, _C, _VARIANCE),
            S(Arr((4, 3)), Arr((4, 3)), None, _C, _VARIANCE),
        ),
        None,
        torch="",
    ),
)


# Layers


def _linear(x: Array, w: Array, b: Any = None) -> Array:
    return x @ w.T + (0 if b is None else b)


def _embedding_backward(
    grad: Array, index: Array, rows: int, padding_idx: int, by_frequency: bool
) -> Array:
    out = np.zeros((rows, grad.shape[-1]))
    for place in np.ndindex(*index.shape):
        if index[place] != padding_idx:
            out[index[place]] += grad[place] / (index == index[place]).sum() ** by_frequency
    return out


def _attention(q: Array, k: Array, v: Array, mask: Any = None, p: float = 0, causal: bool = False,
               scale: Any = None) -> Array:  # fmt: skip
    scores = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        mask = np.tril(np.ones(scores.shape[-2:], bool))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    return special.softmax(scores, -1) @ v


_QKV = (Arr((2, 3, 4)), Arr((2, 5, 4)), Arr((2, 5, 2)))

LAYERS = (
    OpSamples(
        "linear",
        (
            S(Arr((3, 4)), Arr((2, 4)), Arr((2,))),
            S(Arr((2, 3, 4)), Arr((2, 4))),
            S(Arr((4,)), Arr((2, 4)), Arr((2,))),
            S(Arr((0, 4)), Arr((2, 4)), Arr((2,))),
            S(Arr((3, 4)), Arr((4,))),
            S(Arr((4,)), Arr((4,)), Arr(())),
            S(Arr((3, 4)), Arr((2, 4)), Arr((1,))),
            S(Arr((3, 4)), Arr((2, 4)), Arr((3, 2))),
            S(Arr((2, 3, 4)), Arr((2, 4)), Arr((3, 2))),
        ),
        _linear,
        torch="",
    ),
    OpSamples(
        "embedding",
        (S(Arr((5, 3)), _classes((2, 4), 5)), S(Arr((5, 3)), _classes((), 5)),
         S(Arr((5, 3)), _classes((0,), 5))),
        lambda w, i: w[i],
        torch="",
    ),
    OpSamples(
        "embedding_backward",
        (S(Arr((2, 4, 3)), _classes((2, 4), 5), 5, -1, False),
         S(Arr((6, 2)), _classes((6,), 4), 4, 1, False),
         S(Arr((6, 2)), _classes((6,), 4), 4, -1, True)),
        _embedding_backward,
        torch="",
    ),
    OpSamples(
        "scaled_dot_product_attention",
        (
            S(*_QKV),
            S(*_QKV, Arr((3, 5))),
            S(Arr((2, 3, 4)), Arr((2, 3, 4)), Arr((2, 3, 4)), is_causal=True, scale=0.4),
        ),
        lambda *a, is_causal=False, scale=None: _attention(*a, causal=is_causal, scale=scale),
        torch="",
    ),
)  # fmt: skip

NN = (*ACTIVATIONS, *SOFTMAX, *LOSSES, *NORMS, *LAYERS)
