"""Kinds of change between calls: modules of the library, tensors reached by several ways."""

from __future__ import annotations

import types
from collections.abc import Iterator

import pytest

import graphwright as gw
from graphwright import nn

from .matrix import Case, Cases, Step, tensor

case = Cases()


X = tensor(3, 4)


@case
def forward_of_a_library_class() -> Iterator[Step]:
    layer = nn.Linear(4, 2)

    def f(x):
        return layer(x)

    with gw.no_grad():
        yield f, (X,)
        o = nn.Linear.forward
        nn.Linear.forward = lambda s, x: x * 2
        try:
            yield f, (X,)
        finally:
            nn.Linear.forward = o


@case
def call_of_module() -> Iterator[Step]:
    layer = nn.ReLU()

    def f(x):
        return layer(x)

    yield f, (X,)
    o = nn.Module.__call__
    nn.Module.__call__ = lambda s, x: x * 2
    try:
        yield f, (X,)
    finally:
        nn.Module.__call__ = o


@case
def getattr_of_module() -> Iterator[Step]:
    layer = nn.Linear(4, 2)

    def f(x):
        return x * layer.weight.shape[0]

    with gw.no_grad():
        yield f, (X,)
        o = nn.Module.__getattr__
        nn.Module.__getattr__ = lambda s, n: types.SimpleNamespace(shape=(9,))
        try:
            yield f, (X,)
        finally:
            nn.Module.__getattr__ = o


@case
def iteration_of_module_list() -> Iterator[Step]:
    m = nn.ModuleList([nn.ReLU(), nn.Tanh()])

    def f(x):
        for layer in m:
            x = layer(x)
        return x

    yield f, (X,)
    o = nn.ModuleList.__iter__
    nn.ModuleList.__iter__ = lambda s: iter([])
    try:
        yield f, (X,)
    finally:
        nn.ModuleList.__iter__ = o


@case
def parameter_becomes_shared() -> Iterator[Step]:
    a, b = nn.Linear(4, 4), nn.Linear(4, 4)

    def f(x):
        with gw.no_grad():
            a.weight.mul_(1.0)
        return x * 2 if a.weight is b.weight else x * 3

    yield f, (X,)
    b.weight = a.weight
    yield f, (X,)


@case
def statistics_of_batch_norm() -> Iterator[Step]:
    b = nn.BatchNorm1d(4)

    def f(x):
        return b(x), b.running_mean.sum()

    with gw.no_grad():
        b.eval()
        yield f, (X,)
        b.running_mean.fill_(3.0)
        yield f, (X,)
        b.momentum = 0.5
        b.eps = 1.0
        yield f, (X,)
        b.track_running_stats = False
        b.running_mean = None
        b.running_var = None


@case
def probability_of_dropout() -> Iterator[Step]:
    d = nn.Dropout(0.0)

    def f(x):
        return d(x)

    yield f, (X,)
    d.p = 1.0
    yield f, (X,)
    d.eval()
    yield f, (X,)


@case
def parameters_of_a_model() -> Iterator[Step]:
    layer = nn.Sequential(nn.Linear(4, 2), nn.Linear(2, 2))

    def f(x):
        s = x.sum()
        for p in layer.parameters():
            s = s + p.sum()
        return s

    with gw.no_grad():
        yield f, (X,)
        layer[0].bias = None
        yield f, (X,)
        layer.extra = nn.Parameter(tensor(3))
        yield f, (X,)


@case
def named_modules() -> Iterator[Step]:
    layer = nn.Sequential(nn.Linear(4, 2), nn.ReLU())

    def f(x):
        return x * len([n for n, _ in layer.named_modules()]) + len(list(layer.children()))

    yield f, (X,)
    layer.add_module("z", nn.Tanh())
    yield f, (X,)


@case.plain
def state_dict() -> Iterator[Step]:
    layer = nn.Linear(4, 2)

    def f(x):
        return x * len(layer.state_dict())

    yield f, (X,)
    layer.register_buffer("q", tensor(2))
    yield f, (X,)


@case
def requires_grad_of_a_closure() -> Iterator[Step]:
    w = tensor(4, grad=True)

    def f(x):
        return (x * w).sum().requires_grad, w.is_leaf

    yield f, (X,)
    w.requires_grad = False
    yield f, (X,)


@case
def grad_mode_read() -> Iterator[Step]:
    def f(x):
        return x * 2 if gw.is_grad_enabled() else x * 3

    yield f, (X,)
    with gw.no_grad():
        yield f, (X,)


@case
def tensor_in_an_attribute() -> Iterator[Step]:
    t = tensor(3, 4)
    h = types.SimpleNamespace(t=t)

    def f(x):
        return x + h.t

    yield f, (X,)
    h.t = t.to(gw.float64)
    yield f, (X,)
    h.t = t.t().contiguous().t()
    yield f, (X,)
    h.t = 3
    yield f, (X,)
    h.t = tensor(4)
    yield f, (X,)


@case
def list_of_tensors_alias() -> Iterator[Step]:
    def f(a, b):
        a[0].add_(1)
        return b[0] * 2

    def m1():
        return [tensor(3)], [tensor(3)]

    def m2():
        t = tensor(3)
        return [t], [t]

    def m3():
        t = tensor(6)
        return [t[:3]], [t[2:5]]

    for m in (m1, m2, m3, m1):
        yield f, m


@case
def global_alias() -> Iterator[Step]:
    g = types.SimpleNamespace(t=tensor(3))

    def f(a):
        a.add_(0)
        g.t.mul_(1)
        return a * 2 if a is g.t else a * 3

    yield f, (tensor(3),)
    yield f, (g.t,)


@case.plain
def output_is_an_argument() -> Iterator[Step]:
    def f(x, y):
        return x if y is x else y

    yield f, (X, tensor(3))
    yield f, (X, X)


@case
def dict_of_a_function() -> Iterator[Step]:
    def g(x):
        return x

    def f(x):
        return x * getattr(g, "scale", 2)

    yield f, (X,)
    g.scale = 4
    yield f, (X,)
    g.__dict__ = {"scale": 6}
    yield f, (X,)


@case
def dict_of_globals() -> Iterator[Step]:
    ns = {"k": 2}
    f = eval("lambda x: x*k", ns)
    f = types.FunctionType(f.__code__, ns)
    yield f, (X,)
    ns["k"] = 3
    yield f, (X,)
    ns["k"] = 3.0
    yield f, (X,)


@case
def functions_of_one_code() -> Iterator[Step]:
    def mk(n, d=None):
        def f(x, d=n):
            return x * d * n

        return f

    a, b = mk(2), mk(3)

    def h(x, which):
        return which(x)

    yield h, (X, a)
    yield h, (X, b)


@pytest.mark.parametrize("steps", case.all, ids=lambda c: c.__name__)
def test_nothing_is_stale(steps: Case) -> None:
    case.check(steps)
