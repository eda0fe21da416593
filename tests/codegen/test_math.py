"""The elementary functions against higher precision: dense samples of the float range.

The exhaustive test over all 2^32 float32 values is marked slow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

from graphwright.codegen.loops import Const
from graphwright.codegen.target import Machine, host
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import float32, float64

from .native_support import buffer, elementwise, load, op, run
from .test_emit_loops import AVX2

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "log2": np.log2,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "erf": scipy.special.erf,
}
BOUNDS = {
    "exp": (1.1, 1.1), "expm1": (1.7, 2.0), "log": (1.0, 1.0), "log1p": (2.0, 2.0),
    "log2": (2.0, 2.0), "sin": (1.7, 2.5), "cos": (1.7, 2.5), "tan": (4.0, 4.5),
    "tanh": (2.5, 2.5), "sigmoid": (3.0, 2.5), "erf": (1.1, 3.5),
    "pow": (0.6, 2.0), "atan2": (2.5, 3.0),
}
"""Largest errors in ulp, float32 and float64, as the docstrings state them."""
SPECIALS = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-45, -1e-45, 1e-40, 88.72, 88.73, -87.4,
     -103.9, -104.1, 1e30, 3e38, -3e38, 0.5, 2.0, 1024.0, 709.78, 709.79, -745.1, -746.0])
MACHINES = [None, Machine("x86_64", AVX2, 256), Machine("x86_64", frozenset(), 128)]


def evaluate(
    name: str, arrays: list[np.ndarray], kind: dtypes.dtype, target: str,
    machine: Machine | None = None,
) -> np.ndarray:
    count = len(arrays[0])
    buffers = [buffer(f"x{k}", kind, count) for k in range(len(arrays))]
    prog = elementwise(
        count, lambda i: op(name, *(load(b, i) for b in buffers), dtype=kind), buffers, kind)
    return run(prog, arrays, target=target, machine=machine)[0]


def largest_error(got: np.ndarray, exact: np.ndarray) -> float:
    """In ulp of `got`'s dtype; infinities, nan and the signs of zeros must agree exactly."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(got.dtype)
        finite = np.isfinite(rounded) & np.isfinite(got)
        np.testing.assert_array_equal(got[~finite], rounded[~finite])
        zero = (rounded == 0) & (got == 0)
        np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(rounded[zero]))
        error = np.abs(got.astype(np.longdouble) - exact) / np.spacing(np.abs(rounded))
        return float(np.max(error[finite], initial=0.0))


def float32_samples() -> np.ndarray:
    every = np.arange(0, 1 << 32, 39983, dtype="u4").view("f4")
    return np.concatenate([
        SPECIALS.astype("f4"), every, np.linspace(-110, 110, 60_001, dtype="f4"),
        np.linspace(-2, 2, 60_001, dtype="f4")])


def float64_samples() -> np.ndarray:
    rng = np.random.default_rng(0)
    spread = rng.standard_normal(30_000) * np.exp(rng.uniform(-20, 8, 30_000))
    every = rng.integers(0, 0x7FF << 52, 20_000).view("f8")
    return np.concatenate([SPECIALS, spread, every, -every, rng.uniform(-1e10, 1e10, 10_000)])


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_float32_over_the_whole_range(name: str, target: str) -> None:
    x = float32_samples()
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[name](x.astype("f8"))
    assert largest_error(evaluate(name, [x], float32, target), exact) <= BOUNDS[name][0]


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_float64(name: str, target: str) -> None:
    x = float64_samples()
    wide = x if name == "erf" else x.astype(np.longdouble)
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[name](wide).astype(np.longdouble)
    assert largest_error(evaluate(name, [x], float64, target), exact) <= BOUNDS[name][1]


@pytest.mark.parametrize("machine", MACHINES[1:], ids=["avx2", "sse2"])
@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_older_machines_agree(name: str, machine: Machine) -> None:
    """Without AVX-512's scaling, then without fma and rounding instructions either."""
    if not machine.features <= host().features:
        pytest.skip("this CPU lacks the features")
    x = float32_samples()[::5].copy()
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[name](x.astype("f8"))
    got = evaluate(name, [x], float32, "llvm", machine)
    assert largest_error(got, exact) <= BOUNDS[name][0] + 0.5


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("machine", MACHINES, ids=["host", "avx2", "sse2"])
def test_the_normal_distribution(target: str, machine: Machine | None) -> None:
    """Within an ulp of 1, the tail to its own precision, and 0 or 1 beyond."""
    if machine is not None and (target == "c" or not machine.features <= host().features):
        pytest.skip("this CPU lacks the features")
    x = float32_samples()
    got, exact = evaluate("normal_cdf", [x], float32, target, machine), scipy.special.ndtr(x)
    np.testing.assert_allclose(got, exact, rtol=0, atol=1.3e-7)
    tail = (x > -5.65) & (x < 0)
    np.testing.assert_allclose(got[tail], scipy.special.ndtr(x[tail].astype("f8")), rtol=4e-6)
    assert not got[x < -5.66].any() and (got[x > 5.66] == 1).all() and np.isnan(got[x != x]).all()
    wide = float64_samples()
    np.testing.assert_allclose(
        evaluate("normal_cdf", [wide], float64, target, machine), scipy.special.ndtr(wide),
        rtol=0, atol=5e-16)


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 1e-40,
                      1e30, -1e30, 2.5, 1e-10, 7, -7], dtype)
    a, b = (m.ravel() for m in np.meshgrid(edges, edges))
    normal = rng.standard_normal((2, 20_000)).astype(dtype) * 3
    every = rng.integers(0, 1 << 32, (2, 20_000), dtype="u4").view("f4").astype(dtype)
    bases = np.abs(normal[0])
    powers = rng.uniform(-40, 40, 20_000).astype(dtype)
    return (np.concatenate([a, normal[0], every[0], bases]),
            np.concatenate([b, normal[1], every[1], powers]))


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("kind", [float32, float64], ids=repr)
@pytest.mark.parametrize("name", ["pow", "atan2"])
def test_two_arguments(name: str, kind: dtypes.dtype, target: str) -> None:
    a, b = pairs(kind.numpy.str)
    wide = "f8" if kind is float32 else np.longdouble
    with np.errstate(all="ignore"):
        exact = {"pow": np.power, "atan2": np.arctan2}[name](a.astype(wide), b.astype(wide))
    got = evaluate(name, [a, b], kind, target)
    assert largest_error(got, exact) <= BOUNDS[name][kind is float64]


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("machine", MACHINES, ids=["host", "avx2", "sse2"])
@pytest.mark.parametrize("kind", [float32, float64], ids=repr)
def test_powers_of_two(kind: dtypes.dtype, target: str, machine: Machine | None) -> None:
    """2^x over all of its range, with results below the least normal number; 2^n is exact."""
    if machine is not None and not machine.features <= host().features:
        pytest.skip("this CPU lacks the features")
    low, high = (-151, 129) if kind is float32 else (-1076, 1025)
    whole = np.arange(low, high).astype(kind.numpy)
    x = np.concatenate([
        whole, np.linspace(low, high, 20_011).astype(kind.numpy), SPECIALS.astype(kind.numpy)])
    with np.errstate(all="ignore"):
        exact = np.exp2(x.astype(np.longdouble))
    b = buffer("x", kind, len(x))
    prog = elementwise(
        len(x), lambda i: op("pow", Const(2.0, kind), load(b, i)), [b], kind)
    (got,) = run(prog, [x], target=target, machine=machine)
    np.testing.assert_array_equal(got[:len(whole)], exact[:len(whole)].astype(kind.numpy))
    emulated = 0.5 if machine is MACHINES[2] else 0.0
    assert largest_error(got, exact) <= 1.2 + emulated


def _remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """PyTorch's: NumPy's, but a zero has the sign of the dividend instead of the divisor's."""
    result = np.remainder(a, b)
    return np.where(result == 0, np.copysign(result, a), result)


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("kind", [float32, float64], ids=repr)
@pytest.mark.parametrize("machine", MACHINES, ids=["host", "avx2", "sse2"])
def test_division_with_remainder_is_exact(
    kind: dtypes.dtype, target: str, machine: Machine | None,
) -> None:
    if machine is not None and not machine.features <= host().features:
        pytest.skip("this CPU lacks the features")
    a, b = pairs(kind.numpy.str)
    for name, function in {
        "fmod": np.fmod, "remainder": _remainder, "floordiv": np.floor_divide,
    }.items():
        with np.errstate(all="ignore"):
            want = function(a, b)
        got = evaluate(name, [a, b], kind, target, machine)
        np.testing.assert_array_equal(got, want, err_msg=name)
        zero = want == 0
        np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]), name)


def test_squares_of_literal_exponents_are_multiplied_out() -> None:
    from graphwright.codegen.emit.native import llvm_text

    x = buffer("x", float32, 16)
    prog = elementwise(
        16, lambda i: op("pow", load(x, i), Const(2.0, float32)), [x], float32)
    assert llvm_text(prog).count("fmul") == 1


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_every_float32(name: str) -> None:
    step = 1 << 24
    for start in range(0, 1 << 32, step):
        x = np.arange(start, start + step, dtype="u4").view("f4")
        with np.errstate(all="ignore"):
            exact = FUNCTIONS[name](x.astype("f8"))
        got = evaluate(name, [x], float32, "llvm")
        assert largest_error(got, exact) <= BOUNDS[name][0], hex(start)
