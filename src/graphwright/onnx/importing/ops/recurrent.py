"""Recurrent layers: RNN, GRU and LSTM, with the activations that each names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import graphwright as gw
from graphwright import Tensor
from graphwright.nn import functional as F
from graphwright.onnx.importing.opsets import Tensors, op

_Function = Callable[[Tensor], Tensor]
_ALPHA = {"LeakyRelu": 0.01, "ThresholdedRelu": 1.0, "HardSigmoid": 0.2, "Elu": 1.0,
          "ScaledTanh": 1.0, "Affine": 1.0}
_BETA = {"HardSigmoid": 0.5, "ScaledTanh": 1.0, "Affine": 0.0}


def _activation(name: str, alpha: float, beta: float) -> _Function:
    functions: dict[str, _Function] = {
        "Relu": gw.relu,
        "Tanh": gw.tanh,
        "Sigmoid": gw.sigmoid,
        "Softsign": F.softsign,
        "Softplus": F.softplus,
        "Affine": lambda x: alpha * x + beta,
        "LeakyRelu": lambda x: F.leaky_relu(x, alpha),
        "ThresholdedRelu": lambda x: gw.where(x >= alpha, x, gw.zeros_like(x)),
        "ScaledTanh": lambda x: alpha * gw.tanh(beta * x),
        "HardSigmoid": lambda x: gw.clamp(alpha * x + beta, 0, 1),
        "Elu": lambda x: F.elu(x, alpha),
    }
    if name not in functions:
        raise NotImplementedError(f"a recurrent layer with the activation {name!r}")
    return functions[name]


def activations_of(
    names: Sequence[str], alphas: Sequence[float] | None, betas: Sequence[float] | None
) -> list[_Function]:
    """The functions named; alphas and betas stand in order for those that take one."""
    left_alphas, left_betas = list(alphas or []), list(betas or [])
    found = []
    for name in names:
        known = {key.lower(): key for key in
                 ("Relu", "Tanh", "Sigmoid", "Softsign", "Softplus", *_ALPHA)}
        name = known.get(name.lower(), name)
        alpha = left_alphas.pop(0) if name in _ALPHA and left_alphas else _ALPHA.get(name, 0.0)
        beta = left_betas.pop(0) if name in _BETA and left_betas else _BETA.get(name, 0.0)
        found.append(_activation(name, alpha, beta))
    return found


class Layer:
    """One direction of a layer: its weights, and what all steps share."""

    def __init__(
        self, weight: Tensor, recurrent: Tensor, bias: Tensor | None, functions: list[_Function],
        clip: float | None, hidden: int, gates: int,
    ) -> None:  # fmt: skip
        self.weight, self.recurrent = weight, recurrent
        if bias is None:
            bias = gw.zeros([2 * gates * hidden], dtype=weight.dtype)
        self.input_bias = bias[: gates * hidden]
        self.hidden_bias = bias[gates * hidden :]
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


def lstm_step(peepholes: Tensor | None, input_forget: bool) -> _Step:
    """A step of long short-term memory, perhaps with weights from cells to gates."""
    def step(layer: Layer, x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        n, (hidden, cell) = layer.hidden, state
        f, g, h = layer.functions
        total = x + layer.of_state(hidden)
        i, o, forget, c = [total[:, k * n : (k + 1) * n] for k in range(4)]
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


def run_layers(
    x: Tensor, layers: list[Layer], steps: list[_Step], lengths: Tensor | None,
    states: list[Tensor | None], direction: str, layout: int,
) -> tuple[Tensor, list[Tensor]]:  # fmt: skip
    """Y (time, directions, batch, hidden) and last states (directions, batch, hidden)."""
    if layout:
        x = x.transpose(0, 1)
        states = [None if s is None else s.transpose(0, 1) for s in states]
    outputs, finals = [], []
    for k, (layer, step) in enumerate(zip(layers, steps, strict=True)):
        zeros = [x.shape[1], layer.hidden]
        start = tuple([gw.zeros(zeros, dtype=x.dtype) if s is None else s[k] for s in states])
        backward = direction == "reverse" or k == 1
        output, final = _direction(x, layer, step, start, lengths, backward)
        outputs.append(output)
        finals.append(final)
    y = gw.stack(outputs, dim=1)
    last = [gw.stack(list(parts)) for parts in zip(*finals, strict=True)]
    if layout:
        return y.permute([2, 0, 1, 3]), [s.transpose(0, 1) for s in last]
    return y, last


def _run(
    x: Tensor, w: Tensor, r: Tensor, b: Tensor | None, lengths: Tensor | None,
    states: list[Tensor | None], steps: list[_Step], functions: list[_Function],
    direction: str, layout: int, clip: float | None,
) -> tuple[Tensor, list[Tensor]]:  # fmt: skip
    hidden = r.shape[-1]
    each = len(functions) // len(steps)
    layers = [
        Layer(
            w[k], r[k], None if b is None else b[k], functions[k * each : (k + 1) * each], clip,
            hidden, r.shape[1] // hidden,
        )
        for k in range(len(steps))
    ]
    return run_layers(x, layers, steps, lengths, states, direction, layout)


_GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}
"""Where each gate of gw's layers stands in ONNX's order."""


def _by_layer(
    mode: str, x: Tensor, w: Tensor, r: Tensor, b: Tensor | None, states: list[Tensor | None],
    direction: str, layout: int,
) -> tuple[Tensor, list[Tensor]]:  # fmt: skip
    """Y and last states, by the layer that the runtime has for the usual activations."""
    if layout:
        x = x.transpose(0, 1)
        states = [None if s is None else s.transpose(0, 1) for s in states]
    x = gw.flip(x, [0]) if direction == "reverse" else x
    count, hidden = w.shape[0], r.shape[-1]
    zeros = [count, x.shape[1], hidden]
    start = [gw.zeros(zeros, dtype=x.dtype) if s is None else s for s in states]
    gates = _GATES["RNN" if mode.startswith("RNN") else mode]
    n = len(gates) * hidden
    bias = gw.zeros([count, 2 * n], dtype=x.dtype) if b is None else b

    def ordered(rows: Tensor) -> Tensor:
        return gw.cat([rows[k * hidden : (k + 1) * hidden] for k in gates])

    weights = []
    for k in range(count):
        weights += [ordered(w[k]), ordered(r[k]), ordered(bias[k][:n]), ordered(bias[k][n:])]
    layer = {"LSTM": gw.lstm, "GRU": gw.gru, "RNNTanh": gw.rnn_tanh, "RNNRelu": gw.rnn_relu}[mode]
    state = tuple(start) if mode == "LSTM" else start[0]
    y, *last = layer(x, state, weights, True, 1, 0.0, False, count == 2, False)
    y = y.reshape([*y.shape[:2], count, hidden])
    y = gw.flip(y, [0]) if direction == "reverse" else y
    if layout:
        return y.transpose(0, 1), [s.transpose(0, 1) for s in last]
    return y.transpose(1, 2), last


def directions_of(direction: str) -> int:
    """How many layers a direction means."""
    return 2 if direction == "bidirectional" else 1


@op("RNN")
def rnn(
    x: Tensor, w: Tensor, r: Tensor, b: Tensor | None = None, lengths: Tensor | None = None,
    initial_h: Tensor | None = None, *, activations: list[str] | None = None,
    activation_alpha: list[float] | None = None, activation_beta: list[float] | None = None,
    clip: float | None = None, direction: str = "forward", hidden_size: int | None = None,
    layout: int = 0, output_sequence: int = 0,
) -> Tensors:  # fmt: skip
    """A layer of f(x W + h R + b) over time; all outputs and the last."""
    count = directions_of(direction)
    names = (activations or ["Tanh"] * count)[:count]
    if lengths is None and clip is None and set(names) in ({"Tanh"}, {"Relu"}):
        y, (last,) = _by_layer(f"RNN{names[0]}", x, w, r, b, [initial_h], direction, layout)
        return y, last
    functions = activations_of(names, activation_alpha, activation_beta)
    y, (last,) = _run(
        x, w, r, b, lengths, [initial_h], [_rnn_step] * count, functions, direction, layout, clip
    )
    return y, last


@op("GRU")
def gru(
    x: Tensor, w: Tensor, r: Tensor, b: Tensor | None = None, lengths: Tensor | None = None,
    initial_h: Tensor | None = None, *, activations: list[str] | None = None,
    activation_alpha: list[float] | None = None, activation_beta: list[float] | None = None,
    clip: float | None = None, direction: str = "forward", hidden_size: int | None = None,
    layout: int = 0, linear_before_reset: int = 0, output_sequence: int = 0,
) -> Tensors:  # fmt: skip
    """A layer of gated recurrent units over time; all outputs and the last."""
    count = directions_of(direction)
    usual = ["Sigmoid", "Tanh"] * count
    names = activations or usual
    if lengths is None and clip is None and linear_before_reset and names == usual:
        y, (last,) = _by_layer("GRU", x, w, r, b, [initial_h], direction, layout)
        return y, last
    functions = activations_of(names, activation_alpha, activation_beta)
    step = _gru_step(bool(linear_before_reset))
    y, (last,) = _run(
        x, w, r, b, lengths, [initial_h], [step] * count, functions, direction, layout, clip
    )
    return y, last


@op("LSTM")
def lstm(
    x: Tensor, w: Tensor, r: Tensor, b: Tensor | None = None, lengths: Tensor | None = None,
    initial_h: Tensor | None = None, initial_c: Tensor | None = None, p: Tensor | None = None, *,
    activations: list[str] | None = None, activation_alpha: list[float] | None = None,
    activation_beta: list[float] | None = None, clip: float | None = None,
    direction: str = "forward", hidden_size: int | None = None, layout: int = 0,
    input_forget: int = 0, output_sequence: int = 0,
) -> Tensors:  # fmt: skip
    """A layer of long short-term memory over time; all outputs, the last, and the last cells."""
    count = directions_of(direction)
    usual = ["Sigmoid", "Tanh", "Tanh"] * count
    names = activations or usual
    plain = lengths is None and clip is None and p is None and not input_forget
    if plain and names == usual:
        y, (last, cells) = _by_layer(
            "LSTM", x, w, r, b, [initial_h, initial_c], direction, layout
        )
        return y, last, cells
    functions = activations_of(names, activation_alpha, activation_beta)
    steps = [
        lstm_step(None if p is None else p[k], bool(input_forget)) for k in range(count)
    ]
    y, (last, cells) = _run(
        x, w, r, b, lengths, [initial_h, initial_c], steps, functions, direction, layout, clip
    )
    return y, last, cells
