"""Functions that PyTorch has beside those of `nn.functional`, with other parameters.

`torch.batch_norm` and its like take all parameters by position, losses take `reduction` as a
number: 0 for none, 1 for the mean, 2 for the sum, bags `mode`: 0 for the sum, 1 for the mean, 2
for the maximum. The cells make one step of a recurrent layer from its weights; `lstm` and its like
all steps of several layers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright import cpu, cuda
from graphwright.nn import functional as F
from graphwright.nn.layers.rnn_steps import layers, step
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.tensor import Tensor

_REDUCTIONS = ("none", "mean", "sum")


def _named(reduction: int) -> str:
    """The reduction's name. Raises ValueError for another number."""
    if reduction not in (0, 1, 2):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _REDUCTIONS[reduction]


# -- losses


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = 1,
) -> Tensor:
    """`nn.functional.binary_cross_entropy_with_logits`."""
    return F.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight=pos_weight, reduction=_named(reduction)
    )


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """`nn.functional.cosine_embedding_loss`."""
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=_named(reduction))


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Tensor:
    """`nn.functional.ctc_loss`."""
    return F.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, _named(reduction), zero_infinity
    )


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 1
) -> Tensor:
    """`nn.functional.hinge_embedding_loss`."""
    return F.hinge_embedding_loss(input, target, margin, reduction=_named(reduction))


def kl_div(
    input: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False
) -> Tensor:
    """`nn.functional.kl_div`, whose mean is over all elements."""
    loss = F.kl_div(input, target, reduction="none", log_target=log_target)
    name = _named(reduction)
    return loss if name == "none" else loss.mean() if name == "mean" else loss.sum()


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """`nn.functional.margin_ranking_loss`."""
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=_named(reduction))


def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    """`nn.functional.poisson_nll_loss`."""
    return F.poisson_nll_loss(
        input, target, log_input, full, eps=eps, reduction=_named(reduction)
    )


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 1,
) -> Tensor:
    """`nn.functional.triplet_margin_loss`."""
    return F.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, reduction=_named(reduction)
    )


# -- norms


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """`nn.functional.batch_norm`; `cudnn_enabled` is without effect."""
    return F.batch_norm(
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """`nn.functional.instance_norm`; `cudnn_enabled` is without effect."""
    return F.instance_norm(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def frobenius_norm(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """The root of the sum of squares over `dim`."""
    return ops.linalg_vector_norm(input, 2, dim, keepdim)


def nuclear_norm(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """The sum of the singular values of the matrices in two dims."""
    return ops.linalg_matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim)


def _softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any
) -> Tensor:
    """The gradient of the input of `output = softmax(input, dim)`: (g - sum(g y)) y, by row."""
    weighted = grad_output * output
    grad = weighted - output * weighted.sum(dim, keepdim=True)
    return grad.to(input_dtype)


def get_device_module(device: Any = None) -> Any:
    """`graphwright.cpu`, or `cuda` for its devices. Raises RuntimeError for "meta"."""
    name = "cpu" if device is None else Device(device).type
    if name == "meta":
        raise RuntimeError("Device 'meta' does not have a corresponding module registered")
    return cpu if name == "cpu" else cuda


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
    """(hidden, cell) [N, H] after input [N, I] and `hx` (hidden, cell), as `nn.LSTMCell`."""
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
    """The hidden state [N, H] after input [N, I] and `hx`, as `nn.GRUCell`."""
    return _step("GRU", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """The hidden state [N, H] after input [N, I] and `hx`, as `nn.RNNCell`."""
    return _step("RNN_TANH", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """As `rnn_tanh_cell`, with relu."""
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


def _recurrent(name: str, mode: str) -> Callable[..., Any]:
    def of_sequences(
        input: Tensor,
        hx: Any,
        params: Any,
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> tuple[Tensor, ...]:
        state = tuple(hx) if mode == "LSTM" else (hx,)
        if input.ndim != 3 or len(state) != (2 if mode == "LSTM" else 1):
            raise RuntimeError(
                f"{name}(): expected an input with 3 dimensions and the states of {mode}, got "
                f"{describe(input)} and {len(state)} states"
            )
        weights = _layers_of(name, params, has_biases, num_layers, 2 if bidirectional else 1)
        data = ops.transpose(input, 0, 1) if batch_first else input
        left_out = dropout if train else 0.0
        output, final = layers(mode, data, None, state, weights, bidirectional, left_out)
        return (ops.transpose(output, 0, 1) if batch_first else output), *final

    def of_rows(
        data: Tensor,
        batch_sizes: Tensor,
        hx: Any,
        params: Any,
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
    ) -> tuple[Tensor, ...]:
        state = tuple(hx) if mode == "LSTM" else (hx,)
        weights = _layers_of(name, params, has_biases, num_layers, 2 if bidirectional else 1)
        left_out = dropout if train else 0.0
        sizes = batch_sizes.tolist()
        output, final = layers(mode, data, sizes, state, weights, bidirectional, left_out)
        return output, *final

    def recurrent(*args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        """Layers of a recurrent network from their weights.

        `(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`
        with input [steps, batch, features], or `(data, batch_sizes, hx, params, has_biases,
        num_layers, dropout, train, bidirectional)` of packed rows. `hx` is the state
        [layers * directions, batch, hidden], for LSTM a pair of them; `params` has for each
        layer and direction the weights of the input and of the state, and their biases where
        `has_biases`. Gives the output and the final states. Raises RuntimeError for another
        number of parameters.
        """
        weights_last = len(args) > 3 and isinstance(args[3], list | tuple)
        packed = weights_last or "batch_sizes" in kwargs
        return (of_rows if packed else of_sequences)(*args, **kwargs)

    recurrent.__name__ = recurrent.__qualname__ = name
    return recurrent


_BAGS = ("sum", "mean", "max")


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Bags of rows of `weight` [V, D], as `nn.functional.embedding_bag` gives them: [B, D].

    `indices` [N], `offsets` [B] ([B + 1] with `include_last_offset`). Besides the result: the bag
    of each index [N], how many rows each bag has [B], and, where `mode` is 2, the rows that the
    maxima come from [B, D]. PyTorch leaves out those of the three that its kernel does without.
    RuntimeError for another mode.
    """
    if mode not in (0, 1, 2):
        raise RuntimeError(f"embedding_bag: `mode` must be 0, 1 or 2, not {mode!r}")
    if include_last_offset:
        offsets = ops.narrow(offsets, 0, 0, offsets.shape[0] - 1)
    row = -1 if padding_idx is None else padding_idx % weight.shape[0]
    parts: tuple[Tensor, Tensor, Tensor, Tensor] = ops.embedding_bag_parts(
        weight, indices, offsets, per_sample_weights, _BAGS[mode], row, scale_grad_by_freq
    )
    return parts


lstm = _recurrent("lstm", "LSTM")
gru = _recurrent("gru", "GRU")
rnn_tanh = _recurrent("rnn_tanh", "RNN_TANH")
rnn_relu = _recurrent("rnn_relu", "RNN_RELU")


# -- random numbers


def _standard_gamma(self: Tensor, generator: Any = None) -> Tensor:
    """Random numbers of gamma distributions of rate 1, with gradients of the concentrations."""
    return ops.standard_gamma(self, generator=generator)


def _sample_dirichlet(self: Tensor, generator: Any = None) -> Tensor:
    """Random points of Dirichlet distributions, whose concentrations are along the last dim."""
    parts = _standard_gamma(self, generator)
    return parts / parts.sum(-1, True)
