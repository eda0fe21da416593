"""The frame hook: which frames it offers, how it runs other code in them, what it leaves alone."""

from __future__ import annotations

import asyncio
import gc
import sys
import traceback
import types
import weakref

import pytest

from graphwright.capture import _eval_frame
from graphwright.capture._eval_frame import Entry, run_hooked, run_unhooked
from graphwright.capture.guards import guards
from graphwright.capture.guards.source import LocalSource

from ..frames import NESTED, Callback, Replace, fresh

pytestmark = [
    pytest.mark.skipif(not _eval_frame.SUPPORTED, reason="the hook is declined here"),
    pytest.mark.usefixtures("no_collection_by_itself"),
]


def test_nested_frames_run_other_code():
    code = fresh(NESTED)
    replace = Replace(inner=lambda a: a * 100)
    assert code.outer(1) == 6
    assert run_hooked(replace, code.outer, 1) == 300
    assert replace.seen == [("outer", (1,)), ("inner", (1,))], "one callback per code and guard"
    assert run_hooked(replace, code.outer, 2) == 500 and len(replace.seen) == 2
    assert run_hooked(replace, code.outer, 2.0) == 500 and replace.names[2:] == ["inner"]
    assert code.outer(1) == 6 and _eval_frame.hook_installed() == 0
    assert len(_eval_frame.code_entries(code.inner.__code__)) == 2


def test_uninstalled_after_errors_too():
    code = fresh("def f(): raise ValueError('mine')")
    with pytest.raises(ValueError, match="mine"):
        run_hooked(Replace(), code.f)
    assert _eval_frame.hook_installed() == 0


def test_not_installed_while_clean_entries_run():
    def callback(function, code, slots, entries):
        return Entry(guards.compile([], code), code=code)

    run = _eval_frame.CompiledFunction(lambda: _eval_frame.hook_installed(), callback)
    assert run() == 0


def test_entries_with_breaks_capture_the_frames_they_call():
    code = fresh(NESTED)
    replace = Replace(inner=lambda a: a * 100)
    replace.codes["outer"] = lambda program: Entry(program, code=code.outer.__code__, hooked=True)
    run = _eval_frame.CompiledFunction(code.outer, replace)
    assert run(1) == 300 and run(1) == 300 and replace.names == ["outer", "inner"]
    assert _eval_frame.hook_installed() == 0


def test_callbacks_do_not_share_entries():
    code = fresh(NESTED)
    first, second = Replace(inner=lambda a: a * 100), Replace(inner=lambda a: a * 1000)
    assert run_hooked(first, code.outer, 1) == 300
    assert run_hooked(second, code.outer, 1) == 3000
    assert run_hooked(first, code.outer, 1) == 300 and len(first.seen) == 2


def test_inner_hook_is_left_with_the_outer_back():
    code = fresh("def a(): return 1\ndef b(): return 2\ndef f(g): return g(), a(), b()")
    outer, inner = Replace(a=lambda: 10), Replace(b=lambda: 20)
    assert run_hooked(outer, code.f, lambda: run_hooked(inner, code.b)) == (20, 10, 2)
    assert "b" in outer.names and inner.names == ["b"]


def test_unhooked():
    code = fresh(NESTED)
    replace = Replace(inner=lambda a: a * 100)
    assert run_hooked(replace, run_unhooked, code.outer, 1) == 6 and not replace.seen
    assert run_hooked(replace, lambda: (run_unhooked(code.inner, 1), code.inner(1))) == (2, 100)


def test_skip_code():
    code = fresh(NESTED)
    replace = Replace(inner=lambda a: a * 100)
    _eval_frame.skip_code(code.inner.__code__)
    assert run_hooked(replace, code.outer, 1) == 6 and replace.names == ["outer"]


def test_reset():
    code = fresh(NESTED)
    replace = Replace(inner=lambda a: a * 100)
    run_hooked(replace, code.outer, 1)
    _eval_frame.reset_code(code.inner.__code__)
    assert _eval_frame.code_entries(code.inner.__code__) == ()
    assert run_hooked(replace, code.outer, 1) == 300 and replace.names == [
        "outer",
        "inner",
        "inner",
    ]
    _eval_frame.reset_all()
    assert run_hooked(replace, code.outer, 1) == 300 and len(replace.seen) == 5


def test_limit_and_natively():
    code = fresh("def f(x): return x")
    replace = Replace(f=lambda x: ("replaced", x))
    values = [1, 1.0, "a", b"b", (), [], {}, set(), frozenset(), 1j]
    results = [run_hooked(replace, code.f, value) for value in values]
    assert results[:8] == [("replaced", v) for v in values[:8]] and results[8:] == values[8:]


BIG = (
    "def big(a):\n"
    + "".join(f"    v{i} = a + {i}\n" for i in range(300))
    + ("    return (" + ", ".join(f"v{i}" for i in range(300)) + ")\n")
)


@pytest.mark.parametrize("depth", range(0, 240, 7))
def test_frames_that_grow_at_any_place_of_the_data_stack(depth):
    code = fresh(
        "def small(a): return a\n"
        + BIG
        + """
def sink(n, a):
    return small(a) if n == 0 else sink(n - 1, a)
"""
    )
    replace = Replace(small=code.big)
    expected = tuple(range(5, 305))
    for _ in range(3):
        assert run_hooked(replace, code.sink, depth, 5) == expected


@pytest.mark.parametrize("depth", range(0, 100, 9))
def test_frames_that_shrink(depth):
    code = fresh(
        "def small(a): return a\n"
        + BIG
        + """
def sink(n, a):
    return big(a) if n == 0 else sink(n - 1, a)
"""
    )
    assert run_hooked(Replace(big=code.small), code.sink, depth, 5) == 5


@pytest.mark.parametrize("depth", range(0, 200, 11))
def test_direct_entries_in_frames(depth):
    code = fresh("""
def leaf(a, b): return a
def sink(n, a):
    return leaf(a, [n]) if n == 0 else sink(n - 1, a)
""")

    def callback(function, original, slots, entries):
        if original.co_name != "leaf":
            return None
        program = guards.compile([], original, [LocalSource("b"), LocalSource("a")])
        return Entry(program, direct=lambda *args: ("direct", *args))

    value = object()
    before = sys.getrefcount(value)
    for _ in range(5):
        result = run_hooked(callback, code.sink, depth, value)
        assert result == ("direct", [0], value)
    del result
    assert sys.getrefcount(value) == before


def test_a_direct_entry_that_fails_runs_the_frame_instead():
    code = fresh("def leaf(a): return a\ndef f(a): return leaf(a)")

    def fail(a):
        raise ValueError(a)

    def callback(function, original, slots, entries):
        if original.co_name != "leaf":
            return None
        return Entry(guards.compile([], original, [LocalSource("a")]), direct=fail)

    value = [1]
    before = sys.getrefcount(value)
    for _ in range(5):
        assert run_hooked(callback, code.f, value) is value
    gc.collect()
    assert sys.getrefcount(value) == before


def test_error_of_the_callback_in_a_nested_frame():
    code = fresh(NESTED)
    value = 10**20

    def callback(function, original, slots, entries):
        if original.co_name == "inner":
            raise KeyError("mine")

    before = sys.getrefcount(value)
    for _ in range(5):
        with pytest.raises(KeyError, match="mine"):
            run_hooked(callback, code.outer, value)
    gc.collect()
    assert sys.getrefcount(value) == before and _eval_frame.hook_installed() == 0
    assert code.outer(1) == 6


def test_arguments_of_every_kind():
    code = fresh("""
def f(a, b=2, /, c=3, *args, d, e=5, **kw): return "plain"
def g(): return f(1, d=4), f(1, 2, 3, 8, 9, d=4, e=6, z=7)
""")

    def other(a, b=2, /, c=3, *args, d, e=5, **kw):
        local = (a, b, c, args, d, e, kw)
        return local

    assert run_hooked(Replace(f=other), code.g) == (
        (1, 2, 3, (), 4, 5, {}),
        (1, 2, 3, (8, 9), 4, 6, {"z": 7}),
    )


def test_cells_and_free_variables():
    code = fresh("""
def make(n):
    def f(x):
        def inner(): return x + n
        return inner
    def change(m):
        nonlocal n
        n = m
    return f, change
def g(f, x): return f(x)
""")
    f, change = code.make(1)

    def other_make(n):
        def f(x):
            y = 1000
            return lambda: (x, y, n)

        return f

    replace = Replace(f=other_make(0))
    assert run_hooked(replace, code.g, f, 5)() == (5, 1000, 1)
    change(7)
    assert run_hooked(replace, code.g, f, 5)() == (5, 1000, 7)
    assert run_hooked(replace, code.g, code.make(3)[0], 6)() == (6, 1000, 3)
    assert replace.names == ["g", "f"]


def test_super_and_methods():
    code = fresh("""
class A:
    def method(self): return ["A"]
class B(A):
    def own(self): return super().method() + ["B"]
class C(A):
    def own(self): return ["other"] + super().method()
def f(): return B().own()
""")
    assert run_hooked(Replace(own=code.C.own), code.f) == ["other", "A"]


def test_generators_coroutines_and_classes_are_left_alone():
    code = fresh("""
import asyncio
def generate(n):
    for i in range(n): yield helper(i)
async def own_wait(n):
    await asyncio.sleep(0)
    return helper(n)
async def own_stream(n):
    for i in range(n): yield i
async def own_gather():
    return [await own_wait(1), [i async for i in own_stream(2)], [helper(i) for i in generate(2)]]
def helper(i): return i * 2
def f():
    class Local:
        value = helper(3)
    gen = generate(3)
    next(gen)
    return list(gen), Local.value, list(helper(i) for i in (1, 2))
""")
    replace = Replace(helper=lambda i: i * 10)
    assert run_hooked(replace, code.f) == ([10, 20], 30, [10, 20])
    assert not {"generate", "Local", "<genexpr>", "own_wait", "own_stream"} & set(replace.names)
    assert run_hooked(replace, asyncio.run, code.own_gather()) == [10, [0, 1], [0, 100]]
    assert not {"generate", "own_wait", "own_stream", "own_gather"} & set(replace.names)


def test_generators_that_outlive_the_hook():
    code = fresh(
        "def generate():\n    for i in range(3): yield helper(i)\ndef helper(i): return i"
    )
    replace = Replace(helper=lambda i: i * 10)
    generator = run_hooked(replace, code.generate)
    assert run_hooked(replace, next, generator) == 0
    assert next(generator) == 1, "not hooked"
    assert run_hooked(replace, next, generator) == 20


def test_frames_that_escape():
    code = fresh("""
import sys
def leaf(a):
    return sys._getframe()
def f(a): return leaf(a)
""")

    def other(a):
        b = [a, a]  # noqa: F841
        return sys._getframe()

    other = types.FunctionType(other.__code__.replace(co_name="leaf"), code.__dict__)
    frame = run_hooked(Replace(leaf=other), code.f, 7)
    assert frame.f_locals == {"a": 7, "b": [7, 7]} and frame.f_code is other.__code__
    assert frame.f_lineno == other.__code__.co_firstlineno + 2


def test_traceback_of_translated_code():
    code = fresh("def leaf(a): return a\ndef f(a): return leaf(a)")

    def other(a):
        b = a + 1
        return b / 0

    with pytest.raises(ZeroDivisionError) as caught:
        run_hooked(Replace(leaf=other), code.f, 1)
    last = traceback.extract_tb(caught.tb)[-1]
    assert last.line == "return b / 0" and last.name == "other"
    assert caught.tb.tb_next.tb_next.tb_frame.f_locals == {"a": 1, "b": 2}


def test_references_are_kept_and_dropped():
    class Thing: ...

    code = fresh("def leaf(a): return 1\ndef f(a): return leaf(a)")
    replace = Replace(leaf=lambda a: a)
    thing = Thing()
    before = sys.getrefcount(thing)
    assert run_hooked(replace, code.f, thing) is thing
    replace.seen.clear()
    after_first = sys.getrefcount(replace.codes["leaf"])
    for _ in range(200):
        assert run_hooked(replace, code.f, thing) is thing
    after = sys.getrefcount(thing), sys.getrefcount(replace.codes["leaf"])
    assert after == (before, after_first)
    weak = weakref.ref(thing)
    del thing
    gc.collect()
    assert weak() is None


def test_code_dies_with_its_entries():
    code = fresh(NESTED)
    replace = Replace(inner=lambda a: a)
    run_hooked(replace, code.outer, 1)
    entry = _eval_frame.code_entries(code.inner.__code__)[0]
    count = sys.getrefcount(entry)
    weak = weakref.ref(code.inner.__code__)
    replace.seen.clear()
    del code
    gc.collect()
    assert weak() is None and sys.getrefcount(entry) == count - 1


def test_entries_die_with_their_callback():
    code = fresh(NESTED)
    replace = Replace(inner=lambda a: a * 100)
    other = Replace(inner=lambda a: a * 1000)
    assert run_hooked(replace, code.outer, 1) == 300 and run_hooked(other, code.outer, 1) == 3000
    weak = weakref.ref(replace)
    del replace
    gc.collect()
    assert weak() is None and len(_eval_frame.code_entries(code.inner.__code__)) == 1
    assert run_hooked(other, code.outer, 1) == 3000 and len(other.seen) == 2


def test_a_callback_is_referred_to_once_however_much_code_it_was_asked_about():
    codes, callback = [fresh(NESTED) for _ in range(5)], Replace()
    for code in codes:
        run_hooked(callback, code.outer, 1)
    assert weakref.getweakrefcount(callback) == 1
    reference = weakref.getweakrefs(callback)[0]
    del callback
    gc.collect()
    assert reference() is None
    assert all(_eval_frame.code_entries(code.inner.__code__) == () for code in codes)


def test_codes_are_reset_though_callbacks_end_with_their_entries():
    """The entries of a code object may be all that still holds the callback they came from."""
    inner, ended = fresh(NESTED).inner, []

    def use_once(number):
        callback = Callback()
        callback.entry = {"code": inner.__code__, "keepalive": callback}
        weakref.finalize(callback, ended.append, number)
        run_hooked(callback, inner, 1)

    for number in range(8):
        use_once(number)
    _eval_frame.reset_all()
    gc.collect()
    assert sorted(ended) == list(range(8))
    assert _eval_frame.code_entries(inner.__code__) == ()
