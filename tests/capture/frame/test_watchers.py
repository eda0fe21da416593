"""Debuggers, coverage, profilers, interrupts, fork and recursion: no worse a Python."""

from __future__ import annotations

import cProfile
import gc
import inspect
import io
import os
import pdb
import pstats
import signal
import subprocess
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import graphwright as gw
from graphwright.capture import _eval_frame

from ..captured import Captured, same

pytestmark = pytest.mark.skipif(not _eval_frame.SUPPORTED, reason="the hook is declined here")
X = gw.arange(6.0).reshape(2, 3) - 2


def clean(x, n):
    y = x * n
    if n > 1:
        y = y + 1
    return y.relu()


def inner(y):
    return y * 2


def broken(x, n):
    y = x + n
    print(end="")
    z = inner(y)
    return z - 1


def warm(function: Callable[..., Any]) -> Captured:
    """A compiled function that has its entries."""
    captured = Captured(function)
    for _ in range(2):
        assert captured.agrees(X, 2)
    assert captured.graphs
    return captured


@contextmanager
def traced(install: Callable[[Any], None], events: list[tuple[str, str, int]]) -> Iterator[None]:
    """Collect what a trace or profile function is told about this file's functions."""

    def trace(frame: types.FrameType, event: str, arg: Any) -> Any:
        if frame.f_code.co_name in ("clean", "broken", "inner"):
            events.append((event, frame.f_code.co_name, frame.f_lineno))
        return trace

    install(trace)
    try:
        yield
    finally:
        install(None)


@pytest.mark.parametrize("function", [clean, broken])
def test_settrace_sees_the_users_lines(function):
    captured = warm(function)
    plain: list[tuple[str, str, int]] = []
    with traced(sys.settrace, plain):
        expected = function(X, 2)
    found: list[tuple[str, str, int]] = []
    with traced(sys.settrace, found):
        result = captured(X, 2)
    assert found == plain and len(plain) > 4
    assert same(result, expected) and captured.agrees(X, 2)


def test_a_function_that_starts_to_trace_goes_on_in_its_own_frame():
    def program(x: Any, events: list[str]) -> Any:
        def trace(frame: types.FrameType, event: str, arg: Any) -> None:
            if frame.f_code.co_filename == __file__:
                events.append(f"{event} {frame.f_code.co_name}")

        before, y = sys.gettrace(), x + 1
        sys.settrace(trace)
        z = inner(y)
        sys.settrace(before)
        return z * 2

    captured = Captured(program)
    for _ in range(2):
        events: list[str] = []
        assert same(captured(X, events), (X + 1) * 2 * 2)
        assert events == ["call inner"]


@pytest.mark.parametrize("function", [clean, broken])
def test_setprofile_sees_the_calls_of_plain_python(function):
    captured = warm(function)
    plain: list[tuple[str, str, int]] = []
    with traced(sys.setprofile, plain):
        expected = function(X, 2)
    found: list[tuple[str, str, int]] = []
    with traced(sys.setprofile, found):
        result = captured(X, 2)
    assert found == plain and ("call", function.__name__) == plain[0][:2]
    assert same(result, expected) and captured.agrees(X, 2)


def watches(install: Callable[[Any], None], watch: Any, local: bool) -> None:
    """Begin to trace or profile, and trace the caller, too, if it is to be."""
    install(watch)
    if local:
        sys._getframe(1).f_trace = watch


watches.__gw_disable__ = True


def watched_midway(x, n, *how):
    y = x + n
    watches(*how)
    z = inner(y)
    print(end="")
    for i in range(n):
        z = z + i
    return z - 1


def raises_midway(x, n, *how):
    y = x + n
    try:
        watches(*how)
        print(end="")
        raise KeyError(n)
    except KeyError:
        return inner(y) - 1


@pytest.mark.parametrize("install, local", [
    (sys.settrace, True), (sys.settrace, False), (sys.setprofile, False)])
@pytest.mark.parametrize("function", [watched_midway, raises_midway])
def test_a_frame_watched_from_its_midst_is_one_frame(function, install, local):
    """Not one for each of its graph breaks, which would end and begin where nothing does."""
    def events_of(run: Callable[..., Any]) -> tuple[list[tuple[str, str, int]], Any]:
        events: list[tuple[str, str, int]] = []

        def watch(frame: types.FrameType, event: str, arg: Any) -> Any:
            if frame.f_code.co_name in ("inner", function.__name__):
                events.append((event, frame.f_code.co_name, frame.f_lineno))
            return watch

        try:
            result = run(X, 2, install, watch, local)
        finally:
            install(None)
        return events, result

    captured = Captured(function)
    plain, expected = events_of(function)
    for _ in range(2):
        found, result = events_of(captured)
        assert found == plain and same(result, expected)
    assert captured.graphs and ("call", "inner") in [event[:2] for event in plain]


@pytest.mark.parametrize("install", [sys.setprofile, sys.settrace])
@pytest.mark.parametrize("function", [clean, broken])
def test_nobody_sees_the_translator(function, install):
    captured, files = Captured(function), set()

    def watch(frame, event, arg):
        files.add(frame.f_code.co_filename)
        return watch

    install(watch)
    try:
        captured(X, 2)
    finally:
        install(None)
    assert function.__code__.co_filename in files
    translator = os.path.dirname(_eval_frame.__file__)
    assert not [name for name in files if name.startswith(translator)]


def test_cprofile_counts_the_calls():
    captured = warm(clean)
    profile = cProfile.Profile()
    for _ in range(5):
        profile.runcall(captured, X, 2)
    rows = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    calls = {where: row[0] for where, row in rows.items() if where[2] == "clean"}
    code = clean.__code__
    assert calls == {(code.co_filename, code.co_firstlineno, "clean"): 5}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
@pytest.mark.parametrize("local", [False, True])
def test_monitoring_sees_the_users_lines(local):
    captured = warm(broken)
    tool, events = sys.monitoring.COVERAGE_ID, sys.monitoring.events
    codes = [broken.__code__, inner.__code__]

    def lines(function: Callable[..., Any]) -> list[int]:
        seen: list[int] = []

        def line(code: types.CodeType, number: int) -> None:
            if code in codes:
                seen.append(number)

        sys.monitoring.use_tool_id(tool, "test")
        try:
            sys.monitoring.register_callback(tool, events.LINE, line)
            if local:
                for code in codes:
                    sys.monitoring.set_local_events(tool, code, events.LINE)
            else:
                sys.monitoring.set_events(tool, events.LINE)
            function(X, 2)
        finally:
            sys.monitoring.set_events(tool, 0)
            for code in codes:
                sys.monitoring.set_local_events(tool, code, 0)
            sys.monitoring.free_tool_id(tool)
        return seen

    assert lines(captured) == lines(broken) != []
    assert captured.agrees(X, 2)


def test_pdb_stops_at_a_breakpoint_inside():
    captured = warm(clean)
    output = io.StringIO()
    commands = "continue\np ('n is', n)\nnext\np tuple(y.shape)\ncontinue\n"
    debugger = pdb.Pdb(stdin=io.StringIO(commands), stdout=output, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    line = clean.__code__.co_firstlineno + 2
    assert debugger.set_break(__file__, line) is None
    try:
        result = debugger.runcall(captured, X, 2)
    finally:
        debugger.clear_all_breaks()
        sys.settrace(None)
    assert "('n is', 2)" in output.getvalue() and "(2, 3)" in output.getvalue()
    assert same(result, clean(X, 2))


def test_breakpoint_sees_the_users_frame(monkeypatch):
    seen = []

    def hook() -> None:
        frame = sys._getframe(1)
        seen.append((sorted(frame.f_locals), frame.f_lineno - frame.f_code.co_firstlineno))

    monkeypatch.setattr(sys, "breakpointhook", hook)

    def stops(x):
        y = x + 1
        breakpoint()
        return y * 2

    captured = Captured(stops)
    for _ in range(2):
        assert captured.agrees(X)
    assert seen == [(["x", "y"], 2)] * 4


def caller_locals(depth: int = 1):
    return dict(sys._getframe(depth).f_locals)


def evaluated(text: str):
    """As evaluators do that take names from where they are called."""
    return eval(text, {}, caller_locals(2))


tools = types.ModuleType("tools")
tools.evaluated = evaluated  # type: ignore[attr-defined]


def _by_global(x, n):
    y = x + n  # noqa: F841  the callees read it
    print(end="")
    return caller_locals()["y"], evaluated("y * n")


def _by_module(x, n):
    y = (x + n).relu()  # noqa: F841
    return tools.evaluated("y - x")


def _by_closure(x, n):
    found = caller_locals

    def program(x, n):
        y = x * n  # noqa: F841
        print(end="")
        return found()["y"], sorted(found())

    return gw.compile(program)(x, n)


@pytest.mark.parametrize("program", [_by_global, _by_module, _by_closure])
def test_callees_find_all_locals_of_the_frame_that_calls_them(program):
    captured = Captured(program)
    for n in (1, 2):
        assert captured.agrees(X, n)


def test_the_locals_of_a_frame_that_has_handled_an_exception():
    """They are the program's, or gone; nothing stands in for them."""
    def fails(box):
        raise KeyError("k")

    fails.__gw_disable__ = True

    def program(x, box):
        y = (x + 1).relu()
        try:
            fails(box)
        except KeyError as error:
            caught = error
        return y * 2, caught

    captured = Captured(program)
    for _ in range(2):
        box = types.SimpleNamespace()
        error = captured(X, box)[1]
        found = error.__traceback__.tb_frame.f_locals
        assert all(value is not None for value in found.values())
        assert found.get("box", box) is box
    assert captured.graphs


COVERED = """
import sys
import graphwright as gw
import coverage

def inner(y):
    if y.ndim == 7:
        y = y + 1
    return y * 2

def f(x, n):
    y = x + n
    print(end="")
    if n > 1:
        y = inner(y)
    else:
        y = y - 5
    return y

WARM
cov = coverage.Coverage(data_file=None, include=[__file__])
cov.start()
for _ in range(2):
    RUN(gw.ones(3), 2)
cov.stop()
print(cov.analysis2(__file__)[3])
"""


@pytest.mark.parametrize("core", ["ctrace", "pytrace", "sysmon"])
def test_coverage_counts_the_lines_of_compiled_functions(tmp_path, core):
    pytest.importorskip("coverage")
    if core == "sysmon" and sys.version_info < (3, 12):
        pytest.skip("sys.monitoring is new in 3.12")
    missed = []
    for warm_up, run in (("", "f"), ("g = gw.compile(f, backend='eager')\ng(gw.ones(3), 2)", "g")):
        script = tmp_path / f"covered_{run}.py"
        text = COVERED.replace("WARM", warm_up.ljust(1)).replace("RUN", run)
        script.write_text(text)
        done = subprocess.run(
            [sys.executable, str(script)], env={**os.environ, "COVERAGE_CORE": core},
            capture_output=True, text=True, check=True,
        )
        found = done.stdout.strip().splitlines()[-1]
        body = text.splitlines()
        missed.append([body[int(line) - 1].strip() for line in found.strip("[]").split(", ")
                       if int(line) < body.index("    return y") + 2])
    assert missed[0] == missed[1]
    assert "y = y + 1" in missed[0] and "y = y - 5" in missed[0] and "y = x + n" not in missed[0]


def test_fork():
    captured = warm(broken)
    fresh = Captured(clean)
    child = os.fork()
    if child == 0:
        fine = captured.agrees(X, 2) and captured.agrees(X, 3) and fresh.agrees(X, 2)
        os._exit(0 if fine and fresh.graphs == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert captured.agrees(X, 3) and fresh.agrees(X, 2)


def test_interrupts_during_capture_leave_a_consistent_state():
    """Ctrl-C at many moments of capture: it is raised, and the next call works."""
    interrupted = 0

    def interrupt(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for moment in range(60):
            captured = Captured(broken)
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.0001 + moment * 0.0001)
                    captured(X, 2)
                finally:  # where the signal may come, too
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupted += 1
            assert not _eval_frame.capturing() and _eval_frame.hook_installed() == 0
            assert captured.agrees(X, 2) and captured.graphs
            assert gw.is_grad_enabled()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert interrupted


def test_deep_recursion_is_that_of_plain_python():
    def down(x, n):
        return x if n == 0 else down(x + 1, n - 1)

    namespace: dict[str, Any] = {"print": print}
    source = """
def down(x, n):
    print(end="")
    return x if n == 0 else down(x + 1, n - 1)
def forever(x):
    print(end="")
    return forever(x + 1)
"""
    exec(source, namespace)
    for name, plain in list(namespace.items()):
        if isinstance(plain, types.FunctionType):
            namespace[name] = Captured(plain)
    assert same(namespace["down"](X, 150), X + 150)
    for _ in range(2):
        with pytest.raises(RecursionError):
            namespace["forever"](X)
    assert same(namespace["down"](X, 20), X + 20)
    captured = Captured(down)
    assert captured.agrees(X, 200)


def test_code_first_reached_near_the_recursion_limit_is_captured_there():
    def bottom(x):
        values = [n * 2 for n in range(4)]
        return x + len(values) + max(values)

    captured = Captured(bottom)

    def down(n):
        return captured(X) if n == 0 else down(n - 1)

    depth = sys.getrecursionlimit() - len(inspect.stack()) - 30
    assert same(down(depth), bottom(X))
    assert captured.graphs == 1
    with pytest.raises(RecursionError):
        down(depth + 40)
    assert same(down(depth), bottom(X))


def test_generators_around_compiled_calls():
    captured = warm(clean)

    def produce(n):
        for i in range(n):
            yield captured(X, 2) + i

    def consume(n):
        return [part * 2 for part in produce(n)]

    assert Captured(consume).agrees(4)
    assert Captured(produce).compiled(3).__next__().shape == X.shape


class Told:
    """A list of what compiled code gave to a callback of the collector, or to a finalizer."""

    def __init__(self) -> None:
        self.called = 0
        self.told: list[float] = []
        self.compiled = gw.compile(lambda x: (x * 2).sum())
        self.x = gw.ones(2, 3)
        self.compiled(self.x)

    def __call__(self, *_: Any) -> None:
        self.called += 1
        self.told.append(float(self.compiled(self.x)) + float((self.x + 1).sum()))


def test_what_the_collector_calls_does_not_run_amid_a_capture():
    told = Told()

    def program(x: Any) -> Any:
        return [(x * n).relu().sum() for n in range(4)]

    threshold = gc.get_threshold()
    gc.callbacks.append(told)
    try:
        gc.set_threshold(100)
        found = Captured(program)(gw.ones(2, 3))
        assert gc.isenabled()
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(told)
    assert [float(value) for value in found] == [6.0 * n for n in range(4)]
    assert told.told == [24.0] * told.called


def during_a_capture(action: Callable[[], None]) -> None:
    """Capture a function whose backend has another thread do something."""
    def backend(graph: Any, inputs: Any) -> Any:
        other = threading.Thread(target=action)
        other.start()
        other.join()
        return graph

    assert gw.compile(lambda x: x + 1, backend=backend)(gw.ones(2)).tolist() == [2, 2]


@pytest.mark.parametrize("before", [gc.enable, gc.disable])
@pytest.mark.parametrize("meanwhile", [gc.enable, gc.disable, gc.isenabled])
def test_whether_the_collector_is_on_is_up_to_the_program(before, meanwhile):
    """To its other threads, too, while one captures."""
    try:
        before()
        during_a_capture(meanwhile)
        found = gc.isenabled()
        before()
        meanwhile()
        assert found == gc.isenabled()
    finally:
        gc.enable()


def test_a_collection_that_another_thread_asks_for_happens_amid_a_capture():
    class Thing:
        pass

    thing = Thing()
    thing.itself = thing
    gone = weakref.ref(thing)
    del thing
    during_a_capture(gc.collect)
    assert gone() is None


def test_the_collector_goes_on_after_captures():
    class Thing:
        pass

    def circle() -> weakref.ref[Thing]:
        thing = Thing()
        thing.itself = thing
        return weakref.ref(thing)

    during_a_capture(gc.isenabled)
    gc.collect()
    gone = circle()
    kept = [[] for _ in range(2 * gc.get_threshold()[0] + 10)]
    assert gone() is None and kept


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_collector_that_is_held_for_a_capture_works_in_the_child_of_a_fork():
    """The child does not have the thread that captures, which would release it."""
    seen: list[int] = []

    def fork() -> None:
        child = os.fork()
        if child == 0:
            os._exit(0 if gc.isenabled() and min(gc.get_count()) >= 0 else 1)
        seen.append(os.waitpid(child, 0)[1])

    during_a_capture(fork)
    assert seen == [0] and min(gc.get_count()) >= 0
