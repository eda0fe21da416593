"""Moments, sums without NaN, counts and covariance."""

from __future__ import annotations

import warnings
from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import wrap_dims
from graphwright.runtime.ops.dtype_rules import has_values, is_inexact
from graphwright.runtime.ops.int_arguments import as_int
from graphwright.runtime.ops.reductions.folds import check_moments, deviation_kernel, var_kernel
from graphwright.runtime.ops.strides import product
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.value_checks import checked
from graphwright.runtime.tensor import dtypes

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
_MOMENT_DOCS = {
    "var": """\
    Variance of all elements or along some dims: `sum |x - mean|^2 / (n - correction)`.

    Args:
        input: a floating point or complex tensor of any shape.
        dim: the dim or dims; all if None. A bool here is `unbiased`.
        unbiased: True for `correction=1`, False for `correction=0`; use `correction` if None.
        keepdim: keep each of these dims with size 1.
        correction: what is subtracted from the number n of elements; 1 if None.

    Returns: a real tensor of the shape of `input` without `dim`. With a warning, NaN or inf
        where `n - correction` is not positive.

    Raises:
        RuntimeError: `input` has integers or bools.
        TypeError: both `unbiased` and `correction` are given.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.var(gw.tensor([[1.0, 3.0], [2.0, 2.0]]), 1)
        tensor([2., 0.])
    """,
    "std": """\
    Standard deviation of the elements, of all or along some dims: the square root of `var`.

    Args:
        input: a floating point or complex tensor of any shape.
        dim: the dim or dims; all if None. A bool here is `unbiased`.
        unbiased: True for `correction=1`, False for `correction=0`; use `correction` if None.
        keepdim: keep each of these dims with size 1.
        correction: what is subtracted from the number of elements, as in `var`; 1 if None.

    Returns: a real tensor of the shape of `input` without `dim`.

    Raises:
        RuntimeError: `input` has integers or bools.
        TypeError: both `unbiased` and `correction` are given.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.std(gw.tensor([1.0, 2.0, 3.0, 4.0]), correction=0)
        tensor(1.1180)
    """,
    "var_mean": """Variance and mean of the elements, of all or along some dims: `var` and `mean`.

    Args:
        input: a floating point or complex tensor of any shape.
        dim: the dim or dims; all if None. A bool here is `unbiased`.
        unbiased: True for `correction=1`, False for `correction=0`; use `correction` if None.
        keepdim: keep each of these dims with size 1.
        correction: what is subtracted from the number of elements, as in `var`; 1 if None.

    Returns: a tuple of the variance and the mean.

    Raises:
        RuntimeError: `input` has integers or bools.
        TypeError: both `unbiased` and `correction` are given.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.var_mean(gw.tensor([[1.0, 3.0], [2.0, 2.0]]), 1)
        (tensor([2., 0.]), tensor([2., 2.]))
    """,
    "std_mean": """\
    Standard deviation and mean of all elements or along some dims: `std` and `mean`.

    Args:
        input: a floating point or complex tensor of any shape.
        dim: the dim or dims; all if None. A bool here is `unbiased`.
        unbiased: True for `correction=1`, False for `correction=0`; use `correction` if None.
        keepdim: keep each of these dims with size 1.
        correction: what is subtracted from the number of elements, as in `var`; 1 if None.

    Returns: a tuple of the standard deviation and the mean.

    Raises:
        RuntimeError: `input` has integers or bools.
        TypeError: both `unbiased` and `correction` are given.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.std_mean(gw.tensor([[1.0, 3.0], [2.0, 2.0]]), 1)
        (tensor([1.4142, 0.0000]), tensor([2., 2.]))
    """,
}
for _name, _rule in _MOMENTS.items():
    define(
        f"{_name}(Tensor input, object dim=None, object unbiased=None, bool keepdim=False, *, "
        "Scalar? correction=None)",
        Kind.COMPOSITE,
        decompose=_rule,
        eager=_KERNELS.get(_name),
        method="_" not in _name,
        doc=_MOMENT_DOCS[_name],
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
    doc="""Sum of the elements that are not NaN, of all or along some dims.

    Args:
        input: a real or bool tensor of any shape; integers and bool are summed as int64.
        dim: the dim or dims to sum along; all if None.
        keepdim: keep each of these dims with size 1.
        dtype: what `input` is converted to first; nothing if None.

    Returns: a tensor of the shape of `input` without `dim`.

    Raises:
        RuntimeError: `input` is complex.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.nansum(gw.tensor([1.0, float("nan"), 3.0]))
        tensor(4.)
    """,
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
    doc="""Mean of the elements that are not NaN, of all or along some dims.

    Args:
        input: a floating point tensor of any shape.
        dim: the dim or dims to average over; all if None.
        keepdim: keep each of these dims with size 1.
        dtype: what `input` is converted to first; nothing if None.

    Returns: a tensor of the shape of `input` without `dim`; NaN where all elements are.

    Raises:
        RuntimeError: `input` is complex, or has integers or bools.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.nanmean(gw.tensor([1.0, float("nan"), 3.0]))
        tensor(2.)
    """,
)


def _count_nonzero(input: Any, dim: tuple[int, ...]) -> Any:
    truth = input if input.dtype is dtypes.bool else ops.ne(input, 0)
    return ops.sum(truth, dim)


define(
    "count_nonzero(Tensor input, Dims dim=None)",
    Kind.COMPOSITE,
    decompose=_count_nonzero,
    doc="""How many elements are not zero, of all or along some dims. NaN is not zero.

    Args:
        input: a tensor of any shape and dtype.
        dim: the dim or dims to count along; all if None.

    Returns: an int64 tensor of the shape of `input` without `dim`.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> gw.count_nonzero(gw.tensor([[0, 1], [2, 3]]), 0)
        tensor([1, 2])
    """,
)


def _trace(input: Any) -> Any:
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    if input.dtype is dtypes.bool:
        raise NotImplementedError('"trace" not implemented for bool')
    return ops.sum(ops.diagonal(input))


define(
    "trace(Tensor input)",
    Kind.COMPOSITE,
    decompose=_trace,
    doc="""Sum of the elements on the diagonal of a matrix.

    Args:
        input: a tensor of two dims, square or not; integers are summed as int64.

    Returns: a tensor without dims.

    Raises:
        RuntimeError: `input` does not have two dims.
        NotImplementedError: `input` is bool.

    Example:
        >>> gw.trace(gw.tensor([[1, 2], [3, 4]]))
        tensor(5)
    """,
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
    doc="""Covariance matrix of variables, one per row, of which each column is an observation.

    `C_ij = sum_k w_k (x_ik - m_i) conj(x_jk - m_j) / (sum_k w_k - correction)` with the
    weighted means m; with `aweights` a, the correction is multiplied by `sum w a / sum w`.

    Args:
        input: a tensor of at most two dims, converted to the default dtype if of integers; a
            vector is one variable.
        correction: what is subtracted from the number of observations.
        fweights: how often each observation counts: integers, one per column; 1 if None.
        aweights: floating point weights, one per column; 1 if None.

    Returns: a matrix with one row and one column per variable; no dims for one variable.

    Raises:
        RuntimeError: `input` has more dims or is bool, or weights have a wrong length or dtype
            or are negative.

    Example:
        >>> gw.cov(gw.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """,
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


define(
    "corrcoef(Tensor input)",
    Kind.COMPOSITE,
    decompose=_corrcoef,
    doc="""Pearson's correlation coefficients of variables, one per row: `C_ij / sqrt(C_ii C_jj)`.

    Args:
        input: a tensor of at most two dims, as of `cov`: each column is an observation.

    Returns: a matrix with one row and one column per variable, in [-1, 1]; no dims for one
        variable.

    Raises:
        RuntimeError: `input` has more than two dims or is bool.

    Example:
        >>> gw.corrcoef(gw.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """,
)
