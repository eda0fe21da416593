"""Pointwise ops of one operand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.activations.elementwise import wide
from graphwright.runtime.ops.dtype_rules import require_dtype
from graphwright.runtime.ops.kernels import (
    allocate,
    copy_into,
    elementwise,
    power_of_ten,
    unary_kernel,
)
from graphwright.runtime.ops.pointwise.arithmetic import pointwise_spec
from graphwright.runtime.ops.special.functions import erf
from graphwright.runtime.ops.strides import (
    contiguous_strides,
    pointwise_strides,
    preserved_strides,
)
from graphwright.runtime.ops.table import (
    Kind,
    NotDifferentiable,
    Op,
    define,
    not_differentiable,
    op,
)
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.promotion import to_float
from graphwright.runtime.tensor.tensor import Tensor

Vjp = Callable[..., Any] | NotDifferentiable


def define_unary(
    name: str,
    function: Any,
    vjp: Vjp,
    saves: tuple[str, ...] = (),
    *,
    floats_only: bool = False,
    inplace: bool = True,
    public: bool = True,
    decompose: Callable[..., Any] | None = None,
    **kinds: bool,
) -> None:
    """Enter `name(input)`; `floats_only`: integers give the default dtype.

    `kinds`: what the op refuses, as in `require_dtype`. `decompose`: what compiled code does,
    where there is no lowering.
    """
    run = unary_kernel(name, function, floats_only)

    def meta(input: Any) -> TensorSpec:
        require_dtype(name, input.dtype, **kinds)
        dtype = to_float(input.dtype) if floats_only else input.dtype
        return pointwise_spec(name, (input,), dtype)

    def eager(input: Any) -> Tensor:
        require_dtype(name, input.dtype, **kinds)
        return run(input)

    define(
        f"{name}(Tensor input)",
        Kind.POINTWISE,
        meta=meta,
        vjp=vjp,
        saves=saves,
        eager=eager if kinds else run,
        decompose=decompose,
        method=public,
        public=public,
    )
    if inplace and public:
        define(f"{name}_(Tensor input)", Kind.INPLACE, functional=name, public=False)


def define_gradient(schema: str, decompose: Callable[..., Any]) -> None:
    """Enter a gradient `name(grad, known, *options)`, which plain calls compute in C.

    `decompose` is given half types in float32; its result is rounded once, as in C.
    """

    def meta(grad: Any, known: Any, *options: Any) -> TensorSpec:
        strides = pointwise_strides(
            known.shape, [(grad.shape, grad.stride()), (known.shape, known.stride())]
        )
        return TensorSpec(known.shape, strides, known.dtype, known.device)

    define(
        schema,
        Kind.COMPOSITE,
        meta=meta,
        decompose=wide(decompose),
        method=False,
        public=False,
    )


def by_result(backward: Op) -> Callable[..., Any]:
    """vjp of an op whose gradient that one finds from the result."""
    return lambda ctx, grad: backward(grad, ctx.out)


def times(slope: Callable[[Any], Any]) -> Callable[..., Any]:
    """vjp of an op whose derivative is `slope(ctx)`."""
    return lambda ctx, grad: ops.mul(grad, slope(ctx))


def flat(ctx: Any, grad: Any) -> Any:
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
    if dtype is dtypes.bool:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead."
        )


def _neg_spec(input: Any) -> TensorSpec:
    _check_negative(input.dtype)
    return pointwise_spec("neg", (input,), input.dtype)


def _neg_eager(input: Any) -> Tensor:
    _check_negative(input.dtype)
    return _negate(input)


_negate = unary_kernel("neg", np.negative)

define(
    "neg(Tensor input)",
    Kind.POINTWISE,
    meta=_neg_spec,
    vjp=lambda ctx, grad: ops.neg(grad),
    eager=_neg_eager,
)
define("neg_(Tensor input)", Kind.INPLACE, functional="neg", public=False)


def _sign(a: Any, out: Any) -> None:
    if out.dtype.kind == "b":
        np.copyto(out, a)
        return
    np.sign(a, out)
    if out.dtype.kind == "f":
        np.copyto(out, 0, where=np.isnan(a))


define_unary("sign", _sign, flat, complex=False)
define_unary(
    "relu",
    _relu,
    lambda ctx, grad: ops.relu_backward(grad, ctx.out),
    ("out",),
    bool=False,
    complex=False,
)


def _normal_cdf(a: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> None:
    """The share of the normal distribution below each value, to about 1 ulp of 1."""
    erf(a * math.sqrt(0.5), out)
    out *= 0.5
    out += 0.5


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
    define_unary(
        _name, _function, times(_slope), _saves, floats_only=True, complex=_name != "erf"
    )

define_unary(
    "normal_cdf",
    _normal_cdf,
    times(
        lambda ctx: ops.mul(
            ops.exp(ops.mul(ops.mul(ctx.input, ctx.input), -0.5)), 1 / math.sqrt(2 * math.pi)
        )
    ),
    ("input",),
    floats_only=True,
    public=False,
    complex=False,
)

_STEPS: tuple[tuple[str, Any, Callable[[Any], Any]], ...] = (
    ("tanh", np.tanh, lambda y: ops.sub(1, ops.mul(y, y))),
    ("sigmoid", _sigmoid, lambda y: ops.mul(y, ops.sub(1, y))),
)
"""Functions with their derivatives by the result."""

for _name, _function, _slope in _STEPS:
    define_unary(
        _name,
        _function,
        by_result(op(f"{_name}_backward")),
        ("out",),
        floats_only=True,
    )
    define_gradient(
        f"{_name}_backward(Tensor grad, Tensor output)",
        lambda grad, y, slope=_slope: ops.mul(grad, slope(y)),
    )

_LOGARITHMS: tuple[tuple[str, Any, Any], ...] = (
    ("log", np.log, lambda ctx: ctx.input),
    ("log1p", np.log1p, lambda ctx: ops.add(ctx.input, 1)),
    ("log2", np.log2, lambda ctx: ops.mul(ctx.input, math.log(2.0))),
)
for _name, _function, _divisor in _LOGARITHMS:
    define_unary(
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


_ROUNDINGS: dict[str, Any] = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}
for _name, _function in _ROUNDINGS.items():
    define_unary(_name, _rounding(_function), flat, bool=False, complex=False)


def _check_round(input: Any, decimals: int) -> None:
    require_dtype("round", input.dtype, bool=False, complex=False, integers=decimals == 0)


def _round_eager(input: Any, decimals: int) -> Tensor:
    """Halves to even; with `decimals`, of the value scaled by that power of ten."""
    _check_round(input, decimals)
    if decimals == 0:
        return _round_whole(input)
    scale = power_of_ten(decimals)
    grow, shrink = (np.multiply, np.divide) if decimals > 0 else (np.divide, np.multiply)

    def function(a: Any, out: Any) -> None:
        grow(a, out.dtype.type(scale), out)
        np.rint(out, out)
        shrink(out, out.dtype.type(scale), out)

    return elementwise("round", function, (input,), input.dtype, input.dtype)


def _round_meta(input: Any, decimals: int) -> TensorSpec:
    _check_round(input, decimals)
    return pointwise_spec("round", (input,), input.dtype)


_round_whole = unary_kernel("round", _rounding(np.rint))

define(
    "round(Tensor input, *, int decimals=0)",
    Kind.POINTWISE,
    meta=_round_meta,
    vjp=flat,
    eager=_round_eager,
)
define(
    "round_(Tensor input, *, int decimals=0)",
    Kind.INPLACE,
    functional="round",
    public=False,
)


define_unary("bitwise_not", np.invert, not_differentiable, floats=False, complex=False)


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
define("logical_not_(Tensor input)", Kind.INPLACE, functional="logical_not", public=False)
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
