"""Reductions. `dim` is a sorted tuple of dims; results are contiguous, as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.dtype_rules import (
    has_no_zeros,
    is_inexact,
    real_dtype,
    require_ordered,
    sum_dtype,
    wide_array,
)
from graphwright.runtime.ops.kernels import HALVES, Array, as_contiguous, compute_type, wrap
from graphwright.runtime.ops.reductions.moments import gaps, scaled_gaps, squared_gaps
from graphwright.runtime.ops.strides import contiguous_strides, product
from graphwright.runtime.ops.table import Kind, define, not_differentiable, op
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.tensor import Tensor


def reduced_shape(shape: tuple[Any, ...], dim: tuple[int, ...], keepdim: bool) -> tuple[Any, ...]:
    """The shape after reducing over `dim`."""
    if keepdim:
        return tuple(1 if i in dim else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in dim)


def _spec(input: Any, dim: tuple[int, ...], keepdim: bool, dtype: DType) -> TensorSpec:
    shape = reduced_shape(input.shape, dim, keepdim)
    return TensorSpec(shape, contiguous_strides(shape), dtype, input.device)


def restore_dims(value: Any, shape: tuple[Any, ...], dim: tuple[int, ...], keepdim: bool) -> Any:
    """A reduced tensor with its reduced dims back as size 1."""
    if keepdim or not shape:
        return value
    if value.ndim == 0:
        return ops.view(value, reduced_shape(shape, dim, True))
    for d in sorted(dim):
        value = ops.unsqueeze(value, d)
    return value


def _expand_back(grad: Any, ctx: Any) -> Any:
    shape = ctx.input.shape
    return ops.expand(restore_dims(grad, shape, ctx.dim, ctx.keepdim), shape)


def cast_array(array: Array, dtype: DType) -> Array:
    """An array cast to a dtype, without NumPy's warnings; complex to real drops the rest."""
    if array.dtype.kind == "c" and not dtype.is_complex and dtype is not dtypes.bool:
        array = array.real
    return array.astype(dtype.numpy)


def _accumulator(ufunc: Any) -> Callable[..., Tensor]:
    def eager(input: Any, dim: tuple[int, ...], keepdim: bool, dtype: DType | None) -> Tensor:
        target = sum_dtype(input, dtype)
        array = input._nd
        work = dtypes.float32 if target in HALVES else target
        if array.dtype != work.numpy:
            array = cast_array(array, work)
        out = _core.empty(Tensor, reduced_shape(array.shape, dim, keepdim), work)
        ufunc.reduce(array, dim, None, out._nd, keepdim)
        return out if work is target else wrap(out._nd, target)

    return eager


define(
    "sum(Tensor input, Dims dim=None, bool keepdim=False, *, dtype? dtype=None)",
    Kind.REDUCTION,
    meta=lambda input, dim, keepdim, dtype: _spec(input, dim, keepdim, sum_dtype(input, dtype)),
    vjp=lambda ctx, grad: _expand_back(grad, ctx),
    eager=_accumulator(np.add),
    doc="""Sum of the elements, of all or along some dims.

    Args:
        input: a tensor of any shape; integers and bool are summed as int64.
        dim: the dim or dims to sum along; all if None.
        keepdim: keep each of these dims with size 1.
        dtype: what `input` is converted to first; nothing if None.

    Returns: a tensor of the shape of `input` without `dim`.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: a dim is named twice.

    Example:
        >>> gw.sum(gw.tensor([[1, 2], [3, 4]]), 0)
        tensor([4, 6])
    """,
)


def _prod_vjp(ctx: Any, grad: Any) -> Any:
    """The product by each factor; where one is zero, the products of all before and after each."""
    input = ctx.input if ctx.dtype is None else ops.to_dtype(ctx.input, ctx.dtype)
    if not input.dtype.is_complex and input.ndim and has_no_zeros(input):
        whole = input
        for d in ctx.dim:
            whole = ops.prod(whole, d, True)
        return ops.div(ops.mul(_expand_back(grad, ctx), whole), input)
    rest = tuple(d for d in range(input.ndim) if d not in ctx.dim)
    moved = ops.permute(input, (*rest, *ctx.dim))
    kept = tuple(input.shape[d] for d in rest)
    length = product(tuple(input.shape[d] for d in ctx.dim))
    if length == 0:
        return ops.zeros_like(input)
    rows = ops.reshape(moved, (*kept, length))
    last = len(kept)
    before = _products_before(rows, last)
    after = ops.flip(_products_before(ops.flip(rows, (last,)), last), (last,))
    others = ops.reshape(ops.mul(before, after), moved.shape)
    inverse = [0] * input.ndim
    for i, d in enumerate((*rest, *ctx.dim)):
        inverse[d] = i
    others = ops.permute(others, tuple(inverse))
    if others.dtype.is_complex:
        others = ops.conj(others)
    return ops.mul(_expand_back(grad, ctx), others)


def _products_before(rows: Any, dim: int) -> Any:
    """For each position the product of what comes before it."""
    ones = ops.full((*rows.shape[:-1], 1), 1.0, dtype=rows.dtype, device=rows.device)
    shifted = ops.cat((ones, ops.slice(rows, dim, 0, rows.shape[-1] - 1)), dim)
    return ops.cumprod(shifted, dim)


define(
    "prod(Tensor input, LoneDim dim=None, bool keepdim=False, *, dtype? dtype=None)",
    Kind.REDUCTION,
    meta=lambda input, dim, keepdim, dtype: _spec(input, dim, keepdim, sum_dtype(input, dtype)),
    vjp=_prod_vjp,
    saves=("input",),
    eager=_accumulator(np.multiply),
)


# -- extrema


def check_nonempty(name: str, shape: tuple[Any, ...], dim: tuple[int, ...] | None) -> None:
    """Raise unless there is something to compare.

    Raises RuntimeError for all dims (None) of an empty tensor, IndexError for an empty dim.
    """
    if dim is None:
        if 0 in shape:
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                f"Specify the reduction dim with the 'dim' argument. Input has shape {list(shape)}"
            )
        return
    for d in dim:
        if shape and shape[d] == 0:
            raise IndexError(
                f"{name}(): Expected reduction dim {d} to have non-zero size, "
                f"input has shape {list(shape)}"
            )


def _all_dims(input: Any, dim: tuple[int, ...] | None) -> tuple[int, ...]:
    return tuple(range(len(input.shape))) if dim is None else dim


def _extremum_kernel(name: str, ufunc: Any) -> Callable[..., Tensor]:
    def eager(input: Any, dim: tuple[int, ...] | None, keepdim: bool) -> Tensor:
        check_nonempty(name, input.shape, dim)
        require_ordered(name, input)
        dims = _all_dims(input, dim)
        out = _core.empty(Tensor, reduced_shape(input.shape, dims, keepdim), input.dtype)
        ufunc.reduce(input._nd, dims, None, out._nd, keepdim)
        return out

    return eager


def _extremum_meta(name: str) -> Callable[..., TensorSpec]:
    def meta(input: Any, dim: tuple[int, ...] | None, keepdim: bool) -> TensorSpec:
        check_nonempty(name, input.shape, dim)
        require_ordered(name, input)
        return _spec(input, _all_dims(input, dim), keepdim, input.dtype)

    return meta


def _extremum_vjp(ctx: Any, grad: Any) -> Any:
    """Ties share the gradient evenly, as in PyTorch."""
    shape = ctx.input.shape
    dim = _all_dims(ctx.input, ctx.dim)
    grad = restore_dims(grad, shape, dim, ctx.keepdim)
    out = restore_dims(ctx.out, shape, dim, ctx.keepdim)
    ties = ops.eq(ctx.input, out)
    nans = ops.logical_and(ops.isnan(ctx.input), ops.isnan(out))
    ties = ops.to_dtype(ops.logical_or(ties, nans), grad.dtype)
    return ops.mul(ties, ops.div(grad, ops.sum(ties, dim, True)))


_EXTREMA: dict[str, Any] = {"amax": np.maximum, "amin": np.minimum}
for _name, _ufunc in _EXTREMA.items():
    define(
        f"{_name}(Tensor input, Dims? dim=None, bool keepdim=False)",
        Kind.REDUCTION,
        meta=_extremum_meta(_name),
        vjp=_extremum_vjp,
        saves=("input", "out"),
        eager=_extremum_kernel(_name, _ufunc),
    )


def _test_dtype(input: Any) -> DType:
    """uint8 answers in uint8, as in PyTorch."""
    return dtypes.uint8 if input.dtype is dtypes.uint8 else dtypes.bool


def _test_kernel(ufunc: Any) -> Callable[..., Tensor]:
    def eager(input: Any, dim: tuple[int, ...], keepdim: bool) -> Tensor:
        array = input._nd if input.dtype is dtypes.bool else input._nd != 0
        out = _core.empty(Tensor, reduced_shape(input.shape, dim, keepdim), _test_dtype(input))
        ufunc.reduce(array, dim, None, out._nd, keepdim)
        return out

    return eager


_TESTS: dict[str, Any] = {"any": np.logical_or, "all": np.logical_and}
for _name, _ufunc in _TESTS.items():
    define(
        f"{_name}(Tensor input, DimsExact dim=None, bool keepdim=False)",
        Kind.REDUCTION,
        meta=lambda input, dim, keepdim: _spec(input, dim, keepdim, _test_dtype(input)),
        vjp=not_differentiable,
        eager=_test_kernel(_ufunc),
    )


def _check_position(name: str, input: Any, dim: int | None) -> tuple[int, ...]:
    """The dims to search. Raises IndexError where they are empty."""
    if input.dtype is dtypes.bool or input.dtype.is_complex:
        raise RuntimeError(f"{name}(): does not support {input.dtype.name} input")
    if dim is None and 0 in input.shape:
        raise IndexError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0, "
            f"input has shape {list(input.shape)}"
        )
    dims = _all_dims(input, None if dim is None else (dim,)[: len(input.shape)])
    check_nonempty(name, input.shape, dims)
    return dims


def _position_meta(name: str) -> Callable[..., TensorSpec]:
    def meta(input: Any, dim: int | None, keepdim: bool) -> TensorSpec:
        return _spec(input, _check_position(name, input, dim), keepdim, dtypes.int64)

    return meta


def _position_kernel(name: str) -> Callable[..., Tensor]:
    def eager(input: Any, dim: int | None, keepdim: bool) -> Tensor:
        dims = _check_position(name, input, dim)
        if dim is None:
            input = as_contiguous(input, compute_type(input.dtype))
        array = wide_array(input)
        out = _core.empty(Tensor, reduced_shape(input.shape, dims, keepdim), dtypes.int64)
        if array.ndim:
            getattr(array, name)(dim, out._nd, keepdims=keepdim)
        else:
            out._nd[...] = 0
        return out

    return eager


for _name in ("argmax", "argmin"):
    define(
        f"{_name}(Tensor input, Dim? dim=None, bool keepdim=False)",
        Kind.REDUCTION,
        meta=_position_meta(_name),
        vjp=not_differentiable,
        eager=_position_kernel(_name),
    )


def _extremum(pointwise: str, full: str, position: str) -> Any:
    name = "max" if full == "amax" else "min"

    def decompose(input: Any, dim: Any, keepdim: bool) -> Any:
        if not isinstance(input, Tensor):
            raise TypeError(
                f"{name}(): argument 'input' must be Tensor, not {type(input).__name__}"
            )
        if dim is None:
            check_nonempty(name, input.shape, None)
            require_ordered(name, input)
            return getattr(ops, full)(input)
        if isinstance(dim, Tensor) and not keepdim:
            return getattr(ops, pointwise)(input, dim)
        at = wrap_dim(dim, input.ndim)
        check_nonempty(name, input.shape, (at,))
        require_ordered(name, input)
        searched = ops.to_dtype(input, dtypes.uint8) if input.dtype is dtypes.bool else input
        indices = getattr(ops, position)(searched, at, True)
        values = ops.gather(input, at, indices)
        if not keepdim:
            values, indices = ops.squeeze(values, at), ops.squeeze(indices, at)
        return getattr(return_types, name)(values, indices)

    return decompose


def _extremum_along(extremum: str, position: str, decompose: Any) -> Any:
    """Without a gradient, the extremum along one dim in two passes and no gather."""
    name = position.removeprefix("arg")

    def eager(input: Any, dim: Any, keepdim: bool) -> Any:
        if dim.__class__ is not int or not isinstance(input, Tensor):
            return decompose(input, dim, keepdim)
        dtype, array = input.dtype, input._nd
        at = dim + array.ndim if dim < 0 else dim
        if dtype.itemsize < 4 or dtype.is_complex or not 0 <= at < array.ndim or not array.size:
            return decompose(input, dim, keepdim)
        shape = reduced_shape(array.shape, (at,), keepdim)
        values = getattr(ops, extremum)(input, (at,), keepdim)
        indices = _core.empty(Tensor, shape, dtypes.int64)
        getattr(array, position)(at, indices._nd, keepdims=keepdim)
        return getattr(return_types, name)(values, indices)

    return eager


_MAX = _extremum("maximum", "amax", "argmax")
_MIN = _extremum("minimum", "amin", "argmin")
define(
    "max(Tensor input, object dim=None, bool keepdim=False)",
    Kind.COMPOSITE,
    decompose=_MAX,
    eager=_extremum_along("amax", "argmax", _MAX),
)
define(
    "min(Tensor input, object dim=None, bool keepdim=False)",
    Kind.COMPOSITE,
    decompose=_MIN,
    eager=_extremum_along("amin", "argmin", _MIN),
)


_AMIN, _AMAX = op("amin"), op("amax")


def _aminmax(input: Any, dim: int | None, keepdim: bool) -> Any:
    if dim is None and 0 in input.shape:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
            f"identity, input has shape {list(input.shape)}"
        )
    args = input, None if dim is None or not input.shape else (dim,), keepdim
    return return_types.aminmax(dispatch(_AMIN, args), dispatch(_AMAX, args))


define(
    "aminmax(Tensor input, *, Dim? dim=None, bool keepdim=False)",
    Kind.COMPOSITE,
    decompose=_aminmax,
)


# -- moments


def reduced_count(shape: tuple[Any, ...], dim: tuple[int, ...]) -> Any:
    """How many elements each result is made of."""
    return product(tuple(shape[d] for d in dim))


def check_floating(name: str, dtype: DType) -> None:
    """Raise RuntimeError for a dtype of which there is no mean."""
    if not is_inexact(dtype):
        raise RuntimeError(
            f"{name}(): could not infer output dtype. Input dtype must be either a floating "
            f"point or complex dtype. Got: {dtype}"
        )


def _mean_meta(
    input: Any, dim: tuple[int, ...], keepdim: bool, dtype: DType | None
) -> TensorSpec:
    result = dtype or input.dtype
    check_floating("mean", result)
    return _spec(input, dim, keepdim, result)


def _mean_eager(
    input: Any, dim: tuple[int, ...], keepdim: bool, dtype: DType | None
) -> Tensor:
    result = dtype or input.dtype
    check_floating("mean", result)
    work = dtypes.float32 if result in HALVES else result
    total = _SUM(input, dim, keepdim, work)
    count = reduced_count(input.shape, dim)
    np.divide(total._nd, count, total._nd)
    return total if work is result else wrap(total._nd, result)


_SUM = _accumulator(np.add)


def _mean_decomposed(
    input: Any, dim: tuple[int, ...], keepdim: bool, dtype: DType | None
) -> Any:
    result = dtype or input.dtype
    work = dtypes.float32 if result in HALVES else result
    total = ops.sum(input, dim, keepdim, dtype=work)
    mean = ops.div(total, reduced_count(input.shape, dim))
    return mean if work is result else ops.to_dtype(mean, result)


define(
    "mean(Tensor input, Dims dim=None, bool keepdim=False, *, dtype? dtype=None)",
    Kind.REDUCTION,
    meta=_mean_meta,
    vjp=lambda ctx, grad: ops.div(
        _expand_back(grad, ctx), reduced_count(ctx.input.shape, ctx.dim)
    ),
    decompose=_mean_decomposed,
    eager=_mean_eager,
)


def check_moments(input: Any) -> None:
    """Raise RuntimeError for integers."""
    if not is_inexact(input.dtype):
        raise RuntimeError(
            f"std and var only support floating point and complex dtypes, got {describe(input)}"
        )


def _var_meta(input: Any, dim: tuple[int, ...], correction: Any, keepdim: bool) -> TensorSpec:
    check_moments(input)
    return _spec(input, dim, keepdim, real_dtype(input.dtype))


def _freedom(count: Any, correction: Any) -> Any:
    left = (count if correction.__class__ is int else float(count)) - correction
    return left if left > 0 else 0


def _quick_variance(
    input: Any, dim: tuple[int, ...], correction: Any, keepdim: bool, root: bool
) -> Any:
    """In C, where the dims follow one another and the input is contiguous; else None."""
    if correction.__class__ is not int and correction.__class__ is not float:
        return None
    out = _core.variance(Tensor, input, dim, correction, keepdim, root)
    return out if out is None or out.dtype is input.dtype else ops.to_dtype(out, input.dtype)


def var_kernel(input: Any, dim: tuple[int, ...], correction: Any, keepdim: bool) -> Tensor:
    """The eager kernel of `variance`."""
    return _moment_kernel(input, dim, correction, keepdim, False)


def _moment_kernel(
    input: Any, dim: tuple[int, ...], correction: Any, keepdim: bool, root: bool
) -> Any:
    check_moments(input)
    quick = _quick_variance(input, dim, correction, keepdim, root)
    return _variance(input, dim, correction, keepdim, root) if quick is None else quick


def deviation_kernel(
    input: Any, dim: tuple[int, ...], correction: Any, keepdim: bool
) -> Tensor:
    """The square root of `var_kernel`."""
    return _moment_kernel(input, dim, correction, keepdim, True)


def _variance(
    input: Any, dim: tuple[int, ...], correction: Any, keepdim: bool, root: bool = False
) -> Any:
    """Two passes. Deviations are in float64: distances from the mean, and their squares, may lie
    beyond float32."""
    if input.dtype.is_complex:
        parts = (ops.variance(part, dim, correction, keepdim)
                 for part in (ops.real(input), ops.imag(input)))
        result = ops.add(*parts)
        return ops.sqrt(result) if root else result
    x = ops.to_dtype(input, dtypes.float32) if input.dtype in HALVES else input
    mean = ops.mean(x, dim, True)
    if root:
        x, mean = (ops.to_dtype(t, dtypes.float64) for t in (x, mean))
    squares = squared_gaps(*gaps(x, mean, dim), dim)
    result = ops.div(squares, _freedom(reduced_count(input.shape, dim), correction))
    result = ops.to_dtype(ops.sqrt(result) if root else result, input.dtype)
    return result if keepdim else ops.reshape(result, reduced_shape(input.shape, dim, False))


def _var_vjp(ctx: Any, grad: Any) -> Any:
    freedom = _freedom(reduced_count(ctx.input.shape, ctx.dim), ctx.correction)
    factor = 2.0 / freedom if freedom != 0 else float("nan")
    grad = restore_dims(grad, ctx.input.shape, ctx.dim, ctx.keepdim)
    return scaled_gaps(ctx.input, ctx.dim, ops.mul(grad, factor))


define(
    "variance(Tensor input, Dims dim=None, Scalar correction=1, bool keepdim=False)",
    Kind.REDUCTION,
    meta=_var_meta,
    vjp=_var_vjp,
    saves=("input",),
    decompose=_variance,
    eager=var_kernel,
    method=False,
    public=False,
)


def _deviation(input: Any, dim: tuple[int, ...], correction: Any, keepdim: bool) -> Any:
    return _variance(input, dim, correction, keepdim, root=True)


def _deviation_vjp(ctx: Any, grad: Any) -> Any:
    """Zero where the deviation is zero, as in PyTorch."""
    scaled = ops.div(grad, ops.mul(ctx.out, 2.0))
    return _var_vjp(ctx, ops.where(ops.eq(ctx.out, 0), 0.0, scaled))


define(
    "deviation(Tensor input, Dims dim=None, Scalar correction=1, bool keepdim=False)",
    Kind.COMPOSITE,
    meta=_var_meta,
    vjp=_deviation_vjp,
    saves=("input", "out"),
    decompose=_deviation,
    eager=deviation_kernel,
    method=False,
    public=False,
)


# -- sums to a smaller shape


def _sum_to_size(input: Any, size: tuple[Any, ...]) -> Any:
    if not size:
        return ops.sum(input)
    shape = input.shape
    lead = len(shape) - len(size)
    if lead < 0:
        raise RuntimeError(f"sum_to_size: {list(size)} is not expandable to {list(shape)}")
    dims = list(range(lead))
    for i, wanted in enumerate(size):
        have = shape[lead + i]
        if have is wanted or have == wanted:
            continue
        if wanted != 1:
            raise RuntimeError(f"sum_to_size: {list(size)} is not expandable to {list(shape)}")
        dims.append(lead + i)
    if not dims:
        return input
    if len(dims) == lead:
        return ops.sum(input, tuple(dims))
    result = ops.sum(input, tuple(dims), True)
    return ops.view(result, size) if lead else result


define("sum_to_size(Tensor input, Size* size)", Kind.COMPOSITE, decompose=_sum_to_size)
