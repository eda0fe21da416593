"""Elementary functions of one operand that compiled code makes of others.

Each has a NumPy kernel for eager use; its decomposition keeps the relative accuracy of the
primitives it is made of, except where said.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.dtype_rules import require_dtype
from graphwright.runtime.ops.kernels import compute_type, elementwise
from graphwright.runtime.ops.nn_support import cast
from graphwright.runtime.ops.pointwise.arithmetic import pointwise_spec, widened
from graphwright.runtime.ops.pointwise.docstrings import unary_doc
from graphwright.runtime.ops.pointwise.unary import define_gradient, define_unary, times
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.promotion import to_float
from graphwright.runtime.tensor.tensor import Tensor

_LN2 = math.log(2.0)


def _one_minus_square(x: Any) -> Any:
    """1 - x^2 without cancellation near 1."""
    return ops.mul(ops.sub(1, x), ops.add(x, 1))


def _asin(x: Any) -> Any:
    return ops.atan2(x, ops.sqrt(_one_minus_square(x)))


def _acos(x: Any) -> Any:
    return ops.atan2(ops.sqrt(_one_minus_square(x)), x)


def _sinh(x: Any) -> Any:
    """(e - 1 + (e - 1)/e) / 2 for e = exp|x|; beyond 20 the square of exp(|x|/2), halved."""
    size = ops.abs(x)
    grown = ops.expm1(ops.clamp(size, None, 20.0))
    near = ops.mul(ops.add(grown, ops.div(grown, ops.add(grown, 1))), 0.5)
    root = ops.exp(ops.mul(size, 0.5))
    far = ops.mul(ops.mul(root, 0.5), root)
    return ops.copysign(ops.where(ops.gt(size, 20.0), far, near), x)


def _cosh(x: Any) -> Any:
    root = ops.exp(ops.mul(ops.abs(x), 0.5))
    return ops.add(ops.mul(ops.mul(root, 0.5), root), ops.div(ops.div(0.5, root), root))


_HUGE = 1e18
"""Its square is a float32, and beside it 1 is nothing in float64."""


def _log1p_doubled(size: Any, grown: Any) -> Any:
    """log(1 + grown), which is log(2 size) of huge sizes; not overflowing where 2 size would."""
    huge = ops.gt(size, _HUGE)
    log = ops.log1p(ops.where(huge, size, grown))
    return ops.where(huge, ops.add(log, _LN2), log)


def _asinh(x: Any) -> Any:
    """log1p(|x| + x^2 / (1 + sqrt(1 + x^2))), which is log(2|x|) for large x."""
    size = ops.abs(x)
    small = ops.clamp(size, None, _HUGE)
    square = ops.mul(small, small)
    inner = ops.div(square, ops.add(ops.sqrt(ops.add(square, 1)), 1))
    return ops.copysign(_log1p_doubled(size, ops.add(small, inner)), x)


def _acosh(x: Any) -> Any:
    """log1p(a + sqrt(a (a + 2))) for a = x - 1, which is log(2x) for large x."""
    above = ops.sub(x, 1)
    root = ops.mul(ops.sqrt(above), ops.sqrt(ops.add(above, 2)))
    return _log1p_doubled(x, ops.add(above, root))


def _acosh_slope(ctx: Any) -> Any:
    """1 / sqrt(x^2 - 1), of which complex numbers have the root that their acosh is."""
    x = ctx.input
    if x.dtype.is_complex:
        return ops.mul(ops.rsqrt(ops.sub(x, 1)), ops.rsqrt(ops.add(x, 1)))
    return ops.rsqrt(ops.sub(ops.mul(x, x), 1))


def _atanh(x: Any) -> Any:
    """log1p(2|x| / (1 - |x|)) / 2, with the sign of x."""
    size = ops.abs(x)
    ratio = ops.div(ops.add(size, size), ops.sub(1, size))
    return ops.copysign(ops.mul(ops.log1p(ratio), 0.5), x)


def _sinc_kernel(a: Any, out: Any) -> None:
    scaled = a * out.dtype.type(np.pi)
    flat_top = a == 0
    np.divide(np.sin(scaled), np.where(flat_top, 1, scaled), out)
    np.copyto(out, 1, where=flat_top)


def _sinc(x: Any) -> Any:
    zero = ops.eq(x, 0)
    scaled = ops.mul(ops.where(zero, 1.0, x), math.pi)
    return ops.where(zero, 1.0, ops.div(ops.sin(scaled), scaled))


def _sinc_slope(ctx: Any) -> Any:
    """(cos(pi x) - sinc(x)) / x; at 0 the first term of its series, which has a derivative."""
    zero = ops.eq(ctx.input, 0)
    x = ops.where(zero, 1.0, ctx.input)
    slope = ops.div(ops.sub(ops.cos(ops.mul(x, math.pi)), ctx.out), x)
    return ops.where(zero, ops.mul(ctx.input, -(math.pi**2) / 3), slope)


_Entry = tuple[str, Any, Callable[..., Any], Callable[..., Any], tuple[str, ...], str]

# name, kernel, decomposition, derivative, what it needs, docstring
_SMOOTH: tuple[_Entry, ...] = (
    (
        "exp2",
        np.exp2,
        lambda x: ops.pow(2.0, x),
        lambda c: ops.mul(c.out, _LN2),
        ("out",),
        """Power of two, `y = 2^x`.

        >>> gw.exp2(gw.tensor([1, 3]))
        tensor([2., 8.])
        """,
    ),
    (
        "log10",
        np.log10,
        lambda x: ops.mul(ops.log2(x), math.log10(2.0)),
        lambda c: ops.reciprocal(ops.mul(c.input, math.log(10.0))),
        ("input",),
        """Logarithm to base 10; -inf at 0, nan for negative real numbers.

        >>> gw.log10(gw.tensor([1, 100]))
        tensor([0., 2.])
        """,
    ),
    (
        "asin",
        np.arcsin,
        _asin,
        lambda c: ops.rsqrt(_one_minus_square(c.input)),
        ("input",),
        """Inverse sine in radians, from -pi/2 to pi/2; nan for real numbers beyond -1 and 1.

        >>> gw.asin(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 1.5708])
        """,
    ),
    (
        "acos",
        np.arccos,
        _acos,
        lambda c: ops.neg(ops.rsqrt(_one_minus_square(c.input))),
        ("input",),
        """Inverse cosine in radians, from 0 to pi; nan for real numbers beyond -1 and 1.

        >>> gw.acos(gw.tensor([1.0, -1.0]))
        tensor([0.0000, 3.1416])
        """,
    ),
    (
        "atan",
        np.arctan,
        lambda x: ops.atan2(x, ops.ones_like(x)),
        lambda c: ops.reciprocal(ops.add(ops.mul(c.input, c.input), 1)),
        ("input",),
        """Inverse tangent in radians, from -pi/2 to pi/2.

        >>> gw.atan(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7854])
        """,
    ),
    (
        "sinh",
        np.sinh,
        _sinh,
        lambda c: ops.cosh(c.input),
        ("input",),
        """Hyperbolic sine, `y = (e^x - e^(-x)) / 2`.

        >>> gw.sinh(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 1.1752])
        """,
    ),
    (
        "cosh",
        np.cosh,
        _cosh,
        lambda c: ops.sinh(c.input),
        ("input",),
        """Hyperbolic cosine, `y = (e^x + e^(-x)) / 2`.

        >>> gw.cosh(gw.tensor([0.0, 1.0]))
        tensor([1.0000, 1.5431])
        """,
    ),
    (
        "asinh",
        np.arcsinh,
        _asinh,
        lambda c: ops.rsqrt(ops.add(ops.mul(c.input, c.input), 1)),
        ("input",),
        """Inverse hyperbolic sine, `y = log(x + sqrt(x^2 + 1))`.

        >>> gw.asinh(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8814])
        """,
    ),
    (
        "acosh",
        np.arccosh,
        _acosh,
        _acosh_slope,
        ("input",),
        """Inverse hyperbolic cosine, `y = log(x + sqrt(x^2 - 1))`; nan for real numbers below 1.

        >>> gw.acosh(gw.tensor([1.0, 2.0]))
        tensor([0.0000, 1.3170])
        """,
    ),
    (
        "atanh",
        np.arctanh,
        _atanh,
        lambda c: ops.reciprocal(_one_minus_square(c.input)),
        ("input",),
        """Inverse hyperbolic tangent, `y = log((1 + x) / (1 - x)) / 2`; nan for real `|x| > 1`.

        >>> gw.atanh(gw.tensor([0.0, 0.5]))
        tensor([0.0000, 0.5493])
        """,
    ),
    (
        "sinc",
        _sinc_kernel,
        _sinc,
        _sinc_slope,
        ("input", "out"),
        """Normalised sinc function, `y = sin(pi x) / (pi x)`, 1 at 0.

        >>> gw.sinc(gw.tensor([0.0, 0.5]))
        tensor([1.0000, 0.6366])
        """,
    ),
)
for _name, _function, _parts, _slope, _saves, _doc in _SMOOTH:
    define_unary(
        _name,
        _function,
        times(_slope),
        _saves,
        floats_only=True,
        decompose=widened(_parts),
        doc=_doc,
    )


# -- signs and parts


def _frac(a: Any, out: Any) -> None:
    np.trunc(a, out)
    np.subtract(a, out, out)


define_unary(
    "frac",
    _frac,
    lambda ctx, grad: grad,
    decompose=widened(lambda x: ops.sub(x, ops.trunc(x))),
    doc="""Fraction of each element, `x - trunc(x)`, of the sign of `x`.

    >>> gw.frac(gw.tensor([-1.5, 2.25]))
    tensor([-0.5000,  0.2500])
    """,
    bool=False,
    integers=False,
    complex=False,
)


def _positive(input: Any) -> Any:
    if input.dtype is dtypes.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


define(
    "positive(Tensor input)",
    Kind.COMPOSITE,
    decompose=_positive,
    doc="""The tensor itself; the operator `+` of one operand.

    Args:
        input: a tensor of any shape.

    Raises:
        RuntimeError: `input` is of bool.

    Example:
        >>> gw.positive(gw.tensor([-1, 2]))
        tensor([-1,  2])
    """,
)


def _signbit(a: Any, out: Any) -> None:
    if a.dtype.kind == "f":
        np.signbit(a, out)
    else:
        np.less(a, 0, out)


def _define_test(
    name: str, function: Any, decompose: Callable[..., Any] | None = None, *, doc: str
) -> None:
    """A test of one operand with bool result; complex is refused."""

    def meta(input: Any) -> Any:
        require_dtype(name, input.dtype, complex=False)
        return pointwise_spec(name, (input,), dtypes.bool)

    def eager(input: Any) -> Tensor:
        require_dtype(name, input.dtype, complex=False)
        if input.dtype is dtypes.bool:
            return ops.zeros_like(input)
        return elementwise(name, function, (input,), input.dtype, dtypes.bool)

    define(
        f"{name}(Tensor input)",
        Kind.POINTWISE,
        meta=meta,
        vjp=not_differentiable,
        eager=eager,
        decompose=None if decompose is None else lambda input: (
            ops.zeros_like(input) if input.dtype is dtypes.bool else decompose(input)
        ),
        doc=unary_doc(doc, False, {"complex": False}, "a bool tensor of the shape of `input`."),
    )


def _infinite(value: float) -> Callable[..., None]:
    def function(a: Any, out: Any) -> None:
        if a.dtype.kind == "f":
            np.equal(a, value, out)
        else:
            out[...] = False

    return function


def _is_infinite(value: float) -> Callable[..., Any]:
    return lambda input: (
        ops.eq(input, value)
        if input.dtype.is_floating_point
        else ops.zeros_like(input, dtype=dtypes.bool)
    )


_define_test(
    "signbit",
    _signbit,
    doc="""Whether each element has a negative sign, which -0.0 has too.

    >>> gw.signbit(gw.tensor([-0.0, 1.0]))
    tensor([ True, False])
    """,
)
_define_test(
    "isposinf",
    _infinite(math.inf),
    _is_infinite(math.inf),
    doc="""Whether each element is inf.

    >>> gw.isposinf(gw.tensor([float("-inf"), float("inf")]))
    tensor([False,  True])
    """,
)
_define_test(
    "isneginf",
    _infinite(-math.inf),
    _is_infinite(-math.inf),
    doc="""Whether each element is -inf.

    >>> gw.isneginf(gw.tensor([float("-inf"), float("inf")]))
    tensor([ True, False])
    """,
)


def _isreal_eager(input: Any) -> Tensor:
    def function(a: Any, out: Any) -> None:
        np.equal(a.imag, 0, out)

    return elementwise("isreal", function, (input,), input.dtype, dtypes.bool)


define(
    "isreal(Tensor input)",
    Kind.POINTWISE,
    meta=lambda input: pointwise_spec("isreal", (input,), dtypes.bool),
    vjp=not_differentiable,
    eager=_isreal_eager,
    decompose=lambda input: ops.ones_like(input, dtype=dtypes.bool),
    doc="""Whether each element has the imaginary part 0, as all elements of real tensors have.

    Args:
        input: a tensor of any shape and dtype.

    Returns: a bool tensor of the shape of `input`.

    Example:
        >>> gw.isreal(gw.tensor([1 + 0j, 1j]))
        tensor([ True, False])
    """,
)


# -- scaled and replaced


def _scaled(name: str, factor: float) -> Callable[..., Any]:
    def decompose(input: Any) -> Any:
        require_dtype(name, input.dtype, complex=False)
        return ops.mul(input, factor)

    return decompose


for _name, _factor, _doc in (
    (
        "deg2rad",
        math.pi / 180.0,
        """Degrees in radians, `y = x * pi / 180`.

        >>> gw.deg2rad(gw.tensor([180, 90]))
        tensor([3.1416, 1.5708])
        """,
    ),
    (
        "rad2deg",
        180.0 / math.pi,
        """Radians in degrees, `y = x * 180 / pi`.

        >>> gw.rad2deg(gw.tensor([1.0, 3.0]))
        tensor([ 57.2958, 171.8873])
        """,
    ),
):
    define(
        f"{_name}(Tensor input)",
        Kind.COMPOSITE,
        decompose=_scaled(_name, _factor),
        doc=unary_doc(_doc, True, {"complex": False}),
    )
    define(f"{_name}_(Tensor input)", Kind.INPLACE, functional=_name, public=False)


def _limits(dtype: DType, posinf: float | None, neginf: float | None) -> tuple[float, float]:
    """What stands for inf and -inf: the greatest and least value of the dtype."""
    greatest = {
        dtypes.float16: 65504.0,
        dtypes.bfloat16: 3.3895313892515355e38,
        dtypes.float32: 3.4028234663852886e38,
        dtypes.float64: 1.7976931348623157e308,
    }[dtype]
    return (
        greatest if posinf is None else posinf,
        -greatest if neginf is None else neginf,
    )


def _nan_to_num(input: Any, nan: float | None, posinf: Any, neginf: Any) -> Any:
    if input.dtype.is_complex:
        if input.requires_grad and _core.grad_enabled():
            raise RuntimeError(
                "nan_to_num does not support automatic differentiation for outputs with complex "
                "dtype."
            )
        parts = ops.view_as_real(input)
        return ops.view_as_complex(ops.nan_to_num(parts, nan, posinf, neginf))
    if not input.dtype.is_floating_point:
        return input.clone()
    high, low = _limits(input.dtype, posinf, neginf)
    value = ops.where(ops.isnan(input), 0.0 if nan is None else float(nan), input)
    value = ops.where(ops.eq(input, math.inf), float(high), value)
    return ops.where(ops.eq(input, -math.inf), float(low), value)


define(
    "nan_to_num(Tensor input, float? nan=None, float? posinf=None, float? neginf=None)",
    Kind.COMPOSITE,
    decompose=_nan_to_num,
    doc="""Elements of `input`, those that are nan or infinite replaced by numbers.

    Args:
        input: a tensor of any shape; integers and bool are unchanged, of complex numbers both
            parts are replaced.
        nan: what replaces nan; 0 if None.
        posinf: what replaces inf; the greatest number of the dtype if None.
        neginf: what replaces -inf; the least number of the dtype if None.

    Raises:
        RuntimeError: `input` is complex and requires a gradient.

    Example:
        >>> gw.nan_to_num(gw.tensor([float("nan"), float("inf"), 1.0]), posinf=9.0)
        tensor([0., 9., 1.])
    """,
)
define(
    "nan_to_num_(Tensor input, float? nan=None, float? posinf=None, float? neginf=None)",
    Kind.INPLACE,
    functional="nan_to_num",
    public=False,
)


def _logit_dtype(input: Any) -> DType:
    require_dtype("logit", input.dtype, complex=False)
    return to_float(input.dtype)


def _logit_meta(input: Any, eps: float | None) -> TensorSpec:
    return pointwise_spec("logit", (input,), _logit_dtype(input))


def _logit(input: Any, eps: float | None) -> Any:
    """log(z / (1 - z)) for z = input clamped to [eps, 1 - eps].

    Of bounds that cross, the lower one is what smaller numbers become, as in PyTorch.
    """
    dtype = _logit_dtype(input)
    z = cast(input, compute_type(dtype))
    if eps is not None and eps <= 0.5:
        z = ops.clamp(z, eps, 1.0 - eps)
    elif eps is not None and eps > 0.5:
        z = ops.where(ops.lt(z, eps), eps, ops.clamp(z, None, 1.0 - eps))
    return cast(ops.log(ops.div(z, ops.sub(1, z))), dtype)


def _logit_vjp(ctx: Any, grad: Any) -> Any:
    return ops.logit_backward(grad, ctx.input, ctx.eps)


def _logit_backward(grad: Any, z: Any, eps: float | None) -> Any:
    """NaN outside [0, 1] and at NaN; with `eps`, 0 outside [eps, 1 - eps]."""
    low = 0.0 if eps is None else eps
    outside = ops.logical_or(ops.lt(z, low), ops.gt(z, 1.0 - low))
    slope = ops.div(grad, ops.mul(z, ops.rsub(z, 1)))
    return ops.where(outside, math.nan if eps is None else 0.0, slope)


define(
    "logit(Tensor input, float? eps=None)",
    Kind.COMPOSITE,
    meta=_logit_meta,
    decompose=_logit,
    vjp=_logit_vjp,
    saves=("input",),
    doc="""Log-odds of each probability, `y = log(z / (1 - z))`: the inverse of `sigmoid`.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.
        eps: `z` is `input` clamped to [eps, 1 - eps]; if None `z` is `input`, and `y` is nan
            beyond [0, 1].

    Raises:
        NotImplementedError: `input` is complex.

    Example:
        >>> gw.logit(gw.tensor([0.5, 0.9]))
        tensor([0.0000, 2.1972])
        >>> gw.logit(gw.tensor([0.0, 1.0]), eps=0.1)
        tensor([-2.1972,  2.1972])
    """,
)
define_gradient("logit_backward(Tensor grad, Tensor input, float? eps)", _logit_backward)
define(
    "logit_(Tensor input, float? eps=None)",
    Kind.INPLACE,
    functional="logit",
    public=False,
)
