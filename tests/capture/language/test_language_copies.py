"""Copies of objects whose classes say how they are read, copied or taken apart."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured
from ..pictures import picture
from ..programs import Programs, sound, whole

whole_program = Programs()
broken_program = Programs()
READS: list[str] = []


class Config:
    """Attributes with other names, as configurations of models have them."""

    attribute_map = {"width": "hidden"}  # noqa: RUF012

    def __init__(self, hidden: int, inner: Any = None) -> None:
        self.hidden = hidden
        self.inner = inner
        self.labels = ["a"]

    def __setattr__(self, name: str, value: Any) -> None:
        names = super().__getattribute__("attribute_map")
        super().__setattr__(names.get(name, name), value)

    def __getattribute__(self, name: str) -> Any:
        if name != "attribute_map" and name in super().__getattribute__("attribute_map"):
            name = super().__getattribute__("attribute_map")[name]
        return super().__getattribute__(name)


class Watched:
    """Notes what is read of it."""

    def __init__(self) -> None:
        self.items = [1]

    def __getattribute__(self, name: str) -> Any:
        READS.append(name)
        return object.__getattribute__(self, name)


class Asked:
    """Notes what is not there."""

    def __init__(self) -> None:
        self.items = [1]

    def __getattr__(self, name: str) -> Any:
        READS.append(name)
        raise AttributeError(name)


class Endless:
    """Looks for its own contents in a copy that has none yet."""

    def __init__(self) -> None:
        self.held = {"value": 1}

    def __getattr__(self, name: str) -> Any:
        return self.held[name]


class Copying:
    """Copies itself, and is part of itself."""

    def __init__(self) -> None:
        self.own = self
        self.items = [1]

    def __deepcopy__(self, memo: Any) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        made = Copying.__new__(Copying)
        memo[id(self)] = made
        for name, value in self.__dict__.items():
            setattr(made, name, copy.deepcopy(value, memo))
        return made


class Stateful:
    """Leaves something out of its state."""

    def __init__(self) -> None:
        self.value = [1]
        self.lock: Any = None

    def __getstate__(self) -> Any:
        state = self.__dict__.copy()
        del state["lock"]
        return state

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)
        self.lock = "new"


class Resetting:
    """Is given its `__dict__` itself as the state of a shallow copy."""

    def __init__(self) -> None:
        self.value = 1

    def __setstate__(self, state: Any) -> None:
        state["given"] = 5
        self.__dict__.update(state)


class Slotted:
    __slots__ = ("__dict__", "__hidden", "first")


class Below(Slotted):
    __slots__ = ("second",)

    def __init__(self) -> None:
        self.first = [1]
        self.second = 2
        self.third = [3]


class Reduced:
    """Is made again by a call, then filled."""

    def __init__(self, *args: Any) -> None:
        self.args = args
        self.items: list[Any] = []
        self.pairs: dict[Any, Any] = {}

    def append(self, item: Any) -> None:
        self.items.append(item)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.pairs[key] = value

    def __reduce__(self) -> Any:
        return Reduced, ([1], 2), {"state": [4]}, iter([[5], 6]), iter([("k", [7])])


class Named:
    """Is what a name stands for."""

    def __reduce_ex__(self, protocol: Any) -> str:
        return "named"


class Table(dict[str, Any]):
    """A dict whose items are attributes, and which wraps what it is given."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, [value])


class Rows(list[Any]):
    """A list that wraps what is appended."""

    def append(self, value: Any) -> None:
        super().append((value,))


class Newly:
    def __new__(cls, value: int) -> Any:
        made = super().__new__(cls)
        made.value = value  # type: ignore[attr-defined]
        return made

    def __getnewargs__(self) -> tuple[int]:
        return (self.value + 1,)  # type: ignore[attr-defined]


CONFIG = Config(4, Config(3))
WATCHED, ASKED, ENDLESS, COPYING, STATEFUL = Watched(), Asked(), Endless(), Copying(), Stateful()
RESETTING, BELOW, REDUCED, NAMED = Resetting(), Below(), Reduced(), Named()
TABLE, ROWS = Table(a=1, b=[2]), Rows([1, [2]])
HOOKED: Any = Resetting()
HOOKED.__deepcopy__ = lambda memo: "by the object"


@whole_program
def configurations(x: Any) -> Any:
    deep, shallow = copy.deepcopy(CONFIG), copy.copy(CONFIG)
    deep.width = 9  # type: ignore[attr-defined]
    deep.inner.hidden += 1
    deep.labels.append("b")
    kept = CONFIG.width, CONFIG.labels, CONFIG.inner.hidden  # type: ignore[attr-defined]
    return x * deep.hidden, kept, deep.inner.hidden, shallow.labels is CONFIG.labels


@whole_program
def configuration_of_the_frame(x: Any) -> Any:
    made = Config(2)
    copied = copy.deepcopy(made)
    copied.width = 5  # type: ignore[attr-defined]
    return x * made.hidden + copied.hidden


@whole_program
def what_is_asked_of_objects(x: Any) -> Any:
    found = []
    for value in (WATCHED, ASKED):
        for copied in (copy.deepcopy, copy.copy):
            READS.clear()
            copied(value)
            found.append(list(READS))
    return x + 1, found


@whole_program
def objects_that_copy_themselves(x: Any) -> Any:
    first, second = copy.deepcopy([COPYING, COPYING])
    same = first is second, first.own is first
    return x + 1, same, first is COPYING, first.items is COPYING.items


@whole_program
def hook_of_an_object(x: Any) -> Any:
    return x + 1, copy.deepcopy(HOOKED), copy.deepcopy([1], None)


@whole_program
def states(x: Any) -> Any:
    deep, shallow = copy.deepcopy(STATEFUL), copy.copy(STATEFUL)
    own = Resetting()
    reset = copy.copy(own)
    same = deep.value is STATEFUL.value, shallow.value is STATEFUL.value
    return x + 1, deep.lock, shallow.lock, same, own.__dict__, reset.__dict__


@whole_program
def slots(x: Any) -> Any:
    deep, shallow = copy.deepcopy(BELOW), copy.copy(BELOW)
    same = deep.first is BELOW.first, deep.third is BELOW.third, shallow.first is BELOW.first
    return x * deep.second, same, deep.__dict__, hasattr(deep, "_Slotted__hidden")


@whole_program
def objects_that_are_reduced(x: Any) -> Any:
    deep, shallow = copy.deepcopy(REDUCED), copy.copy(REDUCED)
    counted = copy.copy(Counter("aab"))
    named = copy.copy(NAMED) is NAMED, copy.deepcopy(NAMED) is NAMED
    return x * counted["a"], deep.__dict__, shallow.__dict__, named


@whole_program
def containers_of_the_program(x: Any) -> Any:
    deep, shallow, rows = copy.deepcopy(TABLE), copy.copy(TABLE), copy.deepcopy(ROWS)
    deep.b[0].append(1)
    return x + len(rows), dict(deep), dict(shallow), list(rows), type(rows) is Rows, dict(TABLE)


@broken_program
def copy_that_never_ends(x: Any) -> Any:
    try:
        return x + copy.copy(ENDLESS).value
    except RecursionError:
        return x - 1


@broken_program
def object_made_by_its_own_new(x: Any) -> Any:
    return x * copy.copy(Newly(1)).value


@broken_program
def memo_of_the_program(x: Any) -> Any:
    memo: dict[int, Any] = {}
    items = [1]
    return x + 1, copy.deepcopy(items, memo), id(items) in memo


@pytest.mark.parametrize("program", whole_program.all, ids=lambda p: p.__name__)
def test_in_one_graph(program: Any) -> None:
    whole(program, gw.randn(2, 3))


@pytest.mark.parametrize("program", broken_program.all, ids=lambda p: p.__name__)
def test_copied_by_plain_python(program: Any) -> None:
    assert sound(program, gw.randn(2, 3)).breaks


def copied_config(x: Any) -> Any:
    return x + 1, copy.deepcopy(CONFIG).__dict__


def copied_state(x: Any) -> Any:
    return x + 1, copy.copy(STATEFUL).__dict__


CHANGES = [
    (copied_config, CONFIG, "more", 3),
    (copied_config, Config, "__deepcopy__", lambda self, memo: Resetting()),
    (copied_config, Config, "__reduce__", lambda self: (Resetting, ())),
    (copied_config, Config, "__setstate__", lambda self, state: None),
    (copied_state, Stateful, "__getstate__", lambda self: {"other": 1}),
    (copied_state, Stateful, "__getattr__", lambda self, name: 1),
    (copied_state, Stateful, "__copy__", lambda self: Resetting()),
]


@pytest.mark.parametrize(("program", "owner", "name", "value"), CHANGES)
def test_what_says_how_to_copy_is_guarded(
    program: Any, owner: Any, name: str, value: Any, monkeypatch: Any
) -> None:
    captured, x = Captured(program), gw.ones(2)
    assert picture(captured(x)) == picture(program(x))
    monkeypatch.setattr(owner, name, value, raising=False)
    assert picture(captured(x)) == picture(program(x))
