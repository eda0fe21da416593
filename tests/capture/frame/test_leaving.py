"""An exception that leaves a function keeps its locals, as its one frame does in plain Python."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured


class Ended:
    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log = name, log

    def __del__(self) -> None:
        self.log.append(f"{self.name} ends")


def fails(log: list[str], key: str) -> None:
    log.append(f"{key} is raised")
    raise KeyError(key)


fails.__gw_disable__ = True  # type: ignore[attr-defined]


def unhandled(x: Any, log: list[str]) -> Any:
    y = x + 1
    made = Ended("made", log)
    try:
        fails(log, "k")
    except IndexError:
        return y * 2
    return made


def behind_what_cleans_up(x: Any, log: list[str]) -> Any:
    y = x + 1
    made = Ended("made", log)
    try:
        fails(log, "k")
    finally:
        log.append(str(y.shape))
    return made


def raised_in_a_handler(x: Any, log: list[str]) -> Any:
    y = x + 1
    try:
        fails(log, "first")
    except KeyError as error:
        made = Ended("made", log)
        log.append(str(y.shape))
        fails(log, "second")
        return made, error


def made_by_a_handler_that_raises_again(x: Any, log: list[str]) -> Any:
    y = x + 1
    try:
        fails(log, "k")
    except KeyError:
        made = Ended("made", log)
        log.append(f"{made.name} {y.shape}")
        raise


def let_go_by_a_handler(x: Any, log: list[str]) -> Any:
    y = x + 1
    made, other = Ended("made", log), Ended("other", log)
    try:
        fails(log, "k")
    finally:
        del made
        other = None
        log.append(f"{other} {y.shape}")


def through_managers(x: Any, log: list[str]) -> Any:
    y = x + 1
    with contextlib.suppress(IndexError), gw.no_grad():
        made = Ended("made", log)
        with contextlib.suppress(ValueError):
            y = y * 2
            fails(log, "k")
    return y, made


def through_breaks_in_handlers(x: Any, log: list[str]) -> Any:
    y = x + 1
    first = Ended("first", log)
    try:
        try:
            fails(log, "k")
        finally:
            second = Ended("second", log)
            with contextlib.suppress(KeyError):
                fails(log, "within")
            y = y * 2
    finally:
        log.append(f"{first.name} {second.name} {y.shape}")


def of_each_call_that_recurses(x: Any, log: list[str], depth: int = 2) -> Any:
    y = x + 1
    made = Ended(f"{depth}", log)
    try:
        if not depth:
            fails(log, "k")
        of_each_call_that_recurses(y, log, depth - 1)
    finally:
        log.append(f"leaves {made.name}")


PROGRAMS: list[Callable[..., Any]] = [
    unhandled, behind_what_cleans_up, raised_in_a_handler, made_by_a_handler_that_raises_again,
    let_go_by_a_handler, through_managers, through_breaks_in_handlers, of_each_call_that_recurses,
]


def outcome(function: Callable[..., Any], program: Callable[..., Any],
            collect: bool = False) -> list[Any]:
    """What happens until somebody handles the exception, and as its frames go.

    collect: garbage is collected last: a call that captures may leave cycles.
    """
    log: list[str] = []
    try:
        function(gw.ones(2, 3), log)
    except KeyError as error:
        error.__context__ = None
        log.append(f"caught {error}")
        held = list(locals_held(error, program))
    if collect:
        gc.collect()
    log.append("gone")
    return [held, log]


def locals_held(error: KeyError, program: Callable[..., Any]) -> Iterator[list[str]]:
    """The names of what ends visibly in each of a function's frames in the traceback."""
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_code.co_name == program.__name__:
            found = {v.name for v in frame.f_locals.values() if isinstance(v, Ended)}
            yield sorted(found)
        traceback = traceback.tb_next


@pytest.mark.parametrize("tensorless", [False, True])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_locals_end_with_the_traceback(program: Callable[..., Any], tensorless: bool) -> None:
    """Whether what follows the graph breaks is captured, or runs natively."""
    expected = outcome(program, program)
    captured = Captured(program, tensorless=tensorless)
    assert outcome(captured, program, collect=True) == expected
    assert [outcome(captured, program) for _ in range(2)] == [expected] * 2
    assert captured.graphs
