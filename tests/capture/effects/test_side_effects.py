"""Writes to what existed before, and objects made in the frame: as plain Python leaves them."""

from __future__ import annotations

import collections
import copy
from types import SimpleNamespace

import pytest

import graphwright as gw

from ..captured import Captured, same

X = gw.ones(2, 3)
REGISTER: dict[str, object] = {}
HISTORY: list[object] = []


class Node:
    limit = 5

    def __init__(self, value):
        self.value = value
        self.next = None

    @property
    def doubled(self):
        return self.value * 2

    @doubled.setter
    def doubled(self, v):
        self.value = v / 2


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = 1


def mutate_list(x, state):
    values = state.items
    values.append(x * 2)
    values[0] = 7
    del values[1]
    values += [3]
    values.insert(0, "first")
    return x + len(values)


def mutate_dict(x, state):
    table = state.table
    table["new"] = x + 1
    table["k"] = 9
    removed = table.pop("gone")
    table.setdefault("gone", removed + 1)
    return x * table["k"]


def mutate_ordered(x, state):
    state.ordered["z"] = 1
    state.ordered.pop("a")
    state.ordered["a"] = x * 2
    state.counts["missing"].append(3)
    return x * len(state.ordered)


def mutate_set(x, state):
    state.seen.add(3)
    state.seen.discard(1)
    return x * len(state.seen)


def write_attributes(x, state):
    state.node.value = x * 3
    state.node.extra = [state.node.value]
    state.node.doubled = x
    state.slotted.b = 4
    del state.node.next
    return x * state.slotted.b + state.node.doubled


def build_cycle(x, state):
    first, second = Node(x * 2), Node(2)
    first.next, second.next = second, first
    state.node = first
    return first.next.next is first, first.value + second.value


def alias(x, state):
    shared = [x * 2]
    state.left = shared
    state.right = shared
    shared.append(1)
    return shared


def through_globals(x, state):
    HISTORY.append(x.shape)
    REGISTER["last"] = len(HISTORY)
    return x * len(HISTORY)


def setattr_by_name(x, state):
    for name in ("p", "q"):
        setattr(state, name, x * 2)
    return state.p + hasattr(state, "r")


def in_place_on_an_input(x, state):
    state.tensor.add_(1)
    state.tensor[0] = 5
    return state.tensor * 2


def input_is_returned(x, state):
    y = x * 2
    return x, state.tensor, y, [y, y]


def mutable_default(x, state, log=[]):  # noqa: B006
    log.append(1)
    return x * len(log)


PROGRAMS = [
    mutate_list, mutate_dict, mutate_ordered, mutate_set, write_attributes, build_cycle, alias,
    setattr_by_name, in_place_on_an_input, input_is_returned,
]  # fmt: skip


def state():
    slotted = Slotted()
    return SimpleNamespace(
        items=[1, 2, X], table={"k": 1, "gone": 2}, seen={1, 2}, node=Node(1), slotted=slotted,
        ordered=collections.OrderedDict(a=1, b=2), counts=collections.defaultdict(list),
        tensor=gw.zeros(2),
    )  # fmt: skip


def contents(value, known):
    """A comparable picture of an object graph, cycles included."""
    if isinstance(value, gw.Tensor):
        return value.tolist()
    if id(value) in known:
        return known[id(value)]
    known[id(value)] = len(known)
    if isinstance(value, (list, tuple)):
        return [contents(item, known) for item in value]
    if isinstance(value, dict):
        return [(key, contents(item, known)) for key, item in value.items()]
    if isinstance(value, Slotted):
        return [getattr(value, name, None) for name in Slotted.__slots__]
    if hasattr(value, "__dict__"):
        return type(value), contents(vars(value), known)
    return value


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_effects(program):
    captured = Captured(program)
    plain_state, state_ = state(), state()
    for _ in range(2):
        expected, actual = program(X, plain_state), captured(X, state_)
        assert contents([expected, plain_state], {}) == contents([actual, state_], {})
        plain_state, state_ = state(), state()
    assert captured.graphs == 1
    assert not captured.breaks


def test_identity_of_containers_is_kept():
    captured, before = Captured(mutate_list), state()
    items = before.items
    captured(X, before)
    assert before.items is items


def test_aliases_stay_aliases():
    captured, made = Captured(alias), state()
    result = captured(X, made)
    assert made.left is made.right is result


def test_inputs_are_returned_as_they_are():
    captured, made = Captured(input_is_returned), state()
    x, tensor, y, pair = captured(X, made)
    assert x is X and tensor is made.tensor and pair[0] is pair[1] is y


def test_globals_containers():
    captured = Captured(through_globals)
    HISTORY.clear()
    for n in range(1, 4):
        assert same(captured(X, None), X * n)
    assert [X.shape] * 3 == HISTORY and REGISTER["last"] == 3


def test_mutable_default():
    captured = Captured(mutable_default)
    plain = [mutable_default(X, None) for _ in range(3)]
    mutable_default.__defaults__[0].clear()
    assert same([captured(X, None) for _ in range(3)], plain)


def test_functions_that_leave_the_frame():
    def outer(x, k=3):
        total = x * 2

        def add(y, *, scale=k):
            nonlocal total
            total = total + y * scale
            return total

        return add, total, lambda: total

    captured = Captured(outer)
    add, first, read = captured(X)
    plain_add, plain_first, plain_read = outer(X)
    assert same(first, plain_first)
    for value in (X, X * 3):
        assert same(add(value), plain_add(value))
        assert same(read(), plain_read())
    assert add.__name__ == "add" and add.__kwdefaults__ == {"scale": 3}


def test_cells_of_enclosing_functions():
    def make():
        count = 0

        def step(x):
            nonlocal count
            count += 1
            return x * count

        return step, lambda: count

    step, count = make()
    captured = Captured(step)
    for n in range(1, 5):
        assert same(captured(X), X * n)
        assert count() == n


def test_grad_mode_survives():
    def off(x):
        gw.set_grad_enabled(False)
        return x * 2

    captured = Captured(off)
    x = gw.ones(2).requires_grad_()
    try:
        assert not captured(x).requires_grad
        assert not gw.is_grad_enabled()
    finally:
        gw.set_grad_enabled(True)
    assert captured(x) is not None
    assert not gw.is_grad_enabled()
    gw.set_grad_enabled(True)


def test_no_grad_inside_of_the_graph():
    def mixed(x, w):
        with gw.no_grad():
            scale = (x * w).sum()
        return (x * w * scale).sum()

    captured = Captured(mixed)
    w = gw.ones(2, 3).requires_grad_()
    plain = gw.ones(2, 3).requires_grad_()
    captured(X, w).backward()
    mixed(X, plain).backward()
    assert same(w.grad, plain.grad)
    assert captured.graphs == 1


def test_deepcopied_state_is_independent():
    captured, made = Captured(mutate_dict), state()
    other = copy.deepcopy(made.table)
    captured(X, made)
    assert other == {"k": 1, "gone": 2}
