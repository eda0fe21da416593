"""Dropout: of elements, of whole channels, and the forms that keep mean and variance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.kernels import allocate, copy_into
from graphwright.runtime.ops.nn_support import (
    cast,
    compute,
    finish,
    internal,
    new,
    output,
    require_floating,
    spec,
)
from graphwright.runtime.ops.strides import preserved_strides
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor.dtypes import bool as bool_dtype
from graphwright.runtime.tensor.dtypes import float32
from graphwright.runtime.tensor.tensor import Tensor

_SELU_LOW = -1.7580993408473766
"""What selu tends to for large negative inputs: what alpha dropout drops elements to."""


def _scale(p: float) -> float:
    return 0.0 if p == 1.0 else 1.0 / (1.0 - p)


def _native_dropout_meta(input: Any, p: float) -> Any:
    require_floating("dropout", input)
    return _laid_out(input), spec(input.shape, input, bool_dtype)


def _laid_out(input: Any) -> TensorSpec:
    """The type of the result: with the input's order of dims in memory."""
    strides = preserved_strides(input.shape, input.stride())
    return TensorSpec(input.shape, strides, input.dtype, input.device)


def _native_dropout_eager(input: Tensor, p: float) -> tuple[Tensor, Tensor]:
    require_floating("dropout", input)
    uniform = np.empty(input.shape, np.float32)
    _core.philox_uniform(uniform, _core.seed(), _core.reserve_offset(1))
    mask = new(input.shape, bool_dtype)
    keep = mask._nd
    np.greater_equal(uniform, p, out=keep)
    if not input.is_contiguous():
        kept = _laid_out(input)
        laid_out = allocate(kept.shape, kept.strides, kept.dtype)
        copy_into(laid_out, compute(input) * keep * _scale(p))
        return laid_out, mask
    result, out = output(input.shape, input.dtype)
    np.multiply(compute(input), keep, out=out)
    np.multiply(out, _scale(p), out=out)
    return finish(result, out), mask


def _native_dropout_decompose(input: Any, p: float) -> Any:
    require_floating("dropout", input)
    uniform = ops.rand(tuple(input.shape), dtype=float32, device=input.device)
    mask = ops.ge(uniform, p)
    return _masked(input, mask, p), mask


def _masked(tensor: Any, mask: Any, p: float) -> Any:
    return ops.mul(ops.mul(tensor, ops.to_dtype(mask, tensor.dtype)), _scale(p))


def _native_dropout_vjp(ctx: Any, grad: Any, grad_mask: Any) -> Any:
    return _masked(grad, ctx.out1, ctx.p)


def _drops(p: float, train: bool) -> bool:
    """Whether there is anything to do. Raises RuntimeError for what is no probability."""
    if not 0.0 <= p <= 1.0:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    return train and p != 0.0


def _dropout_decompose(input: Any, p: float, train: bool) -> Any:
    if not _drops(p, train):
        return input
    return ops.native_dropout(input, p)[0]


def _channel_noise(name: str, input: Any, p: float) -> Any:
    """A bool mask [N, C, 1, ...] of what is kept."""
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    require_floating(name, input)
    shape = (*input.shape[:2], *(1,) * (input.ndim - 2))
    return ops.ge(ops.rand(shape, dtype=float32, device=input.device), p)


def _feature_dropout_decompose(input: Any, p: float, train: bool) -> Any:
    if not _drops(p, train) or input.numel() == 0:
        return input
    return _masked(input, _channel_noise("feature_dropout", input, p), p)


def _shifted(input: Any, mask: Any, p: float) -> Any:
    """Dropped elements at selu's lower end, then scaled to zero mean and unit variance."""
    if p == 1.0:
        return ops.mul(input, 0.0)
    scale = 1.0 / math.sqrt((_SELU_LOW * _SELU_LOW * p + 1.0) * (1.0 - p))
    kept = cast(mask, input.dtype)
    low = ops.mul(ops.sub(kept, 1.0), -_SELU_LOW * scale)
    return ops.add(ops.mul(input, ops.mul(kept, scale)), ops.sub(low, _SELU_LOW * scale * p))


def _alpha_dropout_decompose(input: Any, p: float, train: bool) -> Any:
    if not _drops(p, train) or input.numel() == 0:
        return input
    require_floating("alpha_dropout", input)
    noise = ops.rand(tuple(input.shape), dtype=float32, device=input.device)
    return _shifted(input, ops.ge(noise, p), p)


def _feature_alpha_dropout_decompose(input: Any, p: float, train: bool) -> Any:
    if not _drops(p, train) or input.numel() == 0:
        return input
    return _shifted(input, _channel_noise("feature_alpha_dropout", input, p), p)


def _in_place(functional: Any) -> Any:
    """Writes only where something is dropped: otherwise what saved the input for its backward
    still finds it unchanged."""

    def decompose(input: Any, p: float, train: bool) -> Any:
        return ops.copy_(input, functional(input, p, train)) if _drops(p, train) else input

    return decompose


internal(
    "native_dropout(Tensor input, float p)",
    Kind.RANDOM,
    meta=_native_dropout_meta,
    vjp=_native_dropout_vjp,
    saves=("out1",),
    decompose=_native_dropout_decompose,
    eager=_native_dropout_eager,
)
for _name, _rule, _doc in (
    (
        "dropout",
        _dropout_decompose,
        """Elements dropped at random: 0 with probability `p`, else `x / (1 - p)`.

        Hinton et al., "Improving neural networks by preventing co-adaptation", 2012.

        Args:
            input: a floating-point tensor of any shape.
            p: the probability to drop an element, between 0 and 1.
            train: whether anything is dropped; `input` itself is returned if not.

        Raises:
            NotImplementedError: `input` is not a floating-point tensor and `train` holds.
            RuntimeError: `p` is not between 0 and 1.

        Example:
            >>> gw.dropout(gw.ones(1, 3), 0.5, False)
            tensor([[1., 1., 1.]])
        """,
    ),
    (
        "feature_dropout",
        _feature_dropout_decompose,
        """Channels dropped at random: all 0 with probability `p`, else divided by `1 - p`.

        Tompson et al., "Efficient object localization using convolutional networks", 2015.

        Args:
            input: a floating-point tensor of shape [N, C, ...].
            p: the probability to drop a channel, between 0 and 1.
            train: whether anything is dropped; `input` itself is returned if not.

        Raises:
            NotImplementedError: `input` is not a floating-point tensor and `train` holds.
            RuntimeError: `p` is not in [0, 1], or in training `input` has less than two dims.

        Example:
            >>> gw.feature_dropout(gw.ones(1, 3), 0.5, False)
            tensor([[1., 1., 1.]])
        """,
    ),
    (
        "alpha_dropout",
        _alpha_dropout_decompose,
        """Dropout that keeps mean and variance of activations that `selu` gives.

        Dropped elements become the lower end of `selu`, then all are scaled and shifted to mean 0
        and variance 1: Klambauer et al., "Self-normalizing neural networks", 2017.

        Args:
            input: a floating-point tensor of any shape.
            p: the probability to drop an element, between 0 and 1.
            train: whether anything is dropped; `input` itself is returned if not.

        Raises:
            NotImplementedError: `input` is not a floating-point tensor and `train` holds.
            RuntimeError: `p` is not between 0 and 1.

        Example:
            >>> gw.alpha_dropout(gw.ones(1, 3), 0.5, False)
            tensor([[1., 1., 1.]])
        """,
    ),
    (
        "feature_alpha_dropout",
        _feature_alpha_dropout_decompose,
        """Alpha dropout of whole channels: see `alpha_dropout`.

        Dropped channels become the lower end of `selu`.

        Args:
            input: a floating-point tensor of shape [N, C, ...].
            p: the probability to drop a channel, between 0 and 1.
            train: whether anything is dropped; `input` itself is returned if not.

        Raises:
            NotImplementedError: `input` is not a floating-point tensor and `train` holds.
            RuntimeError: `p` is not in [0, 1], or in training `input` has less than two dims.

        Example:
            >>> gw.feature_alpha_dropout(gw.ones(1, 3), 0.5, False)
            tensor([[1., 1., 1.]])
        """,
    ),
):
    define(
        f"{_name}(Tensor input, float p, bool train)",
        Kind.COMPOSITE,
        decompose=_rule,
        method=False,
        doc=_doc,
    )
    define(
        f"{_name}_(Tensor input, float p, bool train)",
        Kind.COMPOSITE,
        decompose=_in_place(_rule),
        method=False,
        public=False,
    )
