"""Names of arguments that PyTorch's functions have, beside those of the methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

X = gw.arange(6.0)

SAME: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "split": (
        lambda: gw.split(tensor=X, split_size_or_sections=[2, 4]),
        lambda: gw.split(X, [2, 4]),
    ),
    "size of split": (lambda: gw.split(X, split_size_or_sections=4), lambda: X.split(4)),
    "pow": (lambda: [gw.pow(self=2, exponent=X)], lambda: [gw.pow(2, X)]),
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("compiled", [False, True])
def test_second_names(name: str, compiled: bool) -> None:
    by_name, by_place = SAME[name]
    found = gw.compile(by_name, fullgraph=True)() if compiled else by_name()
    assert [part.tolist() for part in found] == [part.tolist() for part in by_place()]


@pytest.mark.parametrize("compiled", [False, True])
def test_bounds_of_numbers_drawn_in_place(compiled: bool) -> None:
    def draw() -> list[Any]:
        x = gw.zeros(20)
        return [
            x.clone().random_(to=5),
            x.clone().random_(**{"from": 7, "to": 9}),
            x.clone().uniform_(to=0.25),
            x.clone().uniform_(**{"from": 2.0, "to": 3.0}),
        ]

    found = (gw.compile(draw, fullgraph=True) if compiled else draw)()
    limits = [(0, 4), (7, 8), (0.0, 0.25), (2.0, 3.0)]
    for values, (low, high) in zip(found, limits, strict=True):
        assert low <= values.min().item() <= values.max().item() <= high


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: X.clone().uniform_(start=1), "unexpected keyword argument 'start'"),
        (lambda: X.clone().uniform_(1.0, **{"from": 2.0}), "both 'from_' and 'from'"),
        (lambda: X.clone().random_(2.5), "a bound must be int, not float"),
        (lambda: gw.split(X, 2, tensor=X), "both 'input' and 'tensor'"),
        (lambda: gw.split(split_size_or_sections=2), "missing 1 required .* 'input'"),
        (lambda: gw.pow(X), "missing 1 required .* 'exponent'"),
    ],
)
def test_wrong_names_are_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()
