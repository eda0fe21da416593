"""Discrete Fourier transforms over one dim, or any dims of complex tensors: the primitives.

A transform sums x[t] exp(-2 pi i k t / n), the backward one with the opposite sign; both times
`scale`. Gradients are PyTorch's: dL/dRe + i dL/dIm.

Results lie in memory as PyTorch's do: the transformed dims are the fastest ones, the last of them
first, then come the others in the order of the input's strides.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.dtype_rules import real_dtype
from graphwright.runtime.ops.kernels import allocate, on_device, wrap
from graphwright.runtime.ops.strides import nesting, strides_in_order
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor


def _check(name: str, input: Any, complex: bool) -> None:
    wide = input.dtype.is_complex if complex else input.dtype in (dtypes.float32, dtypes.float64)
    if not wide:
        raise RuntimeError(f"{name}: Unsupported dtype {input.dtype.name}: {describe(input)}")


def _spec(
    input: Any, dims: tuple[int, ...], shape: tuple[Any, ...], dtype: Any,
    inner: tuple[int, ...] = (),
) -> TensorSpec:
    """The type of a transform over `dims`, where `inner` are to be faster still."""
    order = [d for d in nesting(input.stride()) if d not in inner]
    order = [*inner, *(d for d in order if d in dims), *(d for d in order if d not in dims)]
    return TensorSpec(shape, strides_in_order(shape, order), dtype, input.device)


def _transformed(
    transform: Any, input: Tensor, dims: tuple[int, ...], spec: TensorSpec, scale: float
) -> Tensor:
    """The result of `transform(array, dim, out)` for each of the dims, times `scale`."""
    result = allocate(spec.shape, spec.strides, spec.dtype)
    array, out = input._nd, result._nd
    if not array.size:
        out.fill(0)
    elif not dims:
        np.multiply(array, out.dtype.type(scale), out=out)
    else:
        for dim in dims:
            array = transform(array, dim, out)
        if scale != 1.0:
            out *= out.dtype.type(scale)
    return result


# -- complex to complex


def _c2c_meta(
    input: Any, dims: tuple[int, ...], scale: float, forward: bool, inner: tuple[int, ...]
) -> TensorSpec:
    _check("fft_c2c", input, complex=True)
    return _spec(input, dims, tuple(input.shape), input.dtype, inner)


def _forward(array: Any, dim: int, out: Any) -> Any:
    return np.fft.fft(array, axis=dim, out=out)


def _backward(array: Any, dim: int, out: Any) -> Any:
    return np.fft.ifft(array, axis=dim, norm="forward", out=out)


def _c2c_eager(
    input: Any, dims: tuple[int, ...], scale: float, forward: bool, inner: tuple[int, ...]
) -> Tensor:
    spec = _c2c_meta(input, dims, scale, forward, inner)
    transform = _forward if forward else _backward
    return _transformed(transform, input, dims, spec, scale)


define(
    "fft_c2c(Tensor input, object dims, float scale, bool forward, object inner=())",
    Kind.OTHER,
    meta=_c2c_meta,
    vjp=lambda ctx, grad: ops.fft_c2c(grad, ctx.dims, ctx.scale, not ctx.forward),
    eager=_c2c_eager,
    method=False,
    public=False,
)


# -- real to the half of the spectrum that determines the rest, and back


def _with_size(shape: tuple[Any, ...], dim: int, size: Any) -> tuple[Any, ...]:
    return (*shape[:dim], size, *shape[dim + 1 :])


def _r2c_meta(input: Any, dim: int, scale: float) -> TensorSpec:
    _check("fft_r2c", input, complex=False)
    shape = _with_size(tuple(input.shape), dim, input.shape[dim] // 2 + 1)
    return _spec(input, (dim,), shape, input.dtype.to_complex())


def _r2c_eager(input: Any, dim: int, scale: float) -> Tensor:
    spec = _r2c_meta(input, dim, scale)

    def transform(array: Any, dim: int, out: Any) -> Any:
        return np.fft.rfft(array, axis=dim, out=out)

    return _transformed(transform, input, (dim,), spec, scale)


def _twice(value: Any, dim: int, size: Any, factor: float) -> Any:
    """The frequencies that stand for two, times `factor`; `size`: of the real side."""
    length = int(value.shape[dim])
    weights = np.full(length, factor)
    weights[0] = 1.0
    if size % 2 == 0:
        weights[-1] = 1.0
    shape = (length, *(1,) * (value.ndim - 1 - dim))
    given = wrap(weights.reshape(shape), real_dtype(value.dtype))
    return ops.mul(value, on_device(given, value.device))


def _r2c_vjp(ctx: Any, grad: Any) -> Any:
    size = ctx.input.shape[ctx.dim]
    return ops.fft_c2r(_twice(grad, ctx.dim, size, 0.5), ctx.dim, size, ctx.scale)


define(
    "fft_r2c(Tensor input, int dim, float scale)",
    Kind.OTHER,
    meta=_r2c_meta,
    vjp=_r2c_vjp,
    eager=_r2c_eager,
    method=False,
    public=False,
)


def _c2r_meta(input: Any, dim: int, size: Any, scale: float) -> TensorSpec:
    _check("fft_c2r", input, complex=True)
    shape = _with_size(tuple(input.shape), dim, size)
    return _spec(input, (dim,), shape, real_dtype(input.dtype))


def _c2r_eager(input: Any, dim: int, size: int, scale: float) -> Tensor:
    spec = _c2r_meta(input, dim, size, scale)

    def transform(array: Any, dim: int, out: Any) -> Any:
        return np.fft.irfft(array, size, axis=dim, norm="forward", out=out)

    return _transformed(transform, input, (dim,), spec, scale)


def _c2r_vjp(ctx: Any, grad: Any) -> Any:
    spectrum = ops.fft_r2c(grad, ctx.dim, ctx.scale)
    return _twice(spectrum, ctx.dim, ctx.size, 2.0)


define(
    "fft_c2r(Tensor input, int dim, int size, float scale)",
    Kind.OTHER,
    meta=_c2r_meta,
    vjp=_c2r_vjp,
    eager=_c2r_eager,
    method=False,
    public=False,
)
