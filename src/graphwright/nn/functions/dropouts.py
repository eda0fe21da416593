"""Dropout as functions. In evaluation (`training` False) they return their input."""

from __future__ import annotations

import warnings
from typing import Any

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


def _apply(name: str, input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    function: Any = getattr(ops, f"{name}_" if inplace else name)
    return function(input, p, training)


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Elements set to 0 with probability `p`, the others scaled by `1 / (1 - p)`.

    Hinton et al. (2012).

    Args:
        input: a tensor.
        p: the probability of being set to 0.
        training: drop; return `input` if False.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Raises:
        ValueError: `p` is not from 0 to 1.

    Example:
        >>> F.dropout(gw.ones(3), 1.0)
        tensor([0., 0., 0.])
    """
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if inplace:
        return ops.dropout_(input, p, training)
    return ops.dropout(input, p, training)


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout that keeps zero mean and unit variance, for selu.

    Dropped elements take selu's negative limit, and all are scaled (Klambauer et al., 2017).

    Args:
        input: floating point.
        p: the probability of being set to 0.
        training: drop; return `input` if False.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Raises:
        ValueError: `p` is not from 0 to 1.

    Example:
        >>> F.alpha_dropout(gw.ones(3), 0.5).shape
        graphwright.Size([3])
    """
    return _apply("alpha_dropout", input, p, training, inplace)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Alpha dropout of whole channels.

    Args:
        input: floating point, `(N, C, *)`.
        p: the probability of being set to 0.
        training: drop; return `input` if False.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Raises:
        ValueError: `p` is not from 0 to 1.

    Example:
        >>> F.feature_alpha_dropout(gw.ones(1, 2, 3)).shape
        graphwright.Size([1, 2, 3])
    """
    return _apply("feature_alpha_dropout", input, p, training, inplace)


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of signals; the others are scaled by `1 / (1 - p)`.

    Args:
        input: `(N, C, L)` or `(C, L)`.
        p: the probability of being set to 0.
        training: drop; return `input` if False.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Raises:
        RuntimeError: `input` has not 2 or 3 dims.
        ValueError: `p` is not from 0 to 1.

    Example:
        >>> F.dropout1d(gw.ones(2, 3), 1.0).sum()
        tensor(0.)
    """
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that "
            "dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, "
            "a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return _by_channel(input, p, training, inplace, unbatched=2)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of images; the others are scaled by `1 / (1 - p)`.

    Args:
        input: `(N, C, H, W)`; with 3 dims it is taken for `(N, C, L)`, with a warning.
        p: the probability of being set to 0.
        training: drop; return `input` if False.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Raises:
        ValueError: `p` is not from 0 to 1.

    Example:
        >>> F.dropout2d(gw.ones(1, 2, 3, 3), 1.0).sum()
        tensor(0.)
    """
    if input.ndim not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {input.ndim}-D input to dropout2d, which is deprecated and "
            "will result in an error in a future release.",
            stacklevel=2,
        )
    if input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D "
            "dropout behavior is desired - input is interpreted as shape (N, C, L).",
            stacklevel=2,
        )
    return _apply("feature_dropout", input, p, training, inplace)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of volumes; the others are scaled by `1 / (1 - p)`.

    Args:
        input: `(N, C, D, H, W)` or `(C, D, H, W)`; warns for another number of dims.
        p: the probability of being set to 0.
        training: drop; return `input` if False.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Raises:
        ValueError: `p` is not from 0 to 1.

    Example:
        >>> F.dropout3d(gw.ones(1, 2, 3, 3, 3), 1.0).sum()
        tensor(0.)
    """
    if input.ndim not in (4, 5):
        warnings.warn(
            f"dropout3d: Received a {input.ndim}-D input to dropout3d, which is deprecated and "
            "will result in an error in a future release.",
            stacklevel=2,
        )
    return _by_channel(input, p, training, inplace, unbatched=4)


def _by_channel(
    input: Tensor, p: float, training: bool, inplace: bool, unbatched: int
) -> Tensor:
    """Feature dropout; an input of `unbatched` dimensions has no batch."""
    if input.ndim != unbatched:
        return _apply("feature_dropout", input, p, training, inplace)
    out = ops.squeeze(_apply("feature_dropout", ops.unsqueeze(input, 0), p, training, inplace), 0)
    return input if inplace else out
