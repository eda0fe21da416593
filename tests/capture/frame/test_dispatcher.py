"""CompiledFunction: binding, entries, misses, limits, and being an ordinary function otherwise."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import pickle
import sys
import traceback
import weakref

import pytest

from graphwright.capture import _eval_frame
from graphwright.capture._eval_frame import CompiledFunction, Entry
from graphwright.capture.guards import guards
from graphwright.capture.guards.guards import GuardBuilder
from graphwright.capture.guards.source import AttrSource, GlobalSource, LocalSource

from ..frames import Callback, compiled

pytestmark = pytest.mark.skipif(not _eval_frame.SUPPORTED, reason="the hook is declined here")


def collect(*args, **kwargs):
    return args, kwargs


SIGNATURES = [
    "",
    "a",
    "a, b",
    "a, b=2",
    "a=1, b=2",
    "a, /",
    "a, /, b",
    "a, b=2, /, c=3",
    "*args",
    "a, *args",
    "a=1, *args",
    "**kw",
    "a, **kw",
    "a, /, **kw",
    "a, b=2, *args, **kw",
    "*, k",
    "*, k=5",
    "a, *, k",
    "a, *args, k=5, j",
    "a, /, b=2, *args, k, j=6, **kw",
]
CALLS = [
    ((), {}),
    ((1,), {}),
    ((1, 2), {}),
    ((1, 2, 3, 4), {}),
    ((), {"a": 1}),
    ((1,), {"b": 7}),
    ((1,), {"a": 2}),
    ((), {"k": 1}),
    ((1,), {"k": 1}),
    ((1,), {"k": 1, "j": 2}),
    ((1, 2, 3), {"k": 1, "j": 2, "z": 9}),
    ((1,), {"z": 9}),
    ((), {"b": 1, "a": 2}),
    ((), {"a": 1, "b": 2, "c": 3, "k": 4, "j": 5}),
]


@pytest.mark.parametrize("signature", SIGNATURES)
def test_binding_is_that_of_the_language(signature):
    namespace: dict = {}
    exec(f"def f({signature}): return dict(locals())", namespace)
    plain = namespace["f"]
    run, callback = compiled(plain, limit=100)
    bound = 0
    for args, kwargs in CALLS:
        try:
            expected = plain(*args, **kwargs)
        except TypeError as error:
            with pytest.raises(TypeError) as caught:
                run(*args, **kwargs)
            assert str(caught.value) == str(error)
        else:
            assert run(*args, **kwargs) == expected and list(run(*args, **kwargs)) == list(
                expected
            )
            assert callback.calls[-1][0] or not signature
            bound += 1
    assert bound and len(run.entries) > 0 and all(e.hits > 0 for e in run.entries)


def test_slots_are_in_the_order_of_the_names():
    def f(a, /, b, *args, k=3, **kw):
        return a, b, args, k, kw

    run, callback = compiled(f)
    assert run(1, 2, 8, 9, z=7) == (1, 2, (8, 9), 3, {"z": 7})
    assert callback.calls[0][0] == (1, 2, 3, (8, 9), {"z": 7})


def test_defaults_are_read_at_each_call():
    def f(a, b=1, *, k=2):
        return a, b, k

    run, _ = compiled(f)
    assert run(0) == (0, 1, 2)
    f.__defaults__ = (5,)
    run.__kwdefaults__ = {"k": 6}
    assert run(0) == (0, 5, 6) == f(0)
    f.__kwdefaults__ = None
    with pytest.raises(TypeError, match="missing 1 required keyword-only"):
        run(0)


def test_hit_and_miss():
    run, callback = compiled(lambda x: x)
    assert [run(1), run(2), run(1.0), run(3)] == [1, 2, 1.0, 3]
    assert run.misses == 2 and len(callback.calls) == 2 and len(run.entries) == 2
    (slots, entries) = callback.calls[1]
    assert slots == (1.0,) and len(entries) == 1
    failure = guards.explain_failure(entries[0].program, run.__wrapped__, slots)
    assert str(failure) == "type(L['x']): expected int, got float"


def test_most_recently_hit_comes_first():
    run, _ = compiled(lambda x: x)
    for value in (1, 1.0, "a"):
        run(value)
    names = lambda: [e.program.guards[0].sentence().split()[-1] for e in run.entries]  # noqa: E731
    assert names() == ["str", "float", "int"]
    run(1)
    assert names() == ["int", "str", "float"]
    run(1)
    assert [e.hits for e in run.entries] == [3, 1, 1]


def test_limit():
    run, callback = compiled(lambda x: x, limit=2)
    for value in (1, 1.0, "a", b"b", 2):
        assert run(value) == value
    assert len(run.entries) == 2 and len(callback.calls) == 2
    assert callback.told == [(("a",), 2)], "told once"


def test_none_means_natively_for_ever():
    asked = []
    run = CompiledFunction(lambda x: x, lambda *call: asked.append(call))
    assert [run(1), run(2.0)] == [1, 2.0] and len(asked) == 1
    run.reset()
    assert run(1) == 1 and len(asked) == 2


def test_run_natively_asks_again():
    asked = []

    def callback(*call):
        asked.append(call)
        return _eval_frame.RUN_NATIVELY

    run = CompiledFunction(lambda x: x, callback)
    assert [run(1), run(2)] == [1, 2] and len(asked) == 2


def test_disabled():
    run, callback = compiled(lambda x: x)
    run.enabled = False
    assert run(1) == 1 and not callback.calls
    run.enabled = True
    assert run(1) == 1 and len(callback.calls) == 1


def test_error_of_the_callback_reaches_the_caller():
    def callback(*call):
        raise KeyError("mine")

    run = CompiledFunction(lambda x: x, callback)
    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            run(1)
    assert not _eval_frame.capturing()


def test_interrupt_during_capture():
    def callback(*call):
        raise KeyboardInterrupt

    run = CompiledFunction(lambda x: x, callback)
    with pytest.raises(KeyboardInterrupt):
        run(1)
    good, _ = compiled(lambda x: x)
    assert good(1) == 1 and len(good.entries) == 1


def test_other_answers_are_refused():
    run = CompiledFunction(lambda x: x, lambda *call: 5)
    with pytest.raises(TypeError, match="returned 5, not an Entry"):
        run(1)


def closing_over(y):
    return lambda x: y


@pytest.mark.parametrize(
    "code",
    [
        (lambda: 0).__code__,
        (lambda x, y: 0).__code__,
        (lambda *x: 0).__code__,
        (lambda *, x: 0).__code__,
        (lambda x, /: 0).__code__,
        (lambda x: (yield)).__code__,
        closing_over(1).__code__,
        compile("x", "f", "eval"),
    ],
)
def test_code_of_another_layout_is_refused(code):
    def callback(function, original, slots, entries):
        return Entry(guards.compile([], original), code=code)

    run = CompiledFunction(lambda x: x, callback)
    with pytest.raises(ValueError, match="layout"):
        run(1)
    assert not run.entries


def test_guards_of_another_function_are_refused():
    program = guards.compile([], (lambda a, b: 0).__code__)
    run = CompiledFunction(lambda x: x, lambda *call: Entry(program, code=(lambda x: x).__code__))
    with pytest.raises(ValueError, match="other arguments"):
        run(1)


def test_entry_needs_exactly_one_way_to_run():
    program = guards.compile([], (lambda: 0).__code__)
    for bad in ({}, {"code": (lambda: 0).__code__, "direct": len}, {"direct": 5}, {"code": 5}):
        with pytest.raises(TypeError):
            Entry(program, **bad)


def replaced(function, new, **kwargs):
    """A compiled `function` that runs the code of `new` whatever the arguments are."""

    def callback(_function, code, slots, entries):
        return Entry(guards.compile([], code), code=new.__code__, **kwargs)

    return CompiledFunction(function, callback)


def test_translated_code_runs_with_the_closure_and_globals_of_the_function():
    def make(n):
        def f(x):
            return x + n + OFFSET

        def g(x):
            return (x + n) * 100 + OFFSET

        return f, g

    f, g = make(5)
    assert replaced(f, g)(1) == 600 + OFFSET


OFFSET = 7


def test_translated_code_gets_star_arguments_as_they_were_bound():
    def f(a, *args, k=1, **kw): ...

    def g(a, *args, k=1, **kw):
        return a, args, k, kw

    assert replaced(f, g)(1, 2, 3, k=4, z=5) == (1, (2, 3), 4, {"z": 5})


def test_new_code_of_the_function_drops_the_entries():
    def f(x):
        return x + 1

    def g(x, y=3):
        return x + y

    run, callback = compiled(f)
    assert run(1) == 2
    f.__code__ = g.__code__
    f.__defaults__ = (10,)
    assert run(1) == 11 == f(1)
    assert len(callback.calls) == 2 and callback.calls[1][1] == ()


def direct(function, backend, inputs, select=None, build=lambda b: None, **kwargs):
    def callback(_function, code, slots, entries):
        builder = GuardBuilder()
        build(builder)
        program = guards.compile(builder.guards, code, inputs)
        return Entry(program, direct=backend, select=select, **kwargs)

    return CompiledFunction(function, callback)


def test_direct_entry():
    def f(x, y):
        return "natively"

    x, y = LocalSource("x"), LocalSource("y")
    outputs = lambda *args: [*args, len(args)]  # noqa: E731
    assert direct(f, outputs, [y, x, GlobalSource("OFFSET")])(1, 2) == [2, 1, 7, 3]
    assert direct(f, outputs, [y, x], select=-1)(1, 2) == 2
    assert direct(f, outputs, [y, x], select=(1, 0))(1, 2) == (1, 2)
    assert direct(f, outputs, [], select=0)(1, 2) == 0
    assert direct(f, outputs, [], select=4)(1, 2) == "natively"


def test_direct_entry_whose_input_is_missing_does_not_run():
    run = direct(lambda x: "natively", len, [AttrSource(LocalSource("x"), "absent")])
    assert run(1) == "natively"


def test_inputs_live_until_the_call_is_over():
    class Owner: ...

    owner = Owner()
    owner.value = [1, 2]

    def backend(value):
        del owner.value
        gc.collect()
        return sum(value)

    run = direct(lambda x: None, backend, [AttrSource(LocalSource("x"), "value")])
    assert run(owner) == 3


def test_a_direct_entry_that_fails_runs_the_function_instead():
    def f(x):
        return [][x]

    def backend(x):
        raise IndexError("of the backend")

    line = f.__code__.co_firstlineno + 1
    with pytest.raises(IndexError, match="list index out of range") as caught:
        direct(f, backend, [LocalSource("x")], line=line)(1)
    last = traceback.extract_tb(caught.tb)[-1]
    assert (last.name, last.lineno, last.line) == ("f", line, "return [][x]")


def test_exceptions_and_their_context():
    def f(x):
        raise ValueError(x)

    run, _ = compiled(f)
    for _ in range(2):
        try:
            raise KeyError("first")
        except KeyError:
            with pytest.raises(ValueError) as caught:
                run(3)
        assert isinstance(caught.value.__context__, KeyError)
        assert traceback.extract_tb(caught.tb)[-1].line == "raise ValueError(x)"


def test_looks_like_the_function():
    @functools.wraps(collect)
    def documented(x: int, y=2) -> int:
        """Text."""
        return x

    del documented.__wrapped__
    run, _ = compiled(documented)
    assert (run.__name__, run.__doc__, run.__module__) == ("collect", None, __name__)
    assert run.__wrapped__ is documented and run.__annotations__ == documented.__annotations__
    assert str(inspect.signature(run)) == str(inspect.signature(documented))
    assert callable(run) and inspect.unwrap(run) is documented and "collect" in repr(run)
    run.note = 1
    assert run.__dict__ == {"note": 1} and not hasattr(documented, "note")
    with pytest.raises(AttributeError):
        _ = run.nothing
    assert functools.update_wrapper(lambda: 0, run).__name__ == "collect"


def test_method_static_and_class_method():
    class Cls:
        def __init__(self):
            self.base = 10

        @functools.partial(CompiledFunction, callback=Callback())
        def method(self, x):
            return self.base + x

        static = staticmethod(CompiledFunction(lambda x: x * 2, Callback()))
        of_class = classmethod(CompiledFunction(lambda cls, x: (cls, x), Callback()))

    thing = Cls()
    for _ in range(3):
        assert thing.method(1) == 11 == Cls.method(thing, 1) == thing.method(x=1)
        assert Cls.static(3) == 6 == thing.static(3)
        assert Cls.of_class(1) == (Cls, 1)
    assert thing.method.__self__ is thing and thing.method.__func__ is Cls.method
    assert len(Cls.method.entries) == 1


@functools.partial(CompiledFunction, callback=Callback())
def module_level(x):
    return x


def test_copies_are_the_function_itself():
    assert copy.copy(module_level) is module_level
    assert copy.deepcopy([module_level])[0] is module_level
    assert pickle.loads(pickle.dumps(module_level)) is module_level


def test_weak_references_and_cycles():
    def f(x):
        return x

    run, callback = compiled(f)
    run(1)
    run.itself = run
    f.compiled = run
    weak = weakref.ref(run), weakref.ref(f)
    del run, f, callback
    gc.collect()
    assert weak[0]() is None and weak[1]() is None


def test_reference_counts_are_kept():
    value, run = [1], compiled(lambda x, *a, **k: None)[0]
    two, _ = compiled(lambda x: x)
    run(value, value, k=value)
    two(value)
    before = sys.getrefcount(value), sys.getrefcount(None)
    for _ in range(1000):
        run(value, value, k=value)
        assert two(value) is value
    assert sys.getrefcount(value) == before[0]
    for _ in range(100):
        with pytest.raises(TypeError):
            two(value, value)
    assert sys.getrefcount(value) == before[0]


def test_entries_that_died_make_room():
    def callback(function, code, slots, entries):
        builder = GuardBuilder()
        builder.id_match(LocalSource("x"), slots[0])
        return Entry(guards.compile(builder.guards, code), code=code)

    class Thing: ...

    run = CompiledFunction(lambda x: None, callback, limit=3)
    for _ in range(20):
        run(Thing())
    assert run.misses == 20 and len(run.entries) <= 3


def test_nested_calls_run_natively_while_capturing():
    inner, inner_callback = compiled(lambda x: x + 1)
    seen = []

    def callback(function, code, slots, entries):
        seen.append((_eval_frame.capturing(), inner(1)))
        return None

    assert CompiledFunction(lambda x: x, callback)(5) == 5
    assert seen == [(True, 2)] and not inner_callback.calls and not _eval_frame.capturing()


def test_capture_may_reset_the_function():
    def callback(function, code, slots, entries):
        run.reset()
        _eval_frame.reset_all()
        return Entry(guards.compile([], code), code=code)

    run = CompiledFunction(lambda x: x, callback)
    assert run(1) == 1 and len(run.entries) == 1


@pytest.mark.usefixtures("frozen_heap")
def test_running_code_may_reset_the_function():
    def f(n):
        run.reset()
        gc.collect()
        return n if n == 0 else run(n - 1)

    run, _ = compiled(f)
    assert run(50) == 0


def test_recursion():
    def fact(n):
        return 1 if n == 0 else n * fact_compiled(n - 1)

    fact_compiled, _ = compiled(fact)
    assert fact_compiled(20) == 2432902008176640000
    with pytest.raises(RecursionError):
        fact_compiled(10**6)
    assert fact_compiled(20) == 2432902008176640000


def test_generators_and_coroutines_are_left_alone():
    def generate(x):
        yield x

    async def wait(x):
        return x

    for function in (generate, wait):
        run, callback = compiled(function)
        result, expected = run(1), function(1)
        assert type(result) is type(expected) and not callback.calls
        result.close()
        expected.close()


def test_reset_all_reaches_functions():
    run, callback = compiled(lambda x: x)
    run(1)
    _eval_frame.reset_all()
    assert not run.entries and run(1) == 1 and len(callback.calls) == 2


def test_no_growth_over_many_rounds():
    import tracemalloc

    run, callback = compiled(lambda x: x)

    def round_trip():
        for value in (1, 1.0, "a"):
            run(value)
        callback.calls.clear()
        run.reset()

    for _ in range(50):
        round_trip()
    tracemalloc.start()
    round_trip()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(300):
        round_trip()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 20_000
