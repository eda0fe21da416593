"""Containers: what they hold, how they are indexed, joined and printed, as in PyTorch."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn


def _names(module: Any) -> list[str]:
    return [type(m).__name__ for m in module]


def test_sequential_is_a_list_with_names() -> None:
    net = nn.Sequential(OrderedDict(first=nn.Linear(2, 3), act=nn.ReLU(), last=nn.Linear(3, 2)))
    assert list(net.state_dict()) == ["first.weight", "first.bias", "last.weight", "last.bias"]
    assert list(dict(net[1:].named_children())) == ["act", "last"]
    net = nn.Sequential(nn.ReLU(), nn.Tanh())
    assert _names(net + nn.Sequential(nn.GELU())) == ["ReLU", "Tanh", "GELU"]
    assert _names(net * 2) == _names(2 * net) == ["ReLU", "Tanh", "ReLU", "Tanh"]
    net.insert(1, nn.SiLU()).append(nn.ELU())
    assert _names(net) == ["ReLU", "SiLU", "Tanh", "ELU"]
    assert isinstance(net.pop(0), nn.ReLU)
    del net[-1]
    assert list(dict(net.named_children())) == ["0", "1"]
    with pytest.raises(ValueError, match="Non-positive"):
        net * 0
    with pytest.raises(IndexError):
        net[7]


def test_module_list_and_dict() -> None:
    layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
    assert "3 x Linear" in repr(layers)
    assert len(layers[:2]) == 2 and isinstance(layers[:2], nn.ModuleList)
    layers.extend([nn.ReLU()])
    more = [nn.Tanh()]
    assert _names(layers + more)[-2:] == ["ReLU", "Tanh"]
    with pytest.raises(TypeError, match="iterable"):
        layers.extend(3)  # type: ignore[arg-type]
    table = nn.ModuleDict([("a", nn.ReLU()), ("b", nn.Tanh())])
    table.update({"c": nn.GELU()})
    assert list(table) == ["a", "b", "c"] and "b" in table
    assert isinstance(table.pop("b"), nn.Tanh) and len(table) == 2


def test_parameter_list() -> None:
    values = nn.ParameterList([gw.ones(2), gw.zeros(3)])
    values.append(gw.ones(1))
    values += [gw.ones(4)]
    assert [p.shape[0] for p in values] == [2, 3, 1, 4]
    assert len(values[1:3]) == 2 and values[-1].shape == (4,)
    values[0] = gw.zeros(5)
    assert list(values.state_dict()) == ["0", "1", "2", "3"]
    assert "(0): Parameter containing:" in repr(values)
    with pytest.raises(IndexError):
        values[9]
    with pytest.raises(RuntimeError, match="ParameterList should not be called"):
        values(1)

    class Shared(nn.ParameterList):
        pass

    assert type(Shared(values)[1:]) is Shared


def test_parameter_dict() -> None:
    values = nn.ParameterDict({"a": gw.ones(2)})
    values["b"] = gw.zeros(3)
    assert values.setdefault("c", gw.ones(1)).requires_grad
    joined = values | {"d": gw.ones(4)}
    assert list(joined) == ["a", "b", "c", "d"] and len(values) == 3
    assert values.popitem()[0] == "c"
    assert values.get("z") is None
    values.pop("a")
    assert list(values.state_dict()) == ["b"]
    values.clear()
    assert len(values) == 0
    with pytest.raises(AttributeError, match="no attribute 'z'"):
        values["z"]
    with pytest.raises(RuntimeError, match="ParameterDict should not be called"):
        values(1)


def test_a_parameter_dict_sorts_plain_dicts_which_decides_the_order_of_parameters() -> None:
    left, right = gw.ones(1), gw.zeros(2)
    assert list(nn.ParameterDict({"right": right, "left": left})) == ["left", "right"]
    ordered = nn.ParameterDict(OrderedDict(right=right, left=left))
    assert list(ordered) == list(ordered.copy()) == ["right", "left"]
    assert list(nn.ParameterDict([("right", right), ("left", left)])) == ["right", "left"]
    assert list(nn.ParameterDict(ordered)) == ["right", "left"]
    ordered.update({"b": right, "a": left})
    assert [name for name, _ in ordered.named_parameters()] == ["right", "left", "a", "b"]
