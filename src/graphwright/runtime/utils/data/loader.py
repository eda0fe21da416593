"""Batches of examples, made in the background where asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from graphwright.runtime import dtypes
from graphwright.runtime.generator import Generator
from graphwright.runtime.interop import as_tensor, tensor
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.tensor import Tensor
from graphwright.runtime.utils.data.dataset import IterableDataset
from graphwright.runtime.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
)


def default_collate(batch: list[Any]) -> Any:
    """One batch from a list of examples of the same structure.

    Tensors, arrays and numbers are stacked along a new first dimension (floats as float64);
    mappings, tuples and sequences are gone through; strings stay a list. Raises TypeError for
    other types and RuntimeError for sequences of different lengths.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return ops.stack(batch)
    if isinstance(first, np.ndarray | np.generic):
        return ops.stack([as_tensor(np.asarray(x)) for x in batch])
    if isinstance(first, float):
        return tensor(batch, dtype=dtypes.float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return type(first)({key: default_collate([x[key] for x in batch]) for key in first})  # type: ignore[call-arg]
    if isinstance(first, tuple | list):
        if any(len(x) != len(first) for x in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        parts = [default_collate(list(part)) for part in zip(*batch, strict=True)]
        if isinstance(first, tuple) and hasattr(first, "_fields"):
            return type(first)(*parts)
        return parts
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {type(first)}"
    )


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
        collate_fn: makes a batch from a list of examples.
        drop_last: leave out a shorter last batch.
        generator: where `shuffle` draws from.
        prefetch_factor: batches that each worker works ahead (default 2).

    `pin_memory`, `timeout`, `worker_init_fn`, `multiprocessing_context` and
    `persistent_workers` are accepted for compatibility and change nothing. Raises ValueError for
    arguments that exclude each other.
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
    ) -> None:
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative")
        self.dataset, self.num_workers, self.generator = dataset, num_workers, generator
        self.prefetch_factor = 2 if prefetch_factor is None else prefetch_factor
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
        self.collate_fn = collate_fn or (default_collate if batched else _same)

    def __len__(self) -> int:
        if self._by_index:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        extra = 0 if self.drop_last else self.batch_size - 1
        return (count + extra) // self.batch_size

    def __iter__(self) -> Iterator[Any]:
        if not self._by_index:
            return self._iterate()
        if self.num_workers:
            return self._ahead()
        return (self._fetch(indices) for indices in self._order())

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

    def _iterate(self) -> Iterator[Any]:
        if self.batch_size is None:
            for example in self.dataset:
                yield self.collate_fn(example)
            return
        for batch in BatchSampler(self.dataset, self.batch_size, self.drop_last):
            yield self.collate_fn(batch)

    def _ahead(self) -> Iterator[Any]:
        """Batches in order, fetched by threads that work ahead."""
        with ThreadPoolExecutor(self.num_workers, "graphwright-data") as workers:
            pending: deque[Future[Any]] = deque()
            try:
                for indices in self._order():
                    pending.append(workers.submit(self._fetch, indices))
                    if len(pending) > self.num_workers * self.prefetch_factor:
                        yield pending.popleft().result()
                while pending:
                    yield pending.popleft().result()
            finally:
                for future in pending:
                    future.cancel()


def _same(value: Any) -> Any:
    return value


def _check(
    by_index: bool, batch_size: Any, shuffle: bool, sampler: Any, batch_sampler: Any, drop: bool
) -> None:
    if not by_index and (shuffle or sampler is not None or batch_sampler is not None):
        raise ValueError(
            "DataLoader with IterableDataset: expected unspecified shuffle, sampler and "
            "batch_sampler options"
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

