"""The hook beside the rest of the interpreter: recursion, threads, tracing, other Pythons."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import types

import pytest

from graphwright.capture import _eval_frame
from graphwright.capture._eval_frame import run_hooked, run_unhooked
from graphwright.capture.frame import python_support

from ..frames import NESTED, Replace, fresh

pytestmark = [
    pytest.mark.skipif(not _eval_frame.SUPPORTED, reason="the hook is declined here"),
    pytest.mark.usefixtures("no_collection_by_itself"),
]


def test_deep_recursion():
    code = fresh("""
def down(n): return 0 if n == 0 else 1 + down(n - 1)
def forever(n): return forever(n + 1)
""")
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(6000)
        assert run_hooked(Replace(), code.down, 5000) == 5000
        replaced = fresh("def down(n): return 0 if n == 0 else 2 + down(n - 1)").down
        assert run_hooked(Replace(down=replaced), code.down, 2000) == 4000
    finally:
        sys.setrecursionlimit(limit)
    for _ in range(3):
        with pytest.raises(RecursionError):
            run_hooked(Replace(), code.forever, 0)
    assert run_hooked(Replace(), code.down, 50) == 50


def test_recursion_in_a_thread_with_a_small_stack():
    code = fresh("def forever(n): return forever(n + 1)")
    caught = []

    def work():
        try:
            run_hooked(Replace(), code.forever, 0)
        except RecursionError as error:
            caught.append(error)

    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert len(caught) == 1


def test_other_threads_run_plain_code():
    code = fresh(NESTED + "\ndef f(work): return work(), inner(1)")
    replace = Replace(inner=lambda a: a * 100)
    results = []

    def in_thread():
        thread = threading.Thread(target=lambda: results.append(code.outer(1)))
        thread.start()
        thread.join()

    assert run_hooked(replace, code.f, lambda: run_unhooked(in_thread)) == (None, 100)
    assert results == [6]


def test_threads():
    code = fresh(NESTED)
    replace = Replace(inner=lambda a: a * 100)
    wrong = []

    def work(i):
        for _ in range(200):
            natively, replaced = code.outer(i), run_hooked(replace, code.outer, i)
            if natively not in (4 * i + 2, 200 * i + 100) or replaced not in (
                4 * i + 2,
                200 * i + 100,
            ):
                wrong.append((natively, replaced))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and _eval_frame.hook_installed() == 0
    assert run_hooked(replace, code.outer, 1) == 300


@pytest.mark.parametrize("install", [sys.settrace, sys.setprofile])
def test_trace_and_profile_see_the_frames(install):
    """Of the user's own code, which nothing replaces meanwhile."""
    code = fresh(NESTED)
    replace = Replace(inner=(lambda a: a * 100).__code__.replace(co_name="inner"))
    events = []

    def trace(frame, event, arg):
        if frame.f_code.co_name in ("inner", "outer"):
            events.append((event, frame.f_code.co_name))
        return trace

    install(trace)
    try:
        result = run_hooked(replace, code.outer, 1)
    finally:
        install(None)
    assert result == 6
    interesting = [e for e in events if e[0] in ("call", "return")]
    call, back = ("call", "inner"), ("return", "inner")
    assert interesting == [("call", "outer"), call, back, call, back, ("return", "outer")]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
def test_monitoring_sees_the_frames():
    code = fresh(NESTED)
    replacement = (lambda a: a * 100).__code__.replace(co_name="inner")
    seen = []
    tool, events = sys.monitoring.DEBUGGER_ID, sys.monitoring.events
    sys.monitoring.use_tool_id(tool, "test")
    try:
        sys.monitoring.register_callback(
            tool, events.PY_START, lambda c, offset: seen.append(c.co_name)
        )
        sys.monitoring.set_events(tool, events.PY_START)
        assert run_hooked(Replace(inner=replacement), code.outer, 1) == 6, "the user's own code"
    finally:
        sys.monitoring.set_events(tool, 0)
        sys.monitoring.free_tool_id(tool)
    assert [name for name in seen if name in ("inner", "outer")] == ["outer", "inner", "inner"]


def test_exceptions_in_flight_are_untouched():
    code = fresh("""
import sys
def leaf(): return sys.exc_info()[0]
def f():
    try: raise KeyError
    except KeyError: return leaf(), sys.exc_info()[0]
""")
    other = types.FunctionType((lambda: (sys.exc_info()[0], 1)).__code__, {"sys": sys})
    assert run_hooked(Replace(leaf=other), code.f) == ((KeyError, 1), KeyError)


def test_misuse_is_refused():
    for call in (
        lambda: run_hooked(1, 2),
        lambda: run_hooked(print),
        lambda: run_unhooked(),
        lambda: _eval_frame.skip_code(5),
        lambda: _eval_frame.code_entries(len),
    ):
        with pytest.raises(TypeError):
            call()


def test_plain_code_is_as_fast_after_as_before():
    """Uninstalling leaves the default evaluator, and with it CPython's inlined calls."""
    script = """
import timeit
from graphwright.capture import _eval_frame
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
best = lambda: min(timeit.repeat(lambda: fib(17), number=1, repeat=15))
before = best()
_eval_frame.run_hooked(lambda *call: None, fib, 10)
print(best() / before)
"""
    ratios = [
        float(
            subprocess.run(
                [sys.executable, "-c", script], check=True, text=True, capture_output=True
            ).stdout
        )
        for _ in range(3)
    ]
    assert min(ratios) < 1.05


def test_this_python_is_supported():
    assert python_support.hook_problem() is None


def test_unknown_python_is_named(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    assert re.search(r"knows Python 3\.11, .*, this is 3\.99", python_support.hook_problem())


SUBINTERPRETER = """
import importlib.util, sys
try:
    spec = importlib.util.spec_from_file_location("_eval_frame", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
except ImportError:
    pass
else:
    assert not module.in_main_interpreter()
    def f(x): return g(x)
    def g(x): return x
    asked = []
    def callback(*call): asked.append(call)
    assert module.CompiledFunction(f, callback)(3) == 3
    assert module.run_hooked(callback, f, 3) == 3
    assert not asked and module.hook_installed() == 0
"""


def test_subinterpreters_run_plain_code():
    inner = f"PATH = {_eval_frame.__file__!r}\n{SUBINTERPRETER}"
    script = f"""
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
interpreter = interpreters.create()
result = interpreters.run_string(interpreter, {inner!r})
assert not result, result
interpreters.destroy(interpreter)
"""
    subprocess.run([sys.executable, "-c", script], check=True)
