"""Scans: running sums, products and extrema, differences and integrals along one dim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.argument_forms import wrap_dim
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
    )


# -- differences


def _check_diff(input: Any, n: int, other: Any, dim: int) -> None:
    if other is None:
        return
    if other.ndim != input.ndim:
        raise RuntimeError(
            "diff expects prepend or append to be the same dimension as input, "
            f"got {describe(other)} and {describe(input)}"
        )
    for d, (a, b) in enumerate(zip(other.shape, input.shape, strict=True)):
        if d != dim and a != b:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input "
                f"except along the differencing dimension {dim}, "
                f"got {describe(other)} and {describe(input)}"
            )


def _diff(input: Any, n: int, dim: int, prepend: Any, append: Any) -> Any:
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    for other in (prepend, append):
        _check_diff(input, n, other, dim)
    if n == 0:
        return ops.clone(input)
    parts = tuple(t for t in (prepend, input, append) if t is not None)
    result = ops.cat(parts, dim) if len(parts) > 1 else input
    subtract = ops.logical_xor if result.dtype is dtypes.bool else ops.sub
    for _ in range(min(n, result.shape[dim])):
        size = result.shape[dim]
        later = ops.slice(result, dim, 1, size) if size else result
        earlier = ops.slice(result, dim, 0, size - 1) if size else result
        result = subtract(later, earlier)
    return result


define(
    "diff(Tensor input, int n=1, Dim dim=-1, Tensor? prepend=None, Tensor? append=None)",
    Kind.COMPOSITE,
    decompose=_diff,
)


# -- integrals


def _widths(y: Any, x: Any, dx: Any, dim: int) -> Any:
    """The distances of the places `x`, shaped to multiply slices of y; else the number dx."""
    if x is None:
        return 1 if dx is None else dx
    if x.ndim == 0:
        raise RuntimeError("trapezoid: x needs at least one dimension, got a 0-d tensor")
    if x.ndim == 1:
        if y.shape[dim] != x.shape[0]:
            raise RuntimeError(
                "trapezoid: There must be one `x` value for each sample point, "
                f"got {describe(x)} and {describe(y)}"
            )
        x = ops.reshape(x, (-1, *(1,) * (y.ndim - 1 - dim)))
        return _diff(x, 1, x.ndim - y.ndim + dim, None, None)
    at = x.ndim - y.ndim + dim if x.ndim < y.ndim else dim
    return _diff(x, 1, at, None, None)


def _pairs(y: Any, x: Any, dx: Any, dim: Any) -> tuple[Any, int]:
    """Areas of the trapezoids, and the dim in the result."""
    at = wrap_dim(dim, y.ndim)
    for values in (y, x):
        if values is not None and values.dtype is dtypes.bool:
            raise RuntimeError(f"trapezoid: bool is not supported, got {describe(values)}")
    if x is not None and dx is not None:
        raise TypeError("trapezoid: x and dx cannot both be given")
    size = y.shape[at]
    sums = ops.add(ops.slice(y, at, 1, size), ops.slice(y, at, 0, max(size - 1, 0)))
    areas = ops.mul(ops.mul(sums, _widths(y, x, dx, at)), 0.5)
    return areas, at + areas.ndim - y.ndim


def _trapezoid(y: Any, x: Any, dx: Any, dim: Any) -> Any:
    if y.shape and y.shape[wrap_dim(dim, y.ndim)] == 0:
        at = wrap_dim(dim, y.ndim)
        shape = (*y.shape[:at], *y.shape[at + 1 :])
        return ops.full(shape, 0, dtype=y.dtype, device=y.device)
    areas, at = _pairs(y, x, dx, dim)
    return ops.sum(areas, (at,))


def _cumulative_trapezoid(y: Any, x: Any, dx: Any, dim: Any) -> Any:
    areas, at = _pairs(y, x, dx, dim)
    return ops.cumsum(areas, at)


_INTEGRALS: dict[str, Any] = {
    "trapezoid": _trapezoid,
    "cumulative_trapezoid": _cumulative_trapezoid,
}
for _name, _rule in _INTEGRALS.items():
    define(
        f"{_name}(Tensor y, Tensor? x=None, *, Scalar? dx=None, int dim=-1)",
        Kind.COMPOSITE,
        decompose=_rule,
        method=False,
    )


# -- finite differences


def _central(values: Any, dim: int, steps: Any) -> Any:
    """Second order in the inside, for even (a number) or uneven (a vector) steps."""
    size = values.shape[dim]
    after, before = ops.slice(values, dim, 2, size), ops.slice(values, dim, 0, size - 2)
    if not isinstance(steps, Tensor):
        return ops.div(ops.sub(after, before), 2 * steps)
    here = ops.slice(values, dim, 1, size - 1)
    count = steps.shape[0]
    left = ops.slice(steps, 0, 0, count - 1)
    right = ops.slice(steps, 0, 1, count)
    total = ops.add(left, right)
    weights = (
        ops.div(ops.neg(right), ops.mul(left, total)),
        ops.div(ops.sub(right, left), ops.mul(left, right)),
        ops.div(left, ops.mul(right, total)),
    )
    shape = (-1, *(1,) * (values.ndim - 1 - dim))
    terms = [
        ops.mul(ops.reshape(w, shape), v)
        for w, v in zip(weights, (before, here, after), strict=True)
    ]
    return ops.add(ops.add(terms[0], terms[1]), terms[2])


def _step(steps: Any, index: int) -> Any:
    return ops.select(steps, 0, index) if isinstance(steps, Tensor) else steps


def _edge(values: Any, dim: int, steps: Any, order: int, last: bool) -> Any:
    """One-sided differences at the first or the last place."""
    size = values.shape[dim]
    at = [size - 1, size - 2, size - 3] if last else [0, 1, 2]
    near = _step(steps, -1 if last else 0)
    sign = 1 if last else -1
    a, b = (ops.slice(values, dim, i, i + 1) for i in at[:2])
    if order == 1:
        return ops.div(ops.mul(ops.sub(a, b), sign), near)
    c = ops.slice(values, dim, at[2], at[2] + 1)
    far = _step(steps, -2 if last else 1)
    total = near + far
    first = (2 * near + far) / (near * total)
    third = near / (far * total)
    inner = ops.sub(ops.mul(a, first), ops.mul(b, total / (near * far)))
    return ops.mul(ops.add(inner, ops.mul(c, third)), sign)


def _gradient_spacings(spacing: Any, count: int) -> list[Any]:
    if spacing is None:
        return [1.0] * count
    if isinstance(spacing, list | tuple):
        if len(spacing) != count:
            raise RuntimeError(
                "gradient expected spacing to be unspecified, a scalar, or a list of length "
                f"equal to the number of dims ({count}), got length {len(spacing)}"
            )
        return list(spacing)
    return [spacing] * count


def _gradient(input: Any, spacing: Any, dim: Any, edge_order: int) -> tuple[Any, ...]:
    if edge_order not in (1, 2):
        raise RuntimeError(f"gradient only supports edge_order=1 and edge_order=2, "
                           f"got {edge_order}")
    if dim is None:
        dims = list(range(input.ndim))
    else:
        given = dim if isinstance(dim, list | tuple) else (dim,)
        dims = [wrap_dim(d, input.ndim) for d in given]
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"gradient: dim {list(given)} names a dimension twice")
    if input.dtype in (dtypes.bool, dtypes.uint8):
        raise RuntimeError(f"gradient does not support {describe(input)}")
    if not is_inexact(input.dtype):
        input = ops.to_dtype(input, dtypes.get_default_dtype())
    results = []
    for d, step in zip(dims, _gradient_spacings(spacing, len(dims)), strict=True):
        if input.shape[d] < edge_order + 1:
            raise RuntimeError(
                f"gradient expected each dimension size to be at least {edge_order + 1}, "
                f"got {describe(input)}"
            )
        places = step
        if isinstance(step, Tensor):
            if step.ndim != 1 or step.shape[0] != input.shape[d]:
                raise RuntimeError(
                    "gradient expected each element of spacing to have one place for each "
                    f"element along dim {d} of {describe(input)}, got {describe(step)}"
                )
            places = _diff(step, 1, 0, None, None)
        parts = [_edge(input, d, places, edge_order, False)]
        if input.shape[d] > 2:
            parts.append(_central(input, d, places))
        parts.append(_edge(input, d, places, edge_order, True))
        results.append(ops.cat(tuple(parts), d))
    return tuple(results)


define(
    "gradient(Tensor input, *, object spacing=None, Ints? dim=None, int edge_order=1)",
    Kind.COMPOSITE,
    decompose=_gradient,
    method=False,
)
