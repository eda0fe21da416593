"""Idioms of user code with the standard library and `gw.func`, each in one graph."""

from __future__ import annotations

import bisect
import collections
import collections.abc
import functools
import heapq
import os
import re
from typing import Any

import numpy
import pytest

import graphwright as gw

from ..captured import Captured
from ..pictures import picture
from ..programs import Programs, whole

program = Programs()
WORD = re.compile(r"[a-z]+")


@program
def heaps(x: Any) -> Any:
    heap = [5, 3, 8, 1, 9, 2]
    heapq.heapify(heap)
    least = [heapq.heappop(heap) for _ in range(3)]
    heapq.heappush(heap, 4)
    heapq.heappush(heap, 0)
    numbers = heapq.heappushpop(heap, 1), heapq.heapreplace(heap, 7)
    rows: list[Any] = []
    for place, row in enumerate(x):
        heapq.heappush(rows, (-place, row))
    try:
        heapq.heappop([])
    except IndexError as error:
        text = str(error)
    return rows[0][1] * numbers[0], heap, least, heapq.nsmallest(2, [3, 1, 2]), text


@program
def sorted_lists(x: Any) -> Any:
    values = [1, 3, 3, 5]
    places = bisect.bisect(values, 3), bisect.bisect_left(values, 3)
    bisect.insort(values, 4)
    bisect.insort_left(values, 0, key=lambda value: value)
    return x * places[0], places, values


class Table(collections.abc.MutableMapping[str, Any]):
    """A mapping with the five methods that the mixin needs."""

    def __init__(self, **values: Any) -> None:
        self.values_ = values

    def __getitem__(self, key: str) -> Any:
        return self.values_[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.values_[key] = value

    def __delitem__(self, key: str) -> None:
        del self.values_[key]

    def __iter__(self) -> Any:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)


class Row(collections.abc.Sequence[Any]):
    """A sequence with the two methods that the mixin needs."""

    def __init__(self, *items: Any) -> None:
        self.items = items

    def __getitem__(self, place: Any) -> Any:
        return self.items[place]

    def __len__(self) -> int:
        return len(self.items)


def taking(a: Any = 0, **rest: Any) -> Any:
    return a, rest


@program
def mappings_by_mixin(x: Any) -> Any:
    table = Table(a=x)
    table.update(b=2, c=3)
    taken = table.pop("c"), table.get("z", 4), table.setdefault("d", 5), "a" in table
    copies = {**table}, dict(table), taking(**table)
    del table["a"]
    return x * table["b"], taken, list(table.keys()), copies, 5 in table.values()


@program
def sequences_by_mixin(x: Any) -> Any:
    row = Row(1, 2, 3, 2)
    facts = 2 in row, row.index(2), row.count(2), list(reversed(row)), row.index(2, 2), [*row]
    try:
        row.index(7)
    except ValueError:
        return x * len(row), facts


@program
def environment(x: Any) -> Any:
    known = os.environ.get("GRAPHWRIGHT_NOT_SET"), os.getenv("GRAPHWRIGHT_NOT_SET", "7")
    return x * int(known[1]), known, "GRAPHWRIGHT_NOT_SET" in os.environ


def scaled(x: Any, factor: int = 2) -> Any:
    """Scaled."""
    return x * factor


@program
def decorators_in_the_frame(x: Any) -> Any:
    def annotated(y: Any, *, factor: int = 3) -> Any:
        return y * factor

    results = []
    for function in (scaled, annotated):

        @functools.wraps(function)
        def wrapped(*args: Any, function: Any = function) -> Any:
            return function(*args) + 1

        results += [wrapped(x), wrapped.__name__, wrapped.__doc__, list(wrapped.__annotations__)]
    return results


@program
def gradients_of_functions(x: Any) -> Any:
    def loss(y: Any) -> Any:
        return (y**2).sum()

    grads, value = gw.func.grad_and_value(loss)(x)
    result, pull_back = gw.func.vjp(gw.sin, x)
    second = gw.func.grad(lambda y: gw.func.grad(loss)(y).sum())(x)
    return gw.func.grad(loss)(x), grads, value, pull_back(gw.ones_like(result)), second


@program
def gradients_of_parts(x: Any) -> Any:
    def loss(weights: Any, y: Any) -> Any:
        return (weights["w"] * y + weights["b"]).sum(), y.shape

    weights = {"w": x * 2, "b": x}
    return gw.func.grad(loss, has_aux=True)(weights, x)


@program
def paths_and_patterns(x: Any) -> Any:
    name = os.path.join("data", "set", "part.1.txt")
    root, ending = os.path.splitext(os.path.basename(name))
    found = re.search(r"(\d+)\.(?P<kind>\w+)$", name)
    assert found is not None
    words = re.split(r"\W+", name), re.sub("[aeiou]", "_", root), re.findall(r"\d", name)
    scale = int(found.group(1)) + len(WORD.findall(name))
    return x * scale, root, ending, found["kind"], found.span(), words, os.path.dirname(name)


@program
def limits_of_numpy(x: Any) -> Any:
    kind = numpy.dtype("float32")
    least, most = numpy.finfo(kind).min, numpy.iinfo(numpy.int16).max
    return x.clamp(float(least), most) + numpy.finfo(numpy.float64).eps, kind.itemsize, kind.name


@program
def dicts_from_keys(x: Any) -> Any:
    plain = dict.fromkeys(["a", "b"], x)
    ordered = collections.OrderedDict.fromkeys("ba", value=1)
    return plain["b"] + 1, plain, ordered, collections.defaultdict.fromkeys([1, True, 2], 3)


@pytest.mark.parametrize("program", program.all, ids=lambda p: p.__name__)
def test_in_one_graph(program: Any) -> None:
    whole(program, gw.randn(2, 3))


def test_changes_of_the_environment_are_noticed(monkeypatch: Any) -> None:
    captured = Captured(environment, fullgraph=True)
    x = gw.ones(2)
    for value in (None, "3", "4"):
        if value is not None:
            monkeypatch.setenv("GRAPHWRIGHT_NOT_SET", value)
        assert picture(captured(x)) == picture(environment(x))


def test_a_gradient_that_reaches_others_keeps_its_history() -> None:
    w = gw.ones(3, requires_grad=True)

    def program(x: Any) -> Any:
        return gw.func.grad(lambda y: (y * w).sum())(x)

    x = gw.randn(3)
    captured = Captured(program, fullgraph=True)
    assert captured(x).requires_grad == program(x).requires_grad is True


NEIGHBOUR = """
class Pair:
    def __init__(self, first, second):
        self.first, self.second = first, second

def scaled(x):
    return Pair(x, x * 2)
"""


@pytest.mark.parametrize("name", ["graphwright_utils", "graphwrightx"])
def test_modules_whose_names_begin_like_the_library_are_the_users(name: str) -> None:
    file = os.path.join(os.path.dirname(os.path.dirname(gw.__file__)), f"{name}.py")
    module: dict[str, Any] = {"__name__": name}
    exec(compile(NEIGHBOUR, file, "exec"), module)
    pair = gw.compile(module["scaled"], fullgraph=True)(gw.ones(2))
    assert type(pair) is module["Pair"] and pair.second.tolist() == [2, 2]
