"""Functions, closures, generators, and the modules functools, itertools, operator, math, copy."""

# ruff: noqa: B023, RUF017

from __future__ import annotations

import functools
import itertools
import math
import operator
import typing

import pytest

import graphwright as gw

from ..programs import Programs, whole

X = gw.tensor([[1.0, -2.0, 3.0], [4.0, 0.5, -6.0]])
program = Programs()
TOTAL = 0
TABLE = {"calls": 0}


def run(function):
    whole(function, X)


def twice(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) * 2

    return wrapper


@twice
def decorated(x, k=1):
    """Adds."""
    return x + k


@functools.cache
def cached(n):
    return n * n


@functools.cache
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def collecting(item, into=[]):  # noqa: B006
    into.append(item)
    return len(into)


def mixed(a, b=2, /, c=3, *args, d, e=5, **rest):
    return a, b, c, args, d, e, rest


def scaled(x, factor=2, /, *rest, power=1, **more):
    total = x * factor**power
    return locals()


@program
def its_own_variables(x):
    shift = 3

    def shifted():
        return x + shift

    names = locals()
    late = shifted() * 2
    return list(names), names["shift"], late, names["x"] is x


@program
def the_variables_of_a_called_function(x):
    found = scaled(x, 3, "more", flag=True)
    return {name: value for name, value in found.items() if name != "x"}


@program
def variables_into_attributes(x):
    class Options:
        def __init__(self, width, depth=2):
            self.__dict__.update({k: v for k, v in vars().items() if k != "self"})

    made = Options(x * 2)
    return made.width, made.depth, [*vars(made)]


@program
def decorators(x):
    return decorated(x), decorated(x, k=3), decorated.__name__, decorated.__wrapped__(x)


@program
def caches(x):
    return x * cached(3), cached(3), fibonacci(7)


@program
def partials(x):
    p = functools.partial(mixed, 1, d=4)
    q = functools.partial(p, 7, e=9)
    names = hasattr(p, "__name__"), p.__call__(7, c=8), gw.sin.__name__, gw.sin.__module__
    return x * 1, p(), q(c=8), p.func is mixed, p.args, p.keywords, q.args, names


@program
def reductions(x):
    return (
        functools.reduce(lambda a, b: a + b, [x, x, x]),
        functools.reduce(operator.mul, range(1, 5)),
        functools.reduce(operator.add, [], x),
        functools.cmp_to_key,
        sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a)),
    )


@program
def keys_that_leave(x):
    key = functools.cmp_to_key(lambda a, b: b - a)
    made = key(3)
    outside = [made]
    outside.sort()
    return x + 1, outside[0] is made, made < key(2), made.obj


@program
def keys_of_a_comparison(x):
    calls = []
    key = functools.cmp_to_key(lambda a, b: calls.append((a, b)) or a - b)
    one, two = key(1), key(2)
    compared = one == key(1), one != key(1), one > two, one >= one, one <= two
    kinds = type(key).__name__, type(key) is type(one), hasattr(key, "__name__"), callable(key)
    kinds += isinstance(one, type(key)), isinstance(one, int), callable(one)
    return x + 1, compared, kinds, max([3, 1, 5], key=key), min([2, 1], key=key), calls


@program
def operators(x):
    first, both = operator.itemgetter(0), operator.itemgetter(1, "k")
    shape = operator.attrgetter("shape")
    names = operator.attrgetter("ndim", "dtype")
    method = operator.methodcaller("sum", 0)
    table = {1: 5, "k": 6}
    return (
        first([x, 1]),
        both(table),
        shape(x)[0],
        names(x),
        method(x),
        operator.add(x, 1),
        operator.index(4),
        operator.concat([1], [2]),
        operator.countOf([1, 1, 2], 1),
        operator.indexOf([5, 6], 6),
        operator.length_hint([1, 2]),
        operator.iadd([1], [2]),
        operator.contains([1], 1),
        operator.truth([]),
        operator.not_(0),
        operator.xor(5, 3),
        operator.delitem(table, "k"),
        table,
        operator.call(len, [1]),
        operator.is_(x, x),
    )


@program
def iterators_of_itertools(x):
    it = itertools
    return (
        list(it.chain([1], (x, 2))),
        list(it.chain.from_iterable([[1], [2, 3]])),
        list(it.islice(it.count(5, 2), 3)),
        list(it.islice("abcdef", 1, 5, 2)),
        list(it.accumulate([1, 2, 3])),
        list(it.accumulate([1, 2, 3], operator.mul, initial=10)),
        list(it.takewhile(lambda v: v < 3, [1, 2, 3, 1])),
        list(it.dropwhile(lambda v: v < 3, [1, 3, 1])),
        list(it.starmap(pow, [(2, 3), (3, 2)])),
        list(it.repeat(x, 2)),
        list(it.compress("abc", [1, 0, 1])),
        list(it.filterfalse(lambda v: v % 2, range(5))),
        list(it.zip_longest([1, 2], "a", fillvalue=0)),
        [(k, list(g)) for k, g in it.groupby([1, 1, 2, 1])],
        [(k, list(g)) for k, g in it.groupby("aAb", key=str.lower)],
        list(it.islice(it.cycle([1, 2]), 5)),
        [list(t) for t in it.tee([1, 2], 2)],
    )


@program
def combinations_of_itertools(x):
    it = itertools
    return (
        x + 1,
        list(it.product([1, 2], repeat=2)),
        list(it.product("ab", [x])),
        list(it.permutations([1, 2, 3], 2)),
        list(it.combinations(range(4), 2)),
        list(it.combinations_with_replacement("ab", 2)),
        list(it.pairwise([1, 2, 3])),
        next(it.count(3)),
        list(zip(it.count(), "ab", strict=False)),
    )


@program
def builtin_iterators(x):
    numbers = iter([1, 2, 0, 3])
    until = list(iter(lambda: next(numbers), 0))
    return (
        x + 1,
        until,
        list(map(lambda a, b: a + b, [1, 2], [x, 3])),
        list(filter(None, [0, 1, "", "a"])),
        list(enumerate("ab", start=3)),
        list(enumerate("ab", 1)),
        list(zip([1], [2], strict=True)),
        list(reversed([1, x])),
        any(v > 2 for v in [1, 3]),
        all([]),
        sum([[1], [2]], []),
        next(iter([]), "none"),
        list(zip()),
        dict(zip("ab", [1, 2], strict=True)),
        list(iter((1, 2))),
        sum((1, 2), start=5),
        [*map(str, (1, 2))],
        list(filter(lambda v: v, [0, 2])),
    )


@program
def mathematics(x):
    return (
        x * math.sqrt(2),
        math.pi,
        math.floor(2.5),
        math.gcd(12, 18),
        math.inf,
        math.isclose(1, 1),
        math.prod([2, 3]),
        math.hypot(3, 4),
        math.comb(5, 2),
        math.log(8, 2),
        math.fsum([0.1] * 3),
        math.isnan(math.nan),
        math.factorial(5),
        math.ceil(1.2),
        math.copysign(1, -2),
        math.trunc(2.7),
    )


@program
def argument_kinds(x):
    args, kwargs = (1, 2), {"d": 4, "z": 5}
    return (
        x + 0,
        mixed(*args, **kwargs),
        mixed(1, d=2),
        mixed(1, 2, 3, 4, 5, d=6, f=7),
        mixed(1, c=0, **kwargs),
    )


@program
def mutable_defaults(x):
    def local(item, into=[]):  # noqa: B006
        into.append(item)
        return list(into)

    return local(x), local(1), x * 2


@program
def nonlocal_writes(x):
    count, log = 0, []

    def step(v):
        nonlocal count, x
        count += 1
        x = x + v
        log.append(count)

    for i in range(3):
        step(i)
    return x, count, log


@program
def counter_closures(x):
    def make():
        n = 0

        def bump(by=1):
            nonlocal n
            n += by
            return n

        return bump, lambda: n

    bump, read = make()
    bump()
    bump(3)
    return (
        x * read(),
        [f() for f in [lambda i=i: i for i in range(3)]],
        [f() for f in [lambda: i for i in range(3)]],
    )


@program
def recursive_closures(x):
    def factorial(n):
        return 1 if n == 0 else n * factorial(n - 1)

    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    return x * factorial(4), even(4), odd(4)


@program
def function_attributes(x):
    def f(a, b=2, *, c: int = 3) -> int:
        """Doc."""
        return a

    f.tag = 5
    return (
        x + f.tag,
        f.__name__,
        f.__qualname__,
        f.__doc__,
        f.__defaults__,
        f.__kwdefaults__,
        hasattr(f, "no"),
    )


@program
def simple_generators(x):
    def count(n):
        for i in range(n):
            yield i * x
        return "done"

    def delegate():
        result = yield from count(2)
        yield result
        yield from [7, 8]

    g = delegate()
    return list(g), next(g, None), [v for v in count(2)], sum(i for i in range(4)), (*count(1),)


@program
def sending(x):
    def average():
        total, n = 0, 0
        value = None
        while True:
            value = yield (total / n if n else None)
            total = total + value
            n += 1

    g = average()
    first = next(g)
    results = [g.send(x), g.send(3.0)]
    g.close()
    return first, results


@program
def throwing(x):
    log = []

    def body():
        while True:
            try:
                value = yield len(log)
                log.append(value)
            except ValueError as error:
                log.append(str(error))
            finally:
                log.append("finally")

    g = body()
    next(g)
    g.send(1)
    second = g.throw(ValueError("bad"))
    g.close()
    return x + second, log


@program
def generator_errors(x):
    def broken():
        yield 1
        raise KeyError("k")

    def returning():
        yield 1
        return 5

    log = []
    try:
        for v in broken():
            log.append(v)
    except KeyError as error:
        log.append(error.args)
    g = returning()
    next(g)
    try:
        next(g)
    except StopIteration as stop:
        log.append(stop.value)
    try:
        g.throw(TypeError)
    except TypeError:
        log.append("thrown into a finished one")
    return x * 2, log


@program
def delegated_sends(x):
    def inner():
        got = yield "first"
        try:
            got2 = yield got
        except ValueError:
            got2 = "caught"
        return got2

    def outer():
        result = yield from inner()
        yield ("result", result)

    g = outer()
    a = next(g)
    b = g.send(x)
    c = g.throw(ValueError())
    return a, b, c, next(g, "end")


@program
def early_close(x):
    log = []

    def resource():
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    for v in resource():
        log.append(v)
    g = resource()
    next(g)
    g.close()
    g.close()
    return x + len(log), log


@program
def walrus(x):
    values = [y for i in range(4) if (y := i * 2) > 2]
    while (n := len(values)) < 4:
        values.append(n)
    return x + y, values, n


@program
def deletes(x):
    a, b = [1, 2, 3], {"k": 1}
    del a[0], b["k"]
    y = x + 1
    del y
    return a, b, x * 2


@program
def global_writes(x):
    global TOTAL
    TOTAL = 3
    TOTAL += 4
    TABLE["calls"] = TOTAL
    return x * TOTAL, TABLE["calls"]


@program
def typing_is_nothing(x):
    value: typing.List[int] = [1]  # noqa: UP006
    y = typing.cast(gw.Tensor, x)
    if typing.TYPE_CHECKING:
        y = y + 1
    z: int | None = None
    return y * value[0], z


@program
def lambdas(x):
    compose = lambda *fs: lambda v: functools.reduce(lambda a, f: f(a), fs, v)  # noqa: E731
    return compose(lambda v: v + 1, lambda v: v * 2, gw.relu)(x)


@program
def inner_comprehensions(x):
    matrix = [[i * j for j in range(3)] for i in range(2)]
    flat = [v for row in matrix for v in row if v]
    table = {i: {j for j in range(i)} for i in range(3)}
    scope = 5
    return (
        x * scope,
        matrix,
        flat,
        table,
        [scope + i for i in range(2)],
        {k: v for k, v in enumerate("ab")},
    )


@program
def copying_functions(x):
    import copy

    f = copy.copy(decorated)
    g = copy.deepcopy(decorated)
    return f is decorated, g is decorated, copy.deepcopy(5), copy.copy((1, x))[1], x + 1


@pytest.mark.parametrize("function", program.all, ids=lambda f: f.__name__)
def test_functions(function):
    run(function)


def test_a_key_that_leaves_is_one_of_functools():
    def f(x):
        return x + 1, functools.cmp_to_key(lambda a, b: b - a)(3)

    one, two = f(gw.ones(2))[1], gw.compile(f, fullgraph=True)(gw.ones(2))[1]
    assert type(one) is type(two)
    assert two.obj == 3 and not two < one and not one < two
