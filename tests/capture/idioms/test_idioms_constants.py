"""Tensors of numbers that the frame makes and writes to: each run has its own, in native code."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw

from ..pictures import picture


def counted(x: Any) -> Any:
    count, total = gw.tensor(0), gw.tensor(0.0)
    for _ in range(4):
        count += 1
        total += x.sum()
    return total / count, count


def through_views(x: Any) -> Any:
    table = gw.tensor([1.0, 2.0, 3.0])
    tail = table[1:]
    tail.mul_(2)
    table[0] = 5
    return table, tail, x + table


def masked(x: Any) -> Any:
    weights, keep = gw.as_tensor([1.0, 2.0, 3.0]), gw.asarray([True, False, True])
    weights[keep] = 0.0
    keep.logical_not_()
    return weights * x, keep


def of_a_leaf(x: Any) -> Any:
    weight = gw.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (slope,) = gw.autograd.grad((weight * x).sum(), weight)
    with gw.no_grad():
        weight -= 0.1 * slope
    return weight.detach().sum(), slope


def given_twice(x: Any) -> Any:
    best = gw.tensor(float("inf"))
    best.fill_(x.min())
    same = best.sub_(1)
    return best, same, x + same


@pytest.mark.parametrize(
    "program", [counted, through_views, masked, of_a_leaf, given_twice])
def test_constants_that_are_written(program: Any) -> None:
    compiled = gw.compile(program)
    for number in range(3):
        results = [picture(run(gw.ones(3) * number), rounded=True) for run in (program, compiled)]
        assert results[0] == results[1]
    explained = gw.explain(program)(gw.ones(3))
    assert not explained.breaks and not explained.skipped


BOARD = gw.zeros(3)


@gw.compiler.allow_in_graph
def board(x: Any) -> Any:
    return BOARD


def test_a_tensor_of_the_users_own_is_written_itself() -> None:
    compiled = gw.compile(lambda x: board(x).add_(x))
    for number in range(1, 4):
        assert compiled(gw.ones(3)).tolist() == [number] * 3
        assert BOARD.tolist() == [number] * 3
