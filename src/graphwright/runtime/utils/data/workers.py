"""Threads that make batches ahead of their use."""

from __future__ import annotations

import copy
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as _TimeoutError
from dataclasses import dataclass
from typing import Any

_END = object()


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
        self._threads = [
            ThreadPoolExecutor(1, f"graphwright-data-{info.id}") for info in infos
        ]
        self._begun = [
            thread.submit(_begin, info, worker_init_fn)
            for thread, info in zip(self._threads, infos, strict=True)
        ]

    def map(self, fetch: Callable[[Any], Any], order: Iterable[Any]) -> Iterator[Any]:
        """`fetch(indices)` of each of `order`, in that order unless told otherwise."""
        pending: deque[Future[Any]] = deque()
        try:
            self._start()
            for number, indices in enumerate(order):
                thread = self._threads[number % len(self._threads)]
                pending.append(thread.submit(fetch, indices))
                if len(pending) >= len(self._threads) * self._ahead:
                    yield self._result(self._taken(pending))
            while pending:
                yield self._result(self._taken(pending))
        finally:
            self._stop(pending)

    def iterate(self, batches: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
        """Batches that each worker makes of its own dataset, in turns until all have ended."""
        pending: deque[tuple[Any, Iterator[Any], Future[Any]]] = deque()
        try:
            self._start()
            for thread, info in zip(self._threads, self._infos, strict=True):
                rows = batches(info.dataset)
                pending.append((thread, rows, thread.submit(next, rows, _END)))
            while pending:
                thread, rows, future = pending.popleft()
                value = self._result(future)
                if value is not _END:
                    pending.append((thread, rows, thread.submit(next, rows, _END)))
                    yield value
        finally:
            self._stop([future for _, _, future in pending])

    def _taken(self, pending: deque[Future[Any]]) -> Future[Any]:
        """What is given next: the first one, or of any order one that is done."""
        if not self._in_order:
            if not wait(pending, self._timeout or None, FIRST_COMPLETED).done:
                raise self._late()
            done = next(future for future in pending if future.done())
            pending.remove(done)
            return done
        return pending.popleft()

    def _start(self) -> None:
        for future in self._begun:
            self._result(future)

    def _result(self, future: Future[Any]) -> Any:
        try:
            return future.result(self._timeout or None)
        except _TimeoutError:
            if future.done():
                raise
            raise self._late() from None

    def _late(self) -> RuntimeError:
        return RuntimeError(f"DataLoader timed out after {self._timeout} seconds")

    def _stop(self, pending: Iterable[Future[Any]]) -> None:
        for future in pending:
            future.cancel()
        if self._keep:
            return
        for thread in self._threads:
            thread.shutdown(wait=False, cancel_futures=True)


def infos_of(dataset: Any, count: int, seed: int, separate: bool) -> list[WorkerInfo]:
    """What each of `count` workers is; with `separate` each has a copy of the dataset."""
    return [
        WorkerInfo(i, count, seed + i, copy.deepcopy(dataset) if separate else dataset)
        for i in range(count)
    ]
