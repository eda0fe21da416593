"""Programs that are captured whole: one graph, no break, the result of plain Python."""

# ruff: noqa: B018, RUF059, SIM223, UP028, UP031

from __future__ import annotations

import collections
import contextlib
import dataclasses
import enum
import functools
import itertools
import math
import operator

import pytest

import graphwright as gw

from ..captured import check

X = gw.randn(3, 4)
SCALE = 3
COUNTER = 0


def helper(x, a=2, *args, k=1, **kw):
    return x * a + k + len(args) + len(kw)


def straight(x):
    return gw.relu(x + 1) * 2


def loops(x):
    for i in range(3):
        x = x * i + 1
    i = 0
    while i < 3:
        x = x + i
        i += 1
    return x


def nested_loops(x):
    total = x
    for i in range(4):
        if i == 3:
            break
        for j in (1, 2, 3):
            if j == 2:
                continue
            total = total + i * j
    else:
        total = total * 100
    return total


def lists(x):
    values = []
    for i in range(3):
        values.append(x + i)
    values[1] = values[0] * 2
    values += [x]
    values.insert(0, x - 1)
    del values[2]
    values.extend((x, x))
    last = values.pop()
    return values, last, values[::-1], values[1:3], len(values)


def dicts(x):
    table = {"a": x, "b": x + 1}
    table["c"] = table["a"] * table["b"]
    table.update(d=x, e=1)
    del table["e"]
    table.setdefault("f", x * 3)
    return table, list(table.keys()), list(table.values()), "a" in table, table.get("zz", 3)


def comprehensions(x):
    return (
        [x + i for i in range(3)],
        {k: x * k for k in (1, 2)},
        {n % 2 for n in range(4)},
        [a + b for a in (x, x + 1) for b in (1, 2) if b > 1],
    )


def generators(x):
    def numbers(n):
        for i in range(n):
            yield i
        yield from (10, 20)

    return sum(x * i for i in numbers(3)), list(numbers(2)), any(n > 1 for n in numbers(5))


def calls(x):
    args, kwargs = (3, 4, 5), {"k": 2, "z": 3}
    return helper(x), helper(x, 3, 4, 5, k=2, z=3), helper(x, *args, **kwargs), helper(x, a=7)


def closures(x):
    y, n = x + 1, 0

    def inner(z):
        nonlocal n
        n += 1
        return z * y

    first = inner(x)
    return first, inner(first), n


def recursion(x):
    def power(n):
        return x if n == 1 else x * power(n - 1)

    return power(5)


def shapes(x):
    b, c = x.shape
    if b > 2:
        x = x.reshape(c, b)
    return x.sum(0) / b, x.shape, x.ndim, x.dtype, x.size(0), x.numel()


def unpacking(x):
    first, *rest = (x, x + 1, x + 2)
    (a, b), c = rest, first
    *init, last = [a, b, c]
    return a + c, b, init, last


def no_grad(x):
    with gw.no_grad():
        y = x * 2
    return y + 1


@gw.no_grad()
def decorated_no_grad(x):
    return x * 2


def globals_(x):
    return x * SCALE


def type_questions(x):
    if isinstance(x, gw.Tensor) and x.dtype == gw.float32 and x.ndim == 2:
        return x.T @ x, type(x) is gw.Tensor, callable(x), hasattr(x, "shape"), hasattr(x, "zz")
    return x


def indexing(x):
    return x[1:, None, ..., ::2], x[0], x[:, -1], x[1][2]


def in_place(x):
    y = x.clone()
    y += 1
    y[0] = 0
    y.mul_(2)
    return y


def creation(x):
    return x + gw.ones(3, 4) * gw.arange(4) + gw.zeros_like(x)


def functional(x):
    double = lambda q: q * 2  # noqa: E731
    add = functools.partial(operator.add, x)
    return (
        list(map(double, [x, x + 1])),
        add(3),
        functools.reduce(lambda a, b: a + b, [x, x, x]),
        list(zip((1, 2), (x, x), strict=True)),
        list(enumerate([x], start=2)),
        list(filter(None, [0, 1, 2])),
        list(reversed([1, x])),
        list(itertools.chain([x], (1, 2))),
        list(itertools.product((1, 2), (3, 4))),
    )


def numbers(x):
    return (
        x * math.sqrt(4.0),
        sorted([3, 1, 2], key=lambda v: -v),
        max(1, 2),
        min([4, 3]),
        any([False, 1]),
        all([]),
        divmod(7, 2),
        round(2.567, 2),
        abs(-3),
        2**10,
        int("12"),
        float(3),
        sum([1, 2, 3]),
        math.prod(x.shape),
    )


def strings(x):
    name = f"{3}{'a'!r}{2.5:.2f}{x.shape[0]:>4}"
    return x + len(name), name, ",".join(["a", "b"]), "x%d" % 3, name.upper()


def assertion(x):
    assert x.shape[0] == 3, "rows"
    return x * 2


def chained(x):
    return 0 < x.shape[0] <= 3, x + 1, (n := x.shape[1]), n + 1


def try_without_exception(x):
    try:
        y = x + 1
    except ValueError:
        y = x
    else:
        y = y * 2
    finally:
        z = 1
    return y * z


class Point:
    scale = 2

    def __init__(self, x, y):
        self.x = x
        self.y = y

    @property
    def total(self):
        return self.x + self.y

    @staticmethod
    def double(v):
        return v * 2

    @classmethod
    def origin(cls, v):
        return cls(v, v)

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __call__(self, v):
        return self.x * v

    def __len__(self):
        return 2

    def __getitem__(self, key):
        return (self.x, self.y)[key]


class Shifted(Point):
    def __init__(self, x, y, shift):
        super().__init__(x, y)
        self.shift = shift

    @property
    def total(self):
        return super().total + self.shift


def objects(x):
    p = Point(x, x + 1)
    q = Shifted.origin if False else Shifted(x, x, 3)
    p.y = p.y * Point.scale
    r = p + q
    return r.x, p.total, q.total, Point.double(x), p(2), len(p), p[0], Point.origin(x).x


def returned_object(x):
    p = Point(x * 2, 3)
    p.me = [p.x]
    return p


Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass
class Config:
    width: int
    rate: float = 0.5


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def records(x):
    p = Pair(x, b=2)
    c = Config(3)
    a, b = p
    return p.a * b, c.width + c.rate, x * (2 if Color.RED is Color.RED else 3), p


def match_free_selection(x):
    table = {Color.RED.value: x, "k": x * 2}
    return table[1] if "k" in table else None


def star_arguments(x):
    def g(*a, **k):
        return a[0] + k["q"]

    return g(*[x], **{"q": 1})


def ternaries(x):
    flag = None
    return (x * 2 if flag is None else -x), (flag or 3), (0 and x), not flag


def imports(x):
    import math as m
    from operator import mul

    return mul(x, m.floor(2.7))


def global_write(x):
    global COUNTER
    COUNTER = COUNTER + 1
    return x + COUNTER


def delete(x):
    y = x + 1
    z = y * 2
    del y
    return z


def compiling(x):
    from graphwright.capture.vm.allowed import is_compiling

    return x * 2 if is_compiling() else x + x


PROGRAMS = [
    straight, loops, nested_loops, lists, dicts, comprehensions, generators, calls, closures,
    recursion, shapes, unpacking, no_grad, decorated_no_grad, globals_, type_questions, indexing,
    in_place, creation, functional, numbers, strings, assertion, chained, try_without_exception,
    objects, returned_object, records, match_free_selection, star_arguments, ternaries, imports,
    delete, compiling,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_captured_whole(program):
    check(program, X, graphs=1)


def test_one_op_per_operation():
    captured = check(straight, X)
    assert captured.ops == [3]
    assert captured.compiled.entries[0].direct is not None


def test_global_write_is_replayed():
    global COUNTER
    COUNTER = 0
    from ..captured import Captured

    captured = Captured(global_write)
    captured(X)
    assert COUNTER == 1
    captured(X)
    assert COUNTER == 2


def test_node_names_the_users_line():
    captured = check(straight, X)
    stacks = {node.meta["stack"][2] for node in captured.record.graphs[0].graph.graph.nodes
              if "stack" in node.meta}
    assert stacks == {"return gw.relu(x + 1) * 2"}


@contextlib.contextmanager
def scaled(log):
    log.append("in")
    yield 3
    log.append("out")


class Scope:
    def __init__(self):
        self.depth = 0

    def __enter__(self):
        self.depth += 1
        return self

    def __exit__(self, *exc):
        self.depth -= 1
        return False


def context_managers(x):
    log = []
    scope = Scope()
    with scaled(log) as k, scope as inner:
        y = x * k + inner.depth
    return y, log, scope.depth


class Refused(ValueError):
    pass


def find(table, key):
    try:
        return table[key]
    except KeyError:
        return 5


def checked(v):
    if v > 2:
        raise Refused("too big", v)
    return v


def exceptions(x):
    total = find({"a": 1}, "a") + find({"a": 1}, "b")
    try:
        checked(1)
        checked(3)
    except (TypeError, Refused) as error:
        total += error.args[1]
    else:
        total = 100
    finally:
        total += 1
    try:
        x.no_such_attribute
    except AttributeError:
        total += 1
    try:
        [1, 2][5]
    except LookupError:
        total += 1
    items = iter((1, 2))
    while True:
        try:
            total += next(items)
        except StopIteration:
            break
    return x * total


class Lazy:
    def __getattr__(self, name):
        if name.startswith("known"):
            return len(name)
        raise AttributeError(name)


def dynamic_attributes(x):
    lazy = Lazy()
    return x * lazy.known, hasattr(lazy, "other"), getattr(lazy, "more", 3)


def select(value):
    match value:
        case [1, *rest]:
            return len(rest)
        case {"k": k, **others}:
            return k + len(others)
        case Point(x=x, y=3):
            return x
        case Config(width, 0.5):
            return width
        case int(n) | float(n) if n > 2:
            return n
        case str():
            return 11
        case None | True:
            return 12
        case _:
            return 13


def patterns(x):
    subjects = ([1, 2, 3], {"k": 4, "z": 1}, Point(5, 3), Config(6), 7, 8.5, "s", None, 1, (2,))
    return [select(subject) for subject in subjects], x * select((1, 2))


MORE = [context_managers, exceptions, dynamic_attributes, patterns]


@pytest.mark.parametrize("program", MORE, ids=lambda p: p.__name__)
def test_exceptions_handled_in_the_frame(program):
    check(program, X, graphs=1)
