"""Quantiles, differentiable, with all of PyTorch's interpolations."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.value_checks import checked, inside
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _check(name: str, input: Any, q: Any, interpolation: str) -> None:
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(
            f"{name}() input tensor must be either float or double dtype, got {describe(input)}"
        )
    if input.ndim and 0 in input.shape:
        raise RuntimeError(f"{name}() input tensor must be non-empty, got {describe(input)}")
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    if isinstance(q, Tensor):
        if q.ndim > 1:
            raise RuntimeError(
                f"{name}() q must be a scalar or 1D tensor, but got {describe(q)}"
            )
        if q.dtype is not input.dtype:
            raise RuntimeError(
                f"{name}() q tensor must be same dtype as the input tensor, got {describe(q)} "
                f"and {describe(input)}"
            )


def _probabilities(name: str, q: Any, input: Any) -> Any:
    """`q` as a tensor. Raises RuntimeError unless all are in [0, 1]."""
    message = f"{name}() q values must be in the range [0, 1]"
    if isinstance(q, Tensor):
        return checked(q, inside(q, 0, 1), message)
    if not 0 <= q <= 1:
        raise RuntimeError(f"{message}, got {q}")
    return ops.full((), q, dtype=input.dtype, device=input.device)


def _ranks(rows: Any, probabilities: Any, skip_nan: bool) -> Any:
    """Places in each sorted row, as real numbers; those of a NaN where there is one."""
    last = rows.shape[-1] - 1
    if skip_nan:
        known = ops.sum(ops.logical_not(ops.isnan(rows)), (-1,), True)
        ranks = ops.mul(probabilities, ops.to_dtype(ops.sub(known, 1), rows.dtype))
        return ops.where(ops.lt(ranks, 0), 0.0, ranks)
    ranks = ops.mul(probabilities, float(last))
    bad = ops.isnan(ops.slice(rows, rows.ndim - 1, last, last + 1))
    return ops.where(bad, float(last), ranks)


def _between(rows: Any, ranks: Any, interpolation: str) -> Any:
    at = rows.ndim - 1
    rounding = {"lower": ops.floor, "higher": ops.ceil, "nearest": ops.round}.get(interpolation)
    if rounding is not None:
        return ops.gather(rows, at, ops.to_dtype(rounding(ranks), dtypes.int64))
    below = ops.floor(ranks)
    lower = ops.gather(rows, at, ops.to_dtype(below, dtypes.int64))
    upper = ops.gather(rows, at, ops.to_dtype(ops.ceil(ranks), dtypes.int64))
    if interpolation == "midpoint":
        weight = ops.full((), 0.5, dtype=rows.dtype, device=rows.device)
        return ops.lerp(lower, upper, weight)
    return ops.lerp(lower, upper, ops.sub(ranks, below))


def _arranged(input: Any, dim: int | None) -> Any:
    """Rows to sort: the dim last, or everything."""
    if dim is None:
        return ops.reshape(input, (-1,))
    return input if input.ndim < 2 else ops.movedim(input, dim, input.ndim - 1)


def _quantile_rule(name: str, skip_nan: bool) -> Any:
    def decompose(input: Any, q: Any, dim: Any, keepdim: bool, interpolation: str) -> Any:
        _check(name, input, q, interpolation)
        at = None if dim is None else wrap_dim(dim, input.ndim)
        rows = _arranged(input, at)
        if not rows.ndim:
            rows = ops.reshape(rows, (1,))
        rows = ops.sort(rows, rows.ndim - 1).values
        q = _probabilities(name, q, input)
        probabilities = ops.reshape(q, (-1,))
        ranks = _ranks(rows, probabilities, skip_nan)
        shape = (*rows.shape[:-1], probabilities.shape[0])
        if tuple(ranks.shape) != tuple(shape):
            ranks = ops.expand(ranks, shape)
        values = _between(rows, ranks.contiguous(), interpolation)
        return _placed(values, input, q, at, keepdim)

    return decompose


def _placed(values: Any, input: Any, q: Any, dim: int | None, keepdim: bool) -> Any:
    """The dim of the probabilities first, or gone where there is one number."""
    if dim is None:
        kept = (1,) * input.ndim if keepdim else ()
        return ops.reshape(values, (*q.shape, *kept))
    if keepdim and input.ndim:
        values = ops.unsqueeze(values, dim)
    last = values.ndim - 1
    return ops.movedim(values, last, 0) if q.ndim else ops.squeeze(values, last)


_DOCS = {
    "quantile": """\
    The `q`-th quantiles of the elements, of all or along one dim; NaN if one is NaN.

    Of n sorted elements, the quantile lies at place `q (n - 1)`; between two elements
    `interpolation` decides.

    Args:
        input: a float32 or float64 tensor with elements.
        q: a probability in [0, 1], or a vector of several, of the dtype of `input`.
        dim: the dim to sort along; all elements if None.
        keepdim: keep that dim with size 1.
        interpolation: "linear"; "lower" or "higher": that of the two elements; "nearest": the
            nearer one; "midpoint": their mean.

    Returns: a tensor of the shape of `input` without `dim`, with the dim of a vector `q`
        first.

    Raises:
        RuntimeError: `q` lies outside of [0, 1] or has another dtype, `input` has no elements
            or another dtype, or the interpolation is unknown.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.quantile(gw.tensor([1.0, 2.0, 3.0, 4.0]), gw.tensor([0.25, 0.5]))
        tensor([1.7500, 2.5000])
    """,
    "nanquantile": """\
    The `q`-th quantiles of the elements that are not NaN, of all or along one dim.

    Otherwise as `quantile`; where all elements are NaN, so is the result.

    Args:
        input: a float32 or float64 tensor with elements.
        q: a probability in [0, 1], or a vector of several, of the dtype of `input`.
        dim: the dim to sort along; all elements if None.
        keepdim: keep that dim with size 1.
        interpolation: "linear", "lower", "higher", "nearest" or "midpoint".

    Returns: a tensor of the shape of `input` without `dim`, with the dim of a vector `q`
        first.

    Raises:
        RuntimeError: `q` lies outside of [0, 1] or has another dtype, `input` has no elements
            or another dtype, or the interpolation is unknown.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.nanquantile(gw.tensor([1.0, float("nan"), 3.0]), 0.5)
        tensor(2.)
    """,
}
for _name, _skip in (("quantile", False), ("nanquantile", True)):
    define(
        f"{_name}(Tensor input, Operand q, object dim=None, bool keepdim=False, *, "
        'str interpolation="linear")',
        Kind.COMPOSITE,
        decompose=_quantile_rule(_name, _skip),
        doc=_DOCS[_name],
    )
