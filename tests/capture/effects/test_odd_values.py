"""Builtins and operators that are given values of any kind do in a frame what they do in Python.

What is not for them is refused with Python's error. Each expression gets each value, which the
frame holds as a constant or reads from outside.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

CALLS = """
isinstance(3, {}) | issubclass(int, {}) | type({}) | type("A", {}, {{}}) | type("A", (), {})
type({}, (), {{}}) | getattr(3, {}, 7) | hasattr(3, {}) | callable({}) | len({}) | bool({})
"ab".startswith({}) | "%s" % {} | "%s %s" % {} | "%d" % {} | ",".join({}) | "a" + {} | "a" * {}
"a,b".split({}) | "ab".replace("a", {}) | "ab".find({}) | "{{}}".format({}) | "ab".translate({})
format(3, {}) | format({}, "") | repr({}) | str({}) | int({}) | int("11", {}) | float({})
sum({}) | sum({}, 3) | sorted({}) | min({}) | max(1, {}) | any({}) | round(1.25, {}) | abs({})
divmod(7, {}) | pow(2, {}) | chr({}) | ord({}) | bytes({}) | complex({})
range({}) | range(0, 5, {}) | {} * 2 | 2 * {} | {} + {} | [0] + {} | (0,) + {} | [1] * {}
list({}) | tuple({}) | set({}) | dict({}) | dict([{}]) | dict.fromkeys({}) | [*{}] | {{**{}}}
list(zip({}, [1])) | list(map({}, [1])) | list(filter({}, [1])) | list(enumerate([1], {}))
list(reversed({})) | next({}) | next(iter({})) | slice({}).indices(4) | [1, 2, 3][{}]
{{1: 2}}[{}] | {} in [1, 2] | 1 in {} | {} in "ab" | {{1}} | {{1}}.union({}) | [1, 2].index({})
str.__len__({}) | str.count({}, "a") | list.__len__({}) | tuple.__getitem__({}, 0)
dict.__contains__({}, 1) | int.__add__({}, 1) | float.is_integer({}) | set.union({}, [3])
-{} | not {} | {} < 1 | {} == 1 | {}[0] | {}() | {}(3)
""".replace("\n", "|").split("|")
STATEMENTS = """
raise {} | raise ValueError("v") from {} | a, b = {} | a, *b = {} | assert {} | {}[0] = 1
""".replace("\n", "|").split("|")
EXPRESSIONS = [text.strip() for text in CALLS if text.strip()]
BODIES = [f"r = {text}" for text in EXPRESSIONS] + [s.strip() for s in STATEMENTS if s.strip()]
CONSTANTS = """
3 | 1.5 | None | [1, 2] | (1, 2) | "ab" | {"a": 1} | {1} | b"x" | True | (-1) | [] | ()
[[1, 2], [3, 4]] | [("a", 1)] | 1j | range(3)
""".replace("\n", "|").split("|")
VALUES = [text.strip() for text in CONSTANTS if text.strip()] + ["int", "(int, str)", "len"]


def program(body: str, value: str, held: bool) -> Callable[[gw.Tensor], Any]:
    names = {"value": eval(value)}
    text = body.format(*["value" if held else f"({value})"] * 2)
    exec(f"def f(x):\n    r = 0\n    {text}\n    return x + 1, r\n", names)
    return names["f"]  # type: ignore[return-value]


def outcome(function: Callable[[gw.Tensor], Any]) -> tuple[str, str]:
    """What two calls return or raise."""
    found = []
    for _ in range(2):
        try:
            result = function(gw.ones(2))[1]
            text = f"{type(result).__name__} {result!r}"
        except Exception as error:
            text = f"{type(error).__name__}: {error} from {error.__cause__!r}"
        found.append(re.sub("0x[0-9a-f]+", "", text))
    return found[0], found[1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("body", BODIES)
def test_odd_values(body: str) -> None:
    for value in VALUES:
        for held in (True, False):
            plain = outcome(program(body, value, held))
            compiled = gw.compile(program(body, value, held), backend="eager")
            assert outcome(compiled) == plain, (value, held)


def test_a_constant_tuple_is_one_object() -> None:
    def made() -> Any:
        return (1, (2, 3))

    def f(x: gw.Tensor) -> Any:
        pairs = [(1, 2) for _ in range(2)]
        return x + 1, pairs[0] is pairs[1], made() is made(), made()[1], pairs[0]

    compiled = gw.compile(f, fullgraph=True, backend="eager")
    _, same, again, inner, pair = compiled(gw.ones(2))
    assert same and again
    assert inner is made()[1]
    assert compiled(gw.ones(2))[4] is pair
    assert f(gw.ones(2))[4] is pair


def test_an_error_of_set_name_is_told_as_python_tells_it() -> None:
    def f(x: gw.Tensor) -> Any:
        class Named:
            def __set_name__(self, owner: type, name: str) -> None:
                raise KeyError(name)

        try:
            class Owner:
                member = Named()
        except Exception as error:
            return x + 1, repr(error), repr(error.__cause__), getattr(error, "__notes__", None)
        return x + 1, Owner

    assert gw.compile(f, backend="eager")(gw.ones(2))[1:] == f(gw.ones(2))[1:]
