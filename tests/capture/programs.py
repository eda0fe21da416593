"""Programs of one language feature each: run plainly and captured whole, then compared."""

from __future__ import annotations

import collections
import copy
from collections.abc import Callable
from typing import Any

import graphwright as gw
from graphwright.capture.exc import GraphBreakError, InternalCaptureError

from .captured import Captured

Program = Callable[..., Any]
ATOMS = (int, float, complex, bool, str, bytes, type(None), range, slice, type(Ellipsis))


class Programs:
    """The programs of one test file, by decorator."""

    def __init__(self) -> None:
        self.all: list[Program] = []

    def __call__(self, function: Program) -> Program:
        self.all.append(function)
        return function


def picture(value: Any, seen: dict[int, int] | None = None) -> Any:
    """Types, structure, values and which parts are one object, in comparable form."""
    seen = {} if seen is None else seen
    if type(value) in ATOMS:
        return type(value).__name__, repr(value)
    if id(value) in seen and not isinstance(value, tuple):
        return "again", seen[id(value)]
    seen[id(value)] = len(seen)
    kind = type(value)
    if isinstance(value, gw.Tensor):
        numbers = value.detach().tolist()
        return "tensor", str(value.dtype), tuple(value.shape), value.requires_grad, repr(numbers)
    if isinstance(value, (set, frozenset)):
        return kind, tuple(picture(item, seen) for item in value)
    if isinstance(value, dict):
        items = tuple((picture(k, seen), picture(v, seen)) for k, v in value.items())
        return kind, items, _state(value, seen)
    if isinstance(value, (list, tuple, collections.deque)):
        bound = getattr(value, "maxlen", None)
        return kind, bound, tuple(picture(item, seen) for item in value), _state(value, seen)
    if isinstance(value, BaseException):
        return kind, picture(value.args, seen), str(value), _state(value, seen)
    if type(kind) is type and "__dict__" in dir(value) and not callable(value):
        return kind.__qualname__, _state(value, seen)
    if hasattr(kind, "__slots__"):
        slots = {name: getattr(value, name) for name in kind.__slots__ if hasattr(value, name)}
        return kind.__qualname__, picture(slots, seen)
    return (kind.__qualname__,)


def _state(value: Any, seen: dict[int, int]) -> Any:
    state = getattr(value, "__dict__", None)
    return [(name, picture(part, seen)) for name, part in state.items()] if state else None


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
