"""Random numbers: the runtime's own, which are not those of graphwright's generators."""

from __future__ import annotations

from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.ops.joining import filled
from graphwright.onnx.exporting.registry import form
from graphwright.runtime.tensor import dtypes

DRAWING = frozenset(["rand", "randn", "dropout", "native_dropout", "bernoulli"])
"""Ops whose forms draw numbers."""


@form("rand")
def _rand(g: Builder, out: Any, *rest: Any) -> Value:
    return g.op("RandomUniformLike", filled(g, 0.0, out.dtype, out.shape))


@form("randn")
def _randn(g: Builder, out: Any, *rest: Any) -> Value:
    return g.op("RandomNormalLike", filled(g, 0.0, out.dtype, out.shape))


@form("native_dropout")
def _native_dropout(g: Builder, out: Any, x: Value, p: float) -> tuple[Value, Value]:
    value, mask = g.several(2, "Dropout", x, g.constant(p, dtypes.float32),
                            g.constant(True, dtypes.bool))
    return value, Value(mask.name, dtypes.bool)


@form("dropout", accepts=lambda x, p, train: train and p > 0)
def _dropout(g: Builder, out: Any, x: Value, p: float, train: bool) -> Value:
    return _native_dropout(g, out, x, p)[0]


@form("bernoulli", accepts=lambda x, p, generator: p is None)
def _bernoulli(g: Builder, out: Any, x: Value, p: None, generator: Any) -> Value:
    return g.op("Bernoulli", x)


