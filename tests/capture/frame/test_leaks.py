"""Entries go with what they are for: rounds of compiling and resetting keep nothing."""

from __future__ import annotations

import gc
import resource
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.capture.frame.frontend import Frontend

from ..mutations.matrix import tensor

ROUNDS = 1000
WARM_UP = 50
X = tensor(3, 4)
pytestmark = pytest.mark.usefixtures("frozen_heap")


def growth(round_: Callable[[], Any], rounds: int = ROUNDS) -> tuple[int, int]:
    """Objects known to the collector and KiB of memory gained over the rounds after warming up.

    The texts of graphs that have died go at the next compilation.
    """
    def settle() -> None:
        gc.collect()
        round_()
        gc.collect()

    for _ in range(WARM_UP):
        round_()
    settle()
    objects, memory = len(gc.get_objects()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(rounds - WARM_UP):
        round_()
    settle()
    return (
        len(gc.get_objects()) - objects,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory,
    )


def allowed_for_a_while() -> weakref.ref[Any]:
    """A function that was allowed in graphs, and was in one."""
    def whole(x: gw.Tensor) -> gw.Tensor:
        return x * 2

    function = gw.compiler.allow_in_graph(whole)
    compiled = gw.compile(lambda x: function(x) + 1, backend="eager")
    assert compiled(X).shape == X.shape
    return weakref.ref(whole)


def test_functions_that_were_allowed_in_graphs_end() -> None:
    known = allowed_for_a_while()
    gc.collect()
    assert known() is None


def test_compile_and_reset() -> None:
    layer = nn.Linear(4, 2)

    def f(x: gw.Tensor, scale: int) -> gw.Tensor:
        return layer(x) * scale

    frontend = Frontend(lambda module, examples: module)
    compiled = frontend.compile(f)

    def round_() -> None:
        compiled(X, 2)
        compiled.reset()

    objects, memory = growth(round_)
    assert objects < 100
    assert memory < 8192


def test_compile_anew_each_time() -> None:
    def round_() -> None:
        frontend = Frontend(lambda module, examples: module)
        layer = nn.ReLU()
        compiled = frontend.compile(lambda x: layer(x) + 1)
        compiled(X)

    objects, memory = growth(round_)
    assert objects < 100
    assert memory < 8192


def broken(x: gw.Tensor) -> gw.Tensor:
    y = x * 2
    print(end="")
    return y + 1


LIFECYCLES: dict[str, tuple[Callable[..., Any], bool, bool | None]] = {
    "one graph": (lambda x: x.sin() + 1, False, None),
    "a break and a resume function": (broken, False, None),
    "backward": (lambda x: x.sin().sum(), True, None),
    "dynamic shapes": (lambda x: x.sin().sum(), True, True),
}


@pytest.mark.parametrize("kind", LIFECYCLES)
def test_a_reset_function_keeps_nothing(kind: str) -> None:
    check_lifecycle(kind, "reset", rounds=80)


@pytest.mark.slow
@pytest.mark.parametrize("kind", LIFECYCLES)
@pytest.mark.parametrize("end", ["reset", "compiler.reset", "dropped"])
def test_lifecycles_of_compiled_functions_keep_nothing(kind: str, end: str) -> None:
    check_lifecycle(kind, end, rounds=1000)


def check_lifecycle(kind: str, end: str, rounds: int) -> None:
    """More rounds than captures after which a function runs as plain Python."""
    function, backward, dynamic = LIFECYCLES[kind]
    compiled = gw.compile(function, dynamic=dynamic)
    sizes = iter(range(10**6))
    misses = []

    def round_() -> None:
        nonlocal compiled
        if end == "dropped":
            compiled = gw.compile(function, dynamic=dynamic)
        rows = next(sizes) % 5 + 2 if dynamic else 3
        out = compiled(gw.ones(rows, 4, requires_grad=backward))
        if backward:
            out.backward()
        misses.append(compiled.misses)  # type: ignore[attr-defined]
        if end == "reset":
            compiled.reset()    # type: ignore[attr-defined]
        elif end == "compiler.reset":
            gw.compiler.reset()

    objects, memory = growth(round_, rounds=rounds)
    assert objects < 100
    assert memory < 8192
    assert misses[-1] == (1 if end == "dropped" else len(misses)), "each round captures"
    assert gw.compiler.stats(compiled).graphs == (2 if "break" in kind else 1) * (
        end == "dropped")


def test_entries_with_breaks_and_reset() -> None:
    def f(x: gw.Tensor, table: dict[str, int]) -> gw.Tensor:
        y = x * table["scale"]
        table[str(float(y.sum()))[:1]] = 1
        return y + len(table)

    frontend = Frontend(lambda module, examples: module)
    compiled = frontend.compile(f)

    def round_() -> None:
        compiled(X, {"scale": 2})
        compiled.reset()
        gw.compiler.reset()

    objects, memory = growth(round_, rounds=300)
    assert objects < 100
    assert memory < 8192


def test_entries_die_with_their_objects() -> None:
    frontend = Frontend(lambda module, examples: module)
    compiled = frontend.compile(lambda x, scale: x * scale.value + 1)
    seen = []
    for value in range(40):
        cls = type("Scale", (), {"value": value})
        assert compiled(X, cls()).numpy().tobytes() == (X * value + 1).numpy().tobytes()
        seen.append(weakref.ref(cls))
        del cls
        gc.collect()
    assert len(compiled.entries) <= 2, "dead entries are dropped before the limit counts them"
    assert sum(ref() is not None for ref in seen) <= 1
    assert compiled.misses == 40


def test_versions_that_all_end_are_told() -> None:
    """A class made for each call: at some point nothing is compiled any more."""
    compiled = Frontend(lambda module, examples: module, limit=2).compile(
        lambda x, scale: x * scale.value + 1
    )
    with pytest.warns(RuntimeWarning, match="no version of it stayed") as told:
        for value in range(20):
            assert compiled(X, type("Scale", (), {"value": value})()).equal(X * value + 1)
            gc.collect()
    assert len(told) == 1


MANY_LOCALS = "".join(f"v{i} = x + {i}; " for i in range(20))


@pytest.mark.parametrize("text", [
    "def f(x):\n    y = x + 1\n    if y.sum() > 0:\n        y = y * 2\n    return y * 3",
    "def f(x):\n    for i in range(3):\n        x = x + float(x.sum())\n        print(end='')\n"
    "    return x",
    f"def f(x):\n    {MANY_LOCALS}\n    print(end='')\n    return v0 + v19",
], ids=["branch", "loop", "many locals"])
def test_code_with_breaks_ends_with_its_functions(text: str) -> None:
    """Resume functions hold nothing of the function that they continue."""
    frontend = Frontend(lambda module, examples: module)
    namespace: dict[str, Any] = {}
    exec(compile(text, __file__, "exec"), namespace)
    code = weakref.ref(namespace["f"].__code__)
    frontend.compile(namespace.pop("f"))(X)
    assert frontend.record.breaks
    frontend.record.clear()
    gc.collect()
    assert code() is None


class Value:
    """What nobody but the program holds."""


def test_values_end_without_the_collector() -> None:
    def program(x: gw.Tensor) -> object:
        values = [Value(), Value()]
        known = weakref.ref(values[0])
        rest = iter(values)
        seen = [x + 1]
        try:
            (_,) = rest
        except ValueError:
            seen.append(x * 2)
        del values, rest
        return known()

    frontend = Frontend(lambda module, examples: module)
    compiled = frontend.compile(program)
    gc.collect()
    gc.disable()
    try:
        assert [compiled(X) for _ in range(3)] == [None, None, None]
    finally:
        gc.enable()


def test_values_whose_identity_was_asked_for_end_without_the_collector() -> None:
    def program(x: gw.Tensor, value: object) -> tuple[int, gw.Tensor]:
        return id(value), x + 1

    compiled = Frontend(lambda module, examples: module).compile(program)
    value = Value()
    known = weakref.ref(value)
    gc.collect()
    gc.disable()
    try:
        assert compiled(X, value)[0] == id(value)
        del value
        assert known() is None
    finally:
        gc.enable()


def test_code_that_binds_a_method_does_not_keep_the_class() -> None:
    def program(x: gw.Tensor, value: object) -> object:
        y = x + 1
        return y, value.method  # type: ignore[attr-defined]

    frontend = Frontend(lambda module, examples: module)
    compiled = frontend.compile(program)

    def run() -> weakref.ref[type]:
        class Made:
            def method(self) -> int:
                return 3

        assert [compiled(X, Made())[1]() for _ in range(2)] == [3, 3]
        return weakref.ref(Made)

    known = run()
    gc.collect()
    assert known() is None
