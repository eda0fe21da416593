"""Idioms of user code around containers: keys of all kinds, dicts with attributes, failures."""

from __future__ import annotations

import collections
import copy
import enum
import keyword
import operator
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn

from ..captured import Captured
from ..programs import Programs, whole

program = Programs()


class Mode(enum.Enum):
    """Plain members."""

    TRAIN = "train"
    EVAL = "eval"


class Level(enum.IntEnum):
    """Members that are numbers."""

    LOW = 1


class Settings(dict[str, Any]):
    """A dict whose keys are attributes too."""

    __getattr__ = dict.get
    __setattr__ = dict.__setitem__  # type: ignore[assignment]
    __delattr__ = dict.__delitem__  # type: ignore[assignment]


FACTORS = {gw.float32: 2, gw.int64: 3}
GAINS = {nn.Linear: 1, nn.ReLU: 5, int: 7}
LEVELS = {Level.LOW: 2, Mode.EVAL: 4}


@program
def keys_of_all_kinds(x: Any) -> Any:
    seen = {Mode.TRAIN: 1}
    seen[Mode.EVAL] = LEVELS[Mode.EVAL] + LEVELS[Level.LOW] + LEVELS[1]  # type: ignore[index]
    return x * FACTORS[x.dtype] + GAINS[nn.ReLU] + GAINS[int], seen, Mode.TRAIN in LEVELS


def existing_dicts_with_other_keys(x: Any, table: dict[Any, Any]) -> Any:
    table[Mode.EVAL] = x.shape[0]
    table[Mode.TRAIN] += 1
    return x * len(table), list(table.items())


@program
def attributes_that_are_keys(x: Any) -> Any:
    settings = Settings(scale=x)
    settings.bias = 3
    settings.scratch = 1
    del settings.scratch
    return settings.scale * settings.bias, settings.absent, settings


@program
def texts_of_failed_lookups(x: Any) -> Any:
    texts = []
    for value in (object(), None, 3, "a"):
        try:
            value.missing  # type: ignore[attr-defined] # noqa: B018
        except AttributeError as error:
            texts.append(str(error))
    for failing in (
        lambda: [1].remove(3),
        lambda: [1].index(3),
        lambda: (1,).index(3),
        lambda: range(3).index(5),
        lambda: min([]),
        lambda: max(()),
        lambda: [1].pop(7),
        lambda: [].pop(),
        lambda: [][0],
        lambda: {}["a"],
        lambda: operator.setitem([1], 3, 4),
    ):
        try:
            failing()  # type: ignore[no-untyped-call]
        except (ValueError, LookupError) as error:
            texts.append(str(error))
    return x + 1, texts


@program
def places_between_limits(x: Any) -> Any:
    values, found = [1, 2, 3, 2], []
    for limits in ((), (1,), (2,), (-1,), (0, 4), (-9, -2), (2, 99), (0, 1)):
        try:
            found.append(values.index(2, *limits))
        except ValueError as error:
            found.append(str(error))
    return x + 1, found, (5, 6, 5).index(5, 1), range(0, 9, 4).index(4)


@program
def texts_of_failed_unpacking(x: Any) -> Any:
    texts = []
    try:
        _, _ = [1]
    except ValueError as error:
        texts.append(str(error))
    try:
        _, _ = (1, 2, 3)  # type: ignore[misc]
    except ValueError as error:
        texts.append(str(error))
    try:
        _, *_, _ = [1]
    except ValueError as error:
        texts.append(str(error))
    for rows in (([1], [1, 2]), ([1, 2], [1]), ([1], [1], [1, 2]), ([1, 2], [1, 2], [1])):
        try:
            list(zip(*rows, strict=True))
        except ValueError as error:
            texts.append(str(error))
    return x + 1, texts


@program
def modules_backwards(x: Any) -> Any:
    for module in reversed(LAYERS):
        x = module(x)
    return x, [type(module).__name__ for module in reversed(LAYERS)]


LAYERS = nn.ModuleList([nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3)])


@program
def methods_called_through_their_class(x: Any) -> Any:
    items, table, members = [3, 1], {"a": 1}, {1, 2}
    list.append(items, 2)
    list.sort(items, reverse=True)
    dict.setdefault(table, "b", []).append(x)
    dict.update(table, c=3)
    set.add(members, 5)
    queue = collections.deque([1])
    collections.deque.appendleft(queue, 0)
    facts = (
        dict.get(table, "a"), dict.pop(table, "z", 7), sorted(set.difference(members, [2])),
        sorted(set.symmetric_difference(members, {1, 9})), tuple.index((1, 2), 2),
        sorted(frozenset.union(frozenset([1]), [2])),
        list.__len__(items), dict.__getitem__(table, "c"), list.count(items, 3),
    )  # fmt: skip
    return x + 1, items, table, sorted(members), queue, facts


IS_VOWEL = frozenset("aeiou").__contains__


@program
def methods_of_constants_that_are_held(x: Any) -> Any:
    found = IS_VOWEL("a"), IS_VOWEL("b"), IS_VOWEL((1, 2)), keyword.iskeyword("for")
    return x + 1, found, [*filter(IS_VOWEL, "tensor")]


@pytest.mark.parametrize("program", program.all, ids=lambda p: p.__name__)
def test_in_one_graph(program: Any) -> None:
    whole(program, gw.randn(2, 3))


def test_existing_dict_keyed_by_members() -> None:
    whole(existing_dicts_with_other_keys, gw.randn(2, 3), {Mode.TRAIN: 4})


def joined_dicts(x: Any) -> Any:
    counts = collections.defaultdict(int, {"a": 1})
    order = collections.OrderedDict(b=2)
    plain = {"c": 3}
    made = [counts | plain, plain | counts, order | plain, plain | order, counts | order]
    factories = [getattr(both, "default_factory", "none") for both in made]
    try:
        collections.defaultdict(1)  # type: ignore[call-overload]
    except TypeError as error:
        factories.append(str(error))
    return x + 1, [type(both) for both in made], factories, [list(both) for both in made]


def test_joined_dicts_have_the_kind_that_python_gives_them() -> None:
    captured = Captured(joined_dicts)
    for _ in range(2):
        assert captured(gw.ones(1))[1:] == joined_dicts(gw.ones(1))[1:]


def memories(tensors: list[Any]) -> list[Any]:
    """What is seen of tensors, and which of them share the memory of the first."""
    return [(t.tolist(), t.stride(), t.storage_offset(), t._storage is tensors[0]._storage)
            for t in tensors]


def twice_in_a_tree(x: Any) -> Any:
    tree = copy.deepcopy({"a": [x], "b": x})
    tree["b"].add_(1)
    return [tree["a"][0], x, x + 1]


def made_and_changed(x: Any) -> Any:
    y = x * 2
    y.add_(1)
    return copy.deepcopy([y, [y], x])[::2]


def views_of_one(x: Any) -> Any:
    y = x * 2
    return copy.deepcopy([y[1:], y, y.T, x[1:], x])


@pytest.mark.parametrize("begin", [0, 2])
@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize(("function", "breaks"), [
    (twice_in_a_tree, []), (made_and_changed, []), (views_of_one, ["GB0004"]),
])
def test_copied_tensors_have_the_layout_of_those_they_are_made_of(
    function: Any, breaks: list[str], begin: int, step: int
) -> None:
    x = gw.arange(24.0).reshape(6, 4)[begin:, ::step]
    captured, compiled = Captured(function), gw.compile(function)
    assert memories(captured(x)) == memories(function(x))
    assert captured.breaks == breaks
    assert [t.tolist() for t in compiled(x)] == [t.tolist() for t in function(x)]
