"""Random numbers: the runtime's own, which are not those of graphwright's generators."""

from __future__ import annotations

from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.ops.joining import filled
from graphwright.onnx.exporting.registry import form, forms
from graphwright.runtime.tensor import dtypes

DRAWING = frozenset(["rand", "randn", "dropout", "native_dropout", "bernoulli"])
"""Ops whose forms draw numbers."""


forms({
    "rand": lambda g, out, *rest: g.op(
        "RandomUniformLike", filled(g, 0.0, out.dtype, out.shape)),
    "randn": lambda g, out, *rest: g.op(
        "RandomNormalLike", filled(g, 0.0, out.dtype, out.shape)),
})
forms({"bernoulli": lambda g, out, x, p, generator: g.op("Bernoulli", x)},
      accepts=lambda x, p, generator: p is None)


@form("native_dropout")
def _native_dropout(g: Builder, out: Any, x: Value, p: float) -> tuple[Value, Value]:
    value, mask = g.several(2, "Dropout", x, g.constant(p, dtypes.float32),
                            g.constant(True, dtypes.bool))
    return value, Value(mask.name, dtypes.bool)


@form("dropout", accepts=lambda x, p, train: train and p > 0)
def _dropout(g: Builder, out: Any, x: Value, p: float, train: bool) -> Value:
    return _native_dropout(g, out, x, p)[0]
