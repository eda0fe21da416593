"""Dicts that find their items by what object the key is: state of parameters, names of layers."""

from __future__ import annotations

import collections
import gc
import weakref
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn

from ..captured import Captured


class Token:
    """A class whose instances are equal to themselves only."""


def momenta() -> Any:
    """An optimiser written by hand, whose state begins empty."""
    weights = [nn.Parameter(gw.ones(2) * step) for step in (1, 2)]
    state: Any = collections.defaultdict(dict)

    def run(gradient: Any) -> Any:
        for weight in weights:
            own = state[weight]
            if not own:
                own["step"], own["mean"] = 0, gw.zeros_like(weight)
            own["step"] += 1
            own["mean"].mul_(0.5).add_(gradient)
        return [weight - state[weight]["mean"] * state[weight]["step"] for weight in weights]

    return run


def averages() -> Any:
    """Moving averages of a layer's parameters."""
    layer = nn.Linear(2, 2)
    means = {weight: weight.detach().clone() for weight in layer.parameters()}

    def run(x: Any) -> Any:
        for weight in layer.parameters():
            means[weight] = 0.5 * means[weight] + 0.5 * x.sum() * weight.detach()
        return layer(x), list(means.values()), len(means)

    return run


def names() -> Any:
    """Layers and other objects under names."""
    first, second, token = nn.Linear(2, 2), nn.ReLU(), Token()
    known: Any = {first: "first", second: "second", token: 3, "text": 4, (1, 2): 5}

    def run(x: Any) -> Any:
        other = Token()
        known[other] = x
        found = [known[layer] for layer in (first, second)], token in known, Token() in known
        del known[token]
        known[token] = known.pop(other)
        return second(first(x)), found, list(known.values()), [key is token for key in known]

    return run


def pictured(values: Any) -> Any:
    """Values, with lists in place of tensors."""
    if isinstance(values, (list, tuple)):
        return [pictured(value) for value in values]
    return values.tolist() if isinstance(values, gw.Tensor) else values


@pytest.mark.parametrize("make", [momenta, averages, names])
def test_in_one_graph(make: Any) -> None:
    gw.manual_seed(0)
    plain = make()
    gw.manual_seed(0)
    captured = Captured(make(), fullgraph=True)
    for step in range(4):
        x = gw.ones(2) * step
        assert pictured(captured(x)) == pictured(plain(x))


def test_another_key_in_place_of_one_is_seen() -> None:
    first, second = gw.ones(1), gw.ones(1)
    table = {first: 2}
    captured = Captured(lambda x: (x * len(table), first in table, second in table))
    assert captured(gw.ones(1))[1:] == (True, False)
    table[second] = table.pop(first)
    assert captured(gw.ones(1))[1:] == (False, True)


def test_an_argument_that_is_no_longer_the_key_is_seen() -> None:
    key, other = gw.ones(1), gw.ones(1)
    table: Any = {key: 2.0}
    captured = Captured(lambda x: x * table.get(x, 5.0), fullgraph=True)
    assert captured(key).item() == 2.0
    assert captured(other).item() == 5.0
    assert captured(key).item() == 2.0
    table[other] = 3.0
    assert captured(other).item() == 3.0


def add(x: Any) -> Any:
    return x + 1


def double(x: Any) -> Any:
    return x * 2


def maker(step: int) -> Any:
    return lambda x: x + step


def test_functions_are_keys() -> None:
    table = {add: 2, gw.sin: 3}
    names = frozenset([double, gw.cos])

    def program(x: Any, function: Any) -> Any:
        def local() -> None: ...
        def other() -> None: ...

        own = {local: x, other: function}
        return x * table.get(function, 5), function in names, own[local], len({local, other})

    captured = Captured(program, fullgraph=True)
    for function in (add, double, gw.sin, gw.cos, len, abs, maker(1), maker(2)):
        assert captured.agrees(gw.ones(2), function)
    table[double] = 6
    assert captured.agrees(gw.ones(2), double)


def test_functions_of_one_code_are_different_keys() -> None:
    first, second = maker(1), maker(2)

    def program(x: Any, key: Any, wanted: Any) -> Any:
        return {key: x}.get(wanted, x * 3), len({key, wanted})

    captured = Captured(program, fullgraph=True)
    for key, wanted in [(first, first), (first, second), (second, second), (second, first)]:
        assert captured.agrees(gw.ones(2), key, wanted)


def test_objects_of_one_class_in_place_of_keys_need_no_version_of_their_own() -> None:
    def program(x: Any, table: Any, wanted: Any) -> Any:
        return x * table.get(wanted, 7), [type(key) for key in table], wanted in table

    captured = Captured(program, fullgraph=True)
    for factor in (1.0, 2.0, 3.0):
        key, other = Token(), Token()
        table = {key: gw.ones(1) * factor, int: 2, (str, 1): 3}
        value, kinds, found = captured(gw.ones(1), table, key)
        assert (value.item(), kinds, found) == (factor, [Token, type, tuple], True)
        value, kinds, found = captured(gw.ones(1), table, other)
        assert (value.item(), kinds, found) == (7, [Token, type, tuple], False)
    assert captured.graphs == 2


def test_keys_of_another_class_are_seen() -> None:
    class Other:
        def __eq__(self, other: Any) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    token = Token()
    table: Any = {token: 2.0}
    captured = Captured(lambda x, key: x * table.get(key, 5.0))
    assert captured(gw.ones(1), token).item() == 2.0
    Other.__hash__ = lambda self: hash(token)  # type: ignore[method-assign, assignment]
    assert captured(gw.ones(1), Other()).item() == 2.0
    assert captured(gw.ones(1), Token()).item() == 5.0


def test_keys_of_an_ordered_dict_are_found_in_its_order() -> None:
    keys = [Token(), Token(), Token()]
    table = collections.OrderedDict((key, gw.ones(1) * i) for i, key in enumerate(keys))
    captured = Captured(lambda x, key: (x + table[key], list(table)))
    for _ in range(3):
        table.move_to_end(next(iter(table)))
        for i, key in enumerate(keys):
            value, order = captured(gw.zeros(1), key)
            assert value.item() == i
            assert order == list(table)


@pytest.mark.parametrize("make", [Token, lambda: type("Kind", (), {})])
def test_entries_keep_no_key_alive(make: Any) -> None:
    def program(x: Any, table: Any) -> Any:
        return x + len(table), [value for key, value in table.items() if key is not None]

    captured = Captured(program, fullgraph=True)
    key = make()
    captured(gw.ones(1), {key: 1})
    known = weakref.ref(key)
    del key
    gc.collect()
    assert known() is None
