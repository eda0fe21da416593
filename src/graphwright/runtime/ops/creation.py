"""Ops that make tensors from nothing: full, arange, random numbers and their like."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphwright.runtime import _core, dtypes
from graphwright.runtime.device import device as Device
from graphwright.runtime.dtypes import dtype as DType
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.kernels import HALVES, allocate, wrap
from graphwright.runtime.ops.spec import TensorSpec
from graphwright.runtime.ops.strides import contiguous_strides, preserved_strides
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.tensor import Tensor

CPU = Device("cpu")


def on_device(device: Any) -> Any:
    """The device meant; None is the CPU."""
    return CPU if device is None else Device(device)


def _check_size(name: str, size: tuple[Any, ...]) -> None:
    for n in size:
        if n < 0:
            raise RuntimeError(
                f"{name}: Trying to create tensor with negative dimension {n}: {list(size)}"
            )


def _contiguous(size: tuple[Any, ...], dtype: DType, device: Any) -> TensorSpec:
    return TensorSpec(size, contiguous_strides(size), dtype, on_device(device))


def _scalar_type(value: Any) -> DType:
    if isinstance(value, bool):
        return dtypes.bool
    if isinstance(value, float):
        return dtypes.get_default_dtype()
    return dtypes.int64


def _full_meta(size: tuple[Any, ...], fill_value: Any, dtype: Any, device: Any) -> TensorSpec:
    _check_size("full", size)
    return _contiguous(size, dtype or _scalar_type(fill_value), device)


def _require_cpu(name: str, device: Any) -> None:
    if device is not None and Device(device).type != "cpu":
        raise NotImplementedError(f"{name}: no kernel for device '{Device(device)}'")


def _full_eager(size: tuple[int, ...], fill_value: Any, dtype: Any, device: Any) -> Tensor:
    if device is not None and Device(device).type == "meta":
        spec = _full_meta(size, fill_value, dtype, device)
        return _core.meta(Tensor, spec.shape, spec.strides, spec.dtype, spec.device)
    _require_cpu("full", device)
    _check_size("full", size)
    if hasattr(fill_value, "item"):
        fill_value = fill_value.item()
    out = _core.empty(Tensor, size, dtype or _scalar_type(fill_value))
    out._nd.fill(fill_value)
    return out


define(
    "full(Size size, Scalar fill_value, *, dtype? dtype=None, device? device=None)",
    Kind.CREATION,
    meta=_full_meta,
    vjp=not_differentiable,
    eager=_full_eager,
    method=False,
    tags=("factory",),
)


def _filled(value: Any) -> Any:
    def decompose(size: tuple[Any, ...], dtype: Any, device: Any) -> Any:
        return ops.full(
            size, value, dtype=dtype or dtypes.get_default_dtype(), device=device
        )

    return decompose


for _name, _value in (("zeros", 0), ("ones", 1)):
    define(
        f"{_name}(Size* size, *, dtype? dtype=None, device? device=None)",
        Kind.COMPOSITE,
        decompose=_filled(_value),
        method=False,
        tags=("factory",),
    )


def _empty_eager(size: tuple[int, ...], dtype: Any, device: Any) -> Tensor:
    if device is not None and Device(device).type != "cpu":
        return _full_eager(size, 0, dtype or dtypes.get_default_dtype(), device)
    _check_size("empty", size)
    return _core.empty(Tensor, size, dtype or dtypes.get_default_dtype())


define(
    "empty(Size* size, *, dtype? dtype=None, device? device=None)",
    Kind.CREATION,
    meta=lambda size, dtype, device: _contiguous(
        size, dtype or dtypes.get_default_dtype(), device
    ),
    vjp=not_differentiable,
    eager=_empty_eager,
    decompose=_filled(0),
    method=False,
    tags=("factory",),
)


# -- like another tensor: same shape, and the same order of dims in memory


def _like(input: Any, dtype: Any) -> TensorSpec:
    strides = preserved_strides(input.shape, input.stride())
    return TensorSpec(input.shape, strides, dtype or input.dtype, input.device)


def _full_like_eager(input: Any, fill_value: Any, dtype: Any) -> Tensor:
    spec = _like(input, dtype)
    out = allocate(spec.shape, spec.strides, spec.dtype)
    out._nd.fill(fill_value.item() if hasattr(fill_value, "item") else fill_value)
    return out


define(
    "full_like(Tensor input, Scalar fill_value, *, dtype? dtype=None)",
    Kind.CREATION,
    meta=lambda input, fill_value, dtype: _like(input, dtype),
    vjp=not_differentiable,
    eager=_full_like_eager,
    method=False,
    tags=("factory",),
)
for _name, _value in (("zeros_like", 0), ("ones_like", 1), ("empty_like", 0)):
    define(
        f"{_name}(Tensor input, *, dtype? dtype=None)",
        Kind.COMPOSITE,
        decompose=lambda input, dtype, value=_value: ops.full_like(input, value, dtype=dtype),
        method=False,
        tags=("factory",),
    )


# -- ranges


def _arange_bounds(start: Any, end: Any) -> tuple[Any, Any]:
    return (0, start) if end is None else (start, end)


def _arange_dtype(values: tuple[Any, ...], dtype: Any) -> DType:
    if dtype is not None:
        return dtype
    floating = any(isinstance(v, float) for v in values)
    return dtypes.get_default_dtype() if floating else dtypes.int64


def _arange_length(start: Any, end: Any, step: Any) -> Any:
    if step == 0:
        raise RuntimeError("arange: step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"arange: upper bound and lower bound inconsistent with step sign: "
            f"{start}, {end}, {step}"
        )
    if isinstance(start, float) or isinstance(end, float) or isinstance(step, float):
        return math.ceil((end - start) / step)
    if step == 1:
        return end - start
    return (end - start + step - 1) // step if step > 0 else (start - end - step - 1) // -step


def _arange_meta(start: Any, end: Any, step: Any, dtype: Any, device: Any) -> TensorSpec:
    first, last = _arange_bounds(start, end)
    length = _arange_length(first, last, step)
    return _contiguous((length,), _arange_dtype((first, last, step), dtype), device)


def _arange_eager(start: Any, end: Any, step: Any, dtype: Any, device: Any) -> Tensor:
    _require_cpu("arange", device)
    first, last = _arange_bounds(start, end)
    length = _arange_length(first, last, step)
    target = _arange_dtype((first, last, step), dtype)
    if target.is_floating_point:
        values = first + np.arange(length, dtype=np.float64) * step
    else:
        values = int(first) + np.arange(length, dtype=np.int64) * int(step)
    return wrap(values, target)


define(
    "arange(Scalar start, Scalar? end=None, Scalar step=1, *, dtype? dtype=None, "
    "device? device=None)",
    Kind.CREATION,
    meta=_arange_meta,
    vjp=not_differentiable,
    eager=_arange_eager,
    method=False,
    tags=("factory",),
)


def _linspace(start: Any, end: Any, steps: int, dtype: Any, device: Any) -> Any:
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    target = dtype or dtypes.get_default_dtype()
    step = (end - start) / (steps - 1) if steps > 1 else 0.0
    places = ops.arange(steps, dtype=dtypes.float64, device=device)
    upper = ops.add(ops.mul(ops.sub(places, steps - 1), step), end)
    values = ops.where(
        ops.lt(places, steps / 2), ops.add(ops.mul(places, step), start), upper
    )
    return ops.to_dtype(values, target)


define(
    "linspace(Scalar start, Scalar end, int steps, *, dtype? dtype=None, device? device=None)",
    Kind.COMPOSITE,
    decompose=_linspace,
    method=False,
    tags=("factory",),
)


def _eye(n: Any, m: Any, dtype: Any, device: Any) -> Any:
    rows = ops.unsqueeze(ops.arange(n, device=device), 1)
    columns = ops.arange(n if m is None else m, device=device)
    return ops.to_dtype(ops.eq(rows, columns), dtype or dtypes.get_default_dtype())


define(
    "eye(int n, int? m=None, *, dtype? dtype=None, device? device=None)",
    Kind.COMPOSITE,
    decompose=_eye,
    method=False,
    tags=("factory",),
)


# -- random numbers: each op takes one offset of the generator


def _uniform(size: tuple[int, ...], dtype: DType, seed: int, offset: int) -> Tensor:
    values = np.empty(size, np.float32)
    _core.philox_uniform(values, seed, offset)
    return wrap(values, dtype)


def _float_or_default(name: str, dtype: Any) -> DType:
    target = dtype or dtypes.get_default_dtype()
    if not target.is_floating_point:
        raise RuntimeError(f"{name}: expected a floating point dtype, got {target}")
    return target


def _rand_meta(size: tuple[Any, ...], dtype: Any, device: Any) -> TensorSpec:
    return _contiguous(size, _float_or_default("rand", dtype), device)


def _rand_eager(size: tuple[int, ...], dtype: Any, device: Any) -> Tensor:
    _require_cpu("rand", device)
    _check_size("rand", size)
    target = _float_or_default("rand", dtype)
    return _uniform(size, target, _core.seed(), _core.reserve_offset(1))


define(
    "rand(Size* size, *, dtype? dtype=None, device? device=None)",
    Kind.RANDOM,
    meta=_rand_meta,
    vjp=not_differentiable,
    eager=_rand_eager,
    method=False,
    tags=("factory",),
)
define(
    "philox_uniform(Size size, dtype dtype, device? device, int seed, int offset)",
    Kind.RANDOM,
    meta=lambda size, dtype, device, seed, offset: _contiguous(size, dtype, device),
    vjp=not_differentiable,
    eager=lambda size, dtype, device, seed, offset: _uniform(size, dtype, seed, offset),
    method=False,
    public=False,
)
define(
    "rng_uniform(Size size, dtype dtype, device? device, int rng_index)",
    Kind.RANDOM,
    meta=lambda size, dtype, device, rng_index: _contiguous(size, dtype, device),
    vjp=not_differentiable,
    eager=lambda size, dtype, device, rng_index: _uniform(
        size, dtype, _core.seed(), _core.reserve_offset(1)
    ),
    method=False,
    public=False,
)


def _rand_like(input: Any, dtype: Any) -> Any:
    return ops.rand(input.shape, dtype=dtype or input.dtype, device=input.device)


def _randn(size: tuple[Any, ...], dtype: Any, device: Any) -> Any:
    """Box-Muller: sqrt(-2 ln(1-u)) cos(2 pi v) for independent uniforms u, v."""
    target = _float_or_default("randn", dtype)
    work = dtypes.float32 if target in HALVES else target
    radius = ops.rand(size, dtype=work, device=device)
    angle = ops.rand(size, dtype=work, device=device)
    length = ops.sqrt(ops.mul(ops.log1p(ops.neg(radius)), -2.0))
    values = ops.mul(length, ops.cos(ops.mul(angle, 2.0 * math.pi)))
    return values if work is target else ops.to_dtype(values, target)


def _randint(low: Any, high: Any, size: Any, dtype: Any, device: Any) -> Any:
    """Floor of a uniform float64 times the width; exact for widths up to 2**24."""
    if size is None:
        low, high, size = 0, low, high
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', got {low} >= {high}")
    shape = (size,) if hasattr(size, "__index__") else tuple(size)
    uniform = ops.rand(shape, dtype=dtypes.float64, device=device)
    values = ops.add(ops.floor(ops.mul(uniform, high - low)), low)
    return ops.to_dtype(values, dtype or dtypes.int64)


def _randperm(n: int, dtype: Any, device: Any) -> Any:
    keys = ops.rand((n,), dtype=dtypes.float32, device=device)
    return ops.to_dtype(ops.argsort(keys, stable=True), dtype or dtypes.int64)


define(
    "rand_like(Tensor input, *, dtype? dtype=None)",
    Kind.COMPOSITE,
    decompose=_rand_like,
    method=False,
    tags=("factory",),
)
define(
    "randn(Size* size, *, dtype? dtype=None, device? device=None)",
    Kind.COMPOSITE,
    decompose=_randn,
    method=False,
    tags=("factory",),
)
define(
    "randn_like(Tensor input, *, dtype? dtype=None)",
    Kind.COMPOSITE,
    decompose=lambda input, dtype: ops.randn(
        input.shape, dtype=dtype or input.dtype, device=input.device
    ),
    method=False,
    tags=("factory",),
)
define(
    "randint(int low, object high, object size=None, *, dtype? dtype=None, "
    "device? device=None)",
    Kind.COMPOSITE,
    decompose=_randint,
    method=False,
    tags=("factory",),
)
define(
    "randperm(int n, *, dtype? dtype=None, device? device=None)",
    Kind.COMPOSITE,
    decompose=_randperm,
    method=False,
    tags=("factory",),
)
