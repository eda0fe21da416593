"""Kinds of change between calls of containers, and of what stands in two places."""

from __future__ import annotations

import collections
import types
from collections.abc import Iterator

import pytest

from .matrix import Case, Cases, Step, tensor

case = Cases()
X = tensor(3, 4)
Y = tensor(3, 4, seed=1)


@case
def dict_subclass() -> Iterator[Step]:
    class Table(dict):
        pass

    table = Table(scale=2)

    def f(x):
        return x * table["scale"]

    yield f, (X,)
    table["scale"] = 3
    yield f, (X,)
    Table.__getitem__ = lambda self, key: 4
    yield f, (X,)


@case
def missing_of_a_dict_subclass() -> Iterator[Step]:
    class Table(dict):
        def __missing__(self, key):
            return 2

    table = Table()

    def f(x):
        return x * table["scale"]

    yield f, (X,)
    Table.__missing__ = lambda self, key: 3
    yield f, (X,)
    table["scale"] = 4
    yield f, (X,)


@case
def list_subclass() -> Iterator[Step]:
    class Scales(list):
        pass

    scales = Scales([2, 3])

    def f(x):
        return x * scales[0] + len(scales)

    yield f, (X,)
    scales.append(1)
    yield f, (X,)
    Scales.__len__ = lambda self: 9
    yield f, (X,)


@case
def default_factory() -> Iterator[Step]:
    def f(x, table):
        return x * table["scale"]

    yield f, lambda: (X, collections.defaultdict(lambda: 2))
    yield f, lambda: (X, collections.defaultdict(lambda: 3))
    yield f, lambda: (X, collections.defaultdict(int))
    yield f, lambda: (X, collections.defaultdict(int, scale=5))


@case
def deque_and_its_length() -> Iterator[Step]:
    queue = collections.deque([1, 2], maxlen=3)

    def f(x):
        return x * sum(queue) + len(queue)

    yield f, (X,)
    queue.append(3)
    yield f, (X,)
    queue.append(4)
    yield f, (X,)
    queue.rotate(1)
    queue[0] = 9
    yield f, (X,)


@case
def counter_and_chain_map() -> Iterator[Step]:
    counter = collections.Counter("aab")
    chain = collections.ChainMap({"a": 1}, {"b": 2})

    def f(x):
        return x * counter["a"] + chain["b"]

    yield f, (X,)
    counter["a"] = 5
    yield f, (X,)
    chain.maps[0]["b"] = 7
    yield f, (X,)


@case
def keys_that_are_equal_but_not_the_same() -> Iterator[Step]:
    table = {1: 2}

    def f(x):
        return [x * value + (type(key) is bool) for key, value in table.items()]

    yield f, (X,)
    table.clear()
    table[True] = 2
    yield f, (X,)
    table.clear()
    table[1.0] = 2
    yield f, (X,)


@case
def shared_and_separate_containers() -> Iterator[Step]:
    def f(x, a, b):
        a.append(1)
        return x * len(b)

    yield f, lambda: (X, [1], [1])

    def shared():
        items = [1]
        return X, items, items

    yield f, shared
    yield f, lambda: (X, [1], [1])


@case
def list_in_two_places() -> Iterator[Step]:
    def f(x, a, b):
        a["items"].append(2)
        return x * sum(b.items)

    def separate():
        return X, {"items": [1]}, types.SimpleNamespace(items=[1])

    def shared():
        items = [1]
        return X, {"items": items}, types.SimpleNamespace(items=items)

    yield f, separate
    yield f, shared
    yield f, separate


@case
def object_in_two_places() -> Iterator[Step]:
    def f(x, a, b):
        a.scale = 5
        return x * b.scale

    def separate():
        return X, types.SimpleNamespace(scale=2), types.SimpleNamespace(scale=2)

    def shared():
        thing = types.SimpleNamespace(scale=2)
        return X, thing, thing

    yield f, separate
    yield f, shared
    yield f, separate


@case
def tensor_in_two_places() -> Iterator[Step]:
    def f(x, table):
        table["y"].add_(1)
        return x * 2

    def separate():
        return tensor(3, 4), {"y": tensor(3, 4)}

    def shared():
        x = tensor(3, 4)
        return x, {"y": x}

    def view():
        x = tensor(3, 4)
        return x, {"y": x.view(3, 4)}

    for make in (separate, shared, view, separate):
        yield f, make


@pytest.mark.parametrize("steps", case.all, ids=lambda c: c.__name__)
def test_nothing_is_stale(steps: Case) -> None:
    case.check(steps)
