"""Operations that take numbers only: one that varies, a tensor without dims, what was read."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.nn import functional as F
from graphwright.testing import assert_close


def accumulated(x: Any, number: Any) -> Any:
    return x.index_add(0, gw.tensor([2, 0]), x[:2], alpha=number)


def padded(x: Any, number: Any) -> Any:
    shifted = F.pad(x, (1, 0, -1, 2), value=number)
    return shifted, F.pad(x, [0, 3], "constant", number)


def stepped(x: Any, number: Any) -> Any:
    """An optimiser's step, whose rate may be a tensor."""
    weight = x.clone()
    weight.add_(x.sin(), alpha=-number)
    weight.addcmul_(x, x, value=number)
    return weight.addcdiv(x, x + 1, value=number)


def activated(x: Any, number: Any) -> Any:
    return F.leaky_relu(x - 5, number), F.softplus(x, number)


def filled(x: Any, number: Any) -> Any:
    return x + gw.full((4,), number), gw.full_like(x, number), x.new_full((2,), number)


def attended(x: Any, number: Any) -> Any:
    return F.scaled_dot_product_attention(x, x, x, scale=number)


def found(x: Any, number: Any) -> Any:
    return gw.isin(x, number * 4 + 1), gw.isin(x, number, invert=True)


PROGRAMS = [accumulated, padded, stepped, activated, filled, attended, found]
NUMBERS: dict[str, tuple[int, Callable[[float], Any], Callable[[Any], Any]]] = {
    "varying": (2, lambda number: number, lambda given: given),
    "tensor": (1, lambda number: gw.tensor(number), lambda given: given),
    "read": (1, lambda number: gw.tensor(number), lambda given: given.item()),
}


@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_numbers_are_inputs(program: Any, name: str, backend: str) -> None:
    graphs, made, read = NUMBERS[name]

    def run(x: Any, number: Any) -> Any:
        return program(x, read(number))

    compiled = gw.compile(run, backend=backend, fullgraph=True)
    x = gw.arange(12.0).reshape(3, 4) + 1
    for step in range(4):
        number = 0.25 + 0.5 * step
        assert_close(compiled(x, made(number)), run(x, made(number)))
    assert gw.compiler.stats(compiled).graphs == graphs


@pytest.mark.parametrize("backend", ["eager", "llvm"])
def test_gradients_beside_a_number_in_a_tensor(backend: str) -> None:
    def step(x: Any, rate: Any) -> Any:
        (F.pad(x.sin(), (1, 1), value=rate) * -rate).sum().backward()
        return x.grad

    compiled = gw.compile(step, backend=backend, fullgraph=True)
    for number in (0.5, 1.5):
        plain, ours = (gw.arange(3.0).requires_grad_() for _ in range(2))
        rate = gw.tensor(number)
        assert_close(compiled(ours, rate), step(plain, rate))


def test_the_number_is_the_one_from_before_a_write() -> None:
    def written(x: Any, rate: Any) -> Any:
        before = gw.add(x, x, alpha=rate)
        rate.mul_(2)
        return before, gw.add(x, x, alpha=rate)

    compiled = gw.compile(written, fullgraph=True)
    for number in (0.5, 1.5):
        plain, ours = gw.tensor(number), gw.tensor(number)
        assert_close(compiled(gw.ones(3), ours), written(gw.ones(3), plain))
        assert_close(ours, plain)


def test_padding_as_far_as_the_dtype_holds_the_number() -> None:
    def pad(x: Any, number: float) -> Any:
        return F.pad(x, (1, 1), value=number)

    compiled = gw.compile(pad, backend="eager")
    for number in (1.5, 2.5, math.inf, -math.inf, math.nan, 1e300, 3.5):
        found = []
        for function in (pad, compiled):
            try:
                found.append(repr(function(gw.ones(3), number)))
            except RuntimeError as error:
                found.append(str(error))
        assert found[0] == found[1]


def test_arithmetic_with_what_was_read_goes_on_in_the_graph() -> None:
    def schedule(x: Any, rate: Any, count: Any) -> Any:
        decay = 1.0 - rate.item() * 0.5
        return x * decay, x.add(x, alpha=-rate.item() / 4.0), x.lerp(x * 2, decay + count.item())

    compiled = gw.compile(schedule, fullgraph=True)
    for number in (0.25, 0.7):
        args = gw.arange(3.0), gw.tensor(number), gw.tensor(0.125, dtype=gw.float64)
        assert_close(compiled(*args), schedule(*args))
    assert gw.compiler.stats(compiled).graphs == 1


def test_sums_of_floats_that_vary() -> None:
    """With Python's own correction from 3.12 on."""
    def summed(x: Any, a: float, b: float, c: float) -> Any:
        total = sum([a, b, c])
        return x * total, total, sum((a, 1, b, c), 0.5), total > 0

    compiled = gw.compile(summed, fullgraph=True)
    for step in range(6):
        args = gw.ones(3, dtype=gw.float64), 1e16 * (step + 1), 1.0 + step, -1e16 * (step + 1)
        assert_close(compiled(*args)[0], summed(*args)[0], rtol=0, atol=0)
        assert compiled(*args)[1:] == summed(*args)[1:]


def test_sums_of_floats_are_in_one_graph() -> None:
    compiled = gw.compile(lambda x, a, b, c: x * sum([a, b, c]), fullgraph=True)
    for step in range(6):
        numbers = 0.1 + step, 0.2 * step + 0.3, -0.7 * step - 0.1
        x = gw.ones(3, dtype=gw.float64)
        assert_close(compiled(x, *numbers), x * sum(numbers), rtol=0, atol=0)
    assert gw.compiler.stats(compiled).graphs == 2


def test_an_integer_in_a_tensor_is_for_plain_python() -> None:
    compiled = gw.compile(lambda x, alpha: gw.add(x, x, alpha=alpha))
    assert gw.equal(compiled(gw.arange(3), gw.tensor(2)), gw.arange(3) * 3)
