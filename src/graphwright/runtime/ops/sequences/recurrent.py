"""All steps of one direction of a recurrent layer, as one op."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core, blas
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.kernels import compute_type
from graphwright.runtime.ops.nn_support import (
    Array,
    compute,
    finish,
    internal,
    output,
    spec,
)
from graphwright.runtime.ops.sequences.recurrent_cells import CELLS, GATES
from graphwright.runtime.ops.table import Kind
from graphwright.runtime.tensor.tensor import Tensor

blas.prepare()

_SAVED = {"RNN_TANH": 0, "RNN_RELU": 0, "LSTM": 4, "GRU": 4}    # activations that backward reads


def _check(
    mode: str, input: Any, hidden: Any, cell: Any, weight: Any, bias: Any, input_weight: Any,
    input_bias: Any,
) -> None:
    """Raises ValueError for sizes that do not fit together, several dtypes, or no cell."""
    if input.ndim != 3 or weight.ndim != 2:
        raise ValueError(
            "recurrence(): input must be [steps, batch, width] and weight [gates * hidden, "
            f"hidden], but they are {describe(input)} and {describe(weight)}")
    size = weight.shape[1]
    wide, state = GATES[mode] * size, (input.shape[1], size)
    width = input.shape[2] if input_weight is not None else wide
    wanted = {
        "input": (input, (*input.shape[:2], width)), "hidden": (hidden, state),
        "cell": (cell if mode == "LSTM" else None, state), "weight": (weight, (wide, size)),
        "bias": (bias, (wide,)), "input_weight": (input_weight, (wide, width)),
        "input_bias": (input_bias, (wide,)),
    }
    if mode == "LSTM" and cell is None:
        raise ValueError("recurrence(): cell of a LSTM must be given")
    for name, (given, shape) in wanted.items():
        if given is not None and (tuple(given.shape) != shape or given.dtype is not input.dtype):
            raise ValueError(
                f"recurrence(): {name} of a {mode} must be {input.dtype} {list(shape)}, but it is "
                f"{describe(given)}")


def _meta(
    mode: str, input: Any, hidden: Any, cell: Any, weight: Any, bias: Any, input_weight: Any,
    input_bias: Any, reverse: bool, save: bool,
) -> Any:
    _check(mode, input, hidden, cell, weight, bias, input_weight, input_bias)
    lead, size = tuple(input.shape[:2]), weight.shape[1]
    cells = (lead[0] if save else 1, lead[1], size) if mode == "LSTM" else (0,)
    saved = (*lead, _SAVED[mode] * size) if save and _SAVED[mode] else (0,)
    return spec((*lead, size), input), spec(cells, input), spec(saved, input)


def _dense(tensor: Tensor | None, dtype: Any) -> Any:
    """The values row by row; None for what a kind does not have."""
    return None if tensor is None else np.ascontiguousarray(compute(tensor), dtype)


def _eager(
    mode: str,
    input: Tensor,
    hidden: Tensor,
    cell: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    input_weight: Tensor | None,
    input_bias: Tensor | None,
    reverse: bool,
    save: bool,
) -> tuple[Tensor, ...]:
    read = (input, hidden, cell, weight, bias, input_weight, input_bias)
    specs = _meta(mode, *read, reverse, save)
    results = [output(s.shape, input.dtype) for s in specs]
    given = [_dense(t, compute(input).dtype) for t in read]
    _run("recurrence", mode, input, weight, reverse, save, results, given)
    return tuple(finish(tensor, array) for tensor, array in results)


def _run(
    routine: str, mode: str, input: Tensor, weight: Tensor, reverse: bool, save: bool,
    results: list[Any], given: list[Any],
) -> None:
    """Call a routine: see launcher/routines.h."""
    steps, batch, width = input.shape
    sizes = (list(GATES).index(mode), compute_type(input.dtype).code, steps, batch,
             weight.shape[1], reverse, save, width, batch * width, width)
    arrays = (*[_or_none(array) for _, array in results], *given)
    _core.call_routine(_core.ROUTINES[routine], arrays, sizes, ())


def _or_none(array: Array) -> Any:
    """An empty vector stands for what a kind does not have, and has not to be saved."""
    return None if array.shape == (0,) else array


def _vjp(ctx: Any, grad: Any, grad_cells: Any, grad_saved: Any) -> Any:
    """The last cell is read from outside; the other cells and what is saved are not."""
    mode, reverse, hidden, weight = ctx.mode, ctx.reverse, ctx.hidden, ctx.weight
    read = (mode, ctx.input, hidden, ctx.cell, weight, ctx.bias, ctx.input_weight, ctx.input_bias,
            reverse)
    out, cells, saved = ctx.out0, ctx.out1, ctx.out2
    if not ctx.save:
        _, cells, saved = ops.recurrence(*read)
    ends = 0 if reverse or not ctx.save else -1
    to_gates, to_own, to_hidden, to_cell = ops.recurrence_backward(
        ops.zeros_like(out) if grad is None else grad,
        None if grad_cells is None else ops.select(grad_cells, 0, ends),
        *read, out, cells, saved)
    rows = ops.reshape(to_gates, (-1, weight.shape[0]))
    own = ops.reshape(to_own, (-1, weight.shape[0])) if mode == "GRU" else rows
    first, steps = ops.unsqueeze(hidden, 0), out.shape[0]
    before = (ops.cat([ops.narrow(out, 0, 1, steps - 1), first]) if reverse
              else ops.cat([first, ops.narrow(out, 0, 0, steps - 1)]))
    to_input, to_input_weight = to_gates, None
    if ctx.input_weight is not None:
        to_input = ops.matmul(to_gates, ctx.input_weight)
        to_input_weight = _to_weight(rows, ctx.input)
    return (
        to_input,
        to_hidden,
        None if ctx.cell is None else to_cell,
        _to_weight(own, before),
        None if ctx.bias is None else ops.sum(own, 0),
        to_input_weight,
        None if ctx.input_bias is None else ops.sum(rows, 0),
    )


def _to_weight(rows: Any, input: Any) -> Any:
    """The gradient of a weight, from those of its products [rows, gates * hidden]."""
    return ops.matmul(ops.t(rows), ops.reshape(input, (-1, input.shape[2])))


def _backward_meta(
    grad: Any, last: Any, mode: str, input: Any, hidden: Any, cell: Any, weight: Any, *rest: Any
) -> Any:
    """The state's share of the gates has a gradient of its own in a GRU only."""
    _check(mode, input, hidden, cell, weight, *rest[:3])
    gates = (*input.shape[:2], weight.shape[0])
    none, state, wide = (spec(s, hidden) for s in ((0,), hidden.shape, gates))
    own = wide if mode == "GRU" else none
    return wide, own, state, state if mode == "LSTM" else none


def _backward_eager(
    grad: Tensor,
    last: Tensor | None,
    mode: str,
    input: Tensor,
    hidden: Tensor,
    cell: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    input_weight: Tensor | None,
    input_bias: Tensor | None,
    reverse: bool,
    out: Tensor,
    cells: Tensor,
    saved: Tensor,
) -> tuple[Tensor, ...]:
    specs = _backward_meta(grad, last, mode, input, hidden, cell, weight, bias, input_weight,
                           input_bias)
    results = [output(s.shape, input.dtype) for s in specs]
    lstm, dtype = mode == "LSTM", compute(grad).dtype
    read = (grad, last if lstm else None, hidden, cell, weight, out, cells if lstm else None,
            saved if _SAVED[mode] else None)
    given = [_dense(t, dtype) for t in read]
    _run("recurrence_backward", mode, input, weight, reverse, True, results, given)
    return tuple(finish(tensor, array) for tensor, array in results)


def _steps(
    mode: str, input: Any, hidden: Any, cell: Any, weight: Any, bias: Any, input_weight: Any,
    input_bias: Any, reverse: bool,
) -> tuple[list[Any], list[Any], list[Any]]:
    """What each step computes, op by op, in the order that they are taken: activations, cells,
    hidden states."""
    gates = input if input_weight is None else ops.linear(input, input_weight)
    if input_bias is not None:
        gates = ops.add(gates, input_bias)
    activations, cells, states = [], [cell], [hidden]
    for x in ops.unbind(gates, 0)[:: -1 if reverse else 1]:
        own = ops.linear(states[-1], weight, bias)
        saved, cell, hidden = CELLS[mode](x, own, states[-1], cells[-1])
        activations.append(saved)
        cells.append(cell)
        states.append(hidden)
    return activations, cells, states


def _decompose(
    mode: str, input: Any, hidden: Any, cell: Any, weight: Any, bias: Any, input_weight: Any,
    input_bias: Any, reverse: bool, save: bool,
) -> tuple[Any, Any, Any]:
    activations, cells, states = _steps(
        mode, input, hidden, cell, weight, bias, input_weight, input_bias, reverse)
    none = ops.zeros((0,), dtype=input.dtype, device=input.device)

    def stacked(values: list[Any]) -> Any:
        return ops.stack(values[::-1] if reverse else values)

    saved = none
    if save and _SAVED[mode]:
        saved = stacked([ops.cat(list(each), 1) for each in activations])
    shown = stacked(cells[1:] if save else cells[-1:]) if mode == "LSTM" else none
    return stacked(states[1:]), shown, saved


def _through_sigmoid(slope: Any, y: Any) -> Any:
    return ops.mul(slope, ops.mul(y, ops.rsub(y, 1)))


def _through_tanh(slope: Any, y: Any) -> Any:
    return ops.mul(slope, ops.rsub(ops.mul(y, y), 1))


def _lstm_back(slope: Any, saved: Any, before: Any, cells: Any, to_cell: Any) -> Any:
    i, f, g, o = saved
    t = ops.tanh(cells[1])
    to_cell = ops.add(to_cell, _through_tanh(ops.mul(slope, o), t))
    to_gates = ops.cat([
        _through_sigmoid(ops.mul(to_cell, g), i),
        _through_sigmoid(ops.mul(to_cell, cells[0]), f),
        _through_tanh(ops.mul(to_cell, i), g),
        _through_sigmoid(ops.mul(slope, t), o),
    ], 1)
    return to_gates, to_gates, None, ops.mul(to_cell, f)


def _gru_back(slope: Any, saved: Any, before: Any, _cells: Any, to_cell: Any) -> Any:
    r, z, n, candidate = saved
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
    input: Any,
    hidden: Any,
    cell: Any,
    weight: Any,
    bias: Any,
    input_weight: Any,
    input_bias: Any,
    reverse: bool,
    out: Any,
    cells: Any,
    saved: Any,
) -> Any:
    """From the gates and the first state alone, so that it can be differentiated again."""
    activations, all_cells, states = _steps(
        mode, input, hidden, cell, weight, bias, input_weight, input_bias, reverse)
    slope: Any = ops.zeros_like(hidden)
    to_cell: Any = ops.zeros_like(hidden) if last is None else last
    all_gates, all_own = [], []
    steps = len(activations)
    for t in range(steps - 1, -1, -1):
        slope = ops.add(slope, ops.select(grad, 0, steps - 1 - t if reverse else t))
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
    order = 1 if reverse else -1
    none = ops.zeros(0, dtype=hidden.dtype, device=hidden.device)
    own = ops.stack(all_own[::order]) if mode == "GRU" else none
    return ops.stack(all_gates[::order]), own, slope, to_cell if mode == "LSTM" else none


internal(
    "recurrence(str mode, Tensor input, Tensor hidden, Tensor? cell, Tensor weight, Tensor? bias, "
    "Tensor? input_weight=None, Tensor? input_bias=None, bool reverse=False, bool save=True)",
    Kind.OTHER,
    meta=_meta,
    vjp=_vjp,
    saves=("input", "hidden", "cell", "weight", "bias", "input_weight", "input_bias", "out0",
           "out1", "out2"),
    decompose=_decompose,
    eager=_eager,
    tags=("whole",),
)
internal(
    "recurrence_backward(Tensor grad, Tensor? last, str mode, Tensor input, Tensor hidden, "
    "Tensor? cell, Tensor weight, Tensor? bias, Tensor? input_weight, Tensor? input_bias, "
    "bool reverse, Tensor out, Tensor cells, Tensor saved)",
    Kind.OTHER,
    meta=_backward_meta,
    decompose=_backward_decompose,
    eager=_backward_eager,
    tags=("whole",),
)
