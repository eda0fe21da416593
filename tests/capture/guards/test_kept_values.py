"""Values that objects written in C keep: caches, weak references and context variables."""

from __future__ import annotations

import contextvars
import functools
import random
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.capture import _eval_frame

from ..captured import Captured, same

X = gw.arange(4.0)
LOG: list[int] = []


def both(
    make: Callable[[], tuple[Callable[..., Any], Callable[[], Any]]],
    *calls: tuple[Any, ...],
    breaks: int = 0,
) -> Captured:
    """Plainly and captured, the calls give the same and leave the same state behind.

    make: a function to call, and one that shows the state.
    """
    function, state = make()
    plain = [(function(*args), state()) for args in calls]
    function, state = make()
    captured = Captured(function)
    for args, expected in zip(calls, plain, strict=True):
        assert same((captured(*args), state()), expected)
    assert len(captured.breaks) == breaks, list(map(str, captured.record.breaks))
    return captured


# functools.lru_cache


def test_a_cached_tensor_is_made_in_the_graph_and_then_read_from_the_cache() -> None:
    def make() -> Any:
        @functools.lru_cache(maxsize=8)
        def mask(size: int, *, dtype: Any = gw.float32) -> Any:
            return gw.tril(gw.ones(size, size, dtype=dtype))

        def f(x: Any) -> Any:
            kept = mask(4, dtype=gw.float32)
            return kept @ x, kept is mask(4, dtype=gw.float32)

        return f, lambda: tuple(mask.cache_info())

    captured = both(make, (X,), (X + 1,), (X + 2,))
    assert captured.ops == [3, 1]    # the first call makes the mask, the others find it


def test_what_a_cache_keeps_is_the_object_that_the_frame_gave() -> None:
    kept = functools.lru_cache(maxsize=None)(lambda n: [gw.arange(float(n))])
    captured = Captured(lambda x: (x + kept(4)[0], kept(4)))
    first = captured(X)[1]
    assert captured(X)[1] is first is kept(4)
    first.append(3)
    assert captured(X)[1] is first and len(first) == 2
    assert captured.breaks == []


def test_caches_that_are_cleared_are_filled_again() -> None:
    calls: list[int] = []

    @functools.cache
    def scale(n: int) -> int:
        calls.append(n)
        return n + len(calls)

    captured = Captured(lambda x: x * scale(3))
    for clear, factor in ((False, 4), (False, 4), (True, 5), (False, 5)):
        if clear:
            scale.cache_clear()
        assert same(captured(X), X * factor)
    assert calls == [3, 3] and scale.cache_info()[:2] == (1, 1)
    assert captured.breaks == []


def test_a_constant_needs_one_version_whether_it_is_kept_or_not() -> None:
    factor = 2

    @functools.cache
    def scale(n: int) -> int:
        return n * factor

    captured = Captured(lambda x: x * scale(3))
    for hits in range(3):
        assert same(captured(X), X * 6) and scale.cache_info()[:2] == (hits, 1)
    assert len(captured.record.frames) == 1
    factor = 5
    assert same(captured(X), X * 6)
    scale.cache_clear()
    assert same(captured(X), X * 15)


def test_cached_methods_are_looked_up_for_the_object_at_hand() -> None:
    class Table:
        def __init__(self, k: int) -> None:
            self.k = k

        @functools.cache    # noqa: B019
        def row(self, n: int) -> Any:
            return gw.arange(float(n)) * self.k

    two, three = Table(2), Table(3)
    captured = Captured(lambda x, table: x + table.row(4))
    for table, k in ((two, 2), (three, 3), (two, 2), (three, 3)):
        assert same(captured(X, table), X + X * k)
    info = Table.row.cache_info()
    assert (info.hits, info.misses, info.currsize) == (2, 2, 2)
    assert captured.breaks == []
    assert len(captured.record.frames) == 3    # a row is made twice, and found by one version


def test_recursion_through_a_cache_counts_as_plain_python_does() -> None:
    def make() -> Any:
        @functools.cache
        def fib(n: int) -> int:
            return n if n < 2 else fib(n - 1) + fib(n - 2)

        return (lambda x: x * fib(9) + fib(4)), lambda: tuple(fib.cache_info())

    both(make, (X,), (X,))


@pytest.mark.parametrize("typed", [False, True])
def test_keys_are_told_apart_as_the_cache_does(typed: bool) -> None:
    def make() -> Any:
        @functools.lru_cache(maxsize=None, typed=typed)
        def name(*args: Any, **kwargs: Any) -> str:
            return f"{args} {kwargs}"

        def f(x: Any) -> Any:
            keywords = [name(a=1, b=2), name(b=2, a=1)]
            return x + 1, [name(1), name(1.0), name(True), name("1"), *keywords]

        return f, lambda: tuple(name.cache_info())

    both(make, (X,), (X,))


def test_what_would_be_driven_out_is_left_to_the_cache() -> None:
    def make() -> Any:
        @functools.lru_cache(maxsize=2)
        def twice(n: int) -> int:
            return n * 2

        return (lambda x: x * twice(1) * twice(2) * twice(3)), lambda: tuple(twice.cache_info())

    both(make, (X,), (X,), (X,), breaks=1)


@pytest.mark.parametrize("maxsize", [None, 8])
def test_results_for_sizes_that_vary_are_looked_up_by_each_call(maxsize: int | None) -> None:
    def make() -> Any:
        @functools.lru_cache(maxsize=maxsize)
        def plan(shape: Any, factor: int, pairs: Any = ()) -> Any:
            sides = []
            for side in shape:
                sides.append(side * factor)
            return None, sides, {"half": shape[0] // 2, "none": []}, tuple(shape), pairs, 0.5

        def f(x: Any) -> Any:
            first = plan(x.shape, 2, pairs=(("n", x.shape[0]), ("m", 3)))
            again = plan(x.shape, 2, pairs=(("n", x.shape[0]), ("m", 3)))
            _, sides, facts, shape, pairs, weight = first
            y = x.reshape(-1)[: facts["half"]] * sides[1] * weight
            return y, first is again, shape, pairs, sides

        return f, lambda: tuple(plan.cache_info())

    captured = both(make, *[(gw.ones(n, 3),) for n in (4, 5, 6, 5, 7, 4)])
    assert len(captured.ops) == 2    # one for the first size, one for all others


def test_what_is_kept_for_sizes_that_vary_is_the_object_of_the_cache() -> None:
    @functools.cache
    def sides(shape: Any) -> list[int]:
        return [side + 1 for side in shape]

    def f(x: Any) -> Any:
        return x * sides(x.shape)[0], sides(x.shape)

    captured = Captured(f)
    for n in (2, 3, 4):
        assert captured(gw.ones(n))[1] is sides(gw.Size([n]))
    sides(gw.Size([4]))[0] = 9           # somebody changes what is kept
    sides(gw.Size([5])).append(1)
    for n, factor, kept in ((4, 9, [9]), (5, 6, [6, 1]), (6, 7, [7])):
        found, again = captured(gw.ones(n))
        assert (found.tolist(), again) == ([float(factor)] * n, kept)
        assert again is sides(gw.Size([n]))
    assert captured.breaks == [] and len(captured.ops) == 2


def test_a_frame_that_changes_what_is_kept_for_sizes_that_vary() -> None:
    def make() -> Any:
        @functools.cache
        def seen(n: int) -> list[int]:
            return [n]

        def f(x: Any) -> Any:
            found = seen(x.shape[0])
            found.append(len(found))
            return x + len(found)

        return f, lambda: [list(seen(n)) for n in (2, 3, 4)]

    both(make, *[(gw.ones(n),) for n in (2, 3, 4, 4, 3, 4)], breaks=1)


@pytest.mark.parametrize("result", [lambda n: gw.ones(n), lambda n: LOG.append(n), lambda n: {n}])
def test_functions_whose_results_for_sizes_that_vary_cannot_be_told(result: Any) -> None:
    def make() -> Any:
        LOG.clear()
        made = functools.cache(lambda n: result(n))
        return (lambda x: (x + 1, made(x.shape[0]))), lambda: (list(LOG), made.cache_info()[:2])

    both(make, *[(gw.ones(n),) for n in (2, 3, 4, 3)], breaks=1)


def test_caches_of_few_results_drive_out_those_for_sizes_that_vary() -> None:
    def make() -> Any:
        @functools.lru_cache(maxsize=1)
        def one(n: int) -> list[int]:
            return [n]

        def f(x: Any) -> Any:
            first, second = one(x.shape[0]), one(x.shape[1])
            return x + 1, first is one(x.shape[0]), second

        return f, lambda: tuple(one.cache_info())

    both(make, *[(gw.ones(n, n + 3),) for n in (2, 3, 4)], breaks=3)


def identities(function: Any, sizes: Iterable[tuple[int, ...]]) -> list[int]:
    """Which of the objects that the function gives are the same: for each, where it was first."""
    given: list[Any] = []
    for size in sizes:
        given += function(gw.ones(size))[1:]
    return [next(i for i, known in enumerate(given) if known is one) for one in given]


@pytest.mark.parametrize("f, maxsize, sizes", [
    (lambda one, x: (one(x.shape[0]), one(x.shape[1])), None, [(4, 6), (6, 6), (7, 7), (8, 7)]),
    (lambda one, x: (one(5), one(x.shape[0])), None, [(3,), (4,), (5,), (6,)]),
    (lambda one, x: (one(x.shape[0]), one(5)), None, [(3,), (4,), (5,), (6,)]),
    (lambda one, x: (one(x.shape[0]), one(5)), 2, [(3,), (4,), (6,), (7,), (6,), (7,)]),
    (lambda one, x: (one(5), one(x.shape[0])), 2, [(3,), (4,), (6,), (7,), (6,), (7,)]),
    (lambda one, x: (one(x.shape[0]), one(x.shape[1])), 2,
     [(2, 3), (4, 5), (6, 5), (7, 6), (6, 7), (8, 6), (6, 8), (9, 6)]),
    (lambda one, x: (one(x.shape[0], 1), one(x.shape[0], True), one(x.shape[0], 1.0)), 9,
     [(3,), (4,), (5,), (4,)]),
], ids=["equal", "constant", "before a constant", "drives out a constant", "after a constant",
        "drives out", "equal constants"])
def test_calls_on_sizes_that_vary_share_what_their_keys_share(
    f: Any, maxsize: int | None, sizes: Any
) -> None:
    def make() -> Any:
        one = functools.lru_cache(maxsize)(lambda n, k=0: [n, k])
        return lambda x: (x + 1, *f(one, x))

    captured = Captured(make())
    assert identities(captured, sizes) == identities(make(), sizes)
    assert captured.breaks == []


class HashedByUser:
    """An object whose hash is the user's code."""

    def __hash__(self) -> int:
        LOG.append(0)
        return 1


HELD = HashedByUser()


def _twice(n: int) -> Any:
    made = [n]
    return made, made


def _drawn(n: int) -> int:
    random.random()
    return n


@pytest.mark.parametrize("function, argument", [
    (_twice, lambda n: n),
    (_drawn, lambda n: n),
    (lambda pair: pair[0], lambda n: (n, [1])),
    (lambda pair: pair[0], lambda n: (n, HELD)),
], ids=["one list twice", "draws", "unhashable", "hashed by the user"])
def test_calls_on_sizes_that_vary_that_are_left_to_the_cache(function: Any, argument: Any) -> None:
    def make() -> Any:
        LOG.clear()
        random.seed(0)
        cached = functools.cache(function)

        def f(x: Any) -> Any:
            y = x + 1
            try:
                found = cached(argument(x.shape[0]))
            except TypeError as error:
                return y, str(error)
            return y, found, isinstance(found, tuple) and found[0] is found[1]

        return f, lambda: (len(LOG), random.getstate(), cached.cache_info()[:2])

    for dynamic in (None, True):
        function_, state = make()
        plain = [(function_(gw.ones(n)), state()) for n in (2, 3, 4, 3)]
        function_, state = make()
        captured = Captured(function_, dynamic=dynamic)
        assert same([(captured(gw.ones(n)), state()) for n in (2, 3, 4, 3)], plain)


def test_a_constant_for_which_a_cached_function_draws() -> None:
    def make() -> Any:
        random.seed(0)
        drawn = functools.cache(_drawn)
        return lambda x: x + drawn(3), random.getstate

    both(make, (X,), (X,), (X + 1,))


def test_what_a_cached_function_changes_is_changed_when_it_runs() -> None:
    def make() -> Any:
        seen: list[int] = []

        @functools.cache
        def noted(n: int) -> int:
            seen.append(n)
            return n

        return (lambda x: x * noted(2)), lambda: list(seen)

    both(make, (X,), (X,), (X,))


def test_a_cache_is_filled_by_a_call_in_which_the_function_is_stood_in_for() -> None:
    @functools.lru_cache(maxsize=2)
    def never(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError

    assert _eval_frame.cached_function(never) is never.__wrapped__
    made = object()
    assert _eval_frame.fill_cache(never, made, 1, a=2) is made
    assert never(1, a=2) is made and never.cache_info()[:2] == (1, 1)
    key = _eval_frame.cache_key(never, (1,), {"a": 2})
    assert _eval_frame.cached_result(never, key) is made
    thing = object()
    _eval_frame.fill_cache(never, made, thing)
    key = _eval_frame.cache_key(never, (_eval_frame.MISSING,), {})
    assert _eval_frame.cached_result(never, key, thing) is made
    assert _eval_frame.cached_result(never, key, made) is _eval_frame.MISSING
    with pytest.raises(TypeError, match="lru_cache"):
        _eval_frame.cached_result(len, 1)


# weak references


class Holder:
    """Something with a number and a tensor."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.t = gw.ones(4) * k


def test_what_a_weak_reference_refers_to_is_read_through_it() -> None:
    holders = [Holder(2), Holder(3)]
    place = {"reference": weakref.ref(holders[0])}

    def f(x: Any) -> Any:
        held = place["reference"]()
        return x - 1 if held is None else x * held.k + held.t

    captured = Captured(f)
    assert same(captured(X), f(X))
    holders[0].k, holders[0].t = 5, gw.zeros(4)
    assert same(captured(X), X * 5)
    place["reference"] = weakref.ref(holders[1])
    assert same(captured(X), X * 3 + 3)
    holders.clear()
    assert same(captured(X), X - 1)
    assert captured.breaks == []


def test_what_a_weak_reference_refers_to_may_end_once_the_guards_have_seen_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another thread's doing, or the collector's: the frame sees that it is gone."""
    holders = [Holder(2)]
    reference, referent = weakref.ref(holders[0]), _eval_frame.referent

    def f(x: Any) -> Any:
        held = reference()
        return x + 1, "gone" if held is None else held

    def ends(found: object) -> Any:
        holders.clear()
        return referent(found)

    captured = Captured(f)
    assert captured(X)[1] is holders[0]
    monkeypatch.setattr(_eval_frame, "referent", ends)
    assert same(captured(X), (X + 1, "gone"))


def test_which_object_a_weak_reference_refers_to_is_no_constant() -> None:
    holders = [Holder(2), Holder(3)]
    place = {"reference": weakref.ref(holders[0])}
    captured = Captured(lambda x: (x + 1, place["reference"]() is holders[1]))
    assert [captured(X)[1], captured(X)[1]] == [False, False]
    place["reference"] = weakref.ref(holders[1])
    assert captured(X)[1] is True
    assert captured.breaks == []


def test_children_may_know_their_parents() -> None:
    class Child(nn.Module):
        def __init__(self, parent: Any) -> None:
            super().__init__()
            self.parent = weakref.ref(parent)

        def forward(self, x: Any) -> Any:
            return x * self.parent().scale

    class Parent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(gw.ones(4))
            self.child = Child(self)

        def forward(self, x: Any) -> Any:
            return self.child(x) + self.scale

    parent = Parent()
    captured = Captured(lambda x: parent(x))
    for _ in range(2):
        captured(X).sum().backward()
        assert same(parent.scale.grad, X + 1)
        parent.scale.grad = None
    assert captured.breaks == []


def test_weak_dicts_of_values_are_read() -> None:
    holders = [Holder(2), Holder(3)]
    table = weakref.WeakValueDictionary(a=holders[0])

    def f(x: Any) -> Any:
        found = table.get("b")
        return x * table["a"].k, "b" in table, x if found is None else x * found.k

    captured = Captured(f)
    assert same(captured(X), f(X))
    table["b"] = holders[1]
    assert same(captured(X), f(X))
    assert captured.breaks == []


# context variables


def test_context_variables_are_read_with_their_defaults() -> None:
    plain: contextvars.ContextVar[int] = contextvars.ContextVar("plain")
    defaulted = contextvars.ContextVar("defaulted", default=3)

    def f(x: Any) -> Any:
        try:
            return x * plain.get(), defaulted.get(5), plain.get(2)
        except LookupError:
            return x, defaulted.get(), defaulted.get(5), plain.get(2), plain.name

    captured = Captured(f)
    assert same(captured(X), (X, 3, 5, 2, "plain")) and same(captured(X), f(X))
    plain.set(7)
    defaulted.set(8)
    assert same(captured(X), (X * 7, 8, 7)) and same(captured(X), f(X))
    assert captured.breaks == []


def test_what_is_set_in_the_frame_is_set_after_it() -> None:
    def make() -> Any:
        last: contextvars.ContextVar[Any] = contextvars.ContextVar("last", default=None)
        kept: list[Any] = []

        def f(x: Any) -> Any:
            before = last.get()
            kept.append(before)
            last.set(x * 2 if before is None else before + x)
            return last.get() + 1

        return f, lambda: (last.get(), list(kept))

    both(make, (X,), (X,), (X,))


def test_what_is_reset_in_the_frame_is_as_before() -> None:
    def make() -> Any:
        scale = contextvars.ContextVar("scale", default=1)

        @contextmanager
        def scaled(value: int) -> Iterator[None]:
            token = scale.set(value)
            try:
                yield
            finally:
                scale.reset(token)

        def f(x: Any) -> Any:
            with scaled(3):
                with scaled(scale.get() + 1):
                    x = x * scale.get()
                x = x + scale.get()
            return x, scale.get()

        return f, scale.get

    both(make, (X,), (X,))


def test_a_token_that_leaves_the_frame_is_a_real_one() -> None:
    variable = contextvars.ContextVar("variable", default=1)

    def f(x: Any) -> Any:
        token = variable.set(2)
        return x * variable.get(), token

    captured = Captured(f)
    for _ in range(2):
        result, token = captured(X)
        assert same(result, X * 2) and variable.get() == 2
        variable.reset(token)
        assert variable.get() == 1


def test_what_waits_for_its_end_is_gone_for_weak_references() -> None:
    """Of a long chain objects end one after the other: those without references wait intact."""
    seen: list[Any] = []

    def note(own: Any) -> None:
        seen.append(own())

    captured = Captured(note, tensorless=True, limit=1000)

    class Node:
        def __init__(self, parent: Any) -> None:
            own = weakref.ref(self)
            self.parent = parent
            self.reference = weakref.ref(parent, lambda _: captured(own)) if parent else None

    node = None
    for _ in range(200):
        node = Node(node)
    del node
    assert seen and all(found is None for found in seen)
