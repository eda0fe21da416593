"""Numbers that a tensor cannot hold are refused in compiled code as in plain code."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

TOO_LARGE: dict[str, Callable[[Any, int], Any]] = {
    "full": lambda x, n: gw.full((2,), n, dtype=x.dtype),
    "full_like": lambda x, n: gw.full_like(x, n),
    "fill_": lambda x, n: x.fill_(n),
    "masked_fill": lambda x, n: x.masked_fill(x > 0, n),
    "index_fill": lambda x, n: x.index_fill(0, gw.tensor([0]), n),
    "pad": lambda x, n: gw.nn.functional.pad(x, (1, 1), value=n),
    "an item": lambda x, n: x.__setitem__(0, n),
    "items by a mask": lambda x, n: x.__setitem__(x > 0, n),
}
NUMBERS = [(gw.uint8, 256), (gw.int8, -129), (gw.int32, 1 << 31), (gw.int64, 1 << 63)]


@pytest.mark.parametrize("name", TOO_LARGE)
@pytest.mark.parametrize(("dtype", "number"), NUMBERS)
def test_what_the_dtype_cannot_hold(name: str, dtype: gw.dtype, number: int) -> None:
    beyond_64_bits = dtype is gw.int64 and "item" in name   # which writes by index refuse first
    for function in (TOO_LARGE[name], gw.compile(TOO_LARGE[name])):
        with pytest.raises(ValueError if beyond_64_bits else RuntimeError):
            function(gw.ones(2, dtype=dtype), number)


@pytest.mark.parametrize("name", ["full", "full_like", "fill_", "masked_fill"])
def test_negative_numbers_wrap_around_in_unsigned_tensors(name: str) -> None:
    for function in (TOO_LARGE[name], gw.compile(TOO_LARGE[name])):
        assert function(gw.ones(2, dtype=gw.uint8), -1).tolist() == [255, 255]


LARGE: dict[str, Callable[[Any, int], Any]] = {
    "added": lambda x, n: x + n,
    "a product": lambda x, n: x * (n * n),
    "compared": lambda x, n: x < n,
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("number", [1 << 64, -(1 << 63) - 1])
def test_ints_of_more_than_64_bits(name: str, number: int) -> None:
    for function in (LARGE[name], gw.compile(LARGE[name])):
        with pytest.raises(RuntimeError, match="too large"):
            function(gw.ones(2, dtype=gw.int64), number)


@pytest.mark.parametrize("name", TOO_LARGE)
@pytest.mark.parametrize(("dtype", "number"), NUMBERS[:3])
def test_a_number_that_varies_stops_fitting(name: str, dtype: gw.dtype, number: int) -> None:
    compiled = gw.compile(TOO_LARGE[name], backend="llvm")
    for fits in (2, 3, 4):
        compiled(gw.ones(2, dtype=dtype), fits)
    with pytest.raises(RuntimeError, match="cannot be converted"):
        compiled(gw.ones(2, dtype=dtype), number)


FILLED = {name: TOO_LARGE[name] for name in ("full", "full_like", "fill_", "masked_fill")}
NOT_HELD = [(gw.float32, 1e300), (gw.float32, -1e39), (gw.int64, math.inf), (gw.uint8, 300.0)]


@pytest.mark.parametrize("name", FILLED)
@pytest.mark.parametrize(("dtype", "number"), NOT_HELD)
def test_a_float_that_varies_stops_fitting(name: str, dtype: gw.dtype, number: float) -> None:
    compiled = gw.compile(FILLED[name])
    for fits in (2.5, 3.5, 4.5):
        assert gw.equal(compiled(gw.ones(2, dtype=dtype), fits),
                        FILLED[name](gw.ones(2, dtype=dtype), fits))
    with pytest.raises(RuntimeError, match="cannot be converted"):
        compiled(gw.ones(2, dtype=dtype), number)


def test_integer_tensors_of_floats_that_vary() -> None:
    compiled = gw.compile(lambda n: gw.tensor(n, dtype=gw.int64) + 1)
    for number in (1.0, 2.5, 123456789.0):
        assert compiled(number).item() == int(number) + 1
    with pytest.raises(RuntimeError, match="cannot be converted"):
        compiled(math.nan)


@pytest.mark.parametrize("name", FILLED)
def test_floats_that_vary_fill_integers_exactly(name: str) -> None:
    compiled = gw.compile(FILLED[name])
    for number in (1.0, 16777217.0, 123456789.0):
        assert compiled(gw.ones(2, dtype=gw.int64), number).tolist() == [number] * 2


@pytest.mark.parametrize("name", FILLED)
def test_floats_of_one_range_fill_floats_in_one_version(name: str) -> None:
    compiled = gw.compile(FILLED[name])
    for number in (1.0, -2.5, 3.0e38, 1e-300):
        assert gw.equal(compiled(gw.ones(2), number), FILLED[name](gw.ones(2), number))
    assert gw.compiler.stats(compiled).recompiles == 1
    assert compiled(gw.ones(2), math.inf).tolist() == [math.inf] * 2


DIVISIONS: dict[str, Callable[[Any, int], Any]] = {
    "//": lambda x, n: x // n,
    "//=": lambda x, n: x.__ifloordiv__(n),
    "%": lambda x, n: x % n,
    "fmod": lambda x, n: x.fmod(n),
    "div": lambda x, n: x.div(n, rounding_mode="trunc"),
    "nobody reads it": lambda x, n: (x // n, x + 1)[1],
}
ZEROS = [(gw.uint8, 256), (gw.int8, -256), (gw.int16, 1 << 16), (gw.int32, 1 << 40), (gw.int64, 0)]


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize(("dtype", "number"), ZEROS)
def test_divisors_that_are_zero_in_the_dtype(name: str, dtype: gw.dtype, number: int) -> None:
    varying = gw.compile(DIVISIONS[name], backend="llvm")
    for divisor in (2, 3, 5):
        assert varying(gw.ones(2, dtype=dtype), divisor).dtype is dtype
    constant = gw.compile(lambda x: DIVISIONS[name](x, number), backend="llvm")
    calls = (
        lambda x: DIVISIONS[name](x, number), constant, lambda x: varying(x, number))
    for call in calls:
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            call(gw.ones(2, dtype=dtype))


def test_divisors_computed_from_sizes() -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        return x // (x.shape[0] - 3)

    compiled = gw.compile(f, dynamic=True, backend="llvm")
    assert compiled(gw.ones(4, dtype=gw.int64)).tolist() == [1, 1, 1, 1]
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        compiled(gw.ones(3, dtype=gw.int64))


@pytest.mark.parametrize("number", [1e300, -1e39])
def test_floats_beyond_float32_are_infinite_divisors(number: float) -> None:
    x = gw.tensor([0.0, 1.0, -2.0])
    compiled = gw.compile(lambda x: (x % number, x + number), backend="llvm")
    assert str(compiled(x)) == str((x % number, x + number))


@pytest.mark.parametrize("dtype", [gw.int64, gw.uint8, gw.bool])
def test_a_power_that_turns_negative(dtype: gw.dtype) -> None:
    compiled = gw.compile(lambda x, n: x**n, backend="llvm")
    for power in (2, 3, 4):
        compiled(gw.ones(2, dtype=dtype), power)
    with pytest.raises(RuntimeError, match="negative integer powers"):
        compiled(gw.ones(2, dtype=dtype), -1)


@pytest.mark.parametrize("name", ["add", "sub", "add_", "sub_"])
@pytest.mark.parametrize("alpha", [1.5, 1.0, True, 2j, gw.tensor(1.5), gw.tensor(True)])
def test_factors_of_another_kind_than_the_result(name: str, alpha: Any) -> None:
    def scaled(x: gw.Tensor, y: gw.Tensor) -> Any:
        return getattr(x, name)(y, alpha=alpha)

    for function in (scaled, gw.compile(scaled)):
        with pytest.raises(RuntimeError, match="alpha"):
            function(gw.ones(2, dtype=gw.int64), gw.ones(2, dtype=gw.int64))


@pytest.mark.parametrize(("dtype", "alpha"), [
    (gw.bool, True), (gw.int64, 2), (gw.float32, 1.5), (gw.complex64, 2j)])
def test_factors_of_the_results_kind(dtype: gw.dtype, alpha: Any) -> None:
    x = gw.ones(2, dtype=dtype)
    for function in (gw.add, gw.compile(gw.add)):
        assert gw.equal(function(x, x, alpha=alpha), x + x * alpha)


COMPLEX: dict[str, Callable[[Any], Any]] = {
    "compared": lambda x: x > 1j,
    "compared with its negative": lambda x: x <= -1j,
    "compared by name": lambda x: gw.lt(x, 2j),
    "compared in place": lambda x: x.ge_(1j),
    "full_like": lambda x: gw.full_like(x, 1j),
    "fill_": lambda x: x.fill_(1j),
    "an item": lambda x: x.__setitem__(0, 1j),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_where_only_real_ones_are_known(name: str) -> None:
    """The error is plain Python's, not one of the compiler."""
    found = []
    for function in (COMPLEX[name], gw.compile(COMPLEX[name])):
        with pytest.raises(RuntimeError) as error:
            function(gw.ones(2))
        found.append((type(error.value), str(error.value)))
    assert found[0] == found[1]
