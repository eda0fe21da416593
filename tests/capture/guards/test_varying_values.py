"""Where plain Python is translated too, what keeps varying is left alone: no version for each."""

from __future__ import annotations

import collections
import dataclasses
import functools

import pytest

import graphwright as gw

from ..captured import Captured


class Base:
    def __init__(self, name):
        self.name = name

    def named(self):
        return f"{type(self).__name__}:{self.name}"


KINDS = [type(f"Kind{i}", (Base,), {"twice": lambda self, i=i: i}) for i in range(12)]
MANY = range(20)


def lengths(values):
    total, kept = 0, []
    for value in values:
        if value % 2:
            continue
        total += value
        kept.append(str(value))
    return total, kept, len(values)


def texts(text):
    upper = text.upper()
    return f"{upper}-{text!r}", text.split("1"), text == "7", text + "!"


def objects(thing):
    return thing.named(), thing.twice(), [thing.name for _ in range(2)]


def keys(table):
    table["new"] = len(table)
    return sorted(table), {value: key for key, value in table.items()}


def handlers(value):
    try:
        return 10 // (value - 5), [1, 2, 3][value]
    except ZeroDivisionError:
        return "zero"
    except IndexError as error:
        return str(error)
    finally:
        value = None


def functions(function):
    return function(2), function.__name__


def several(*args, **names):
    first, *rest = args
    return first, rest, sorted(names), sum(names.values())


def aliased(pair):
    left, right = pair
    left.append(len(right))
    return left, right, left is right


def function(number):
    def added(value):
        return value + number

    return added


@functools.singledispatch
def generic(value):
    return "object"


generic.register(int, lambda value: "int")
generic.register(str, lambda value: "str")


def dispatched(kind):
    return generic.dispatch(kind)(None)


def fields(option):
    @dataclasses.dataclass(unsafe_hash=True)
    class Made:
        x: int = dataclasses.field(hash=option, default=5)

    return hash(Made(5))


class Named:
    def __set_name__(self, owner, name):
        self.seen = name


def members(value):
    class Made:
        here = value

    return type(Made.here), getattr(value, "seen", None)


def raised(kind):
    try:
        raise kind
    except LookupError as error:
        return type(error)


def list_pair(number):
    one = [number] * number
    return (one, one if number % 2 else list(one)),


PROGRAMS = [
    (lengths, lambda i: (list(range(i)),)),
    (lengths, lambda i: (collections.deque(range(i)),)),
    (texts, lambda i: (str(i) * (i % 3),)),
    (objects, lambda i: (KINDS[i % 12](i),)),
    (keys, lambda i: (dict.fromkeys(map(str, range(i)), i),)),
    (handlers, lambda i: (i,)),
    (handlers, lambda i: (i - 10.0,)),
    (functions, lambda i: (eval(f"lambda x: x + {i}"),)),
    (functions, lambda i: (function(i),)),
    (several, lambda i: tuple(range(1, i + 2))),
    (aliased, list_pair),
    (dispatched, lambda i: ([int, str, float, bool, list][i % 5],)),
    (fields, lambda i: ((True, False, None)[i % 3],)),
    (members, lambda i: (Named() if i % 2 else i,)),
    (raised, lambda i: ([KeyError, IndexError, ValueError, KINDS[0]][i % 4],)),
]


def outcome(program, args):
    try:
        return program(*args)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("limit", [1, 3, 8])
@pytest.mark.parametrize(("program", "arguments"), PROGRAMS)
def test_the_last_version_fits_whatever_comes(program, arguments, limit):
    """In these functions: what the standard library does depends on what ran before."""
    captured = Captured(program, everywhere=True, limit=limit)
    for number in MANY:
        expected = outcome(program, arguments(number))
        assert outcome(captured, arguments(number)) == expected
    given_up = [entry for entry in captured.record.breaks if entry.code == "GB0100"]
    assert not [entry for entry in given_up if entry.location.file == __file__]
    assert len(captured.compiled.entries) <= limit


def test_code_with_tensors_has_a_version_for_each_value():
    def scaled(x, text):
        return x * len(text)

    captured = Captured(scaled, limit=2)
    with pytest.warns(RuntimeWarning, match="compiled 2 times"):
        for text in ("a", "bc", "def"):
            assert captured.agrees(gw.ones(2), text)
    assert "GB0100" in captured.breaks
