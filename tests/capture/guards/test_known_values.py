"""Values of tensors that follow from the program's constants are known while it is translated."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured
from ..pictures import picture
from ..programs import Programs, whole

program = Programs()


@program
def numbers_of_a_literal(x: Any) -> Any:
    return x * gw.tensor([1, 2, 3]).tolist()[1], gw.tensor([[1.5], [2.5]]).tolist()


@program
def loop_over_a_range(x: Any) -> Any:
    return [x * k for k in gw.arange(3).tolist()]


@program
def item_of_sizes(x: Any) -> Any:
    return x.reshape(gw.tensor(x.shape).prod().item())


@program
def branch(x: Any) -> Any:
    return x + 1 if gw.tensor([1, 2]).sum() > 2 else x


@program
def still_a_tensor(x: Any) -> Any:
    steps = gw.linspace(0, 1, 5)
    return x * steps.tolist()[2] + steps[1], steps


@program
def other_forms(x: Any) -> Any:
    return x * gw.full((), 3).__int__() + gw.ones(1).item()


@pytest.mark.parametrize("program", program.all, ids=lambda value: value.__name__)
def test_known_values_need_no_break(program: Any) -> None:
    whole(program, gw.ones(3, 4))


def changed(x: Any) -> Any:
    numbers = gw.zeros(2)
    numbers += x.sum()
    return x * numbers.tolist()[0]


def changed_through_a_view(x: Any) -> Any:
    numbers = gw.zeros(2)
    numbers[0] = x.sum()
    return x * numbers.tolist()[0]


def random(x: Any) -> Any:
    return x * gw.rand(2).tolist()[0]


def of_an_argument(x: Any) -> Any:
    return x * (x.sum() + gw.ones(())).tolist()


@pytest.mark.parametrize("program", [changed, changed_through_a_view, random, of_an_argument])
def test_what_the_graph_computes_is_not_known(program: Any) -> None:
    captured = Captured(program)
    for number in (1.0, 2.0):
        x = gw.full((3,), number)
        gw.manual_seed(1)
        expected = program(x)
        gw.manual_seed(1)
        assert gw.equal(captured(x), expected)
    assert "GB0002" in captured.breaks


def half(size: Any) -> Any:
    return gw.div(size, 2, rounding_mode="floor")


@pytest.mark.parametrize("backend", ["eager", "c"])
@pytest.mark.parametrize(
    "program",
    [
        lambda x: x.view(half(x.shape[0]), -1) + 1,
        lambda x: x.reshape(gw.floor_divide(x.shape[0], 2), -1) * half(half(x.shape[0]) - 1),
        lambda x: x.expand(gw.tensor(3), -1, -1) + x.new_zeros((half(x.shape[0]) * 2, 4)),
        lambda x: (x[: half(x.shape[0])] * 2, x[1 : half(x.shape[0]), :2].exp()),
        lambda x: gw.arange(gw.tensor(x.shape[0]) // 2 + 1) * x.sum(),
        lambda x: x[:, :2].reshape(int(half(x.shape[0])), gw.tensor(4).item()),
        lambda x: (gw.div(x.shape[0], 2), x * gw.div(x.shape[0], 2, rounding_mode="trunc")),
        lambda x: x * float(half(x.shape[0])),
        lambda x: x[:, : gw.tensor([2, 3], dtype=gw.int32)[0]] * 2,
    ],
)
def test_integers_of_sizes_are_known_in_tensors(program: Any, backend: str) -> None:
    compiled = gw.compile(program, backend=backend, fullgraph=True)
    for size in (4, 6, 8, 10):
        x = gw.linspace(-1, 1, 4 * size).reshape(size, 4)
        assert picture(compiled(x), rounded=True) == picture(program(x), rounded=True)
    assert gw.compiler.stats(compiled).graphs == 2


@pytest.mark.parametrize(
    "program",
    [
        lambda x: (gw.tensor(x.shape[0]) * 2**62).item(),
        lambda x: (gw.tensor(x.shape[0]) * 2**31 * 2**30).item(),
        lambda x: (gw.tensor(x.shape[0]) + (2**63 - 8)).item(),
        lambda x: (gw.tensor(2**62) * 2 - x.shape[0]).item(),
        lambda x: (gw.tensor(x.shape[0]) * -(2**62)).item(),
    ],
)
def test_integers_wrap_at_64_bits(program: Any) -> None:
    captured = Captured(lambda x: (program(x), x * 2))
    assert all(captured.agrees(gw.ones(size)) for size in (4, 6, 8, 10))


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x * gw.clone(input=x.sum()),
        lambda x: x * gw.detach(input=x.long().sum()),
        lambda x: x[: gw.clone(input=gw.tensor(x.shape[0]))] * 2,
    ],
)
def test_tensors_that_go_by_keyword(program: Any) -> None:
    captured = Captured(program)
    assert all(captured.agrees(gw.ones(size)) for size in (4, 6, 8))


def test_an_integer_that_was_written_to_is_not_known() -> None:
    def program(x: Any) -> Any:
        count = half(x.shape[0])
        count += (x.sum() > 0).long()
        return x[:count] * 2

    captured = Captured(program)
    for size in (4, 6, 8, 10):
        assert captured.agrees(gw.ones(size) * (size - 7))
    assert "GB0002" in captured.breaks or "GB0008" in captured.breaks
