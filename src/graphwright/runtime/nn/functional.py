"""Functions behind the layers, after `torch.nn.functional`.

Shapes, defaults and errors are PyTorch's; most are ops of the table, the rest are written in
terms of ops right here.
"""

from __future__ import annotations

from typing import Any

from graphwright.runtime.nn.functions.activations import (
    celu,
    celu_,
    elu,
    elu_,
    gelu,
    glu,
    gumbel_softmax,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    log_softmax,
    logsigmoid,
    mish,
    normalize,
    prelu,
    relu,
    relu6,
    relu_,
    rrelu,
    rrelu_,
    selu,
    selu_,
    sigmoid,
    silu,
    softmax,
    softmin,
    softplus,
    softshrink,
    softsign,
    tanh,
    tanhshrink,
    threshold,
    threshold_,
)
from graphwright.runtime.nn.functions.losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    gaussian_nll_loss,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    nll_loss,
    poisson_nll_loss,
    smooth_l1_loss,
)
from graphwright.runtime.nn.functions.margin_losses import (
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from graphwright.runtime.nn.functions.norms import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    rms_norm,
)
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.normalise import as_pair
from graphwright.runtime.tensor import Tensor

cosine_similarity = ops.cosine_similarity
one_hot = ops.one_hot
pairwise_distance = ops.pairwise_distance
pdist = ops.pdist
linear = ops.linear
conv2d = ops.conv2d
avg_pool2d = ops.avg_pool2d
scaled_dot_product_attention = ops.scaled_dot_product_attention


def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """`value` (0) around `input`: (before, after) for the last dimension, then the one before."""
    if mode != "constant":
        raise NotImplementedError(f"pad: only mode='constant' is supported, got {mode!r}")
    return ops.constant_pad(input, tuple(pad), 0 if value is None else value)


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero each element with probability `p`, scale the others by 1/(1-p); ValueError on bad p."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0.0:
        return input
    output = ops.dropout(input, p, True)
    return input.copy_(output) if inplace else output


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """Rows of `weight` [V, D] at `input` [*] (integers): [*, D]. IndexError out of range."""
    if padding_idx is not None:
        rows = weight.shape[0]
        if not -rows <= padding_idx < rows:
            raise ValueError("Padding_idx must be within num_embeddings")
        padding_idx = padding_idx % rows
    return ops.embedding(weight, input, padding_idx)


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
