"""Sums, products and moments.

`dim` is a sorted tuple of dims; results are contiguous, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.dtype_rules import (
    has_no_zeros,
    is_inexact,
    real_dtype,
    sum_dtype,
)
from graphwright.runtime.ops.kernels import HALVES, Array, wrap
from graphwright.runtime.ops.reductions.moments import gaps, scaled_gaps, squared_gaps
from graphwright.runtime.ops.strides import contiguous_strides, product
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.tensor import Tensor


def reduced_shape(shape: tuple[Any, ...], dim: tuple[int, ...], keepdim: bool) -> tuple[Any, ...]:
    """The shape after reducing over `dim`."""
    if keepdim:
        return tuple(1 if i in dim else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in dim)


def reduced_spec(
    input: Any, dim: tuple[int, ...], keepdim: bool, dtype: DType
) -> TensorSpec:
    """The type of the contiguous result of reducing over `dim`."""
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


def _sum_meta(
    input: Any, dim: tuple[int, ...], keepdim: bool, dtype: DType | None
) -> TensorSpec:
    return reduced_spec(input, dim, keepdim, sum_dtype(input, dtype))


define(
    "sum(Tensor input, Dims dim=None, bool keepdim=False, *, dtype? dtype=None)",
    Kind.REDUCTION,
    meta=_sum_meta,
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
    meta=_sum_meta,
    vjp=_prod_vjp,
    saves=("input",),
    eager=_accumulator(np.multiply),
    doc="""Product of the elements, of all or along one dim.

    Args:
        input: a tensor of any shape; integers and bool are multiplied as int64.
        dim: the dim to multiply along; all if None.
        keepdim: keep that dim with size 1.
        dtype: what `input` is converted to first; nothing if None.

    Returns: a tensor of the shape of `input` without `dim`; 1 where there are no elements.

    Raises:
        IndexError: `input` has no such dim.
        TypeError: `dim` is a sequence.

    Example:
        >>> gw.prod(gw.tensor([[1, 2], [3, 4]]), 0)
        tensor([3, 8])
    """,
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
    return reduced_spec(input, dim, keepdim, result)


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
    doc="""Arithmetic mean of the elements, of all or along some dims.

    Args:
        input: a floating point or complex tensor of any shape.
        dim: the dim or dims to average over; all if None.
        keepdim: keep each of these dims with size 1.
        dtype: what `input` is converted to first; nothing if None.

    Returns: a tensor of the shape of `input` without `dim`; NaN where there are no elements.

    Raises:
        RuntimeError: `input` has integers or bools and no `dtype` is given, or a dim is named
            twice.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.mean(gw.tensor([[1.0, 2.0], [3.0, 6.0]]), 1)
        tensor([1.5000, 4.5000])
    """,
)


def check_moments(input: Any) -> None:
    """Raise RuntimeError for integers."""
    if not is_inexact(input.dtype):
        raise RuntimeError(
            f"std and var only support floating point and complex dtypes, got {describe(input)}"
        )


def _var_meta(input: Any, dim: tuple[int, ...], correction: Any, keepdim: bool) -> TensorSpec:
    check_moments(input)
    return reduced_spec(input, dim, keepdim, real_dtype(input.dtype))


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


define(
    "sum_to_size(Tensor input, Size* size)",
    Kind.COMPOSITE,
    decompose=_sum_to_size,
    doc="""Sum over the dims that broadcasting `size` to the shape of `input` would expand.

    It is the gradient of that broadcast. Shapes are compared from their last dim on.

    Args:
        input: a tensor of any shape.
        size: the shape of the result: each size is that of `input` or 1; fewer dims are
            allowed.

    Returns: a tensor of shape `size`; `input` itself where nothing is summed.

    Raises:
        RuntimeError: `size` does not broadcast to the shape of `input`.

    Example:
        >>> gw.sum_to_size(gw.ones(2, 3), (1, 3))
        tensor([[2., 2., 2.]])
    """,
)
