"""Functions behind the layers, after `torch.nn.functional`.

Shapes, defaults and errors are PyTorch's; most are ops of the table, the rest are written in
terms of ops right here.
"""

from __future__ import annotations

import math
from typing import Any

from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.normalise import as_pair
from graphwright.runtime.tensor import Tensor

relu_ = ops.relu_
sigmoid = ops.sigmoid
tanh = ops.tanh
one_hot = ops.one_hot
linear = ops.linear
conv2d = ops.conv2d
gelu = ops.gelu
softplus = ops.softplus
logsigmoid = ops.logsigmoid
layer_norm = ops.layer_norm
rms_norm = ops.rms_norm
group_norm = ops.group_norm
avg_pool2d = ops.avg_pool2d
scaled_dot_product_attention = ops.scaled_dot_product_attention

_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """`value` (0) around `input`: (before, after) for the last dimension, then the one before."""
    if mode != "constant":
        raise NotImplementedError(f"pad: only mode='constant' is supported, got {mode!r}")
    return ops.constant_pad(input, tuple(pad), 0 if value is None else value)


def _finish(input: Tensor, output: Tensor, inplace: bool) -> Tensor:
    """`output`, or `input` overwritten by it."""
    return input.copy_(output) if inplace else output


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0)."""
    return ops.relu_(input) if inplace else ops.relu(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(x, 0), 6)."""
    return hardtanh(input, 0.0, 6.0, inplace)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x)."""
    return _finish(input, ops.silu(input), inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x)) (Misra, 2019)."""
    return _finish(input, ops.mul(input, ops.tanh(ops.softplus(input))), inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * relu6(x + 3) / 6 (Howard et al., 2019)."""
    return _finish(input, ops.mul(input, hardsigmoid(input)), inplace)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """relu6(x + 3) / 6."""
    return _finish(input, ops.div(relu6(ops.add(input, 3)), 6), inplace)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Scaled ELU of Klambauer et al. (2017)."""
    return _finish(input, ops.mul(ops.elu(input, _SELU_ALPHA), _SELU_SCALE), inplace)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return ops.div(input, ops.add(ops.abs(input), 1))


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where x > 0, else negative_slope * x."""
    return _finish(input, ops.leaky_relu(input, negative_slope), inplace)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where x > 0, else alpha * (exp(x) - 1)."""
    return _finish(input, ops.elu(input, alpha), inplace)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """x limited to [min_val, max_val]."""
    return _finish(input, ops.hardtanh(input, min_val, max_val), inplace)


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim`, computed in `dtype` if given."""
    return ops.softmax(input, _implicit_dim(input, dim), dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """log(softmax(x)) along `dim`, computed in `dtype` if given."""
    return ops.log_softmax(input, _implicit_dim(input, dim), dtype)


def _implicit_dim(input: Tensor, dim: int | None) -> int:
    if dim is not None:
        return dim
    return 0 if input.ndim in (0, 1, 3) else 1


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero each element with probability `p`, scale the others by 1/(1-p); ValueError on bad p."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0.0:
        return input
    return _finish(input, ops.dropout(input, p, True), inplace)


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """Rows of `weight` [V, D] at `input` [*] (integers): [*, D]. IndexError out of range."""
    if padding_idx is not None:
        rows = weight.shape[0]
        if not -rows <= padding_idx < rows:
            raise ValueError("Padding_idx must be within num_embeddings")
        padding_idx = padding_idx % rows
    return ops.embedding(weight, input, padding_idx)


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise [N, C, *] per channel; in training by batch statistics, updating running ones.

    The running variance is updated with the unbiased one. ValueError if a channel has a single
    value in training.
    """
    if training and input.shape[0] * math.prod(input.shape[2:]) == 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"{tuple(input.shape)}"
        )
    return ops.batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )


def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each window; with `return_indices` also where (h*W + w) it was found."""
    if return_indices:
        return ops.max_pool2d_with_indices(
            input, kernel_size, stride, padding, dilation, ceil_mode
        )
    return ops.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means over a grid of `output_size` cells; None keeps that extent."""
    rows, columns = as_pair(output_size)
    rows = input.shape[-2] if rows is None else rows
    columns = input.shape[-1] if columns is None else columns
    return ops.adaptive_avg_pool2d(input, (rows, columns))


def _reduction(reduction: str) -> str:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def mse_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """(input - target)**2, reduced."""
    return ops.mse_loss(input, target, _reduction(reduction))


def l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """|input - target|, reduced."""
    return ops.l1_loss(input, target, _reduction(reduction))


def smooth_l1_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """d**2 / (2*beta) where d = |input - target| < beta, else d - beta/2; reduced."""
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return ops.smooth_l1_loss(input, target, _reduction(reduction), beta)


def huber_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", delta: float = 1.0
) -> Tensor:
    """d**2 / 2 where d = |input - target| < delta, else delta * (d - delta/2); reduced."""
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    return ops.mul(ops.smooth_l1_loss(input, target, _reduction(reduction), delta), delta)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """-weight[t] * input[n, t] for t = target[n]: input [N, C, *] or [C], target [N, *] or []."""
    return ops.nll_loss(input, target, weight, ignore_index, _reduction(reduction))


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy of logits [N, C, *] (or [C]) with classes or with probabilities.

    Integer targets [N, *] are classes (those equal to `ignore_index` count nothing), floating
    ones [N, C, *] probabilities. IndexError for a class out of range.
    """
    return ops.cross_entropy(
        input, target, weight, ignore_index, _reduction(reduction), label_smoothing
    )


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean"
) -> Tensor:
    """-(t*log(p) + (1-t)*log(1-p)), logarithms limited to >= -100; shapes must be equal."""
    return ops.binary_cross_entropy(input, target, weight, _reduction(reduction))


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Binary cross entropy of sigmoid(input), computed without overflow."""
    return ops.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight, _reduction(reduction)
    )


def kl_div(
    input: Tensor, target: Tensor, *, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """target * (log(target) - input), 0 where target is 0; "batchmean" divides by the batch."""
    by_batch = reduction == "batchmean"
    kind = "sum" if by_batch else _reduction(reduction)
    total = ops.kl_div(input, target, kind, log_target)
    return ops.div(total, input.shape[0]) if by_batch and input.ndim else total
