"""Zeros have the sign in compiled code that they have in plain code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw

F = gw.nn.functional
KINDS = [(gw.float32, "llvm"), (gw.float64, "llvm"), (gw.bfloat16, "llvm"), (gw.float32, "c")]
UNARY: dict[str, Callable[[Any], Any]] = {
    "remainder of 2": lambda x: x % 2.0,
    "remainder of -2": lambda x: x % -2.0,
    "a number's remainder": lambda x: 2.0 % x,
    "fmod": lambda x: x.fmod(-2.0),
    "floor division": lambda x: x // 2.0,
    "truncated division": lambda x: x.div(2.0, rounding_mode="trunc"),
    "round": lambda x: x.round(),
    "trunc": lambda x: x.trunc(),
    "relu": lambda x: x.relu(),
    "clamp": lambda x: x.clamp(min=0.0),
    "softshrink": F.softshrink,
    "entropy": gw.special.entr,
    "a sum of one": lambda x: x.view(-1, 1).sum(1),
    "a mean of one": lambda x: x.view(-1, 1).mean(1),
    "a sum of two": lambda x: x.expand(2, 8).sum(0),
    "a product": lambda x: x.expand(2, 8).prod(0),
    "running sums": lambda x: x.cumsum(0),
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "remainder": gw.remainder,
    "maximum": gw.maximum,
    "minimum": gw.minimum,
    "fmax": gw.fmax,
    "fmin": gw.fmin,
    "clamp from below": lambda x, y: x.clamp(min=y),
    "clamp from above": lambda x, y: x.clamp(max=y),
}


def values(dtype: gw.dtype) -> gw.Tensor:
    return gw.tensor([0.0, -0.0, 2.0, -2.0, 1.0, -1.0, 0.25, -0.25]).to(dtype)


@pytest.mark.parametrize(("dtype", "backend"), KINDS, ids=str)
def test_functions_of_one_tensor(dtype: gw.dtype, backend: str) -> None:
    def f(x: gw.Tensor) -> dict[str, gw.Tensor]:
        return {name: function(x) for name, function in UNARY.items()}

    x = values(dtype)
    assert readable(gw.compile(f, backend=backend)(x)) == readable(f(x))


@pytest.mark.parametrize(("dtype", "backend"), KINDS, ids=str)
def test_functions_of_two_tensors(dtype: gw.dtype, backend: str) -> None:
    def f(x: gw.Tensor, y: gw.Tensor) -> dict[str, gw.Tensor]:
        return {name: function(x, y) for name, function in BINARY.items()}

    x = values(dtype)
    pairs = x.repeat(8), x.repeat_interleave(8)
    assert readable(gw.compile(f, backend=backend)(*pairs)) == readable(f(*pairs))


def readable(results: dict[str, gw.Tensor]) -> dict[str, str]:
    """The numbers as text, which tells 0.0 from -0.0 and takes one NaN for another."""
    return {name: repr(result.tolist()) for name, result in results.items()}


@pytest.mark.parametrize("divisor", [1, True, gw.tensor(True)])
def test_remainders_of_negative_numbers_by_whatever_is_one(divisor: Any) -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        return gw.signbit(x % divisor)

    for function in (f, gw.compile(f, backend="llvm")):
        assert function(gw.tensor([-1.0, 2.0, -3.0])).tolist() == [True, False, True]


EDGES = [-0.0, -float("inf"), -1.0, 0.0, 4.0, float("inf")]
POWERS: dict[str, Callable[[Any, Any], Any]] = {
    "operator": lambda x, s: x**s,
    "function": lambda x, s: gw.pow(x, exponent=s),
    "in place": lambda x, s: x.clone().pow_(s),
    "of half of it": lambda x, s: x ** (s / 2),
    "of what is read": lambda x, s: x ** gw.tensor(s).item(),
    "gradient": lambda x, s: gw.func.grad(lambda y: (y**s).sum())(x),
}


@pytest.mark.parametrize("name", POWERS)
def test_a_number_that_varies_is_a_root_where_it_is_eagerly(name: str) -> None:
    """The roots of -0 and -inf are not their powers."""
    compiled = gw.compile(POWERS[name], backend="llvm")
    x = gw.tensor(EDGES)
    for s in (1.25, 2.5, 0.5, -0.5, 1.5, 1.0, 3.0, -1.0, 0.5):
        assert readable({"": compiled(x, s)}) == readable({"": POWERS[name](x, s)}), s


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_numbers_of_numpy_are_one_graph(kind: type) -> None:
    compiled = gw.compile(POWERS["operator"], backend="llvm", fullgraph=True)
    x = gw.tensor(EDGES)
    for s in map(kind, (1.25, 2.5, 1.5, 3.0)):
        assert readable({"": compiled(x, s)}) == readable({"": POWERS["operator"](x, s)}), s
    assert gw.compiler.stats(compiled).graphs == 1


def test_roots_of_lengths_that_vary() -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        return x ** (1 / x.shape[0])

    compiled = gw.compile(f, backend="llvm")
    for length in (3, 4, 5, 2, 6, 2):
        x = gw.tensor(EDGES[:length])
        assert readable({"": compiled(x)}) == readable({"": f(x)}), length
