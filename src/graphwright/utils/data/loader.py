"""Batches of examples, made by other processes where asked."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from graphwright.runtime.tensor.generator import Generator
from graphwright.utils.data.collate import default_collate, default_convert
from graphwright.utils.data.dataset import IterableDataset
from graphwright.utils.data.fetching import _DatasetKind
from graphwright.utils.data.iterators import (
    _BaseDataLoaderIter,
    _MultiProcessingDataLoaderIter,
    _SingleProcessDataLoaderIter,
)
from graphwright.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    _InfiniteConstantSampler,
    number_of_parts,
)

_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class DataLoader:
    """Iterates over a dataset in batches.

    Args:
        dataset: a `Dataset`, anything with `__getitem__` and `__len__`, or an `IterableDataset`.
        batch_size: examples per batch; None gives the examples themselves.
        shuffle: take the examples in a new random order every time.
        sampler, batch_sampler: the order instead of `shuffle`; lists of indices instead of
            `batch_size`, `shuffle`, `sampler` and `drop_last`.
        num_workers: processes that make batches ahead; 0 makes them when asked. Each has one
            thread, a copy of the dataset, and batches reach this process in shared memory.
            `get_worker_info()` gives its number: of an `IterableDataset` each goes through all
            unless that takes its share.
        collate_fn: makes a batch from a list of examples.
        pin_memory: have the tensors of batches in page-locked memory, which this process copies
            them to. Without a GPU it has no effect, nor has `pin_memory_device` ever.
        drop_last: leave out a shorter last batch.
        timeout: seconds to wait for a worker's batch; 0 waits for ever.
        worker_init_fn: called in every worker with its number before anything else.
        multiprocessing_context: how workers are started: "fork", "spawn", "forkserver", or a
            context of `multiprocessing`; by default its `get_start_method()`. Unless workers are
            forked, the dataset and functions are pickled; tensors of the dataset are not copied,
            but are moved into shared memory.
        generator: where `shuffle` and the workers' seeds draw from. Each round draws one number
            for the seeds, however many workers there are. Worker i seeds the generators of
            graphwright, Python and NumPy with the sum of the number of its first round and i.
        prefetch_factor: batches that each worker works ahead (default 2).
        persistent_workers: keep the workers, and their datasets, from round to round.
        in_order: False gives the batches of several workers as they are made.

    An exception in a worker is raised here, by `next`, with the same type; its message has the
    worker's number and traceback. Other batches can be asked for after it. Workers end with the
    iterator; RuntimeError says which one has died, or is late.

    Raises ValueError for arguments that exclude each other, for an unknown start method, and where
    `dataset`, `batch_size` or what decides the order is assigned later; TypeError where
    `multiprocessing_context` is neither a context nor the name of a start method.
    """

    __initialized = False

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
        self._iterator: _BaseDataLoaderIter | None = None
        self.prefetch_factor = 2 if prefetch_factor is None and num_workers else prefetch_factor
        self._by_index = not isinstance(dataset, IterableDataset)
        _check(self._by_index, batch_size, bool(shuffle), sampler, batch_sampler, drop_last)
        self.batch_size = None if batch_sampler is not None else batch_size
        self.drop_last = drop_last
        if sampler is None:
            sampler = self._default_order(bool(shuffle))
        self.sampler = sampler
        if batch_sampler is None and batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler
        collate = default_convert if batch_sampler is None else default_collate
        self.collate_fn = collate_fn or collate
        self.__initialized = True

    def _default_order(self, shuffle: bool) -> Iterable[Any]:
        if not self._by_index:
            return _InfiniteConstantSampler()
        if shuffle:
            return RandomSampler(self.dataset, generator=self.generator)
        return SequentialSampler(self.dataset)

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__initialized and name in _FIXED:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        object.__setattr__(self, name, value)

    def __len__(self) -> int:
        if self._by_index:
            return len(self._index_sampler)  # type: ignore[arg-type]
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        return number_of_parts(count, self.batch_size, self.drop_last)

    def __iter__(self) -> Iterator[Any]:
        if not (self.persistent_workers and self.num_workers):
            return self._get_iterator()
        if self._iterator is None or self._iterator.stopped:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def _get_iterator(self) -> _BaseDataLoaderIter:
        if self.num_workers:
            self.check_worker_number_rationality()
            return _MultiProcessingDataLoaderIter(self)
        return _SingleProcessDataLoaderIter(self)

    @property
    def _dataset_kind(self) -> int:
        return _DatasetKind.Map if self._by_index else _DatasetKind.Iterable

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Iterable[Any]:
        """What is gone through: indices, or lists of them."""
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def check_worker_number_rationality(self) -> None:
        """A UserWarning where there are more workers than CPUs that this process may use."""
        cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        if cpus is not None and self.num_workers > cpus:
            warnings.warn(
                f"This DataLoader will create {self.num_workers} worker processes in total, and "
                f"this process may use {cpus} CPUs: fewer workers may be faster",
                stacklevel=2,
            )


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
    from multiprocessing import get_all_start_methods
    from multiprocessing.context import BaseContext

    methods = get_all_start_methods()
    if isinstance(context, str) and context not in methods:
        raise ValueError(
            f"multiprocessing_context option should specify a valid start method in {methods}, "
            f"but got multiprocessing_context={context!r}"
        )
    if not isinstance(context, str | BaseContext):
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

