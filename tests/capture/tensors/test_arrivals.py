"""What signals and other threads raise while a graph runs is raised, and no failure of it."""

from __future__ import annotations

import _thread
import ctypes
import gc
import signal
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

import graphwright as gw
from graphwright.capture import _eval_frame
from graphwright.capture.frame.frontend import Frontend

from ..captured import same


@gw.compiler.disable
def native(log: list[Any]) -> None:
    log.append("native")


def plain_graph(x: Any, log: list[str]) -> Any:
    return x + 1


def graph_in_a_frame(x: Any, log: list[str]) -> Any:
    y = x.add_(1)
    native(log)
    return y * 2


def times_out(
    backend: Any, function: Any = graph_in_a_frame, match: str | None = None
) -> None:
    """Each call raises what arrives, with nothing done."""
    compiled = Frontend(backend).compile(function)
    x, log = gw.ones(3), []
    for _ in range(3):
        with pytest.raises(TimeoutError, match=match):
            compiled(x, log)
    assert log == [] and same(x, gw.ones(3))


def from_a_thread() -> Callable[[], Any]:
    """What raises in this thread as others can."""
    return partial(ctypes.pythonapi.PyThreadState_SetAsyncExc,
                   ctypes.c_ulong(threading.get_ident()), ctypes.py_object(TimeoutError))


class Late:
    """Handlers of signals that raise what plain Python code raises, too."""

    def method(self, number: int, frame: Any) -> None:
        raise TimeoutError("late")

    __call__ = method


@pytest.fixture(params=[Late().method, partial(Late.method, Late()), Late()])
def late(request: pytest.FixtureRequest) -> Iterator[None]:
    before = signal.signal(signal.SIGUSR1, request.param)
    yield
    signal.signal(signal.SIGUSR1, before)


def signalled(graph: Any, inputs: Any) -> Any:
    """Graphs that a signal reaches when they have run."""

    def run(*args: Any) -> Any:
        results = graph(*args)
        _thread.interrupt_main(signal.SIGUSR1)
        return results

    return run


@pytest.mark.usefixtures("late")
def test_errors_of_handlers_are_none_of_the_graph() -> None:
    """They were taken for those of a graph that failed, in whose place the frame ran plainly."""
    times_out(signalled, match="late")


def test_what_another_thread_raises_while_a_graph_runs_is_none_of_the_graph() -> None:
    """As `PyThreadState_SetAsyncExc` does, which leaves no trace of who it was."""
    raise_in = from_a_thread()

    def reached(graph: Any, inputs: Any) -> Any:
        def run(*args: Any) -> Any:
            results = graph(*args)
            _eval_frame.called[raise_in,]
            return results

        return run

    times_out(reached)


def goes_on(raise_in: Any) -> None:
    """Python looks for exceptions where a function begins."""

    def begin() -> None:
        pass

    _eval_frame.called[raise_in,]
    begin()


def goes_back(raise_in: Any) -> None:
    """And where a loop goes back."""
    for _ in range(2):
        _eval_frame.called[raise_in,]


def has_called(raise_in: Any) -> None:
    """And behind a call."""
    raise_in()


@pytest.mark.parametrize("function", [plain_graph, graph_in_a_frame])
@pytest.mark.parametrize("reaches", [goes_on, goes_back, has_called])
@pytest.mark.parametrize("by", ["thread", "signal"])
def test_what_arrives_in_python_code_of_a_graph_is_raised(
    function: Any, reaches: Any, by: str, request: pytest.FixtureRequest
) -> None:
    """It was taken for a failure of the graph, in whose place the frame ran, and was lost."""
    gc.disable()        # what a callback of the collector gets, no caller hears of
    request.addfinalizer(gc.enable)
    if by == "signal":
        before = signal.signal(signal.SIGUSR1, Late().method)
        request.addfinalizer(partial(signal.signal, signal.SIGUSR1, before))
        raise_in: Any = partial(_thread.interrupt_main, signal.SIGUSR1)
    else:
        raise_in = from_a_thread()

    def reached(graph: Any, inputs: Any) -> Any:
        def run(*args: Any) -> Any:
            reaches(raise_in)
            return graph(*args)

        return run

    times_out(reached, function)


def test_what_ends_a_thread_in_a_graph_shows_the_frame() -> None:
    """No signal, so that the frame does not begin again to raise it."""

    def ending(graph: Any, inputs: Any) -> Any:
        def run(*args: Any) -> Any:
            raise SystemExit(7)

        return run

    def function(x: Any, log: list[str]) -> Any:
        y = x + 1
        native(log)
        return y * 2

    def thread() -> None:
        with pytest.raises(SystemExit) as raised:
            compiled(gw.ones(3), log)
        names.extend(entry.name for entry in raised.traceback)

    names: list[str] = []
    log: list[str] = []
    compiled = Frontend(ending).compile(function)
    started = threading.Thread(target=thread)
    started.start()
    started.join()
    assert names[-2:] == ["function", "run"] and log == []
