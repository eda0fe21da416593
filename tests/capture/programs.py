"""Programs of one language feature each: run plainly and captured whole, then compared."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from graphwright.capture.exc import GraphBreakError, InternalCaptureError

from .captured import Captured
from .pictures import picture

Program = Callable[..., Any]


class Programs:
    """The programs of one test file, by decorator."""

    def __init__(self) -> None:
        self.all: list[Program] = []

    def __call__(self, function: Program) -> Program:
        self.all.append(function)
        return function


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The result or exception, and what became of the arguments."""
    try:
        result = function(*args)
    except (GraphBreakError, InternalCaptureError):
        raise
    except Exception as error:
        return "raised", type(error), str(error), picture(args)
    return picture((result, args))


def whole(program: Program, *args: Any) -> Captured:
    """One graph, without a break, that does what plain Python does (twice)."""
    captured = Captured(program, fullgraph=True)
    _compare(captured, args)
    assert not captured.breaks
    assert captured.graphs <= 1
    return captured


def sound(program: Program, *args: Any) -> Captured:
    """Whatever is captured of it, it does what plain Python does (twice)."""
    captured = Captured(program)
    _compare(captured, args)
    return captured


def _compare(captured: Captured, args: tuple[Any, ...]) -> None:
    for _ in range(2):
        expected = outcome(captured.function, copy.deepcopy(args))
        assert outcome(captured, copy.deepcopy(args)) == expected
