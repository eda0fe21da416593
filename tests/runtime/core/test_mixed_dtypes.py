"""Pointwise ops in C on operands of several dtypes: what the kernels in Python give or refuse."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime import _core
from graphwright.runtime.ops.table import op

WORDS = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64"
DTYPES = [getattr(gw, name) for name in WORDS.split()]
SHAPES = (((3, 4), (3, 4)), ((3, 4), ()), ((), (4,)), ((3, 1), (4,)), ((0, 4), (4,)))
BINARY = {
    "add": (1,), "sub": (1,), "mul": (), "div": (None,), "remainder": (), "maximum": (),
    "eq": (), "lt": (), "logical_and": (), "bitwise_or": (), "atan2": (), "hypot": (),
    "logaddexp": (), "xlogy": (), "copysign": (), "floor_divide": (),
}  # fmt: skip
"""Ops, and their arguments after the operands."""


def tensor(dtype: Any, shape: tuple[int, ...]) -> gw.Tensor:
    values = np.random.default_rng(len(shape)).integers(1, 5, shape)
    return gw.from_numpy(np.asarray(values)).to(dtype)


def in_python(kernel: Any) -> Callable[..., Any]:
    while hasattr(kernel, "fallback"):
        kernel = kernel.fallback
    found: Callable[..., Any] = kernel
    return found


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """The result, or the class of what it raises."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args)
    except (RuntimeError, TypeError) as error:
        return type(error)


def check(got: Any, want: Any) -> None:
    if isinstance(want, type):
        assert got is want
        return
    assert (got.dtype, got.shape, got.stride()) == (want.dtype, want.shape, want.stride())
    tolerance = 1e-2 if got.dtype in (gw.float16, gw.bfloat16) else 1e-5
    mine, other = (np.asarray(t.to(gw.complex128).numpy()) for t in (got, want))
    np.testing.assert_allclose(mine, other, rtol=tolerance)


def operands() -> Iterator[tuple[Any, Any]]:
    for first, second in itertools.product(DTYPES, DTYPES):
        for a, b in SHAPES:
            yield tensor(first, a), tensor(second, b)
    for dtype, number in itertools.product(DTYPES, (True, 2, 2.5)):
        for shape in ((3, 4), ()):
            yield tensor(dtype, shape), number
            yield number, tensor(dtype, shape)


@pytest.mark.parametrize("name", BINARY)
def test_two_operands(name: str) -> None:
    run: Any = op(name).run
    for pair in operands():
        args = (*pair, *BINARY[name])
        check(outcome(run, *args), outcome(in_python(run), *args))


@pytest.mark.parametrize("name", ["exp", "sqrt", "sigmoid", "reciprocal", "erf", "log1p"])
def test_functions_of_integers_are_floats(name: str) -> None:
    run: Any = op(name).run
    for dtype, shape in itertools.product(DTYPES, ((3, 4), (), (0,))):
        x = tensor(dtype, shape)
        check(outcome(run, x), outcome(in_python(run), x))


def test_where() -> None:
    run: Any = op("where").run
    mask = gw.tensor([True, False, True, True])
    numbers = itertools.product((True, 2, 2.5), repeat=2)
    for pair in (*operands(), *numbers):
        check(outcome(run, mask, *pair), outcome(in_python(run), mask, *pair))


@pytest.mark.parametrize("name", ["add_", "mul_", "div_", "maximum"])
@pytest.mark.parametrize("layout", [lambda t: t, lambda t: t.t().contiguous().t()])
def test_in_place_keeps_the_dtype(name: str, layout: Callable[..., gw.Tensor]) -> None:
    run: Any = op(name).run
    rest = {"add_": (1,), "div_": (None,)}.get(name, ())
    for first, second in itertools.product(DTYPES, DTYPES):
        own, mirror = (layout(tensor(first, (3, 4))) for _ in range(2))
        other = tensor(second, (4,))
        check(outcome(run, own, other, *rest), outcome(in_python(run), mirror, other, *rest))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7, 0.5, -1, 1.0, 2.0, 3.0, -1.0])
def test_powers(exponent: float) -> None:
    for dtype in DTYPES[1:]:
        x = tensor(dtype, (3, 4))
        exact = np.asarray(x.to(gw.complex128).numpy())
        got = outcome(gw.pow, x, exponent)
        whole = not dtype.is_floating_point and not dtype.is_complex
        if whole and isinstance(exponent, int) and exponent < 0:
            assert got is RuntimeError
            continue
        want = np.power(exact, exponent)
        if whole and isinstance(exponent, int):
            want = want.real.round().astype(np.int64).astype(dtype.numpy)
        assert got.dtype is (gw.float32 if whole and isinstance(exponent, float) else dtype)
        np.testing.assert_allclose(got.to(gw.complex128).numpy(), want, rtol=1e-2)


def test_every_dtype_converts_to_every_other() -> None:
    for source, target in itertools.product(DTYPES[:-1], DTYPES[:-1]):
        for shape in ((3, 5), (0,), (), (2000,)):
            x, out = tensor(source, shape), gw.zeros(shape, dtype=target)
            assert _core.convert_into(out, x)
            want = np.asarray(x.to(gw.float64).numpy())
            found = np.asarray(out.to(gw.float64).numpy())
            assert (found == (want != 0 if target is gw.bool else want)).all()


def test_copy_broadcasts_and_casts() -> None:
    for source, target in itertools.product(DTYPES[:-1], DTYPES[:-1]):
        out = tensor(target, (3, 4)).t()
        before = out._version
        assert out.copy_(tensor(source, (3,))) is out
        assert out._version == before + 1
        want = tensor(source, (3,)).to(target).to(gw.float64)
        assert (out.to(gw.float64) == want.expand(4, 3)).all()


def test_out_is_the_tensor_that_was_given() -> None:
    x, y, out = tensor(gw.float32, (3, 4)), tensor(gw.float32, (4,)), gw.empty(3, 4)
    before = out._version
    assert gw.add(x, y, out=out) is out
    assert out._version == before + 1
    assert (out == x + y).all()
    assert gw.add(x, 1, out=x) is x
    turned = gw.empty(4, 3).t()
    assert gw.mul(x, y, out=turned) is turned
    assert (turned == x * y).all()
    wide = gw.empty(3, 4, dtype=gw.float64)
    assert (gw.exp(x, out=wide) == gw.exp(x)).all()
    with pytest.raises(RuntimeError, match="can't be cast"):
        gw.add(x, y, out=gw.empty(3, 4, dtype=gw.int64))


@pytest.mark.parametrize("step", [2, 3, 4])
@pytest.mark.parametrize("name", ["float_power", "pow", "atan2", "hypot"])
def test_numbers_beside_columns_of_costly_functions(name: str, step: int) -> None:
    """The elements are brought together first; the number, which has no distance, is not."""
    values = np.random.default_rng(0).uniform(0.5, 2.0, (3, 2 * step + 1))
    x = gw.from_numpy(values)[..., ::step]
    number = 3 if "pow" in name else gw.tensor(3.0, dtype=gw.float64)
    want = getattr(np, {"atan2": "arctan2"}.get(name, name))(x.numpy(), 3.0)
    np.testing.assert_allclose(getattr(gw, name)(x, number).numpy(), want, 1e-14)
