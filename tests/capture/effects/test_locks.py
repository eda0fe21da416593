"""`with lock:` is part of a graph whose code runs while the thread holds the lock."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured

X = gw.tensor([1.0, 2.0, 3.0])
KINDS = [threading.Lock, threading.RLock]
both_kinds = pytest.mark.parametrize("kind", KINDS, ids=["plain", "reentrant"])


class Counter:
    def __init__(self, lock: Any) -> None:
        self.lock, self.total, self.seen = lock, 5, list[int]()

    def count(self, x: Any) -> Any:
        y = x * 2
        with self.lock as taken:
            self.total += 1
            y = y + self.total
        return y, taken


def is_free(lock: Any) -> bool:
    """Whether another thread can take it."""
    found: list[bool] = []

    def attempt() -> None:
        found.append(lock.acquire(blocking=False))
        if found[0]:
            lock.release()

    other = threading.Thread(target=attempt)
    other.start()
    other.join()
    return found[0]


@both_kinds
def test_a_block_is_in_the_graph(kind: Any) -> None:
    counter, plain = Counter(kind()), Counter(kind())
    captured = Captured(lambda x: counter.count(x))
    for _ in range(4):
        (result, taken), expected = captured(X), plain.count(X)
        assert gw.equal(result, expected[0]) and taken is True
        assert counter.total == plain.total
        assert is_free(counter.lock)
    assert captured.breaks == []
    assert captured.graphs == 2     # the total becomes an input


@both_kinds
def test_the_lock_is_held_while_the_graph_runs(kind: Any) -> None:
    held: list[bool] = []

    def backend(module: Any, examples: Any) -> Any:
        def run(*values: Any) -> Any:
            held.append(not is_free(counter.lock))
            return module(*values)

        return run

    counter = Counter(kind())
    compiled = gw.compile(counter.count, backend=backend, fullgraph=True)
    for _ in range(3):
        compiled(X)
    assert held == [True] * 3
    assert counter.total == 8


def test_a_call_waits_for_a_lock_that_another_thread_has() -> None:
    counter = Counter(threading.Lock())
    compiled = gw.compile(counter.count, backend="eager", fullgraph=True)
    compiled(X)
    compiled(X)
    with counter.lock:
        other = threading.Thread(target=lambda: counter.seen.append(compiled(X)[0].sum().item()))
        other.start()
        other.join(0.05)
        assert other.is_alive() and counter.total == 7
        counter.total = 10      # what it reads once it has the lock
    other.join()
    assert counter.total == 11 and counter.seen == [12 + 33.0]


def test_threads_lose_no_updates() -> None:
    counter = Counter(threading.Lock())
    compiled = gw.compile(counter.count, backend="eager", fullgraph=True)

    def work() -> None:
        for _ in range(50):
            counter.seen.append(int(compiled(X)[0][0].item()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.total == 205
    assert sorted(counter.seen) == list(range(8, 208))


def test_an_exception_leaves_the_lock_free() -> None:
    lock = threading.Lock()

    def refuses(x: Any) -> Any:
        y = x + 1
        with lock:
            raise ValueError(f"{y.shape}")

    def handles(x: Any) -> Any:
        try:
            return refuses(x)
        except ValueError as error:
            return x * 2, str(error)

    captured = Captured(refuses)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"\[3\]"):
            captured(X)
        assert is_free(lock)
    captured = Captured(handles)
    assert captured.agrees(X) and captured.agrees(X)
    assert is_free(lock)
    assert captured.breaks == []


@gw.library.custom_op("tests::under_a_lock", mutates_args=())
def doubled(x: gw.Tensor) -> gw.Tensor:
    with LOCK:
        return x * 2


@doubled.register_fake
def _(x: gw.Tensor) -> gw.Tensor:
    return gw.empty_like(x)


LOCK = threading.Lock()


def breaks_behind(x: Any) -> Any:
    with LOCK:
        y = x + 1
    with LOCK:      # would never end, if the first were still held
        print(end="")
    return y * 2


def breaks_inside(x: Any) -> Any:
    with LOCK:
        y = x + 1
        print(end="")
        y = y * 3
    return y * 2


def calls_a_program(x: Any) -> Any:
    with LOCK:
        y = x + 1
    return doubled(y)


@pytest.mark.parametrize("program", [breaks_behind, breaks_inside, calls_a_program],
                         ids=lambda program: program.__name__)
def test_locks_end_graphs_where_the_program_runs_before_they_could_be_given_back(
    program: Any,
) -> None:
    captured = Captured(program)
    for _ in range(2):
        assert captured.agrees(X)
        assert is_free(LOCK)
    assert "a lock" in captured.record.breaks[0].detail


def test_a_frame_takes_a_lock_twice() -> None:
    lock, nested = threading.Lock(), threading.RLock()

    def program(x: Any) -> Any:
        with lock:
            x = x + 1
        with lock, nested, nested:
            return x * 2

    captured = Captured(program)
    assert captured.agrees(X) and captured.agrees(X)
    assert is_free(lock) and is_free(nested)
    assert (captured.graphs, captured.breaks) == (1, [])


def test_another_lock_is_another_version() -> None:
    first, second = threading.Lock(), threading.Lock()
    captured = Captured(Counter.count)
    counter = Counter(first)
    captured(counter, X)
    counter.lock = second
    with first:     # which the graph has no need of any more
        assert gw.equal(captured(counter, X)[0], X * 2 + 7)
    assert captured.breaks == []
