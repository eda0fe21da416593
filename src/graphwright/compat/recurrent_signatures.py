"""Recurrent layers as functions of their weights: one step of a cell, all steps of layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.nn import functional as F
from graphwright.nn.layers.rnn_steps import layers, step
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor

# -- one step of a recurrent layer


def _step(
    mode: str,
    input: Tensor,
    state: tuple[Tensor, ...],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
) -> tuple[Tensor, ...]:
    return step(mode, F.linear(input, w_ih, b_ih), state, w_hh, b_hh, None)


def lstm_cell(
    input: Tensor,
    hx: tuple[Tensor, Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """One step of a recurrent layer, as `nn.LSTMCell`, from its weights.

    Args:
        input: floating point, `(N, I)`.
        hx: `(hidden, cell)`, both `(N, H)`.
        w_ih: weights of the input, `(4 H, I)`.
        w_hh: weights of the state, `(4 H, H)`.
        b_ih: `(4 H,)`; none if None.
        b_hh: `(4 H,)`; none if None.

    Returns: `(hidden, cell)`, both `(N, H)`.

    Raises:
        RuntimeError: shapes do not match.

    Example:
        >>> w_ih, w_hh = gw.ones(16, 3), gw.ones(16, 4)
        >>> gw.lstm_cell(gw.ones(2, 3), (gw.zeros(2, 4), gw.zeros(2, 4)), w_ih, w_hh)[1].shape
        graphwright.Size([2, 4])
    """
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    return _step("LSTM", input, tuple(hx), w_ih, w_hh, b_ih, b_hh)


def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of a recurrent layer, as `nn.GRUCell`, from its weights.

    Args:
        input: floating point, `(N, I)`.
        hx: the hidden state, `(N, H)`.
        w_ih: weights of the input, `(3 H, I)`.
        w_hh: weights of the state, `(3 H, H)`.
        b_ih: `(3 H,)`; none if None.
        b_hh: `(3 H,)`; none if None.

    Returns: the new hidden state, `(N, H)`.

    Raises:
        RuntimeError: shapes do not match.

    Example:
        >>> w_ih, w_hh = gw.ones(12, 3), gw.ones(12, 4)
        >>> gw.gru_cell(gw.ones(2, 3), gw.zeros(2, 4), w_ih, w_hh).shape
        graphwright.Size([2, 4])
    """
    return _step("GRU", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of a recurrent layer, as `nn.RNNCell` with tanh.

    Args:
        input: floating point, `(N, I)`.
        hx: the hidden state, `(N, H)`.
        w_ih: weights of the input, `(H, I)`.
        w_hh: weights of the state, `(H, H)`.
        b_ih: `(H,)`; none if None.
        b_hh: `(H,)`; none if None.

    Returns: the new hidden state, `(N, H)`.

    Raises:
        RuntimeError: shapes do not match.

    Example:
        >>> w_ih, w_hh = gw.ones(4, 3), gw.ones(4, 4)
        >>> gw.rnn_tanh_cell(gw.ones(2, 3), gw.zeros(2, 4), w_ih, w_hh).shape
        graphwright.Size([2, 4])
    """
    return _step("RNN_TANH", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of a recurrent layer, as `nn.RNNCell` with relu.

    Args:
        input: floating point, `(N, I)`.
        hx: the hidden state, `(N, H)`.
        w_ih: weights of the input, `(H, I)`.
        w_hh: weights of the state, `(H, H)`.
        b_ih: `(H,)`; none if None.
        b_hh: `(H,)`; none if None.

    Returns: the new hidden state, `(N, H)`.

    Raises:
        RuntimeError: shapes do not match.

    Example:
        >>> w_ih, w_hh = gw.ones(4, 3), gw.ones(4, 4)
        >>> gw.rnn_relu_cell(gw.ones(2, 3), gw.zeros(2, 4), w_ih, w_hh).shape
        graphwright.Size([2, 4])
    """
    return _step("RNN_RELU", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


# -- recurrent layers


def _layers_of(
    name: str, params: Any, has_biases: bool, num_layers: int, directions: int
) -> list[tuple[Any, ...]]:
    """Weights by layer and direction: of the input, the state, their biases, the projection.

    Raises RuntimeError where their number fits neither weights with nor without projections.
    """
    each = 4 if has_biases else 2
    parts = num_layers * directions
    if len(params) not in (each * parts, (each + 1) * parts):
        raise RuntimeError(
            f"{name}(): expected {each} parameters ({each + 1} with projections) for each of "
            f"{parts} layers and directions, got {len(params)}"
        )
    size = len(params) // parts
    found = []
    for at in range(0, len(params), size):
        own = tuple(params[at : at + size])
        biases = own[2:4] if has_biases else (None, None)
        found.append((*own[:2], *biases, own[each] if size > each else None))
    return found


def _run(
    name: str, mode: str, data: Tensor, sizes: list[int] | None, hx: Any, params: Any,
    has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The output and the final states, of `(steps, batch, features)` or packed rows."""
    state = tuple(hx) if mode == "LSTM" else (hx,)
    weights = _layers_of(name, params, has_biases, num_layers, 2 if bidirectional else 1)
    return layers(mode, data, sizes, state, weights, bidirectional, dropout if train else 0.0)


def _of_sequences(
    name: str, mode: str, input: Tensor, hx: Any, params: Any, has_biases: bool,
    num_layers: int, dropout: float, train: bool, bidirectional: bool, batch_first: bool,
) -> tuple[Tensor, ...]:
    states = len(hx) if mode == "LSTM" else 1
    if input.ndim != 3 or states != (2 if mode == "LSTM" else 1):
        raise RuntimeError(
            f"{name}(): expected an input with 3 dimensions and the states of {mode}, got "
            f"{describe(input)} and {states} states")
    data = ops.transpose(input, 0, 1) if batch_first else input
    output, final = _run(name, mode, data, None, hx, params, has_biases, num_layers, dropout,
                         train, bidirectional)
    return (ops.transpose(output, 0, 1) if batch_first else output), *final


def _of_rows(
    name: str, mode: str, data: Tensor, batch_sizes: Tensor, hx: Any, params: Any,
    has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool,
) -> tuple[Tensor, ...]:
    output, final = _run(name, mode, data, batch_sizes.tolist(), hx, params, has_biases,
                         num_layers, dropout, train, bidirectional)
    return output, *final


def _recurrent(name: str, mode: str) -> Callable[..., Any]:
    def recurrent(*args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        """Layers of a recurrent network (`gru`, `lstm`, `rnn_tanh`, `rnn_relu`) from weights.

        Either `(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
        batch_first)`, or, of packed rows, `(data, batch_sizes, hx, params, has_biases,
        num_layers, dropout, train, bidirectional)`.

        Args:
            args, kwargs: the parameters of one of these forms:
            input: `(steps, batch, features)`, or `(batch, steps, features)` with
                `batch_first`.
            data, batch_sizes: a PackedSequence's.
            hx: the state, `(layers * directions, batch, hidden)`; of `lstm` a pair of them.
            params: for each layer and direction the weights of the input and of the state,
                and their biases where `has_biases`.

        Returns: the output and the final states.

        Raises:
            RuntimeError: another number of parameters, or shapes do not match.

        Example:
            >>> hx, params = gw.zeros(1, 2, 4), [gw.ones(4, 3), gw.ones(4, 4)]
            >>> x = gw.ones(5, 2, 3)
            >>> gw.rnn_tanh(x, hx, params, False, 1, 0.0, False, False, False)[0].shape
            graphwright.Size([5, 2, 4])
        """
        weights_last = len(args) > 3 and isinstance(args[3], list | tuple)
        packed = weights_last or "batch_sizes" in kwargs
        return (_of_rows if packed else _of_sequences)(name, mode, *args, **kwargs)

    recurrent.__name__ = recurrent.__qualname__ = name
    return recurrent


lstm = _recurrent("lstm", "LSTM")
gru = _recurrent("gru", "GRU")
rnn_tanh = _recurrent("rnn_tanh", "RNN_TANH")
rnn_relu = _recurrent("rnn_relu", "RNN_RELU")
