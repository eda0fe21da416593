"""SymInt and ShapeEnv: what is decided from bounds, and what is guarded."""

from graphwright.runtime.symbolic.shape_env import ShapeEnv
from graphwright.runtime.symbolic.symint import SymInt


def test_arithmetic_keeps_expressions_and_assumes_nothing() -> None:
    env = ShapeEnv()
    n = env.create_symbol(12)
    assert isinstance(n, SymInt)
    assert str(n * 4 + 2) == "4*s0 + 2"
    assert str(2 * (n // 3)) == "2*(s0//3)"
    assert n - n == 0 and isinstance(n - n, int)
    assert [str(g) for g in env.guards] == ["s0 >= 2"]


def test_zero_and_one_are_literals() -> None:
    env = ShapeEnv()
    assert env.create_symbol(1) == 1 and isinstance(env.create_symbol(1), int)
    assert isinstance(env.create_symbol(0), int)
    assert env.guards == []


def test_comparisons_decided_by_bounds_are_not_guarded() -> None:
    env = ShapeEnv()
    n = env.create_symbol(5)
    assert n != 1 and n > 0 and n * 2 >= 4 and n
    assert len(env.guards) == 1


def test_comparisons_of_values_are_guarded_once() -> None:
    env = ShapeEnv()
    n, m = env.create_symbol(5), env.create_symbol(7)
    assert n < m and n < m and n * 2 != m
    assert [str(g) for g in env.guards[2:]] == ["s0 < s1", "2*s0 != s1"]


def test_an_equality_unifies_symbols() -> None:
    env = ShapeEnv()
    n, m = env.create_symbol(5), env.create_symbol(5)
    assert n == m
    assert str(m * 2) == "2*s0"
    assert [str(g) for g in env.guards[2:]] == ["s1 == s0"] or str(env.guards[2]) == "s0 == s1"


def test_int_and_hash_specialise() -> None:
    env = ShapeEnv()
    n = env.create_symbol(5)
    assert {5: "five"}[n] == "five"
    assert str(env.guards[-1]) == "s0 == 5"
    assert n * 3 == 15 and isinstance(n * 3, int)
    assert list(range(env.create_symbol(3))) == [0, 1, 2]
