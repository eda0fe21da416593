"""Recurrent layers: RNN, GRU and LSTM, with the activations that each names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import graphwright as gw
from graphwright import Tensor
from graphwright.nn import functional as F
from graphwright.onnx.importing.opsets import Tensors, op

_Function = Callable[[Tensor], Tensor]
_ACTIVATIONS: dict[str, tuple[Callable[..., Tensor], dict[str, float]]] = {
    "Relu": (gw.relu, {}), "Tanh": (gw.tanh, {}), "Sigmoid": (gw.sigmoid, {}),
    "Softsign": (F.softsign, {}), "Softplus": (F.softplus, {}),
    "LeakyRelu": (lambda x, alpha: F.leaky_relu(x, alpha), {"alpha": 0.01}),
    "ThresholdedRelu": (
        lambda x, alpha: gw.where(x >= alpha, x, gw.zeros_like(x)), {"alpha": 1.0}),
    "Elu": (F.elu, {"alpha": 1.0}),
    "Affine": (lambda x, alpha, beta: alpha * x + beta, {"alpha": 1.0, "beta": 0.0}),
    "ScaledTanh": (lambda x, alpha, beta: alpha * gw.tanh(beta * x), {"alpha": 1.0, "beta": 1.0}),
    "HardSigmoid": (
        lambda x, alpha, beta: gw.clamp(alpha * x + beta, 0, 1), {"alpha": 0.2, "beta": 0.5}),
}  # fmt: skip
"""Activation -> its function, and the defaults of its parameters."""
_TITLES = {name.lower(): name for name in _ACTIVATIONS}


def activations_of(
    names: Sequence[str], alphas: Sequence[float] | None, betas: Sequence[float] | None
) -> list[_Function]:
    """The functions named; alphas and betas stand in order for those that take one."""
    left = {"alpha": list(alphas or []), "beta": list(betas or [])}
    found = []
    for name in names:
        if name.lower() not in _TITLES:
            raise NotImplementedError(f"a recurrent layer with the activation {name!r}")
        function, defaults = _ACTIVATIONS[_TITLES[name.lower()]]
        given = {key: left[key].pop(0) if left[key] else default
                 for key, default in defaults.items()}
        found.append(_bound(function, given))
    return found


def _bound(function: Callable[..., Tensor], given: dict[str, float]) -> _Function:
    return lambda x: function(x, **given)


class Layer:
    """One direction of a layer: its weights, and what all steps share."""

    def __init__(
        self, weight: Any, recurrent: Any, bias: Tensor, functions: list[_Function],
        clip: float | None, hidden: int,
    ) -> None:  # fmt: skip
        self.weight, self.recurrent = weight, recurrent
        self.input_bias, self.hidden_bias = bias.chunk(2)
        self.functions = functions
        self.clip = clip
        self.hidden = hidden

    def of_input(self, x: Tensor) -> Tensor:
        """What inputs (time, batch, features) add to all gates, with the bias."""
        return F.linear(x, self.weight, self.input_bias)

    def of_state(self, hidden: Tensor) -> Tensor:
        """What the state adds to all gates, with the bias."""
        return F.linear(hidden, self.recurrent, self.hidden_bias)

    def clipped(self, x: Tensor) -> Tensor:
        """x within the clip of the layer."""
        return x if self.clip is None else x.clamp(-self.clip, self.clip)


_Step = Callable[[Layer, Tensor, tuple[Tensor, ...]], tuple[Tensor, ...]]


def _rnn_step(layer: Layer, x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    total = x + layer.of_state(state[0])
    return (layer.functions[0](layer.clipped(total)),)


def _gru_step(linear_before_reset: bool) -> _Step:
    def step(layer: Layer, x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        n, (hidden,) = layer.hidden, state
        f, g = layer.functions
        gates = F.linear(hidden, layer.recurrent[: 2 * n], layer.hidden_bias[: 2 * n])
        update = f(layer.clipped(x[:, :n] + gates[:, :n]))
        reset = f(layer.clipped(x[:, n : 2 * n] + gates[:, n:]))
        own, bias = layer.recurrent[2 * n :], layer.hidden_bias[2 * n :]
        if linear_before_reset:
            inner = reset * F.linear(hidden, own, bias)
        else:
            inner = F.linear(reset * hidden, own, bias)
        new = g(layer.clipped(x[:, 2 * n :] + inner))
        return ((1 - update) * new + update * hidden,)

    return step


def _lstm_step(peepholes: Tensor | None, input_forget: bool) -> _Step:
    """A step of long short-term memory, perhaps with weights from cells to gates."""
    def step(layer: Layer, x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        n, (hidden, cell) = layer.hidden, state
        f, g, h = layer.functions
        i, o, forget, c = (x + layer.of_state(hidden)).chunk(4, 1)
        if peepholes is not None:
            i = i + peepholes[:n] * cell
            forget = forget + peepholes[2 * n :] * cell
        i = f(layer.clipped(i))
        forget = 1 - i if input_forget else f(layer.clipped(forget))
        new = forget * cell + i * g(layer.clipped(c))
        if peepholes is not None:
            o = o + peepholes[n : 2 * n] * new
        return f(layer.clipped(o)) * h(new), new

    return step


def _direction(
    x: Tensor, layer: Layer, step: _Step, state: tuple[Tensor, ...], lengths: Tensor | None,
    backward: bool,
) -> tuple[Tensor, tuple[Tensor, ...]]:  # fmt: skip
    """Outputs (time, batch, hidden) of one direction and its last state."""
    projected = layer.of_input(x)
    times = range(x.shape[0])
    outputs = []
    for time in reversed(times) if backward else times:
        new = step(layer, projected[time], state)
        output = new[0]
        if lengths is not None:
            running = (lengths > time).unsqueeze(1)
            new = tuple([gw.where(running, a, b) for a, b in zip(new, state, strict=True)])
            output = gw.where(running, output, gw.zeros_like(output))
        state = new
        outputs.append(output)
    if backward:
        outputs.reverse()
    return gw.stack(outputs), state


_GATES = {3: (0, 2, 3, 1), 2: (1, 0, 2), 1: (0,)}
"""Number of activations -> where each gate of gw's layer stands in ONNX's order."""
_KERNELS = {
    ("Sigmoid", "Tanh", "Tanh"): gw.lstm, ("Sigmoid", "Tanh"): gw.gru, ("Tanh",): gw.rnn_tanh,
    ("Relu",): gw.rnn_relu,
}  # fmt: skip
"""The layers that the runtime has."""


def _by_runtime(
    kernel: Callable[..., Any], gates: Sequence[int], x: Tensor, w: Tensor, r: Tensor, b: Tensor,
    states: list[Tensor], backward: bool,
) -> tuple[Tensor, list[Tensor]]:  # fmt: skip
    """Y (time, directions, batch, hidden) and last states, by a layer of the runtime."""
    x = gw.flip(x, [0]) if backward else x
    count, hidden = w.shape[0], r.shape[-1]
    n = len(gates) * hidden

    def ordered(rows: Tensor) -> Tensor:
        return gw.cat([rows[k * hidden : (k + 1) * hidden] for k in gates])

    weights = []
    for k in range(count):
        weights += [ordered(w[k]), ordered(r[k]), ordered(b[k][:n]), ordered(b[k][n:])]
    state = tuple(states) if len(states) > 1 else states[0]
    y, *last = kernel(x, state, weights, True, 1, 0.0, False, count == 2, False)
    y = y.reshape([*y.shape[:2], count, hidden])
    return (gw.flip(y, [0]) if backward else y).transpose(1, 2), last


def run_layers(
    x: Tensor, w: Any, r: Any, b: Tensor | None, lengths: Tensor | None,
    initial: list[Tensor | None], usual: list[str], step: Callable[[int], _Step], plain: bool,
    layer: Callable[..., Layer] = Layer, *, activations: list[str] | None = None,
    activation_alpha: list[float] | None = None, activation_beta: list[float] | None = None,
    clip: float | None = None, direction: str = "forward", hidden_size: int | None = None,
    layout: int = 0, output_sequence: int = 0,
) -> tuple[Tensor, ...]:  # fmt: skip
    """All outputs, then the last states, of one or two directions.

    Args:
        x: (time, batch, features), the first two exchanged where there is a layout.
        w, r, b: the weights of each direction, as `layer` takes them.
        usual: the activations of a direction unless others are named.
        step: direction -> what a step computes.
        plain: whether a layer of the runtime computes the same, for some activations.
    """
    count, each = 2 if direction == "bidirectional" else 1, len(usual)
    names = (activations or usual * count)[: each * count]
    hidden = hidden_size or r[0].shape[-1]
    if layout:
        x, initial = x.transpose(0, 1), [None if s is None else s.transpose(0, 1) for s in initial]
    zeros = [count, x.shape[1], hidden]
    states = [gw.zeros(zeros, dtype=x.dtype) if s is None else s for s in initial]
    gates = _GATES[each]
    bias = gw.zeros([count, 2 * len(gates) * hidden], dtype=x.dtype) if b is None else b
    kernel = _KERNELS.get(tuple(names[:each])) if names == names[:each] * count else None
    if plain and layer is Layer and kernel is not None and lengths is None and clip is None:
        y, last = _by_runtime(kernel, gates, x, w, r, bias, states, direction == "reverse")
    else:
        functions = activations_of(names, activation_alpha, activation_beta)
        outputs, finals = [], []
        for k in range(count):
            own = layer(w[k], r[k], bias[k], functions[k * each : (k + 1) * each], clip, hidden)
            output, final = _direction(x, own, step(k), tuple([s[k] for s in states]), lengths,
                                       direction == "reverse" or k == 1)
            outputs.append(output)
            finals.append(final)
        y = gw.stack(outputs, dim=1)
        last = [gw.stack(list(parts)) for parts in zip(*finals, strict=True)]
    if layout:
        y, last = y.permute([2, 0, 1, 3]), [s.transpose(0, 1) for s in last]
    return y, *last


@op("RNN", options_of=(run_layers,))
def rnn(
    x: Tensor, w: Tensor, r: Tensor, b: Tensor | None = None, lengths: Tensor | None = None,
    initial_h: Tensor | None = None, **options: Any,
) -> Tensors:  # fmt: skip
    """A layer of f(x W + h R + b) over time; all outputs and the last."""
    return run_layers(
        x, w, r, b, lengths, [initial_h], ["Tanh"], lambda k: _rnn_step, True, **options
    )


@op("GRU", options_of=(run_layers,))
def gru(
    x: Tensor, w: Tensor, r: Tensor, b: Tensor | None = None, lengths: Tensor | None = None,
    initial_h: Tensor | None = None, *, linear_before_reset: int = 0, **options: Any,
) -> Tensors:  # fmt: skip
    """A layer of gated recurrent units over time; all outputs and the last."""
    step = _gru_step(bool(linear_before_reset))
    return run_layers(
        x, w, r, b, lengths, [initial_h], ["Sigmoid", "Tanh"], lambda k: step,
        bool(linear_before_reset), **options,
    )


@op("LSTM", options_of=(run_layers,))
def lstm(
    x: Tensor, w: Any, r: Any, b: Tensor | None = None, lengths: Tensor | None = None,
    initial_h: Tensor | None = None, initial_c: Tensor | None = None, p: Tensor | None = None, *,
    input_forget: int = 0, **options: Any,
) -> Tensors:  # fmt: skip
    """A layer of long short-term memory over time; all outputs, the last, and the last cells."""
    def step(k: int) -> _Step:
        return _lstm_step(None if p is None else p[k], bool(input_forget))

    return run_layers(
        x, w, r, b, lengths, [initial_h, initial_c], ["Sigmoid", "Tanh", "Tanh"], step,
        p is None and not input_forget, **options,
    )
