"""The recurrences: one step of each kind of cell, and a whole direction of a layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.amp.autocast import is_autocast_enabled
from graphwright.autograd.grad_mode import is_grad_enabled
from graphwright.nn import functional as F
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.sequences.recurrent_cells import CELLS
from graphwright.runtime.tensor.dtypes import float32, float64
from graphwright.runtime.tensor.tensor import Tensor

State = tuple[Tensor, ...]

_WHOLE = (float32, float64)     # dtypes whose steps are one op


def step(
    mode: str, gates: Tensor, state: State, weight: Tensor, bias: Tensor | None, project: Any
) -> State:
    """The next state; `gates` [batch, gates * hidden] is the input's share, with its bias."""
    own = F.linear(state[0], weight, bias)
    _, cell, hidden = CELLS[mode](gates, own, state[0], state[-1])
    if cell is None:
        return (hidden,)
    return (hidden if project is None else F.linear(hidden, project)), cell


def _autocasts(data: Tensor) -> bool:
    kind = data.device.type
    return kind in ("cpu", "cuda") and is_autocast_enabled(kind)


def run(
    mode: str,
    data: Tensor,
    sizes: list[int] | None,
    state: State,
    weights: tuple[Any, ...],
    reverse: bool,
) -> tuple[Tensor, State]:
    """One direction of one layer: (output, final state).

    `data` is [steps, batch, features], or packed rows [total, features] of which `sizes[t]`
    belong to step t. `weights`: of the input, of the hidden state, their biases, projection.
    """
    w_input, w_hidden, b_input, b_hidden, project = weights
    plain = sizes is None and project is None and not _autocasts(data)
    if plain and data.dtype in _WHOLE:
        return at_once(mode, data, state, (w_hidden, b_hidden, w_input, b_input), reverse)
    gates = F.linear(data, w_input, b_input)
    steps = ops.unbind(gates, 0) if sizes is None else ops.split(gates, sizes)
    cell = (mode, w_hidden, b_hidden, project)
    rows = [state[0].shape[0]] * len(steps) if sizes is None else sizes
    outputs, final = (_backwards if reverse else _forwards)(cell, steps, rows, state)
    return (ops.stack(outputs) if sizes is None else ops.cat(outputs)), final


def layers(
    mode: str,
    data: Tensor,
    sizes: list[int] | None,
    state: State,
    weights: Sequence[tuple[Any, ...]],
    bidirectional: bool,
    dropout: float,
) -> tuple[Tensor, State]:
    """All layers: (output, final state), as `run` of one direction of one.

    `weights` has a tuple for each direction of each layer, in the order of the state
    [layers * directions, batch, hidden]; of what a layer gives the next, `dropout` is left out.
    """
    finals: list[State] = []
    directions = 2 if bidirectional else 1
    for first in range(0, len(weights), directions):
        if first and dropout:
            data = F.dropout(data, dropout, True)
        outputs = []
        for place in range(first, first + directions):
            start = tuple(ops.select(t, 0, place) for t in state)
            output, final = run(mode, data, sizes, start, weights[place], place > first)
            outputs.append(output)
            finals.append(final)
        data = outputs[0] if len(outputs) == 1 else ops.cat(outputs, -1)
    return data, tuple(ops.stack([f[i] for f in finals]) for i in range(len(state)))


def at_once(
    mode: str, input: Tensor, state: State, weights: tuple[Any, ...], reverse: bool
) -> tuple[Tensor, State]:
    """The same in one op, where all sequences are of one length.

    `weights`: of the hidden state, its bias, and those of the input, None where it is its share
    of the gates.
    """
    cell = state[1] if mode == "LSTM" else None
    read = (input, *state, *weights)
    save = is_grad_enabled() and any([t is not None and t.requires_grad for t in read])
    weight, bias, input_weight, input_bias = weights
    output, cells, _ = ops.recurrence(
        mode, input, state[0], cell, weight, bias, input_weight, input_bias, reverse, save)
    ends = 0 if reverse else -1
    final = (ops.select(output, 0, ends),)
    return output, final if cell is None else (*final, ops.select(cells, 0, ends if save else 0))


Cell = tuple[str, Tensor, Tensor | None, Any]


def _forwards(
    cell: Cell, steps: Any, sizes: list[int], state: State
) -> tuple[list[Tensor], State]:
    """From the first step to the last; shorter sequences leave on the way."""
    mode, weight, bias, project = cell
    outputs, ended = [], []
    rows = sizes[0]
    for gates, size in zip(steps, sizes, strict=True):
        if size < rows:
            ended.append(tuple(t[size:] for t in state))
            state = tuple(t[:size] for t in state)
            rows = size
        state = step(mode, gates, state, weight, bias, project)
        outputs.append(state[0])
    if not ended:
        return outputs, state
    parts = [state, *ended[::-1]]
    return outputs, tuple(ops.cat([p[i] for p in parts]) for i in range(len(state)))


def _backwards(
    cell: Cell, steps: Any, sizes: list[int], first: State
) -> tuple[list[Tensor], State]:
    """From the last step to the first; shorter sequences join on the way."""
    mode, weight, bias, project = cell
    outputs: list[Tensor] = []
    rows = sizes[-1]
    state = tuple(t[:rows] for t in first) if rows < sizes[0] else first
    for gates, size in zip(steps[::-1], sizes[::-1], strict=True):
        if size > rows:
            joining = tuple(t[rows:size] for t in first)
            state = tuple(ops.cat([a, b]) for a, b in zip(state, joining, strict=True))
            rows = size
        state = step(mode, gates, state, weight, bias, project)
        outputs.append(state[0])
    return outputs[::-1], state
