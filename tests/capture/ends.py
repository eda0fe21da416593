"""Programs whose objects' ends can be seen, and what had ended by the time of the result."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import graphwright as gw

from .captured import Captured

ENDED: list[str] = []


class Noisy:
    k = 2

    def __del__(self) -> None:
        ENDED.append("end")


class Plain:
    k = 3


class Box:
    held: Any = None


def breaks() -> None:
    pass


breaks.__gw_disable__ = True  # type: ignore[attr-defined]


def waiting(log: list[Any]) -> Iterator[int]:
    try:
        yield 1
    finally:
        log.append("closed")


def started(log: list[Any]) -> Iterator[int]:
    made = waiting(log)
    next(made)
    return made


def outcome(function: Callable[..., Any]) -> tuple[str, list[Any], list[str]]:
    """The result, and what had ended by then without the help of the collector of cycles."""
    log: list[Any] = []
    gc.collect()
    gc.disable()
    ENDED.clear()
    try:
        result = repr(function(gw.ones(2, 3), log))
    except (KeyError, RuntimeError) as error:
        result = repr(error)
    seen = result, list(log), list(ENDED)
    gc.enable()
    return seen


def check(program: Callable[..., Any]) -> None:
    """What ends, and when, is what plain Python shows, at the first call and later."""
    captured = Captured(program)
    expected = outcome(program)
    assert [outcome(captured) for _ in range(3)] == [expected] * 3
    assert captured.graphs
