"""Methods of a builtin base class, reached by `super()`, stay those of the base class.

The subclass overrides them. Behind a graph break what the frame held of them (bound methods,
iterators, views) must not have become the override of that name.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured


def opaque(value: Any) -> Any:
    """A graph break: its argument is needed."""
    return eval("value")


class Keyed(dict):  # type: ignore[type-arg]
    def __getitem__(self, key: Any) -> Any:
        return "own", key

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, opaque(value))

    def __iter__(self) -> Any:
        return iter(["own"])

    def keys(self) -> Any:
        return ["own"]

    def seen(self) -> Any:
        keys, places, item = super().keys(), super().__iter__(), super().__getitem__
        opaque(0)
        return list(keys), list(places), item("a")


class Listed(list):  # type: ignore[type-arg]
    def append(self, value: Any) -> None:
        super().append(opaque(value))

    def __iter__(self) -> Any:
        return iter("own")

    def __reversed__(self) -> Any:
        return iter("own")

    def seen(self) -> Any:
        forwards, backwards, add = super().__iter__(), super().__reversed__(), super().append
        opaque(0)
        seen = list(forwards), list(backwards)
        add(5)
        return *seen, super().__len__()


class Queued(collections.deque):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        return iter("own")

    def seen(self) -> Any:
        items = super().__iter__()
        opaque(0)
        return list(items)


class Ordered(collections.OrderedDict):  # type: ignore[type-arg]
    def items(self) -> Any:
        return ["own"]

    def seen(self) -> Any:
        items = super().items()
        opaque(0)
        return list(items)


def made_outside(x: Any, value: Any) -> Any:
    return x + 1, value.seen()


def keyed_in_frame(x: Any, value: Any) -> Any:
    made = Keyed()
    made["a"] = x
    return made.seen()


def listed_in_frame(x: Any, value: Any) -> Any:
    made = Listed()
    made.append(3)
    return x + 1, made.seen()


@pytest.mark.parametrize(
    ("program", "make"),
    [
        (made_outside, lambda: Keyed({"a": 1, "b": 2})),
        (made_outside, lambda: Listed([1, 2])),
        (made_outside, lambda: Queued([1, 2])),
        (made_outside, lambda: Ordered(a=1)),
        (keyed_in_frame, lambda: None),
        (listed_in_frame, lambda: None),
    ],
)
def test_methods_of_the_base_class(program: Any, make: Callable[[], Any]) -> None:
    captured = Captured(program, everywhere=True)
    x = gw.ones(2)
    plain = repr(program(x, make()))
    for _ in range(3):
        assert repr(captured(x, make())) == plain


def test_a_method_handed_to_native_code_is_the_base_classs() -> None:
    def program(x: Any, value: Any) -> Any:
        method = super(Keyed, value).__getitem__
        return x + 1, list(map(opaque, ["a"])), opaque(method)("a")

    captured = Captured(program)
    for _ in range(2):
        assert captured(gw.ones(1), Keyed(a=7))[1:] == (["a"], 7)


class Described:
    """What `property` says of itself, by its own text or by that of what reads it."""

    def bare(self) -> int:
        return 1

    def first(self) -> int:
        """first"""
        return 2

    def second(self) -> int:
        """second"""
        return 3


def accessors(x: Any) -> Any:
    bare, first, second = Described.bare, Described.first, Described.second
    found = [
        property(bare, None, None, "text").getter(first),
        property(first, None, None, "text").getter(second),
        property(first).getter(second),
        property(bare).getter(first),
        property(first, doc="text").setter(second),
        property(fget=first, fset=bare).deleter(second),
        property(fget=first, fset=bare).getter(None),  # type: ignore[arg-type]
    ]
    return x + 1, found


def test_properties_with_another_accessor_keep_the_rest() -> None:
    def seen(found: list[property]) -> Any:
        return [(one.__doc__, one.fget, one.fset, one.fdel) for one in found]

    captured = Captured(accessors)
    for _ in range(2):
        assert seen(captured(gw.ones(1))[1]) == seen(accessors(gw.ones(1))[1])


NONE: tuple[Any, ...] = ()
PERCENT, BRACES = "%s", "{}"


def copies(x: Any, values: Any, text: Any) -> Any:
    made = [
        values * 1,
        values + NONE,
        NONE + values,
        values[:],
        tuple(values),
        PERCENT % text,
        f"{text}",
        BRACES.format(text),
        text[:],
    ]
    kept = [values] * 5 + [text] * 4
    return x + 1, [a is b for a, b in zip(opaque(made), opaque(kept), strict=True)]


def test_what_python_does_not_copy_stays_the_same_object() -> None:
    captured = Captured(copies)
    text = "".join(["not ", "interned"])
    for values in ((1, "b"), (gw.ones(1), 2)):
        assert captured(gw.ones(1), values, text)[1] == copies(gw.ones(1), values, text)[1]


def test_a_tuple_class_is_copied() -> None:
    class Pair(tuple):  # type: ignore[type-arg]
        pass

    def program(x: Any, pair: Any) -> Any:
        same = [pair * 1, pair + NONE, NONE + pair, pair[:]]
        return x + 1, [value is pair for value in opaque(same)], [type(v) for v in same]

    captured = Captured(program)
    for _ in range(2):
        assert captured(gw.ones(1), Pair((1, 2)))[1:] == ([False] * 4, [tuple] * 4)


def test_a_compiled_function_in_a_frame_is_itself_and_no_plain_one() -> None:
    inner = gw.compile(lambda x: x * 2)

    def program(x: Any) -> Any:
        return inner(x) + 1, inner, inner.__wrapped__(x), opaque(inner)(x), bool(inner)

    captured = Captured(program)
    for _ in range(2):
        first, itself, *others = captured(gw.ones(2))
        assert first.tolist() == [3.0, 3.0]
        assert itself is inner
        assert [x.tolist() for x in others[:2]] == [[2.0, 2.0]] * 2
        assert others[2] is True


def test_attributes_of_a_compiled_function_are_its_own() -> None:
    inner = gw.compile(lambda x: x * 2)

    def program(x: Any) -> Any:
        y = inner(x)
        return y, inner.limit, len(inner.entries)

    captured = Captured(program)
    assert captured(gw.ones(2))[1:] == (inner.limit, 0)


class Counted(collections.OrderedDict):  # type: ignore[type-arg]
    pass


class Line(collections.deque):  # type: ignore[type-arg]
    pass


def test_operators_that_call_the_class_give_its_instances() -> None:
    def program(x: Any, counts: Any, line: Any) -> Any:
        return x + 1, counts | {"b": 2}, line + line, line * 2, counts == {"a": 1}

    captured = Captured(program)
    for _ in range(2):
        found = captured(gw.ones(1), Counted(a=1), Line([1]))[1:]
        assert found == (Counted(a=1, b=2), Line([1, 1]), Line([1, 1]), True)
        assert [type(value) for value in found] == [Counted, Line, Line, bool]


class Told:
    """Writes down which of its methods were called."""

    def __setitem__(self, key: Any, value: Any) -> None:
        self.calls.append(("set", key))
        super().__setitem__(key, value)  # type: ignore[misc]

    def __getitem__(self, key: Any) -> Any:
        self.calls.append(("get", key))
        return super().__getitem__(key)  # type: ignore[misc]

    def __delitem__(self, key: Any) -> None:
        self.calls.append(("del", key))
        super().__delitem__(key)  # type: ignore[misc]

    def __contains__(self, key: Any) -> bool:
        self.calls.append(("in", key))
        return super().__contains__(key)  # type: ignore[misc]


class ToldDict(Told, dict):  # type: ignore[type-arg]
    calls: list[Any]


class ToldOrdered(Told, collections.OrderedDict):  # type: ignore[type-arg]
    calls: list[Any]


class ToldDefault(Told, collections.defaultdict):  # type: ignore[type-arg]
    calls: list[Any]


class OwnOrder(dict):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        return iter(["own"])

    def keys(self) -> Any:
        return ["a"]


def merged(d: Any) -> Any:
    d |= {"c": 3}
    return d


METHODS: dict[str, Callable[[Any], Any]] = {
    "update": lambda d: d.update({"a": 4}, c=5),
    "update by pairs": lambda d: d.update([("a", 4)]),
    "setdefault, held": lambda d: d.setdefault("a", 5),
    "setdefault, new": lambda d: d.setdefault("c", 5),
    "pop": lambda d: d.pop("a"),
    "popitem": lambda d: d.popitem(),
    "copy": lambda d: d.copy(),
    "union": lambda d: d | {"c": 3},
    "union with itself": lambda d: d | d,
    "merge": merged,
    "fromkeys": lambda d: type(d).fromkeys("ab", 1),
    "missing": lambda d: d["c"],
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cls", [ToldDict, ToldOrdered, ToldDefault, OwnOrder])
@pytest.mark.parametrize("made", [False, True], ids=["outside", "in the frame"])
def test_what_c_does_by_the_methods_of_the_class(cls: Any, method: str, made: bool) -> None:
    def make() -> Any:
        first = (int,) if cls is ToldDefault else ()
        return cls(*first, {"a": 1, "b": 2})

    def program(x: Any, d: Any) -> Any:
        d = make() if made else d
        result = METHODS[method](d)
        return x + 1, result, type(result), list(dict.items(d)), result is d

    def outcome(function: Any) -> Any:
        cls.calls = []
        made = make()
        try:
            return function(gw.ones(1), made)[1:], made, cls.calls
        except KeyError as error:
            return error.args, made, cls.calls

    captured = Captured(program)
    expected = outcome(program)
    for _ in range(2):
        assert outcome(captured) == expected


def test_copies_of_deques_are_of_the_class() -> None:
    def program(x: Any) -> Any:
        return x + 1, Line([1, 2]).copy(), Line([1, 2, 3], 2).copy()

    first, second = Captured(program, fullgraph=True)(gw.ones(1))[1:]
    assert (type(first), first) == (Line, Line([1, 2]))
    assert (type(second), second.maxlen) == (Line, 2)


def test_fields_of_the_base_class() -> None:
    class Keyed(collections.defaultdict):  # type: ignore[type-arg]
        def __missing__(self, key: Any) -> Any:
            self[key] = made = self.default_factory(key)  # type: ignore[call-arg, misc]
            return made

    def program(x: Any) -> Any:
        return x + 1, Keyed(lambda key: key * 2)[3], Line([1], 4).maxlen

    assert Captured(program, fullgraph=True)(gw.ones(1))[1:] == (6, 4)


def test_an_int_indexes_by_its_value() -> None:
    class Number(int):
        def __index__(self) -> int:
            return 1

    def program(x: Any, n: Any) -> Any:
        return x + 1, [10, 20, 30][n], list(range(n)), (5, 6, 7)[Number(0)]

    assert Captured(program, fullgraph=True)(gw.ones(1), Number(2))[1:] == (30, [0, 1], 5)


def test_methods_of_ordered_dicts_take_keywords() -> None:
    def program(x: Any) -> Any:
        made = collections.OrderedDict()  # type: ignore[var-annotated]
        return x + 1, made.setdefault(5, default=9), made.pop(6, default=7), list(made)

    captured = Captured(program)
    for _ in range(2):
        assert captured(gw.ones(1))[1:] == (9, 7, [5])


WORDS = re.compile(r"[a-z]+")


def test_matches_are_looked_for_in_each_call() -> None:
    def program(x: Any) -> Any:
        first = []
        for match in WORDS.finditer("one two three"):
            first.append(opaque(match).group())
        return x + 1, first

    captured = Captured(program)
    for _ in range(3):
        assert captured(gw.ones(1))[1] == ["one", "two", "three"]


def test_a_repeated_deque_is_a_deque() -> None:
    """It was a tuple of the same items; `*=` changes the deque itself."""

    def work(x: Any, kept: Any) -> Any:
        kept *= 2
        return x + 1, kept * 2, 2 * kept, kept

    deque = collections.deque([1])
    _, left, right, same = Captured(work)(gw.ones(1), deque)
    assert left == right == collections.deque([1, 1, 1, 1])
    assert same is deque and deque == collections.deque([1, 1])


def unused(x: Any, of: type, value: Any) -> Any:
    super(of, value)
    return x + 1


def asked_for_what_nobody_has(x: Any, of: type, value: Any) -> Any:
    return x + 1, hasattr(super(of, value), "nothing")


@pytest.mark.parametrize("function", [unused, asked_for_what_nobody_has])
@pytest.mark.parametrize("of_class", [False, True], ids=["instance", "class"])
def test_super_refuses_what_does_not_derive_or_no_longer_does(
    function: Callable[..., Any], of_class: bool
) -> None:
    class Base:
        pass

    class Between(Base):
        pass

    class Derived(Between):
        pass

    def given(cls: type) -> Any:
        return cls if of_class else cls()

    captured = Captured(function)
    x = gw.ones(1)
    assert captured.agrees(x, Between, given(Derived))
    for cls in (Base, Derived):
        Derived.__bases__ = (Base,)
        with pytest.raises(TypeError, match="instance or subtype of type"):
            captured(x, Between, given(cls))


def test_super_of_a_class_alone_is_made_by_python() -> None:
    def program(x: Any) -> Any:
        return x + 1, repr(super(Keyed))  # type: ignore[misc]

    captured = Captured(program)
    assert captured.agrees(gw.ones(1))
    assert captured.breaks[0] == "GB0004"
