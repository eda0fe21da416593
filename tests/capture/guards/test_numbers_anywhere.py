"""Numbers that change from call to call, wherever the program keeps them; NumPy's numbers."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw

from ..captured import Captured, check
from ..pictures import picture
from ..programs import Programs, whole

RATE = 1.0
HALF = np.float64(0.5)


def in_a_dict(x: Any, number: float) -> Any:
    return x * number


def keyword(x: Any, **options: Any) -> Any:
    return x * options["rate"] + options["count"]


def entry(x: Any, config: dict[str, Any]) -> Any:
    return x * config["rate"] + config["count"]


def nested(x: Any, config: dict[str, Any]) -> Any:
    return x * config["inner"]["rates"][1]


def item(x: Any, numbers: list[Any]) -> Any:
    return x * numbers[0] + x[: numbers[1]].sum()


def attribute(x: Any, owner: Any) -> Any:
    return x * owner.rate + owner.count


def rewritten(x: Any, owner: Any) -> Any:
    """What is read is overwritten before the graph's result is used."""
    y = x * owner.rate
    owner.rate = owner.rate * 0.5
    owner.count += 1
    return y + owner.count, owner.rate


def replaced(x: Any, numbers: list[Any]) -> Any:
    first = numbers[0]
    numbers[0] = first * 2
    numbers.append(x.sum())
    return x * first


def namespace(step: int) -> Any:
    return types.SimpleNamespace(rate=0.5 + step, count=3 + step)


PLACES: list[tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]]]] = [
    (entry, lambda i: ({"rate": 0.5 + i, "count": 3 + i},)),
    (nested, lambda i: ({"inner": {"rates": (1, 0.5 + i)}},)),
    (item, lambda i: ([0.5 + i, 2 + i],)),
    (attribute, lambda i: (namespace(i),)),
    (rewritten, lambda i: (namespace(i),)),
    (replaced, lambda i: ([0.5 + i],)),
]


@pytest.mark.parametrize(("program", "args"), PLACES, ids=lambda value: value.__name__)
def test_a_number_is_an_input_from_its_second_value_on(program: Any, args: Any) -> None:
    captured = Captured(program, fullgraph=True)
    for step in range(7):
        x = gw.ones(12, 4)
        expected, ours = args(step), args(step)
        result = picture(program(x, *expected))
        assert picture(captured(x, *ours)) == result
        assert picture(ours) == picture(expected)
    assert captured.graphs == 2


def test_keywords_are_inputs_from_the_second_value_on() -> None:
    captured = Captured(keyword, fullgraph=True)
    for step in range(7):
        assert captured.agrees(gw.ones(3), rate=0.5 + step, count=3 + step)
    assert captured.graphs == 2


def test_globals_and_cells_are_inputs_from_the_second_value_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shift = 0.5

    def program(x: Any) -> Any:
        return x * RATE + shift

    captured = Captured(program, fullgraph=True)
    for step in range(5):
        monkeypatch.setitem(globals(), "RATE", 0.5 + step)
        shift = 1.5 * step
        assert captured.agrees(gw.ones(3))
    assert captured.graphs <= 3


# NumPy

program = Programs()


@program
def scalar_types(x: Any) -> Any:
    return np.float32(2) * x + x * np.float64(3) - np.int64(1) * x


@program
def constants(x: Any) -> Any:
    return x * np.pi + np.e


@program
def functions(x: Any) -> Any:
    return x / np.sqrt(x.shape[-1]) + np.log(10.0) + np.maximum(1, 2) * x


@program
def sizes(x: Any) -> Any:
    return x.reshape(int(np.prod(x.shape)))[: int(np.ceil(2.5))]


@program
def results_of_their_own_type(x: Any) -> Any:
    half = np.float32(1) / 2
    return x * half, float(half), isinstance(half, np.floating), half.item() + 1


@program
def from_a_global(x: Any) -> Any:
    return x * HALF


@pytest.mark.parametrize("program", program.all, ids=lambda value: value.__name__)
def test_numpy_scalars_are_part_of_one_graph(program: Any) -> None:
    whole(program, gw.ones(3, 4))


def test_a_numpy_argument_is_an_input() -> None:
    captured = Captured(in_a_dict, fullgraph=True)
    for step in range(5):
        assert captured.agrees(gw.ones(3), np.float32(step + 0.5))
    assert captured.graphs == 1


def test_a_global_scalar_that_is_replaced_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    captured = Captured(from_a_global)
    assert gw.equal(captured(gw.ones(2)), gw.full((2,), 0.5))
    monkeypatch.setitem(globals(), "HALF", np.float64(4))
    assert gw.equal(captured(gw.ones(2)), gw.full((2,), 4.0))


def test_arrays_end_the_graph() -> None:
    def program(x: Any) -> Any:
        y = x + 1
        return gw.from_numpy(y.numpy()) * np.ones(3, np.float32).sum()

    check(program, gw.ones(3), breaks=None)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_a_tensor_of_a_numpy_argument_has_its_dtype(kind: Any) -> None:
    captured = Captured(lambda x, number: (gw.tensor(number), gw.tensor(number, dtype=gw.int64)))
    for step in range(3):
        assert captured.agrees(gw.ones(3), kind(step + 0.5))


def test_a_numpy_argument_is_warned_of_once_in_each_call() -> None:
    captured = Captured(lambda x, number: x * np.sqrt(-number))
    for step in range(3):
        with pytest.warns(RuntimeWarning) as warned:
            captured(gw.ones(3), np.float32(step + 0.5))
        assert len(warned) == 1
