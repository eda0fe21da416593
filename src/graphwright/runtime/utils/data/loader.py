"""Batches of examples, made in the background where asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

from graphwright.runtime.generator import Generator
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.utils.data.collate import default_collate, default_convert
from graphwright.runtime.utils.data.dataset import IterableDataset
from graphwright.runtime.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
)
from graphwright.runtime.utils.data.workers import Workers, infos_of

_SEEDS = 2**62
"""Workers' seeds start below this number."""
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class DataLoader:
    """Iterates over a dataset in batches.

    Args:
        dataset: a `Dataset`, anything with `__getitem__` and `__len__`, or an `IterableDataset`.
        batch_size: examples per batch; None gives the examples themselves.
        shuffle: take the examples in a new random order every time.
        sampler, batch_sampler: the order instead of `shuffle`; lists of indices instead of
            `batch_size`, `shuffle`, `sampler` and `drop_last`.
        num_workers: threads that fetch and collate ahead; 0 does it when asked. Threads share
            memory, so nothing is pickled, but pure Python transforms do not run in parallel.
            Each has a copy of an `IterableDataset`; `get_worker_info()` tells them apart.
        timeout: seconds to wait for a worker's batch; 0 waits for ever.
        worker_init_fn: called in every worker with its number, once where workers persist.
        collate_fn: makes a batch from a list of examples.
        drop_last: leave out a shorter last batch.
        generator: where `shuffle` and the workers' seeds draw from; each round draws one number
            for the seeds, however many workers there are.
        prefetch_factor: batches that each worker works ahead (default 2).
        persistent_workers: keep the workers, and their datasets, from round to round.
        in_order: False gives the batches of several workers as they are made.

    `pin_memory`, `pin_memory_device` and `multiprocessing_context` change nothing. Raises
    ValueError for arguments that exclude each other, for an unknown start method, and where
    `dataset`, `batch_size` or what decides the order is assigned later; TypeError where
    `multiprocessing_context` is neither a context nor the name of a start method.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[int] | Iterable[int] | None = None,
        batch_sampler: Iterable[list[int]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(
            num_workers, timeout, prefetch_factor, persistent_workers, multiprocessing_context
        )
        self.dataset, self.num_workers, self.generator = dataset, num_workers, generator
        self.pin_memory, self.timeout, self.worker_init_fn = pin_memory, timeout, worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.persistent_workers, self.in_order = persistent_workers, in_order
        self.pin_memory_device = pin_memory_device
        self._workers: Workers | None = None
        self.prefetch_factor = 2 if prefetch_factor is None and num_workers else prefetch_factor
        self._by_index = not isinstance(dataset, IterableDataset)
        _check(self._by_index, batch_size, bool(shuffle), sampler, batch_sampler, drop_last)
        self.batch_size = None if batch_sampler is not None else batch_size
        self.drop_last = drop_last
        if sampler is None and self._by_index:
            sampler = (
                RandomSampler(dataset, generator=generator) if shuffle
                else SequentialSampler(dataset)
            )  # fmt: skip
        self.sampler = sampler
        if batch_sampler is None and self._by_index and batch_size is not None:
            assert sampler is not None
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler
        batched = batch_sampler is not None or batch_size is not None
        self.collate_fn = collate_fn or (default_collate if batched else default_convert)
        self._complete = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and "_complete" in self.__dict__:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        object.__setattr__(self, name, value)

    def __len__(self) -> int:
        if self._by_index:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        extra = 0 if self.drop_last else self.batch_size - 1
        return (count + extra) // self.batch_size

    def __iter__(self) -> Iterator[Any]:
        return _Batches(self, self._batches())

    def _batches(self) -> Iterator[Any]:
        seed = int(ops.randint(0, _SEEDS, (), generator=self.generator))
        if self.num_workers:
            workers = self._workers or self._new_workers(seed)
            if self._by_index:
                return workers.map(self._fetch, self._order())
            return workers.iterate(self._iterate)
        if not self._by_index:
            return self._iterate(self.dataset)
        return (self._fetch(indices) for indices in self._order())

    def _new_workers(self, seed: int) -> Workers:
        assert self.prefetch_factor is not None
        infos = infos_of(self.dataset, self.num_workers, seed, not self._by_index)
        workers = Workers(
            infos,
            self.worker_init_fn,
            self.prefetch_factor,
            self.timeout,
            in_order=self.in_order,
            keep=self.persistent_workers,
        )
        if self.persistent_workers:
            self._workers = workers
        return workers

    def _order(self) -> Iterable[Any]:
        order = self.sampler if self.batch_sampler is None else self.batch_sampler
        assert order is not None
        return order

    def _fetch(self, indices: Any) -> Any:
        if self.batch_sampler is None:
            return self.collate_fn(self.dataset[indices])
        if hasattr(self.dataset, "__getitems__"):
            return self.collate_fn(self.dataset.__getitems__(indices))
        return self.collate_fn([self.dataset[i] for i in indices])

    def _iterate(self, dataset: Any) -> Iterator[Any]:
        if self.batch_size is None:
            for example in dataset:
                yield self.collate_fn(example)
            return
        for batch in BatchSampler(dataset, self.batch_size, self.drop_last):
            yield self.collate_fn(batch)


class _Batches:
    """One round over a loader."""

    def __init__(self, loader: DataLoader, batches: Iterator[Any]) -> None:
        self._loader, self._batches = loader, batches

    def __iter__(self) -> _Batches:
        return self

    def __next__(self) -> Any:
        return next(self._batches)

    def __len__(self) -> int:
        return len(self._loader)


def _check_workers(
    count: int, timeout: float, prefetch: int | None, persistent: bool, context: Any
) -> None:
    if count < 0:
        raise ValueError(
            "num_workers option should be non-negative; 0 loads in the thread that asks"
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if prefetch is not None and (prefetch < 0 or not count):
        raise ValueError(
            "prefetch_factor option should be non-negative"
            if count
            else "prefetch_factor needs workers that prefetch: set num_workers > 0, or leave "
            "prefetch_factor None"
        )
    if persistent and not count:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if context is not None and not count:
        raise ValueError(
            "multiprocessing_context can only be used with workers (num_workers > 0), but got "
            f"num_workers={count}"
        )
    if context is not None:
        _check_context(context)


def _check_context(context: Any) -> None:
    multiprocessing = import_module("multiprocessing")
    methods = multiprocessing.get_all_start_methods()
    if isinstance(context, str) and context not in methods:
        raise ValueError(
            f"multiprocessing_context option should specify a valid start method in {methods}, "
            f"but got multiprocessing_context={context!r}"
        )
    if not isinstance(context, str | multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={context!r}"
        )


def _check(
    by_index: bool, batch_size: Any, shuffle: bool, sampler: Any, batch_sampler: Any, drop: bool
) -> None:
    chosen = (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler))
    for name, value in chosen if not by_index else ():
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                f"{name}={value}"
            )
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, "
                "and drop_last"
            )
    elif batch_size is None and drop:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with "
            "drop_last"
        )

