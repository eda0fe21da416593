"""The C kernels of elementwise ops: accuracy, special values, layouts, refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from scipy import special

import graphwright as gw
from graphwright.runtime.ops.special import gamma
from graphwright.runtime.ops.table import op

F = gw.nn.functional
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 5e-324, 1e308, -1e308, 3.5]



def _trigamma(x: np.ndarray) -> np.ndarray:
    """Of x > -3, from where SciPy has it."""
    return special.polygamma(1, x + 4) + sum(1 / (x + k) ** 2 for k in range(4))


# op, the same in float64, range, the greatest error in float32 and float64 ulps
FUNCTIONS: list[tuple[Callable[..., Any], Callable[..., Any], tuple[float, float], int]] = [
    (gw.erfc, np.vectorize(math.erfc), (-4, 20), 8),
    (gw.erf, np.vectorize(math.erf), (-7, 7), 2),
    (gw.erf, np.vectorize(math.erf), (-0.4, 0.4), 2),
    (gw.erfinv, special.erfinv, (-0.999, 0.999), 8),
    (gw.erfinv, special.erfinv, (-0.5, 0.5), 4),
    (gw.lgamma, special.gammaln, (3, 60), 8),
    (gw.lgamma, special.gammaln, (100, 1e30), 8),
    (lambda x: gw.polygamma(1, x), lambda x: special.polygamma(1, x), (1e-3, 60), 8),
    (lambda x: gw.polygamma(1, x), lambda x: special.polygamma(1, x), (100, 1e15), 8),
    (gw.digamma, special.digamma, (2, 60), 16),
    (gw.lgamma, special.gammaln, (-0.95, -1e-3), 8),
    (gw.lgamma, special.gammaln, (-30.9, -30.1), 8),
    (gw.digamma, special.digamma, (-0.4, -1e-3), 16),
    (lambda x: gw.polygamma(1, x), _trigamma, (-2.99, -1e-3), 16),
    (gw.special.log_ndtr, special.log_ndtr, (-30, -1), 8),
    (gw.sin, np.sin, (-1e4, 1e4), 4),
    (gw.cos, np.cos, (-1e4, 1e4), 4),
    (lambda x: F.softplus(x, threshold=1e9), lambda x: np.logaddexp(0, x), (-30, 30), 4),
    (F.logsigmoid, special.log_expit, (-30, 30), 4),
    (F.elu, lambda x: np.where(x > 0, x, np.expm1(x)), (-30, 5), 4),
    (gw.special.entr, special.entr, (1.5, 60), 4),
    (F.silu, lambda x: x * special.expit(x), (-60, 60), 8),
]


@pytest.mark.parametrize("case", FUNCTIONS, ids=range(len(FUNCTIONS)))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_accuracy(case: Any, dtype: Any) -> None:
    function, reference, limits, ulps = case
    low, high = limits
    x = np.random.default_rng(0).uniform(low, high, 20_000).astype(dtype)
    exact = reference(x.astype(np.float64))
    got = function(gw.from_numpy(x)).numpy().astype(np.float64)
    unit = np.spacing(np.abs(exact).astype(dtype)).astype(np.float64)
    error = np.abs(got - exact) / unit
    assert error.max() <= (4 if dtype is np.float32 else ulps)


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16, gw.float32, gw.float64], ids=str)
@pytest.mark.parametrize("form", [lambda x: x, lambda x: x.repeat(20)], ids=["few", "many"])
def test_no_value_has_an_error_function_beyond_one(dtype: Any, form: Any) -> None:
    x = form(gw.tensor([-1, 1, 1.5, -3, float("inf"), float("nan")], dtype=dtype))
    for found in (gw.erfinv(x), gw.compile(gw.erfinv)(x)):
        assert found[:2].tolist() == [-float("inf"), float("inf")]
        assert found[2:6].isnan().all()


@pytest.mark.parametrize("n", [1, 3, 8, 17, 1000])
def test_error_functions_of_special_values(n: int) -> None:
    """In every lane and behind the last whole vector, at the seams of their pieces too."""
    seams = np.concatenate([1 - 2.0 ** -np.arange(1, 50), 1 - 0.75 * 2.0 ** -np.arange(50),
                            np.arange(16) * 0.1953125, np.arange(28.0)])
    x = np.concatenate([seams, np.nextafter(seams, 0), np.nextafter(seams, np.inf),
                        [math.inf, math.nan, 5e-324, 1e-310, 1e-200, 1e308]])
    x = np.concatenate([x, -x])
    tiled = np.concatenate([x, x[: n % len(x)]])
    for function, reference in ((gw.erf, special.erf), (gw.erfinv, special.erfinv),
                                (gw.erfc, np.vectorize(math.erfc))):
        for values in (tiled, tiled[:n], np.repeat(x, n % 8 + 1)):
            got, want = function(gw.from_numpy(values.copy())).numpy(), reference(values)
            normal = ~(np.abs(want) < 1e-300)
            np.testing.assert_allclose(got[normal], want[normal], 2e-15)
            np.testing.assert_allclose(got[~normal], want[~normal], 1e-10, 1e-323)


@pytest.mark.parametrize("scale", [1e3, 1e6, 1e8, 1e12, 1e15])
@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_incomplete_gamma_functions_of_large_numbers(name: str, scale: float) -> None:
    reference = {"igamma": special.gammainc, "igammac": special.gammaincc}[name]
    a = np.full(8, scale)
    x = scale + np.sqrt(scale) * np.array([-4, -1, -0.1, 0, 0.1, 1, 3, 5])
    exact = reference(a, x)
    native = getattr(gw, name)(gw.from_numpy(a), gw.from_numpy(x)).numpy()
    for found in (native, getattr(gamma, name)(a, x)):
        np.testing.assert_allclose(found, exact, rtol=1e-11)


# function, its range; the last may be far from 0
ANALYSIS: dict[str, tuple[Callable[..., Any], tuple[float, float]]] = {
    "exp": (np.exp, (-87, 87)), "exp2": (np.exp2, (-125, 126)), "expm1": (np.expm1, (-30, 87)),
    "sinh": (np.sinh, (-88, 88)), "cosh": (np.cosh, (-88, 88)), "tanh": (np.tanh, (-12, 12)),
    "log": (np.log, (1e-30, 3)), "log2": (np.log2, (1e-30, 3)), "log10": (np.log10, (1e-30, 3)),
    "log1p": (np.log1p, (-0.999, 3)), "atanh": (np.arctanh, (-0.999, 0.999)),
    "asin": (np.arcsin, (-1, 1)), "acos": (np.arccos, (-1, 1)), "atan": (np.arctan, (-9, 9)),
    "sin": (np.sin, (-1e4, 1e4)), "cos": (np.cos, (-1e4, 1e4)), "tan": (np.tan, (-1e4, 1e4)),
}  # fmt: skip
WIDER = {np.float32: np.float64, np.float64: np.longdouble}


@pytest.mark.parametrize("name", ANALYSIS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_of_analysis_are_near_the_exact_value(name: str, dtype: Any) -> None:
    """float32 is rounded once, but for exp and tanh."""
    function, (low, high) = ANALYSIS[name]
    random = np.random.default_rng(0)
    near = np.exp(random.uniform(-30, 0, 5_000)) * min(high, 1)
    x = np.concatenate([random.uniform(low, high, 20_000), near]).astype(dtype)
    exact = function(x.astype(WIDER[dtype]))
    got = getattr(gw, name)(gw.from_numpy(x)).numpy()
    error = np.abs(got - exact) / np.spacing(np.abs(exact).astype(dtype))
    once = dtype is np.float32 and name not in ("exp", "tanh")
    assert error.max() <= (0.55 if once else 2.5)


@pytest.mark.parametrize("name", ANALYSIS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_of_analysis_at_special_values(name: str, dtype: Any) -> None:
    edges = [88.72, 89.5, -104, 128.5, -150.5, 709.78, 710.4, 710.5, -745.2, 2.0**21, 1e30, -1e9]
    x = np.array([*SPECIAL, *edges, 2, -0.5, 1000, -1000, 1e-40], np.float64)
    with np.errstate(all="ignore"):
        x = x.astype(dtype)
        want = ANALYSIS[name][0](x)
    got = getattr(gw, name)(gw.from_numpy(x)).numpy()
    np.testing.assert_allclose(got, want, rtol=4 * np.finfo(dtype).eps, atol=0)
    known = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(want[known]))


def test_log_of_every_magnitude_is_rounded_once() -> None:
    """Of float32 from the least number to the greatest, and of those next to 1 + i/64."""
    steps = np.arange(1, 0x7F800000, 2003, dtype=np.uint32)
    places = (0.5 + np.arange(129, dtype=np.float32) / 64).view(np.uint32)[:, None]
    near = (places + np.arange(-500, 500)).astype(np.uint32).ravel()
    x = np.concatenate([steps, near]).view(np.float32)
    exact = np.log(x.astype(np.float64))
    error = np.abs(gw.log(gw.from_numpy(x)).numpy() - exact)
    assert (error <= 0.55 * np.spacing(np.abs(exact).astype(np.float32))).all()


@pytest.mark.parametrize("count", [1, 15, 16, 17, 31, 33, 513])
def test_log_of_any_count_has_special_values_at_any_place(count: int) -> None:
    special_values = np.array([*SPECIAL[:7], 1e-45, -1e-45, 3e38, -3e38], np.float32)
    for first in range(len(special_values)):
        x = np.resize(np.roll(special_values, first), count)
        with np.errstate(all="ignore"):
            want = np.log(x)
        guarded = gw.from_numpy(np.concatenate([x, [np.float32(7)]]))
        guarded[:-1].log_()
        for got in (gw.log(gw.from_numpy(x)), guarded[:-1]):
            np.testing.assert_allclose(got.numpy(), want, rtol=2e-7)
        assert guarded[-1] == 7


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_atan2_in_every_direction(dtype: Any) -> None:
    edges = [*SPECIAL[:-1], 1e-310, 1.5e-323, 1.7e308, 1e-200]
    random = np.random.default_rng(0).standard_normal((2, 5_000))
    with np.errstate(all="ignore"):
        y, x = (np.concatenate([part.ravel(), some]).astype(dtype)
                for part, some in zip(np.meshgrid(edges, edges), random, strict=True))
    got, want = gw.atan2(gw.from_numpy(y), gw.from_numpy(x)).numpy(), np.arctan2(y, x)
    np.testing.assert_allclose(got, want, rtol=2 * np.finfo(dtype).eps, atol=0)
    known = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(want[known]))


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_waves_of_every_half_are_those_of_float64(name: str, dtype: Any) -> None:
    x, _ = every_half(dtype)
    got, want = getattr(gw, name)(x), getattr(gw, name)(x.double()).to(dtype)
    np.testing.assert_array_equal(got.float().numpy(), want.float().numpy())
    known = ~gw.isnan(want)
    assert gw.equal(gw.signbit(got)[known], gw.signbit(want)[known])


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16, gw.float32, gw.float64], ids=str)
@pytest.mark.parametrize("name", ["sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh",
                                  "erf", "erfinv", "expm1", "log1p", "sqrt"])
def test_odd_functions_keep_the_sign_of_zero(name: str, dtype: Any) -> None:
    for count in (1, 9, 40):
        x = gw.full((count,), -0.0, dtype=dtype)
        assert gw.signbit(getattr(gw, name)(x)).all()
        assert not gw.signbit(getattr(gw, name)(-x)).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gamma_functions_of_special_values(dtype: Any) -> None:
    x = np.array([0.0, -0.0, math.inf, -math.inf, math.nan, 1, 2, -1, -2.5, -0.5, 3.5], dtype)
    got = gw.lgamma(gw.from_numpy(x)).numpy()
    expected = np.where(np.isinf(x), np.inf, special.gammaln(x))
    np.testing.assert_allclose(got, expected, 1e-6)
    slope = gw.polygamma(1, gw.from_numpy(x)).numpy()
    assert np.isnan(slope[np.isnan(x)]).all()
    np.testing.assert_array_equal(slope[(x == 0) | (x == -1)], np.inf)
    np.testing.assert_allclose(slope[x == 1], math.pi**2 / 6, 1e-6)
    assert slope[x == np.inf].tolist() == [0.0] * int((x == np.inf).sum())


def test_lgamma_near_its_zeros() -> None:
    e = np.array([2.0**-20, -(2.0**-20), 2.0**-30])
    near_one = e * (-np.euler_gamma + e * (math.pi**2 / 12 - e * special.zeta(3) / 3))
    np.testing.assert_allclose(gw.lgamma(gw.from_numpy(1 + e)).numpy(), near_one, 1e-15)
    near_two = near_one + np.log1p(e)
    np.testing.assert_allclose(gw.lgamma(gw.from_numpy(2 + e)).numpy(), near_two, 1e-14)


def test_lgamma_near_its_zeros_below_0() -> None:
    x = np.array([-2.457024738220801, -2.747682646727413, -3.143580888349980]).astype(np.float32)
    wide = gw.lgamma(gw.from_numpy(x).double()).numpy()
    np.testing.assert_allclose(gw.lgamma(gw.from_numpy(x)).numpy(), wide, 1e-7)
    np.testing.assert_allclose(wide, special.gammaln(x.astype(np.float64)), 0, 1e-15)


def pairs() -> tuple[np.ndarray, np.ndarray]:
    """Every pair of special values, and pairs whose quotients have every size."""
    random = np.random.default_rng(1)
    sizes = 10.0 ** random.uniform(-300, 300, (2, 4000)) * random.choice([-1, 1], (2, 4000))
    x, y = (np.array(v) for v in zip(*[(a, b) for a in SPECIAL for b in SPECIAL], strict=True))
    return np.concatenate([x, sizes[0]]), np.concatenate([y, sizes[1]])


@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
def test_divisions_with_rounding_are_those_of_numpy(name: str) -> None:
    x, y = pairs()
    if name == "floor_divide":      # NumPy gives nan for the quotient of an infinity
        whole = np.isfinite(x)
        x, y = x[whole], y[whole]
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x, y)
    got = getattr(gw, name)(gw.from_numpy(x), gw.from_numpy(y)).numpy()
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_integers_are_not_divided_by_zero(name: str, dtype: str) -> None:
    kind = getattr(gw, dtype)
    x, y = gw.arange(200).to(kind), gw.ones(200).to(kind)
    assert getattr(gw, name)(x, y).dtype is kind
    y[150] = 0
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        getattr(gw, name)(x, y)


def test_the_least_integer_by_minus_one() -> None:
    x = gw.tensor([-(2**63), -(2**63)])
    assert gw.remainder(x, gw.tensor([-1, -1])).tolist() == [0, 0]


@pytest.mark.parametrize("function", [
    lambda x, y: gw.fmod(x, y),
    lambda x, y: gw.erfc(x),
    lambda x, y: gw.lerp(x, y, 0.3),
    lambda x, y: gw.addcmul(x, y, y, value=0.5),
    lambda x, y: F.softplus(x, 2.0, 5.0),
    lambda x, y: gw.where(x > y, x, 0.5),
], ids=["fmod", "erfc", "lerp", "addcmul", "softplus", "where"])
def test_every_layout_has_the_same_numbers(function: Callable[..., Any]) -> None:
    random = np.random.default_rng(2)
    x = gw.from_numpy(random.standard_normal((70, 90)))
    y = gw.from_numpy(random.standard_normal((70, 90)))
    expected = function(x, y).numpy()
    layouts = [
        (x.T.contiguous().T, y),
        (gw.stack([x, y], 2)[:, :, 0], gw.stack([x, y], 2)[:, :, 1]),
        (x.flip(1).flip(1), y.T.contiguous().T),
    ]
    for a, b in layouts:
        np.testing.assert_array_equal(function(a, b).numpy(), expected)
    row = function(x, y[0].expand(70, 90)).numpy()
    np.testing.assert_array_equal(row, function(x, y[0].repeat(70, 1)).numpy())


@pytest.mark.parametrize("count", [1, 40])
@pytest.mark.parametrize(("name", "first", "second", "value", "expected"), [
    ("addcmul", 3e38, 1e-3, 2.0, np.inf),
    ("addcmul", 1e-3, 3e38, 2.0, 6e35),
    ("addcmul", 1e-30, 1e-30, 1e30, 1e-30),
    ("addcdiv", 3e38, 1e3, 2.0, np.inf),
    ("addcdiv", 1e-30, 1e-30, 1e30, 1e30),
])
def test_the_number_multiplies_the_first_tensor(
    count: int, name: str, first: float, second: float, value: float, expected: float
) -> None:
    """So float32 overflows, or does not, where PyTorch's does: eager, in place and compiled."""
    function = getattr(gw, name)
    zero, x, y = (gw.full((count,), number) for number in (0.0, first, second))
    compiled = gw.compile(lambda *given: function(*given, value=value))
    in_place = getattr(zero.clone(), name + "_")(x, y, value=value)
    for found in (function(zero, x, y, value=value), in_place, compiled(zero, x, y)):
        np.testing.assert_allclose(found.numpy(), np.full(count, np.float32(expected)), rtol=1e-6)


@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
@pytest.mark.parametrize("value", [2.0, 1e30, 1e-30])
def test_gradients_by_scaled_products_overflow_alike(name: str, value: float) -> None:
    """One node of an eager call has the gradients of its parts, which compiled code runs."""
    numbers = [3e38, 1e20, 1.5, 1e-20, 1e-38]
    pairs = np.array([(a, b) for a in numbers for b in numbers], np.float32)
    function = getattr(gw, name)

    def gradients(run: Callable[..., Any]) -> list[Any]:
        given = [gw.tensor(row.tolist(), requires_grad=True) for row in (pairs[:, 0], *pairs.T)]
        run(*given).backward(gw.full((len(pairs),), 1e10))
        return [tensor.grad.numpy() for tensor in given]

    eager = gradients(lambda *given: function(*given, value=value))
    compiled = gradients(gw.compile(lambda *given: function(*given, value=value)))
    np.testing.assert_array_equal(eager, compiled)


def test_products_of_mixed_dtypes_are_of_the_result() -> None:
    """Bytes are multiplied as the floats that they are added to."""
    x, y = gw.full((3,), 100, dtype=gw.int8), gw.full((3,), 3, dtype=gw.int8)
    assert gw.addcmul(gw.zeros(3), x, y).tolist() == [300.0] * 3


def test_in_place_forms_write_the_same_numbers() -> None:
    x = gw.from_numpy(np.random.default_rng(3).standard_normal(3000))
    y = x + 1
    for name, rest in (("lerp", (y, 0.3)), ("addcmul", (y, y)), ("fmod", (y,)), ("erfc", ())):
        expected = getattr(gw, name)(x, *rest)
        assert getattr(x.clone(), name + "_")(*rest).equal(expected)


@pytest.mark.parametrize("name", ["amax", "amin", "nansum"])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_reductions_where_there_are_nans(name: str, dim: int) -> None:
    x = np.random.default_rng(4).standard_normal((9, 40, 70))
    x.reshape(-1)[::211] = np.nan
    expected = getattr(np, name)(x, axis=dim)
    np.testing.assert_allclose(getattr(gw, name)(gw.from_numpy(x), dim).numpy(), expected)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_gradients_of_softmax_are_the_same_along_every_dim(name: str) -> None:
    values = np.random.default_rng(5).standard_normal((6, 150, 7))
    seed = gw.from_numpy(np.random.default_rng(6).standard_normal((6, 150, 7)))
    x = gw.from_numpy(values).requires_grad_()
    getattr(gw, name)(x, 1).backward(seed)
    y = gw.from_numpy(values).transpose(1, 2).contiguous().requires_grad_()
    getattr(gw, name)(y, 2).backward(seed.transpose(1, 2).contiguous())
    np.testing.assert_allclose(x.grad.numpy(), y.grad.transpose(1, 2).numpy(), rtol=1e-12,
                               atol=1e-12)


def every_half(dtype: Any) -> Any:
    """All numbers of a half type, twice: in order and mixed."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    mixed = np.random.default_rng(0).permutation(bits)
    return [gw.from_numpy(b.view(np.int16)).view(dtype) for b in (bits, mixed)]


HALF_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y, "maximum": lambda x, y: gw.maximum(x, y),
    "minimum": lambda x, y: gw.minimum(x, y), "by a number": lambda x, y: x * 0.3,
    "sqrt": lambda x, y: gw.sqrt(x), "reciprocal": lambda x, y: gw.reciprocal(x),
    "square": lambda x, y: gw.square(x), "floor": lambda x, y: gw.floor(x),
    "round": lambda x, y: gw.round(x), "sign": lambda x, y: gw.sign(x),
    "hardswish": lambda x, y: F.hardswish(x), "clamp": lambda x, y: gw.clamp(x, -1.1, math.nan),
    "nan_to_num": lambda x, y: gw.nan_to_num(x, 0.5, 3.0, -3.0),
    "lerp": lambda x, y: gw.lerp(x, y, 0.25), "addcmul": lambda x, y: gw.addcmul(x, y, x),
    "leaky_relu": lambda x, y: F.leaky_relu(x, 0.3),
    "hardshrink": lambda x, y: F.hardshrink(x, 0.3),
    "threshold": lambda x, y: F.threshold(x, 0.3, -7.0),
    "addcdiv": lambda x, y: gw.addcdiv(x, y, x, value=0.3),
}


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16], ids=str)
@pytest.mark.parametrize("name", HALF_CALLS)
def test_halves_are_computed_in_float32_and_rounded_once(name: str, dtype: Any) -> None:
    call = HALF_CALLS[name]
    for length in (1, 7, 8, 15, 16, 17, 1025, 1 << 16):
        x, y = (t[-length:] for t in every_half(dtype))
        got, wide = call(x, y), call(x.float(), y.float()).to(dtype)
        np.testing.assert_array_equal(got.float().numpy(), wide.float().numpy())
        known = ~gw.isnan(wide)
        assert gw.equal(gw.signbit(got)[known], gw.signbit(wide)[known])


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16, gw.float32, gw.float64])
@pytest.mark.parametrize("bounds", [(-0.5, 1.0), (1.0, -0.5), (math.nan, 1.0), (0.0, math.inf)])
def test_numbers_are_the_tensors_that_repeat_them(dtype: Any, bounds: tuple[float, float]) -> None:
    x = gw.tensor(np.random.default_rng(2).normal(size=(60, 90)), dtype=dtype)
    x[0, :3] = gw.tensor([math.nan, math.inf, -math.inf])
    low, high = (gw.full((), b, dtype=dtype).expand(x.shape) for b in bounds)
    expected = gw.clamp(x, low, high).float().numpy()
    np.testing.assert_array_equal(gw.clamp(x, *bounds).float().numpy(), expected)
    np.testing.assert_array_equal(x.clone().clamp_(*bounds).float().numpy(), expected)
    for step in (2, 3, 4, 5):
        got = gw.clamp(x[:, ::step], *bounds).float().numpy()
        np.testing.assert_array_equal(got, expected[:, ::step])


@pytest.mark.parametrize("exponents", [(4, 2), (50, 3), (51, 51), (52, 20), (63, 63)])
def test_int64_divisions_are_exact_at_every_size(exponents: tuple[int, int]) -> None:
    random = np.random.default_rng(3)
    a, b = (random.integers(-(2**e), 2**e - 1, 3001) for e in exponents)
    b[b == 0] = 1
    near = b * (a // b)     # quotients that are whole, or nearly so
    for x in (a, near, near - 1, near + 1):
        for name in ("floor_divide", "remainder", "fmod"):
            got = getattr(gw, name)(gw.from_numpy(x), gw.from_numpy(b)).numpy()
            np.testing.assert_array_equal(got, getattr(np, name)(x, b))


@pytest.mark.parametrize("at", [0, 70, 199])
def test_a_zero_among_int64_divisors_is_refused(at: int) -> None:
    divisors = gw.ones(200, dtype=gw.int64)
    divisors[at] = 0
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        gw.ones(200, dtype=gw.int64) // divisors


def test_ndtr_and_gelu_of_every_bfloat16() -> None:
    """Within one rounding of the values in float64, down to the smallest normal numbers."""
    bits = np.arange(1 << 16, dtype=np.uint16).view(np.int16)
    x = gw.from_numpy(bits).view(gw.bfloat16)
    wide = x.double()
    tail = gw.special.ndtr(wide)
    for got, want in ((gw.special.ndtr(x), tail), (F.gelu(x), wide * tail)):
        found, exact = got.double().numpy(), want.numpy()
        np.testing.assert_array_equal(np.isnan(found), np.isnan(exact))
        normal = np.isfinite(exact) & (np.abs(exact) > 1e-36)
        np.testing.assert_allclose(found[normal], exact[normal], 2.0**-8 * 1.1)
        rest = np.isfinite(exact) & ~normal
        np.testing.assert_allclose(found[rest], exact[rest], atol=1e-36)


def test_gelu_of_float32_keeps_its_tail() -> None:
    """Computed from the normal distribution function itself: none of the tail cancels."""
    x = np.concatenate([np.linspace(-6, 14, 40001), [0.0, -0.0, 1e-40, 3e38, np.inf]])
    got = F.gelu(gw.tensor(x, dtype=gw.float32)).numpy()
    single = x.astype(np.float32).astype(np.float64)
    want = single * special.ndtr(single)
    np.testing.assert_allclose(got[x > 0], want[x > 0].astype(np.float32), 4e-7)
    tail = (x <= 0) & (x > -5.6)
    np.testing.assert_allclose(got[tail], want[tail], 2e-5)
    assert np.all(np.abs(got[x <= -5.6]) < 1e-7)
    bits = np.array([0x7FC00001, 0xFFC001FF, 0x7F800001], np.uint32)
    assert F.gelu(gw.from_numpy(bits.view(np.float32))).isnan().all()


def test_float32_is_rounded_to_even_bfloat16() -> None:
    """Ties, overflow, subnormal numbers and NaN, in rows long enough for vectors."""
    bits = np.random.default_rng(0).integers(0, 2**32, 5000, dtype=np.uint32)
    bits[:8] = [0x3F808000, 0x3F818000, 0x7F7FFFFF, 0x00008000, 0x00018001, 0x7F800000,
                0x7F800001, 0xFFFFFFFF]
    x = bits.view(np.float32)
    with np.errstate(invalid="ignore"):
        want = x.astype(ml_dtypes.bfloat16)
    got = gw.from_numpy(x).to(gw.bfloat16).float().numpy()
    np.testing.assert_array_equal(got, want.astype(np.float32))


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16, gw.float32])
@pytest.mark.parametrize("name", ["sigmoid", "tanh", "logit"])
def test_slopes_are_rounded_once(name: str, dtype: Any) -> None:
    """Of half precision within half a step: their parts would round several times."""
    values = np.random.default_rng(0).uniform(0.05, 0.95, 4099)
    x = gw.tensor(values, dtype=dtype, requires_grad=True)
    out = getattr(gw, name)(x)
    seed = gw.tensor(values[::-1].copy(), dtype=dtype)
    (got,) = gw.autograd.grad(out, x, seed)
    known = (x if name == "logit" else out).detach().double()
    slope = {"sigmoid": known * (1 - known), "tanh": 1 - known * known,
             "logit": 1 / (known * (1 - known))}[name]
    want = (seed.double() * slope).numpy()
    step = {gw.float16: 2.0**-11, gw.bfloat16: 2.0**-8, gw.float32: 4 * 2.0**-24}[dtype]
    np.testing.assert_allclose(got.double().numpy(), want, 1.01 * step)


def test_the_slope_of_logit_outside_of_its_domain() -> None:
    x = gw.tensor([-0.5, 0.0, 0.25, 1.0, 1.5, math.nan], requires_grad=True)
    (grad,) = gw.autograd.grad(gw.logit(x).sum(), x)
    np.testing.assert_allclose(grad.numpy(), [math.nan, math.inf, 16 / 3, math.inf, math.nan,
                                              math.nan])
    (grad,) = gw.autograd.grad(gw.logit(x, 0.3).sum(), x)
    np.testing.assert_allclose(grad.numpy(), [0, 0, 0, 0, 0, math.nan])


@pytest.mark.parametrize("whole", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_ldexp_is_exact_in_any_layout(kind: Any, whole: Any) -> None:
    """As in the C library where the result is a normal number, an infinity or zero."""
    random = np.random.default_rng(0)
    x = random.normal(size=(6, 50)).astype(kind)
    n = random.integers(-100, 100, (6, 50)).astype(whole)
    x[0, :5] = [0, -0.0, math.inf, -math.inf, math.nan]
    n[1, :4] = [4000, -4000, 2**31 - 1, -(2**31)]
    for lay in (lambda a: a, lambda a: a.T, lambda a: a[:, ::2]):
        for a, b in ((x, n), (x, n[:1]), (x[:, :1], n[:1]), (x[:1, :1], n)):
            got = gw.ldexp(lay(gw.from_numpy(a)), lay(gw.from_numpy(b)))
            with np.errstate(over="ignore"):
                np.testing.assert_array_equal(got.numpy(), np.ldexp(lay(a), lay(b)))


def test_ldexp_is_recorded_as_one_product() -> None:
    x = gw.tensor([[1.5], [-2.0]], requires_grad=True)
    out = gw.ldexp(x, gw.tensor([1, -3]))
    assert type(out.grad_fn).__name__ == "MulBackward0"
    assert out.grad_fn.next_functions[0][0].variable is x
    (grad,) = gw.autograd.grad(out, x, gw.tensor([[1.0, 8.0], [2.0, 16.0]]), create_graph=True)
    assert grad.tolist() == [[3.0], [6.0]]


def test_exp2_of_float64() -> None:
    """Exact of whole numbers, one step elsewhere; 0 and infinity beyond the range."""
    whole = np.arange(-1080.0, 1030.0)
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_array_equal(gw.exp2(gw.tensor(whole)).numpy(), np.exp2(whole))
        x = np.random.default_rng(0).uniform(-1000, 1000, 5003)
        np.testing.assert_allclose(gw.exp2(gw.tensor(x)).numpy(), np.exp2(x), 2.0**-51.5)
    special = gw.exp2(gw.tensor([math.nan, math.inf, -math.inf, 1e300, -1e300, 5e-324]).double())
    assert str(special.tolist()) == "[nan, inf, 0.0, inf, 0.0, 1.0]"


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16, gw.float32, gw.float64])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_glu_is_one_product(dtype: Any, dim: int) -> None:
    """Of each half and the other's sigmoid, rounded once, as are its gradients."""
    values = np.random.default_rng(0).normal(size=(6, 4, 134))
    x = gw.tensor(values, dtype=dtype, requires_grad=True)
    out = F.glu(x, dim)
    assert type(out.grad_fn).__name__ == "GluBackward0"
    wide = x.detach().double().requires_grad_()
    a, b = wide.chunk(2, dim)
    want = a * b.sigmoid()
    seed = gw.tensor(np.random.default_rng(1).normal(size=tuple(out.shape)), dtype=dtype)
    (slope,) = gw.autograd.grad(out, x, seed)
    (exact,) = gw.autograd.grad(want, wide, seed.double())
    step = {gw.float16: 2.0**-11, gw.bfloat16: 2.0**-8, gw.float32: 2.0**-21}.get(dtype, 1e-14)
    for mine, other in ((out, want), (slope, exact)):
        np.testing.assert_allclose(mine.detach().double().numpy(), other.detach().numpy(),
                                   1.02 * step, 1e-7)


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16], ids=str)
def test_relu_of_every_number_of_half_precision(dtype: Any) -> None:
    bits = gw.from_numpy(np.arange(1 << 16, dtype=np.uint16).view(np.int16))
    x = bits.view(dtype).requires_grad_()
    out = gw.relu(x)
    out.backward(gw.full_like(out, 3.0))
    exact = x.detach().to(gw.float32).numpy()
    found = out.detach().to(gw.float32).numpy()
    np.testing.assert_array_equal(found, np.where(exact < 0, 0, exact))
    assert np.array_equal(np.signbit(found)[exact == 0], np.signbit(exact)[exact == 0])
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.to(gw.float32).numpy(), np.where(exact <= 0, 0, 3))


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16, gw.float32, gw.float64], ids=str)
@pytest.mark.parametrize("name", ["softshrink_backward", "hardshrink_backward"])
def test_gradients_of_shrinks_are_those_of_their_parts(name: str, dtype: Any) -> None:
    kernel: Any = op(name).run
    x = gw.tensor([*SPECIAL, 0.3, -0.3, 0.5, -0.5, 0.1] * 3, dtype=dtype)
    grad = gw.arange(1, len(x) + 1).to(dtype)
    for bound in (0.0, 0.3, 0.5):
        assert gw.equal(kernel(grad, x, bound), kernel.fallback(grad, x, bound))
