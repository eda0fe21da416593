"""Recurrent layers over a padded batch whose lengths Python cannot read, as in a graph.

Packing leaves out what is behind the end of each sequence, which takes the lengths. Here all
sequences have as many steps as the longest, and the steps behind an end change nothing: the gates
there are such that a cell, or the state of a GRU, stays as it is. Backwards these steps come
first, and a state of zeros stays one of zeros. The results are those of packing, in shapes that
the padded batch has already.
"""

from __future__ import annotations

from typing import Any

from graphwright.nn import functional as F
from graphwright.nn.layers import rnn_steps
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

_FAR = 1e4
"""What a sigmoid of is 0 or 1, plus or minus what a hidden state adds to it."""


def masked(
    input: Tensor, lengths: Tensor, batch_first: bool = False, enforce_sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """What `pack_padded_sequence` is given, as (steps [longest, batch, *], lengths int64).

    Raises RuntimeError where it does.
    """
    steps = ops.transpose(input, 0, 1) if batch_first else input
    lengths = lengths.to(steps.device, dtypes.int64)
    if lengths.ndim != 1 or lengths.shape[0] != steps.shape[1]:
        raise RuntimeError("'lengths' argument should be 1D, with a length for each sequence")
    if enforce_sorted and bool((lengths[:-1] < lengths[1:]).any()):
        raise RuntimeError("`lengths` array must be sorted in decreasing order")
    if bool((lengths <= 0).any()) or bool((lengths > steps.shape[0]).any()):
        raise RuntimeError("a length is none, or more than the padded length")
    return steps, lengths


def padded(
    steps: Tensor, lengths: Tensor, batch_first: bool = False, padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """What `pad_packed_sequence` gives: of the padded length, which the longest has to have."""
    longest = steps.shape[0]
    if total_length is not None and total_length < longest:
        raise ValueError("Expected total_length to be at least the padded length")
    if total_length is None and bool(lengths.max() < longest):
        raise RuntimeError("the longest sequence is shorter than the padded length")
    steps = ops.where(_within(steps, lengths), steps, padding_value)
    if total_length is not None and total_length > longest:
        more = steps.new_full((total_length - longest, *steps.shape[1:]), padding_value)
        steps = ops.cat([steps, more])
    return (ops.transpose(steps, 0, 1) if batch_first else steps), lengths.cpu()


def can_mask(module: Any, steps: Tensor, hx: Any) -> bool:
    """Whether `forward` serves a layer and its first state."""
    return not (
        module.proj_size
        or steps.dtype not in (dtypes.float32, dtypes.float64)
        or (module.dropout and module.training and module.num_layers > 1)
        or (module.bidirectional and hx is not None)
    )


def forward(module: Any, steps: Tensor, lengths: Tensor, hx: Any) -> tuple[Tensor, Any]:
    """(output [longest, batch, directions * hidden], final state) of a recurrent layer."""
    module._check_input(steps, False)
    state = module._initial(hx, steps, steps.shape[1], True)
    ends = ops.reshape(lengths - 1, (1, -1, 1))
    inside = _within(steps, lengths)
    data = steps
    finals: list[rnn_steps.State] = []
    suffixes = module._suffixes()
    for layer in range(module.num_layers):
        outputs: list[Tensor] = []
        data = ops.where(inside, data, 0.0)
        for suffix in suffixes:
            start = tuple(ops.select(t, 0, len(finals)) for t in state)
            output, final = _direction(
                module.mode, data, inside, ends, start, module._weights(layer, suffix),
                len(outputs) == 1)
            outputs.append(output)
            finals.append(final)
        data = outputs[0] if len(outputs) == 1 else ops.cat(outputs, -1)
    return data, module._result(
        tuple(ops.stack([final[i] for final in finals]) for i in range(len(state))))


def _direction(
    mode: str, data: Tensor, inside: Tensor, ends: Tensor, state: rnn_steps.State,
    weights: tuple[Any, ...], reverse: bool,
) -> tuple[Tensor, rnn_steps.State]:
    """One direction of one layer: (output, final state)."""
    w_input, w_hidden, b_input, b_hidden, _ = weights
    gates = F.linear(data, w_input, b_input)
    gates = ops.where(inside, gates, _idle(mode, gates, b_hidden))
    output, final = rnn_steps.at_once(mode, gates, state, (w_hidden, b_hidden, None, None),
                                       reverse)
    if not reverse:     # the cell has stayed, what shows it has not
        last = ops.gather(output, 0, ops.expand(ends, (1, *output.shape[1:])))
        final = (ops.squeeze(last, 0), *final[1:])
    return output, final


def _idle(mode: str, gates: Tensor, b_hidden: Tensor | None) -> Tensor:
    """The input's share of the gates in a step that changes nothing."""
    size = gates.shape[-1]
    if mode == "LSTM":
        shut, open_ = gates.new_full((size // 4,), -_FAR), gates.new_full((size // 4,), _FAR)
        return ops.cat([shut, open_, gates.new_zeros((size // 2,))])
    if mode == "GRU":
        third = size // 3
        return ops.cat([gates.new_zeros((third,)), gates.new_full((third,), _FAR),
                        gates.new_zeros((third,))])
    return gates.new_zeros((size,)) if b_hidden is None else -b_hidden


def _within(steps: Tensor, lengths: Tensor) -> Tensor:
    """bool [longest, batch, 1, ...]: whether a step is before the end of its sequence."""
    found = ops.unsqueeze(ops.arange(steps.shape[0], device=lengths.device), 1) < lengths
    return ops.reshape(found, (*found.shape, *[1] * (steps.ndim - 2)))
