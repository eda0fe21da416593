"""Threads that make batches ahead of their use."""

from __future__ import annotations

import atexit
import copy
import threading
import time
import traceback
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures import TimeoutError as _TimeoutError
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any

_END = object()
_PATIENCE = 5.0
"""Seconds that the program's end waits for workers at work, as long as PyTorch's."""


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker this is: number `id` of `num_workers`, its seed and its dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


class _Current(threading.local):
    info: WorkerInfo | None = None


_CURRENT = _Current()


def get_worker_info() -> WorkerInfo | None:
    """The worker that this thread is; None outside of a `DataLoader`'s workers."""
    return _CURRENT.info


def _begin(info: WorkerInfo, function: Callable[[int], None] | None) -> None:
    _CURRENT.info = info
    if function is not None:
        function(info.id)


_Task = tuple[int, Future[Any]]
"""What a worker, told by its number, was given to do."""


class _PlainKey(str):
    """A message that KeyError, which shows its key by `repr`, leaves as it is."""

    __slots__ = ()

    __repr__ = str.__str__


def _told(error: Exception, worker: int) -> Exception:
    """An exception of the same type that says in which worker, and where there, it was raised.

    A RuntimeError where the type takes something else than a message.
    """
    kind = type(error)
    where = "".join(traceback.format_exception(error))
    text = f"Caught {kind.__name__} in DataLoader worker thread {worker}.\nOriginal {where}"
    try:
        return kind(_PlainKey(text) if issubclass(kind, KeyError) else text)
    except TypeError:
        return RuntimeError(text)


class _Thread:
    """A thread that does what it is given, one after another, until it is told to stop.

    The program's end waits `_PATIENCE` seconds for such threads, and goes on without those that
    hang.
    """

    def __init__(self, name: str) -> None:
        self._tasks: _Tasks = SimpleQueue()
        self._thread = threading.Thread(target=_serve, args=(self._tasks,), name=name, daemon=True)
        self.stop = weakref.finalize(self, self._tasks.put, None)
        self._thread.start()
        _RUNNING[self._thread] = self._tasks

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """A future of what the function returns or raises there."""
        future: Future[Any] = Future()
        self._tasks.put(partial(_settle, future, function, args))
        return future


_Tasks = SimpleQueue[Callable[[], None] | None]
_RUNNING: weakref.WeakKeyDictionary[threading.Thread, _Tasks] = weakref.WeakKeyDictionary()


def _settle(future: Future[Any], function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    if future.set_running_or_notify_cancel():
        try:
            future.set_result(function(*args))
        except BaseException as error:
            future.set_exception(error)
            del future      # it holds the error, whose traceback holds this frame


def _serve(tasks: _Tasks) -> None:
    while (task := tasks.get()) is not None:
        task()
        del task    # what it was given ends with it


def _wait_at_exit() -> None:
    end = time.monotonic() + _PATIENCE
    running = list(_RUNNING.items())
    for _, tasks in running:
        tasks.put(None)
    for thread, _ in running:
        thread.join(max(0.0, end - time.monotonic()))


atexit.register(_wait_at_exit)


class Workers:
    """Workers 0 to n - 1, one thread each; batch i is made by worker i modulo n.

    Args:
        infos: what `get_worker_info` gives in each.
        worker_init_fn: called in each with its number before anything else.
        ahead: batches that each works ahead.
        timeout: seconds to wait for a batch before RuntimeError is raised; 0 waits for ever.
        in_order: False lets `map` give what is made first.
        keep: work for further rounds.
    """

    def __init__(
        self,
        infos: list[WorkerInfo],
        worker_init_fn: Callable[[int], None] | None,
        ahead: int,
        timeout: float,
        *,
        in_order: bool = True,
        keep: bool = False,
    ) -> None:
        self._infos, self._ahead, self._timeout = infos, ahead, timeout
        self._in_order, self._keep = in_order, keep
        self._threads = [_Thread(f"graphwright-data-{info.id}") for info in infos]
        self._begun = [
            thread.submit(_begin, info, worker_init_fn)
            for thread, info in zip(self._threads, infos, strict=True)
        ]

    def map(self, fetch: Callable[[Any], Any], order: Iterable[Any]) -> Iterator[Any]:
        """`fetch(indices)` of each of `order`, in that order unless told otherwise."""
        pending: deque[_Task] = deque()
        try:
            self._start()
            for number, indices in enumerate(order):
                worker = number % len(self._threads)
                pending.append((worker, self._threads[worker].submit(fetch, indices)))
                if len(pending) >= len(self._threads) * self._ahead:
                    yield self._result(*self._taken(pending))
            while pending:
                yield self._result(*self._taken(pending))
        finally:
            self._stop([future for _, future in pending])

    def iterate(self, batches: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
        """Batches that each worker makes of its own dataset, in turns until all have ended."""
        pending: deque[tuple[int, Iterator[Any], Future[Any]]] = deque()
        threads = self._threads
        try:
            self._start()
            for worker, info in enumerate(self._infos):
                rows = batches(info.dataset)
                pending.append((worker, rows, threads[worker].submit(next, rows, _END)))
            while pending:
                worker, rows, future = pending.popleft()
                value = self._result(worker, future)
                if value is not _END:
                    pending.append((worker, rows, threads[worker].submit(next, rows, _END)))
                    yield value
        finally:
            self._stop([future for _, _, future in pending])

    def _taken(self, pending: deque[_Task]) -> _Task:
        """What is given next: the first one, or of any order one that is done."""
        if not self._in_order:
            futures = [future for _, future in pending]
            if not wait(futures, self._timeout or None, FIRST_COMPLETED).done:
                raise self._late()
            done = next(task for task in pending if task[1].done())
            pending.remove(done)
            return done
        return pending.popleft()

    def _start(self) -> None:
        for worker, future in enumerate(self._begun):
            self._result(worker, future)

    def _result(self, worker: int, future: Future[Any]) -> Any:
        try:
            error = future.exception(self._timeout or None)
        except _TimeoutError:
            raise self._late() from None
        if isinstance(error, Exception):
            raise _told(error, worker) from error
        return future.result()

    def _late(self) -> RuntimeError:
        return RuntimeError(f"DataLoader timed out after {self._timeout} seconds")

    def _stop(self, pending: Iterable[Future[Any]]) -> None:
        for future in pending:
            future.cancel()
        if self._keep:
            return
        for thread in self._threads:
            thread.stop()


def infos_of(dataset: Any, count: int, seed: int, separate: bool) -> list[WorkerInfo]:
    """What each of `count` workers is; with `separate` each has a copy of the dataset."""
    return [
        WorkerInfo(i, count, seed + i, copy.deepcopy(dataset) if separate else dataset)
        for i in range(count)
    ]
