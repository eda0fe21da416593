"""Objects that containers and attributes hold end where Python ends them."""

from __future__ import annotations

import collections
import enum
import gc
import operator
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.capture.trackers.containers.mappings import DictVariable

from ..captured import Captured
from ..ends import ENDED, Box, Noisy, Plain, breaks, check, started


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


PROGRAMS: list[Callable[..., Any]] = [
    taken_out_of_a_dict, overwritten_in_a_dict, popped_from_a_list, a_list_that_is_cleared,
    a_slice_that_is_replaced, the_left_end_of_a_deque, an_attribute_that_is_set,
    an_attribute_that_is_deleted, an_attribute_that_a_called_function_sets, a_global,
    within_an_object_that_is_let_go, moved_from_a_container_to_a_local, used_once,
    a_function_that_nobody_calls_again, a_set_that_nobody_reads_again,
    a_list_that_holds_the_only_one, a_function_that_was_made_here,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_ends_are_seen_where_python_has_them(program: Callable[..., Any]) -> None:
    check(program)


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


class State(enum.Enum):
    IDLE = 1
    BUSY = 2


class Machine:
    def __init__(self) -> None:
        self.state = State.IDLE
        self.seen = {"first": State.IDLE, "last": State.IDLE}


def advanced(x: Any, machine: Machine, state: State) -> Any:
    match state:
        case State.IDLE:
            y = x + 1
        case State.BUSY:
            y = x * 2
    machine.state = State.BUSY if machine.state is State.IDLE else State.IDLE
    machine.seen["last"] = machine.state
    return y


def test_functions_of_modules_stay_with_them() -> None:
    def program(x: Any, machine: Any) -> Any:
        machine.apply = operator.mul if machine.apply is operator.add else operator.add
        machine.table["f"] = machine.apply
        return machine.apply(x, 3)

    captured, machine = Captured(program), Box()
    machine.apply, machine.table = operator.add, {"f": operator.add}
    assert [captured(gw.ones(1), machine).item() for _ in range(4)] == [3, 4, 3, 4]
    assert machine.table == {"f": operator.add} and captured.breaks == []


def test_members_of_enumerations_stay_with_their_class() -> None:
    """Whatever refers to them weakly, as guards do: no break where one is let go of."""
    captured, machine, plain = Captured(advanced), Machine(), Machine()
    for state in (State.IDLE, State.BUSY, State.BUSY, State.IDLE):
        found, expected = captured(gw.ones(1), machine, state), advanced(gw.ones(1), plain, state)
        assert found.item() == expected.item() and vars(machine) == vars(plain)
    assert captured.breaks == []
