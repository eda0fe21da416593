"""Values that an op refuses, eagerly and where compiled code meets them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.runtime.ops import _face as ops

F = gw.nn.functional
GOOD = gw.tensor([0.2, 0.9, 0.5])
BAD = {
    "negative": gw.tensor([-0.2, 0.9, 0.5]),
    "a NaN": gw.tensor([float("nan"), 0.9, 0.5]),
    "too large": gw.tensor([0.2, 1.5, 0.5]),
    "all zero": gw.zeros(3),
}
USES: dict[str, tuple[Callable[[Any], Any], tuple[str, ...], str]] = {
    "binary_cross_entropy": (
        lambda p: F.binary_cross_entropy(p * 1, GOOD), ("negative", "a NaN", "too large"),
        "between 0 and 1",
    ),
    "bernoulli": (gw.bernoulli, ("negative", "a NaN", "too large"), "p_in >= 0"),
    "bernoulli_": (
        lambda p: gw.empty(3).bernoulli_(p), ("negative", "a NaN", "too large"), "p_in >= 0"
    ),
    "multinomial": (
        lambda p: gw.multinomial(p, 2), ("negative", "a NaN", "all zero"), "prob"
    ),
    "normal": (lambda p: gw.normal(0.0, p), ("negative", "a NaN"), "std >= 0.0"),
    "cov": (lambda p: gw.cov(GOOD, aweights=p), ("negative",), "cannot be negative"),
}


@pytest.mark.parametrize("name", USES)
def test_refused_values(name: str) -> None:
    function, refused, message = USES[name]
    compiled = gw.compile(function, fullgraph=True)
    compiled(GOOD)
    for case in refused:
        for call in (function, compiled):
            with pytest.raises(RuntimeError, match=message):
                call(BAD[case])
    compiled(GOOD)


def test_the_check_is_a_part_of_the_kernel_that_reads() -> None:
    compiled = gw.compile(lambda x: F.binary_cross_entropy(x.sigmoid(), GOOD))
    compiled(GOOD)
    assert gw.compiler.stats(compiled).kernels == 1


def test_gradients_pass_through_a_check() -> None:
    x = gw.rand(3, requires_grad=True)
    ok = gw.tensor([True])
    (grad,) = gw.autograd.grad(ops.require_values(x, ok, "no"), x, GOOD)
    assert grad.tolist() == GOOD.tolist()


def test_nothing_is_written_where_a_check_fails() -> None:
    def step(state: Any, p: Any) -> Any:
        state.add_(1)
        return gw.bernoulli(p)

    state = gw.zeros(2)
    with pytest.raises(RuntimeError, match="p_in"):
        gw.compile(step)(state, BAD["negative"])
    assert state.tolist() == [1.0, 1.0]
