"""What follows a graph break runs in the place of the frame that broke, not on top of it."""

from __future__ import annotations

import gc
import sys
import traceback
import warnings
import weakref

import pytest

import graphwright as gw
from graphwright.capture import _eval_frame

from ..captured import Captured

X = gw.ones(3)


def functions_running() -> list[str]:
    """Names of the functions of this file that run, the innermost first."""
    frame, names = sys._getframe(1), []
    while frame is not None:
        if frame.f_code.co_filename == __file__:
            names.append(frame.f_code.co_name)
        frame = frame.f_back
    return names


functions_running.__gw_disable__ = True


def breaks():
    pass


breaks.__gw_disable__ = True


def test_the_function_is_on_the_stack_once():
    def f(x):
        y = x + 1
        first = functions_running()
        z = y * 2
        second = functions_running()
        return z, first, second

    _, first, second = Captured(f)(X)
    assert first == second == ["f", "test_the_function_is_on_the_stack_once"]


def test_a_graph_that_fails_shows_the_function_once():
    def f(x, index, log):
        y = x * 2
        log.append(len(log))
        return y[index]

    compiled = Captured(f)
    assert compiled.agrees(X, gw.tensor([0, 2]), [])
    with pytest.raises(IndexError) as raised:
        compiled(X, gw.tensor([0, 7]), [])
    shown = [(e.name, e.line) for e in traceback.extract_tb(raised.value.__traceback__)]
    assert [entry for entry in shown if entry[0] == "f"] == [("f", "return y[index]")]


def test_a_traceback_shows_the_function_once():
    def f(x):
        y = x + 1
        breaks()
        z = y * 2
        breaks()
        raise KeyError(int(z.sum()))

    with pytest.raises(KeyError) as raised:
        Captured(f)(X)
    shown = [entry.name for entry in traceback.extract_tb(raised.value.__traceback__)]
    assert shown.count("f") == 1


def test_an_error_that_is_raised_again_shows_the_function_once():
    def fails():
        raise ValueError("no")

    fails.__gw_disable__ = True

    def f(x):
        y = x + 1
        try:
            fails()
        except ValueError:
            breaks()
            y = y * 2
            raise

    with pytest.raises(ValueError) as raised:
        Captured(f).compiled(X)
    shown = [entry.name for entry in traceback.extract_tb(raised.value.__traceback__)]
    assert shown[1:] == ["f", "fails"]


def test_warnings_name_the_caller():
    def f(x):
        y = x + 1
        breaks()
        warnings.warn("told", stacklevel=2)
        return y * 2

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        Captured(f).compiled(X); line = sys._getframe().f_lineno  # fmt: skip  # noqa: E702
    assert [(w.filename, w.lineno) for w in told] == [(__file__, line)]


def test_locals_end_when_the_user_deletes_them():
    class Thing:
        pass

    def f(x):
        thing = Thing()
        seen = weakref.ref(thing)
        y = x + 1
        breaks()
        before = seen() is None
        del thing
        breaks()
        return y * 2, before, seen() is None

    _, before, after = Captured(f)(X)
    assert (before, after) == (False, True)


def test_the_handled_exception_is_the_same_before_and_after():
    def f(x):
        try:
            raise KeyError("k")
        except KeyError as error:
            y = x + 1
            breaks()
            seen = sys.exc_info()[1] is error
            breaks()
            y = y * 2
        breaks()
        return y, seen, sys.exc_info()[1]

    _, seen, later = Captured(f)(X)
    assert seen and later is None


def test_ten_thousand_breaks_do_not_deepen_the_stack():
    def f(x, n):
        depths = set()
        for _ in range(n):
            breaks()
            depths.add(len(functions_running()))
        return x + 1, depths

    _, depths = Captured(f)(X, 10_000)
    assert depths == {2}


def test_recursion_through_breaks_is_as_deep_as_without():
    def f(x, n):
        y = x + 1
        breaks()
        return f(y, n - 1) if n else y * 2

    expected = f(X, 150)
    assert Captured(f)(X, 150).tolist() == expected.tolist()


def test_a_generator_goes_on_over_a_function_that_breaks():
    def f(x):
        y = x + 1
        breaks()
        return (y * 2).tolist()

    def values():
        for number in range(3):
            yield f(X + number)

    def g(x):
        breaks()
        return list(values()), x + 1

    found, _ = Captured(g)(X)
    assert found == [[4.0] * 3, [6.0] * 3, [8.0] * 3]


def test_a_profiler_sees_calls_and_returns_in_pairs():
    def f(x):
        y = x + 1
        breaks()
        z = y * 2
        breaks()
        return z

    events: list[str] = []

    def profile(frame, event, arg):
        if frame.f_code.co_name == "f" and event in ("call", "return"):
            events.append(event)

    compiled = Captured(f)
    compiled(X)
    sys.setprofile(profile)
    try:
        compiled(X)
    finally:
        sys.setprofile(None)
    assert events and events == ["call", "return"] * (len(events) // 2)


@pytest.mark.parametrize("items", [(), (3,), breaks, [breaks]])
def test_a_continuation_needs_a_function(items):
    with pytest.raises(TypeError, match="continued"):
        _eval_frame.continued[items]


def test_a_continuation_is_not_made_by_a_call():
    with pytest.raises(TypeError, match="cannot create"):
        _eval_frame.Continuation(breaks)


def test_a_continuation_lets_go_of_what_it_holds():
    made = _eval_frame.continued[breaks, (held := [])]
    held.append(made)
    gone = weakref.finalize(cell := type("Cell", (), {})(), lambda: None)
    held.append(cell)
    del made, held, cell
    gc.collect()
    assert not gone.alive


def test_a_stack_that_ends_at_a_break_in_a_handler_leaves_no_exception_behind():
    def g(n):
        try:
            raise ValueError(n)
        except ValueError:
            breaks()
            return g(n + 1)

    def f(x):
        ended = False
        try:
            g(0)
        except RecursionError:
            ended = True
        return x + 1, sys.exc_info()[1], ended

    assert Captured(f, everywhere=True)(X)[1:] == (None, True)
