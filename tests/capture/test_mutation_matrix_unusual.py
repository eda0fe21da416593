"""Kinds of change between calls that few programs make: state in unusual places."""

from __future__ import annotations

import builtins
import collections
import enum
import functools
import math
import sys
import types
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn
from graphwright.capture.convert import Frontend
from graphwright.runtime import dtypes

from .matrix import Case, Step, run_case, tensor

CASES: list[Case] = []


def case(function: Case) -> Case:
    CASES.append(function)
    return function


X = tensor(3, 4)
Y = tensor(3, 4, seed=1)


# Classes.


@case
def attribute_of_the_metaclass() -> Iterator[Step]:
    class Meta(type):
        scale = 2

    class Thing(metaclass=Meta):
        pass

    def f(x):
        return x * Thing.scale

    yield f, (X,)
    Meta.scale = 3
    yield f, (X,)
    Thing.scale = 4
    yield f, (X,)
    Meta.scale = property(lambda cls: 5)
    yield f, (X,)


@case
def method_of_the_metaclass() -> Iterator[Step]:
    class Meta(type):
        def scale(cls):
            return 2

    class Thing(metaclass=Meta):
        pass

    def f(x):
        return x * Thing.scale()

    yield f, (X,)
    Meta.scale = lambda cls: 3
    yield f, (X,)
    Thing.scale = staticmethod(lambda: 4)
    yield f, (X,)


@case
def descriptor_gains_set() -> Iterator[Step]:
    class Plain:
        pass

    class Thing:
        value = Plain()

    thing = Thing()
    thing.__dict__["value"] = 2

    def f(x):
        return x * thing.value

    yield f, (X,)
    Plain.__get__ = lambda self, instance, owner: 3
    yield f, (X,)
    Plain.__set__ = lambda self, instance, value: None
    yield f, (X,)


@case
def descriptor_is_replaced() -> Iterator[Step]:
    class Constant:
        def __init__(self, value):
            self.value = value

        def __get__(self, instance, owner):
            return self.value

    class Thing:
        scale = Constant(2)

    thing = Thing()

    def f(x):
        return x * thing.scale + 1

    yield f, (X,)
    Thing.__dict__["scale"].value = 3
    yield f, (X,)
    Thing.scale = Constant(4)
    yield f, (X,)
    Constant.__get__ = lambda self, instance, owner: 7
    yield f, (X,)


@case
def getattr_is_added() -> Iterator[Step]:
    class Thing:
        pass

    thing = Thing()

    def f(x):
        return x * getattr(thing, "scale", 2)

    yield f, (X,)
    Thing.__getattr__ = lambda self, name: 3
    yield f, (X,)
    Thing.__getattr__ = lambda self, name: 4
    yield f, (X,)
    del Thing.__getattr__
    yield f, (X,)


@case
def getattr_of_a_module() -> Iterator[Step]:
    module = types.ModuleType("graphwright_matrix_settings")

    def f(x):
        return x * getattr(module, "scale", 2)

    yield f, (X,)
    module.__getattr__ = lambda name: 3
    yield f, (X,)
    module.scale = 4
    yield f, (X,)


@case
def class_of_a_module_object() -> Iterator[Step]:
    module = types.ModuleType("graphwright_matrix_settings")
    module.scale = 2

    def f(x):
        return x * module.scale

    yield f, (X,)

    class Other(types.ModuleType):
        @property
        def scale(self):
            return 5

    module.__class__ = Other
    yield f, (X,)


@case
def bases_of_a_class() -> Iterator[Step]:
    class Old:
        scale = 2

    class New:
        scale = 3

    class Thing(Old):
        pass

    thing = Thing()

    def f(x):
        return x * thing.scale

    yield f, (X,)
    Thing.__bases__ = (New,)
    yield f, (X,)
    New.scale = 4
    yield f, (X,)


@case
def isinstance_after_bases_change() -> Iterator[Step]:
    class Old:
        pass

    class New:
        pass

    class Thing(Old):
        pass

    def f(x, thing):
        return x * 2 if isinstance(thing, Old) else x * 3

    thing = Thing()
    yield f, (X, thing)
    Thing.__bases__ = (New,)
    yield f, (X, thing)


@case
def isinstance_by_the_metaclass() -> Iterator[Step]:
    class Meta(type):
        pass

    class Kind(metaclass=Meta):
        pass

    def f(x, thing):
        return x * 2 if isinstance(thing, Kind) else x * 3

    thing = types.SimpleNamespace()
    yield f, (X, thing)
    Meta.__instancecheck__ = lambda cls, value: True
    yield f, (X, thing)


@case
def registered_with_an_abstract_class() -> Iterator[Step]:
    class Thing:
        pass

    import abc

    class Kind(abc.ABC):  # noqa: B024
        pass

    def f(x, thing):
        return x * 2 if isinstance(thing, Kind) else x * 3

    thing = Thing()
    yield f, (X, thing)
    Kind.register(Thing)
    yield f, (X, thing)


@case
def truth_of_an_object() -> Iterator[Step]:
    class Thing:
        pass

    thing = Thing()

    def f(x):
        return x * 2 if thing else x * 3

    yield f, (X,)
    Thing.__len__ = lambda self: 0
    yield f, (X,)
    Thing.__bool__ = lambda self: True
    yield f, (X,)


@case
def equality_of_objects() -> Iterator[Step]:
    class Thing:
        pass

    a, b = Thing(), Thing()

    def f(x):
        return x * 2 if a == b else x * 3

    yield f, (X,)
    Thing.__eq__ = lambda self, other: True
    yield f, (X,)


@case
def attribute_in_the_middle_of_the_mro() -> Iterator[Step]:
    class Base:
        scale = 2

    class Middle(Base):
        pass

    class Thing(Middle):
        pass

    def f(x, thing):
        return x * thing.scale

    thing = Thing()
    yield f, (X, thing)
    Middle.scale = 3
    yield f, (X, thing)
    del Middle.scale
    yield f, (X, thing)


@case
def super_of_a_changed_base() -> Iterator[Step]:
    class Base:
        def scale(self):
            return 2

    class Middle(Base):
        pass

    class Thing(Middle):
        def scale(self):
            return super().scale() + 1

    def f(x, thing):
        return x * thing.scale()

    thing = Thing()
    yield f, (X, thing)
    Middle.scale = lambda self: 5
    yield f, (X, thing)


@case
def class_attribute_is_a_list() -> Iterator[Step]:
    class Thing:
        scales: ClassVar[list[int]] = [2, 3]

    def f(x):
        return x * Thing.scales[0] * len(Thing.scales)

    yield f, (X,)
    Thing.scales[0] = 5
    yield f, (X,)
    Thing.scales.append(5)
    yield f, (X,)


@case
def enum_class_is_changed() -> Iterator[Step]:
    class Mode(enum.Enum):
        FAST = 1
        SLOW = 2

    holder = types.SimpleNamespace(Mode=Mode)

    def f(x, mode):
        return x * mode.value if mode is holder.Mode.FAST else x - mode.value

    yield f, (X, Mode.FAST)
    yield f, (X, Mode.SLOW)
    Mode.FAST._value_ = 5
    yield f, (X, Mode.FAST)

    class Other(enum.Enum):
        FAST = 1

    holder.Mode = Other
    yield f, (X, Mode.FAST)


@case
def property_of_an_enum() -> Iterator[Step]:
    class Mode(enum.Enum):
        FAST = 1

        @property
        def scale(self):
            return 2

    def f(x, mode):
        return x * mode.scale

    yield f, (X, Mode.FAST)
    Mode.scale = property(lambda self: 3)
    yield f, (X, Mode.FAST)


@case
def method_of_an_enum() -> Iterator[Step]:
    class Mode(enum.IntEnum):
        FAST = 2

        def scale(self):
            return self.value + 1

    def f(x, mode):
        return x * mode.scale()

    yield f, (X, Mode.FAST)
    Mode.scale = lambda self: 7
    yield f, (X, Mode.FAST)


@case
def field_of_a_named_tuple_class() -> Iterator[Step]:
    class Pair(collections.namedtuple("Pair", "first second")):
        @property
        def total(self):
            return self.first + self.second

    def f(x, pair):
        return x * pair.total + pair.first

    yield f, (X, Pair(2, 3))
    Pair.total = property(lambda self: 11)
    yield f, (X, Pair(2, 3))
    Pair.first = property(lambda self: 13)
    yield f, (X, Pair(2, 3))


@case
def slots_and_their_deletion() -> Iterator[Step]:
    class Thing:
        __slots__ = ("scale",)

    thing = Thing()
    thing.scale = 2

    def f(x):
        return x * thing.scale if hasattr(thing, "scale") else x - 1

    yield f, (X,)
    thing.scale = 3
    yield f, (X,)
    del thing.scale
    yield f, (X,)


@case
def instance_dict_is_replaced() -> Iterator[Step]:
    class Thing:
        pass

    thing = Thing()
    thing.scale = 2

    def f(x):
        return x * thing.scale

    yield f, (X,)
    thing.__dict__ = {"other": 1, "scale": 3}
    yield f, (X,)
    thing.__dict__.clear()
    Thing.scale = 4
    yield f, (X,)
    thing.__dict__["scale"] = 5
    yield f, (X,)


@case
def key_that_equals_an_attribute() -> Iterator[Step]:
    class Name(str):
        __slots__ = ()

    class Thing:
        scale = 2

    thing = Thing()

    def f(x):
        return x * thing.scale

    yield f, (X,)
    thing.__dict__[Name("scale")] = 3
    yield f, (X,)


@case
def attributes_in_another_order() -> Iterator[Step]:
    class Thing:
        scale = 2

    def f(x, thing):
        return x * thing.scale + thing.offset

    first, second, third = Thing(), Thing(), Thing()
    first.offset = 1
    second.scale, second.offset = 3, 2
    third.offset, third.scale = 5, 4
    for thing in (first, second, third, first, third, second):
        yield f, (X, thing)
    del second.scale
    yield f, (X, second)


# Functions and names.


@case
def name_is_shadowed_in_the_module_and_in_builtins() -> Iterator[Step]:
    scope = {"__builtins__": builtins, "__file__": __file__, "__name__": __name__}
    exec("def f(x):\n    return x * abs(-2)\n", scope)
    f = scope["f"]
    yield f, (X,)
    scope["abs"] = lambda value: 3
    yield f, (X,)
    del scope["abs"]
    yield f, (X,)
    original = builtins.abs
    try:
        builtins.abs = lambda value: 5
        yield f, (X,)
    finally:
        builtins.abs = original


@case
def name_appears_in_builtins() -> Iterator[Step]:
    def f(x):
        try:
            return x * graphwright_matrix_scale
        except NameError:
            return x * 2

    yield f, (X,)
    builtins.graphwright_matrix_scale = 3
    try:
        yield f, (X,)
    finally:
        del builtins.graphwright_matrix_scale


@case
def default_is_mutated_in_place() -> Iterator[Step]:
    def g(x, table={"scale": 2}):  # noqa: B006
        return x * table["scale"]

    def f(x):
        return g(x)

    yield f, (X,)
    g.__defaults__[0]["scale"] = 3
    yield f, (X,)


@case
def number_of_defaults() -> Iterator[Step]:
    def g(x, a=2, b=3):
        return x * a + b

    def f(x):
        return g(x)

    yield f, (X,)
    g.__defaults__ = (5, 7)
    yield f, (X,)
    g.__defaults__ = (1, 2, 3)
    yield f, (X,)


@case
def partial_state() -> Iterator[Step]:
    def g(x, n, m=1):
        return x * n + m

    p = functools.partial(g, n=2)

    def f(x):
        return p(x)

    yield f, (X,)
    p.keywords["n"] = 3
    yield f, (X,)
    p.__setstate__((g, (), {"n": 4, "m": 2}, {}))
    yield f, (X,)


@case
def cell_is_bound_again() -> Iterator[Step]:
    def make():
        scale = 2

        def f(x):
            return x * scale

        def change(value):
            nonlocal scale
            scale = value

        return f, change

    f, change = make()
    yield f, (X,)
    change(3)
    yield f, (X,)
    f.__closure__[0].cell_contents = 4
    yield f, (X,)
    change(4.0)
    yield f, (X,)


@case
def cell_of_a_callee() -> Iterator[Step]:
    def make(scale):
        def g(x):
            return x * scale

        return g

    g = make(2)

    def f(x):
        return g(x)

    yield f, (X,)
    g.__closure__[0].cell_contents = 3
    yield f, (X,)
    g = make(4)
    yield f, (X,)


@case
def function_attribute() -> Iterator[Step]:
    def g(x):
        return x * g.scale

    g.scale = 2

    def f(x):
        return g(x)

    yield f, (X,)
    g.scale = 3
    yield f, (X,)


@case
def wrapped_function() -> Iterator[Step]:
    def twice(function):
        @functools.wraps(function)
        def wrapper(x):
            return wrapper.__wrapped__(x) * 2

        return wrapper

    @twice
    def g(x):
        return x + 1

    def f(x):
        return g(x)

    yield f, (X,)
    g.__wrapped__ = lambda x: x + 2
    yield f, (X,)


@case
def cached_function() -> Iterator[Step]:
    state = [2]

    @functools.lru_cache
    def scale():
        return state[0]

    def f(x):
        return x * scale()

    yield f, (X,)
    state[0] = 3
    yield f, (X,)
    scale.cache_clear()
    yield f, (X,)


@case
def attribute_of_a_function_type() -> Iterator[Step]:
    class Scale:
        def __init__(self, value):
            self.value = value

        def __call__(self, x):
            return x * self.value

    scale = Scale(2)

    def f(x):
        return scale(x)

    yield f, (X,)
    scale.value = 3
    yield f, (X,)
    Scale.__call__ = lambda self, x: x - self.value
    yield f, (X,)


@case
def name_of_a_function() -> Iterator[Step]:
    def g(x):
        return x

    def f(x):
        return x * len(g.__name__)

    yield f, (X,)
    g.__name__ = "renamed"
    yield f, (X,)


@case
def function_of_a_library_module() -> Iterator[Step]:
    def f(x):
        return x * math.floor(2.5)

    yield f, (X,)
    original = math.floor
    try:
        math.floor = lambda value: 7
        yield f, (X,)
    finally:
        math.floor = original


@case
def operation_is_replaced() -> Iterator[Step]:
    def f(x):
        return gw.relu(x) + nn.functional.gelu(x)

    yield f, (X,)
    original = nn.functional.gelu
    try:
        nn.functional.gelu = lambda x: x * 3
        yield f, (X,)
    finally:
        nn.functional.gelu = original


@case
def method_of_tensor_is_replaced() -> Iterator[Step]:
    def f(x):
        return x.relu() + 1

    yield f, (X,)
    original = gw.Tensor.relu
    try:
        gw.Tensor.relu = lambda self: self * 3
        yield f, (X,)
    finally:
        gw.Tensor.relu = original


@case
def operator_of_tensor_is_replaced() -> Iterator[Step]:
    def f(x):
        return x + 1

    yield f, (X,)
    original = gw.Tensor.__add__
    try:
        gw.Tensor.__add__ = lambda self, other: self * 3
        yield f, (X,)
    finally:
        gw.Tensor.__add__ = original


@case
def module_in_sys_modules() -> Iterator[Step]:
    name = "graphwright_matrix_settings"

    def make(scale):
        module = types.ModuleType(name)
        module.scale = scale
        return module

    def f(x):
        from graphwright_matrix_settings import scale

        return x * scale

    try:
        sys.modules[name] = make(2)
        yield f, (X,)
        sys.modules[name] = make(3)
        yield f, (X,)
        sys.modules[name].scale = 4
        yield f, (X,)
    finally:
        del sys.modules[name]


# Containers.


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


# Tensors, modules and the state of the interpreter.


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
def seed_of_the_generator() -> Iterator[Step]:
    def f(x, seed):
        gw.manual_seed(seed)
        return x + gw.rand(3, 4)

    yield f, (X, 1)
    yield f, (X, 2)
    yield f, (X, 1)


@case
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


@case
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


@pytest.mark.parametrize("steps", CASES, ids=[c.__name__ for c in CASES])
def test_nothing_is_stale(steps: Case) -> None:
    frontend = Frontend(lambda module, examples: module)
    outcomes = run_case(steps, frontend)
    assert len({repr(outcome) for outcome in outcomes}) > 1, "the changes change nothing"
