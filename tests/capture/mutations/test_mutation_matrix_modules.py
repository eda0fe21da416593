"""Kinds of change between calls: nn.Modules, their parameters, buffers, children and hooks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphwright import nn
from graphwright.runtime.ops import functions as ops

from .matrix import Case, Cases, Step, tensor

case = Cases()


X = tensor(3, 4)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.fc.weight = nn.Parameter(tensor(4, 4, seed=2))
        self.fc.bias = nn.Parameter(tensor(4, seed=3))
        self.register_buffer("offset", tensor(4, seed=4))
        self.scale = 2

    def forward(self, x):
        x = self.fc(x) * self.scale + self.offset
        return x * 3 if self.training else x


def call(net, x):
    return net(x)


@case
def training_flag() -> Iterator[Step]:
    net = Net()
    yield call, (net, X)
    net.eval()
    yield call, (net, X)
    net.train()
    yield call, (net, X)


@case
def module_attribute() -> Iterator[Step]:
    net = Net()
    yield call, (net, X)
    net.scale = 5
    yield call, (net, X)


@case
def parameter_is_replaced() -> Iterator[Step]:
    net = Net()
    yield call, (net, X)
    net.fc.weight = nn.Parameter(tensor(4, 4, seed=9))
    yield call, (net, X)
    net.fc.bias = None
    yield call, (net, X)


@case
def parameter_is_changed_in_place() -> Iterator[Step]:
    net = Net()
    yield call, (net, X)
    net.fc.weight.data.mul_(2)
    yield call, (net, X)
    net.offset.add_(1)
    yield call, (net, X)


@case
def parameter_is_frozen() -> Iterator[Step]:
    net = Net()
    yield call, (net, X)
    for parameter in net.parameters():
        parameter.requires_grad = False
    yield call, (net, X)


@case
def buffer_is_replaced() -> Iterator[Step]:
    net = Net()
    yield call, (net, X)
    net.offset = tensor(4, seed=8)
    yield call, (net, X)


@case
def submodule_is_replaced() -> Iterator[Step]:
    net = Net()
    yield call, (net, X)
    net.fc = nn.Linear(4, 4, bias=False)
    net.fc.weight = nn.Parameter(tensor(4, 4, seed=7))
    yield call, (net, X)
    net.fc = nn.Identity() if hasattr(nn, "Identity") else nn.ReLU()
    yield call, (net, X)


@case
def forward_is_replaced() -> Iterator[Step]:
    class Own(Net): ...

    net = Own()
    yield call, (net, X)
    Own.forward = lambda self, x: x * 7
    yield call, (net, X)
    net.forward = lambda x: x * 11
    yield call, (net, X)


@case
def module_list_grows() -> Iterator[Step]:
    layers = nn.ModuleList([nn.ReLU()])

    def f(x):
        for layer in layers:
            x = layer(x) + 1
        return x

    yield f, (X,)
    layers.append(nn.Tanh())
    yield f, (X,)
    layers[0] = nn.Sigmoid()
    yield f, (X,)


@case
def sequential_is_changed() -> Iterator[Step]:
    net = nn.Sequential(nn.ReLU(), nn.Tanh())
    yield call, (net, X)
    net[1] = nn.ReLU()
    yield call, (net, X)


@case
def forward_hook_is_added() -> Iterator[Step]:
    net = Net()
    yield call, (net, X)
    handle = net.register_forward_hook(lambda module, args, output: output * 5)
    yield call, (net, X)
    handle.remove()
    yield call, (net, X)


@case
def activation_attribute() -> Iterator[Step]:
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.activation = ops.relu

        def forward(self, x):
            return self.activation(x) * 2

    net = Block()
    yield call, (net, X)
    net.activation = ops.tanh
    yield call, (net, X)


@pytest.mark.parametrize("steps", case.all, ids=lambda c: c.__name__)
def test_nothing_is_stale(steps: Case) -> None:
    case.check(steps)
