"""Operators between instances of random classes: the methods that Python asks, in its order."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

from ..randomly.operands import Operands, shown

PER_SEED = 12


def outcome(function: Callable[..., Any], calls: list[Any]) -> tuple[str, list[Any]]:
    """What a call gives or raises, and which methods were asked."""
    calls.clear()
    try:
        result = shown(function(gw.ones(2))[0])
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    return result, list(calls)


@pytest.mark.fuzz(30)
@pytest.mark.filterwarnings("ignore:graphwright:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:.*NotImplemented:DeprecationWarning")
def test_random_operands(seed: int) -> None:
    """Each seed draws four classes and some expressions; each is run twice captured."""
    operands = Operands(random.Random(f"operands/{seed}"))
    for _ in range(PER_SEED):
        text = f"{operands.world}\n\n{operands.function()}"
        world: dict[str, Any] = {"__name__": "operands"}
        try:
            exec(compile(text, "<operands>", "exec"), world)
        except TypeError:       # two bases that do not go together, hashes that are none
            continue
        plain = outcome(world["f"], world["CALLS"])
        if " at 0x" in plain[0]:
            continue
        compiled = gw.compile(world["f"], backend="eager")
        for _ in range(2):
            assert outcome(compiled, world["CALLS"]) == plain, text
