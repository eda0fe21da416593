"""In which order the examples of a dataset are taken."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

from graphwright.distributed.group import get_rank, get_world_size
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.from_data import as_tensor
from graphwright.runtime.tensor.generator import Generator

T_co = TypeVar("T_co", covariant=True)
_PART = 1 << 14
"""How many indices are drawn at once with replacement: the next when these have been taken."""


def number_of_parts(count: int, size: int, drop_last: bool) -> int:
    """How many parts of this size there are, with a shorter last one unless it is dropped."""
    return count // size if drop_last else -(-count // size)


def _check_positive(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")


def _in_parts(count: int, part: int = _PART) -> Iterator[int]:
    for start in range(0, count, part):
        yield min(part, count - start)


class Sampler(Generic[T_co]):
    """Indices of examples: subclasses define `__iter__` and, where it is known, `__len__`."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """All indices in order."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class _InfiniteConstantSampler(Sampler[None]):
    """None for ever: the order of a dataset that is gone through."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class RandomSampler(Sampler[int]):
    """`num_samples` (default: all) indices at random, without replacement unless asked."""

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        self.data_source, self.replacement = data_source, replacement
        self.generator, self._num_samples = generator, num_samples
        _check_positive("num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many indices one round gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count, wanted = len(self.data_source), self.num_samples
        if self.replacement:
            for few in _in_parts(wanted):
                yield from ops.randint(0, count, (few,), generator=self.generator).tolist()
            return
        while wanted > 0 and count:
            order = ops.randperm(count, generator=self.generator).tolist()
            yield from order[:wanted]
            wanted -= count

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in ops.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """`num_samples` indices, each with a probability proportional to its weight."""

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        _check_positive("num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        self.weights = as_tensor(weights, dtype=dtypes.float64)
        if self.weights.ndim != 1:
            raise ValueError(
                "weights should be a 1d sequence but given weights have shape "
                f"{tuple(self.weights.shape)}"
            )
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        # each draw goes through all weights: parts are at least as many
        part = max(_PART, len(self.weights)) if self.replacement else self.num_samples
        for few in _in_parts(self.num_samples, part):
            chosen = ops.multinomial(
                self.weights, few, self.replacement, generator=self.generator
            )
            yield from chosen.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of `batch_size` indices of another sampler; the last may be shorter."""

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool) -> None:
        _check_positive("batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(
                f"drop_last should be a boolean value, but got drop_last={drop_last}"
            )
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return number_of_parts(count, self.batch_size, self.drop_last)


class DistributedSampler(Sampler[int]):
    """The share of one of several processes: indices `rank`, `rank` + `num_replicas`, ...

    The shares are of one length: indices are repeated, or with `drop_last` left out. With
    `shuffle` the order depends on `seed` and the epoch that `set_epoch` set, and is the same
    in every process. By default `num_replicas` and `rank` are those of the process group.

    Raises ValueError unless 0 <= `rank` < `num_replicas`, and where there is no group to ask.
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        num_replicas = get_world_size() if num_replicas is None else num_replicas
        rank = get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        self.num_samples = number_of_parts(len(dataset), num_replicas, drop_last)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        order = list(range(count))
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            order = ops.randperm(count, generator=generator).tolist()
        repeated = itertools.islice(itertools.cycle(order), self.total_size)
        return itertools.islice(repeated, self.rank, None, self.num_replicas)

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of the next round."""
        self.epoch = epoch
