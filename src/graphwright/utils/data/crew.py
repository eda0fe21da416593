"""The worker processes of a `DataLoader`, seen from the process that it is in."""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from multiprocessing.context import BaseContext
from typing import Any

from graphwright.multiprocessing import get_context
from graphwright.multiprocessing.channel import Channel, Pipe
from graphwright.multiprocessing.reductions import Opened, pack
from graphwright.multiprocessing.spawn import end_all
from graphwright.utils.data.workers import ANSWER, BATCH, END, Job, serve

_PATIENCE = 5.0
"""Seconds that workers have to end by themselves, and then again after they were asked to."""
_LOOK = 1.0
"""Seconds after which it is looked whether workers live whose channels say nothing."""

_CHANNELS: weakref.WeakSet[Channel] = weakref.WeakSet()
_CREWS: weakref.WeakSet[Crew] = weakref.WeakSet()


class Crew:
    """Workers 0 to n - 1. What they answer is kept until it is taken."""

    def __init__(self, job: Job, context: BaseContext | str | None) -> None:
        method: Any = context
        if context is None or isinstance(context, str):
            method = get_context(context)
        self._pid, self._stopped = os.getpid(), False
        self._channels: list[Channel] = []
        self._processes: list[Any] = []
        self._answers: dict[int, tuple[int, Opened]] = {}
        self._asked: dict[int, int] = {}
        self._requests = 0
        self._poll = select.poll()
        self._dead: set[int] = set()
        _CREWS.add(self)
        try:
            for number in range(job.count):
                self._start(job, number, method)
        except BaseException:
            self.stop()
            raise

    def _start(self, job: Job, number: int, context: Any) -> None:
        own, theirs = Pipe()
        self._channels.append(own)
        _CHANNELS.add(own)
        process = context.Process(target=serve, args=(theirs, job, number), daemon=True)
        try:
            with _uninterrupted(context.get_start_method() != "forkserver"):
                process.start()
        finally:
            theirs.close()
        self._processes.append(process)
        self._poll.register(own.fileno(), select.POLLIN)

    def __len__(self) -> int:
        return len(self._channels)

    @property
    def stopped(self) -> bool:
        """Whether the workers have ended, and are asked in vain."""
        return self._stopped

    def begin(self) -> None:
        """Begin a round: what was asked for before is forgotten."""
        self._asked.clear()
        self._answers.clear()
        if self._requests:
            for number in range(len(self)):
                self._send(number, (None, None))

    def ask(self, number: int, indices: Any) -> int:
        """Ask a worker for a batch; the number of the request."""
        request, self._requests = self._requests, self._requests + 1
        self._asked[request] = number
        self._send(number, (request, indices))
        return request

    def wait(self, request: int | None, timeout: float) -> int:
        """Wait until a request has an answer, or for None any; which one it is.

        Raises RuntimeError where no answer will come, because a worker has died, or none comes
        within `timeout` seconds (0 waits for ever).
        """
        end = time.monotonic() + timeout if timeout else None
        while not (self._answers if request is None else request in self._answers):
            dead = self._dead if request is None else self._dead & {self._asked[request]}
            if dead:
                self.stop()
                raise RuntimeError(self._fate(min(dead)))
            left = _LOOK if end is None else min(_LOOK, end - time.monotonic())
            if left <= 0:
                raise RuntimeError(self._late(request, timeout))
            self._guarded(self._collect, left)
        return next(iter(self._answers)) if request is None else request

    def take(self, request: int) -> Callable[[], Any] | None:
        """A function that gives the answer, or raises what the worker raised.

        None where the worker has come to the end of its dataset; other requests that it has are
        forgotten.
        """
        kind, opened = self._answers.pop(request)
        number = self._asked.pop(request)
        if kind == END:
            for other in [r for r, n in self._asked.items() if n == number]:
                self._asked.pop(other)
                self._answers.pop(other, None)
            return None
        return opened.load if kind == BATCH else lambda: _raise(*opened.load())

    def _late(self, request: int | None, timeout: float) -> str:
        waited = sorted(set(self._asked.values()) if request is None else {self._asked[request]})
        names = ", ".join(map(str, waited))
        return f"DataLoader timed out after {timeout} seconds waiting for worker process {names}"

    def _send(self, number: int, message: Any) -> None:
        if number in self._dead:        # reported by whoever waits for the answer
            return
        parcel = pack(message, False)

        def send() -> None:
            try:
                self._channels[number].send_parcel(parcel, self._while_full)
            except (BrokenPipeError, ConnectionResetError):
                self._bury(number)
            finally:
                parcel.close()

        self._guarded(send)

    def _guarded(self, function: Callable[..., None], *args: Any) -> None:
        """Call a function that reads or writes messages: where it fails, they all are lost."""
        if self._stopped or os.getpid() != self._pid:
            raise RuntimeError(
                "the workers of this DataLoader iterator have ended, or are another process's"
            )
        try:
            function(*args)
        except BaseException:
            self.stop()
            raise

    def _while_full(self, fd: int) -> None:
        """Until there is room for a message: its worker may wait for answers to be read."""
        self._poll.modify(fd, select.POLLIN | select.POLLOUT)
        self._collect(_LOOK)
        if any(fd == self._channels[n].fileno() for n in range(len(self)) if n not in self._dead):
            self._poll.modify(fd, select.POLLIN)

    def _collect(self, seconds: float) -> None:
        """Read what workers have answered; wait for the first of it at most so long."""
        ready = dict(self._poll.poll(seconds * 1000))
        for number, (channel, process) in enumerate(
            zip(self._channels, self._processes, strict=True)
        ):
            if number in self._dead:
                continue
            if ready.get(channel.fileno(), 0) & ~select.POLLOUT:
                self._read(number, channel)
            elif not ready and not process.is_alive():
                self._bury(number)

    def _read(self, number: int, channel: Channel) -> None:
        try:
            data, files = channel.recv_frame()
        except (EOFError, ConnectionResetError):
            self._bury(number)
            return
        request, kind = ANSWER.unpack_from(data)
        opened = Opened(data[ANSWER.size :], files)
        if request in self._asked:
            self._answers[request] = kind, opened

    def _bury(self, number: int) -> None:
        """A worker has died: nothing more is read from it."""
        self._dead.add(number)
        self._poll.unregister(self._channels[number].fileno())

    def _fate(self, number: int) -> str:
        """How a worker died."""
        process = self._processes[number]
        code, which = process.exitcode, f"worker process {number} of {len(self)}"
        if code is not None and code < 0:
            return (
                f"DataLoader worker (pid {process.pid}) is killed by signal: "
                f"{signal.strsignal(-code)}. It was {which}."
            )
        return (
            f"DataLoader worker (pid(s) {process.pid}) exited unexpectedly: {which} ended with "
            f"exit code {code}"
        )

    def stop(self) -> None:
        """End the workers; those that do not end by themselves are terminated, then killed."""
        if self._stopped or os.getpid() != self._pid:
            return
        self._stopped = True
        for channel in self._channels:
            channel.close()
        end_all(self._processes, _PATIENCE, _PATIENCE)


@contextlib.contextmanager
def _uninterrupted(child_waits: bool) -> Iterator[None]:
    """Hold an interrupt back: what forks would lose it, or its locks, and a process that is only
    half there show a traceback. With `child_waits` the process that is started has it blocked."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    held: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda number, frame: held.append((number, frame)))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT} if child_waits else ())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        if held:
            handler(*held[0])


class _PlainKey(str):
    """A message that KeyError, which shows its key by `repr`, leaves as it is."""

    __slots__ = ()

    __repr__ = str.__str__


def _raise(kind: type[Exception], text: str) -> None:
    """Raise the type that a worker raised; RuntimeError if it takes no message."""
    try:
        error = kind(_PlainKey(text) if issubclass(kind, KeyError) else text)
    except Exception:
        error = RuntimeError(text)
    raise error


def _stop_all() -> None:
    for crew in list(_CREWS):
        crew.stop()


def _close_channels() -> None:
    """In a forked child: workers see their loader's process end by the end of its channels."""
    for channel in list(_CHANNELS):
        channel.close()


atexit.register(_stop_all)
os.register_at_fork(after_in_child=_close_channels)
