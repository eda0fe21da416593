"""Arguments that get new values made of other elements of theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.nn import functional as F

Function = Callable[[gw.Tensor], Any]

CASES: dict[str, Function] = {
    "flipped": lambda x: x.copy_(x.flip(0)),
    "a view, flipped": lambda x: x[:2].copy_(x[:2].flip(0)),
    "turned": lambda x: x.copy_((x * 2).t()),
    "added, turned": lambda x: x.add_(x.flip(1).t()),
    "through a view": lambda x: x.t().sub_(x * 3),
    "shifted": lambda x: x.copy_(F.pad(x[1:], (0, 0, 0, 1))),
    "shifted, in part": lambda x: x[1:].copy_(x[:-1] * 1),
    "rolled": lambda x: x.copy_(x.roll(1, 0)),
    "one row": lambda x: x.copy_(x[1:2].expand(x.shape)),
    "backwards": lambda x: x.view(-1).copy_(x.reshape(-1).flip(0)),
    "also a result": lambda x: (z := x.flip(0) * 2, x.copy_(z), z.sum(), x.flip(1)),
    "twice": lambda x: x.copy_(x.flip(0)).mul_(x.triu().flip(1)),
    "less what it is on average": lambda x: x.sub_(x.mean(0)).div_(x.abs().amax(1, keepdim=True)),
}


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("name", CASES)
def test_compiled_as_plain(name: str, dynamic: bool | None) -> None:
    function = CASES[name]
    compiled = gw.compile(lambda x: function(x), dynamic=dynamic)
    for size in (2, 3, 2, 9):
        plain = gw.randn(size, size)
        given = plain.clone()
        found, expected = compiled(given), function(plain)
        gw.testing.assert_close(given, plain)
        gw.testing.assert_close(found, expected)
