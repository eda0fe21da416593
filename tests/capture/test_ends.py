"""Objects end where Python ends them: `finally` blocks, `__del__` and weakrefs tell when."""

from __future__ import annotations

import asyncio
import collections
import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import graphwright as gw
from graphwright.capture.variables.mappings import DictVariable

from .captured import Captured

ENDED: list[str] = []


class Noisy:
    k = 2

    def __del__(self) -> None:
        ENDED.append("end")


class Plain:
    k = 3


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


class Box:
    held: Any = None


def taken_out_of_a_dict(x: Any, log: list[Any]) -> Any:
    table = {"a": started(log)}
    breaks()
    y = x + 1
    del table["a"]
    log.append("after")
    return y * 2


def overwritten_in_a_dict(x: Any, log: list[Any]) -> Any:
    table = {"a": started(log), "b": started(log)}
    breaks()
    y = x + 1
    table["a"] = 1
    log.append("between")
    table.update(b=2)
    log.append("after")
    return y * 2


def popped_from_a_list(x: Any, log: list[Any]) -> Any:
    items = [1, started(log)]
    breaks()
    y = x + 1
    items.pop()
    log.append("after")
    return y * 2


def a_list_that_is_cleared(x: Any, log: list[Any]) -> Any:
    items = [1, Noisy()]
    breaks()
    y = x + 1
    items.clear()
    log.append(list(ENDED))
    return y * 2


def a_slice_that_is_replaced(x: Any, log: list[Any]) -> Any:
    items = [1, Noisy(), 2]
    breaks()
    y = x + 1
    items[1:2] = []
    log.append(list(ENDED))
    return y * 2


def the_left_end_of_a_deque(x: Any, log: list[Any]) -> Any:
    items = collections.deque([Noisy(), 2])
    breaks()
    y = x + 1
    items.popleft()
    log.append(list(ENDED))
    return y * 2


def an_attribute_that_is_set(x: Any, log: list[Any]) -> Any:
    box = Box()
    box.held = Noisy()
    breaks()
    y = x + 1
    box.held = None
    log.append(list(ENDED))
    return y * 2


def an_attribute_that_is_deleted(x: Any, log: list[Any]) -> Any:
    box = Box()
    box.held = [Noisy()]
    breaks()
    y = x + 1
    del box.held
    log.append(list(ENDED))
    return y * 2


def emptied(box: Any, log: list[Any]) -> None:
    box.held = None
    log.append(list(ENDED))


def an_attribute_that_a_called_function_sets(x: Any, log: list[Any]) -> Any:
    box = Box()
    box.held = Noisy()
    breaks()
    y = x + 1
    emptied(box, log)
    log.append("after")
    return y * 2


GLOBAL: Any = None


def a_global(x: Any, log: list[Any]) -> Any:
    global GLOBAL
    GLOBAL = Noisy()
    breaks()
    y = x + 1
    GLOBAL = None
    log.append(list(ENDED))
    return y * 2


def within_an_object_that_is_let_go(x: Any, log: list[Any]) -> Any:
    box, items = Box(), [[Noisy()]]
    box.held = {"a": started(log)}
    breaks()
    y = x + 1
    box = None
    log.append("between")
    items = None
    log.append(list(ENDED))
    return y * 2, box, items


def moved_from_a_container_to_a_local(x: Any, log: list[Any]) -> Any:
    table = {"a": Noisy()}
    breaks()
    y = x + 1
    value = table.pop("a")
    log.append(list(ENDED))
    value = None
    log.append(list(ENDED))
    return y * 2, value


def used_once(x: Any, log: list[Any]) -> Any:
    y = x * Noisy().k
    log.append(list(ENDED))
    return y * 2


def a_function_that_nobody_calls_again(x: Any, log: list[Any]) -> Any:
    made = lambda: x  # noqa: E731
    known = weakref.ref(made)
    y = x + 1
    breaks()
    log.append(known() is None)
    return y


def a_set_that_nobody_reads_again(x: Any, log: list[Any]) -> Any:
    made = {1, 2}
    known = weakref.ref(made)
    y = x + 1
    breaks()
    log.append(known() is None)
    return y


def a_list_that_holds_the_only_one(x: Any, log: list[Any]) -> Any:
    made = [Plain(), Plain()]
    known = weakref.ref(made[1])
    y = x + 1
    breaks()
    log.append(known() is None)
    return y


def a_function_that_was_made_here(x: Any, log: list[Any]) -> Any:
    def made() -> None: ...

    known = weakref.ref(made)
    y = x + 1
    breaks()
    del made
    log.append(known() is None)
    return y * 2


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


failed.__gw_disable__ = True  # type: ignore[attr-defined]


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


class Watched(asyncio.Future[Any]):
    note: Any


class Asked:
    k = 4

    def method(self) -> int:
        return self.k


def bound(made: Asked) -> Any:
    return made.method


bound.__gw_disable__ = True  # type: ignore[attr-defined]


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
    rebound, deleted, in_a_loop, in_a_handler, on_the_way_out, in_a_failing_operation,
    beside_a_generator_that_is_closed, noisy, watched, among_many_names,
    beside_a_missing_attribute, beside_an_iterator_that_ends, in_a_cell,
    taken_out_of_a_dict, overwritten_in_a_dict, popped_from_a_list, a_list_that_is_cleared,
    a_slice_that_is_replaced, the_left_end_of_a_deque, an_attribute_that_is_set,
    an_attribute_that_is_deleted, an_attribute_that_a_called_function_sets, a_global,
    within_an_object_that_is_let_go, moved_from_a_container_to_a_local, used_once,
    where_a_graph_fails, where_the_graph_of_a_called_function_fails,
    a_function_that_nobody_calls_again, a_set_that_nobody_reads_again,
    a_list_that_holds_the_only_one, found_again_under_another_name, a_key_of_a_dict,
    found_again_through_a_weakref, a_function_that_was_made_here,
    a_future_whose_attributes_lie_in_no_dict_that_can_be_read,
    in_frames_of_a_handled_exception, in_frames_of_an_exception_without_a_name,
    in_frames_of_an_exception_that_an_object_keeps, in_frames_of_a_cause,
    in_the_frame_that_called_those_of_an_exception,
    in_frames_of_an_exception_that_a_manager_handles, in_a_container_of_a_frame_that_fails,
    in_the_order_of_locals, in_the_order_of_locals_where_it_fails,
]


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


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_ends_are_seen_where_python_has_them(program: Callable[..., Any]) -> None:
    captured = Captured(program)
    expected = outcome(program)
    assert [outcome(captured) for _ in range(3)] == [expected] * 3
    assert captured.graphs


def test_a_capture_that_gives_up_holds_nothing() -> None:
    """The reasons of breaks come through frames that hold the user's objects."""
    captured = Captured(beside_what_cannot_leave_the_graph, dynamic=True)
    expected = outcome(beside_what_cannot_leave_the_graph)
    assert [outcome(captured) for _ in range(3)] == [expected] * 3


def test_places_of_plain_values_change_without_a_break() -> None:
    def program(x: Any, items: list[Any], table: dict[str, Any], box: Any) -> Any:
        y = x + 1
        items.pop()
        items[0] = y
        table["a"] = items
        del table["b"]
        box.held = y
        return y

    def run(function: Callable[..., Any]) -> list[Any]:
        box = Box()
        box.held = [1]
        items, table = [1, "2", gw.ones(2)], {"a": 1, "b": box.held}
        function(gw.ones(2), items, table, box)
        return [len(items), list(table), table["a"] is items, items[0] is box.held]

    captured = Captured(program)
    assert run(captured) == run(program) == [2, ["a"], True, True]
    assert captured.breaks == []


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


def test_what_a_dict_held_is_noted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at each of its changes, which would take the square of their number."""
    looked = []
    parts = DictVariable.parts

    def counted(self: DictVariable) -> Any:
        looked.append(self)
        return parts(self)

    def fill(x: gw.Tensor, table: dict[int, int]) -> gw.Tensor:
        for i in range(100):
            table[i] = i
        return x + 1

    monkeypatch.setattr(DictVariable, "parts", counted)
    table: dict[int, int] = {}
    Captured(fill)(gw.ones(2), table)
    assert len(table) == 100
    assert len(looked) < 20


class NoisyDict(dict[str, int]):
    def __del__(self) -> None:
        ENDED.append("end")


class NoisyList(list[int]):
    def __del__(self) -> None:
        ENDED.append("end")


@pytest.mark.parametrize("kind", [NoisyDict, NoisyList])
def test_containers_of_other_classes_end_without_the_collector(kind: type) -> None:
    """What looked at one in a capture, and what it holds, does not keep each other."""

    def function() -> list[str]:
        made = kind()
        made.attribute = 1
        del made
        ENDED.append("after")
        return list(ENDED)

    captured = Captured(function, tensorless=True)
    gc.disable()
    try:
        for _ in range(2):
            ENDED.clear()
            assert captured() == ["end", "after"]
    finally:
        gc.enable()
        ENDED.clear()
