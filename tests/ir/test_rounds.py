"""Which regions of a captured graph are equal rounds, and the graph with few of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.rounds import Rounds, find_rounds, shortened

X = gw.ones(4, 8)
WEIGHTS = [gw.full((8, 8), 0.1 * n) for n in range(12)]


def captured(f: Callable[..., Any], *args: Any) -> tuple[GraphModule, list[Any]]:
    """The graph that capture makes of a function, and what its inputs are."""
    found: list[Any] = []

    def backend(module: GraphModule, examples: Any) -> Callable[..., Any]:
        found.append((module, list(examples)))
        return module.forward

    with gw.no_grad():
        gw.compile(f, backend=backend)(*args)
    ((module, examples),) = found
    return module, examples


def rounds_of(f: Callable[..., Any], *args: Any) -> Rounds | None:
    return find_rounds(*captured(f, *args))


def layers(x: Any, *weights: Any) -> Any:
    x = x * 2.0
    for w in weights:
        x = gw.tanh(x @ w) + x
    return gw.exp(x)


def test_rounds_have_a_period_and_inputs_of_their_own() -> None:
    found = rounds_of(layers, X, *WEIGHTS)
    assert found == Rounds(first=1, period=3, count=12, slots=(tuple(range(1, 13)),))


def test_a_shortened_graph_has_the_first_rounds_and_what_lies_around_them() -> None:
    module, examples = captured(layers, X, *WEIGHTS)
    found = find_rounds(module, examples)
    assert found is not None
    made = shortened(module, found, 4)
    assert made is not None
    short, removed = made
    x, *weights = X, *WEIGHTS[:4]
    gw.testing.assert_close(short(x, *weights)[0], layers(x, *weights))
    assert removed.rounds == 8 and removed.inputs == (0, (0, 0), (1, 0), (2, 0), (3, 0))
    assert [removed.position(2), removed.position(2, later=8)] == [2, 10]
    assert [node.meta.get("round") for node in short.graph.nodes if node.op != "placeholder"] == [
        None, *[number for number in range(4) for _ in range(3)], None, None]


def test_the_longest_part_without_an_exception_is_taken() -> None:
    def f(x: Any, *weights: Any) -> Any:
        for n, w in enumerate(weights):
            x = gw.tanh(x @ w) if n != 2 else gw.tanh(x @ w) * 3.0
        return x

    found = rounds_of(f, X, *WEIGHTS)
    assert found is not None and (found.period, found.count) == (2, 9)
    assert found.slots == (tuple(range(4, 13)),)


def constants(x: Any, *weights: Any) -> Any:
    for n, w in enumerate(weights):
        x = gw.tanh(x @ w) * (n + 1.0)
    return x


def shapes(x: Any, *weights: Any) -> Any:
    for w in weights:
        x = gw.cat([gw.tanh(x[:, :8] @ w), x], 1)
    return x


def all_results(x: Any, *weights: Any) -> Any:
    results = []
    for w in weights:
        x = gw.tanh(x @ w)
        results.append(x)
    return results


def the_first_result(x: Any, *weights: Any) -> Any:
    begun = gw.tanh(x @ weights[0])
    x = begun
    for w in weights:
        x = gw.tanh(x @ w) + begun
    return x, weights[3] + 1.0


def another_op(x: Any, *weights: Any) -> Any:
    for n, w in enumerate(weights):
        x = gw.tanh(x @ w) if n % 5 else gw.sin(x @ w)
    return x


@pytest.mark.parametrize("f", [constants, shapes, all_results, another_op])
def test_few_equal_rounds_are_none(f: Callable[..., Any]) -> None:
    """Rounds differ in a constant, in shapes, in what is read of them, or in an op."""
    assert rounds_of(f, X, *WEIGHTS) is None


def test_an_input_of_a_round_is_no_other_rounds() -> None:
    """Neither the same argument twice, nor one that is read behind the rounds as well."""
    assert rounds_of(layers, X, *WEIGHTS[:6], *WEIGHTS[:6]) is None
    assert rounds_of(the_first_result, X, *WEIGHTS) is None


def test_a_value_from_before_the_rounds_is_the_same_for_all() -> None:
    def f(x: Any, mask: Any, *weights: Any) -> Any:
        scale = gw.exp(mask)
        for w in weights:
            x = gw.tanh(x @ w) * scale + mask
        return x

    found = rounds_of(f, X, gw.ones(8), *WEIGHTS)
    assert found is not None and (found.first, found.period, found.count) == (1, 4, 12)
    assert found.slots == ((1, *range(3, 14)),)    # inputs are numbered as they are first used
