"""Gradients where a function has a corner, no direction, a pole or a branch: PyTorch's choices."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

Function = Callable[..., gw.Tensor]


def gradients(function: Function, *values: Any) -> list[list[Any]]:
    """By each argument, eagerly; the same of compiled code where the numbers are real."""
    found = []
    real = not any(isinstance(v, complex) for value in values for v in value)
    for run in (function, gw.compile(function)) if real else (function,):
        inputs = [gw.tensor(v, requires_grad=True) for v in values]
        out = run(*inputs)
        (gw.view_as_real(out) if out.is_complex() else out).sum().backward()
        found.append([t.grad.tolist() for t in inputs])
    assert all(repr(one) == repr(found[0]) for one in found)
    return found[0]


def test_the_origin_has_no_direction() -> None:
    assert gradients(gw.atan2, [0.0, 1.0], [0.0, 0.0]) == [[0.0, 0.0], [0.0, -1.0]]
    assert gradients(gw.angle, [0j, 2j]) == [[0j, -0.5 + 0j]]
    assert gradients(gw.sgn, [0j])[0] == [0j]
    assert gradients(lambda x: gw.abs(x) ** 2, [0j])[0] == [0j]


def test_directions_have_second_derivatives_at_the_origin() -> None:
    y, x = (gw.zeros(1, requires_grad=True) for _ in range(2))
    first, _ = gw.autograd.grad(gw.atan2(y, x).sum(), [y, x], create_graph=True)
    second = gw.autograd.grad(first.sum(), [y, x], allow_unused=True)
    assert [g.item() for g in second if g is not None] == [0.0, 1.0]


@pytest.mark.parametrize("z", [-1j, 0.5 - 2j, -2 + 0.5j, 1 + 1j])
def test_acosh_of_complex_numbers_on_its_branch(z: complex) -> None:
    """conj(1 / (sqrt(z - 1) sqrt(z + 1))), against differences of cmath's."""
    x = gw.tensor([z], dtype=gw.complex128, requires_grad=True)
    (grad,) = gw.autograd.grad(gw.real(gw.acosh(x)).sum(), x)
    slope = (cmath.acosh(z + 1e-6) - cmath.acosh(z - 1e-6)) / 2e-6
    assert grad.item() == pytest.approx(slope.conjugate(), rel=1e-6)


@pytest.mark.parametrize(("base", "expected"), [
    (0, [-math.inf, 0.0, 0.0]), (0.0, [-math.inf, 0.0, 0.0]), (-2.0, [math.nan] * 3),
    (1, [0.0, 0.0, 0.0]), (2.0, [math.log(2) / 2, math.log(2), 4 * math.log(2)]),
])  # fmt: skip
def test_exponents_of_numbers(base: float, expected: list[float]) -> None:
    """A number as a base is a tensor of that number; a gradient of 0 hid what is not defined."""
    (grad,) = gradients(lambda x: base**x, [-1.0, 0.0, 2.0])
    assert grad == pytest.approx(expected, rel=1e-6, nan_ok=True)
    of_tensor = gradients(lambda x: gw.full((3,), float(base)) ** x, [-1.0, 0.0, 2.0])
    assert grad == pytest.approx(of_tensor[0], nan_ok=True)


def test_complex_exponents_of_negative_numbers() -> None:
    (grad,) = gradients(lambda x: gw.real((-2.0) ** x), [1 + 0j])
    assert grad[0] == pytest.approx((-2 * cmath.log(-2)).conjugate(), rel=1e-6)


def test_huber_loss_of_what_is_infinitely_far() -> None:
    target = gw.zeros(3)
    (grad,) = gradients(
        lambda x: gw.nn.functional.huber_loss(x, target, reduction="sum", delta=2.0),
        [math.inf, -math.inf, 1.0],
    )
    assert grad == [2.0, -2.0, 1.0]


@pytest.mark.parametrize("function", [
    gw.nn.functional.elu, gw.nn.functional.celu, gw.nn.functional.selu,
    lambda x: gw.nn.functional.elu(x, 2.5), lambda x: gw.nn.functional.celu(x, 2.5),
], ids=["elu", "celu", "selu", "elu of 2.5", "celu of 2.5"])  # fmt: skip
def test_where_an_exponential_meets_a_line_there_is_no_curvature(function: Function) -> None:
    x = gw.tensor([0.0, -0.0, 1.0, -1.0, math.nan], dtype=gw.float64, requires_grad=True)
    (first,) = gw.autograd.grad(function(x).sum(), x, create_graph=True)
    (second,) = gw.autograd.grad(first.sum(), x)
    assert second[:3].tolist() == [0.0, 0.0, 0.0] and second[3].item() > 0
    assert first[4].isnan() and second[4].isnan()


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_sinc_is_round_at_its_top(compiled: bool) -> None:
    x = gw.tensor([0.0, 1.0], dtype=gw.float64, requires_grad=True)
    function = gw.compile(gw.sinc) if compiled else gw.sinc
    (slope,) = gw.autograd.grad(function(x).sum(), x, create_graph=True)
    assert slope.tolist() == pytest.approx([0.0, -1.0])
    (bend,) = gw.autograd.grad(slope.sum(), x)
    assert bend.tolist() == pytest.approx([-(math.pi**2) / 3, 2.0])


STRAIGHT: dict[str, Function] = {
    "relu": gw.relu,
    "leaky_relu": gw.nn.functional.leaky_relu,
    "relu6": gw.nn.functional.relu6,
    "hardtanh": gw.nn.functional.hardtanh,
    "hardsigmoid": gw.nn.functional.hardsigmoid,
    "hardshrink": gw.nn.functional.hardshrink,
    "softshrink": gw.nn.functional.softshrink,
    "threshold": lambda x: gw.nn.functional.threshold(x, 0.5, 2.0),
    "prelu": lambda x: gw.nn.functional.prelu(x, gw.tensor([0.25])),
    "rrelu": lambda x: gw.nn.functional.rrelu(x, training=True),
}


def test_slopes_to_be_learnt_have_second_derivatives() -> None:
    x = gw.tensor([[-3.0, 2.0], [-1.0, -4.0]], requires_grad=True)
    weight = gw.tensor([0.5, 0.25], requires_grad=True)
    (slope,) = gw.autograd.grad(gw.prelu(x, weight).sum(), x, create_graph=True)
    to_x, to_weight = gw.autograd.grad((slope**2).sum(), (x, weight))
    assert to_x.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert to_weight.tolist() == [2.0, 0.5]


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", STRAIGHT)
def test_straight_lines_have_second_derivatives_of_zero(name: str, compiled: bool) -> None:
    """Zeros, not none: `backward` of a gradient that is constant is no error."""
    function = gw.compile(STRAIGHT[name]) if compiled else STRAIGHT[name]
    x = gw.tensor([-3.0, -0.1, 0.0, 0.7, 9.0], requires_grad=True)
    (slope,) = gw.autograd.grad(function(x).sum(), x, create_graph=True)
    slope.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [0.0] * 5


@pytest.mark.parametrize("name", STRAIGHT)
def test_penalties_of_gradients_reach_the_biases(name: str) -> None:
    layer = gw.nn.Linear(3, 4)
    x = gw.randn(2, 3, requires_grad=True)
    (slope,) = gw.autograd.grad(STRAIGHT[name](layer(x)).sum(), x, create_graph=True)
    (slope**2).sum().backward()
    assert layer.bias.grad is not None and layer.bias.grad.tolist() == [0.0] * 4
    assert x.grad is not None and x.grad.tolist() == [[0.0] * 3] * 2
