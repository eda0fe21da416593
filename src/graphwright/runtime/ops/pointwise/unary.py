"""Pointwise ops of one operand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.activations.elementwise import wide
from graphwright.runtime.ops.dtype_rules import require_dtype
from graphwright.runtime.ops.kernels import elementwise, unary_kernel
from graphwright.runtime.ops.pointwise.arithmetic import pointwise_spec
from graphwright.runtime.ops.pointwise.docstrings import unary_doc
from graphwright.runtime.ops.special.functions import erf
from graphwright.runtime.ops.strides import pointwise_strides
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
    doc: str = "",
    **kinds: bool,
) -> None:
    """Enter `name(input)`; `floats_only`: integers give the default dtype.

    `kinds`: what the op refuses, as in `require_dtype`. `decompose`: what compiled code does,
    where there is no lowering. `doc`: a summary and an example, see docstrings.py.
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
        doc=unary_doc(doc, floats_only, kinds),
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
    doc="""Negative of each element, `y = -x`; the operator `-`.

    Args:
        input: a tensor of any shape and any dtype but bool; unsigned integers wrap.

    Raises:
        RuntimeError: `input` is of bool.

    Example:
        >>> gw.neg(gw.tensor([1, -2]))
        tensor([-1,  2])
    """,
)
define("neg_(Tensor input)", Kind.INPLACE, functional="neg", public=False)


def _sign(a: Any, out: Any) -> None:
    if out.dtype.kind == "b":
        np.copyto(out, a)
        return
    np.sign(a, out)
    if out.dtype.kind == "f":
        np.copyto(out, 0, where=np.isnan(a))


define_unary(
    "sign",
    _sign,
    flat,
    complex=False,
    doc="""Sign of each element: -1, 0 or 1; 0 for nan.

    The gradient is zero.

    >>> gw.sign(gw.tensor([-3.0, 0.0, 2.0]))
    tensor([-1.,  0.,  1.])
    """,
)
define_unary(
    "relu",
    _relu,
    lambda ctx, grad: ops.relu_backward(grad, ctx.out),
    ("out",),
    bool=False,
    complex=False,
    doc="""Rectified linear unit, `y = max(x, 0)`.

    The gradient is 0 for `x <= 0` and 1 above.

    >>> gw.relu(gw.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """,
)


def _normal_cdf(a: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> None:
    """The share of the normal distribution below each value, to about 1 ulp of 1."""
    erf(a * math.sqrt(0.5), out)
    out *= 0.5
    out += 0.5


# name, kernel, derivative, what it needs, docstring
_SMOOTH: tuple[tuple[str, Any, Any, tuple[str, ...], str], ...] = (
    (
        "exp",
        np.exp,
        lambda ctx: ctx.out,
        ("out",),
        """Exponential function of each element, `y = e^x`.

        >>> gw.exp(gw.tensor([0.0, 1.0]))
        tensor([1.0000, 2.7183])
        """,
    ),
    (
        "expm1",
        np.expm1,
        lambda ctx: ops.add(ctx.out, 1),
        ("out",),
        """Exponential function minus 1, `y = e^x - 1`, accurate for small `x`.

        >>> gw.expm1(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 1.7183])
        """,
    ),
    (
        "sqrt",
        np.sqrt,
        lambda ctx: ops.div(0.5, ctx.out),
        ("out",),
        """Square root of each element; nan for negative real numbers.

        >>> gw.sqrt(gw.tensor([4, 9]))
        tensor([2., 3.])
        """,
    ),
    (
        "rsqrt",
        _rsqrt,
        lambda ctx: ops.mul(ops.mul(ops.mul(ctx.out, ctx.out), ctx.out), -0.5),
        ("out",),
        """Reciprocal of the square root, `y = 1 / sqrt(x)`; inf at 0.

        >>> gw.rsqrt(gw.tensor([4.0, 0.25]))
        tensor([0.5000, 2.0000])
        """,
    ),
    (
        "reciprocal",
        _reciprocal,
        lambda ctx: ops.neg(ops.mul(ctx.out, ctx.out)),
        ("out",),
        """Reciprocal of each element, `y = 1 / x`; inf at 0.

        >>> gw.reciprocal(gw.tensor([2, 4]))
        tensor([0.5000, 0.2500])
        """,
    ),
    (
        "sin",
        np.sin,
        lambda ctx: ops.cos(ctx.input),
        ("input",),
        """Sine of each element, an angle in radians.

        >>> gw.sin(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8415])
        """,
    ),
    (
        "cos",
        np.cos,
        lambda ctx: ops.neg(ops.sin(ctx.input)),
        ("input",),
        """Cosine of each element, an angle in radians.

        >>> gw.cos(gw.tensor([0.0, 1.0]))
        tensor([1.0000, 0.5403])
        """,
    ),
    (
        "tan",
        np.tan,
        lambda ctx: ops.add(ops.mul(ctx.out, ctx.out), 1),
        ("out",),
        """Tangent of each element, an angle in radians.

        >>> gw.tan(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 1.5574])
        """,
    ),
    (
        "erf",
        erf,
        lambda ctx: ops.mul(
            ops.exp(ops.neg(ops.mul(ctx.input, ctx.input))), 2.0 / math.sqrt(math.pi)
        ),
        ("input",),
        """Error function, `y = 2 / sqrt(pi)` times the integral of `e^(-t^2)` from 0 to `x`.

        >>> gw.erf(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8427])
        """,
    ),
)
for _name, _function, _slope, _saves, _doc in _SMOOTH:
    define_unary(
        _name,
        _function,
        times(_slope),
        _saves,
        floats_only=True,
        doc=_doc,
        complex=_name != "erf",
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

_STEPS: tuple[tuple[str, Any, Callable[[Any], Any], str], ...] = (
    (
        "tanh",
        np.tanh,
        lambda y: ops.sub(1, ops.mul(y, y)),
        """Hyperbolic tangent of each element, between -1 and 1.

        >>> gw.tanh(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])
        """,
    ),
    (
        "sigmoid",
        _sigmoid,
        lambda y: ops.mul(y, ops.sub(1, y)),
        """Logistic function, `y = 1 / (1 + e^(-x))`, between 0 and 1.

        >>> gw.sigmoid(gw.tensor([0.0, 1.0]))
        tensor([0.5000, 0.7311])
        """,
    ),
)
"""Functions with their derivatives by the result, and their docstrings."""

for _name, _function, _slope, _doc in _STEPS:
    define_unary(
        _name,
        _function,
        by_result(op(f"{_name}_backward")),
        ("out",),
        floats_only=True,
        doc=_doc,
    )
    define_gradient(
        f"{_name}_backward(Tensor grad, Tensor output)",
        lambda grad, y, slope=_slope: ops.mul(grad, slope(y)),
    )

_LOGARITHMS: tuple[tuple[str, Any, Any, str], ...] = (
    (
        "log",
        np.log,
        lambda ctx: ctx.input,
        """Natural logarithm of each element; -inf at 0, nan for negative real numbers.

        >>> gw.log(gw.tensor([1.0, 2.0]))
        tensor([0.0000, 0.6931])
        """,
    ),
    (
        "log1p",
        np.log1p,
        lambda ctx: ops.add(ctx.input, 1),
        """Natural logarithm of `1 + x`, accurate for small `x`.

        >>> gw.log1p(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 0.6931])
        """,
    ),
    (
        "log2",
        np.log2,
        lambda ctx: ops.mul(ctx.input, math.log(2.0)),
        """Logarithm to base 2; -inf at 0, nan for negative real numbers.

        >>> gw.log2(gw.tensor([1, 8]))
        tensor([0., 3.])
        """,
    ),
)
for _name, _function, _divisor, _doc in _LOGARITHMS:
    define_unary(
        _name,
        _function,
        lambda ctx, grad, divisor=_divisor: ops.div(grad, divisor(ctx)),
        ("input",),
        floats_only=True,
        doc=_doc,
    )


define_unary(
    "bitwise_not",
    np.invert,
    not_differentiable,
    floats=False,
    complex=False,
    doc="""Each integer with all its bits inverted, logical not of bool; the operator `~`.

    >>> gw.bitwise_not(gw.tensor([0, 5]))
    tensor([-1, -6])
    """,
)


def _define_test(name: str, ufunc: Any, integers: bool | None, doc: str) -> None:
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
        doc=unary_doc(doc, False, {}, "a bool tensor of the shape of `input`."),
    )


_define_test(
    "logical_not",
    np.logical_not,
    None,
    """Whether each element is 0 or False.

    >>> gw.logical_not(gw.tensor([0, 2]))
    tensor([ True, False])
    """,
)
define("logical_not_(Tensor input)", Kind.INPLACE, functional="logical_not", public=False)
_define_test(
    "isnan",
    np.isnan,
    False,
    """Whether each element is nan; of complex numbers, whether a part is.

    >>> gw.isnan(gw.tensor([1.0, float("nan")]))
    tensor([False,  True])
    """,
)
_define_test(
    "isinf",
    np.isinf,
    False,
    """Whether each element is inf or -inf; of complex numbers, whether a part is.

    >>> gw.isinf(gw.tensor([1.0, float("-inf")]))
    tensor([False,  True])
    """,
)
_define_test(
    "isfinite",
    np.isfinite,
    True,
    """Whether each element is neither infinite nor nan; of complex numbers, both parts.

    >>> gw.isfinite(gw.tensor([1.0, float("inf")]))
    tensor([ True, False])
    """,
)
