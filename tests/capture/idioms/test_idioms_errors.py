"""Errors that user code meets and handles in the frame: what they say, and whence they come."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured
from ..programs import Programs, whole

program = Programs()


def message(call: Callable[[], Any]) -> str:
    """What the TypeError of a call says."""
    try:
        call()
    except TypeError as error:
        return str(error)
    return "nothing"


@program
def calls_that_do_not_fit(x: Any) -> Any:
    def scaled(a: Any, /, b: int, *, c: int, d: int = 4) -> Any:
        return a

    def shifted(a: Any, b: int = 2) -> Any:
        return a

    def listed(*args: int, key: int) -> Any:
        return args

    return x + 1, [
        message(lambda: scaled(x, 1)),
        message(lambda: scaled(x)),
        message(lambda: scaled(a=x, b=1, c=2)),
        message(lambda: scaled(x, 1, 2, c=3)),
        message(lambda: shifted()),
        message(lambda: shifted(1, 2, 3)),
        message(lambda: shifted(1, a=2)),
        message(lambda: shifted(1, e=3)),
        message(lambda: listed(1)),
        *[message(lambda value=value: value()) for value in (3, "text", None, 2.5, True)],
    ]


@program
def names_without_a_value(x: Any) -> Any:
    told = []
    if x is None:
        later = 1
    try:
        told.append(later)
    except UnboundLocalError as error:
        told.append(str(error))
    try:
        told.append(never_defined)  # type: ignore[name-defined]
    except NameError as error:
        told += [str(error), error.name, type(error) is NameError]

    def inner() -> Any:
        return after

    try:
        inner()
    except NameError as error:
        told.append(str(error))
    after = x * 2
    return inner(), told


@program
def text_of_errors(x: Any) -> Any:
    errors: list[Exception] = [ValueError(), ValueError("one"), KeyError("a", 2), IndexError(3)]
    try:
        {}["missing"]
    except KeyError as error:
        errors.append(error)
        told = f"{error} {error!r}"
    return x + 1, [str(error) for error in errors], [repr(error) for error in errors], told


@program
def errors_while_handling(x: Any) -> Any:
    """What Python itself raises in a handler has the handled error for its context."""
    try:
        try:
            raise ValueError("first")
        except ValueError:
            [][2]
    except IndexError as error:
        first = error.__context__
        assert first is not None
        linked = first.args, error.__cause__, error.__suppress_context__
    try:
        try:
            {}[1]
        except KeyError as key:
            raise ValueError("second") from key
    except ValueError as error:
        cause = error.__cause__
        return x + 1, linked, cause is error.__context__, error.__suppress_context__


def groups_by_what_they_hold(x: Any) -> Any:
    seen = []
    for parts in ([ValueError(1)], [ValueError(2), KeyboardInterrupt()]):
        group = BaseExceptionGroup("some", parts)
        seen.append(type(group) is ExceptionGroup)
        try:
            raise group
        except* ValueError as found:
            seen.append(found.exceptions[0].args)
        except* KeyboardInterrupt:
            seen.append("interrupted")
    return x + 1, seen


def parts_of_groups(x: Any) -> Any:
    seen = []
    inner = ExceptionGroup("inner", [KeyError(1), OSError()])
    try:
        try:
            raise LookupError("first")
        except LookupError:
            raise ExceptionGroup("outer", [inner, ValueError(1)]) from OSError("cause")
    except* KeyError as found:
        seen.append((found.message, type(found.args[1]), type(found.exceptions[0].args[1])))
        seen.append((found.__suppress_context__, repr(found.__cause__), repr(found.__context__)))
    except* Exception as found:
        seen.append((len(found.exceptions), type(found.args[1]), found.__suppress_context__))
        seen.append((repr(found.__cause__), repr(found.__context__)))
    return x + 1, seen


def made(make: Callable[[], BaseException]) -> str:
    """What a constructor makes, or says."""
    try:
        return repr(make())
    except (TypeError, ValueError) as error:
        return repr(error)


GROUP: Any = ExceptionGroup
SYNTAX: Any = SyntaxError
DECODING: Any = UnicodeDecodeError


def errors_that_python_checks(x: Any) -> Any:
    return x + 1, [
        made(lambda: GROUP("no errors")),
        made(lambda: GROUP("empty", [])),
        made(lambda: GROUP("no error", [1])),
        made(lambda: GROUP(1, [ValueError()])),
        made(lambda: GROUP("base", [KeyboardInterrupt()])),
        made(lambda: OSError(2, "another class")),
        made(lambda: OSError(99999, "a name goes", "name")),
        made(lambda: SYNTAX("text", (1,))),
        made(lambda: DECODING(1)),
        made(lambda: ImportError("text", name="module")),
    ]


def attributes_that_nobody_can_set(x: Any) -> Any:
    seen = []
    for value, name in (
        (time.gmtime(0), "tm_zone"),
        (ExceptionGroup("", [OSError()]), "message"),
        (slice(1), "stop"),
    ):
        try:
            setattr(value, name, None)
        except AttributeError as error:
            seen.append(str(error))
    return x + 1, seen


@pytest.mark.parametrize("function", [
    groups_by_what_they_hold, parts_of_groups, errors_that_python_checks,
    attributes_that_nobody_can_set,
])
def test_errors_of_what_is_written_in_c(function: Any) -> None:
    captured, x = Captured(function), gw.arange(4.0)
    for _ in range(2):
        assert captured(x)[1] == function(x)[1]


@pytest.mark.parametrize("function", program.all, ids=lambda f: f.__name__)
def test_errors_are_handled_in_one_graph(function: Any) -> None:
    whole(function, gw.arange(4.0))


namespace: dict[str, Any] = {}
exec(
    "def looking(x):\n"
    "    try:\n"
    "        return x * factor\n"
    "    except NameError:\n"
    "        return x\n",
    namespace,
)


def test_a_name_that_comes_to_exist_is_seen() -> None:
    captured, x = Captured(namespace["looking"], fullgraph=True), gw.arange(3.0)
    assert captured(x).tolist() == [0.0, 1.0, 2.0]
    namespace["factor"] = 3
    assert captured(x).tolist() == [0.0, 3.0, 6.0]
    del namespace["factor"]
    assert captured(x).tolist() == [0.0, 1.0, 2.0]


class Telling:
    def __init__(self):
        self.told = []

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.told.append((kind, str(error)))
        return True


def test_what_is_no_context_manager_is_told_as_python_does():
    def program(x):
        telling = Telling()
        with telling, 3:
            return x
        return x + 1, telling.told

    captured = Captured(program, tensorless=True)
    assert all(captured.agrees(gw.ones(2)) for _ in range(2))


def unpacked():
    first, second = 5
    return first, second


def unpacked_with_rest():
    first, *rest = None
    return first, rest


class Unending:
    def __iter__(self):
        return 3


NOT_ITERABLE = {
    "in a list": lambda: [*5],
    "in a tuple": lambda: (1, *2.5),
    "as arguments": lambda: max(*5),
    "unpacked": unpacked,
    "unpacked with a rest": unpacked_with_rest,
    "no iterator": lambda: iter(Unending()),
    "no iterator, zipped": lambda: zip([1], Unending(), strict=False),
}


@pytest.mark.parametrize("program", NOT_ITERABLE.values(), ids=NOT_ITERABLE)
def test_what_has_no_items_is_refused_in_the_words_of_python(program):
    def f(x):
        try:
            program()
        except TypeError as error:
            return x + 1, str(error)
        return x, None

    said = f(gw.ones(1))[1]
    assert said is not None
    assert Captured(f)(gw.ones(1))[1] == said


def named(*args, **kwargs):
    return args, kwargs


NO_KEYWORDS = {
    "a tensor": lambda x: named(**x),
    "a tensor behind arguments": lambda x: named(1, a=2, **x),
    "a tensor behind a dict": lambda x: named(**{"a": 1}, **x),
    "a tensor for a method": lambda x: x.sum(**x),
    "a tensor in a dict": lambda x: {**x},
    "a number": lambda x: named(**5),
    "a keyword twice": lambda x: named(**{"a": x}, **{"a": x}),
    "a number as keyword": lambda x: named(**{1: x}),
}


@pytest.mark.parametrize("program", NO_KEYWORDS.values(), ids=NO_KEYWORDS)
def test_what_gives_no_keywords_is_refused_in_the_words_of_python(program):
    """The function is named that would have been called, behind a graph too."""
    def f(x):
        return program(x * 2)

    with pytest.raises(TypeError) as plain:
        f(gw.ones(1))
    with pytest.raises(TypeError) as compiled:
        gw.compile(f)(gw.ones(1))
    assert str(compiled.value) == str(plain.value)
