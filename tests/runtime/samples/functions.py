"""Samples of elementary and special functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from .pointwise import _binary, _tensors, _unary
from .sample import Arr, Bad, OpErrors, OpSamples, S


def _special(name: str, reference: Any, low: float, high: float, **options: Any) -> OpSamples:
    """A function of `torch.special`: values and gradients, by its own name not in torch."""
    options.setdefault("torch", "")
    return _unary(f"special_{name}", reference, low, high, halves=False, **options)


def _polynomial(name: str, reference: Any) -> OpSamples:
    samples = (
        S(Arr((3, 4)), 3),
        S(Arr((3, 4)), Arr((4,), 0, 5, "index")),
        S(Arr((0, 2)), 1),
    )
    return OpSamples(
        f"special_{name}",
        samples,
        lambda x, n: reference(np.trunc(n), x),
        grad=False,
        torch="",
    )


def _shifted(reference: Any) -> Any:
    return lambda n, x: reference(n, 2 * x - 1)


def _third(n: Any, x: Any) -> Any:
    """V_n by U_n - U_(n-1)."""
    return special.eval_chebyu(n, x) - special.eval_chebyu(n - 1, x) * (n > 0)


def _fourth(n: Any, x: Any) -> Any:
    """W_n by U_n + U_(n-1)."""
    return special.eval_chebyu(n, x) + special.eval_chebyu(n - 1, x) * (n > 0)


def _incomplete() -> tuple[OpSamples, ...]:
    """P and Q have derivatives with respect to their second argument only."""
    samples = tuple(
        S(Arr(left, 0.5, 3.0, grad=False), Arr(right, 0.2, 4.0))
        for left, right in (((3, 4), (3, 4)), ((3, 1), (1, 4)), ((), ()), ((0, 3), (3,)))
    )
    return (
        OpSamples("igamma", samples, special.gammainc),
        OpSamples("igammac", samples, special.gammaincc),
    )


def _xlog(log: Any) -> Any:
    return lambda x, y: np.where(x == 0, 0.0, x * log(y))


FUNCTIONS: tuple[OpSamples | OpErrors, ...] = (
    _unary("exp2", np.exp2),
    _unary("log10", np.log10, 0.1, 4.0),
    _unary("asin", np.arcsin, -0.9, 0.9),
    _unary("acos", np.arccos, -0.9, 0.9),
    _unary("atan", np.arctan),
    _unary("sinh", np.sinh),
    _unary("cosh", np.cosh),
    _unary("asinh", np.arcsinh),
    _unary("acosh", np.arccosh, 1.1, 4.0),
    _unary("atanh", np.arctanh, -0.9, 0.9),
    _unary("sinc", np.sinc),
    _unary("frac", lambda x: x - np.trunc(x)),
    _unary("sgn", np.sign),
    _unary("positive", lambda x: x, layouts=False),
    _unary("signbit", np.signbit, grad=False),
    _unary("isposinf", np.isposinf, grad=False),
    _unary("isneginf", np.isneginf, grad=False),
    _unary("isreal", np.isreal, grad=False),
    _unary("deg2rad", np.deg2rad),
    _unary("rad2deg", np.rad2deg),
    _unary("nan_to_num", np.nan_to_num),
    _unary("logit", special.logit, 0.1, 0.9),
    _unary("erfc", special.erfc),
    _unary("erfinv", special.erfinv, -0.9, 0.9),
    _unary("lgamma", special.gammaln, 0.2, 5.0),
    _unary("digamma", special.digamma, 0.2, 5.0, halves=False),
    _unary("i0", special.i0),
    *(
        OpSamples(
            f"{name}_backward", (S(Arr((3, 4)), Arr((3, 4), 0.1, 0.9), *more),), slope, torch=""
        )
        for name, slope, more in (
            ("sigmoid", lambda grad, y: grad * y * (1 - y), ()),
            ("tanh", lambda grad, y: grad * (1 - y * y), ()),
            ("logit", lambda grad, x, eps: grad / (x * (1 - x)), (None,)),
        )
    ),
    OpSamples(
        "mvlgamma",
        (S(Arr((3, 4), 2.0, 5.0), 2), S(Arr((), 2.0, 5.0), 1)),
        lambda x, p: np.vectorize(special.multigammaln)(x, p),
    ),
    OpSamples(
        "polygamma",
        tuple(S(n, Arr((3, 4), 0.3, 4.0)) for n in (0, 1, 2, 4)),
        lambda n, x: special.polygamma(n, x),
        double_grad=False,
    ),
    _special("erfcx", special.erfcx, -2.0, 2.0),
    _special("ndtri", special.ndtri, 0.1, 0.9),
    _special("log_ndtr", special.log_ndtr, -3.0, 2.0),
    _special("ndtr", special.ndtr, -2.0, 2.0),
    _special("entr", special.entr, 0.1, 3.0),
    _special("i0e", special.i0e, 0.1, 3.0),
    _special("i1", special.i1, 0.1, 3.0),
    _special("i1e", special.i1e, 0.1, 3.0),
    _special("airy_ai", lambda x: special.airy(x)[0], -12.0, 4.0, grad=False),
    _special("bessel_j0", special.j0, -12.0, 12.0, grad=False),
    _special("bessel_j1", special.j1, -12.0, 12.0, grad=False),
    _special("bessel_y0", special.y0, 0.1, 12.0, grad=False),
    _special("bessel_y1", special.y1, 0.1, 12.0, grad=False),
    _special("modified_bessel_i0", special.i0, -3.0, 3.0, grad=False),
    _special("modified_bessel_i1", special.i1, -3.0, 3.0, grad=False),
    _special("modified_bessel_k0", special.k0, 0.1, 5.0, grad=False),
    _special("modified_bessel_k1", special.k1, 0.1, 5.0, grad=False),
    _special("scaled_modified_bessel_k0", special.k0e, 0.1, 5.0, grad=False),
    _special("scaled_modified_bessel_k1", special.k1e, 0.1, 5.0, grad=False),
    _special("spherical_bessel_j0", lambda x: special.spherical_jn(0, x), -5.0, 5.0, grad=False),
    _polynomial("chebyshev_polynomial_t", special.eval_chebyt),
    _polynomial("chebyshev_polynomial_u", special.eval_chebyu),
    _polynomial("chebyshev_polynomial_v", _third),
    _polynomial("chebyshev_polynomial_w", _fourth),
    _polynomial("shifted_chebyshev_polynomial_t", _shifted(special.eval_chebyt)),
    _polynomial("shifted_chebyshev_polynomial_u", _shifted(special.eval_chebyu)),
    _polynomial("shifted_chebyshev_polynomial_v", _shifted(_third)),
    _polynomial("shifted_chebyshev_polynomial_w", _shifted(_fourth)),
    _polynomial("hermite_polynomial_h", special.eval_hermite),
    _polynomial("hermite_polynomial_he", special.eval_hermitenorm),
    _polynomial("laguerre_polynomial_l", special.eval_laguerre),
    _polynomial("legendre_polynomial_p", special.eval_legendre),
    _tensors("fmax", np.fmax),
    _tensors("fmin", np.fmin),
    _tensors("hypot", np.hypot),
    _tensors("nextafter", np.nextafter, grad=False, double_grad=False),
    _tensors("logaddexp", np.logaddexp),
    _tensors("logaddexp2", np.logaddexp2),
    _tensors("heaviside", np.heaviside, grad=False),
    _tensors("ldexp", lambda x, n: x * np.exp2(n)),
    *_incomplete(),
    OpSamples(
        "copysign",
        (S(Arr((3, 4)), Arr((3, 4))), S(Arr((3, 1)), Arr((4,))), S(Arr((3,)), -1.5)),
        np.copysign,
    ),
    _binary("xlogy", _xlog(np.log), (0.2, 2.0), (0.2, 2.0), torch=""),
    _binary("special_xlog1py", _xlog(np.log1p), (0.2, 2.0), (0.2, 2.0), torch=""),
    OpSamples(
        "special_zeta",
        (S(Arr((3, 4), 1.5, 4.0, grad=False), Arr((4,), 0.5, 3.0)),),
        special.zeta,
        torch="",
        double_grad=False,
    ),
    OpSamples(
        "float_power", (S(Arr((3, 4), 0.3, 2.0), 2.5), S(Arr((3,), 0.3, 2.0), Arr((3,)))), np.power
    ),
    OpSamples(
        "rsub",
        (S(Arr((3, 4)), Arr((4,))), S(Arr((3,)), 2.0, alpha=0.5)),
        lambda a, b, alpha=1: b - alpha * a,
    ),
    OpSamples(
        "frexp",
        (S(Arr((3, 4))), S(Arr(())), S(Arr((0, 2)))),
        np.frexp,
        double_grad=False,
    ),
    OpSamples("frexp_parts", (S(Arr((3, 4))),), np.frexp, torch="", double_grad=False),
    OpSamples("gcd", (S(Arr((3, 4), -9, 9, "int"), Arr((4,), -9, 9, "int")),), np.gcd, grad=False),
    OpSamples("lcm", (S(Arr((3, 4), -9, 9, "int"), Arr((4,), -9, 9, "int")),), np.lcm, grad=False),
    OpSamples(
        "bitwise_left_shift",
        (S(Arr((3, 4), -9, 9, "int"), Arr((4,), 0, 70, "int")), S(Arr((3,), -9, 9, "int"), 2)),
        np.left_shift,
        grad=False,
    ),
    OpSamples(
        "bitwise_right_shift",
        (S(Arr((3, 4), -99, 99, "int"), Arr((4,), 0, 70, "int")), S(Arr((3,), -9, 9, "int"), 2)),
        np.right_shift,
        grad=False,
    ),
)

_FLOATS, _INTS, _BOOLS = Arr((3,)), Arr((3,), -4, 4, "int"), Arr((3,), kind="bool")
_TWO, _THREE = Arr((2,)), Arr((3,))


def _refuses(name: str, *samples: Any, error: type[Exception] = RuntimeError) -> OpErrors:
    return OpErrors(name, tuple(Bad(sample, error) for sample in samples))


def _needs_tensors(name: str) -> OpErrors:
    return _refuses(name, S(_FLOATS, 2.0), S(2.0, _FLOATS), error=TypeError)


FUNCTIONS += (
    *(
        _refuses(n, S(_BOOLS))
        for n in ("neg", "abs", "floor", "ceil", "trunc", "round", "positive")
    ),
    *(_refuses(n, S(_INTS)) for n in ("frac", "frexp")),
    *(_refuses(n, S(_FLOATS)) for n in ("bitwise_not",)),
    *(_refuses(n, S(_FLOATS, (1,)), error=TypeError) for n in ("floor_divide", "copysign")),
    _refuses("where", S(_BOOLS, _FLOATS, (1,)), S(_BOOLS, (1,), _FLOATS), error=TypeError),
    *(_refuses(n, S(_FLOATS, _FLOATS, alpha=None), error=TypeError) for n in ("add", "sub")),
    _refuses("pad", S(_FLOATS, (1, 1), value=1j), error=TypeError),
    *(
        _refuses(n, S(_FLOATS, _FLOATS), S(_BOOLS, _BOOLS))
        for n in ("gcd", "lcm", "bitwise_left_shift", "bitwise_right_shift")
    ),
    *(_refuses(n, S(_FLOATS, _FLOATS)) for n in ("bitwise_and", "bitwise_or", "bitwise_xor")),
    *(_refuses(n, S(_INTS, _INTS)) for n in ("hypot", "nextafter", "logaddexp", "igamma")),
    *(
        _needs_tensors(n)
        for n in (
            "maximum",
            "minimum",
            "fmax",
            "fmin",
            "atan2",
            "hypot",
            "logaddexp",
            "logaddexp2",
            "logical_and",
            "logical_or",
            "logical_xor",
            "igamma",
            "igammac",
            "nextafter",
            "ldexp",
        )
    ),
    *(
        _refuses(n, S(_TWO, _THREE))
        for n in (
            "add",
            "sub",
            "mul",
            "div",
            "pow",
            "maximum",
            "atan2",
            "hypot",
            "eq",
            "lt",
            "fmod",
            "remainder",
            "copysign",
            "xlogy",
            "logaddexp",
            "heaviside",
            "logical_and",
            "isclose",
        )
    ),
    *(_refuses(n, S(2.0, _FLOATS), error=TypeError) for n in ("eq", "lt", "fmod", "rsub")),
    _refuses("sub", S(_BOOLS, _BOOLS)),
    _refuses("pow", S(_INTS, -1), S(_BOOLS, _BOOLS)),
    _refuses("round", S(_INTS, decimals=2)),
    _refuses("clamp", S(_FLOATS)),
    _refuses("heaviside", S(_FLOATS, _INTS)),
    _refuses("lerp", S(_FLOATS, _INTS, 0.5)),
    _refuses("addcdiv", S(_INTS, _INTS, _INTS)),
    _refuses("polygamma", S(-1, _FLOATS)),
    _refuses("mvlgamma", S(_FLOATS, 0)),
    _refuses("isclose", S(_FLOATS, _INTS), S(_FLOATS, _FLOATS, -1.0)),
    _refuses("masked_fill", S(_INTS, _BOOLS, float("inf")), S(_FLOATS, _FLOATS, 1.0)),
    _refuses("float_power_", S(_FLOATS, 2.0)),
)
