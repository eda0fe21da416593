"""Numbers that a tensor cannot hold are refused in compiled code as in plain code."""

from __future__ import annotations

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
    for function in (TOO_LARGE[name], gw.compile(TOO_LARGE[name])):
        with pytest.raises(RuntimeError):
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
