"""Kinds of change between calls of tensors, modules and the state of the interpreter."""

from __future__ import annotations

import types
from collections.abc import Iterator

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn
from graphwright.runtime.tensor import dtypes

from .matrix import Case, Cases, Step, tensor

case = Cases()
X = tensor(3, 4)
Y = tensor(3, 4, seed=1)


@case
def parameter_of_another_dtype() -> Iterator[Step]:
    layer = nn.Linear(4, 2)

    def f(x):
        return layer(x.to(layer.weight.dtype))

    with gw.no_grad():
        yield f, (X,)
        layer.to(gw.float64)
        yield f, (X,)
        layer.weight = nn.Parameter(tensor(2, 4, dtype="float32", seed=5))
        layer.bias = None
        yield f, (X,)


@case
def buffer_is_resized_through_data() -> Iterator[Step]:
    layer = nn.Module()
    layer.register_buffer("table", tensor(2, 4))

    def f(x):
        return (x.sum() + layer.table).sum() * layer.table.shape[0]

    yield f, (X,)
    layer.table.data = tensor(5, 4, seed=2)
    yield f, (X,)
    layer.table.data = tensor(5, 4, seed=2, dtype="float64")
    yield f, (X,)


@case
def buffer_becomes_a_plain_attribute() -> Iterator[Step]:
    layer = nn.Module()
    layer.register_buffer("table", tensor(2, 4))

    def f(x):
        return x.sum() + layer.table

    yield f, (X,)
    del layer.table
    layer.table = 3
    yield f, (X,)
    layer.__dict__["table"] = 4
    yield f, (X,)
    type(layer).table = 5
    try:
        yield f, (X,)
        del layer.__dict__["table"]
        yield f, (X,)
    finally:
        del type(layer).table


@case
def data_of_an_argument_is_replaced() -> Iterator[Step]:
    x = tensor(3, 4)

    def f():
        return x * x.shape[0]

    yield f, ()
    x.data = tensor(5, 4, seed=3)
    yield f, ()


@case
def requires_grad_of_a_global() -> Iterator[Step]:
    x = tensor(3, 4)

    def f():
        y = x * 2
        return y, y.requires_grad

    yield f, ()
    x.requires_grad = True
    yield f, ()
    x.requires_grad = False
    yield f, ()


@case
def grad_of_a_tensor() -> Iterator[Step]:
    x = tensor(3, 4, grad=True)

    def f(y):
        return y * 2 if x.grad is None else y + x.grad

    yield f, (Y,)
    (x * 3).sum().backward()
    yield f, (Y,)
    x.grad = None
    yield f, (Y,)


@case
def inference_mode() -> Iterator[Step]:
    def f(x):
        y = x * 2
        return y, y.requires_grad, gw.is_grad_enabled()

    x = tensor(3, 4, grad=True)
    yield f, (x,)
    with gw.inference_mode():
        yield f, (x,)
    with gw.no_grad():
        yield f, (x,)


@case
def default_dtype_and_new_tensors() -> Iterator[Step]:
    def f(x):
        return gw.zeros(3, 4) + gw.tensor(1.5) + gw.arange(0.0, 4.0), x + 1

    before = dtypes.get_default_dtype()
    try:
        yield f, (X,)
        dtypes.set_default_dtype(gw.float64)
        yield f, (X,)
    finally:
        dtypes.set_default_dtype(before)


@case
def default_device() -> Iterator[Step]:
    def f(x):
        return str(gw.zeros(3, 4).device), x + 1

    yield f, (X,)
    with gw.device("meta"):
        yield f, (X,)
    yield f, (X,)


@case
def seed_of_the_generator() -> Iterator[Step]:
    def f(x, seed):
        gw.manual_seed(seed)
        return x + gw.rand(3, 4)

    yield f, (X, 1)
    yield f, (X, 2)
    yield f, (X, 1)


@case.plain
def numpy_argument() -> Iterator[Step]:
    def f(x, scale):
        return x * float(scale) + scale.shape[0] if isinstance(scale, np.ndarray) else x * scale

    for value in (np.float32(2), np.float32(3), np.float64(2), np.int64(2), np.bool_(True), 2):
        yield f, (X, value)


@case
def numpy_array_is_changed() -> Iterator[Step]:
    array = np.arange(4.0, dtype=np.float32)

    def f(x):
        return x + gw.from_numpy(array)

    yield f, (X,)
    array[0] = 7
    yield f, (X,)


@case.plain
def numpy_scalar_in_a_global() -> Iterator[Step]:
    settings = types.SimpleNamespace(scale=np.float64(2))

    def f(x):
        return x * settings.scale

    yield f, (X,)
    settings.scale = np.float64(3)
    yield f, (X,)
    settings.scale = np.int32(3)
    yield f, (X,)


@case
def global_module_hook() -> Iterator[Step]:
    layer = nn.Linear(4, 2)

    def f(x):
        return layer(x)

    with gw.no_grad():
        yield f, (X,)
        handle = layer.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
        yield f, (X,)
        handle.remove()
        yield f, (X,)
        layer.forward = lambda x: x * 3
        yield f, (X,)
        del layer.forward
        yield f, (X,)


@case
def call_of_the_module_class() -> Iterator[Step]:
    class Layer(nn.Module):
        def forward(self, x):
            return x * 2

    layer = Layer()

    def f(x):
        return layer(x)

    yield f, (X,)
    Layer.__call__ = lambda self, x: x * 3
    yield f, (X,)
    del Layer.__call__
    Layer.forward = lambda self, x: x * 4
    yield f, (X,)


@case
def parameter_and_buffer_of_one_name() -> Iterator[Step]:
    layer = nn.Module()
    layer.scale = nn.Parameter(tensor(4))

    def f(x):
        return x * layer.scale

    with gw.no_grad():
        yield f, (X,)
        layer._parameters.clear()
        layer._buffers["scale"] = tensor(4, seed=3)
        yield f, (X,)
        layer._parameters["scale"] = nn.Parameter(tensor(4, seed=5))
        yield f, (X,)
        layer._parameters = {"scale": nn.Parameter(tensor(4, seed=6))}
        yield f, (X,)


@case
def order_of_submodules() -> Iterator[Step]:
    model = nn.Sequential(nn.ReLU(), nn.Tanh())

    def f(x):
        return model(x)

    yield f, (X,)
    first = model._modules.pop("0")
    model._modules["0"] = first
    yield f, (X,)
    model.append(nn.Sigmoid())
    yield f, (X,)


@case
def recursion_limit_of_values() -> Iterator[Step]:
    def f(x, n):
        return x if n == 0 else f(x * 2, n - 1)

    for n in (1, 2, 3, 0):
        yield f, (X, n)


@pytest.mark.parametrize("steps", case.all, ids=lambda c: c.__name__)
def test_nothing_is_stale(steps: Case) -> None:
    case.check(steps)
