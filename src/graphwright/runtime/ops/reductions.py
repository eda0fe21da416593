"""Reductions. `dim` is a sorted tuple of dims; results are contiguous, as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime import _core, dtypes
from graphwright.runtime.dtypes import dtype as DType
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops import quiet
from graphwright.runtime.ops.kernels import HALVES, wrap
from graphwright.runtime.ops.spec import TensorSpec
from graphwright.runtime.ops.strides import contiguous_strides, product
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.tensor import Tensor


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
    return ops.view(value.contiguous(), reduced_shape(shape, dim, True))


def _expand_back(grad: Any, ctx: Any) -> Any:
    shape = ctx.input.shape
    return ops.expand(restore_dims(grad, shape, ctx.dim, ctx.keepdim), shape)


def _sum_dtype(input: Any, dtype: DType | None) -> DType:
    if dtype is not None:
        return dtype
    return input.dtype if input.dtype.is_floating_point else dtypes.int64


def _accumulator(ufunc: Any) -> Callable[..., Tensor]:
    def eager(input: Any, dim: tuple[int, ...], keepdim: bool, dtype: DType | None) -> Tensor:
        target = _sum_dtype(input, dtype)
        array = input._nd
        work = dtypes.float32 if target in HALVES else target
        if array.dtype != work.numpy:
            array = array.astype(work.numpy)
        out = _core.empty(Tensor, reduced_shape(array.shape, dim, keepdim), work)
        token = quiet.enter()
        try:
            ufunc.reduce(array, dim, None, out._nd, keepdim)
        finally:
            quiet.leave(token)
        return out if work is target else wrap(out._nd, target)

    return eager


define(
    "sum(Tensor input, Dims dim=None, bool keepdim=False, *, dtype? dtype=None)",
    Kind.REDUCTION,
    meta=lambda input, dim, keepdim, dtype: _spec(input, dim, keepdim, _sum_dtype(input, dtype)),
    vjp=lambda ctx, grad: _expand_back(grad, ctx),
    eager=_accumulator(np.add),
)


def _prod_vjp(ctx: Any, grad: Any) -> Any:
    """Exact also where factors are zero: products of all others, dim by dim."""
    input = ctx.input
    rest = tuple(d for d in range(input.ndim) if d not in ctx.dim)
    moved = ops.permute(input, (*rest, *ctx.dim))
    kept = tuple(input.shape[d] for d in rest)
    length = product(tuple(input.shape[d] for d in ctx.dim))
    rows = ops.reshape(moved, (*kept, length))
    others = ops.expand(ops.unsqueeze(rows, -2), (*kept, length, length))
    unit = ops.eq(
        ops.unsqueeze(ops.arange(length, device=input.device), 1),
        ops.arange(length, device=input.device),
    )
    products = ops.prod(ops.where(unit, 1.0, others), (len(kept) + 1,))
    products = ops.reshape(products, moved.shape)
    inverse = [0] * input.ndim
    for i, d in enumerate((*rest, *ctx.dim)):
        inverse[d] = i
    return ops.mul(_expand_back(grad, ctx), ops.permute(products, tuple(inverse)))


define(
    "prod(Tensor input, Dims dim=None, bool keepdim=False, *, dtype? dtype=None)",
    Kind.REDUCTION,
    meta=lambda input, dim, keepdim, dtype: _spec(input, dim, keepdim, _sum_dtype(input, dtype)),
    vjp=_prod_vjp,
    saves=("input",),
    eager=_accumulator(np.multiply),
)


# -- extrema


def _check_nonempty(name: str, shape: tuple[Any, ...], dim: tuple[int, ...]) -> None:
    for d in dim:
        if shape and shape[d] == 0:
            raise IndexError(
                f"{name}(): Expected reduction dim {d} to have non-zero size, "
                f"input has shape {list(shape)}"
            )


def _extremum_kernel(name: str, ufunc: Any) -> Callable[..., Tensor]:
    def eager(input: Any, dim: tuple[int, ...], keepdim: bool) -> Tensor:
        _check_nonempty(name, input.shape, dim)
        out = _core.empty(Tensor, reduced_shape(input.shape, dim, keepdim), input.dtype)
        token = quiet.enter()
        try:
            ufunc.reduce(input._nd, dim, None, out._nd, keepdim)
        finally:
            quiet.leave(token)
        return out

    return eager


def _extremum_meta(name: str) -> Callable[..., TensorSpec]:
    def meta(input: Any, dim: tuple[int, ...], keepdim: bool) -> TensorSpec:
        _check_nonempty(name, input.shape, dim)
        return _spec(input, dim, keepdim, input.dtype)

    return meta


def _extremum_vjp(ctx: Any, grad: Any) -> Any:
    """Ties share the gradient evenly, as in PyTorch."""
    shape = ctx.input.shape
    grad = restore_dims(grad, shape, ctx.dim, ctx.keepdim)
    out = restore_dims(ctx.out, shape, ctx.dim, ctx.keepdim)
    ties = ops.to_dtype(ops.eq(ctx.input, out), grad.dtype)
    return ops.mul(ties, ops.div(grad, ops.sum(ties, ctx.dim, True)))


_EXTREMA: dict[str, Any] = {"amax": np.maximum, "amin": np.minimum}
for _name, _ufunc in _EXTREMA.items():
    define(
        f"{_name}(Tensor input, Dims dim=None, bool keepdim=False)",
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
        return wrap(ufunc.reduce(array, dim, keepdims=keepdim), _test_dtype(input))

    return eager


_TESTS: dict[str, Any] = {"any": np.logical_or, "all": np.logical_and}
for _name, _ufunc in _TESTS.items():
    define(
        f"{_name}(Tensor input, Dims dim=None, bool keepdim=False)",
        Kind.REDUCTION,
        meta=lambda input, dim, keepdim: _spec(input, dim, keepdim, _test_dtype(input)),
        vjp=not_differentiable,
        eager=_test_kernel(_ufunc),
    )


def _position_meta(name: str) -> Callable[..., TensorSpec]:
    def meta(input: Any, dim: int | None, keepdim: bool) -> TensorSpec:
        ndim = len(input.shape)
        dims = tuple(range(ndim)) if dim is None else (dim,)[:ndim]
        _check_nonempty(name, input.shape, dims)
        return _spec(input, dims, keepdim, dtypes.int64)

    return meta


def _position_kernel(name: str, function: Any) -> Callable[..., Tensor]:
    def eager(input: Any, dim: int | None, keepdim: bool) -> Tensor:
        array = input._nd
        if input.dtype in HALVES:
            array = array.astype(np.float32)
        dims = tuple(range(array.ndim)) if dim is None else (dim,)
        _check_nonempty(name, input.shape, dims)
        if array.ndim == 0:
            return wrap(np.zeros((), np.int64), dtypes.int64)
        return wrap(function(array, axis=dim, keepdims=keepdim), dtypes.int64)

    return eager


for _name, _function in (("argmax", np.argmax), ("argmin", np.argmin)):
    define(
        f"{_name}(Tensor input, Dim? dim=None, bool keepdim=False)",
        Kind.REDUCTION,
        meta=_position_meta(_name),
        vjp=not_differentiable,
        eager=_position_kernel(_name, _function),
    )


# -- moments


def reduced_count(shape: tuple[Any, ...], dim: tuple[int, ...]) -> Any:
    """How many elements each result is made of."""
    return product(tuple(shape[d] for d in dim))


def _check_floating(name: str, dtype: DType) -> None:
    if not dtype.is_floating_point:
        raise RuntimeError(
            f"{name}(): could not infer output dtype. Input dtype must be either a floating "
            f"point or complex dtype. Got: {dtype}"
        )


def _mean_meta(
    input: Any, dim: tuple[int, ...], keepdim: bool, dtype: DType | None
) -> TensorSpec:
    result = dtype or input.dtype
    _check_floating("mean", result)
    return _spec(input, dim, keepdim, result)


def _mean_eager(
    input: Any, dim: tuple[int, ...], keepdim: bool, dtype: DType | None
) -> Tensor:
    result = dtype or input.dtype
    _check_floating("mean", result)
    work = dtypes.float32 if result in HALVES else result
    total = _SUM(input, dim, keepdim, work)
    count = reduced_count(input.shape, dim)
    token = quiet.enter()
    try:
        np.divide(total._nd, count, total._nd)
    finally:
        quiet.leave(token)
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


def _var_meta(input: Any, dim: tuple[int, ...], correction: Any, keepdim: bool) -> TensorSpec:
    _check_floating("var", input.dtype)
    return _spec(input, dim, keepdim, input.dtype)


def _freedom(count: Any, correction: Any) -> Any:
    left = count - correction
    return left if left > 0 else 0


def _var_eager(input: Any, dim: tuple[int, ...], correction: Any, keepdim: bool) -> Tensor:
    _check_floating("var", input.dtype)
    array = input._nd
    if input.dtype in HALVES:
        array = array.astype(np.float32)
    count = reduced_count(input.shape, dim)
    with quiet.Quiet():
        centred = array - np.divide(np.add.reduce(array, dim, keepdims=True), count)
        np.square(centred, centred)
        total = np.sum(centred, axis=dim, keepdims=keepdim)
        return wrap(np.divide(total, np.float64(_freedom(count, correction))), input.dtype)


def _var_vjp(ctx: Any, grad: Any) -> Any:
    shape = ctx.input.shape
    grad = restore_dims(grad, shape, ctx.dim, ctx.keepdim)
    centred = ops.sub(ctx.input, ops.mean(ctx.input, ctx.dim, True))
    freedom = _freedom(reduced_count(shape, ctx.dim), ctx.correction)
    return ops.mul(ops.mul(grad, centred), 2.0 / freedom if freedom != 0 else float("nan"))


define(
    "var(Tensor input, Dims dim=None, *, Scalar correction=1, bool keepdim=False)",
    Kind.REDUCTION,
    meta=_var_meta,
    vjp=_var_vjp,
    saves=("input",),
    eager=_var_eager,
)
define(
    "std(Tensor input, Dims dim=None, *, Scalar correction=1, bool keepdim=False)",
    Kind.COMPOSITE,
    decompose=lambda input, dim, correction, keepdim: ops.sqrt(
        ops.var(input, dim, correction=correction, keepdim=keepdim)
    ),
)


def _norm(input: Any, p: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    if not input.dtype.is_floating_point:
        raise RuntimeError(f"norm(): Expected a floating point tensor as input. Got {input.dtype}")
    if p in (None, "fro", 2):
        return ops.sqrt(ops.sum(ops.mul(input, input), dim, keepdim))
    size = ops.abs(input)
    if p == float("inf"):
        return ops.amax(size, dim, keepdim)
    if p == float("-inf"):
        return ops.amin(size, dim, keepdim)
    if p == 0:
        return ops.sum(ops.to_dtype(ops.ne(input, 0), input.dtype), dim, keepdim)
    if p == 1:
        return ops.sum(size, dim, keepdim)
    return ops.pow(ops.sum(ops.pow(size, p), dim, keepdim), 1.0 / p)


define(
    'norm(Tensor input, object p="fro", Dims dim=None, bool keepdim=False)',
    Kind.COMPOSITE,
    decompose=_norm,
)


def _logsumexp(input: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    if 0 in [input.shape[d] for d in dim]:
        return ops.log(ops.sum(ops.exp(input), dim, keepdim))
    top = ops.amax(input, dim, True)
    top = ops.where(ops.isinf(top), 0.0, top).detach()
    total = ops.sum(ops.exp(ops.sub(input, top)), dim, keepdim)
    shift = top if keepdim else ops.reshape(top, total.shape)
    return ops.add(ops.log(total), shift)


define(
    "logsumexp(Tensor input, Dims dim, bool keepdim=False)",
    Kind.COMPOSITE,
    decompose=_logsumexp,
)


# -- sums to a smaller shape


def _sum_to_size(input: Any, size: tuple[Any, ...]) -> Any:
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
