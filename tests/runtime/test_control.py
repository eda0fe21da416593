"""`cond` and `while_loop`: branches and loops that depend on values."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw


def _chosen(x: Any) -> Any:
    y = gw.cond(x.sum() > 0, lambda a, b: a * b, lambda a, b: a - b, (x, x * 2))
    return y + 1


@pytest.mark.parametrize("compiled", [False, True])
def test_one_branch_runs(compiled: bool) -> None:
    run = gw.compile(_chosen) if compiled else _chosen
    assert run(gw.tensor([1.0, 2.0])).tolist() == [3.0, 9.0]
    assert run(gw.tensor([-1.0, -2.0])).tolist() == [2.0, 3.0]


@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_are_those_of_the_branch(compiled: bool) -> None:
    run = gw.compile(_chosen) if compiled else _chosen
    for start, slope in (([1.0, 2.0], [4.0, 8.0]), ([-1.0, -2.0], [-1.0, -1.0])):
        x = gw.tensor(start, requires_grad=True)
        run(x).sum().backward()
        assert x.grad.tolist() == slope


def test_a_bool_is_chosen_in_the_graph() -> None:
    """What Python knows ends no graph."""
    def double(x: Any, twice: bool) -> Any:
        return gw.cond(twice, lambda a: a * 2, lambda a: a, (x,))

    compiled = gw.compile(double, fullgraph=True)
    assert [compiled(gw.ones(1), twice).item() for twice in (True, False)] == [2.0, 1.0]


@pytest.mark.parametrize("compiled", [False, True])
def test_loops(compiled: bool) -> None:
    def doubled(x: Any) -> Any:
        return gw.while_loop(lambda n, x: x.max() < 100, lambda n, x: (n + 1, x * 2), (0, x))

    count, out = (gw.compile(doubled) if compiled else doubled)(gw.tensor([1.0, 3.0]))
    assert (count, out.tolist()) == (6, [64.0, 192.0])


def test_what_is_refused() -> None:
    x = gw.ones(2)
    for pred in (1, x, None):
        with pytest.raises(RuntimeError, match="expected pred"):
            gw.cond(pred, lambda a: a, lambda a: a, (x,))
    with pytest.raises(RuntimeError, match="callable"):
        gw.cond(True, 3, lambda a: a, (x,))
    for operands in (x, ("a",)):
        with pytest.raises(RuntimeError, match="operands"):
            gw.cond(True, lambda a: a, lambda a: a, operands)
    with pytest.raises(RuntimeError, match="2 values for 1"):
        gw.while_loop(lambda a: True, lambda a: (a, a), (x,))
