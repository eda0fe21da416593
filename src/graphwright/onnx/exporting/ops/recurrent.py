"""LSTM, GRU and RNN layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.ir.graph.node import Node
from graphwright.onnx.errors import OnnxExporterError
from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.registry import form
from graphwright.runtime.ops.table import Op

_ORDER = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN_TANH": (0,), "RNN_RELU": (0,)}
"""Where ONNX's gates are among those of the op: i o f c of i f g o, z r h of r z n."""
_ACTIVATIONS = {"RNN_TANH": ["Tanh"], "RNN_RELU": ["Relu"]}


def _ordered(g: Builder, mode: str, value: Value, name: str) -> Value:
    """A matrix or vector with its gates in ONNX's order, and one direction in front."""
    order = _ORDER[mode]
    if value.name in g.constants:
        array, dtype = g.constants[value.name]
        parts = np.split(np.asarray(array), len(order))
        known = np.concatenate([parts[place] for place in order])[None]
        return g.initial(f"{value.name}.{name}", known, dtype)
    gates = g.several(len(order), "Split", value, axis=0, num_outputs=len(order))
    joined = g.op("Concat", *[gates[place] for place in order], axis=0)
    return g.op("Unsqueeze", joined, [0])


def _is_call(node: Any, name: str) -> bool:
    return isinstance(node, Node) and isinstance(node.target, Op) and node.target.name == name


def _check_cells(node: Any, last: int) -> None:
    """ONNX has the last cell; its index among all is -1 for the one step it is written as."""
    for part in node.users:
        place = part.args[1]
        if place == 2 and part.users:
            raise OnnxExporterError("the gates of a recurrent layer have no ONNX form")
        if place == 1 and not all(_is_call(user, "select") and tuple(user.args[1:]) == (0, last)
                                  for user in part.users):
            raise OnnxExporterError("the cells of all steps of an LSTM have no ONNX form; the "
                                    "last cell has")


@form("recurrence")
def _recurrence(
    g: Builder, out: Any, mode: str, input: Value, hidden: Value, cell: Value | None,
    weight: Value, bias: Value | None, matrix: Value | None = None, shift: Value | None = None,
    reverse: bool = False, save: bool = True,
) -> tuple[Value, Value | None, None]:
    _check_cells(g.node, 0 if reverse or not save else -1)
    dtype, (width, count) = input.dtype, weight.shape
    if matrix is None:
        matrix = g.constant(np.eye(int(width)), dtype)
    own = _ordered(g, mode, weight, "recurrent")
    none = g.constant(np.zeros(int(width)), dtype)
    both = None
    if shift is not None or bias is not None:
        parts = [_ordered(g, mode, none if one is None else one, name)
                 for one, name in ((shift, "input"), (bias, "recurrent"))]
        both = g.op("Concat", *parts, axis=1)
    start = g.op("Unsqueeze", hidden, [0])
    first = None if cell is None else g.op("Unsqueeze", cell, [0])
    kind = mode.partition("_")[0]
    made = g.several(
        3 if kind == "LSTM" else 1, kind, input, _ordered(g, mode, matrix, "input"), own, both,
        None, start, first, hidden_size=int(count), activations=_ACTIVATIONS.get(mode),
        linear_before_reset=1 if kind == "GRU" else None,
        direction="reverse" if reverse else None)
    g.unlike.add(1)
    return g.op("Squeeze", made[0], [1]), made[2] if kind == "LSTM" else None, None


