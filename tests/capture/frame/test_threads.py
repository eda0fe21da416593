"""Captured functions called from many threads at once."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
import types
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw
from graphwright.capture import _eval_frame
from graphwright.capture.frame.frontend import Frontend
from graphwright.runtime.locks import Lock
from graphwright.runtime.ops import functions as ops

from ..mutations.matrix import facts, tensor

pytestmark = pytest.mark.skipif(not _eval_frame.SUPPORTED, reason="the hook is declined here")


def end_after(seconds: int) -> None:
    """Let a forked child that hangs be killed."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(seconds)


def clean(x, n):
    return ops.relu(x + n) * 2


def scaled(x, n):
    return x * n if n > 1 else x - n


def broken(x, n):
    y = clean(x, n)
    print(end="")
    return scaled(y, n) + 1


INPUTS = [
    tensor(3, 4),
    tensor(5, 4),
    tensor(3, 4, dtype="float64"),
    tensor(4, 3).t(),
    tensor(3, 4, grad=True),
]


@pytest.mark.parametrize("function", [clean, broken])
def test_threads_agree_with_plain_python(function: Callable[..., Any]) -> None:
    compiled = Frontend(lambda module, examples: module).compile(function)
    expected = {
        (i, n): facts(function(x, n)) for i, x in enumerate(INPUTS) for n in (0, 1, 2, 2.5)
    }
    wrong = []

    def work(seed: int) -> None:
        rng = random.Random(seed)
        keys = list(expected)
        for _ in range(200):
            i, n = rng.choice(keys)
            found = facts(compiled(INPUTS[i], n))
            if found != expected[i, n]:
                wrong.append((i, n, found))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and compiled.entries and _eval_frame.hook_installed() == 0


def own_function(number: int) -> Callable[..., Any]:
    """One of many functions with the same code, and different cells and globals."""
    factor = number + 1

    def compute(x: Any, n: Any) -> Any:
        y = ops.relu(x * factor) + n
        if number % 3 == 0:
            print(end="")
        return y * factor if n > 1 else y.sum(0)

    return compute


@pytest.mark.parametrize("backend", ["eager", "llvm"])
def test_threads_that_all_compile_at_once(backend: str) -> None:
    """Each thread has functions of its own, and calls one that all of them share."""
    shared = gw.compile(broken, backend=backend)
    inputs = [(x.detach() * 8).round() for x in INPUTS]  # of which all sums are exact
    expected = {(i, n): facts(broken(x, n)) for i, x in enumerate(inputs) for n in (1, 2)}
    start, wrong = threading.Barrier(32), []

    def work(seed: int) -> None:
        function = own_function(seed)
        rng, own = random.Random(seed), gw.compile(function, backend=backend)
        start.wait()
        for _ in range(100):
            i, n = rng.choice(list(expected))
            if facts(shared(inputs[i], n)) != expected[i, n]:
                wrong.append((i, n))
            if facts(own(inputs[i], n)) != facts(function(inputs[i], n)):
                wrong.append((seed, i, n))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and _eval_frame.hook_installed() == 0


def test_threads_that_compile_while_others_forget_everything() -> None:
    start, wrong, x = threading.Barrier(9), [], gw.ones(2, 3)
    interval = sys.getswitchinterval()

    def work(seed: int) -> None:
        start.wait()
        try:
            function = own_function(seed)
            for number in range(12):
                made = [gw.compile(function, backend="eager") for _ in range(20)]
                if facts(made[-1](x, number % 3)) != facts(function(x, number % 3)):
                    wrong.append((seed, number))
                if seed < 3:
                    gw.compiler.reset()
        except RuntimeError as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(9)]
    sys.setswitchinterval(1e-5)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_children_forked_while_threads_compile() -> None:
    """Whatever the other threads were doing, the child can capture and run."""
    done = threading.Event()

    def compile_again_and_again() -> None:
        while not done.is_set():
            gw.compile(broken, backend="eager")(INPUTS[0], 2)

    gw.compile(broken, backend="eager")(INPUTS[0], 2)  # imports: a fork copies their locks as held
    threads = [threading.Thread(target=compile_again_and_again) for _ in range(4)]
    for thread in threads:
        thread.start()
    statuses = []
    for _ in range(5):
        child = os.fork()
        if child == 0:
            end_after(60)
            found = facts(gw.compile(broken, backend="eager")(INPUTS[1], 1))
            os._exit(0 if found == facts(broken(INPUTS[1], 1)) else 1)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    done.set()
    for thread in threads:
        thread.join()
    assert statuses == [0] * 5


PART_OF_THE_PACKAGE = """
import events
events.inside.set()
events.forks.wait(0.2)     # which never comes: the fork is to wait for what has begun
whole = True
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_does_not_wait_for_what_another_thread_was_importing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_part.py").write_text(PART_OF_THE_PACKAGE)
    monkeypatch.setattr(gw, "__path__", [*gw.__path__, str(tmp_path)])
    inside, forks = threading.Event(), threading.Event()
    monkeypatch.setitem(sys.modules, "events", types.SimpleNamespace(inside=inside, forks=forks))
    thread = threading.Thread(target=import_module, args=("graphwright.slow_part",))
    thread.start()
    try:
        assert inside.wait(10)
        child = os.fork()
        if child == 0:
            end_after(60)
            os._exit(0 if import_module("graphwright.slow_part").whole else 1)
        thread.join()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        sys.modules.pop("graphwright.slow_part", None)
        vars(gw).pop("slow_part", None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_finds_locks_free_that_another_thread_held() -> None:
    lock, taken, done = Lock(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock.now:
            taken.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait()
    child = os.fork()
    if child == 0:
        end_after(20)
        with lock.now:
            os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    done.set()
    holder.join()
    assert status == 0


def test_a_lock_is_entered_without_python_code() -> None:
    """An interrupt cannot come between taking it and the block that releases it."""
    assert isinstance(Lock().now.__enter__, types.BuiltinMethodType)


def test_asyncio() -> None:
    compiled = Frontend(lambda module, examples: module).compile(broken)

    async def one(x: Any, n: Any) -> Any:
        await asyncio.sleep(0)
        return compiled(x, n)

    async def everything() -> list[Any]:
        return await asyncio.gather(*(one(x, n) for x in INPUTS for n in (1, 2)))

    expected = [facts(broken(x, n)) for x in INPUTS for n in (1, 2)]
    for _ in range(3):
        assert [facts(result) for result in asyncio.run(everything())] == expected
    assert _eval_frame.hook_installed() == 0


LOCK_MADE_DURING_A_FORK = """
import os
from graphwright.runtime.locks import held_while_forking

locks = []
os.register_at_fork(before=lambda: locks.append(held_while_forking()))
for _ in range(2):
    child = os.fork()
    for lock in locks:
        with lock:
            pass
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


def test_a_lock_that_is_made_while_a_fork_begins_is_not_given_back_by_it() -> None:
    """As by an import that the fork waits for."""
    command = [sys.executable, "-c", LOCK_MADE_DURING_A_FORK]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
