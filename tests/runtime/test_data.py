"""utils.data: datasets, samplers, batches."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from graphwright.utils import data

import graphwright as gw


class Squares(data.Dataset[Any]):
    """i and its square."""

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> Any:
        if index == 7 and self.broken:
            raise ZeroDivisionError
        return {"x": index, "y": np.float32(index**2), "name": str(index)}

    broken = False


class Stream(data.IterableDataset[int]):
    """0, 1, .., 4."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(5))


@pytest.mark.parametrize("workers", [0, 3])
def test_batches_in_order(workers: int) -> None:
    batches = list(data.DataLoader(Squares(), batch_size=4, num_workers=workers))
    assert [b["x"].tolist() for b in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert batches[0]["y"].dtype is gw.float32 and batches[0]["name"] == ["0", "1", "2", "3"]
    loader = data.DataLoader(Squares(), batch_size=4, drop_last=True, num_workers=workers)
    assert len(loader) == len(list(loader)) == 2


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_in_the_dataset_arrives(workers: int) -> None:
    dataset = Squares()
    dataset.broken = True
    with pytest.raises(ZeroDivisionError):
        list(data.DataLoader(dataset, batch_size=2, num_workers=workers))


def test_shuffling_follows_the_seed() -> None:
    dataset = data.TensorDataset(gw.arange(20))

    def order(seed: int) -> list[int]:
        gw.manual_seed(seed)
        batches = data.DataLoader(dataset, batch_size=6, shuffle=True, num_workers=2)
        return [i for (batch,) in batches for i in batch.tolist()]

    assert order(1) == order(1) != order(2)
    assert sorted(order(1)) == list(range(20))


def test_iterable_datasets() -> None:
    assert [b.tolist() for b in data.DataLoader(Stream(), batch_size=2)] == [[0, 1], [2, 3], [4]]
    assert list(data.DataLoader(Stream() + Stream(), batch_size=None)) == [*range(5), *range(5)]
    with pytest.raises(ValueError, match="expected unspecified shuffle"):
        data.DataLoader(Stream(), shuffle=True)


def test_composed_datasets() -> None:
    both = Squares() + Squares()
    assert len(both) == 20 and both[13]["x"] == 3 and both[-1]["x"] == 9
    parts = data.random_split(range(10), [0.7, 0.25, 0.05])  # type: ignore[arg-type]
    assert [len(p) for p in parts] == [8, 2, 0]
    assert sorted(i for p in parts for i in p) == list(range(10))  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="does not equal the length"):
        data.random_split(range(10), [5, 4])  # type: ignore[arg-type]
    stacked = data.StackDataset(a=[1, 2], b=[3, 4])
    assert stacked[1] == {"a": 2, "b": 4}
    with pytest.raises(AssertionError, match="Size mismatch"):
        data.TensorDataset(gw.ones(2), gw.ones(3))


def test_samplers() -> None:
    order = list(data.RandomSampler(range(5), num_samples=12))
    assert sorted(order[:5]) == sorted(order[5:10]) == list(range(5)) and len(order) == 12
    chosen = list(data.WeightedRandomSampler([0.0, 1.0, 0.0], 6))
    assert chosen == [1] * 6
    assert sorted(data.SubsetRandomSampler([3, 5, 7])) == [3, 5, 7]
    with pytest.raises(ValueError, match="batch_size should be a positive integer"):
        data.BatchSampler(range(3), 0, False)
    loader = data.DataLoader(Squares(), batch_sampler=[[1, 2], [3]])
    assert [b["x"].tolist() for b in loader] == [[1, 2], [3]]
    with pytest.raises(ValueError, match="mutually exclusive"):
        data.DataLoader(Squares(), sampler=[1], shuffle=True)


def test_collating() -> None:
    Point = namedtuple("Point", "x y")
    batch = data.default_collate([Point(1.0, gw.ones(2)), Point(2.0, gw.zeros(2))])
    assert isinstance(batch, Point) and batch.x.dtype is gw.float64
    assert batch.y.tolist() == [[1, 1], [0, 0]]
    with pytest.raises(TypeError, match="default_collate: batch must contain"):
        data.default_collate([object()])
    with pytest.raises(RuntimeError, match="of equal size"):
        data.default_collate([[1], [1, 2]])
