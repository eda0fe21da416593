"""All steps of one direction of a recurrent layer, as one op."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core, blas
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.nn_support import Array, compute, finish, internal, output, spec
from graphwright.runtime.ops.sequences.recurrent_cells import CELLS
from graphwright.runtime.ops.table import Kind
from graphwright.runtime.tensor.tensor import Tensor

blas.prepare()

_KEPT = {"RNN_TANH": 0, "RNN_RELU": 0, "LSTM": 4, "GRU": 4}     # activations that gradients read


def _meta(
    mode: str, gates: Any, hidden: Any, cell: Any, weight: Any, bias: Any
) -> Any:
    lead, size = tuple(gates.shape[:2]), weight.shape[1]
    cells = (*lead, size) if mode == "LSTM" else (0,)
    kept = (*lead, _KEPT[mode] * size) if _KEPT[mode] else (0,)
    return spec((*lead, size), gates), spec(cells, gates), spec(kept, gates)


def _dense(tensor: Tensor | None, dtype: Any) -> Array:
    """The values row by row; an empty array for what a kind does not have."""
    return np.empty(0, dtype) if tensor is None else np.ascontiguousarray(compute(tensor))


def _eager(
    mode: str,
    gates: Tensor,
    hidden: Tensor,
    cell: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
) -> tuple[Tensor, ...]:
    specs = _meta(mode, gates, hidden, cell, weight, bias)
    results = [output(s.shape, gates.dtype) for s in specs]
    x = _dense(gates, None)
    shares = np.zeros(len(weight), x.dtype) if bias is None else _dense(bias, None)
    first, first_cell, matrix = (_dense(t, x.dtype) for t in (hidden, cell, weight))
    out, cells, kept = (array for _, array in results)
    _core.recurrence(mode, x, first, first_cell, matrix, shares, out, cells, kept)
    return tuple(finish(tensor, array) for tensor, array in results)


def _vjp(ctx: Any, grad: Any, grad_cells: Any, grad_kept: Any) -> Any:
    """The last cell is read from outside; the other cells and what is kept are not."""
    out, hidden, weight = ctx.out0, ctx.hidden, ctx.weight
    last = None if grad_cells is None else ops.select(grad_cells, 0, -1)
    to_gates, to_own, to_hidden, to_cell = ops.recurrence_backward(
        ops.zeros_like(out) if grad is None else grad,
        last,
        ctx.mode,
        ctx.gates,
        hidden,
        ctx.cell,
        weight,
        ctx.bias,
        out,
        ctx.out1,
        ctx.out2,
    )
    own = ops.reshape(to_own if ctx.mode == "GRU" else to_gates, (-1, weight.shape[0]))
    before = ops.cat([ops.unsqueeze(hidden, 0), ops.narrow(out, 0, 0, out.shape[0] - 1)])
    to_weight = ops.matmul(ops.t(own), ops.reshape(before, (-1, weight.shape[1])))
    to_bias = None if ctx.bias is None else ops.sum(own, 0)
    return (
        to_gates,
        to_hidden,
        None if ctx.cell is None else to_cell,
        to_weight,
        to_bias,
    )


def _backward_meta(
    grad: Any, last: Any, mode: str, gates: Any, hidden: Any, cell: Any, *rest: Any
) -> Any:
    """The state's share of the gates has a gradient of its own in a GRU only."""
    none, state, wide = (spec(s, hidden) for s in ((0,), hidden.shape, gates.shape))
    own = wide if mode == "GRU" else none
    return wide, own, state, state if mode == "LSTM" else none


def _backward_eager(
    grad: Tensor,
    last: Tensor | None,
    mode: str,
    gates: Tensor,
    hidden: Tensor,
    cell: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    out: Tensor,
    cells: Tensor,
    kept: Tensor,
) -> tuple[Tensor, ...]:
    slopes = _dense(grad, None)
    results = [output(s.shape, gates.dtype) for s in _backward_meta(
        grad, last, mode, gates, hidden, cell)]
    to_gates, to_own, to_hidden, to_cell = (array for _, array in results)
    to_hidden[...] = 0
    to_cell[...] = 0 if last is None else compute(last)
    first, first_cell, matrix, hiddens, states, activations = (
        _dense(t, slopes.dtype) for t in (hidden, cell, weight, out, cells, kept)
    )
    own = to_own if mode == "GRU" else to_gates
    _core.recurrence_backward(
        mode, slopes, first, first_cell, matrix, hiddens, states, activations,
        to_gates, own, to_hidden, to_cell,
    )  # fmt: skip
    return tuple(finish(tensor, array) for tensor, array in results)


def _steps(
    mode: str, gates: Any, hidden: Any, cell: Any, weight: Any, bias: Any
) -> tuple[list[Any], list[Any], list[Any]]:
    """What each step computes, op by op: activations, cells, hidden states."""
    activations, cells, states = [], [cell], [hidden]
    for x in ops.unbind(gates, 0):
        own = ops.linear(states[-1], weight, bias)
        kept, cell, hidden = CELLS[mode](x, own, states[-1], cells[-1])
        activations.append(kept)
        cells.append(cell)
        states.append(hidden)
    return activations, cells, states


def _decompose(
    mode: str, gates: Any, hidden: Any, cell: Any, weight: Any, bias: Any
) -> tuple[Any, Any, Any]:
    activations, cells, states = _steps(mode, gates, hidden, cell, weight, bias)
    none = ops.zeros((0,), dtype=gates.dtype, device=gates.device)
    kept = none
    if _KEPT[mode]:
        kept = ops.stack([ops.cat(list(each), 1) for each in activations])
    return ops.stack(states[1:]), ops.stack(cells[1:]) if mode == "LSTM" else none, kept


def _through_sigmoid(slope: Any, y: Any) -> Any:
    return ops.mul(slope, ops.mul(y, ops.rsub(y, 1)))


def _through_tanh(slope: Any, y: Any) -> Any:
    return ops.mul(slope, ops.rsub(ops.mul(y, y), 1))


def _lstm_back(slope: Any, kept: Any, before: Any, cells: Any, to_cell: Any) -> Any:
    i, f, g, o = kept
    t = ops.tanh(cells[1])
    to_cell = ops.add(to_cell, _through_tanh(ops.mul(slope, o), t))
    to_gates = ops.cat([
        _through_sigmoid(ops.mul(to_cell, g), i),
        _through_sigmoid(ops.mul(to_cell, cells[0]), f),
        _through_tanh(ops.mul(to_cell, i), g),
        _through_sigmoid(ops.mul(slope, t), o),
    ], 1)
    return to_gates, to_gates, None, ops.mul(to_cell, f)


def _gru_back(slope: Any, kept: Any, before: Any, _cells: Any, to_cell: Any) -> Any:
    r, z, n, candidate = kept
    to_new = _through_tanh(ops.mul(slope, ops.rsub(z, 1)), n)
    to_reset = _through_sigmoid(ops.mul(to_new, candidate), r)
    to_update = _through_sigmoid(ops.mul(slope, ops.sub(before, n)), z)
    to_own = ops.cat([to_reset, to_update, ops.mul(to_new, r)], 1)
    return ops.cat([to_reset, to_update, to_new], 1), to_own, ops.mul(slope, z), to_cell


def _plain_back(mode: str, slope: Any, y: Any) -> Any:
    return ops.mul(slope, ops.gt(y, 0)) if mode == "RNN_RELU" else _through_tanh(slope, y)


def _backward_decompose(
    grad: Any,
    last: Any,
    mode: str,
    gates: Any,
    hidden: Any,
    cell: Any,
    weight: Any,
    bias: Any,
    out: Any,
    cells: Any,
    kept: Any,
) -> Any:
    """From the gates and the first state alone, so that it can be differentiated again."""
    activations, all_cells, states = _steps(mode, gates, hidden, cell, weight, bias)
    slope: Any = ops.zeros_like(hidden)
    to_cell: Any = ops.zeros_like(hidden) if last is None else last
    all_gates, all_own = [], []
    for t in range(len(activations) - 1, -1, -1):
        slope = ops.add(slope, ops.select(grad, 0, t))
        if mode == "LSTM":
            step = _lstm_back(slope, activations[t], None, all_cells[t : t + 2], to_cell)
        elif mode == "GRU":
            step = _gru_back(slope, activations[t], states[t], None, to_cell)
        else:
            through = _plain_back(mode, slope, states[t + 1])
            step = through, through, None, to_cell
        to_gates, to_own, rest, to_cell = step
        slope = ops.matmul(to_own, weight)
        slope = slope if rest is None else ops.add(slope, rest)
        all_gates.append(to_gates)
        all_own.append(to_own)
    none = ops.zeros(0, dtype=hidden.dtype, device=hidden.device)
    own = ops.stack(all_own[::-1]) if mode == "GRU" else none
    return ops.stack(all_gates[::-1]), own, slope, to_cell if mode == "LSTM" else none


internal(
    "recurrence(str mode, Tensor gates, Tensor hidden, Tensor? cell, Tensor weight, Tensor? bias)",
    Kind.OTHER,
    meta=_meta,
    vjp=_vjp,
    saves=("gates", "hidden", "cell", "weight", "bias", "out0", "out1", "out2"),
    decompose=_decompose,
    eager=_eager,
    tags=("whole",),
)
internal(
    "recurrence_backward(Tensor grad, Tensor? last, str mode, Tensor gates, Tensor hidden, "
    "Tensor? cell, Tensor weight, Tensor? bias, Tensor out, Tensor cells, Tensor kept)",
    Kind.OTHER,
    meta=_backward_meta,
    decompose=_backward_decompose,
    eager=_backward_eager,
    tags=("whole",),
)
