"""Batches of a dataset, by the indices of their examples."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any


class _DatasetKind:
    """What a loader does with its dataset: asks it for indices (Map), or goes through it."""

    Map = 0
    Iterable = 1


@dataclass(frozen=True)
class Fetcher:
    """How batches are made.

    by_index: the dataset is asked for indices, and not gone through.
    batched: examples come in lists, which `collate_fn` makes batches of; it is given them one by
        one otherwise.
    drop_last: of what is gone through, a shorter last batch is left out.
    """

    by_index: bool
    batched: bool
    collate_fn: Callable[[Any], Any]
    drop_last: bool

    @classmethod
    def of(cls, loader: Any) -> Fetcher:
        """How a loader, or what has the same attributes, has its batches made."""
        by_index = loader._dataset_kind == _DatasetKind.Map
        return cls(by_index, loader._auto_collation, loader.collate_fn, loader.drop_last)

    def begin(self, dataset: Any) -> Callable[[Any], Any]:
        """A function from indices to their batch, for one round.

        For an iterable dataset only the number of indices counts, which is that of the examples
        to take; the function raises StopIteration when there are none left.
        """
        if self.by_index:
            return lambda indices: self._by_index(dataset, indices)
        examples = iter(dataset)
        return lambda indices: self._from_stream(examples, indices)

    def _by_index(self, dataset: Any, indices: Any) -> Any:
        if not self.batched:
            return self.collate_fn(dataset[indices])
        if getattr(dataset, "__getitems__", None):
            return self.collate_fn(dataset.__getitems__(indices))
        return self.collate_fn([dataset[i] for i in indices])

    def _from_stream(self, examples: Iterator[Any], indices: Any) -> Any:
        if not self.batched:
            return self.collate_fn(next(examples))
        taken = list(itertools.islice(examples, len(indices)))
        if not taken or (self.drop_last and len(taken) < len(indices)):
            raise StopIteration
        return self.collate_fn(taken)
