"""Losses of a linear layer's outputs."""

from __future__ import annotations

import math
from typing import Any

from graphwright.nn.functions.losses import cross_entropy
from graphwright.runtime.errors import require_tensor
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """Cross entropy of a linear layer's outputs: `cross_entropy(linear(input, ...), target)`.

    Args:
        input: `(N, in)` or `(in,)`.
        linear_weight: `(C, *out, in)`.
        target: as that of `cross_entropy` for logits `(N, C, *out)`.
        linear_bias: `(C, *out)`; none if None.
        weight: a factor for each class, `(C,)`; 1 if None.
        reduction: "none", "mean" or "sum".
        ignore_index: targets of this value count nothing; -100 if None.
        label_smoothing: the part of each target that is spread over all classes.
        options: how PyTorch cuts the logits into pieces; changes nothing here.

    Returns: a tensor without dims; the loss of each sample with "none".

    Raises:
        RuntimeError: the last sizes of input and weight differ, or a weight of more than 2
            dims meets an input without a batch.
        ValueError: the batches of input and target differ, or `reduction` is unknown.

    Example:
        >>> F.linear_cross_entropy(gw.zeros(2, 3), gw.ones(4, 3), gw.tensor([0, 1]))
        tensor(1.3863)
    """
    require_tensor("linear_cross_entropy", "input", input)
    require_tensor("linear_cross_entropy", "linear_weight", linear_weight)
    features = linear_weight.shape[-1]
    if input.shape[-1] != features:
        raise RuntimeError(
            "linear_cross_entropy: expected equal input and linear_weight last dimensions "
            f"(in_features), got {input.shape[-1]} and {features}, respectively"
        )
    if linear_weight.ndim > 2 and input.ndim == 1:
        raise RuntimeError(
            "linear_cross_entropy: K-dimensional loss defined by linear_weight shape "
            f"{tuple(linear_weight.shape)} requires batched input, (N, {features}), got unbatched "
            f"input with shape {tuple(input.shape)}"
        )
    if input.ndim == 2 and target.ndim and target.shape[0] != input.shape[0]:
        raise ValueError(
            f"linear_cross_entropy: Expected input batch_size ({input.shape[0]}) to match target "
            f"batch_size ({target.shape[0]})."
        )
    outputs = tuple(linear_weight.shape[:-1])
    rows = ops.reshape(linear_weight, (math.prod(outputs), features))
    bias = None if linear_bias is None else ops.reshape(linear_bias, (math.prod(outputs),))
    logits = ops.reshape(ops.linear(input, rows, bias), (*input.shape[:-1], *outputs))
    ignored = -100 if ignore_index is None else ignore_index
    return cross_entropy(
        logits, target, weight, ignore_index=ignored, reduction=reduction,
        label_smoothing=label_smoothing,
    )  # fmt: skip
