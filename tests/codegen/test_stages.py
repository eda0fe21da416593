"""Programs in stages: inputs are freed, and outputs and temporaries get memory, while they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.codegen.build import build_program
from graphwright.codegen.compile import CompiledGraph, compile_graph
from graphwright.codegen.lowering.graph import lower_graph

from .lowered import traced

N = 256
MATRIX = 4 * N * N
"""Bytes."""


def chain(*inputs: Any) -> tuple[Any, ...]:
    """Each product is a result, and reads one more input."""
    results = [inputs[0] @ inputs[0]]
    for x in inputs[1:]:
        results.append(results[-1] @ x)
    return tuple(results)


def compiled(fn: Callable[..., Any], *inputs: Any, target: str = "llvm") -> CompiledGraph:
    module = traced(fn, inputs)
    examples = [node.meta["val"] for node in module.graph.placeholders]
    return compile_graph(module, examples, target=target, staged=True)


def matrices(count: int) -> list[Any]:
    gw.manual_seed(0)
    return [gw.randn(N, N) / 16 for _ in range(count)]


def peak_of(run: Callable[[], Any]) -> tuple[Any, int]:
    """The results, and how many bytes beyond those at the beginning were held at a time."""
    before = gw.memory_stats()["live"]
    gw.reset_peak_memory_stats()
    results = run()
    return results, gw.memory_stats()["peak"] - before


def test_a_stage_frees_what_is_dead_before_it_makes_what_is_born() -> None:
    module = traced(chain, matrices(3))
    examples = [node.meta["val"] for node in module.graph.placeholders]
    program = build_program(lower_graph(module, examples), staged=True)
    assert [(stage.first, stage.dead, stage.born) for stage in program.stages] == [
        (0, (), (0,)), (1, (0,), (1,)), (2, (1,), (2,))]
    assert not build_program(lower_graph(module, examples)).stages


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_inputs_that_nobody_else_has_are_freed_as_they_die(target: str) -> None:
    graph = compiled(chain, *matrices(6), target=target)
    expected = chain(*matrices(6))
    given = matrices(6)
    results, peak = peak_of(lambda: graph.launch.consume(given))
    assert given == []
    assert peak == MATRIX, "one result more than inputs that were freed"
    for got, want in zip(results, expected, strict=True):
        gw.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)


def test_inputs_that_others_have_stay_as_they_are() -> None:
    graph = compiled(chain, *matrices(4))
    held = matrices(4)
    copies = [x.clone() for x in held]
    results, peak = peak_of(lambda: graph.launch.consume(list(held)))
    assert peak == 4 * MATRIX
    for x, copy in zip(held, copies, strict=True):
        assert x.equal(copy)
    for got, want in zip(results, graph(*held), strict=True):
        assert got.equal(want)


def test_memory_that_a_view_or_an_array_shares_is_not_freed() -> None:
    graph = compiled(chain, *matrices(3))
    given = matrices(3)
    view, array = given[0].view(-1), given[1].numpy()
    before = view.clone(), array.copy()
    graph.launch.consume(given)
    assert view.equal(before[0])
    assert (array == before[1]).all()


def test_an_input_given_twice_is_not_freed() -> None:
    graph = compiled(chain, *matrices(3))
    x, y = matrices(2)
    expected = graph(x, x, y)
    del y
    for got, want in zip(graph.launch.consume([x, x, matrices(2)[1]]), expected, strict=True):
        assert got.equal(want)


def test_temporaries_take_memory_only_while_they_live() -> None:
    def squares(x: Any) -> tuple[Any, ...]:
        for _ in range(5):
            x = x @ x
        return (x.sum(), x[0])

    graph = compiled(squares, *matrices(1))
    (x,) = matrices(1)
    _, peak = peak_of(lambda: graph(x))
    assert 2 * MATRIX <= peak < 2.1 * MATRIX
    assert graph.program.blocks == (MATRIX,) * 5


def test_symbolic_sizes_and_small_tensors() -> None:
    module = traced(chain, matrices(3), dynamic=True)
    examples = [node.meta["val"] for node in module.graph.placeholders]
    graph = compile_graph(module, examples, target="llvm", staged=True)
    for n in (N, 3, 200):
        given = [x[:n, :n].clone() for x in matrices(3)]
        expected = chain(*given)
        for got, want in zip(graph.launch.consume(given), expected, strict=True):
            gw.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)


def test_an_error_within_leaves_no_memory_behind() -> None:
    def picked(x: Any, index: Any) -> tuple[Any, ...]:
        y = x @ x
        return (y, y.index_select(0, index) @ x)

    graph = compiled(picked, *matrices(1), gw.zeros(N, dtype=gw.int64))
    bad = gw.full((N,), N + 3)
    live = gw.memory_stats()["live"]
    for _ in range(3):
        with pytest.raises(IndexError):
            graph.launch.consume([*matrices(1), bad])
    assert gw.memory_stats()["live"] == live


def test_results_that_are_inputs_stay() -> None:
    def passed(x: Any, y: Any) -> tuple[Any, ...]:
        return (x @ y, y, None)

    graph = compiled(passed, *matrices(2))
    given = matrices(2)
    expected = given[0] @ given[1]
    product, same, nothing = graph.launch.consume(given)
    gw.testing.assert_close(product, expected, rtol=1e-4, atol=1e-4)
    assert same.equal(matrices(2)[1]) and nothing is None


@pytest.mark.parametrize("wrong, error", [((), TypeError), ([1], TypeError)])
def test_consume_takes_a_list_of_all_inputs(wrong: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        compiled(chain, *matrices(2)).launch.consume(wrong)
