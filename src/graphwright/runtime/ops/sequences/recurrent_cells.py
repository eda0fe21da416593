"""One step of each kind of recurrent cell, op by op.

A cell takes the input's and the hidden state's shares of its gates, [batch, gates * hidden] with
their biases, and the hidden state and cell before. It gives what its gradient reads, the new cell
(None where the kind has none) and the new hidden state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime.ops import functions as ops

GATES = {      # in the order in which kernels number the kinds
    "RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3,
}

Cell = Callable[[Any, Any, Any, Any], tuple[tuple[Any, ...], Any, Any]]


def _lstm(x: Any, own: Any, _hidden: Any, cell: Any) -> tuple[tuple[Any, ...], Any, Any]:
    i, f, g, o = ops.chunk(ops.add(x, own), 4, 1)
    i, f, g, o = ops.sigmoid(i), ops.sigmoid(f), ops.tanh(g), ops.sigmoid(o)
    cell = ops.add(ops.mul(f, cell), ops.mul(i, g))
    return (i, f, g, o), cell, ops.mul(o, ops.tanh(cell))


def _gru(x: Any, own: Any, hidden: Any, _cell: Any) -> tuple[tuple[Any, ...], Any, Any]:
    (x_r, x_z, x_n), (h_r, h_z, h_n) = ops.chunk(x, 3, 1), ops.chunk(own, 3, 1)
    r, z = ops.sigmoid(ops.add(x_r, h_r)), ops.sigmoid(ops.add(x_z, h_z))
    n = ops.tanh(ops.add(x_n, ops.mul(r, h_n)))
    return (r, z, n, h_n), None, ops.add(n, ops.mul(z, ops.sub(hidden, n)))


def _tanh(x: Any, own: Any, _hidden: Any, _cell: Any) -> tuple[tuple[Any, ...], Any, Any]:
    return (), None, ops.tanh(ops.add(x, own))


def _relu(x: Any, own: Any, _hidden: Any, _cell: Any) -> tuple[tuple[Any, ...], Any, Any]:
    return (), None, ops.relu(ops.add(x, own))


CELLS: dict[str, Cell] = {"LSTM": _lstm, "GRU": _gru, "RNN_TANH": _tanh, "RNN_RELU": _relu}
