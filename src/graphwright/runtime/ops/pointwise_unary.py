"""Pointwise ops of one operand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime import dtypes
from graphwright.runtime.dtypes import dtype as DType
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.kernels import allocate, copy_into, elementwise, unary_kernel
from graphwright.runtime.ops.pointwise import pointwise_spec
from graphwright.runtime.ops.spec import TensorSpec
from graphwright.runtime.ops.special import erf
from graphwright.runtime.ops.strides import contiguous_strides, preserved_strides
from graphwright.runtime.ops.table import Kind, NotDifferentiable, define, not_differentiable
from graphwright.runtime.promotion import to_float
from graphwright.runtime.tensor import Tensor

Vjp = Callable[..., Any] | NotDifferentiable


def _define_unary(
    name: str,
    function: Any,
    vjp: Vjp,
    saves: tuple[str, ...] = (),
    *,
    floats_only: bool = False,
    inplace: bool = True,
    check: Callable[[DType], None] | None = None,
) -> None:
    """Enter `name(input)`; `floats_only`: integers give the default dtype.

    `check` raises for dtypes that the op refuses; eager kernels raise by themselves.
    """

    def meta(input: Any) -> TensorSpec:
        if check is not None:
            check(input.dtype)
        dtype = to_float(input.dtype) if floats_only else input.dtype
        return pointwise_spec(name, (input,), dtype)

    define(
        f"{name}(Tensor input)",
        Kind.POINTWISE,
        meta=meta,
        vjp=vjp,
        saves=saves,
        eager=unary_kernel(name, function, floats_only),
    )
    if inplace:
        define(f"{name}_(Tensor input)", Kind.INPLACE, functional=name, public=False)


def _times(slope: Callable[[Any], Any]) -> Callable[..., Any]:
    """vjp of an op whose derivative is `slope(ctx)`."""
    return lambda ctx, grad: ops.mul(grad, slope(ctx))


def _flat(ctx: Any, grad: Any) -> Any:
    """vjp of a piecewise constant op."""
    return ops.zeros_like(grad)


def _sigmoid(a: Any, out: Any) -> None:
    np.negative(a, out)
    np.exp(out, out)
    np.add(out, 1, out)
    np.reciprocal(out, out)


def _reciprocal(a: Any, out: Any) -> None:
    np.divide(1, a, out)


def _rsqrt(a: Any, out: Any) -> None:
    np.sqrt(a, out)
    np.divide(1, out, out)


def _relu(a: Any, out: Any) -> None:
    np.maximum(a, a.dtype.type(0), out=out)


def _check_negative(dtype: Any) -> None:
    if dtype in (dtypes.bool, np.bool_):
        raise RuntimeError("Negation, the `-` operator, on a bool tensor is not supported.")


def _negative(a: Any, out: Any) -> None:
    _check_negative(out.dtype)
    np.negative(a, out)


def _sign(a: Any, out: Any) -> None:
    if out.dtype.kind == "b":
        np.copyto(out, a)
        return
    np.sign(a, out)
    if out.dtype.kind == "f":
        np.copyto(out, 0, where=np.isnan(a))


def _absolute(a: Any, out: Any) -> None:
    np.absolute(a, out)


_define_unary("neg", _negative, lambda ctx, grad: ops.neg(grad), check=_check_negative)
_define_unary("abs", _absolute, _times(lambda ctx: ops.sign(ctx.input)), ("input",))
_define_unary("sign", _sign, _flat)
_define_unary(
    "relu",
    _relu,
    lambda ctx, grad: ops.where(ops.le(ctx.out, 0), 0.0, grad),
    ("out",),
)

_SMOOTH: tuple[tuple[str, Any, Any, tuple[str, ...]], ...] = (
    ("exp", np.exp, lambda ctx: ctx.out, ("out",)),
    ("expm1", np.expm1, lambda ctx: ops.add(ctx.out, 1), ("out",)),
    ("sqrt", np.sqrt, lambda ctx: ops.div(0.5, ctx.out), ("out",)),
    (
        "rsqrt",
        _rsqrt,
        lambda ctx: ops.mul(ops.mul(ops.mul(ctx.out, ctx.out), ctx.out), -0.5),
        ("out",),
    ),
    ("reciprocal", _reciprocal, lambda ctx: ops.neg(ops.mul(ctx.out, ctx.out)), ("out",)),
    ("sin", np.sin, lambda ctx: ops.cos(ctx.input), ("input",)),
    ("cos", np.cos, lambda ctx: ops.neg(ops.sin(ctx.input)), ("input",)),
    ("tan", np.tan, lambda ctx: ops.add(ops.mul(ctx.out, ctx.out), 1), ("out",)),
    ("tanh", np.tanh, lambda ctx: ops.sub(1, ops.mul(ctx.out, ctx.out)), ("out",)),
    (
        "sigmoid",
        _sigmoid,
        lambda ctx: ops.mul(ctx.out, ops.sub(1, ctx.out)),
        ("out",),
    ),
    (
        "erf",
        erf,
        lambda ctx: ops.mul(
            ops.exp(ops.neg(ops.mul(ctx.input, ctx.input))), 2.0 / math.sqrt(math.pi)
        ),
        ("input",),
    ),
)
for _name, _function, _slope, _saves in _SMOOTH:
    _define_unary(_name, _function, _times(_slope), _saves, floats_only=True)

_LOGARITHMS: tuple[tuple[str, Any, Any], ...] = (
    ("log", np.log, lambda ctx: ctx.input),
    ("log1p", np.log1p, lambda ctx: ops.add(ctx.input, 1)),
    ("log2", np.log2, lambda ctx: ops.mul(ctx.input, math.log(2.0))),
)
for _name, _function, _divisor in _LOGARITHMS:
    _define_unary(
        _name,
        _function,
        lambda ctx, grad, divisor=_divisor: ops.div(grad, divisor(ctx)),
        ("input",),
        floats_only=True,
    )


def _rounding(ufunc: Any) -> Callable[..., None]:
    def function(a: Any, out: Any) -> None:
        if out.dtype.kind == "f":
            ufunc(a, out)
        else:
            np.copyto(out, a)

    return function


_ROUNDINGS: dict[str, Any] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.rint,
}
for _name, _function in _ROUNDINGS.items():
    _define_unary(_name, _rounding(_function), _flat)


def _check_integral(dtype: DType) -> None:
    if dtype.is_floating_point:
        raise RuntimeError(f"\"bitwise_not\" not implemented for '{dtype.name}'")


def _bitwise_not(a: Any, out: Any) -> None:
    if out.dtype.kind not in "biu":
        raise RuntimeError(f"\"bitwise_not\" not implemented for '{out.dtype}'")
    np.invert(a, out)


_define_unary("bitwise_not", _bitwise_not, not_differentiable, check=_check_integral)


def _define_test(name: str, ufunc: Any, integers: bool | None) -> None:
    """A test with bool result; `integers` is its answer for them (None: ask the ufunc)."""

    def function(a: Any, out: Any) -> None:
        if integers is not None and a.dtype.kind in "biu":
            out[...] = integers
        else:
            ufunc(a, out)

    def eager(input: Any) -> Tensor:
        return elementwise(name, function, (input,), input.dtype, dtypes.bool)

    define(
        f"{name}(Tensor input)",
        Kind.POINTWISE,
        meta=lambda input: pointwise_spec(name, (input,), dtypes.bool),
        vjp=not_differentiable,
        eager=eager,
    )


_define_test("logical_not", np.logical_not, None)
_define_test("isnan", np.isnan, False)
_define_test("isinf", np.isinf, False)
_define_test("isfinite", np.isfinite, True)


# -- copies and casts


def _like(input: Any, dtype: DType) -> TensorSpec:
    strides = preserved_strides(input.shape, input.stride())
    return TensorSpec(input.shape, strides, dtype, input.device)


def _copy(input: Any, dtype: DType, strides: tuple[int, ...]) -> Tensor:
    out = allocate(input.shape, strides, dtype)
    copy_into(out, input)
    return out


define(
    "to_dtype(Tensor input, dtype dtype)",
    Kind.POINTWISE,
    meta=_like,
    vjp=lambda ctx, grad: grad,
    eager=lambda input, dtype: _copy(
        input, dtype, preserved_strides(input.shape, input.stride())
    ),
    method=False,
    public=False,
)
define(
    "clone(Tensor input)",
    Kind.POINTWISE,
    meta=lambda input: _like(input, input.dtype),
    vjp=lambda ctx, grad: grad,
    eager=lambda input: _copy(
        input, input.dtype, preserved_strides(input.shape, input.stride())
    ),
)
define(
    "contiguous(Tensor input)",
    Kind.POINTWISE,
    meta=lambda input: TensorSpec(
        input.shape, contiguous_strides(input.shape), input.dtype, input.device
    ),
    vjp=lambda ctx, grad: grad,
    eager=lambda input: _copy(input, input.dtype, contiguous_strides(input.shape)),
    method=False,
    public=False,
)
