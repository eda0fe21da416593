"""Normalisations as functions."""

from __future__ import annotations

import math
from typing import Any

from graphwright.runtime.ops import functions as ops
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
    """Elements divided by the root of the mean of their squares, over the last dims.

    `y = x / sqrt(mean(x**2) + eps) * weight` (Zhang and Sennrich, 2019). Complex numbers are
    squared, not multiplied by their conjugates.

    Args:
        input: floating point or complex, `(*, *normalized_shape)`.
        normalized_shape: the sizes of the last dims.
        weight: factors of shape `normalized_shape`; 1 if None.
        eps: added to the mean; the machine epsilon of the dtype if None.

    Returns: a tensor of the shape of `input`.

    Raises:
        RuntimeError: shapes do not match.

    Example:
        >>> F.rms_norm(gw.tensor([[3.0, 3.0]]), (2,))
        tensor([[1., 1.]])
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
    """Channels less their mean, divided by their standard deviation, over batch and space.

    `y = (x - mean) / sqrt(var + eps) * weight + bias` (Ioffe and Szegedy, 2015).

    Args:
        input: floating point, `(N, C, *)`.
        running_mean: `(C,)`, updated in training, the mean otherwise; None: none are kept.
        running_var: `(C,)`, as `running_mean`; updated by the unbiased variance.
        weight: factors `(C,)`; 1 if None.
        bias: terms `(C,)`; 0 if None.
        training: normalise by the batch's statistics, and update the running ones.
        momentum: the part of the new value in a running one.
        eps: added to the variance.

    Returns: a tensor of the shape of `input`.

    Raises:
        RuntimeError: shapes do not match, or running statistics are missing outside of
            training.
        ValueError: a channel has a single value in training, or `eps` is negative (in
            training: not positive).

    Example:
        >>> F.batch_norm(gw.tensor([[1.0], [3.0]]), None, None, training=True)
        tensor([[-1.0000],
                [ 1.0000]])
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
    """Each channel of each sample less its mean, divided by its standard deviation.

    Ulyanov et al. (2016).

    Args:
        input: floating point, `(N, C, *)`.
        running_mean: `(C,)`, updated by the mean over samples; None: none are kept.
        running_var: `(C,)`, as `running_mean`.
        weight: factors `(C,)`; 1 if None.
        bias: terms `(C,)`; 0 if None.
        use_input_stats: normalise by the input's own statistics; by the running ones if
            False.
        momentum: the part of the new value in a running one.
        eps: added to the variance.

    Returns: a tensor of the shape of `input`.

    Raises:
        RuntimeError: shapes do not match, or running statistics are missing.
        ValueError: a channel has a single element.

    Example:
        >>> F.instance_norm(gw.tensor([[[1.0, 3.0], [2.0, 6.0]]]))
        tensor([[[-1.0000,  1.0000],
                 [-1.0000,  1.0000]]])
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
    """Groups of channels less their mean, divided by their standard deviation (Wu and He, 2018).

    Args:
        input: floating point, `(N, C, *)`.
        num_groups: the number of groups, a divisor of C.
        weight: factors `(C,)`; 1 if None.
        bias: terms `(C,)`; 0 if None.
        eps: added to the variance.

    Returns: a tensor of the shape of `input`.

    Raises:
        RuntimeError: `num_groups` does not divide the channels, or shapes do not match.
        ValueError: a group has a single value.

    Example:
        >>> F.group_norm(gw.tensor([[1.0, 3.0, 2.0, 6.0]]), 2)
        tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    shape = tuple(input.shape)
    if len(shape) < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {len(shape)}"
        )
    if num_groups > 0:
        _check_values((shape[0] * shape[1] // num_groups, num_groups, *shape[2:]))
    return ops.group_norm(input, num_groups, weight, bias, eps)
