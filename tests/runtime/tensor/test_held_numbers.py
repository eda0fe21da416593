"""Numbers that an op converts to its tensors' dtype: those beyond its range are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

BYTES = gw.ones(3, dtype=gw.uint8)
INT8 = gw.ones(3, dtype=gw.int8)
HALF = gw.ones(3, dtype=gw.float16)
FLOAT = gw.ones(3)
SQUARE = gw.ones(2, 2, dtype=gw.int8)
MASK = gw.tensor([True, False, True])
PLACES = gw.tensor([0, 2])

REFUSED: dict[str, Callable[[], Any]] = {
    "clamp": lambda: BYTES.clamp(0, 256),
    "clamp_min": lambda: INT8.clamp_min(128),
    "clamp_max of a half": lambda: HALF.clamp_max(70000.0),
    "clamp_ of a float": lambda: FLOAT.clone().clamp_(max=1e39),
    "clamp, one bound of integers": lambda: INT8.clamp(max=-129),
    "where": lambda: gw.where(MASK, BYTES, 256),
    "where of a float": lambda: gw.where(MASK, 1e39, FLOAT),
    "scatter": lambda: INT8.scatter(0, PLACES, 200),
    "scatter_": lambda: INT8.clone().scatter_(0, PLACES, 200),
    "add": lambda: gw.add(INT8, INT8, alpha=128),
    "sub": lambda: gw.sub(INT8, INT8, alpha=129),
    "add_ of a half": lambda: HALF.clone().add_(HALF, alpha=70000),
    "rsub": lambda: gw.rsub(INT8, INT8, alpha=129),
    "addmm": lambda: gw.addmm(SQUARE, SQUARE, SQUARE, beta=128),
    "addmm of floats": lambda: gw.addmm(gw.ones(2, 2), gw.ones(2, 2), gw.ones(2, 2), alpha=1e39),
    "addcmul": lambda: gw.addcmul(INT8, INT8, INT8, value=128),
    "addcdiv": lambda: gw.addcdiv(FLOAT, FLOAT, FLOAT, value=1e39),
    "index_add": lambda: INT8.index_add(0, gw.tensor([0]), INT8[:1], alpha=128),
    "threshold": lambda: gw.nn.functional.threshold(BYTES, 300, 0),
    "hardtanh": lambda: gw.nn.functional.hardtanh(INT8, -1, 300),
    "hardshrink": lambda: gw.nn.functional.hardshrink(FLOAT, 1e39),
    "softshrink": lambda: gw.nn.functional.softshrink(FLOAT, 1e39),
    "pow": lambda: gw.pow(BYTES, 256),
    "pow of a half": lambda: HALF ** 1e5,
    "pow_ of a half": lambda: HALF.clone().pow_(-1e5),
    "hardshrink of a half": lambda: gw.nn.functional.hardshrink(HALF, 1e5),
    "addmv of a half": lambda: gw.addmv(HALF, gw.ones(3, 3).half(), HALF, alpha=1e5),
    "addr of a half": lambda: gw.addr(gw.ones(3, 3).half(), HALF, HALF, beta=1e5),
    "threshold, the value": lambda: gw.nn.functional.threshold(HALF, 0.0, 1e5),
    "masked_fill of a half": lambda: HALF.masked_fill(MASK, gw.tensor(1e5)),
    "masked_fill": lambda: BYTES.masked_fill(MASK, gw.tensor(300)),
    "masked_fill_": lambda: BYTES.clone().masked_fill_(MASK, gw.tensor(300)),
    "masked_fill by infinity": lambda: INT8.masked_fill(MASK, gw.tensor(float("inf"))),
    "masked_fill of a float": lambda: FLOAT.masked_fill(MASK, gw.tensor(1e39, dtype=gw.float64)),
    "index_fill": lambda: BYTES.index_fill(0, PLACES, gw.tensor(300)),
    "index_fill of a half": lambda: HALF.index_fill(0, PLACES, gw.tensor(1e5)),
    "linspace": lambda: gw.linspace(0, 256, 3, dtype=gw.uint8),
    "linspace of floats": lambda: gw.linspace(0, 1e39, 3),
    "linspace to a negative float": lambda: gw.linspace(0, -1.0, 2, dtype=gw.uint8),
    "linspace from a fraction": lambda: gw.linspace(-0.5, 3, 2, dtype=gw.uint8),
    "logspace": lambda: gw.logspace(0, 300.0, 2, dtype=gw.uint8),
    "logspace to an int": lambda: gw.logspace(0, 128, 2, dtype=gw.int8),
    "logspace to no number": lambda: gw.logspace(0, float("nan"), 2, dtype=gw.int32),
    "logspace of halves": lambda: gw.logspace(0, 1e5, 2, dtype=gw.float16),
    "full of a negative float": lambda: gw.full((2,), -1.0, dtype=gw.uint8),
    "full of a negative fraction": lambda: gw.full((2,), -0.5, dtype=gw.uint16),
    "full_like": lambda: gw.full_like(BYTES, -0.9),
    "fill_": lambda: BYTES.clone().fill_(-1.0),
    "masked_fill by a negative float": lambda: BYTES.masked_fill(MASK, gw.tensor(-1.0)),
    "threshold, a complex value": lambda: gw.nn.functional.threshold(FLOAT, 0.0, 1j),
    "threshold, a complex one": lambda: gw.nn.functional.threshold(FLOAT, 1j, 0.0),
    "addcmul by a complex number": lambda: gw.addcmul(FLOAT, FLOAT, FLOAT, value=1j),
    "uniform_": lambda: FLOAT.clone().uniform_(0, 1e39),
    "uniform_ to infinity": lambda: FLOAT.clone().uniform_(0, float("inf")),
    "uniform_, the width": lambda: FLOAT.clone().uniform_(-3e38, 3e38),
}


@pytest.mark.parametrize("name", REFUSED)
def test_numbers_beyond_the_range_are_refused(name: str) -> None:
    with pytest.raises(RuntimeError, match=r"without overflow|out of bounds"):
        REFUSED[name]()


@pytest.mark.parametrize(
    "name",
    [
        "clamp", "where", "scatter", "add", "threshold", "pow of a half", "hardshrink of a half",
        "masked_fill", "masked_fill of a half", "index_fill", "linspace from a fraction",
        "logspace", "full of a negative float", "fill_", "masked_fill by a negative float",
    ],
)
def test_compiled_code_refuses_them_too(name: str) -> None:
    with pytest.raises(RuntimeError, match="without overflow"):
        gw.compile(REFUSED[name])()


def test_what_is_held_is_taken() -> None:
    """Unsigned dtypes take negative ints around, floats infinities; subtraction negates."""
    assert gw.full((1,), -1, dtype=gw.uint8).tolist() == [255]
    assert gw.linspace(0, -1, 2, dtype=gw.uint8).tolist() == [0, 255]
    assert gw.full((1,), -0.0, dtype=gw.uint8).tolist() == [0]
    assert BYTES.clamp(max=-1).tolist() == [1, 1, 1]
    assert gw.where(MASK, BYTES, -1).tolist() == [1, 255, 1]
    assert gw.sub(INT8, INT8, alpha=128).tolist() == [-127] * 3
    assert gw.where(MASK, HALF, 70000.0).tolist() == [1.0, float("inf"), 1.0]
    assert FLOAT.clamp(max=float("inf")).tolist() == [1.0] * 3
    assert gw.nn.functional.threshold(HALF, 70000.0, 2.0).tolist() == [2.0] * 3
    assert (FLOAT ** 1e39).tolist() == [1.0] * 3
    assert gw.add(INT8, 300).tolist() == [45] * 3      # an operand of its own is cut


def test_values_to_fill_with_are_looked_at_when_compiled_code_runs() -> None:
    fill = gw.compile(lambda x, value: x.masked_fill(MASK, value))
    for value in (-3.0, 65504.0, float("inf"), float("-inf")):
        assert fill(HALF, gw.tensor(value)).tolist() == [value, 1.0, value]
    assert fill(HALF, gw.tensor(float("nan")))[0].isnan()
    for value in (1e5, -1e5):
        with pytest.raises(RuntimeError, match="without overflow"):
            fill(HALF, gw.tensor(value))
    assert fill(BYTES, gw.tensor(-1)).tolist() == [255, 1, 255]
    assert fill(MASK, gw.tensor(7)).tolist() == [True, False, True]


def test_orders_of_norms_are_rounded_to_the_dtype() -> None:
    """1e300 is an infinite power of float32 numbers, whose infinite root is 1: compiled too."""
    x = gw.full((2, 3), 0.5)
    for run in (gw.linalg.vector_norm, gw.compile(gw.linalg.vector_norm)):
        assert run(x, 1e300, 1).tolist() == [1.0, 1.0]
    many = gw.full((2, 3000), 0.5)
    assert gw.linalg.vector_norm(many, 1e300, 1).tolist() == [1.0, 1.0]
    assert gw.nn.functional.pairwise_distance(x, x + 1, p=1e300).tolist() == [1.0, 1.0]
