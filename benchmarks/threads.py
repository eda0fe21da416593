"""Threads: what a parallel loop costs on an idle machine, and a model beside a busy neighbour.

A fork and join is what two threads take for two small chunks, less what one takes for one chunk.
The neighbour is a process that keeps one CPU busy; it is stopped and continued between calls, so
that both times come from the same minutes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import graphwright as gw
from benchmarks.architectures.tables import perceptron
from benchmarks.architectures.transformers import bert
from benchmarks.result import Result, Wrong
from graphwright.report.measure import in_turns
from graphwright.runtime import _core

GROUP = "threads"
FORK_LIMIT, NEIGHBOUR_LIMIT = 3.0, 2.2
"""Microseconds of a fork and join; a model's time beside a neighbour over its time alone."""
CHUNK = 32 << 10
"""Bytes that a thread copies at least."""


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Kernels run on so many threads."""
    before = gw.get_num_threads()
    gw.set_num_threads(count)
    try:
        yield
    finally:
        gw.set_num_threads(before)


def fork_and_join() -> Result:
    """Two chunks on two threads, less one chunk on one."""
    source, copies = bytes(2 * CHUNK), bytearray(2 * CHUNK)
    half, one = memoryview(source)[:CHUNK], memoryview(copies)[:CHUNK]

    def on(count: int, to: Any, data: Any) -> None:
        _core.set_num_threads(count)
        _core.copy_bytes(to, data)

    with threads(2):
        timings = in_turns({"two": partial(on, 2, copies, source),
                            "one": partial(on, 1, one, half)}, seconds=1.0)
    cost = timings["two"].median - timings["one"].median
    return Result(GROUP, "fork and join of two threads", "us", FORK_LIMIT, cost * 1e6,
                  note="two chunks on two threads, less one on one",
                  spread=timings["two"].spread)


@contextmanager
def neighbour() -> Iterator[subprocess.Popen[bytes]]:
    """A process that keeps one CPU busy while it is not stopped; it is stopped."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        os.kill(process.pid, signal.SIGSTOP)
        yield process
    finally:
        process.kill()
        process.wait()


def models() -> Iterator[tuple[str, Any, Any]]:
    """Name, model and input."""
    gw.manual_seed(0)
    yield "perceptron, 16 rows", perceptron(gw, (784, 1024, 1024, 10)), gw.randn(16, 784)
    yield "BERT of 2 layers, 128 words", bert(gw, layers=2), gw.randint(0, 1000, (1, 128))


def beside_neighbour(name: str, model: Any, x: Any) -> Result:
    """The model's time while one CPU is busy over its time while none is."""
    model.eval().requires_grad_(False)
    compiled = gw.compile(model)
    if not gw.allclose(compiled(x), model(x), 1e-3, 1e-4):
        raise Wrong(name)

    with neighbour() as process:
        def after(sign: signal.Signals, run: Callable[[], Any]) -> None:
            os.kill(process.pid, sign)
            run()

        timings = in_turns({"alone": partial(after, signal.SIGSTOP, partial(compiled, x)),
                            "beside": partial(after, signal.SIGCONT, partial(compiled, x))},
                           seconds=2.0)
    beside = timings["beside"]
    return Result(GROUP, f"{name}, one CPU busy", "x", NEIGHBOUR_LIMIT,
                  beside.ratio[1],
                  note=f"{gw.get_num_threads()} threads; over the time with no CPU busy",
                  spread=beside.spread)


def run() -> list[Result]:
    """All rows."""
    return [fork_and_join(), *(beside_neighbour(*case) for case in models())]
