"""Recurrent layers: RNN, LSTM, GRU over padded or packed sequences.

The input's share of the gates is one matrix product for all steps; only the hidden state's
share is computed step by step.
"""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any

from graphwright.nn import functional as F
from graphwright.nn import init
from graphwright.nn.layers import rnn_steps
from graphwright.nn.module import Module
from graphwright.nn.parameter import Parameter
from graphwright.nn.utils.rnn import PackedSequence
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.sequences.recurrent_cells import GATES
from graphwright.runtime.tensor.tensor import Tensor

State = tuple[Tensor, ...]


class RNNBase(Module):
    """What RNN, LSTM and GRU share: weights, directions, layers, packing.

    Weights are named `weight_ih_l0` [gates * hidden, input], `weight_hh_l0`, `bias_ih_l0`,
    `bias_hh_l0` (and `weight_hr_l0` with projections), with `_reverse` for the second direction.
    """

    mode: str

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if mode not in GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        _check_kinds(input_size, hidden_size, num_layers, bias, batch_first)
        _check_arguments(mode, hidden_size, num_layers, dropout, proj_size)
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional = float(dropout), bidirectional
        self.proj_size = proj_size
        for layer in range(num_layers):
            for suffix in self._suffixes():
                self._make_weights(layer, suffix, {"device": device, "dtype": dtype})
        self.reset_parameters()

    def _suffixes(self) -> tuple[str, ...]:
        return ("", "_reverse") if self.bidirectional else ("",)

    def _make_weights(self, layer: int, suffix: str, factory: dict[str, Any]) -> None:
        directions = len(self._suffixes())
        own = self.proj_size or self.hidden_size
        rows = GATES[self.mode] * self.hidden_size
        columns = self.input_size if layer == 0 else own * directions
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (rows, columns), "weight_hh": (rows, own)
        }
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        for name, shape in shapes.items():
            setattr(self, f"{name}_l{layer}{suffix}", Parameter(ops.empty(shape, **factory)))

    def reset_parameters(self) -> None:
        """Draw all weights uniformly within 1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Does nothing: weights need no common memory here. Present for compatibility."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights of every layer and direction."""
        return [
            [w for w in self._weights(layer, suffix) if w is not None]
            for layer in range(self.num_layers)
            for suffix in self._suffixes()
        ]

    def _weights(self, layer: int, suffix: str) -> tuple[Any, ...]:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        return tuple(getattr(self, f"{name}_l{layer}{suffix}", None) for name in names)

    # -- checks

    def _check_input(self, input: Tensor, packed: bool) -> None:
        weight = self.weight_ih_l0
        if input.dtype is not weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: "
                f"model.to({input.dtype})"
            )
        if input.ndim != (2 if packed else 3):
            raise RuntimeError(
                f"input must have {2 if packed else 3} dimensions, got {input.ndim}"
            )
        if self.input_size != input.shape[-1]:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, "
                f"got {input.shape[-1]}"
            )

    def _check_state(self, state: State, batch: int) -> None:
        count = self.num_layers * len(self._suffixes())
        widths = (self.proj_size or self.hidden_size, self.hidden_size)
        for i, tensor in enumerate(state):
            expected = (count, batch, widths[i])
            if tuple(tensor.shape) != expected:
                what = "hidden" if self.mode != "LSTM" else f"hidden[{i}]"
                raise RuntimeError(f"Expected {what} size {expected}, got {list(tensor.shape)}")

    # -- forward

    def forward(self, input: Any, hx: Any = None) -> Any:
        """(output [steps, batch, directions * hidden], final state); see the class."""
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.ndim not in (2, 3):
            raise ValueError(
                f"{self.mode_name()}: Expected input to be 2D or 3D, got {input.ndim}D instead"
            )
        batched = input.ndim == 3
        if not batched:
            input = ops.unsqueeze(input, 0 if self.batch_first else 1)
        steps = ops.transpose(input, 0, 1) if self.batch_first else input
        self._check_input(steps, False)
        state = self._initial(hx, steps, steps.shape[1], batched)
        if steps.shape[0] == 0:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        output, final = self._layers(steps, None, state)
        if self.batch_first:
            output = ops.transpose(output, 0, 1)
        if not batched:
            output = ops.squeeze(output, 0 if self.batch_first else 1)
            final = tuple(ops.squeeze(t, 1) for t in final)
        return output, self._result(final)

    def mode_name(self) -> str:
        """RNN, LSTM or GRU, for messages."""
        return self.mode if self.mode in ("LSTM", "GRU") else "RNN"

    def _forward_packed(self, sequence: PackedSequence, hx: Any) -> Any:
        sizes = sequence.batch_sizes.tolist()
        self._check_input(sequence.data, True)
        given = hx
        if hx is not None and sequence.sorted_indices is not None:
            permuted = (
                t.index_select(1, sequence.sorted_indices) for t in self._parts(hx)
            )
            given = tuple(permuted) if self.mode == "LSTM" else next(permuted)
        state = self._initial(given, sequence.data, sizes[0], True)
        output, final = self._layers(sequence.data, sizes, state)
        if sequence.unsorted_indices is not None:
            final = tuple(ops.index_select(t, 1, sequence.unsorted_indices) for t in final)
        packed = PackedSequence(
            output, sequence.batch_sizes, sequence.sorted_indices, sequence.unsorted_indices
        )
        return packed, self._result(final)

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Any) -> tuple[int, int, int]:
        """(layers * directions, batch, width of the hidden state) for an input."""
        batch = input.shape[0 if self.batch_first else 1]
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        return (
            self.num_layers * len(self._suffixes()), batch, self.proj_size or self.hidden_size
        )  # fmt: skip

    @property
    def _flat_weights_names(self) -> list[str]:
        suffixes = [
            f"_l{layer}{suffix}" for layer in range(self.num_layers) for suffix in self._suffixes()
        ]
        kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        names = [kind + suffix for suffix in suffixes for kind in kinds]
        return [name for name in names if name in self._parameters or name in self.__dict__]

    @property
    def _flat_weights(self) -> list[Tensor]:
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def _all_weights(self) -> list[list[str]]:
        names = self._flat_weights_names
        size = len(names) // (self.num_layers * len(self._suffixes()))
        return [names[i : i + size] for i in range(0, len(names), size)]

    def _result(self, final: State) -> Any:
        return final if self.mode == "LSTM" else final[0]

    def _initial(self, hx: Any, like: Tensor, batch: int, batched: bool) -> State:
        count = self.num_layers * len(self._suffixes())
        if hx is None:
            hidden = like.new_zeros((count, batch, self.proj_size or self.hidden_size))
            if self.mode != "LSTM":
                return (hidden,)
            return hidden, like.new_zeros((count, batch, self.hidden_size))
        state = self._parts(hx)
        rank = 3 if batched else 2
        for tensor in state:
            if tensor.dim() != rank:
                kind = "batched 3-D" if batched else "unbatched 2-D"
                ranks = ", ".join(f"{t.ndim}-D" for t in state)
                found = f"({ranks}) tensors" if self.mode == "LSTM" else f"{ranks} tensor"
                raise RuntimeError(
                    f"For {kind} input, hx {'and cx ' if self.mode == 'LSTM' else ''}should also "
                    f"be {rank}-D but got {found}"
                )
        if not batched:
            state = tuple(ops.unsqueeze(t, 1) for t in state)
        self._check_state(state, batch)
        return state

    def _parts(self, hx: Any) -> State:
        """The tensors of a state: an LSTM's is a pair, the others' one tensor."""
        if self.mode != "LSTM":
            return (hx,)
        state = (hx[0], hx[1])
        if len(hx) > 2:
            raise RuntimeError("lstm expects two hidden states")
        return state

    def _layers(
        self, data: Tensor, sizes: list[int] | None, state: State
    ) -> tuple[Tensor, State]:
        weights = [
            self._weights(layer, suffix)
            for layer in range(self.num_layers)
            for suffix in self._suffixes()
        ]
        dropout = self.dropout if self.training else 0.0
        return rnn_steps.layers(
            self.mode, data, sizes, state, weights, self.bidirectional, dropout
        )

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        shown = {
            "proj_size": (self.proj_size, 0), "num_layers": (self.num_layers, 1),
            "bias": (self.bias, True), "batch_first": (self.batch_first, False),
            "dropout": (self.dropout, 0), "bidirectional": (self.bidirectional, False),
        }  # fmt: skip
        for name, (value, default) in shown.items():
            if value != default:
                text += f", {name}={value}"
        return text


def _check_kinds(
    input_size: Any, hidden_size: Any, num_layers: Any, bias: Any, batch_first: Any
) -> None:
    given = (
        ("input_size", input_size, int), ("hidden_size", hidden_size, int),
        ("num_layers", num_layers, int), ("bias", bias, bool), ("batch_first", batch_first, bool),
    )  # fmt: skip
    for name, value, kind in given:
        if not isinstance(value, kind):
            raise TypeError(
                f"{name} should be of type {kind.__name__}, got: {type(value).__name__}"
            )
    if input_size <= 0:
        raise ValueError("input_size must be greater than zero")


def _check_arguments(mode: str, hidden: int, layers: int, dropout: Any, proj: int) -> None:
    number = isinstance(dropout, numbers.Number) and not isinstance(dropout, bool)
    if not number or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an "
            "element being zeroed"
        )
    if dropout > 0 and layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and "
            f"num_layers={layers}",
            stacklevel=4,
        )
    if hidden <= 0:
        raise ValueError("hidden_size must be greater than zero")
    if layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj < 0:
        raise ValueError(
            "proj_size should be a positive integer or zero to disable projections"
        )
    if proj and mode != "LSTM":
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
    if proj >= hidden:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNN(RNNBase):
    """Elman RNN: h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or with ReLU.

    Input [steps, batch, input_size] ([batch, steps, ...] if `batch_first`; no batch dimension is
    possible; or a `PackedSequence`) and optional h0 [layers * directions, batch, hidden_size].
    """

    def __init__(self, *args: Any, nonlinearity: str = "tanh", **kwargs: Any) -> None:
        if len(args) > 3:
            nonlinearity = args[3]
            args = args[:3] + args[4:]
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        _no_projection("RNN", kwargs)
        self.nonlinearity = nonlinearity
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "nonlinearity":
            self.__dict__[name] = value
        else:
            super().__setattr__(name, value)


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter & Schmidhuber 1997; projections: Sak et al. 2014).

    i, f, g, o = gates; c' = f c + i g; h' = o tanh(c'). As `RNN`; the state is (h, c), the width
    of h is `proj_size` where given.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent unit (Cho et al. 2014).

    r, z = gates; n = tanh(W_in x + b_in + r (W_hn h + b_hn)); h' = (1 - z) n + z h. As `RNN`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _no_projection("GRU", kwargs)
        super().__init__("GRU", *args, **kwargs)


def _no_projection(name: str, kwargs: dict[str, Any]) -> None:
    if "proj_size" in kwargs:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


# -- cells


class RNNCellBase(Module):
    """One step of a recurrent layer: weights `weight_ih`, `weight_hh`, `bias_ih`, `bias_hh`."""

    mode: str

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        bias: bool,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = GATES[mode] * hidden_size
        factory = {"device": device, "dtype": dtype}
        self.weight_ih = Parameter(ops.empty((rows, input_size), **factory))
        self.weight_hh = Parameter(ops.empty((rows, hidden_size), **factory))
        if bias:
            self.bias_ih = Parameter(ops.empty((rows,), **factory))
            self.bias_hh = Parameter(ops.empty((rows,), **factory))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights uniformly within 1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """The next state from input [batch, input_size] or [input_size] and the state."""
        name = type(self).__name__
        if self.mode == "LSTM" and isinstance(hx, Tensor):
            raise TypeError("lstm_cell(): argument 'hx' must be tuple of Tensors, not Tensor")
        several = isinstance(hx, (tuple, list))
        state = hx if hx is None else tuple(hx) if several else (hx,)
        if input.ndim not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        for i, tensor in enumerate(state or ()):
            if tensor.ndim not in (1, 2):
                what = f"hx[{i}]" if self.mode == "LSTM" else "hidden"
                raise ValueError(
                    f"{name}: Expected {what} to be 1D or 2D, got {tensor.ndim}D instead"
                )
        batched = input.ndim == 2
        rows = input if batched else ops.unsqueeze(input, 0)
        if state is None:
            zeros = rows.new_zeros((rows.shape[0], self.hidden_size))
            state = (zeros, zeros) if self.mode == "LSTM" else (zeros,)
        elif not batched:
            state = tuple(ops.unsqueeze(t, 0) for t in state)
        if self.mode == "LSTM" and len(state) != 2:
            raise RuntimeError("lstm_cell expects two hidden states")
        self._check(rows, state)
        gates = F.linear(rows, self.weight_ih, self.bias_ih)
        final = rnn_steps.step(self.mode, gates, state, self.weight_hh, self.bias_hh, None)
        if not batched:
            final = tuple(ops.squeeze(t, 0) for t in final)
        return final if self.mode == "LSTM" else final[0]

    def _check(self, input: Tensor, state: State) -> None:
        if input.shape[1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {input.shape[1]} expected "
                f"{self.input_size}"
            )
        for i, tensor in enumerate(state):
            if tensor.shape[0] != input.shape[0]:
                raise RuntimeError(
                    f"Input batch size {input.shape[0]} doesn't match hidden{i} batch size "
                    f"{tensor.shape[0]}"
                )
            if tensor.shape[1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden{i} has inconsistent hidden_size: got {tensor.shape[1]}, expected "
                    f"{self.hidden_size}"
                )

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        return text if self.bias else f"{text}, bias={self.bias}"


class RNNCell(RNNCellBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or with ReLU: one step of `RNN`."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        mode = f"RNN_{nonlinearity.upper()}"
        if mode not in GATES:
            raise RuntimeError(f"Unknown nonlinearity: {nonlinearity}")
        super().__init__(mode, input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def extra_repr(self) -> str:
        text = super().extra_repr()
        other = self.nonlinearity != "tanh"
        return f"{text}, nonlinearity={self.nonlinearity}" if other else text


class LSTMCell(RNNCellBase):
    """One step of `LSTM`: (h, c) from input and (h, c)."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__("LSTM", input_size, hidden_size, bias, device, dtype)


class GRUCell(RNNCellBase):
    """One step of `GRU`: h from input and h."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__("GRU", input_size, hidden_size, bias, device, dtype)
