"""Controls of the compiler, and what a compilation leaves behind: lines, tracebacks, memory."""

from __future__ import annotations

import gc
import linecache
import traceback
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn

HERE = __file__


def helper(x: gw.Tensor) -> gw.Tensor:
    return x + (1 if gw.compiler.is_compiling() else 2)


def test_disable_keeps_out_what_is_called_too() -> None:
    @gw.compiler.disable
    def out(x: gw.Tensor) -> gw.Tensor:
        return helper(x)

    assert gw.compile(lambda x: out(x * 2))(gw.ones(1)).item() == 4


@pytest.mark.parametrize("as_call", [False, True])
def test_disable_of_one_function_captures_what_it_calls(as_call: bool) -> None:
    def out(x: gw.Tensor) -> gw.Tensor:
        assert not gw.compiler.is_compiling()
        return helper(x)

    if as_call:
        marked = gw.compiler.disable(out, recursive=False)
    else:
        marked = gw.compiler.disable(recursive=False)(out)
    compiled = gw.compile(lambda x: marked(x * 2))
    for _ in range(2):
        assert compiled(gw.ones(1)).item() == 3
    assert gw.compiler.stats(compiled).graphs == 2


def test_allow_in_graph_makes_one_node() -> None:
    @gw.compiler.allow_in_graph
    def twice(x: gw.Tensor) -> gw.Tensor:
        return (x + x) * 1

    seen: list[Any] = []

    def backend(graph: Any, examples: Any) -> Callable[..., Any]:
        seen.extend(node.target for node in graph.graph.nodes if node.op == "call_function")
        return graph  # type: ignore[no-any-return]

    assert gw.compile(lambda x: twice(x) + 1, backend=backend)(gw.ones(1)).item() == 3
    assert seen[0] is twice and len(seen) == 2


def test_an_allowed_function_may_give_tuples_in_tuples() -> None:
    @gw.compiler.allow_in_graph
    def parts(x: gw.Tensor) -> tuple[Any, ...]:
        return (x + 1, [x * 2, 3]), None, x - 1

    def f(x: gw.Tensor) -> gw.Tensor:
        (more, (twice, three)), nothing, less = parts(x)
        return (more, twice * three, less, nothing)

    outputs = gw.compile(f, fullgraph=True)(gw.ones(1))
    assert [value and value.item() for value in outputs] == [2, 6, 0, None]


def test_names_of_backends() -> None:
    assert gw.compiler.list_backends() == ["auto", "c", "eager", "llvm"]


def user_lines(call: Callable[[], Any]) -> list[tuple[str, str]]:
    """Function and text of the traceback's lines in this file, below the caller's."""
    try:
        call()
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        return [(f.name, f.line or "") for f in frames if f.filename == HERE][2:]
    raise AssertionError("nothing was raised")


def test_tracebacks_out_of_resume_functions_show_the_users_lines() -> None:
    def f(x: gw.Tensor, i: gw.Tensor) -> gw.Tensor:
        y = x + 1
        print(end="")
        z = y * 2
        return z[i]

    def g(x: gw.Tensor) -> float:
        y = x + 1
        print(end="")
        return y.sum().item() / 0

    for function, args, last in (
        (f, (gw.ones(3), gw.tensor([5])), "return z[i]"),
        (g, (gw.ones(3),), "return y.sum().item() / 0"),
    ):
        plain = user_lines(lambda: function(*args))  # noqa: B023
        found = user_lines(lambda: gw.compile(function)(*args))  # noqa: B023
        assert plain == [(function.__name__, last)]
        assert found[-1] == plain[0]
        assert not any(line.startswith("def ") for _, line in found)


def test_tracebacks_out_of_whole_graphs_show_the_users_line() -> None:
    def f(x: gw.Tensor, i: gw.Tensor) -> gw.Tensor:
        y = x + 1
        return y[i]

    lines = user_lines(lambda: gw.compile(f)(gw.ones(3), gw.tensor([5])))
    assert lines[-1] == ("f", "return y[i]")


def test_wrong_arguments_raise_what_python_raises() -> None:
    for function, args in ((lambda x, k: x * k, ("a",)), (lambda x, k: x + k, ([1],))):
        for run in (function, gw.compile(function)):
            with pytest.raises(TypeError):
                run(gw.ones(3), *args)


def test_uninitialised_tensors() -> None:
    lazy = nn.LazyLinear(4)
    assert gw.compile(lambda x: x)(lazy.weight) is lazy.weight
    assert gw.compile(lambda x: (x, 1))(lazy.weight)[0] is lazy.weight
    assert gw.compile(lambda x: x.requires_grad)(lazy.weight)
    assert gw.compile(lazy)(gw.ones(2, 3)).shape == (2, 4)


def test_the_text_of_graphs_goes_with_them() -> None:
    def graphs() -> int:
        gc.collect()
        gw.compile(lambda x: x - 1, backend="eager")(gw.ones(2))  # forgets what has died
        return sum(name.startswith("<graph ") for name in linecache.cache)

    before = graphs()
    for n in range(20):
        compiled = gw.compile(lambda x, n=n: x * n + 1, backend="eager")
        compiled(gw.ones(2))
        del compiled
    assert graphs() <= before + 2


def test_texts_of_dead_graphs_stay_while_a_debugger_walks_over_them() -> None:
    compiled = gw.compile(lambda x: x * 3, backend="eager")
    compiled(gw.ones(2))
    name = [n for n in linecache.cache if n.startswith("<graph ")][-1]
    del compiled
    gc.collect()
    assert name in linecache.cache
