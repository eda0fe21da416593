"""Kinds of change between calls: arguments, globals, closures, functions, interpreter state."""

from __future__ import annotations

import math
import types
from collections.abc import Iterator

import pytest

from graphwright import autograd
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes

from .matrix import Case, Cases, Step, tensor

case = Cases()


X = tensor(3, 4)
Y = tensor(3, 4, seed=1)


# Arguments.


@case
def int_argument() -> Iterator[Step]:
    def f(x, n):
        return x * n

    for n in (2, 3, 0, 1, -1, 2**40):
        yield f, (X, n)


@case
def bool_and_int_argument() -> Iterator[Step]:
    def f(x, n):
        return x * 2 if n is True else x * 3

    for n in (True, 1, False, 0):
        yield f, (X, n)


@case
def float_argument() -> Iterator[Step]:
    def f(x, c):
        return x * c, math.copysign(1.0, c)

    for c in (1.5, 2.5, 0.0, -0.0, math.inf, math.nan, -math.nan):
        yield f, (X, c)


@case
def int_becomes_float() -> Iterator[Step]:
    def f(x, n):
        return x * n, n + n

    yield f, (X, 2)
    yield f, (X, 2.0)


@case
def string_argument() -> Iterator[Step]:
    def f(x, how):
        return x.sum() if how == "sum" else x.mean()

    yield f, (X, "sum")
    yield f, (X, "mean")


@case
def none_becomes_tensor() -> Iterator[Step]:
    def f(x, bias=None):
        return x * 2 if bias is None else x * 2 + bias

    yield f, (X,)
    yield f, (X, Y)
    yield f, (X, None)


@case
def tuple_argument() -> Iterator[Step]:
    def f(x, shape):
        return x.reshape(shape)

    yield f, (X, (4, 3))
    yield f, (X, (2, 6))
    yield f, (X, (12,))


@case
def star_arguments() -> Iterator[Step]:
    def f(x, *rest):
        for other in rest:
            x = x + other
        return x

    yield f, (X,)
    yield f, (X, Y)
    yield f, (X, Y, 3)


@case
def dtype() -> Iterator[Step]:
    def f(x):
        return x + 1

    for name in ("float32", "float64", "int64", "bool", "int32"):
        yield f, (tensor(3, 4, dtype=name),)


@case
def size() -> Iterator[Step]:
    def f(x):
        return x * x.shape[0]

    for n in (3, 4, 5, 1, 0, 7):
        yield f, (tensor(n, 4),)


@case
def broadcast_size() -> Iterator[Step]:
    def f(x, y):
        return x + y

    for n in (3, 1):
        yield f, (tensor(3, 4), tensor(n, 4))
    yield f, (tensor(1, 4), tensor(3, 4))
    yield f, (tensor(3, 4), tensor(4))


@case
def branch_on_size() -> Iterator[Step]:
    def f(x):
        return x * 2 if x.shape[0] > 4 else x * 3

    for n in (3, 6, 5, 4, 2, 9):
        yield f, (tensor(n, 4),)


@case
def number_of_dimensions() -> Iterator[Step]:
    def f(x):
        return x.sum(-1) * x.ndim

    yield f, (tensor(4),)
    yield f, (tensor(3, 4),)
    yield f, (tensor(2, 3, 4),)


@case
def strides() -> Iterator[Step]:
    def f(x):
        return (x * 2 if x.is_contiguous() else x * 3), x.stride()

    yield f, (tensor(4, 4),)
    yield f, (tensor(4, 4).t(),)
    yield f, (tensor(8, 4)[::2],)


@case
def strides_of_single_rows() -> Iterator[Step]:
    def f(x):
        return x * 2, x.stride(), x.is_contiguous()

    base = tensor(8, 9)
    for x in (base[:1, :4], tensor(1, 6), tensor(1, 9), base[:1], base[:, :1], tensor(1, 1)):
        yield f, (x,)
    for x in (tensor(4, 1).t(), tensor(7, 1).t(), tensor(8, 1), base[1:2, :5], tensor(3, 0)):
        yield f, (x,)


@case
def requires_grad() -> Iterator[Step]:
    def f(x):
        return x * 2

    yield f, (tensor(3, 4),)
    yield f, (tensor(3, 4, grad=True),)
    yield f, (tensor(3, 4),)


@case
def aliased_arguments() -> Iterator[Step]:
    def f(x, y):
        x.add_(1)
        return x * y

    yield f, lambda: (tensor(3, 4), tensor(3, 4, seed=1))

    def same():
        x = tensor(3, 4)
        return x, x

    yield f, same
    yield f, lambda: (tensor(3, 4), tensor(3, 4, seed=1))


@case
def identical_arguments() -> Iterator[Step]:
    def f(x, y):
        return x + 1 if x is y else x + y

    yield f, (X, Y)
    yield f, (X, X)
    yield f, (Y, X)


@case
def overlap_of_mutated_arguments() -> Iterator[Step]:
    def f(x, y):
        x.mul_(2)
        return x + y

    def views(first, second):
        def make():
            base = tensor(8)
            return base[first], base[second]

        return make

    yield f, views(slice(0, 4), slice(4, 8))
    yield f, views(slice(0, 4), slice(2, 6))
    yield f, views(slice(0, 4), slice(0, 4))
    yield f, views(slice(0, 4), slice(4, 8))


@case
def list_argument_length() -> Iterator[Step]:
    def f(xs):
        total = xs[0] * 0
        for x in xs:
            total = total + x
        return total

    yield f, ([X],)
    yield f, ([X, Y],)
    yield f, ([X, Y, X],)


@case
def list_becomes_tuple() -> Iterator[Step]:
    def f(xs):
        return xs[0] + (1 if isinstance(xs, list) else 2)

    yield f, ([X],)
    yield f, ((X,),)


@case
def list_item() -> Iterator[Step]:
    def f(x, items):
        return x * items[1]

    items = [1, 2, 3]
    yield f, (X, items)
    items[1] = 5
    yield f, (X, items)
    items.insert(0, 7)
    yield f, (X, items)


@case
def dict_value_key_and_order() -> Iterator[Step]:
    def f(x, options):
        for name, value in options.items():
            x = x * value if name == "scale" else x + value
        return x

    options = {"scale": 2, "shift": 1}
    yield f, (X, options)
    options["scale"] = 3
    yield f, (X, options)
    options["more"] = 9
    yield f, (X, options)
    del options["more"]
    options["scale"] = options.pop("scale")
    yield f, (X, options)


@case
def key_appears() -> Iterator[Step]:
    def f(x, options):
        return x * options.get("scale", 1) if "on" in options else x

    options: dict = {}
    yield f, (X, options)
    options["on"] = 1
    yield f, (X, options)
    options["scale"] = 4
    yield f, (X, options)


@case
def nested_containers() -> Iterator[Step]:
    def f(tree):
        return tree["a"][0]["b"][1] * 2 + tree["a"][1]

    tree = {"a": [{"b": (X, Y)}, 1]}
    yield f, (tree,)
    tree["a"][0]["b"] = (X, X)
    yield f, (tree,)
    tree["a"][1] = 7
    yield f, (tree,)


# Globals, closures, functions.

SCALE = 2
TABLE = [1, 2]
OFFSET_TENSOR = X


@case
def global_value() -> Iterator[Step]:
    global SCALE

    def f(x):
        return x * SCALE

    for SCALE in (2, 3, 2.5, X, 2):  # noqa: B007
        yield f, (Y,)
    SCALE = 2


@case
def global_list_grows() -> Iterator[Step]:
    def f(x):
        return x * len(TABLE) + TABLE[-1]

    yield f, (X,)
    TABLE.append(5)
    yield f, (X,)
    TABLE[-1] = 6
    yield f, (X,)
    TABLE.pop()
    yield f, (X,)


@case
def global_tensor() -> Iterator[Step]:
    global OFFSET_TENSOR

    def f(x):
        return x + OFFSET_TENSOR

    yield f, (X,)
    OFFSET_TENSOR = Y
    yield f, (X,)
    OFFSET_TENSOR = tensor(4)
    yield f, (X,)


def helper(x):
    return x + 1


def other_helper(x):
    return x - 1


@case
def global_function() -> Iterator[Step]:
    global helper

    def f(x):
        return helper(x) * 2

    kept = helper
    yield f, (X,)
    helper = other_helper
    yield f, (X,)
    helper = kept
    yield f, (X,)


@case
def builtin_is_shadowed() -> Iterator[Step]:
    def f(x):
        return x * max(2, 3)

    yield f, (X,)
    globals()["max"] = min
    yield f, (X,)
    del globals()["max"]
    yield f, (X,)


@case
def closure_value() -> Iterator[Step]:
    def make(n, other):
        def f(x):
            return x * n + other

        def change(m):
            nonlocal n
            n = m

        return f, change

    f, change = make(2, Y)
    yield f, (X,)
    change(3)
    yield f, (X,)
    change(X)
    yield f, (X,)


@case
def closure_is_emptied() -> Iterator[Step]:
    def make(n):
        def f(x):
            return x * n

        def change():
            nonlocal n
            del n

        return f, change

    f, change = make(2)
    yield f, (X,)
    change()
    yield f, (X,)


@case
def default_value() -> Iterator[Step]:
    def f(x, n=2, *, k=3):
        return x * n + k

    yield f, (X,)
    f.__defaults__ = (5,)
    yield f, (X,)
    f.__kwdefaults__ = {"k": 7}
    yield f, (X,)
    f.__kwdefaults__["k"] = 8
    yield f, (X,)


@case
def mutable_default() -> Iterator[Step]:
    def f(x, items=[1, 2]):  # noqa: B006
        return x * items[0] + len(items)

    yield f, (X,)
    f.__defaults__[0].append(3)
    yield f, (X,)
    f.__defaults__[0][0] = 9
    yield f, (X,)


@case
def code_of_the_function() -> Iterator[Step]:
    def f(x):
        return x * 2

    def g(x):
        return x * 3

    yield f, (X,)
    f.__code__ = g.__code__
    yield f, (X,)


@case
def code_default_and_closure_of_a_callee() -> Iterator[Step]:
    def make(n):
        def inner(x, m=1, *, k=1):
            return x * n + m * k

        return inner

    inner = make(2)

    def f(x):
        return inner(x)

    def replacement(n):
        def inner(x, m=1, *, k=1):
            return x - n - m - k

        return inner

    yield f, (X,)
    inner.__defaults__ = (3,)
    yield f, (X,)
    inner.__kwdefaults__ = {"k": 4}
    yield f, (X,)
    inner.__closure__[0].cell_contents = 5
    yield f, (X,)
    inner.__code__ = replacement(1).__code__
    yield f, (X,)
    inner = make(7)
    yield f, (X,)


@case
def global_of_a_callee_in_another_module() -> Iterator[Step]:
    module = types.ModuleType("other")
    exec("FACTOR = 2\ndef inner(x): return x * FACTOR", vars(module))

    def f(x):
        return module.inner(x) + module.FACTOR

    yield f, (X,)
    module.FACTOR = 3
    yield f, (X,)
    module.inner = lambda x: x - 1
    yield f, (X,)


@case
def function_argument() -> Iterator[Step]:
    def f(x, g):
        return g(x) * 2

    yield f, (X, lambda x: x + 1)
    yield f, (X, lambda x: x - 1)
    yield f, (X, ops.relu)
    yield f, (X, ops.neg)


# State of the interpreter.


@case
def grad_mode() -> Iterator[Step]:
    def f(x):
        return x * 2

    x = tensor(3, 4, grad=True)
    yield f, (x,)
    with autograd.no_grad():
        yield f, (x,)
    yield f, (x,)


@case
def default_dtype() -> Iterator[Step]:
    def f(n):
        return ops.ones((3,)) * n

    before = dtypes.get_default_dtype()
    try:
        yield f, (2,)
        dtypes.set_default_dtype(dtypes.float64)
        yield f, (2,)
    finally:
        dtypes.set_default_dtype(before)
    yield f, (2,)


@pytest.mark.parametrize("steps", case.all, ids=lambda c: c.__name__)
def test_nothing_is_stale(steps: Case) -> None:
    case.check(steps)
