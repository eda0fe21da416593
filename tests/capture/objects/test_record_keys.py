"""Frozen dataclasses as keys of dicts: found by their fields, whoever made them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import graphwright as gw

from ..captured import Captured, same

X = gw.arange(4.0)


@dataclass(frozen=True)
class Part:
    """A field of a key that is itself a record."""

    n: int


@dataclass(frozen=True)
class Key:
    """A key with fields of several kinds, one of which does not count."""

    n: int
    part: Part = Part(1)
    dtype: Any = gw.float32
    note: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class OtherKey(Key):
    """Never equal to a Key."""


def test_existing_dicts_are_read_by_keys_that_the_frame_makes() -> None:
    table = {Key(3): 2.0, Key(4, Part(2), gw.float64): gw.ones(4)}

    def f(x: Any) -> Any:
        found = table[Key(4, Part(2), gw.float64, note=x)]
        return x * table[Key(3)] + found, Key(4) in table, table.get(OtherKey(3), 5)

    captured = Captured(f)
    assert same(captured(X), (X * 2 + 1, False, 5))
    table[Key(4)] = 7.0
    table[OtherKey(3)] = 8.0
    assert same(captured(X), (X * 2 + 1, True, 8.0))
    assert captured.breaks == []


def test_keys_that_the_frame_makes_are_keys_afterwards() -> None:
    table: dict[Key, Any] = {}

    def f(x: Any, n: int) -> Any:
        key = Key(n)
        if key not in table:
            table[key] = x * n
        return x + table[Key(n)], [known.n for known in table]

    captured = Captured(f)
    assert same(captured(X, 2), (X * 3, [2]))
    assert same(captured(X, 2), (X * 3, [2]))
    assert same(captured(X + 1, 3), ((X + 1) * 4, [2, 3]))
    assert list(table) == [Key(2), Key(3)] and same(table[Key(2)], X * 2)
    assert captured.breaks == []


def test_equal_keys_of_one_dict_are_one() -> None:
    def f(x: Any) -> Any:
        made = {Key(1): x, Key(2): x * 2, Key(1): x * 3}
        del made[Key(2)]
        return made

    captured = Captured(f)
    assert list(captured(X)) == [Key(1)] and same(captured(X)[Key(1)], X * 3)
    assert captured.breaks == []


def test_a_key_that_was_changed_behind_its_back_is_not_found() -> None:
    key = Key(3)
    table = {key: 2.0}
    captured = Captured(lambda x: x * table.get(Key(3), 5.0))
    assert same(captured(X), X * 2)
    object.__setattr__(key, "n", 4)
    assert same(captured(X), X * 5)


def test_records_with_hashes_of_their_own_are_left_to_python() -> None:
    @dataclass(frozen=True)
    class Odd:
        n: int

        def __hash__(self) -> int:
            return self.n % 2

    table = {Odd(1): 2.0}
    captured = Captured(lambda x: x * table[Odd(1)])
    assert same(captured(X), X * 2)
    assert captured.breaks == ["GB0008"]
