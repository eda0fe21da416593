"""Gradients of one result after those of another: what eager execution would have released."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

Function = Callable[..., tuple[gw.Tensor, ...]]


def _apart(x: gw.Tensor, y: gw.Tensor) -> tuple[gw.Tensor, ...]:
    """Four results that have no step of the tape in common; the last saves nothing."""
    return x * 2, x.exp(), (x * y).sum(), x + 1


def _behind_one(x: gw.Tensor, y: gw.Tensor) -> tuple[gw.Tensor, ...]:
    """Results that are all made of one, in three ways, one of which saves nothing of its own."""
    first = x.exp()
    return first.sin(), first + y, first * y


def _gradients(function: Function, order: tuple[int, ...], way: str) -> tuple[Any, ...]:
    """What comes of gradients of results, one after another: how it ends, and `.grad`."""
    leaves = [gw.tensor([0.3, 0.5], requires_grad=True), gw.tensor([2.0, 3.0], requires_grad=True)]
    results = function(*leaves)
    found: list[Any] = []
    for number in order:
        total = results[number].sum()
        try:
            if way == "grad":
                found.append(gw.autograd.grad(total, leaves[:1])[0].tolist())
            else:
                total.backward(retain_graph=way == "first is retained" and not found)
                found.append("done")
        except RuntimeError as error:
            found.append(str(error))
    return found, [None if leaf.grad is None else leaf.grad.tolist() for leaf in leaves]


@pytest.mark.parametrize("way", ["backward", "grad", "first is retained"])
@pytest.mark.parametrize("function", [_apart, _behind_one])
def test_each_pair_of_results(function: Function, way: str) -> None:
    compiled = gw.compile(function)
    for order in itertools.product(range(len(function(gw.ones(2), gw.ones(2)))), repeat=2):
        plain, found = (_gradients(f, order, way) for f in (function, compiled))
        assert found == plain, order


def _behind_another(x: gw.Tensor, y: gw.Tensor) -> tuple[gw.Tensor, ...]:
    """Results whose gradients read others: what saves itself, or what another step has made."""
    first = x * 2
    second = first.pow(2) * y
    return first, second, second.exp(), y.sin()


def _twice(function: Function, order: tuple[int, ...], way: str) -> list[str]:
    """How gradients of a result's gradients end, and those of another result before or after.

    "one": of the gradients' gradients, those of the first leaf alone.
    """
    leaves = [gw.tensor([0.3, 0.5], requires_grad=True), gw.tensor([2.0, 3.0], requires_grad=True)]
    results = function(*leaves)
    slopes = gw.autograd.grad(
        results[order[0]].sum(), leaves, create_graph=True, allow_unused=True)
    parts = [slope.sum() for slope in slopes if slope is not None and slope.requires_grad]
    steps = [(parts, leaves[: 1 if way == "one" else 2]), ([results[order[1]].sum()], leaves)]
    found = []
    for roots, chosen in steps[::-1] if way == "last" else steps:
        try:
            gw.autograd.grad(roots, chosen, allow_unused=True)
            found.append("done")
        except RuntimeError as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize("way", ["first", "one", "last"])
@pytest.mark.parametrize("function", [_apart, _behind_one, _behind_another])
def test_gradients_of_gradients_release_what_they_pass(function: Function, way: str) -> None:
    compiled = gw.compile(function)
    for order in itertools.product(range(len(function(gw.ones(2), gw.ones(2)))), repeat=2):
        plain, found = (_twice(f, order, way) for f in (function, compiled))
        assert found == plain, order


def test_one_pass_goes_through_results_and_their_gradients() -> None:
    def penalised(function: Function) -> list[Any]:
        x, y = gw.tensor([0.3, 0.5], requires_grad=True), gw.tensor([2.0, 3.0], requires_grad=True)
        result = function(x, y)[1].sum()
        (slope,) = gw.autograd.grad(result, x, create_graph=True)
        (result + slope.pow(2).sum()).backward()
        return [x.grad, y.grad]

    gw.testing.assert_close(penalised(gw.compile(_behind_another)), penalised(_behind_another))


def test_what_was_saved_is_let_go_of_when_nothing_can_come_any_more() -> None:
    first, second, _ = gw.compile(_behind_one)(gw.ones(2, requires_grad=True), gw.ones(2))
    node = first.grad_fn
    first.sum().backward()
    assert node.inputs is not None
    with pytest.raises(RuntimeError, match="second time"):
        second.sum().backward()

    whole = gw.compile(lambda x: (x * x).sum())(gw.ones(2, requires_grad=True))
    whole.backward()
    assert whole.grad_fn.inputs is None


def test_a_number_that_varies_counts_as_saved() -> None:
    """As each number does that a tensor is multiplied by: PyTorch keeps it as a tensor."""
    compiled = gw.compile(lambda x, n: x * n, dynamic=True)
    for n in (2, 3):
        result = compiled(gw.ones(2, requires_grad=True), n)
        result.sum().backward()
        with pytest.raises(RuntimeError, match="second time"):
            result.sum().backward()
