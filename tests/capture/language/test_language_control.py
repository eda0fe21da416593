"""Exceptions, context managers, match statements, strings and numbers."""

# ruff: noqa: B018, UP031

from __future__ import annotations

import contextlib
import dataclasses
import warnings

import pytest

import graphwright as gw

from ..asserting import assertions
from ..programs import Programs, sound, whole

X = gw.tensor([[1.0, -2.0, 3.0], [4.0, 0.5, -6.0]])
program = Programs()


class Problem(Exception):
    """With a field of its own."""

    def __init__(self, code, text="bad"):
        super().__init__(f"{code}: {text}")
        self.code = code


class Narrow(Problem):
    @property
    def doubled(self):
        return self.code * 2

    def __str__(self):
        return f"narrow {self.code}"


@dataclasses.dataclass
class Point:
    x: object
    y: int


class Timer:
    def __init__(self, log, swallow=()):
        self.log = log
        self.swallow = swallow

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, error, traceback):
        self.log.append(("exit", kind and kind.__name__, str(error)))
        return kind is not None and issubclass(kind, self.swallow)


@contextlib.contextmanager
def managed(log, value=1):
    log.append("before")
    try:
        yield value
    except KeyError as error:
        log.append(("swallowed", error.args))
    finally:
        log.append("after")


def run(function):
    whole(function, X)


@program
def raised_and_caught(x):
    log = []
    try:
        raise ValueError("bad", 3)
    except (TypeError, ValueError) as error:
        log.append((error.args, str(error), type(error).__name__, repr(error.args)))
    else:
        log.append("else")
    finally:
        log.append("finally")
    try:
        log.append(1)
    except ValueError:
        log.append("never")
    else:
        log.append("else")
    return x + 1, log


@program
def errors_of_builtins(x):
    log = []
    for attempt in (
        lambda: int("x"),
        lambda: [][1],
        lambda: {}["k"],
        lambda: 1 / 0,
        lambda: (1,)[4],
        lambda: "a" + 1,
        lambda: float("q"),
        lambda: "abc".index("z"),
        lambda: [1].remove(2),
        lambda: next(iter([])),
        lambda: {1}.remove(4),
        lambda: max([]),
        lambda: ord("ab"),
        lambda: "%d" % "s",
        lambda: [].pop(),
        lambda: {}.popitem(),
    ):
        try:
            attempt()
        except Exception as error:
            log.append(type(error).__name__)
    try:
        {"a": 1}["b"]
    except KeyError as error:
        log.append((str(error), error.args))
    try:
        1 // 0
    except ZeroDivisionError as error:
        log.append(str(error))
    return x + 1, log


@program
def own_exceptions(x):
    try:
        raise Problem(7)
    except Problem as error:
        first = error.code, str(error), error.args
    try:
        raise Narrow(2, text="t")
    except Problem as error:
        second = error.doubled, str(error), f"{error}", isinstance(error, Narrow)
    try:
        raise Problem
    except TypeError:
        third = "needs an argument"
    return x + 1, first, second, third


@program
def chained_exceptions(x):
    log = []
    try:
        try:
            raise KeyError("inner")
        except KeyError as inner:
            raise ValueError("outer") from inner
    except ValueError as outer:
        log.append(
            (str(outer.__cause__), outer.__suppress_context__, type(outer.__context__).__name__)
        )
    try:
        try:
            raise KeyError("inner")
        except KeyError:
            raise ValueError("outer") from None
    except ValueError as outer:
        log.append((outer.__cause__ is None, outer.__suppress_context__))
    return x * 2, log


@program
def raised_again(x):
    log = []
    try:
        try:
            raise KeyError(1)
        except KeyError:
            log.append("first")
            raise
        finally:
            log.append("finally")
    except LookupError as error:
        log.append(error.args)

    def reraise():
        raise

    try:
        try:
            raise OSError("disk")
        except OSError:
            reraise()
    except OSError:
        log.append("again")
    return x, log, x + 1


@program
def left_early(x):
    log = []

    def inner(n):
        for i in range(5):
            try:
                if i == n:
                    return i
                if i == 1:
                    continue
                if i == 3:
                    break
            finally:
                log.append(i)
        return "end"

    return x + 1, inner(0), inner(2), inner(9), log


@program
def nested_functions_raise(x):
    def deep(n):
        if n == 0:
            raise Problem(n)
        try:
            return deep(n - 1)
        except KeyError:
            return "no"
        finally:
            log.append(n)

    log = []
    try:
        deep(3)
    except Problem as error:
        log.append(error.code)
    return x * 3, log


@program
def groups(x):
    log = []
    try:
        raise ExceptionGroup(
            "all", [ValueError(1), KeyError("k"), ExceptionGroup("in", [ValueError(2)])]
        )
    except* ValueError as group:
        log.append((type(group).__name__, len(group.exceptions), group.message))
    except* KeyError as group:
        log.append(group.exceptions[0].args)
    try:
        raise TypeError("single")
    except* TypeError as group:
        log.append([str(e) for e in group.exceptions])
    else:
        log.append("never")
    try:
        log.append("fine")
    except* ValueError:
        log.append("never")
    try:
        try:
            raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
        except* ValueError:
            log.append("part")
    except ExceptionGroup as rest:
        log.append([type(e).__name__ for e in rest.exceptions])
    return x + 1, log


program(assertions)


@program
def own_managers(x):
    log = []
    with Timer(log) as t:
        y = x + 1
    with Timer(log, ValueError):
        raise ValueError("swallowed")
    try:
        with Timer(log), Timer(log, KeyError):
            raise TypeError("passes")
    except TypeError as error:
        log.append(str(error))
    return y, log, t.log is log


@program
def managers_left_early(x):
    log = []

    def first():
        with Timer(log):
            return x + 1

    for i in range(3):
        with Timer(log):
            if i == 1:
                break
            continue
    return first(), log


@program
def generator_managers(x):
    log = []
    with managed(log, 5) as value:
        y = x * value
    with managed(log):
        raise KeyError("k")
    try:
        with managed(log):
            raise ValueError("v")
    except ValueError as error:
        log.append(str(error))
    return y, log


@program
def library_managers(x):
    log = []
    with contextlib.suppress(KeyError, ValueError):
        log.append(1)
        raise ValueError
    with contextlib.nullcontext(x) as same:
        y = same + 1
    with contextlib.ExitStack() as stack:
        stack.enter_context(Timer(log))
        stack.callback(log.append, "callback")
        stack.push(Timer(log))
        y = y * 2
    return y, log


@program
def decorating_managers(x):
    log = []

    @managed(log)
    def inner(v):
        log.append("body")
        return v + 1

    return inner(x), log


@program
def grad_modes(x):
    with gw.no_grad():
        a = gw.is_grad_enabled()
        y = x * 2
        with gw.enable_grad():
            b = gw.is_grad_enabled()
    try:
        with gw.no_grad():
            raise ValueError("out")
    except ValueError:
        c = gw.is_grad_enabled()
    return y, a, b, c


@program
def matching(x):
    def kind(v):
        match v:
            case None:
                return "none"
            case True | False:
                return "bool"
            case 0 | 1:
                return "small"
            case int(n) if n > 100:
                return ("big", n)
            case int() | float():
                return "number"
            case "a" | "b" as s:
                return ("letter", s)
            case str():
                return "text"
            case []:
                return "empty"
            case [one]:
                return ("one", one)
            case [first, *rest, last] if len(rest) > 1:
                return (first, rest, last)
            case (a, b):
                return ("pair", a, b)
            case {"type": "circle", "r": r, **others}:
                return ("circle", r, others)
            case {"x": _}:
                return "has x"
            case Point(x=0, y=y):
                return ("on axis", y)
            case Point(a, b):
                return ("point", b)
            case Exception(args=(m,)):
                return m
            case _:
                return "other"

    values = [
        None,
        True,
        0,
        500,
        7,
        2.5,
        "a",
        "zz",
        [],
        [x],
        [1, 2, 3, 4],
        (1, 2),
        {"type": "circle", "r": 1, "q": 2},
        {"x": 1},
        Point(0, 3),
        Point(1, 2),
        {1},
        [1, 2, 3],
        ValueError("m"),
    ]
    return x + 1, [kind(v) for v in values]


@program
def loops_with_else(x):
    log = []
    for i in range(3):
        if i == 5:
            break
    else:
        log.append("for")
    n = 0
    while n < 3:
        n += 1
        if n == 2:
            continue
    else:
        log.append("while")
    while True:
        n += 1
        if n > 6:
            break
    return x + n, log, i


@program
def short_circuits(x):
    log = []

    def note(v):
        log.append(v)
        return v

    a = note(0) and note(1)
    b = note(2) or note(3)
    c = note(1) < note(5) < note(3) < note(9)
    return x + 1, a, b, c, log, (x is not None) and (x.ndim == 2)


@pytest.mark.parametrize("function", program.all, ids=lambda f: f.__name__)
def test_control(function):
    run(function)


def escaping(x, kind):
    y = x + 1
    try:
        if kind == 0:
            raise Problem(3)
        if kind == 1:
            raise ValueError("v") from KeyError("k")
        if kind == 2:
            return [][y.ndim]
        if kind == 3:
            assert y.ndim == 1, "message"
        if kind == 4:
            raise ExceptionGroup("g", [ValueError(1)])
        return {}["missing"]
    finally:
        y = y * 2


@pytest.mark.parametrize("kind", range(6))
def test_exceptions_that_escape(kind):
    sound(escaping, X, kind)


def abandoned(x):
    log = []

    def resource():
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    for v in resource():
        log.append(v)
        break
    return x + 1, log


def warned(x):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warnings.warn("careful", UserWarning, stacklevel=1)
        y = x + 1
    return y, [str(w.message) for w in seen]


def returned_exception(x):
    try:
        raise ValueError("kept")
    except ValueError as error:
        kept = error
    return x + 1, kept.args, kept.__traceback__ is None


def class_in_frame(x):
    class Local:
        factor = 3

        def apply(self, v):
            return v * self.factor

    return Local().apply(x), Local.__name__


@pytest.mark.parametrize("function", [abandoned, warned, returned_exception, class_in_frame])
def test_what_runs_natively_is_sound(function):
    sound(function, X)
