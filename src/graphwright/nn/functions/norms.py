"""Normalisations as functions."""

from __future__ import annotations

import math
from typing import Any

from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.int_arguments import as_ints
from graphwright.runtime.ops.norms.layer_norm import check_normalized_shape
from graphwright.runtime.tensor.dtypes import complex64
from graphwright.runtime.tensor.tensor import Tensor

layer_norm = ops.layer_norm
local_response_norm = ops.local_response_norm


def rms_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Divide by the root of the mean of squares over the trailing `normalized_shape`.

    `eps` None means the machine epsilon of the input's dtype. Complex numbers are squared, not
    multiplied by their conjugates.
    """
    if not isinstance(input, Tensor) or not input.dtype.is_complex:
        return ops.rms_norm(input, normalized_shape, weight, eps)
    normalized_shape = as_ints("rms_norm(): argument 'normalized_shape'", normalized_shape)
    check_normalized_shape("rms_norm", input, normalized_shape, weight, None)
    dims = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    if eps is None:
        eps = 2.0**-23 if input.dtype is complex64 else 2.0**-52
    mean = ops.mean(ops.mul(input, input), dims, True)
    out = ops.div(input, ops.sqrt(ops.add(mean, eps)))
    return out if weight is None else ops.mul(out, weight)


def _check_values(size: tuple[int, ...]) -> None:
    if size[0] * math.prod(size[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {size}"
        )


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
    value in training, and for an `eps` below zero or, in training, of zero.
    """
    if training:
        if eps <= 0.0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
        _check_values(tuple(input.shape))
    elif eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return ops.batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise every channel of every sample of [N, C, *] (Ulyanov et al., 2016).

    Running statistics, where given, are updated by the means over the samples; they are used
    instead without `use_input_stats`. ValueError if a channel has a single element.
    """
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(
            "Expected more than 1 spatial element when training, got input size "
            f"{tuple(input.shape)}"
        )
    return ops.instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps
    )


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise each of `num_groups` groups of channels of [N, C, *] (Wu & He, 2018).

    RuntimeError where the channels cannot be divided, ValueError if a group has one value.
    """
    shape = tuple(input.shape)
    if len(shape) < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {len(shape)}"
        )
    if num_groups > 0:
        _check_values((shape[0] * shape[1] // num_groups, num_groups, *shape[2:]))
    return ops.group_norm(input, num_groups, weight, bias, eps)
