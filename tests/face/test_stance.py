"""Recompile limit and stances."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

import graphwright as gw
from graphwright.compiler import RecompileError, set_stance


@pytest.fixture(autouse=True)
def default_stance() -> Iterator[None]:
    yield
    set_stance("default")


def scaled(x: gw.Tensor, name: str) -> gw.Tensor:
    if gw.compiler.is_compiling():
        return x * len(name)
    return x * len(name) + 1000


def plain(value: gw.Tensor) -> bool:
    return value[0].item() > 500


X = gw.ones(3)


def test_the_limit_is_eight_then_one_warning_with_reasons() -> None:
    compiled = gw.compile(scaled, backend="eager")
    names = ["a" * n for n in range(1, 12)]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        results = [plain(compiled(X, name)) for name in names]
        assert results == [False] * 8 + [True] * 3
        assert not any(plain(compiled(X, name)) for name in names[:8])
    assert len(told) == 1 and told[0].category is RuntimeWarning
    text = str(told[0].message)
    assert f"scaled ({__file__}:{scaled.__code__.co_firstlineno}) was compiled 8 times" in text
    assert "name: expected 'a', got 'aaaaaaaaa'" in text
    assert told[0].filename == __file__
    stats = gw.compiler.stats(compiled)
    assert (stats.graphs, stats.fallbacks, stats.recompiles) == (8, 1, 8)


def test_the_limit_is_an_option() -> None:
    compiled = gw.compile(scaled, backend="eager", options={"recompile_limit": 1})
    assert not plain(compiled(X, "a"))
    with pytest.warns(RuntimeWarning, match="compiled 1 times"):
        assert plain(compiled(X, "bb"))
    for wrong in (0, "8", True):
        with pytest.raises(ValueError, match="recompile_limit"):
            gw.compile(scaled, options={"recompile_limit": wrong})


def test_force_eager_runs_nothing_compiled() -> None:
    compiled = gw.compile(scaled, backend="eager")
    assert not plain(compiled(X, "a"))
    with set_stance("force_eager"):
        assert plain(compiled(X, "a")) and plain(compiled(X, "b"))
    assert not plain(compiled(X, "a"))
    assert gw.compiler.stats(compiled).graphs == 1


def test_eager_on_recompile_uses_what_there_is() -> None:
    compiled = gw.compile(scaled, backend="eager")
    with set_stance("eager_on_recompile"):
        assert not plain(compiled(X, "a"))
        assert plain(compiled(X, "b"))
        assert not plain(compiled(X, "a"))
    assert not plain(compiled(X, "b"))


def test_fail_on_recompile_raises_with_the_expression_and_both_values() -> None:
    compiled = gw.compile(scaled, backend="eager", options={"recompile_limit": 2})
    compiled(X, "a")
    with set_stance("fail_on_recompile"):
        assert not plain(compiled(X, "a"))
        with pytest.raises(RecompileError, match="name: expected 'a', got 'bb'"):
            compiled(X, "bb")
    compiled(X, "bb")
    with set_stance("fail_on_recompile"), pytest.raises(RecompileError):
        compiled(X, "ccc")
    with pytest.warns(RuntimeWarning, match="compiled 2 times"):
        assert plain(compiled(X, "ccc"))
    with set_stance("fail_on_recompile"):
        for _ in range(2):
            with pytest.raises(RecompileError):
                compiled(X, "dddd")


def test_as_a_function_it_stays_until_the_next() -> None:
    compiled = gw.compile(scaled, backend="eager")
    set_stance("force_eager")
    assert plain(compiled(X, "a"))
    set_stance("default")
    assert not plain(compiled(X, "a"))


def test_stances_nest_and_come_back_after_errors() -> None:
    compiled = gw.compile(scaled, backend="eager")
    with pytest.raises(KeyError), set_stance("force_eager"):
        with set_stance("default"):
            assert not plain(compiled(X, "a"))
        assert plain(compiled(X, "a"))
        raise KeyError
    assert not plain(compiled(X, "a"))


def test_a_stance_set_by_captured_code_counts_at_once() -> None:
    def f(x: gw.Tensor) -> tuple[gw.Tensor, gw.Tensor]:
        first = scaled(x, "a")
        with set_stance("force_eager"):
            second = scaled(x, "a")
        return first, second

    first, second = gw.compile(f, backend="eager")(X)
    assert not plain(first) and plain(second)


def test_unknown_stances() -> None:
    with pytest.raises(ValueError, match="unknown stance 'fast'; there are default, force_eager"):
        set_stance("fast")
