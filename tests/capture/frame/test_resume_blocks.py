"""Graph breaks inside of with and try: handlers, exits and modes hold, both sides are compiled."""

from __future__ import annotations

import contextlib
import sys
import threading
import traceback
import weakref
from types import ModuleType
from typing import Any

import pytest

import graphwright as gw

from ..block_programs import BlockProgram
from ..captured import Captured, same

X = gw.ones(3, 4)
LOG: list[Any] = []


class Manager:
    def __init__(self, suppresses):
        self.suppresses = suppresses

    def __enter__(self):
        LOG.append("enter")
        return 3

    def __exit__(self, kind, value, trace):
        LOG.append(kind and kind.__name__)
        return self.suppresses


def fail(*args):
    raise KeyError(1)


@contextlib.contextmanager
def generated():
    LOG.append("begin")
    try:
        yield 2
    except KeyError:
        LOG.append("key")
    finally:
        LOG.append("end")


def in_try(x):
    try:
        y = x + 1
        print(end="")
        y = y * 2
    finally:
        z = 1
    return y * z


def in_no_grad(x):
    with gw.no_grad():
        y = x + 1
        print(end="")
        LOG.append(gw.is_grad_enabled())
        z = y * 2
    return z * 2, gw.is_grad_enabled(), (x * 2).requires_grad


def in_handler(x):
    y = x + 1
    try:
        fail()
        y = y * 3
    except KeyError as error:
        y = y * 2
        print(end="")
        y = y + len(error.args)
    else:
        y = y * 7
    finally:
        y = y + 5
    return y


def in_managers(x):
    with Manager(True) as k:
        x = x * k
        fail()
    x = x + 1
    with Manager(False) as k:
        x = x * k
        print(end="")
        x = x + k
    return x


def unknown_manager(x):
    x = x + 1
    with threading.Lock():
        x = x * 2
    return x + 3


def branch_on_values(x):
    x = x + 1
    try:
        if x.sum() > 0:
            x = x * 2
        else:
            raise ValueError("negative")
    except ValueError as error:
        return str(error), x * 3
    return x


def while_on_values(x):
    with Manager(False):
        while x.abs().sum() < 1000:
            x = x * 3 - 1
    return x


def in_generated_manager(x):
    with generated() as k:
        x = x * k
        print(end="")
        x = x + 1
        fail()
    return x + 1


def in_nested_blocks_of_a_loop(x):
    out = []
    for i in range(3):
        try:
            with Manager(i == 1):
                x = x + i
                print(end="")
                if i:
                    fail()
                out.append(x)
        except KeyError:
            x = x * 2
            continue
        finally:
            x = x - 1
            if i == 2:
                break  # noqa: B012
    return x, out


def in_comprehensions(x):
    x = x + 1
    first = [x * i for i in range(3) if print(end="") is None]
    return first, {i: x + i for i in (1, 2) if not print(end="")}, x * 2


def raised_again(x):
    x = x * 2
    try:
        raise ValueError("q")
    except ValueError as error:
        x = x + 1
        print(end="")
        x = x * 2
        try:
            raise
        except ValueError as again:
            kept = again
        LOG.append(sys.exc_info()[1] is error is kept)
    return x, str(kept), sys.exc_info()[0]


def returns_through_finally(x):
    y = x * 2
    try:
        return y + 1
    finally:
        print(end="")
        LOG.append("finally")


def break_in_a_callee(x):
    try:
        with Manager(False):
            y = in_managers(x + 1)
            y = y * in_handler(y)
            fail()
    except KeyError:
        return y + 1


def unbound_local(x):
    y = x + 1
    try:
        print(end="")
        if x.shape[0] == 3:
            del y
        return y * 2
    except UnboundLocalError as error:
        return x * 2, str(error)


def error_while_handling(x):
    x = x + 1
    try:
        try:
            fail()
        except KeyError:
            print(end="")
            x = x * 2
            raise ValueError("second")  # noqa: B904
    except ValueError as error:
        return x + 1, type(error.__context__), error.__cause__


PROGRAMS = [
    (in_try, 2), (in_no_grad, 2), (in_handler, 2), (in_managers, 2), (unknown_manager, 2),
    (branch_on_values, 2), (while_on_values, 2), (in_generated_manager, 2),
    (in_nested_blocks_of_a_loop, 3), (in_comprehensions, 1), (raised_again, 2),
    (returns_through_finally, 1), (break_in_a_callee, 3), (unbound_local, 1),
    (error_while_handling, 2),
]  # fmt: skip


def outcome(function, *args):
    """Result or error, what was logged, and the thread's state."""
    LOG.clear()
    try:
        result = function(*args)
    except Exception as error:
        result = type(error), str(error)
    return result, list(LOG), sys.exc_info()[0], gw.is_grad_enabled()


def _label(value):
    return getattr(value, "__name__", str(value))


@pytest.mark.parametrize(("program", "graphs"), PROGRAMS, ids=_label)
def test_block(program, graphs):
    for value in (X, -X * 3, gw.ones(3, 4).requires_grad_()):
        captured = Captured(program)
        for _ in range(3):
            assert same(outcome(program, value), outcome(captured, value))
        assert captured.graphs >= graphs, captured.record.skipped
        assert captured.breaks
        assert not any(entry.fallback for entry in captured.record.breaks[:1])


def test_the_first_error_has_the_users_line():
    def guarded(x):
        y = x + 1
        with Manager(False):
            print(end="")
            y = y * 2
            raise RuntimeError("here")

    captured = Captured(guarded)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="here") as error:
            captured(X)
        frames = traceback.extract_tb(error.value.__traceback__)
        assert frames[-1].line == 'raise RuntimeError("here")'


def test_exceptions_are_freed():
    class Mine(Exception):
        pass

    alive = []

    def handled(x):
        y = x + 1
        try:
            error = Mine()
            alive.append(weakref.ref(error))
            raise error
        except Mine:
            print(end="")
            y = y * 2
        return y

    captured = Captured(handled)
    assert captured.agrees(X)


def test_what_cannot_be_rebuilt_is_made_natively():
    def escapes(x):
        y = x + 1
        numbers = (i * 2 for i in range(3))
        z = y * 2
        return z, numbers

    captured = Captured(escapes)
    for _ in range(2):
        value, numbers = captured(X)
        assert same(value, (X + 1) * 2)
        assert list(numbers) == [0, 2, 4]
    assert captured.graphs == 2


FAILING = gw.tensor([0, 7])


def lost_update(x, table, index):
    x.add_(1)
    table["k"] = 1
    y = x[index]
    table["late"] = 2
    return y


def caught_inside(x, table, index):
    x.mul_(2)
    try:
        table["before"] = len(table)
        x = x + gw.ones(3)[index].sum()
        table["after"] = 1
    except IndexError as error:
        table["error"] = type(error.__context__)
        x = x * 3
    return x * 2


def pure(x, table, index):
    return x[index] * 2


def extern_step(x, table, index):
    x.add_(1)
    table["k"] = [x.shape[0]]
    y = gw.linalg.cholesky(x @ x.T - 100 * (index.max() > 3))
    table["late"] = 1
    return y


def with_random_numbers(x, table, index):
    x.add_(gw.rand(3, 3))
    table["k"] = 1
    return x[index] + gw.rand(1)


def keywords(x, table, /, index, *rest, flag=1, **others):
    x.add_(flag)
    table["rest"] = (rest, sorted(others))
    return x[index]


def between_writes(x, table, index):
    x.add_(1)
    y = x[index].sum()
    x.add_(y)
    table["k"] = 1
    return x * 2


FAILURES = [
    lost_update, caught_inside, pure, extern_step, with_random_numbers, keywords, between_writes,
]  # fmt: skip


@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize("program", FAILURES, ids=lambda program: program.__name__)
def test_a_failure_in_a_graph_keeps_what_came_before(program, backend):
    compiled = gw.compile(program, backend=backend)
    for index in ([0, 1], [0, 7], [2, 1], [0, 9]):
        seen = []
        for function in (program, compiled):
            gw.manual_seed(1)
            x, table = gw.eye(3) * 4, {"old": 1}
            try:
                result: Any = function(x, table, index=gw.tensor(index))
            except Exception as error:
                lines = [frame.line for frame in traceback.extract_tb(error.__traceback__)]
                result = type(error).__name__, str(error), error.__context__, lines[-1]
            seen.append((result, x, table, gw.rand(2)))
        expected, actual = seen
        assert same(expected[:1], actual[:1]), (expected, actual)
        assert same(expected[1:], actual[1:])


def test_an_index_in_a_try_block_stays_in_the_graph():
    """Where it is out of bounds the graph fails, and the frame runs plainly; that is told."""
    def look_up(x, index):
        try:
            return x[index] * 2
        except IndexError:
            return x * 3

    captured = Captured(look_up)
    assert captured.agrees(gw.ones(4), gw.tensor([0, 1]))
    assert captured.graphs == 1 and not captured.breaks
    for index in ([0, 7], [1, 1]):
        assert captured.agrees(gw.ones(4), gw.tensor(index))
    assert captured.graphs == 1 and captured.breaks == ["GB0022"]


def load(seed: int) -> tuple[str, dict[str, Any]]:
    text = BlockProgram(seed).text
    module = ModuleType(f"blocks_{seed}")
    exec(compile(text, f"<blocks {seed}>", "exec"), vars(module))
    return text, vars(module)


def run_random(function: Any, space: dict[str, Any], variant: int) -> tuple[Any, ...]:
    """Result or error, with the errors that led to it."""
    space["LOG"].clear()
    x = gw.ones(3, 3) * (variant - 1)
    try:
        result: Any = function(x, variant, gw.tensor([0, 1, 9 if variant == 3 else 2]))
    except Exception as error:
        result = type(error), str(error), type(error.__context__), type(error.__cause__)
    state = sys.exc_info()[0], gw.is_grad_enabled()
    gw.set_grad_enabled(True)
    return result, list(space["LOG"]), state


def compare(seed: int) -> Captured:
    text, space = load(seed)
    captured = Captured(space["f"])
    for variant in (0, 1, 1, 2, 3, 4, 0):
        expected = run_random(space["f"], space, variant)
        actual = run_random(captured, space, variant)
        assert same(expected, actual), f"seed {seed}, {variant}\n{text}\n{expected}\n{actual}"
    return captured


@pytest.mark.parametrize("start", range(3))
def test_random_blocks(start):
    graphs = [compare(seed).graphs for seed in range(8 * start, 8 * start + 8)]
    assert sum(map(bool, graphs)) >= 4


def in_a_loop(x, items):
    try:
        for item in items:
            if item:
                pass
    except RuntimeError:
        return x + 1
    return x


def in_a_comprehension(x, items):
    try:
        found = [item for item in items if item > 3]
    except RuntimeError:
        return x + 1
    return x + len(found)


def in_a_manager(x, items):
    with contextlib.suppress(RuntimeError):
        while not items[0]:
            x = x + 1
        return x
    return x + 2


@pytest.mark.parametrize("function", [in_a_loop, in_a_comprehension, in_a_manager])
@pytest.mark.parametrize("first", [gw.ones(3), gw.ones(1) * 5, gw.ones(1)])
def test_truths_that_raise_are_caught_where_the_block_ends_at_the_branch(function, first):
    captured = Captured(function)
    assert captured.agrees(gw.ones(2), [first, 4]) and captured.breaks
