"""Objects end where Python ends them: `finally` blocks, `__del__` and weakrefs tell when."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured
from ..ends import ENDED, Noisy, Plain, breaks, check, outcome, started, waiting


def rebound(x: Any, log: list[Any]) -> Any:
    made = started(log)
    y = x + 1
    breaks()
    made = None
    log.append("after")
    return y * 2, made


def deleted(x: Any, log: list[Any]) -> Any:
    y = x + 1
    made = started(log)
    breaks()
    del made
    log.append("after")
    return y * 2


def in_a_loop(x: Any, log: list[Any]) -> Any:
    y = x + 1
    for i in range(3):
        made = started(log)
        log.append(i)
        breaks()
        y = y * 2
    log.append("after")
    return y, type(made)


def beside_a_generator_that_is_closed(x: Any, log: list[Any]) -> Any:
    """Closing raises GeneratorExit, whose traceback would hold the frame."""
    made = Noisy()
    y = x * made.k

    def echo() -> Iterator[Any]:
        yield y

    other = echo()
    log.append(next(other).shape)
    other.close()
    made = None
    log.append(list(ENDED))
    return y, made


def in_a_cell(x: Any, log: list[Any]) -> Any:
    y = x + 1
    made = started(log)

    def use() -> Any:
        return made

    breaks()
    made = None
    log.append("after")
    return y * 2, use()


def noisy(x: Any, log: list[Any]) -> Any:
    y, made = x + 1, Noisy()
    z = y * made.k
    breaks()
    made = None
    log.append(list(ENDED))
    return z * 2, made


def watched(x: Any, log: list[Any]) -> Any:
    made = Plain()
    seen = weakref.ref(made)
    y = x + 1
    breaks()
    log.append(seen().k)
    made = None
    log.append(seen() is None)
    return y * 2, made


def among_many_names(x: Any, log: list[Any]) -> Any:
    p = q = a = b = c = d = e = f = g = h = i = j = k = m = n = 0
    y = x + 1
    breaks()
    p, q = waiting(log), waiting(log)
    log.append([next(p), next(q)])
    breaks()
    p, q = a, b
    log.append((p, q))
    return y * 2, c, d, e, f, g, h, i, j, k, m, n


def beside_what_cannot_leave_the_graph(x: Any, log: list[Any]) -> None:
    made = waiting(log)
    next(made, None) if hasattr(made, "send") else None
    leaf = x.detach().clone().requires_grad_()
    leaf.register_hook(lambda grad: grad * 2)


class Counting:
    """An iterator in Python."""

    def __init__(self, most: int) -> None:
        self.left = most

    def __iter__(self) -> Counting:
        return self

    def __next__(self) -> int:
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return self.left


def beside_an_iterator_that_ends(x: Any, log: list[Any]) -> Any:
    made = Noisy()
    y = x * made.k
    if y.sum() > sum(Counting(2)):
        y = y - 1
    made = None
    log.append(list(ENDED))
    return y, made


def beside_a_missing_attribute(x: Any, log: list[Any]) -> Any:
    made = started(log)
    breaks()
    y = x + 1
    try:
        log.append(made.missing)
    except AttributeError:
        log.append(hasattr(made, "missing"))
    try:
        log.append(Plain().missing)
    except AttributeError as error:
        log.append(str(error))
    return y * 2


def in_a_block_while_the_frame_is_held(x: Any, log: list[Any]) -> Any:
    """What a debugger holds is the frame of before the break; its locals go on in another one."""
    made = started(log)
    y = x + 1
    with contextlib.nullcontext():
        held = callers_frame()
        made = None
        log.append("after")
    return y * 2, made, held is None


def callers_frame() -> Any:
    return sys._getframe(1)


callers_frame.__gw_disable__ = True  # type: ignore[attr-defined]


class Watched(asyncio.Future[Any]):
    note: Any


class Asked:
    k = 4

    def method(self) -> int:
        return self.k


def bound(made: Asked) -> Any:
    return made.method


def found_again_under_another_name(x: Any, log: list[Any]) -> Any:
    """What a broken call gave holds the local, which is known as its attribute from then on."""
    made = Asked()
    known = weakref.ref(made)
    breaks()
    y = x + 1
    _ = bound(made).__self__
    _ = made.k
    breaks()
    log.append(known() is None)
    return y


def found_again_through_a_weakref(x: Any, log: list[Any]) -> Any:
    made = Plain()
    known = weakref.ref(made)
    breaks()
    y = x + 1
    log.append(known() is made)
    del made
    log.append(known() is None)
    return y


def a_key_of_a_dict(x: Any, log: list[Any]) -> Any:
    made = Plain()
    known = weakref.ref(made)
    breaks()
    y = x + len({made: 1})
    breaks()
    del made
    log.append(known() is None)
    return y


def a_future_whose_attributes_lie_in_no_dict_that_can_be_read(x: Any, log: list[Any]) -> Any:
    loop = asyncio.new_event_loop()
    made = Watched(loop=loop)
    loop.close()
    breaks()
    y = x + 1
    made.note = y
    return y * 2, made.note


PROGRAMS: list[Callable[..., Any]] = [
    rebound, deleted, in_a_loop, beside_a_generator_that_is_closed, noisy, watched,
    among_many_names, beside_a_missing_attribute, beside_an_iterator_that_ends, in_a_cell,
    in_a_block_while_the_frame_is_held, found_again_under_another_name, a_key_of_a_dict,
    found_again_through_a_weakref,
    a_future_whose_attributes_lie_in_no_dict_that_can_be_read,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_ends_are_seen_where_python_has_them(program: Callable[..., Any]) -> None:
    check(program)


def test_a_capture_that_gives_up_holds_nothing() -> None:
    """The reasons of breaks come through frames that hold the user's objects."""
    captured = Captured(beside_what_cannot_leave_the_graph, dynamic=True)
    expected = outcome(beside_what_cannot_leave_the_graph)
    assert [outcome(captured) for _ in range(3)] == [expected] * 3


def test_names_of_plain_values_are_bound_anew_without_a_break() -> None:
    def program(x: Any, items: list[int], table: dict[str, int]) -> Any:
        y = x + 1
        items = list(items)
        table = None
        x = y * len(items)
        del y
        return x, items, table

    captured = Captured(program)
    assert captured.agrees(gw.ones(2), [1, 2], {"a": 1})
    assert captured.breaks == []
