"""Functions of every kind, with inputs, that kernels for GPUs are tested with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import graphwright as gw

from ..lowered import tensor

F = gw.nn.functional
_RNG = np.random.default_rng(5)


def floats(*shape: int, dtype: Any = None) -> gw.Tensor:
    made = tensor(_RNG.standard_normal(shape).astype("f4"))
    return made if dtype is None else made.to(dtype)


def integers(low: int, high: int, *shape: int, dtype: Any = None) -> gw.Tensor:
    made = tensor(_RNG.integers(low, high, shape))
    return made if dtype is None else made.to(dtype)


def _adam(p: Any, g: Any, m: Any, v: Any) -> Any:
    m, v = m * 0.9 + g * 0.1, v * 0.999 + g * g * 0.001
    return p - 1e-3 * m / (gw.sqrt(v) + 1e-8), m, v


def _attention(q: Any, k: Any, v: Any) -> Any:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


Case = tuple[Callable[..., Any], list[gw.Tensor]]
INDEX = integers(0, 20, 50)

CASES: dict[str, Case] = {
    "chain": (lambda x, y: gw.sigmoid(gw.tanh(gw.exp(x * 0.5) + y) - x),
              [floats(6, 100), floats(6, 100)]),
    "transposed": (lambda x, b: (x.t() + b[:, None]) * 2, [floats(40, 70), floats(70)]),
    "functions": (lambda x, y: (gw.atan2(x, y), gw.expm1(x), gw.log1p(gw.abs(x)), gw.erf(x),
                                gw.tan(x), F.gelu(x), gw.rsqrt(gw.abs(x)), gw.pow(gw.abs(x), y)),
                  [floats(300), floats(300)]),
    "softmax": (lambda x: gw.softmax(x, -1), [floats(9, 100)]),
    "log_softmax of columns": (lambda x: gw.log_softmax(x, 0), [floats(30, 70)]),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (100,), w, b),
                   [floats(9, 100), floats(100), floats(100)]),
    "batch_norm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
                   [floats(4, 6, 5, 7), floats(6), floats(6)]),
    "std": (lambda x: gw.std(x, -1), [floats(5, 300)]),
    "column sums": (lambda x: x.sum(0), [floats(300, 40)]),
    "sum of all": (lambda x: x.sum(), [floats(300, 400)]),
    "mean of two axes": (lambda x: x.mean((0, 2)), [floats(6, 5, 70)]),
    "long logcumsumexp": (lambda x: gw.logcumsumexp(x, 0), [floats(17001)]),
    "cumulative": (lambda x: (gw.cumsum(x, -1), gw.cumprod(x, 0), gw.logcumsumexp(x, -1)),
                   [floats(7, 50)]),
    "linear": (lambda x, w, b: F.relu(F.linear(x, w, b)),
               [floats(50, 40), floats(70, 40), floats(70)]),
    "sum of products": (lambda x, y, z: x @ y + y.t() @ z - x @ z,
                        [floats(20, 20), floats(20, 20), floats(20, 20)]),
    "batched product": (lambda x, y: (x @ y.transpose(1, 2)) * 0.5,
                        [floats(3, 20, 33), floats(3, 18, 33)]),
    "attention": (_attention, [floats(2, 30, 16), floats(2, 30, 16), floats(2, 30, 16)]),
    "adam": (_adam, [floats(300), floats(300), floats(300), gw.abs(floats(300))]),
    "embedding": (lambda w, i: F.embedding(i, w) * 2, [floats(30, 8), integers(0, 30, 12)]),
    "random": (lambda x: x + gw.rand(20, 30) + gw.randn(20, 30), [floats(20, 30)]),
}
"""Whose results are floats that are rounded, here and there."""

EXACT: dict[str, Case] = {
    "integer quotients": (lambda x: ((x // 3) % 7 + (x >> 2), gw.fmod(x, 5), x ** 3, x << 3),
                          [integers(-100, 100, 200)]),
    "comparisons": (lambda x: gw.where(x > 0, x.clamp(0, 1), x * 0.5), [floats(300)]),
    "casts": (lambda x: (x.to(gw.int8), x.to(gw.bfloat16), x.to(gw.float16), x.to(gw.bool),
                         x.to(gw.float64)), [floats(300) * 50]),
    "bool": (lambda x, y: (x & ~y, x | y, x ^ y, x.any(), x.all(0), x < y),
             [integers(0, 2, 9, 20, dtype=gw.bool), integers(0, 2, 9, 20, dtype=gw.bool)]),
    "extremes": (lambda x: (x.amax(-1), x.argmax(-1), x.argmin(0)), [floats(20, 33)]),
    "integer extremes": (lambda x: (x.amax(-1), x.amin(0), x.sum(0)), [integers(-9, 9, 20, 33)]),
    "long argmax": (lambda x: x.argmax(-1), [floats(2, 40000)]),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2), [floats(2, 3, 8, 8)]),
    "gather": (lambda x, i: gw.gather(x, 1, i), [floats(9, 30), integers(0, 30, 9, 7)]),
    "index": (lambda x, i: x[i] + 1, [floats(30, 8), integers(-30, 30, 12)]),
    "cat": (lambda x, y: gw.cat([x, y], 1)[:, 5:].relu(), [floats(9, 30), floats(9, 20)]),
    "sort": (lambda x: gw.sort(x, -1), [integers(0, 9, 6, 33)]),
    "topk": (lambda x: gw.topk(x, 5), [floats(6, 33)]),
    "signs of zeros": (lambda x: 1 / -x, [tensor(np.array([0.0, -0.0, 2.0], "f4"))]),
    "cummax": (lambda x: gw.cummax(x, -1), [integers(0, 9, 6, 33)]),
    "long scans": (lambda x: (gw.cumsum(x, 0), *gw.cummax(x, 0)), [integers(0, 999, 17001)]),
    "long rows' scans": (lambda x: gw.cumprod(x, 1), [integers(-1, 2, 2, 17001)]),
    "flip and roll": (lambda x: gw.roll(x.flip(0), 3, 1), [floats(9, 20)]),
    "dropout": (lambda x: F.dropout(x, 0.3, True) * 2, [floats(20, 30)]),
    "empty": (lambda x: (x + 1, x.sum(), x.sum(0)), [floats(0, 5)]),
    "one number": (lambda x: (x + 1, x.sum(), gw.softmax(x, 0)), [floats(1)]),
}
"""Whose results are equal in each bit."""


def _rotated(x: Any, angles: Any) -> Any:
    """Rotary positions."""
    first, second = x.chunk(2, -1)
    turned = gw.cat([-second, first], -1)
    return x * gw.cos(angles) + turned * gw.sin(angles)


def _two_layers(x: Any, first: Any, second: Any) -> Any:
    return gw.tanh(F.gelu(x @ first) @ second).sum(-1)


COMPOSED: dict[str, Case] = {
    "exact gelu": (lambda x: F.gelu(x), [floats(300)]),
    "long softmax": (lambda x: gw.softmax(x, -1), [floats(2, 9000)]),
    "rms_norm": (lambda x, w: F.rms_norm(x, (100,), w), [floats(9, 100), floats(100)]),
    "cross_entropy": (lambda x, y: F.cross_entropy(x, y), [floats(9, 30), integers(0, 30, 9)]),
    "two layers": (_two_layers, [floats(20, 16), floats(16, 24), floats(24, 8)]),
    "convolution": (lambda x, w, b: F.relu(F.conv2d(x, w, b, padding=1)),
                    [floats(2, 3, 6, 7), floats(4, 3, 3, 3), floats(4)]),
    "attention written out": (
        lambda q, k, v: gw.softmax(q @ k.transpose(-1, -2) / 4.0, -1) @ v,
        [floats(2, 12, 16), floats(2, 12, 16), floats(2, 12, 16)]),
    "rotary positions": (_rotated, [floats(2, 9, 16), floats(9, 16)]),
    "scatter_add": (lambda x, i, v: x.scatter_add(0, i, v),
                    [floats(9, 5), integers(0, 9, 12, 5), floats(12, 5)]),
    "index_put": (lambda x, i, v: x.index_put((i,), v, accumulate=True),
                  [floats(20, 6), INDEX, floats(50, 6)]),
}
"""Compositions, whose kernels are tested as parts of compiled functions."""
