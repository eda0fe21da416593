"""Moments, sums without NaN, histograms and what follows from them."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from graphwright.runtime.errors import DataDependent, describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.argument_forms import wrap_dims
from graphwright.runtime.ops.creation.fill import check_held, check_size
from graphwright.runtime.ops.dtype_rules import contiguous_spec, has_values, is_inexact, wide_array
from graphwright.runtime.ops.int_arguments import as_int
from graphwright.runtime.ops.kernels import wrap
from graphwright.runtime.ops.reductions.folds import check_moments, deviation_kernel, var_kernel
from graphwright.runtime.ops.strides import product
from graphwright.runtime.ops.table import Kind, define, no_derivative, not_differentiable
from graphwright.runtime.ops.value_checks import checked
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

# -- variance and deviation, in all of PyTorch's spellings


def _moment_arguments(
    input: Any, dim: Any, unbiased: Any, correction: Any
) -> tuple[tuple[int, ...], Any]:
    """Dims and correction of `f(x, dim, unbiased)`, `f(x, unbiased)`, `f(x, correction=c)`."""
    if not (unbiased is None or unbiased.__class__ is bool):
        raise TypeError(f"'unbiased' must be bool, not {type(unbiased).__name__}")
    if isinstance(dim, bool):
        if unbiased is not None:
            raise TypeError("'unbiased' is given twice: 'dim' must be int, not bool")
        dim, unbiased = None, dim
    if not (dim is None or isinstance(dim, list | tuple)):
        dim = as_int("dim", dim)
    check_moments(input)
    if unbiased is not None:
        if correction is not None:
            raise TypeError("unbiased and correction cannot both be given")
        correction = int(unbiased)
    return wrap_dims(dim, input.ndim), 1 if correction is None else correction


def _warn_of_no_freedom(name: str, input: Any, dims: tuple[int, ...], correction: Any) -> None:
    """Where a moment divides by nothing, eagerly: shapes alone say so."""
    if has_values(input) and product([input.shape[d] for d in dims]) <= correction:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            f"reduction factor (input numel divided by output numel): {correction} for "
            f"{describe(input)} over dims {list(dims)}.",
            stacklevel=2,
        )


def _moment(name: str, part: str) -> Any:
    def decompose(input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Any:
        dims, by = _moment_arguments(input, dim, unbiased, correction)
        _warn_of_no_freedom(name, input, dims, by)
        return getattr(ops, part)(input, dims, by, keepdim)

    return decompose


def _moment_kernel(name: str, kernel: Any) -> Any:
    def eager(input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Any:
        dims, by = _moment_arguments(input, dim, unbiased, correction)
        _warn_of_no_freedom(name, input, dims, by)
        return kernel(input, dims, by, keepdim)

    return eager


def _moment_with_mean(name: str, part: str) -> Any:
    def decompose(input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Any:
        dims, by = _moment_arguments(input, dim, unbiased, correction)
        _warn_of_no_freedom(name, input, dims, by)
        moment = getattr(ops, part)(input, dims, by, keepdim)
        return moment, ops.mean(input, dims, keepdim)

    return decompose


_MOMENTS = {
    "var": _moment("var", "variance"),
    "std": _moment("std", "deviation"),
    "var_mean": _moment_with_mean("var_mean", "variance"),
    "std_mean": _moment_with_mean("std_mean", "deviation"),
}
_KERNELS = {
    "var": _moment_kernel("var", var_kernel),
    "std": _moment_kernel("std", deviation_kernel),
}
for _name, _rule in _MOMENTS.items():
    define(
        f"{_name}(Tensor input, object dim=None, object unbiased=None, bool keepdim=False, *, "
        "Scalar? correction=None)",
        Kind.COMPOSITE,
        decompose=_rule,
        eager=_KERNELS.get(_name),
        method="_" not in _name,
    )


# -- sums that skip NaN, counts


def _nansum(input: Any, dim: tuple[int, ...], keepdim: bool, dtype: Any) -> Any:
    if input.dtype.is_complex:
        raise RuntimeError(f"nansum(): does not support complex inputs, got {describe(input)}")
    if input.dtype.is_floating_point:
        input = ops.where(ops.isnan(input), 0.0, input)
    return ops.sum(input, dim, keepdim, dtype=dtype)


define(
    "nansum(Tensor input, Dims dim=None, bool keepdim=False, *, dtype? dtype=None)",
    Kind.COMPOSITE,
    decompose=_nansum,
)


def _nanmean(input: Any, dim: tuple[int, ...], keepdim: bool, dtype: Any) -> Any:
    if not is_inexact(input.dtype):
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            f"{describe(input)}"
        )
    if input.dtype.is_complex:
        raise RuntimeError(f"nanmean(): does not support complex inputs, got {describe(input)}")
    missing = ops.isnan(input)
    total = ops.sum(ops.where(missing, 0.0, input), dim, keepdim, dtype=dtype)
    return ops.div(total, ops.sum(ops.logical_not(missing), dim, keepdim))


define(
    "nanmean(Tensor input, Dims dim=None, bool keepdim=False, *, dtype? dtype=None)",
    Kind.COMPOSITE,
    decompose=_nanmean,
)


def _count_nonzero(input: Any, dim: tuple[int, ...]) -> Any:
    truth = input if input.dtype is dtypes.bool else ops.ne(input, 0)
    return ops.sum(truth, dim)


define(
    "count_nonzero(Tensor input, Dims dim=None)", Kind.COMPOSITE, decompose=_count_nonzero
)


def _trace(input: Any) -> Any:
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    if input.dtype is dtypes.bool:
        raise NotImplementedError('"trace" not implemented for bool')
    return ops.sum(ops.diagonal(input))


define("trace(Tensor input)", Kind.COMPOSITE, decompose=_trace)


# -- histograms


def _check_histc(input: Any, bins: int, min: Any, max: Any) -> None:
    if not isinstance(bins, (int, SymInt)):
        raise TypeError(f"histc(): argument 'bins' must be int, not {type(bins).__name__}")
    if bins <= 0:
        raise RuntimeError(f"histc(): bins must be > 0, but got {bins} for {describe(input)}")
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f'"histc" not implemented for {describe(input)}')
    if max < min:
        raise RuntimeError(f"histc: max must be larger than min, got min={min}, max={max}")
    check_held("histc", input.dtype, min, max)


def _check_finite(low: float, high: float) -> None:
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"histogram: range of [{low}, {high}] is not finite")


def _range(values: Any, low: float, high: float, margin: float) -> tuple[float, float]:
    """The range asked for; that of the values where it is empty, with a margin around one value.

    Raises RuntimeError where it is not finite.
    """
    if low == high and not values.size:
        return low, low + 1.0
    if low == high:
        low, high = float(values.min()), float(values.max())
    _check_finite(low, high)
    return (low - margin, high + margin) if low == high else (low, high)


def _histc_eager(input: Any, bins: int, min: Any, max: Any) -> Tensor:
    _check_histc(input, bins, min, max)
    values = input._nd.reshape(-1)
    if input.dtype.itemsize == 2 or not input.dtype.is_floating_point:
        values = values.astype(np.float64)
    low, high = _range(values, float(min), float(max), 1.0)
    kept = values[(values >= low) & (values <= high)]
    kind = values.dtype.type
    with np.errstate(over="ignore"):
        width = kind(high) - kind(low)
        fits = width > 0 and np.isfinite(width * kind(bins))
    if fits:
        places = ((kept - kind(low)) * kind(bins) / width).astype(np.int64)
    else:
        scale = 0.5 if high - low > 1 else 1.0
        parts = (kept.astype(np.float64) * scale - low * scale) / (high * scale - low * scale)
        places = (parts * bins).astype(np.int64)
    counts = np.bincount(np.minimum(places, bins - 1), minlength=bins)
    return wrap(counts, input.dtype)


def _histc_meta(input: Any, bins: int, min: Any, max: Any) -> Any:
    _check_histc(input, bins, min, max)
    return contiguous_spec(input, (bins,))


define(
    "histc(Tensor input, int bins=100, Scalar min=0, Scalar max=0)",
    Kind.OTHER,
    meta=_histc_meta,
    vjp=not_differentiable,
    eager=_histc_eager,
)


def _check_edges(input: Any, edges: Any, weight: Any) -> None:
    for name, other in (("bins", edges), ("weight", weight)):
        if other is not None and other.dtype is not input.dtype:
            raise RuntimeError(
                f"histogram(): input tensor and {name} tensor should have the same dtype, but "
                f"got {describe(input)} and {describe(other)}"
            )
    if edges is not None and (edges.ndim != 1 or edges.shape[0] < 1):
        raise RuntimeError(f"histogram(): bins tensor should have one dim, got {describe(edges)}")
    if weight is not None and weight.shape != input.shape:
        raise RuntimeError(
            "histogram(): if weight tensor is provided it should have the same shape as the "
            f"input tensor, got {describe(weight)} and {describe(input)}"
        )


def _counts_eager(input: Any, edges: Any, weight: Any, density: bool) -> Tensor:
    _check_edges(input, edges, weight)
    values, bounds = wide_array(input).reshape(-1), wide_array(edges)
    inside = (values >= bounds[0]) & (values <= bounds[-1])
    places = np.searchsorted(bounds, values[inside], side="right") - 1
    bins = bounds.size - 1
    heights = None if weight is None else wide_array(weight).reshape(-1)[inside]
    counts = np.bincount(np.minimum(places, bins - 1), heights, minlength=bins).astype(float)
    if density:
        counts = counts / (counts.sum() * np.diff(bounds))
    return wrap(counts, input.dtype)


define(
    "histogram_counts(Tensor input, Tensor edges, Tensor? weight, bool density)",
    Kind.OTHER,
    meta=lambda input, edges, weight, density: contiguous_spec(input, (edges.shape[0] - 1,)),
    vjp=no_derivative("histogram"),
    eager=_counts_eager,
    method=False,
    public=False,
)


def _edges_eager(input: Any, bins: int, range: Any) -> Tensor:
    if range is None:
        low, high = _range(wide_array(input), 0.0, 0.0, 0.5)
    else:
        low, high = map(float, range)
        if low > high:
            raise RuntimeError(f"histogram(): min {low} should not exceed max {high}")
        _check_finite(low, high)
        low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
    return wrap(np.linspace(low, high, bins + 1), input.dtype)


define(
    "histogram_edges(Tensor input, int bins, object range)",
    Kind.OTHER,
    meta=lambda input, bins, range: contiguous_spec(input, (bins + 1,)),
    vjp=no_derivative("histogram"),
    eager=_edges_eager,
    method=False,
    public=False,
)


def _histogram(
    input: Any, bins: Any, range: Any, weight: Any, density: bool
) -> Any:
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise NotImplementedError(f'"histogram" not implemented for {describe(input)}')
    if isinstance(bins, Tensor):
        edges = ops.clone(bins.contiguous())
        if range is not None:
            raise TypeError("histogram(): range is not taken together with a tensor of edges")
    else:
        if bins <= 0:
            raise RuntimeError(f"histogram(): bins {bins} must be > 0")
        edges = ops.histogram_edges(input, bins, range)
    _check_edges(input, edges, weight)
    counts = ops.histogram_counts(input, edges, weight, density)
    return return_types.histogram(counts, edges)


define(
    "histogram(Tensor input, object bins=100, *, object range=None, Tensor? weight=None, "
    "bool density=False)",
    Kind.COMPOSITE,
    decompose=_histogram,
)


def _bincount_meta(input: Any, weights: Any, minlength: int) -> Any:
    raise DataDependent(f"bincount() needs the largest value of {describe(input)}")


def _bincount_eager(input: Any, weights: Any, minlength: int) -> Tensor:
    if minlength < 0:
        raise RuntimeError(f"minlength should be >= 0, got {minlength}")
    values = input._nd
    integer = not is_inexact(input.dtype) and input.dtype is not dtypes.bool
    if values.ndim != 1 or not integer or (values.size and values.min() < 0):
        raise RuntimeError(
            "bincount only supports 1-d non-negative integral inputs, "
            f"got {describe(input)}"
        )
    if weights is not None and weights.shape != input.shape:
        raise RuntimeError(
            "weights should be 1-d and have the same length as input, "
            f"got {describe(weights)} and {describe(input)}"
        )
    check_size("bincount", (max(int(values.max(initial=-1)) + 1, minlength),))
    if weights is None:
        return wrap(np.bincount(values, minlength=minlength), dtypes.int64)
    dtype = dtypes.float32 if weights.dtype is dtypes.float32 else dtypes.float64
    counts = np.bincount(values, weights._nd.astype(np.float64), minlength)
    return wrap(counts, dtype)


define(
    "bincount(Tensor input, Tensor? weights=None, SymInt minlength=0)",
    Kind.OTHER,
    meta=_bincount_meta,
    vjp=no_derivative("bincount"),
    eager=_bincount_eager,
    tags=("data_dependent",),
)


# -- covariance


def _check_weights(name: str, weights: Any, observations: Any) -> None:
    if weights.ndim > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions, "
                           f"got {describe(weights)}")
    if weights.numel() != observations:
        raise RuntimeError(f"cov(): expected {name} to have the same numel as there are "
                           f"observations ({observations}), got {describe(weights)}")


def _not_negative(name: str, weights: Any) -> Any:
    message = f"cov(): {name} cannot be negative, got {describe(weights)}"
    return checked(weights, ops.ge(weights, 0), message)


def _cov_weights(fweights: Any, aweights: Any, observations: Any) -> Any:
    """The product of the weights given, or None."""
    if fweights is not None:
        _check_weights("fweights", fweights, observations)
        if is_inexact(fweights.dtype) or fweights.dtype is dtypes.bool:
            raise RuntimeError(
                f"cov(): expected fweights to have integral dtype, got {describe(fweights)}"
            )
        fweights = _not_negative("fweights", fweights)
    if aweights is None:
        return fweights
    _check_weights("aweights", aweights, observations)
    if not aweights.dtype.is_floating_point:
        raise RuntimeError(
            f"cov(): expected aweights to have floating point dtype, got {describe(aweights)}"
        )
    aweights = _not_negative("aweights", aweights)
    return aweights if fweights is None else ops.mul(fweights, aweights)


def _cov_norm(weights: Any, aweights: Any, observations: Any, correction: Any) -> Any:
    """What the sum of products is divided by, at least 0."""
    if weights is None:
        return max(observations - correction, 0)
    total = ops.sum(weights)
    if aweights is None or not correction:
        norm = ops.sub(total, correction)
    else:
        squares = ops.sum(ops.mul(weights, aweights))
        norm = ops.sub(total, ops.mul(ops.div(squares, total), correction))
    return ops.clamp(norm, 0, None)


def _cov(input: Any, correction: Any, fweights: Any, aweights: Any) -> Any:
    if input.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions, got {describe(input)}"
        )
    if input.dtype is dtypes.bool:
        raise RuntimeError(f"cov(): bool dtype is not supported for input, got {describe(input)}")
    rows = input if input.ndim == 2 else ops.reshape(input, (1, -1))
    observations = rows.shape[1]
    weights = _cov_weights(fweights, aweights, observations)
    if not is_inexact(rows.dtype):
        rows = ops.to_dtype(rows, dtypes.get_default_dtype())
    norm = _cov_norm(weights, aweights, observations, correction)
    if weights is None:
        mean = ops.mean(rows, (1,), True)
    else:
        mean = ops.div(ops.sum(ops.mul(rows, weights), (1,), True), ops.sum(weights))
    centred = ops.sub(rows, mean)
    weighted = centred if weights is None else ops.mul(centred, weights)
    other = ops.conj(weighted) if weighted.dtype.is_complex else weighted
    product = ops.mm(ops.to_dtype(centred, other.dtype), ops.transpose(other, 0, 1))
    return ops.squeeze(ops.div(product, norm))


define(
    "cov(Tensor input, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None)",
    Kind.COMPOSITE,
    decompose=_cov,
)


def _corrcoef(input: Any) -> Any:
    if input.ndim > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions, got {describe(input)}"
        )
    covariance = ops.cov(input)
    if covariance.ndim == 0:
        return ops.div(covariance, covariance)
    variances = ops.diagonal(covariance)
    if variances.dtype.is_complex:
        variances = ops.real(variances)
    deviations = ops.sqrt(variances)
    scaled = ops.div(ops.div(covariance, ops.unsqueeze(deviations, 1)), deviations)
    return scaled if scaled.dtype.is_complex else ops.clamp(scaled, -1, 1)


define("corrcoef(Tensor input)", Kind.COMPOSITE, decompose=_corrcoef)
