"""Functions that PyTorch has beside those of `nn.functional`, with other parameters.

`torch.batch_norm` and its like take all parameters by position, losses take `reduction` as a
number: 0 for none, 1 for the mean, 2 for the sum, bags `mode`: 0 for the sum, 1 for the mean, 2
for the maximum.
"""

from __future__ import annotations

from typing import Any

from graphwright import cpu, cuda
from graphwright.nn import functional as F
from graphwright.runtime.ops import functions as ops
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
    """`nn.functional.binary_cross_entropy_with_logits`, with the reduction as a number.

    Args:
        input: logits, floating point.
        target: probabilities of the shape of `input`.
        weight: factors that are broadcast to `input`; 1 if None.
        pos_weight: factors of the targets' part; 1 if None.
        reduction: 0 for each loss, 1 for the mean, 2 for the sum.

    Returns: a tensor without dims; each loss with reduction 0.

    Raises:
        ValueError: there is no such reduction.

    Example:
        >>> gw.binary_cross_entropy_with_logits(gw.tensor([0.0]), gw.tensor([1.0]))
        tensor(0.6931)
    """
    return F.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight=pos_weight, reduction=_named(reduction)
    )


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """`nn.functional.cosine_embedding_loss`, with the reduction as a number.

    Args:
        input1: `(N, D)` or `(D,)`.
        input2: of the shape of `input1`.
        target: 1 or -1, `(N,)` or without dims.
        margin: the cosine up to which dissimilar pairs cost nothing.
        reduction: 0 for each loss, 1 for the mean, 2 for the sum.

    Returns: a tensor without dims; each loss with reduction 0.

    Raises:
        ValueError: there is no such reduction.

    Example:
        >>> gw.cosine_embedding_loss(gw.eye(2), gw.ones(2, 2), gw.tensor([1, -1]))
        tensor(0.5000)
    """
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
    """`nn.functional.ctc_loss`, with the reduction as a number.

    Args:
        log_probs: logarithms of probabilities, `(T, N, C)` or `(T, C)`.
        targets: classes, `(N, S)`, or all in one dim.
        input_lengths: the steps that count of each sequence.
        target_lengths: the length of each target.
        blank: the class that stands for none.
        zero_infinity: losses of targets that do not fit are 0.
        reduction: 0 for each loss, 1 for the mean, 2 for the sum.

    Returns: a tensor without dims; each loss with reduction 0.

    Raises:
        ValueError: there is no such reduction.

    Example:
        >>> gw.ctc_loss(gw.full((2, 1, 2), 0.5).log(), gw.tensor([[1]]), [2], [1])
        tensor(0.2877)
    """
    return F.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, _named(reduction), zero_infinity
    )


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 1
) -> Tensor:
    """`nn.functional.hinge_embedding_loss`, with the reduction as a number.

    Args:
        input: distances.
        target: 1 or -1, broadcast with `input`.
        margin: the distance from which dissimilar pairs cost nothing.
        reduction: 0 for each loss, 1 for the mean, 2 for the sum.

    Returns: a tensor without dims; each loss with reduction 0.

    Raises:
        ValueError: there is no such reduction.

    Example:
        >>> gw.hinge_embedding_loss(gw.tensor([0.25]), gw.tensor([-1.0]))
        tensor(0.7500)
    """
    return F.hinge_embedding_loss(input, target, margin, reduction=_named(reduction))


def kl_div(
    input: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False
) -> Tensor:
    """`nn.functional.kl_div`, with the reduction as a number.

    Args:
        input: logarithms of probabilities.
        target: probabilities, broadcast with `input`.
        log_target: `target` holds logarithms.
        reduction: 0 for each loss, 1 for the mean, 2 for the sum.

    Returns: a tensor without dims; each loss with reduction 0.

    Raises:
        ValueError: there is no such reduction.

    Example:
        >>> gw.kl_div(gw.tensor([0.0]), gw.tensor([1.0]))
        tensor(0.)
    """
    loss = F.kl_div(input, target, reduction="none", log_target=log_target)  # "mean" has a warning
    name = _named(reduction)
    return loss if name == "none" else loss.mean() if name == "mean" else loss.sum()


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """`nn.functional.margin_ranking_loss`, with the reduction as a number.

    Args:
        input1: ranks.
        input2: ranks, broadcast with `input1`.
        target: 1 or -1, broadcast with both.
        margin: the least difference that costs nothing.
        reduction: 0 for each loss, 1 for the mean, 2 for the sum.

    Returns: a tensor without dims; each loss with reduction 0.

    Raises:
        ValueError: there is no such reduction.

    Example:
        >>> gw.margin_ranking_loss(gw.tensor([1.0]), gw.tensor([3.0]), gw.tensor([1.0]))
        tensor(2.)
    """
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=_named(reduction))


def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    """`nn.functional.poisson_nll_loss`, with the reduction as a number.

    Args:
        input: logarithms of expected counts; the counts themselves without `log_input`.
        target: counts.
        log_input: whether `input` is a logarithm.
        full: add Stirling's approximation of `log(target!)`.
        eps: keeps the logarithm finite.
        reduction: 0 for each loss, 1 for the mean, 2 for the sum.

    Returns: a tensor without dims; each loss with reduction 0.

    Raises:
        ValueError: there is no such reduction.

    Example:
        >>> gw.poisson_nll_loss(gw.tensor([0.0]), gw.tensor([1.0]), True, False, 1e-8, 1)
        tensor(1.)
    """
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
    """`nn.functional.triplet_margin_loss`, with the reduction as a number.

    Args:
        anchor: `(N, D)` or `(D,)`.
        positive: of the class of `anchor`.
        negative: of another class.
        margin: the least lead that costs nothing; positive.
        p: order of the norm.
        eps: added to each difference.
        swap: take the distance of `positive` and `negative` where it is smaller.
        reduction: 0 for each loss, 1 for the mean, 2 for the sum.

    Returns: a tensor without dims; each loss with reduction 0.

    Raises:
        ValueError: there is no such reduction.

    Example:
        >>> gw.triplet_margin_loss(gw.zeros(1, 2), gw.zeros(1, 2), gw.zeros(1, 2))
        tensor(1.)
    """
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
    """`nn.functional.batch_norm`, with all parameters by position.

    Args:
        input: floating point, `(N, C, *)`.
        weight: factors `(C,)`; 1 if None.
        bias: terms `(C,)`; 0 if None.
        running_mean, running_var: `(C,)`, or None.
        training: normalise by the batch's statistics, and update the running ones.
        momentum: the part of the new value in a running one.
        eps: added to the variance.
        cudnn_enabled: has no effect.

    Returns: a tensor of the shape of `input`.

    Example:
        >>> x = gw.tensor([[1.0], [3.0]])
        >>> gw.batch_norm(x, None, None, None, None, True, 0.1, 1e-8, False)
        tensor([[-1.],
                [ 1.]])
    """
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
    """`nn.functional.instance_norm`, with all parameters by position.

    Args:
        input: floating point, `(N, C, *)`.
        weight: factors `(C,)`; 1 if None.
        bias: terms `(C,)`; 0 if None.
        running_mean, running_var: `(C,)`, or None.
        use_input_stats: normalise by the input's own statistics; by the running ones if
            False.
        momentum: the part of the new value in a running one.
        eps: added to the variance.
        cudnn_enabled: has no effect.

    Returns: a tensor of the shape of `input`.

    Example:
        >>> x = gw.tensor([[[1.0, 3.0]]])
        >>> gw.instance_norm(x, None, None, None, None, True, 0.1, 1e-8, False)
        tensor([[[-1.,  1.]]])
    """
    return F.instance_norm(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def frobenius_norm(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """Root of the sum of squares over some dims.

    Args:
        input: floating point or complex.
        dim: the dim or dims.
        keepdim: keep each of these dims with size 1.

    Returns: a real tensor of the shape of `input` without `dim`.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> gw.frobenius_norm(gw.tensor([[3.0, 4.0]]), (0, 1))
        tensor(5.)
    """
    return ops.linalg_vector_norm(input, 2, dim, keepdim)


def nuclear_norm(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Sum of the singular values of matrices.

    Args:
        input: float32, float64 or complex, of at least 2 dims.
        dim: the two dims of the matrices; the last two if None.
        keepdim: keep each of these dims with size 1.

    Returns: a real tensor of the shape of `input` without these dims.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> gw.nuclear_norm(gw.tensor([[3.0, 0.0], [0.0, 4.0]]))
        tensor(7.)
    """
    return ops.linalg_matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim)


def _softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any
) -> Tensor:
    """The gradient of the input of `output = softmax(input, dim)`: (g - sum(g y)) y, by row."""
    weighted = grad_output * output
    grad = weighted - output * weighted.sum(dim, keepdim=True)
    return grad.to(input_dtype)


def get_device_module(device: Any = None) -> Any:
    """Module of a kind of device: `graphwright.cpu` or `graphwright.cuda`.

    Args:
        device: a device or its name; if None a GPU where there is one, else the CPU.

    Raises:
        RuntimeError: the device is "meta", or there is no such device.

    Example:
        >>> gw.get_device_module("cpu").__name__
        'graphwright.cpu'
    """
    usual = "cuda" if cuda.is_available() else "cpu"
    name = usual if device is None else Device(device).type
    if name == "meta":
        raise RuntimeError("Device 'meta' does not have a corresponding module registered")
    return cpu if name == "cpu" else cuda


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
    """Bags of rows of a table, as of `nn.functional.embedding_bag`, and how they were found.

    Args:
        weight: the table, `(V, D)`.
        indices: `(N,)`, int32 or int64.
        offsets: where bags start, `(B,)`, or `(B + 1,)` with `include_last_offset`.
        scale_grad_by_freq: divide gradients by how often a row was looked up.
        mode: 0 for the sum, 1 for the mean, 2 for the maximum.
        sparse: changes nothing: gradients are dense.
        per_sample_weights: factors of the indices, for the sum only.
        include_last_offset: `offsets` ends with the end of the last bag.
        padding_idx: indices of this value count nothing.

    Returns: `(result, bag of each index, rows of each bag, rows that maxima come from)`: `(B,
    D)`, `(N,)`, `(B,)`, and `(B, D)` where `mode` is 2. PyTorch leaves out those that its
    kernel does without.

    Raises:
        RuntimeError: there is no such mode, or an index is out of range.

    Example:
        >>> gw.embedding_bag(gw.eye(2), gw.tensor([0, 1, 1]), gw.tensor([0, 2]))[0]
        tensor([[1., 1.],
                [0., 1.]])
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


# -- random numbers


def _standard_gamma(self: Tensor, generator: Any = None) -> Tensor:
    """Random numbers of gamma distributions of rate 1, with gradients of the concentrations."""
    return ops.standard_gamma(self, generator=generator)


def _sample_dirichlet(self: Tensor, generator: Any = None) -> Tensor:
    """Random points of Dirichlet distributions, whose concentrations are along the last dim."""
    parts = _standard_gamma(self, generator)
    return parts / parts.sum(-1, True)
