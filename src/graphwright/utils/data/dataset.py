"""Where examples come from: by index, or one after the other."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.generator import Generator
from graphwright.runtime.tensor.tensor import Tensor

T = TypeVar("T")


class Dataset(Generic[T]):
    """Examples by index: subclasses define `__getitem__` and, mostly, `__len__`."""

    def __getitem__(self, index: int) -> T:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[T]) -> ConcatDataset[T]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T]):
    """Examples one after the other: subclasses define `__iter__`."""

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Any) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Example i is row i of every tensor; all have the same first size (AssertionError)."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(t.shape[0] != tensors[0].shape[0] for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


class StackDataset(Dataset[Any]):
    """Example i has example i of every dataset, in a tuple or, for keyword arguments, a dict."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or ``dict``- (via ``kwargs``) like "
                "input, but both types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets: Any = args or kwargs
        lengths = {len(d) for d in (args or kwargs.values())}
        if len(lengths) > 1:
            raise ValueError("Size mismatch between datasets")
        self._length = lengths.pop()

    def __getitem__(self, index: int) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """Several examples, which every dataset gives at once where it can."""
        if isinstance(self.datasets, dict):
            columns = [_several(dataset, indices) for dataset in self.datasets.values()]
            names = list(self.datasets)
            return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        columns = [_several(dataset, indices) for dataset in self.datasets]
        return list(zip(*columns, strict=True))

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T]):
    """The examples of several datasets, one dataset after the other."""

    def __init__(self, datasets: Iterable[Dataset[T]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Where the examples of each dataset end."""
        return list(itertools.accumulate(len(dataset) for dataset in sequence))

    @property
    def cummulative_sizes(self) -> list[int]:
        """An older spelling of `cumulative_sizes`, with a FutureWarning."""
        warnings.warn(
            "`cummulative_sizes` attribute is renamed to `cumulative_sizes`",
            FutureWarning,
            stacklevel=2,
        )
        return self.cumulative_sizes

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> T:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        place = bisect.bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[place - 1] if place else 0
        return self.datasets[place][index - before]


class ChainDataset(IterableDataset[T]):
    """The examples of several iterable datasets, one after the other.

    AssertionError for datasets of another kind as their turn comes, and where lengths are asked.
    """

    def __init__(self, datasets: Iterable[IterableDataset[T]]) -> None:
        super().__init__()
        self.datasets = datasets

    def _parts(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self) -> Iterator[T]:
        for dataset in self._parts():
            yield from dataset

    def __len__(self) -> int:
        return sum(map(len, self._parts()))


class Subset(Dataset[T]):
    """The examples of a dataset at the given indices."""

    def __init__(self, dataset: Dataset[T], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]  # type: ignore[index]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[T]:
        """Several examples, which the dataset gives at once where it can."""
        return _several(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def _several(dataset: Any, indices: list[int]) -> list[Any]:
    """The examples at the indices. ValueError for a `__getitems__` that gives another number."""
    if not callable(getattr(dataset, "__getitems__", None)):
        return [dataset[i] for i in indices]
    found: list[Any] = dataset.__getitems__(indices)
    if len(found) != len(indices):
        raise ValueError(
            "Nested dataset's output size mismatch. Expected "
            f"{len(indices)}, got {len(found)}"
        )
    return found


def random_split(
    dataset: Dataset[T], lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset[T]]:
    """Random parts of a dataset: `lengths` are counts, or fractions that sum to one.

    What fractions leave over goes to the parts in turn, with a UserWarning for parts that remain
    empty. Raises ValueError where counts do not sum to the dataset's length.
    """
    total = len(dataset)  # type: ignore[arg-type]
    counts: list[Any] = list(lengths)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        if any(not 0 <= f <= 1 for f in lengths):
            raise ValueError("Fraction is not between 0 and 1")
        counts = [math.floor(total * f) for f in lengths]
        for i in range(total - sum(counts)):
            counts[i % len(counts)] += 1
        for i, count in enumerate(counts):
            if not count:
                warnings.warn(
                    f"Length of split at index {i} is 0. This might result in an empty dataset.",
                    stacklevel=2,
                )
    if sum(counts) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order: list[int] = ops.randperm(total, generator=generator).tolist()
    ends = list(itertools.accumulate(int(n) for n in counts))
    return [
        Subset(dataset, order[end - int(n) : end]) for end, n in zip(ends, counts, strict=True)
    ]
