"""Dropout as functions. In evaluation (`training` False) they return their input."""

from __future__ import annotations

import warnings
from typing import Any

from graphwright.runtime.ops import _face as ops
from graphwright.runtime.tensor.tensor import Tensor


def _apply(name: str, input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    function: Any = getattr(ops, f"{name}_" if inplace else name)
    return function(input, p, training)


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero each element with probability `p`, scale the others by 1/(1-p); ValueError on bad p.

    Hinton et al. (2012).
    """
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if inplace:
        return ops.dropout_(input, p, training)
    return ops.dropout(input, p, training)


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout that keeps zero mean and unit variance, for selu (Klambauer et al., 2017)."""
    return _apply("alpha_dropout", input, p, training, inplace)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Alpha dropout of whole channels of [N, C, *]."""
    return _apply("feature_alpha_dropout", input, p, training, inplace)


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of [N, C, L] or [C, L]. RuntimeError for another rank."""
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
    """Dropout of whole channels of [N, C, H, W]; warns for another rank."""
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
    """Dropout of whole channels of [N, C, D, H, W] or [C, D, H, W]; warns for another rank."""
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
