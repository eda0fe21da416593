"""nn.Modules of every kind, captured whole."""

from __future__ import annotations

import copy
import types

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.nn import functional as F
from graphwright.nn.utils import parametrize

from ..captured import Captured, same

X = gw.tensor([[1.0, -2.0, 3.0, 0.5], [4.0, 0.5, -6.0, 1.0]])
CASES = {}


def case(make):
    CASES[make.__name__] = make
    return make


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = self.first
        self.scale = nn.Parameter(gw.ones(4))
        self.register_buffer("seen", gw.zeros(()))
        self.names = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.ReLU()})
        self.many = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.weights = nn.ParameterList([nn.Parameter(gw.ones(4)) for _ in range(2)])

    def forward(self, x, *, power=1, flag=False):
        x = self.second(self.first(x)) * self.scale
        for name, module in self.names.items():
            x = module(x) + len(name)
        for i, module in enumerate(self.many):
            x = module(x) * i
        for weight in self.weights:
            x = x * weight
        x = self.many[-1](x) + self.names["a"](x)
        if "b" in self.names and self.training:
            x = x * 2
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                x = x + parameter.sum()
        return x**power, flag, sum(p.numel() for p in self.parameters()), self.seen


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", gw.zeros(()))
        self.calls = 0

    def forward(self, x):
        self.count += 1
        self.calls += 1
        self.last = x.shape[0]
        return x * self.count


class Forwarding(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == "inner":
                raise
            return getattr(self.inner, name)

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


@case
def block():
    return Block()


@case
def counting():
    return Counting()


@case
def forwarding():
    return Forwarding()


@case
def sequential():
    return nn.Sequential(
        nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Dropout(0.0), nn.Linear(8, 2)
    )


@case
def batch_norm():
    return nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))


@case
def hooks():
    module = nn.Linear(4, 4)
    module.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    module.register_forward_hook(lambda m, args, result: result * 2)
    return nn.Sequential(module, nn.ReLU())


@case
def keyword_hooks():
    module = Block()
    module.register_forward_pre_hook(lambda m, a, k: (a, {**k, "power": 2}), with_kwargs=True)
    module.register_forward_hook(lambda m, a, k, r: (r[0] * k["power"], *r[1:]), with_kwargs=True)
    return module


@case
def lstm():
    return nn.LSTM(4, 3, num_layers=2, batch_first=True)


@case
def gru():
    return nn.GRU(4, 3)


@case
def attention():
    class Self(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.MultiheadAttention(4, 2, batch_first=True)

        def forward(self, x):
            x = x.unsqueeze(0)
            return self.inner(x, x, x, need_weights=False)[0]

    return Self()


@case
def transformer():
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    return nn.Sequential(nn.Unflatten(0, (1, 2)), nn.TransformerEncoder(layer, 2))


@case
def parametrised():
    class Double(nn.Module):
        def forward(self, w):
            return w * 2

    module = nn.Linear(4, 2)
    parametrize.register_parametrization(module, "weight", Double())
    return module


@case
def weight_norm():
    return nn.utils.parametrizations.weight_norm(nn.Linear(4, 2))


def first_tensor(result):
    while not isinstance(result, gw.Tensor):
        result = result[0]
    return result


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("training", [True, False])
def test_modules(name, training):
    gw.manual_seed(0)
    plain = CASES[name]()
    plain.train(training)
    other = copy.deepcopy(plain) if name not in ("parametrised", "weight_norm") else plain
    captured = Captured(lambda x: other(x), fullgraph=True)
    stateful = name in ("block", "counting", "batch_norm")
    for _ in range(2):
        expected, actual = plain(X), captured(X)
        if other is not plain or not stateful:
            assert same(list_of(expected), list_of(actual))
        assert same(dict(plain.state_dict()), dict(other.state_dict()))
    assert captured.graphs == 1 + (name == "counting")
    if any(True for _ in plain.parameters()):
        first_tensor(captured(X)).sum().backward()


def list_of(result):
    if isinstance(result, (list, tuple)):
        return [list_of(part) for part in result]
    return result


def test_a_flag_a_parameter_and_a_module_are_replaced():
    module = Block()
    captured = Captured(lambda x: module(x)[0], fullgraph=True)
    assert captured.agrees(X)
    module.eval()
    assert captured.agrees(X)
    module.scale = nn.Parameter(gw.ones(4) * 3)
    assert captured.agrees(X)
    module.names["a"] = nn.Tanh()
    assert captured.agrees(X)
    module.many.append(nn.Linear(4, 4))
    assert captured.agrees(X)
    handle = module.first.register_forward_hook(lambda m, args, result: result - 5)
    assert captured.agrees(X)
    handle.remove()
    assert captured.agrees(X)


def made_in_the_frame(x):
    layer = nn.ReLU()
    return nn.Sequential(layer, nn.Flatten())(x)


def test_modules_made_in_the_frame_are_sound():
    captured = Captured(made_in_the_frame)
    assert captured.agrees(X)
    assert captured.agrees(X)


def test_lazy_modules_are_sound():
    module = nn.LazyLinear(3)
    captured = Captured(lambda x: module(x))
    result = captured(X)
    assert same(result, module(X))
    assert captured.agrees(X)


@pytest.mark.parametrize("kind", [nn.RNNCell, nn.LSTMCell, nn.GRUCell])
def test_recurrent_cells(kind):
    cell = kind(4, 3)
    captured = Captured(lambda x: cell(x))
    assert captured.agrees(X)
    assert (captured.graphs, captured.breaks) == (1, [])


class Lazy(types.ModuleType):
    """A module that makes what it lacks, as packages do that import their parts late."""

    label = "of the class"

    def __init__(self, name):
        super().__init__(name)
        self.scale = 2.0
        self.shift = lambda x: x + self.scale

    def __getattr__(self, name):
        if name != "late":
            raise AttributeError(name)
        self.late = 3.0
        return self.late


def test_modules_of_a_class_of_their_own():
    """What is in the module is read in the graph, and so is what its class makes."""
    module, x = Lazy("graphwright_test_lazy"), gw.ones(2)
    known = Captured(lambda x: module.shift(x * module.scale), fullgraph=True)
    for scale in (2.0, 2.0, 5.0):
        module.scale = scale
        assert known.agrees(x)
    late = Captured(lambda x: x * module.late + len(module.label))
    assert late.agrees(x)
    assert not late.breaks
    scaled = Captured(lambda x: x * module.scale)
    assert scaled.agrees(x)
    Lazy.scale = property(lambda self: 11.0)
    try:
        assert scaled.agrees(x)
        assert scaled(x)[0] == 11
    finally:
        del Lazy.scale
    module.__class__ = type("Other", (Lazy,), {"__getattribute__": lambda self, name: 4.0})
    other = Captured(lambda x: x * module.scale)
    assert other.agrees(x)
    assert other(x)[0] == 4
