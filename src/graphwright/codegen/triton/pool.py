"""The processes that compile kernels: started when kernels are first missing, kept for the next.

They end with this process, however it ends, and are not those of a process forked from it.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphwright.codegen.private_files import private_folder
from graphwright.codegen.triton import worker
from graphwright.runtime import _core

_PATIENCE = 300.0
"""Seconds that a process has for one kernel."""
_MOST = 32
"""Processes: each takes 160 MB, and more than a second until Triton is loaded."""
_QUOTED = 10_000
"""Bytes of what a process writes that are read."""


class Worker:
    """A process that runs `worker.py`. What it and Triton write goes into a file in memory.

    Raises: OSError if it cannot be started.
    """

    def __init__(self) -> None:
        self.job: str | None = None
        self.deadline = 0.0
        self._said = os.fdopen(os.memfd_create("graphwright-worker"), "rb", buffering=0)
        fcntl.fcntl(self._said, fcntl.F_SETFL, os.O_APPEND)
        self._channel, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", worker.__file__, *filter(None, sys.path)],
                    stdin=theirs.fileno(), stdout=self._said, stderr=self._said, cwd="/",
                    start_new_session=True)
            except BaseException:
                self._close()
                raise
        _WORKERS.add(self)

    def fileno(self) -> int:
        """Readable when there is an answer, or the process has ended."""
        return self._channel.fileno()

    def is_readable(self) -> bool:
        """Whether the process has ended, where it has been asked for nothing."""
        poll = select.poll()
        poll.register(self, select.POLLIN)
        return bool(poll.poll(0))

    def ask(self, job: str, request: dict[str, Any]) -> None:
        """Send a request, which is known as `job`. If the process has ended, `answer` says so."""
        self.job, self.deadline = job, time.monotonic() + _PATIENCE
        os.ftruncate(self._said.fileno(), 0)
        self._channel.settimeout(_PATIENCE)
        with contextlib.suppress(OSError):
            worker.send(self._channel, json.dumps(request).encode())

    def answer(self) -> bytes:
        """The answer, or an error where none comes: then the process is ended."""
        self._channel.settimeout(max(self.deadline - time.monotonic(), 0.001))
        try:
            answer = worker.receive(self._channel)
        except TimeoutError:
            return self._lost(f"it took longer than {_PATIENCE:.0f} seconds")
        except ConnectionResetError:
            answer = None
        if answer is None:
            return self._lost(f"the process that compiled it {self._fate()}")
        error = worker.error_in(answer)
        return answer if error is None else self._failed(error)

    def _failed(self, reason: str) -> bytes:
        """An error with what the process wrote, which is where LLVM says what is wrong."""
        said = os.pread(self._said.fileno(), _QUOTED, 0).decode(errors="replace")
        return worker.pack({"error": f"{reason}\n{said}"})

    def _lost(self, reason: str) -> bytes:
        answer = self._failed(reason)
        self.end()
        return answer

    def _fate(self) -> str:
        code = self._kill()
        if code < 0:
            return f"was ended by signal {-code} ({signal.strsignal(-code)})"
        return f"ended with exit code {code}"

    def _kill(self) -> int:
        """Kill the process and all that it has started; the exit code. Until that is asked for,
        its number is no other process's."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        return self._process.wait()

    def end(self) -> None:
        """Kill the process."""
        self._kill()
        self._close()
        _WORKERS.discard(self)

    def disown(self) -> None:
        """In a forked child: it is the parent's."""
        self._process.returncode = 0
        self._close()

    def _close(self) -> None:
        self._channel.close()
        self._said.close()


_WORKERS: set[Worker] = set()
LOCK = threading.RLock()
"""Held while kernels are compiled: two threads that need the same do not both compile it. Whoever
has it may be here again, in a finalizer or a signal handler."""


def run(requests: Mapping[str, dict[str, Any]], received: Callable[[str, bytes], None]) -> None:
    """Have kernels compiled, several at once; `received(key, answer)` is called as answers come.

    Raises: OSError if not one process can be started, or there is no place for its files.
    """
    waiting = list(requests)[::-1]
    busy: list[Worker] = []
    with LOCK, private_folder() as folder:
        try:
            while waiting or busy:
                while waiting and (free := _free(bool(busy))) is not None:
                    busy.append(free)
                    key = waiting.pop()
                    free.ask(key, {**requests[key], "folder": folder})
                for ready in _ready(busy):
                    key, answer = str(ready.job), ready.answer()
                    busy.remove(ready)
                    ready.job = None
                    received(key, answer)
        finally:
            for interrupted in busy:
                interrupted.end()


def _free(others: bool) -> Worker | None:
    """A process that has nothing to do, started unless there are as many as there may be; None
    where others are to be waited for."""
    for known in list(_WORKERS):
        if known.job is None:
            if not known.is_readable():
                return known
            known.end()
    if others and len(_WORKERS) >= min(_core.num_threads(), _MOST):
        return None
    try:
        return Worker()
    except OSError:
        if others:
            return None
        raise


def _ready(busy: Sequence[Worker]) -> list[Worker]:
    """Wait for those that have answered, have ended, or have no time left."""
    poll = select.poll()
    for each in busy:
        poll.register(each, select.POLLIN)
    left = min(each.deadline for each in busy) - time.monotonic()
    ready = {number for number, _ in poll.poll(max(left, 0.0) * 1000)}
    return [w for w in busy if w.fileno() in ready or w.deadline <= time.monotonic()]


def _end_all() -> None:
    for each in list(_WORKERS):
        each.end()


def _disown_all() -> None:
    global LOCK
    LOCK = threading.RLock()
    for each in _WORKERS:
        each.disown()
    _WORKERS.clear()


atexit.register(_end_all)
os.register_at_fork(after_in_child=_disown_all)
