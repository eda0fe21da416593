"""Zeros have the sign in compiled code that they have in plain code."""

from __future__ import annotations

import operator
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


EXPONENTS = (1.25, 2.5, 0.5, -0.5, 1.5, 1.0, 3.0, -1.0, 0.5)
EDGES = [-0.0, -float("inf"), -1.0, 0.0, 4.0, float("inf")]
POWERS: dict[str, Callable[[Any, Any], Any]] = {
    "operator": lambda x, s: x**s,
    "function": lambda x, s: gw.pow(x, exponent=s),
    "in place": lambda x, s: x.clone().pow_(s),
    "in place, by the operator": lambda x, s: operator.ipow(x.clone(), s),
    "in float64": lambda x, s: gw.float_power(x, s).float(),
    "rounded": lambda x, s: x.bfloat16() ** s,
    "of integers": lambda x, s: gw.tensor([4, 0, 1]) ** s,
    "of half of it": lambda x, s: x ** (s / 2),
    "of what is read": lambda x, s: x ** gw.tensor(s).item(),
    "gradient": lambda x, s: gw.func.grad(lambda y: (y**s).sum())(x),
}


@pytest.mark.parametrize("name", POWERS)
def test_a_number_that_varies_is_a_root_where_it_is_eagerly(name: str) -> None:
    """The roots of -0 and -inf are not their powers."""
    compiled = gw.compile(POWERS[name], backend="llvm")
    x = gw.tensor(EDGES)
    for s in EXPONENTS:
        assert readable({"": compiled(x, s)}) == readable({"": POWERS[name](x, s)}), s
    assert gw.compiler.stats(compiled).graphs <= 3


@pytest.mark.parametrize("kind", [np.float32, np.float64, gw.float32, gw.float64])
def test_exponents_whose_values_are_not_guarded_are_one_graph(kind: Any) -> None:
    """NumPy's, and those read from tensors."""
    def number(x: gw.Tensor, s: Any) -> gw.Tensor:
        return x**s

    def item(x: gw.Tensor, s: gw.Tensor) -> gw.Tensor:
        return x ** s.item()

    reads = isinstance(kind, gw.dtype)
    function = item if reads else number
    compiled = gw.compile(function, backend="llvm", fullgraph=True)
    x = gw.tensor(EDGES)
    for s in EXPONENTS:
        exponent = gw.tensor(s, dtype=kind) if reads else kind(s)
        assert readable({"": compiled(x, exponent)}) == readable({"": function(x, exponent)}), s
    assert gw.compiler.stats(compiled).graphs == 1


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_of_powers_by_a_number_that_is_0(order: int) -> None:
    """0 to the power of -1 has no part in them."""
    def f(x: gw.Tensor, s: Any) -> gw.Tensor:
        once = gw.func.grad(lambda y: (y**s).sum())
        twice = gw.func.grad(lambda y: once(y).sum())
        return (once if order == 1 else twice)(x)

    compiled = gw.compile(f, backend="llvm")
    x = gw.tensor([0.0, 2.0, -1.0])
    for s in map(np.float64, (2.0, 1.0, 0.0)):
        if order == 1 or s:
            assert compiled(x, s).tolist() == f(x, s).tolist()
        else:
            assert compiled(x, s).tolist() == [0.0] * 3


@pytest.mark.parametrize("backend", ["eager", "llvm", "c"])
@pytest.mark.parametrize("dtype", [gw.float32, gw.float64, gw.float16, gw.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (6,), (2, 1), (300,)], ids=str)
def test_powers_by_tensors_are_no_roots(
    shape: tuple[int, ...], dtype: gw.dtype, backend: str
) -> None:
    """However often an exponent is repeated."""
    def f(x: gw.Tensor, exponent: gw.Tensor) -> gw.Tensor:
        return x**exponent

    function = f if backend == "eager" else gw.compile(f, backend=backend)
    for edge, by_half in ((-0.0, 0.0), (-float("inf"), float("inf")), (4.0, 2.0)):
        x = gw.full((300,) if shape == (300,) else (6,), edge, dtype=dtype)
        result = function(x, gw.full(shape, 0.5, dtype=dtype))
        assert not gw.signbit(result).any() and (result == by_half).all(), edge
        assert (function(x[0], gw.full((), 0.5, dtype=dtype)) == by_half).all(), edge


def test_roots_of_lengths_that_vary() -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        return x ** (1 / x.shape[0])

    compiled = gw.compile(f, backend="llvm")
    for length in (3, 4, 5, 2, 6, 2):
        x = gw.tensor(EDGES[:length])
        assert readable({"": compiled(x)}) == readable({"": f(x)}), length
