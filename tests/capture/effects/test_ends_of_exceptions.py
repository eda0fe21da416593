"""Objects in frames that an exception passes through end where Python ends them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ..ends import ENDED, Box, Noisy, breaks, check, started


def in_a_handler(x: Any, log: list[Any]) -> Any:
    """The traceback of the exception keeps the frame that raised it."""
    y = x + 1
    try:
        made = started(log)
        breaks()
        raise KeyError("k")
    except KeyError as error:
        made = None
        log.append(error.args)
    return y * 2, made


def on_the_way_out(x: Any, log: list[Any]) -> Any:
    y = x + 1
    try:
        made = started(log)
        y = y * 2
        raise KeyError(str(y.shape))
    finally:
        log.append("finally")
        del made
        log.append("after")


def in_a_failing_operation(x: Any, log: list[Any]) -> Any:
    y = x + 1
    log.append(type(started(log)))
    made = started(log)
    return y.view(7), made


def where_a_graph_fails(x: Any, log: list[Any]) -> Any:
    made = Noisy()
    breaks()
    try:
        y = x.index_select(0, (x * 9).long())
    except (IndexError, RuntimeError):
        made = None
        log.append(list(ENDED))
        return x
    return y, made


def where_the_graph_of_a_called_function_fails(x: Any, log: list[Any]) -> Any:
    def picked(value: Any, *rest: Any, by: int, **more: Any) -> Any:
        made = Noisy()
        breaks()
        try:
            y = value.index_select(0, (value * 9).long())
        except (IndexError, RuntimeError):
            made = None
            log.append((list(ENDED), rest, by, more))
            return value
        return y, made

    breaks()
    return picked(x, 1, 2, by=4, other=3)


def failing(log: list[Any], key: str) -> None:
    made = started(log)
    other = Noisy()
    breaks()
    log.append((type(made).__name__, type(other).__name__))
    raise KeyError(key)


def deeper(log: list[Any], key: str) -> None:
    made = Noisy()
    failing(log, key)
    del made


def seen(log: list[Any]) -> None:
    log.append((list(ENDED), log.count("closed")))


def in_frames_of_a_handled_exception(x: Any, log: list[Any]) -> Any:
    y = x + 1
    try:
        deeper(log, "k")
    except KeyError as error:
        log.append(error.args)
        seen(log)
    seen(log)
    return y * 2


def in_frames_of_an_exception_without_a_name(x: Any, log: list[Any]) -> Any:
    y = x + 1
    for key in "ab":
        try:
            deeper(log, key)
        except KeyError:
            seen(log)
            y = y * 2
        seen(log)
    return y * 2


def in_frames_of_an_exception_that_an_object_keeps(x: Any, log: list[Any]) -> Any:
    y, box = x + 1, Box()
    try:
        deeper(log, "k")
    except KeyError as error:
        box.held = error
    seen(log)
    y = y * 2
    box.held = None
    seen(log)
    return y * 2


def failed(held: Any) -> BaseException:
    """An exception whose frames hold no values, and know the one that called this."""
    try:
        raise KeyError("k")
    except KeyError as error:
        del held
        return error


def in_the_frame_that_called_those_of_an_exception(x: Any, log: list[Any]) -> Any:
    made = Noisy()
    y = (x + 1).relu()
    error = failed([made])
    log.append(type(made).__name__)
    y = (y * 2).relu()
    breaks()
    del made
    seen(log)
    return y, error


def in_frames_of_a_cause(x: Any, log: list[Any]) -> Any:
    y = x + 1
    try:
        try:
            deeper(log, "k")
        except KeyError as error:
            raise ValueError("v") from error
    except ValueError as error:
        y = y * 2
        seen(log)
        error.__cause__ = error.__context__ = None
        seen(log)
    return y * 2


class Swallowing:
    def __init__(self, log: list[Any]) -> None:
        self.log = log

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> bool:
        seen(self.log)
        return True


def in_frames_of_an_exception_that_a_manager_handles(x: Any, log: list[Any]) -> Any:
    y = x + 1
    with Swallowing(log):
        deeper(log, "k")
    seen(log)
    return y * 2


def in_a_container_of_a_frame_that_fails(x: Any, log: list[Any]) -> Any:
    def filled() -> None:
        made = {"a": [Noisy()]}
        breaks()
        raise KeyError(len(made))

    y = x + 1
    try:
        filled()
    except KeyError:
        seen(log)
    seen(log)
    return y * 2


class Named(Noisy):
    def __init__(self, name: str) -> None:
        self.name = name

    def __del__(self) -> None:
        ENDED.append(self.name)


def in_the_order_of_locals(x: Any, log: list[Any]) -> Any:
    b = Named("b")
    y = x * b.k
    a = Named("a")
    c = Named("c")
    log.append((b.k, a.k, c.k))
    return y * 2


def in_the_order_of_locals_where_it_fails(x: Any, log: list[Any]) -> Any:
    y = x + 1
    b = Named("b")
    log.append(b.k)
    a = Named("a")
    raise KeyError((y.shape, a.k))


PROGRAMS: list[Callable[..., Any]] = [
    in_a_handler, on_the_way_out, in_a_failing_operation, where_a_graph_fails,
    where_the_graph_of_a_called_function_fails, in_frames_of_a_handled_exception,
    in_frames_of_an_exception_without_a_name, in_frames_of_an_exception_that_an_object_keeps,
    in_frames_of_a_cause, in_the_frame_that_called_those_of_an_exception,
    in_frames_of_an_exception_that_a_manager_handles, in_a_container_of_a_frame_that_fails,
    in_the_order_of_locals, in_the_order_of_locals_where_it_fails,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_ends_are_seen_where_python_has_them(program: Callable[..., Any]) -> None:
    check(program)
