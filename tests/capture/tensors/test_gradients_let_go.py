"""Gradients that a step drops are gone while its graph runs: their memory serves that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

Step = Callable[..., Any]


def leaf(*shape: int) -> Any:
    return gw.ones(*shape, requires_grad=True)


def watched(step: Step, table: Any) -> tuple[Step, list[bool]]:
    """The step compiled, and for each run of its graph whether `table` had a gradient then."""
    seen: list[bool] = []

    def backend(graph: Any, example_inputs: Any) -> Any:
        def run(*inputs: Any) -> Any:
            seen.append(table.grad is not None)
            return graph(*inputs)

        return run

    return gw.compile(step, backend=backend, fullgraph=True), seen


def dropped_first(table: Any, index: Any) -> Any:
    table.grad = None
    loss = table[index].square().sum()
    loss.backward()
    return loss


def read_first(table: Any, index: Any) -> Any:
    before = table.grad
    table.grad = None
    loss = table[index].square().sum()
    loss.backward()
    return loss if before is None else loss + before.sum()


def dropped_late(table: Any, index: Any) -> Any:
    loss = table[index].square().sum()
    table.grad = None
    loss.backward()
    return loss


@pytest.mark.parametrize(("step", "rows", "held"), [
    (dropped_first, 256, False),
    (read_first, 256, True),
    (dropped_late, 256, True),
    (dropped_first, 4, True),
])
def test_what_is_held_while_the_graph_runs(step: Step, rows: int, held: bool) -> None:
    """Small ones are not worth the time; what was read, or dropped after an operation, stays."""
    table, plain, index = leaf(rows, 64), leaf(rows, 64), gw.tensor([1, 3, 3])
    compiled, seen = watched(step, table)
    for _ in range(3):
        assert gw.equal(compiled(table, index), step(plain, index))
        assert gw.equal(table.grad, plain.grad)
    assert seen == [False, held, held]


def test_a_step_that_fails_has_dropped_the_gradient() -> None:
    table, plain = leaf(256, 64), leaf(256, 64)
    compiled = gw.compile(dropped_first, fullgraph=True)
    for step, given in ((compiled, table), (dropped_first, plain)):
        step(given, gw.tensor([1, 2]))
        with pytest.raises(IndexError):
            step(given, gw.tensor([1, 999]))
        assert given.grad is None


def test_a_step_that_fails_where_the_gradient_is_read_first() -> None:
    table, plain = leaf(256, 64), leaf(256, 64)
    compiled = gw.compile(read_first, fullgraph=True)
    for step, given in ((compiled, table), (read_first, plain)):
        step(given, gw.tensor([1, 2]))
        step(given, gw.tensor([1, 2]))
        with pytest.raises(IndexError):
            step(given, gw.tensor([1, 999]))
        assert given.grad is None
