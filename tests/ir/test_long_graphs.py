"""Graphs of unrolled loops: the work of the passes grows with their length, and no faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.ir import trace
from graphwright.ir.joint import saved_values
from graphwright.ir.pipeline import lower_graph

from .lowering import captured


def waves(rounds: int) -> Callable[[gw.Tensor], gw.Tensor]:
    def run(x: gw.Tensor) -> gw.Tensor:
        for _ in range(rounds):
            x = gw.sin(x) + gw.cos(x) * 0.5
        return x
    return run


def counted(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[int]:
    """The number of calls of a function of a module, from now on."""
    calls, function = [0], getattr(module, name)

    def count(*args: Any) -> Any:
        calls[0] += 1
        return function(*args)

    monkeypatch.setattr(module, name, count)
    return calls


def test_shape_rules_run_once_where_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, examples = captured(waves(10), [gw.ones(3)])
    calls = counted(monkeypatch, trace, "fake_kernel")
    lowered = lower_graph(graph, examples, needs_grad=False)
    assert calls == [40]
    assert len(lowered.forward.graph.nodes) == 42


def test_shape_rules_run_again_behind_what_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(x: gw.Tensor) -> gw.Tensor:
        return gw.sin(gw.sin(x).softmax(-1).t())

    graph, examples = captured(run, [gw.ones(3, 4)])
    lowered = lower_graph(graph, examples, needs_grad=False)
    for node in lowered.forward.graph.nodes:
        if node.op == "call_function":
            again = trace.fake_kernel(
                node.target, tuple(a.meta["val"] if hasattr(a, "meta") else a for a in node.args))
            assert (again.shape, again.stride()) == (
                node.meta["val"].shape, node.meta["val"].stride())


def test_the_search_for_what_to_save_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch, saved_values, "is_view")
    counts = []
    for rounds in (40, 160):
        graph, examples = captured(waves(rounds), [gw.ones(3, requires_grad=True)])
        calls[0] = 0
        lower_graph(graph, examples, needs_grad=True)
        counts.append(calls[0])
    assert counts[1] < 4.5 * counts[0]


@pytest.mark.slow
def test_thousands_of_rounds_exceed_no_recursion_limit() -> None:
    x = gw.linspace(-2, 2, 12, requires_grad=True)
    compiled = gw.compile(waves(3000), backend="llvm", fullgraph=True)
    y, expected = compiled(x), waves(3000)(x)
    gw.testing.assert_close(y, expected, rtol=1e-3, atol=1e-4)
    gradient, = gw.autograd.grad(y.sum(), (x,))
    assert gradient.shape == x.shape
