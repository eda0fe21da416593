"""`del` of a global is a side effect like a write to it: no graph break, and seen by all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured, same

X = gw.arange(4.0)
EXISTING: Any
MADE: Any



def existing(x: Any) -> Any:
    global EXISTING
    y = x * EXISTING
    del EXISTING
    return y


def made_here(x: Any) -> Any:
    global MADE
    MADE = x + 1
    y = MADE * 2
    del MADE
    return y


def written_and_deleted(x: Any) -> Any:
    global EXISTING
    EXISTING = EXISTING + 1
    y = x * EXISTING
    del EXISTING
    return y


def deleted_and_written(x: Any) -> Any:
    global EXISTING
    before = EXISTING
    del EXISTING
    EXISTING = before * 2
    return x + EXISTING


def read_after(x: Any) -> Any:
    global EXISTING
    del EXISTING
    try:
        return x + EXISTING
    except NameError as error:
        return x * 2, str(error), error.name


def deleted_twice(x: Any) -> Any:
    global EXISTING
    del EXISTING
    try:
        del EXISTING
    except NameError as error:
        return x * 2, str(error)


def never_there(x: Any) -> Any:
    global MADE
    try:
        del MADE
    except NameError as error:
        return x * 2, str(error)


def helper() -> None:
    global EXISTING
    del EXISTING


def in_a_called_function(x: Any) -> Any:
    helper()
    return x * 2, "EXISTING" in globals()


WITHOUT_A_BREAK = [existing, made_here, written_and_deleted, deleted_and_written, read_after,
                   deleted_twice, never_there]


def outcomes(run: Callable[[Any], Any]) -> list[Any]:
    found: list[Any] = []
    for value in (2, 2, 3, None):
        globals().pop("EXISTING", None)
        if value is not None:
            globals()["EXISTING"] = value
        try:
            found.append(run(X))
        except NameError as error:
            found.append(str(error))
        found += [globals().get("EXISTING", "none"), globals().get("MADE", "none")]
    return found


@pytest.mark.parametrize("program", [*WITHOUT_A_BREAK, in_a_called_function])
def test_as_plain_python(program: Callable[[Any], Any]) -> None:
    assert same(outcomes(gw.compile(program)), outcomes(program))


@pytest.mark.parametrize("program", WITHOUT_A_BREAK)
def test_no_graph_break(program: Callable[[Any], Any]) -> None:
    captured = Captured(program)
    globals()["EXISTING"] = 2
    captured.compiled(X)
    assert (captured.graphs, captured.record.breaks) == (1, [])


def test_a_break_after_it_sees_it_deleted() -> None:
    def program(x: Any) -> Any:
        global EXISTING
        y = x * EXISTING
        del EXISTING
        there = eval("'EXISTING' in globals()")
        return y + 1, there

    assert same(outcomes(gw.compile(program)), outcomes(program))


def test_a_builtin_shows_again() -> None:
    def program(x: Any) -> Any:
        global len
        len = max
        first = len([1, 5])
        del len
        return x * len([1, 5, 3]), first  # noqa: F821

    assert same(gw.compile(program)(X), program(X))


def test_what_ends_with_it() -> None:
    """An object whose end the program sees ends there, before what follows."""
    log: list[str] = []

    class Seen:
        def __del__(self) -> None:
            log.append("end")

    def program(x: Any) -> Any:
        global EXISTING
        y = x + 1
        del EXISTING
        log.append("after")
        return y * 2

    for run in (program, gw.compile(program)):
        globals()["EXISTING"] = Seen()
        run(X)
        assert log == ["end", "after"]
        log.clear()
