"""Scans: running sums, products and extrema along one dim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.dtype_rules import (
    contiguous_spec,
    has_no_zeros,
    is_inexact,
    require_ordered,
    sum_dtype,
    wide_array,
)
from graphwright.runtime.ops.kernels import HALVES, as_contiguous, wrap
from graphwright.runtime.ops.reductions.folds import cast_array
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.tensor import Tensor

# -- running sums and products


def _scanned_dtype(name: str, input: Any, dtype: DType | None) -> DType:
    """As of sums, which are no bools here."""
    target = sum_dtype(input, dtype)
    if target is dtypes.bool:
        raise NotImplementedError(f'"{name}" not implemented for bool results')
    return target


def _accumulating(name: str, ufunc: Any) -> Callable[..., Tensor]:
    plain = _core.Native(Tensor, name, lambda *args: None)

    def eager(input: Any, dim: int, dtype: DType | None) -> Tensor:
        target = _scanned_dtype(name, input, dtype)
        work = dtypes.float32 if target in HALVES else target
        array = input._nd
        if input.ndim and not input.dtype.is_complex:
            scanned = plain(as_contiguous(input, work), dim, None)
            if scanned is not None:
                return scanned if work is target else wrap(scanned._nd, target)
        if work is not input.dtype:
            array = cast_array(array, work)
        out = _core.empty(Tensor, array.shape, work)
        if array.ndim:
            ufunc.accumulate(array, dim, out=out._nd)
        else:
            np.copyto(out._nd, array)
        return out if work is target else wrap(out._nd, target)

    return eager


def _scan_meta(name: str) -> Any:
    def meta(input: Any, dim: int, dtype: DType | None) -> Any:
        return contiguous_spec(input, input.shape, _scanned_dtype(name, input, dtype))

    return meta


def _suffix_sums(values: Any, dim: int) -> Any:
    return ops.flip(ops.cumsum(ops.flip(values, (dim,)), dim), (dim,))


define(
    "cumsum(Tensor input, Dim dim, *, dtype? dtype=None)",
    Kind.OTHER,
    meta=_scan_meta("cumsum"),
    vjp=lambda ctx, grad: _suffix_sums(grad, ctx.dim),
    eager=_accumulating("cumsum", np.add),
    doc="""Running sum along one dim: `y_i = x_0 + ... + x_i`.

    Args:
        input: a tensor of any shape; integers and bool are summed as int64.
        dim: the dim to sum along.
        dtype: what `input` is converted to first; nothing if None.

    Returns: a tensor of the shape of `input`.

    Raises:
        IndexError: `input` has no such dim.
        NotImplementedError: `dtype` is bool.

    Example:
        >>> gw.cumsum(gw.tensor([1, 2, 3]), 0)
        tensor([1, 3, 6])
    """,
)


def _shifted(values: Any, dim: int, by: int, fill: float) -> Any:
    """Element i is element i + by; past the end, `fill`."""
    size = values.shape[dim]
    shape = (*values.shape[:dim], min(by, size), *values.shape[dim + 1 :])
    rest = ops.full(shape, fill, dtype=values.dtype, device=values.device)
    return ops.cat((ops.slice(values, dim, min(by, size), size), rest), dim)


def _suffix_recurrence(factors: Any, terms: Any, dim: int) -> Any:
    """y_i = terms_i + factors_{i+1} y_{i+1}, by doubling (Hillis and Steele, 1986)."""
    factors = _shifted(factors, dim, 1, 0.0)
    by, size = 1, terms.shape[dim]
    while by < size:
        terms = ops.add(terms, ops.mul(factors, _shifted(terms, dim, by, 0.0)))
        factors = ops.mul(factors, _shifted(factors, dim, by, 0.0))
        by *= 2
    return terms


def _cumprod_vjp(ctx: Any, grad: Any) -> Any:
    """The product before each element times what all later products make of it.

    Exact also where factors are zero, since nothing is divided then; else each element divides
    the sum of what the products from it on are multiplied by.
    """
    if not ctx.input.shape:
        return grad
    dim = ctx.dim
    factors = ctx.input if ctx.dtype is None else ops.to_dtype(ctx.input, ctx.dtype)
    if factors.dtype.is_complex:
        factors = ops.conj(factors)
    if has_no_zeros(factors):
        products = ops.mul(grad, ops.cumprod(factors, dim))
        return ops.div(_suffix_sums(products, dim), factors)
    size = factors.shape[dim]
    edge = (*factors.shape[:dim], 1, *factors.shape[dim + 1 :])
    one = ops.full(edge, 1.0, dtype=factors.dtype, device=factors.device)
    before = ops.cumprod(ops.cat((one, ops.slice(factors, dim, 0, size - 1)), dim), dim)
    return ops.mul(before, _suffix_recurrence(factors, grad, dim))


define(
    "cumprod(Tensor input, Dim dim, *, dtype? dtype=None)",
    Kind.OTHER,
    meta=_scan_meta("cumprod"),
    vjp=_cumprod_vjp,
    saves=("input",),
    eager=_accumulating("cumprod", np.multiply),
    doc="""Running product along one dim: `y_i = x_0 ... x_i`.

    Args:
        input: a tensor of any shape; integers and bool are multiplied as int64.
        dim: the dim to multiply along.
        dtype: what `input` is converted to first; nothing if None.

    Returns: a tensor of the shape of `input`.

    Raises:
        IndexError: `input` has no such dim.
        NotImplementedError: `dtype` is bool.

    Example:
        >>> gw.cumprod(gw.tensor([1, 2, 3, 4]), 0)
        tensor([ 1,  2,  6, 24])
    """,
)
for _name in ("cumsum", "cumprod"):
    define(
        f"{_name}_(Tensor input, Dim dim, *, dtype? dtype=None)",
        Kind.INPLACE,
        functional=_name,
        public=False,
    )


# -- running log of sums of exponentials

_INF = float("inf")


def _check_logcumsumexp(input: Any) -> None:
    if not is_inexact(input.dtype):
        raise NotImplementedError(f'"logcumsumexp" not implemented for {describe(input)}')


def _complex_scan(array: Any, dim: int) -> Any:
    """Running log-sum-exp of complex numbers, one step after the other.

    Each step is a + log(1 + exp(b - a)) with the larger real part in a, which keeps its phase.
    """
    rows = np.moveaxis(array, dim, 0)
    out = np.empty_like(rows)
    out[0] = rows[0]
    for i in range(1, len(rows)):
        first = out[i - 1].real >= rows[i].real
        large, small = np.where(first, out[i - 1], rows[i]), np.where(first, rows[i], out[i - 1])
        same = (large.real == small.real) & ~np.isfinite(large.real)
        out[i] = np.where(same, large, large + np.log1p(np.exp(small - large)))
    return np.moveaxis(out, 0, dim)


def _logcumsumexp_eager(input: Any, dim: int) -> Tensor:
    _check_logcumsumexp(input)
    array = wide_array(input)
    if not array.size or not array.ndim:
        return wrap(array.copy(), input.dtype)
    if input.dtype.is_complex:
        return wrap(_complex_scan(array, dim), input.dtype)
    return wrap(np.logaddexp.accumulate(array, dim), input.dtype)


def _logcumsumexp_meta(input: Any, dim: int) -> Any:
    _check_logcumsumexp(input)
    return contiguous_spec(input, input.shape)


def _from_suffixes(logs: Any, x: Any, dim: int) -> Any:
    """exp(x) times the sum of exp(logs) from each place on."""
    sums = ops.flip(ops.logcumsumexp(ops.flip(logs, (dim,)), dim), (dim,))
    return ops.exp(ops.add(sums, x))


def _logcumsumexp_vjp(ctx: Any, grad: Any) -> Any:
    """sum_{i>=k} g_i exp(x_k - y_i), each sign of g in logarithms so that nothing overflows."""
    if not ctx.input.shape:
        return grad
    x, y, dim = ctx.input, ctx.out, ctx.dim
    if x.dtype.is_complex:
        some = ops.ne(grad, 0)
        logs = ops.sub(ops.log(ops.where(some, grad, 1.0)), ops.conj(y))
        return _from_suffixes(ops.where(some, logs, -_INF), ops.conj(x), dim)
    known = ops.gt(y, -_INF)
    y = ops.where(known, y, 0.0)

    def part(values: Any) -> Any:
        some = ops.logical_and(known, ops.gt(values, 0))
        logs = ops.where(some, ops.sub(ops.log(ops.where(some, values, 1.0)), y), -_INF)
        return _from_suffixes(logs, x, dim)

    return ops.sub(part(grad), part(ops.neg(grad)))


define(
    "logcumsumexp(Tensor input, Dim dim)",
    Kind.OTHER,
    meta=_logcumsumexp_meta,
    vjp=_logcumsumexp_vjp,
    saves=("input", "out"),
    eager=_logcumsumexp_eager,
    doc="""Logarithm of the running sum of exponentials: `y_i = log(exp(x_0) + ... + exp(x_i))`.

    Args:
        input: a floating point or complex tensor of any shape.
        dim: the dim to sum along.

    Returns: a tensor of the shape and dtype of `input`.

    Raises:
        IndexError: `input` has no such dim.
        NotImplementedError: `input` has integers or bools.

    Example:
        >>> gw.logcumsumexp(gw.zeros(3), 0)
        tensor([0.0000, 0.6931, 1.0986])
    """,
)


# -- running extrema


def _running_kernel(name: str, ufunc: Any) -> Callable[..., Any]:
    def eager(input: Any, dim: int) -> tuple[Tensor, Tensor]:
        require_ordered(name, input)
        array = wide_array(input)
        if not array.ndim or not array.size:
            places = np.zeros(array.shape, np.int64)
            return wrap(input._nd.copy(), input.dtype), wrap(places, dtypes.int64)
        values = ufunc.accumulate(array, dim)
        taken = array == values
        if array.dtype.kind == "f":
            taken |= np.isnan(array)
        steps = np.arange(array.shape[dim]).reshape((-1, *(1,) * (array.ndim - 1 - dim)))
        places = np.maximum.accumulate(np.where(taken, steps, 0), dim)
        return wrap(values, input.dtype), wrap(places, dtypes.int64)

    return eager


def _running_meta(name: str) -> Callable[..., Any]:
    def meta(input: Any, dim: int) -> Any:
        require_ordered(name, input)
        return (
            contiguous_spec(input, input.shape),
            contiguous_spec(input, input.shape, dtypes.int64),
        )

    return meta


def _running_vjp(ctx: Any, grad: Any, unused: Any = None) -> Any:
    zeros = ops.zeros(ctx.input.shape, dtype=grad.dtype, device=grad.device)
    return ops.scatter_add(zeros, ctx.dim, ctx.out1, grad)


def _named(name: str) -> Callable[..., Any]:
    made, parts = f"cum{name}", f"running_{name}"
    return lambda input, dim: getattr(return_types, made)(*getattr(ops, parts)(input, dim))


_RUNNING: dict[str, Any] = {"max": np.maximum, "min": np.minimum}
_RUNNING_DOCS = {
    "max": """Running maximum along one dim, and where it was found: the last place of several.

    Once an element is NaN, so are all maxima from it on.

    Args:
        input: a real or bool tensor of any shape.
        dim: the dim to compare along.

    Returns: the named tuple `(values, indices)` of tensors of the shape of `input`; the
        indices are int64.

    Raises:
        IndexError: `input` has no such dim.
        NotImplementedError: `input` is complex.

    Example:
        >>> gw.cummax(gw.tensor([1, 3, 2, 3]), 0)
        graphwright.return_types.cummax(
        values=tensor([1, 3, 3, 3]),
        indices=tensor([0, 1, 1, 3]))
    """,
    "min": """Running minimum along one dim, and where it was found: the last place of several.

    Once an element is NaN, so are all minima from it on.

    Args:
        input: a real or bool tensor of any shape.
        dim: the dim to compare along.

    Returns: the named tuple `(values, indices)` of tensors of the shape of `input`; the
        indices are int64.

    Raises:
        IndexError: `input` has no such dim.
        NotImplementedError: `input` is complex.

    Example:
        >>> gw.cummin(gw.tensor([3, 1, 2, 1]), 0)
        graphwright.return_types.cummin(
        values=tensor([3, 1, 1, 1]),
        indices=tensor([0, 1, 1, 3]))
    """,
}
for _name, _ufunc in _RUNNING.items():
    define(
        f"running_{_name}(Tensor input, Dim dim)",
        Kind.OTHER,
        meta=_running_meta(f"cum{_name}"),
        vjp=_running_vjp,
        saves=("out1",),
        eager=_running_kernel(f"cum{_name}", _ufunc),
        method=False,
        public=False,
    )
    define(
        f"cum{_name}(Tensor input, Dim dim)",
        Kind.COMPOSITE,
        decompose=_named(_name),
        doc=_RUNNING_DOCS[_name],
    )
