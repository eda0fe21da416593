"""Scalar operations and casts, by LLVM and by C, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from graphwright.codegen.loops import Const
from graphwright.codegen.target import Machine
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import (
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)

from .native_support import buffer, elementwise, load, op, run
from .test_emit_loops import BASELINE, every_setting, skip_foreign

INTEGERS = [uint8, int8, int16, int32, int64]
RNG = np.random.default_rng(1)
both_targets = pytest.mark.parametrize("target", ["llvm", "c"])


def evaluate(
    name: str, arrays: list[np.ndarray], kinds: list[dtypes.dtype], result: dtypes.dtype,
    target: str, machine: Machine | None = None,
) -> np.ndarray:
    count = len(arrays[0])
    buffers = [buffer(f"x{k}", kind, count) for k, kind in enumerate(kinds)]
    prog = elementwise(
        count, lambda i: op(name, *(load(b, i) for b in buffers), dtype=result), buffers, result)
    return run(prog, arrays, target=target, machine=machine)[0]


def trunc_div(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    safe = np.where(y == 0, 1, y)
    return np.where(y == 0, 0, np.floor_divide(x, safe) + (
        (np.remainder(x, safe) != 0) & ((x < 0) ^ (safe < 0))))


INTEGER_OPS: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "floordiv": np.floor_divide,
    "remainder": np.remainder, "fmod": np.fmod, "truncdiv": trunc_div,
    "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


@both_targets
@pytest.mark.parametrize("kind", INTEGERS, ids=repr)
def test_integer_arithmetic_wraps_and_never_traps(target: str, kind: dtypes.dtype) -> None:
    info = np.iinfo(kind.numpy)
    edges = np.array([0, 1, 2, 7, info.max, info.min, info.max - 1], kind.numpy)
    if info.min:
        edges = np.append(edges, np.array([-1, -2, -7], kind.numpy))
    a, b = (m.ravel() for m in np.meshgrid(edges, edges))
    extra = RNG.integers(info.min, info.max, (2, 60), kind.numpy, endpoint=True)
    a, b = np.append(a, extra[0]), np.append(b, extra[1])
    for name, function in INTEGER_OPS.items():
        with np.errstate(all="ignore"):
            want = function(a, b).astype(kind.numpy)
        got = evaluate(name, [a, b], [kind, kind], kind, target)
        np.testing.assert_array_equal(got, want, err_msg=name)


@both_targets
@pytest.mark.parametrize("kind", [int32, int64], ids=repr)
def test_integer_power_and_shifts(target: str, kind: dtypes.dtype) -> None:
    a = RNG.integers(-5, 6, 80).astype(kind.numpy)
    b = RNG.integers(0, 12, 80).astype(kind.numpy)
    np.testing.assert_array_equal(evaluate("pow", [a, b], [kind] * 2, kind, target), a**b)
    np.testing.assert_array_equal(evaluate("shl", [a, b], [kind] * 2, kind, target), a << b)
    np.testing.assert_array_equal(evaluate("shr", [a, b], [kind] * 2, kind, target), a >> b)


@both_targets
@pytest.mark.parametrize("kind", INTEGERS, ids=repr)
def test_integer_powers_wrap_and_negative_ones_are_fractions(
    target: str, kind: dtypes.dtype,
) -> None:
    """Modulo 2^bits for exponents of any size; below zero 0, but for bases of 1 and -1."""
    info = np.iinfo(kind.numpy)
    edges = [0, 1, 2, 3, 7, 31, 62, 63, 64, info.max, info.max - 1, info.min]
    edges += [-1, -2, -7, info.min + 1] if info.min else [200]
    a, b = (m.ravel() for m in np.meshgrid(*[np.array(edges).astype(kind.numpy)] * 2))
    bits = 8 * kind.itemsize
    want = [pow(x, y, 1 << bits) if y >= 0 else x ** -(y % 2 - 2) if abs(x) == 1 else 0
            for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    wrapped = np.array([w & ((1 << bits) - 1) for w in want], "u8").astype(kind.numpy)
    for count in (len(a), 3):
        got = evaluate("pow", [a[:count], b[:count]], [kind] * 2, kind, target)
        np.testing.assert_array_equal(got, wrapped[:count])


@both_targets
def test_comparisons_of_every_dtype(target: str) -> None:
    names = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
             "gt": np.greater, "ge": np.greater_equal}
    for kind in (*INTEGERS, float32, float64):
        a, b = RNG.integers(0, 4, (2, 50)).astype(kind.numpy)
        if kind.is_floating_point:
            a[:5] = np.nan
        for name, function in names.items():
            got = evaluate(name, [a, b], [kind, kind], bool_, target)
            np.testing.assert_array_equal(got, function(a, b), err_msg=f"{name} {kind}")


@every_setting
@pytest.mark.parametrize("kind", [float32, float64], ids=repr)
def test_rounding(target: str, machine: Machine, kind: dtypes.dtype) -> None:
    skip_foreign(machine)
    x = np.array([0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -1.5, -2.5, 0.49999997, 1e30, -1e30, np.inf,
                  -np.inf, np.nan, 8388607.5, 4503599627370495.5, -3.7, 3.2, -0.2], kind.numpy)
    for name, function in {
        "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.rint,
    }.items():
        got, want = evaluate(name, [x], [kind], kind, target, machine), function(x)
        np.testing.assert_array_equal(got, want, err_msg=name)
        zeros = want == 0
        np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(want[zeros]), name)


@both_targets
def test_float_specials(target: str) -> None:
    x = np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, 1e-45], "f4")
    for name, function in {
        "neg": np.negative, "abs": np.abs, "sqrt": np.sqrt, "isnan": np.isnan, "isinf": np.isinf,
        "sign": lambda v: np.nan_to_num(np.sign(v), nan=0.0), "reciprocal": np.reciprocal,
    }.items():
        result = bool_ if name.startswith("is") else float32
        with np.errstate(all="ignore"):
            want = function(x)
        np.testing.assert_array_equal(evaluate(name, [x], [float32], result, target), want, name)


@both_targets
def test_casts_between_all_dtypes(target: str) -> None:
    kinds = [bool_, *INTEGERS, float16, bfloat16, float32, float64]
    base = RNG.integers(0, 100, 70)
    for source in kinds:
        a = base.astype(source.numpy)
        for kind in kinds:
            got = evaluate("cast", [a], [source], kind, target)
            np.testing.assert_array_equal(
                got.astype("f8"), a.astype("f8").astype(kind.numpy).astype("f8"),
                err_msg=f"{source} to {kind}")


@every_setting
@pytest.mark.parametrize("kind", [float16, bfloat16], ids=repr)
def test_half_precision_casts_round_to_nearest_even(
    target: str, machine: Machine, kind: dtypes.dtype,
) -> None:
    """All 65,536 patterns there and back; ties, overflow, denormals and nan on the way down."""
    skip_foreign(machine)
    every = np.arange(1 << 16, dtype="u2").view(kind.numpy)
    wide = evaluate("cast", [every], [kind], float32, target, machine)
    np.testing.assert_array_equal(wide, every.astype("f4"))
    bits = RNG.integers(0, 1 << 32, 200_000, dtype="u4")
    ties = (bits & 0xFFFF0000) | 0x8000
    single = np.concatenate([bits, ties, (ties & ~np.uint32(0x8000)) | 0x1000]).view("f4")
    single = np.concatenate([single, wide, np.float32([65519, 65520, 6e-8, 2e-8, 2.9802322e-8])])
    with np.errstate(all="ignore"):
        want = single.astype(kind.numpy)
    got = evaluate("cast", [single], [float32], kind, target, machine)
    nan = np.isnan(single)
    np.testing.assert_array_equal(got[~nan].view("u2"), want[~nan].view("u2"))
    assert np.isnan(got[nan].astype("f4")).all()


@both_targets
def test_float64_to_half_rounds_once(target: str) -> None:
    x = np.concatenate([
        RNG.standard_normal(5000), [1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11 - 2.0**-40, 1e-300],
    ])
    got = evaluate("cast", [x], [float64], float16, target)
    np.testing.assert_array_equal(got.view("u2"), x.astype("f2").view("u2"))


@both_targets
def test_half_precision_arithmetic_goes_through_float32(target: str) -> None:
    a, b = RNG.standard_normal((2, 40)).astype(ml_dtypes.bfloat16)
    got = evaluate("add", [a, b], [bfloat16, bfloat16], bfloat16, target)
    np.testing.assert_array_equal(got, a + b)


@both_targets
def test_out_of_range_floats_become_what_numpy_gives(target: str) -> None:
    x = np.array([3.7, -3.7, 1e9, -1e9], "f4")
    for kind in (int32, int64):
        got = evaluate("cast", [x], [float32], kind, target)
        np.testing.assert_array_equal(got, x.astype(kind.numpy))
    np.testing.assert_array_equal(
        evaluate("cast", [np.array([np.nan, 0, 2, -0.0], "f4")], [float32], bool_, target),
        [True, False, True, False])


@both_targets
def test_where_and_constants(target: str) -> None:
    m = RNG.random(40) < 0.5
    flags = buffer("m", bool_, 40)
    for kind, value in ((float32, float("inf")), (float64, -0.0), (int64, 1 << 40), (uint8, 200)):
        prog = elementwise(
            40, lambda i, kind=kind, value=value: op(
                "where", load(flags, i), Const(value, kind), Const(1, kind)), [flags], kind)
        (got,) = run(prog, [m], target=target)
        np.testing.assert_array_equal(got, np.where(m, value, 1).astype(kind.numpy))


def test_baseline_has_no_features() -> None:
    assert not BASELINE.features
