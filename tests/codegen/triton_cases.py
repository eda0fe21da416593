"""The functions whose Triton kernels are tested: tiny shapes, the interpreter is slow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import graphwright as gw

F = gw.nn.functional
_RNG = np.random.default_rng(0)


def _f32(*shape: int) -> np.ndarray:
    return _RNG.standard_normal(shape).astype("f4")


def _layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    return F.layer_norm(x, (x.shape[-1],), weight, bias)


def _chain(x: Any, y: Any) -> Any:
    return gw.sigmoid(gw.tanh(gw.exp(x * 0.5) + y) * 1.5 - x)


def _bf16(*shape: int) -> np.ndarray:
    return _RNG.standard_normal(shape).astype(gw.bfloat16.numpy)


CASES: dict[str, tuple[Callable[..., Any], list[np.ndarray], float]] = {
    "gelu": (F.gelu, [_f32(4, 40)], 1e-6),
    "chain": (_chain, [_f32(4, 40), _f32(4, 40)], 2e-6),
    "softmax": (lambda x: gw.softmax(x, dim=-1), [_f32(4, 40)], 1e-6),
    "log_softmax": (lambda x: gw.log_softmax(x, dim=-1), [_f32(4, 40)], 2e-6),
    "layer_norm": (_layer_norm, [_f32(4, 40), _f32(40), _f32(40)], 5e-6),
    "row_sum": (lambda x: gw.relu(x).sum(-1), [_f32(4, 40)], 2e-6),
    "column_sum": (lambda x: x.sum(0), [_f32(4, 40)], 2e-6),
    "bfloat16": (F.gelu, [_bf16(4, 40)], 2.0**-7),
    "bfloat16_softmax": (lambda x: gw.softmax(x, dim=-1), [_bf16(4, 40)], 2.0**-7),
    "where": (lambda x: gw.where(x > 0, x, x * 0.1), [_f32(4, 40)], 0.0),
}
