"""Calls of compiled functions from many threads, and capture while others call."""

from __future__ import annotations

import os
import random
import threading

import pytest

from graphwright.capture import _eval_frame
from graphwright.capture._eval_frame import CompiledFunction, Entry
from graphwright.capture.guards import guards

from ..frames import compiled

pytestmark = pytest.mark.skipif(not _eval_frame.SUPPORTED, reason="the hook is declined here")


def test_threads():
    function = lambda x, n=1: (x, n)  # noqa: E731
    run, callback = compiled(function, limit=4)
    wrong = []
    values = [1, 1.0, "a", b"b", None, (1,)]

    def work(seed):
        rng = random.Random(seed)
        for _ in range(200):
            value = rng.choice(values)
            if run(value, n=seed) != (value, seed):
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(run.entries) <= 4 and len(callback.told) == 1


def test_one_capture_at_a_time():
    inside, release, results = threading.Event(), threading.Event(), []

    def callback(function, code, slots, entries):
        inside.set()
        assert release.wait(10)
        return Entry(guards.compile([], code), code=code)

    run = CompiledFunction(lambda x: x, callback)
    thread = threading.Thread(target=lambda: results.append(run(1)))
    thread.start()
    assert inside.wait(10)
    assert run(2) == 2, "meanwhile others run natively"
    release.set()
    thread.join()
    assert results == [1] and len(run.entries) == 1 and run.misses == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork_during_a_capture_of_another_thread():
    inside, release = threading.Event(), threading.Event()

    def callback(function, code, slots, entries):
        inside.set()
        release.wait(10)

    run = CompiledFunction(lambda x: x, callback)
    thread = threading.Thread(target=run, args=(1,))
    thread.start()
    assert inside.wait(10)
    child = os.fork()
    if child == 0:
        other, _ = compiled(lambda x: x)
        other(1)
        os._exit(0 if len(other.entries) == 1 else 1)
    release.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
