"""Discrete Fourier transforms over one dim, or any dims of complex tensors: the primitives.

A transform sums x[t] exp(-2 pi i k t / n), the backward one with the opposite sign; both times
`scale`. Gradients are PyTorch's: dL/dRe + i dL/dIm.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import dtypes
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.dtype_rules import contiguous_spec, real_dtype
from graphwright.runtime.ops.kernels import wrap
from graphwright.runtime.ops.spec import TensorSpec
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import Tensor


def _check(name: str, input: Any, complex: bool) -> None:
    wide = input.dtype.is_complex if complex else input.dtype in (dtypes.float32, dtypes.float64)
    if not wide:
        raise RuntimeError(f"{name}: Unsupported dtype {input.dtype.name}: {describe(input)}")


def _scaled(array: Any, scale: float) -> Any:
    if scale != 1.0:
        array *= array.dtype.type(scale)
    return array


# -- complex to complex


def _c2c_meta(input: Any, dims: tuple[int, ...], scale: float, forward: bool) -> TensorSpec:
    _check("fft_c2c", input, complex=True)
    return contiguous_spec(input, input.shape)


def _c2c_eager(input: Any, dims: tuple[int, ...], scale: float, forward: bool) -> Tensor:
    _check("fft_c2c", input, complex=True)
    array = input._nd
    if not array.size:
        return wrap(array.copy(), input.dtype)
    for dim in dims:
        array = np.fft.fft(array, axis=dim) if forward else np.fft.ifft(
            array, axis=dim, norm="forward"
        )
    return wrap(_scaled(array, scale) if dims else array.copy(), input.dtype)


define(
    "fft_c2c(Tensor input, object dims, float scale, bool forward)",
    Kind.OTHER,
    meta=_c2c_meta,
    vjp=lambda ctx, grad: ops.fft_c2c(grad, ctx.dims, ctx.scale, not ctx.forward),
    eager=_c2c_eager,
    method=False,
    public=False,
)


# -- real to the half of the spectrum that tells the rest, and back


def _with_size(shape: tuple[Any, ...], dim: int, size: Any) -> tuple[Any, ...]:
    return (*shape[:dim], size, *shape[dim + 1 :])


def _r2c_meta(input: Any, dim: int, scale: float) -> TensorSpec:
    _check("fft_r2c", input, complex=False)
    shape = _with_size(tuple(input.shape), dim, input.shape[dim] // 2 + 1)
    return contiguous_spec(input, shape, input.dtype.to_complex())


def _r2c_eager(input: Any, dim: int, scale: float) -> Tensor:
    spec = _r2c_meta(input, dim, scale)
    if not input.numel():
        return wrap(np.zeros(spec.shape, spec.dtype.numpy), spec.dtype)
    return wrap(_scaled(np.fft.rfft(input._nd, axis=dim), scale), spec.dtype)


def _twice(value: Any, dim: int, size: Any, factor: float) -> Any:
    """The frequencies that stand for two, times `factor`; `size`: of the real side."""
    length = int(value.shape[dim])
    weights = np.full(length, factor)
    weights[0] = 1.0
    if size % 2 == 0:
        weights[-1] = 1.0
    shape = (length, *(1,) * (value.ndim - 1 - dim))
    given = wrap(weights.reshape(shape), real_dtype(value.dtype))
    return ops.mul(value, given)


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
    return contiguous_spec(input, shape, real_dtype(input.dtype))


def _c2r_eager(input: Any, dim: int, size: int, scale: float) -> Tensor:
    spec = _c2r_meta(input, dim, size, scale)
    if not input.numel():
        return wrap(np.zeros(spec.shape, spec.dtype.numpy), spec.dtype)
    array = np.fft.irfft(input._nd, size, axis=dim, norm="forward")
    return wrap(_scaled(array, scale), spec.dtype)


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
