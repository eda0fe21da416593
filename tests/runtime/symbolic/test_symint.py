"""SymInt and ShapeEnv: what is decided from bounds, and what is guarded."""

import pytest

from graphwright.runtime.symbolic.shape_env import ShapeEnv, Unguarded
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


def test_an_equality_gives_a_symbol_its_value() -> None:
    env = ShapeEnv()
    n, m = env.create_symbol(5), env.create_symbol(2)
    assert 2 * n - 4 == 6 and str(n) == "5"
    k = env.create_symbol(3)
    assert k - m == 1
    assert (str(k), str(m)) == ("s1 + 1", "s1"), "both are at least 2 still"


def test_an_expression_that_gives_no_symbol_is_the_number_that_it_equals() -> None:
    env = ShapeEnv()
    n, m = env.create_symbol(3), env.create_symbol(3)
    assert n // 2 == 1
    assert isinstance(n // 2, int) and str(n) == "s0"
    assert m // 2 == 1 and n == m and isinstance(m // 2, int)
    k, j = env.create_symbol(7), env.create_symbol(6)
    assert k // 3 == 2 and k - j == 1 and str(k) == "s3 + 1"
    assert str((j + 1) // 3 + 5) == "7"


def test_comparisons_with_floats_are_those_of_integers() -> None:
    env = ShapeEnv()
    n = env.create_symbol(5)
    assert isinstance(n, SymInt)
    assert n < float("inf") and n != float("-inf") and n != 2.5 and n != float("nan")
    assert len(env.guards) == 1
    assert n > 4.5 and n < 5.5 and n >= 4.5 and n <= 5.5
    assert [str(g) for g in env.guards[1:]] == ["s0 > 4", "s0 < 6", "s0 >= 5", "s0 <= 5"]


def test_operators_without_expressions_take_the_value() -> None:
    env = ShapeEnv()
    n, m = env.create_symbol(9), env.create_symbol(7)
    assert isinstance(n, SymInt) and isinstance(m, SymInt)
    assert n**0.5 == 3.0 and n * 0.5 == 4.5 and 0.5 - n == -8.5
    assert str(env.guards[-1]) == "s0 == 9"
    assert m & 1 == 1 and m | 8 == 15 and m >> 1 == 3 and 3 & m == 3
    assert str(env.guards[-1]) == "s1 == 7"


def test_int_and_hash_specialise() -> None:
    env = ShapeEnv()
    n = env.create_symbol(5)
    assert {5: "five"}[n] == "five"
    assert str(env.guards[-1]) == "s0 == 5"
    assert n * 3 == 15 and isinstance(n * 3, int)
    assert list(range(env.create_symbol(3))) == [0, 1, 2]


def test_a_closed_environment_assumes_only_what_is_guarded() -> None:
    env = ShapeEnv()
    n, m = env.create_symbol(5), env.create_symbol(7)
    assert n < 6 and m > n
    guards = [str(g) for g in env.guards]
    with env.closed():
        assert n < 6 and n != 1 and not n >= 6
        with pytest.raises(Unguarded, match="s1 < 9"):
            _ = m < 9
    assert [str(g) for g in env.guards] == guards
    assert m < 9 and len(env.guards) == len(guards) + 1


def test_what_follows_from_guards_by_what_is_known_is_no_assumption() -> None:
    env = ShapeEnv()
    n, m = env.create_symbol(5), env.create_symbol(7)
    assert n < m and m == 7
    with env.closed():
        assert n < 7
