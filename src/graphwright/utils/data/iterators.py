"""Rounds over a `DataLoader`: in its own process, or by workers."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from graphwright.runtime import _core
from graphwright.runtime.cuda.devices import is_available
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.spans import Kind, Timed
from graphwright.utils.data.collate import pin_memory
from graphwright.utils.data.fetching import Fetcher

if TYPE_CHECKING:
    from graphwright.utils.data.loader import DataLoader

_SEEDS = 2**62
"""Workers' seeds start below this number."""


class _BaseDataLoaderIter:
    """One round over a loader, which it does not keep alive."""

    stopped = False

    def __init__(self, loader: DataLoader) -> None:
        self._fetcher, self._dataset = Fetcher.of(loader), loader.dataset
        self._index_sampler = loader._index_sampler
        self._base_seed = 0
        self._pins = getattr(loader, "pin_memory", False) and is_available()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __len__(self) -> int:
        return len(self._index_sampler)  # type: ignore[arg-type]

    def __next__(self) -> Any:
        if not _core.is_profiling():
            return self._next_batch()
        with Timed(f"enumerate(DataLoader)#{type(self).__name__}.__next__", Kind.LIBRARY):
            return self._next_batch()

    def _next_batch(self) -> Any:
        data = self._next_data()
        return pin_memory(data) if self._pins else data

    def __getstate__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")

    def _reset(self, loader: DataLoader) -> None:
        """Begin a round."""
        self._base_seed = int(ops.randint(0, _SEEDS, (), generator=loader.generator))
        self._indices = iter(self._index_sampler)

    def _next_data(self) -> Any:
        raise NotImplementedError


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Makes each batch when it is asked for."""

    def __init__(self, loader: DataLoader) -> None:
        super().__init__(loader)
        self._reset(loader)
        self._fetch = self._fetcher.begin(self._dataset)

    def _next_data(self) -> Any:
        return self._fetch(next(self._indices))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Has workers make batches ahead.

    Worker i of n makes batches i, n + i, .. of the order, as long as none has come to the end of
    its dataset; without `in_order` the next is made by the one with the fewest under way.
    """

    def __init__(self, loader: DataLoader) -> None:
        from graphwright.utils.data.crew import Crew
        from graphwright.utils.data.workers import Job

        super().__init__(loader)
        if not loader.prefetch_factor:
            raise AssertionError("prefetch_factor must be greater than 0 where there are workers")
        self._ahead, self._timeout = loader.prefetch_factor, loader.timeout
        self._in_order, self._persistent = loader.in_order, loader.persistent_workers
        self._indices = iter(())
        super()._reset(loader)
        job = Job(
            self._dataset,
            self._fetcher,
            loader.worker_init_fn,
            loader.num_workers,
            self._base_seed,
        )
        self._crew = Crew(job, loader.multiprocessing_context)
        weakref.finalize(self, self._crew.stop).atexit = False      # the crew sees to it
        self._begin()

    @property
    def stopped(self) -> bool:  # type: ignore[override]
        """Whether the workers have ended."""
        return self._crew.stopped

    def _reset(self, loader: DataLoader) -> None:
        super()._reset(loader)
        self._begin()

    def _begin(self) -> None:
        self._crew.begin()
        self._pending: dict[int, int] = {}      # the workers of open requests, in order
        self._ended: set[int] = set()           # workers at the end of their datasets
        self._turns = itertools.cycle(range(len(self._crew)))
        for _ in range(self._ahead * len(self._crew)):
            self._ask()

    def _ask(self) -> None:
        """Ask for one more batch, if there is one and a worker for it."""
        at_work = [i for i in range(len(self._crew)) if i not in self._ended]
        indices = next(self._indices, _NONE) if at_work else _NONE
        if indices is _NONE:
            return
        worker = next(i for i in self._turns if i in at_work)
        if not self._in_order:
            load = list(self._pending.values())
            worker = min(at_work, key=load.count)
        self._pending[self._crew.ask(worker, indices)] = worker

    def _next_data(self) -> Any:
        while self._pending:
            wanted = next(iter(self._pending)) if self._in_order else None
            request = self._crew.wait(wanted, self._timeout)
            worker = self._pending.pop(request)
            answer = self._crew.take(request)
            if answer is None:
                self._ended.add(worker)
                self._pending = {r: w for r, w in self._pending.items() if w != worker}
            self._ask()
            if answer is not None:
                return answer()
        if not self._persistent:
            self._crew.stop()
        raise StopIteration

    def _shutdown_workers(self) -> None:
        """End the workers."""
        self._crew.stop()


_NONE = object()
