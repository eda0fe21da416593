"""What `id()` gives, looked up among numbers that came from elsewhere: it may be one of them."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured, check, same

X = gw.tensor([1.0, -2.0, 3.0])


class Plain:
    pass


def lookups(o: Any, n: int, d: dict[int, int], s: set[int]) -> Any:
    floats = {float(n): 1}
    return id(o) in d, d.get(id(o)), id(o) in s, floats.get(id(o))


def numbers_among_ids(o: Any, n: int, d: dict[int, int], s: set[int]) -> Any:
    return n in {id(o)}, n in {id(o): 1}, {id(o): 2}.get(n)


def literals(o: Any, n: int, d: dict[int, int], s: set[int]) -> Any:
    return len({id(o), n}), len({id(o): 1, n: 2}), len(dict.fromkeys([id(o), n]))


def operators(o: Any, n: int, d: dict[int, int], s: set[int]) -> Any:
    return len({id(o)} | s), len(s & {id(o)}), len(s - {id(o)}), len(s ^ {id(o)})


def comparisons(o: Any, n: int, d: dict[int, int], s: set[int]) -> Any:
    return {id(o)} == s, {id(o): 1} == d, {id(o): 1}.keys() <= s, {id(o): 1}.items() == d.items()


def methods(o: Any, n: int, d: dict[int, int], s: set[int]) -> Any:
    return s.isdisjoint([id(o)]), s.issubset({id(o)}), len({id(o): 3} | d)


def copies_that_change(o: Any, n: int, d: dict[int, int], s: set[int]) -> Any:
    kept, left = dict(d), set(s)
    kept[id(o)] = 5
    left.discard(id(o))
    return len(kept), len(left), dict(d).pop(id(o), None), collections.Counter([id(o), n])[n]


LOOKUPS: list[Callable[..., Any]] = [
    lookups, numbers_among_ids, literals, operators, comparisons, methods, copies_that_change,
]


@pytest.mark.parametrize("function", LOOKUPS, ids=lambda function: function.__name__)
def test_an_id_may_be_a_number_from_elsewhere(function: Callable[..., Any]) -> None:
    def program(x: gw.Tensor, o: Any, n: int, d: dict[int, int], s: set[int]) -> Any:
        y = x + 1
        return y, function(o, n, d, s)

    known, other = Plain(), Plain()
    n = id(known)
    captured = Captured(program)
    for o in (known, other, known, other):
        assert same(captured(X, o, n, {n: 1}, {n}), program(X, o, n, {n: 1}, {n}))


def test_ids_among_ids_and_names_need_no_break() -> None:
    def program(x: gw.Tensor, a: Any, b: Any) -> Any:
        seen: dict[Any, int] = {id(a): 1, "name": 2}
        sizes = {3: x.shape[0]}
        return x * sizes[3], id(b) in seen, id(a) in seen, len({id(a), id(b)})

    check(program, X, Plain(), Plain(), graphs=1)
