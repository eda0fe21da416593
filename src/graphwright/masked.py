"""Reductions and normalisations of the elements that a mask keeps, after `torch.masked`.

`mask` is a bool tensor that broadcasts to the input; None keeps everything. What it leaves out
counts as the operation's identity: nothing of it is in the result, and its gradient is zero.
Reductions of nothing give the identity (mean and var: NaN). `MaskedTensor` does not exist.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from graphwright.runtime.errors import require_tensor
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.finfo import iinfo
from graphwright.runtime.tensor.tensor import Tensor

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]

Dims = int | Sequence[int] | None


def _mask(input: Tensor, mask: Tensor | None) -> Tensor | None:
    """The mask in the input's shape. Raises IndexError, TypeError or RuntimeError if it cannot."""
    if mask is None:
        return None
    require_tensor("masked", "mask", mask)
    if mask.dtype is not dtypes.bool:
        raise TypeError(f"the mask of a masked operation must be bool, got {mask.dtype}")
    if mask.ndim > input.ndim:
        raise IndexError(
            "masked operation expected mask dimensionality to be less than or equal to the "
            f"input's, got mask of shape {list(mask.shape)} and input of {list(input.shape)}"
        )
    return ops.expand(mask, tuple(input.shape))


def _cast(input: Tensor, dtype: Any) -> Tensor:
    """The input as `dtype`, if one is given. Raises TypeError for what is neither."""
    require_tensor("masked", "input", input)
    return input if dtype is None else ops.to_dtype(input, dtype)


def _kept(input: Tensor, mask: Tensor | None, identity: Any, dtype: Any = None) -> Tensor:
    """The input as `dtype`, with the identity where the mask leaves an element out."""
    input = _cast(input, dtype)
    mask = _mask(input, mask)
    return input if mask is None else ops.where(mask, input, identity)


def _extreme(dtype: Any, sign: int) -> Any:
    """The smallest (sign -1) or largest number of a dtype; infinite where there is infinity."""
    if dtype.is_floating_point or dtype.is_complex:
        return sign * math.inf
    if dtype is dtypes.bool:
        return sign > 0
    return iinfo(dtype).max if sign > 0 else iinfo(dtype).min


def _wide(input: Tensor, dtype: Any) -> Any:
    """The dtype of sums: int64 for integers and bool unless one is given."""
    require_tensor("masked", "input", input)
    if dtype is not None or input.dtype.is_floating_point or input.dtype.is_complex:
        return dtype
    return dtypes.int64


def _dims(input: Tensor, dim: Dims) -> tuple[int, ...]:
    """The dims reduced, wrapped and without repetition; all for None and ()."""
    if dim is None or (isinstance(dim, Sequence) and not dim):
        return tuple(range(input.ndim))
    given = (dim,) if isinstance(dim, int) else tuple(dim)
    wrapped = tuple(d % input.ndim if input.ndim else 0 for d in given)
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(f"dim={dim} names a dimension more than once")
    return wrapped


def _count(input: Tensor, mask: Tensor | None, dims: tuple[int, ...], keepdim: bool) -> Tensor:
    """How many elements the mask keeps."""
    mask = _mask(input, mask)
    kept = ops.ones_like(input, dtype=dtypes.bool) if mask is None else mask
    return ops.sum(kept, dims, keepdim)


def sum(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The sum of the kept elements; 0 of none."""
    kept = _kept(input, mask, 0, _wide(input, dtype))
    return ops.sum(kept, _dims(input, dim), bool(keepdim))


def prod(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The product of the kept elements; 1 of none."""
    result: Any = _kept(input, mask, 1, _wide(input, dtype))
    for d in sorted(_dims(input, dim), reverse=True):
        result = ops.prod(result, d, bool(keepdim))
    return result


def amax(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The largest kept element; the dtype's smallest number of none."""
    input = _cast(input, dtype)
    kept = _kept(input, mask, _extreme(input.dtype, -1))
    return ops.amax(kept, _dims(input, dim), bool(keepdim))


def amin(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The smallest kept element; the dtype's largest number of none."""
    input = _cast(input, dtype)
    kept = _kept(input, mask, _extreme(input.dtype, 1))
    return ops.amin(kept, _dims(input, dim), bool(keepdim))


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool | None = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The place of the largest kept element, as a number of the input's dtype."""
    input = _cast(input, dtype)
    kept = _kept(input, mask, _extreme(input.dtype, -1))
    return ops.to_dtype(ops.argmax(kept, dim, bool(keepdim)), kept.dtype)


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool | None = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The place of the smallest kept element, as a number of the input's dtype."""
    input = _cast(input, dtype)
    kept = _kept(input, mask, _extreme(input.dtype, 1))
    return ops.to_dtype(ops.argmin(kept, dim, bool(keepdim)), kept.dtype)


def cumsum(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """Running sums of the kept elements along `dim`, in the input's dtype unless one is given."""
    return ops.cumsum(_kept(input, mask, 0), dim, dtype=dtype or input.dtype)


def cumprod(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """Running products of the kept elements along `dim`; dtypes as `cumsum`."""
    return ops.cumprod(_kept(input, mask, 1), dim, dtype=dtype or input.dtype)


def mean(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The mean of the kept elements; NaN of none. Integers need a floating point `dtype`."""
    input = _cast(input, dtype)
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        raise ValueError(f"mean: the result of {input.dtype} must be floating point or complex")
    dims = _dims(input, dim)
    total = ops.sum(_kept(input, mask, 0), dims, bool(keepdim))
    return ops.div(total, _count(input, mask, dims, bool(keepdim)))


def median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The lower median of the kept elements along `dim`; NaN of none.

    Raises ValueError where there is none of numbers that are not floating point.
    """
    require_tensor("masked", "input", input)
    if input.dtype.is_floating_point:
        return ops.nanmedian(_kept(input, mask, math.nan, dtype), dim, keepdim).values
    middle = ops.nanmedian(_kept(input, mask, math.nan, dtypes.float64), dim, keepdim).values
    if ops.any(ops.isnan(middle)).item():
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not floating point"
        )
    return ops.to_dtype(middle, dtype or input.dtype)


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The vector norm of the kept elements."""
    order = 2.0 if ord is None else ord
    kept = _kept(input, mask, math.inf if order < 0 else 0, dtype)
    return ops.linalg_vector_norm(kept, order, _dims(input, dim), bool(keepdim))


def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool | None = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The variance of the kept elements, over their number less `correction` (1).

    Of the input's dtype (float32 of integers), complex ones too. Raises RuntimeError where both
    `unbiased` and `correction` are given.
    """
    if unbiased is not None and correction is not None:
        raise RuntimeError("Only one of correction and unbiased should be given")
    less = correction if correction is not None else 0 if unbiased is False else 1
    input = _cast(input, dtype)
    dims = _dims(input, dim)
    if dtype is None and not (input.dtype.is_floating_point or input.dtype.is_complex):
        dtype = dtypes.float32
    count = _count(input, mask, dims, True)
    kept = _kept(input, mask, 0, dtype)
    centred = kept
    for _ in range(2):      # the second takes away what rounding took from the mean
        centred = _kept(centred - ops.div(ops.sum(centred, dims, True), count), mask, 0)
    squares = centred * centred.conj()
    if not keepdim:
        count = count.reshape(ops.sum(squares, dims).shape)
    return ops.div(ops.sum(squares, dims, bool(keepdim)), ops.clamp_min(count - less, 0))


def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool | None = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The square root of `var`."""
    return ops.sqrt(
        var(
            input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask
        )
    )


def logsumexp(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """log(sum(exp)) of the kept elements, in the input's dtype unless another is given."""
    input = _cast(input, dtype)
    kept = _kept(input, mask, _extreme(input.dtype, -1))
    total = ops.logsumexp(kept, _dims(input, dim), keepdim)
    return ops.to_dtype(total, kept.dtype)


def softmax(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """softmax along `dim` of the kept elements; 0 for the others, NaN where none is kept."""
    return ops.softmax(_kept(input, mask, -math.inf, dtype), dim)


def log_softmax(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The logarithm of `softmax`."""
    return ops.log_softmax(_kept(input, mask, -math.inf, dtype), dim)


def softmin(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """`softmax` of the negated input."""
    return ops.softmax(ops.neg(_kept(input, mask, math.inf, dtype)), dim)


def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The kept elements over their norm along `dim`, which counts as at least `eps`."""
    kept = _kept(input, mask, 0, dtype)
    size = norm(kept, ord, dim, keepdim=True, mask=mask)
    return ops.div(kept, ops.clamp_min(size, eps))


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: Any = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """log(exp(input) + exp(other)), where what a mask leaves out adds nothing."""
    require_tensor("masked", "input", input)
    dtype = dtypes.float32 if dtype is None and not input.dtype.is_floating_point else dtype
    return ops.logaddexp(
        _kept(input, input_mask, -math.inf, dtype), _kept(other, other_mask, -math.inf, dtype)
    )
