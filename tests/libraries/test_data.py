"""utils.data: datasets, samplers, batches."""

from __future__ import annotations

import collections
import itertools
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.utils import data
from graphwright.utils.data import (
    DataLoader,
    DistributedSampler,
    default_collate,
    default_convert,
)


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


@pytest.mark.parametrize("workers", [0, 2])
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


def test_what_decides_the_order_is_fixed() -> None:
    loader = DataLoader(range(3), batch_size=2)
    assert len(iter(loader)) == 2 and loader.prefetch_factor is None and not loader.pin_memory
    for name in ("batch_size", "sampler", "dataset", "drop_last", "batch_sampler"):
        with pytest.raises(ValueError, match="should not be set"):
            setattr(loader, name, None)


def test_collating_keeps_kinds_of_containers() -> None:
    assert default_collate([(1, "a"), (2, "b")])[1] == ("a", "b")
    counts = default_collate([collections.defaultdict(int, a=1), {"a": 2}])
    assert isinstance(counts, collections.defaultdict) and counts["a"].tolist() == [1, 2]
    with pytest.raises(TypeError, match="must contain"):
        default_collate([np.array(["a"])])
    converted = default_convert((1, np.ones(2), {"b": np.float32(2)}, "c"))
    assert converted[0] == 1 and converted[1].dtype is gw.float64 and converted[3] == "c"
    assert converted[2]["b"].dtype is gw.float32


def test_shares_of_several_processes() -> None:
    shares = [list(DistributedSampler(range(10), 3, rank, shuffle=False)) for rank in range(3)]
    assert shares == [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]]
    sampler = DistributedSampler(range(10), 3, 1, drop_last=True)
    first = list(sampler)
    sampler.set_epoch(1)
    assert len(first) == len(sampler) == 3 and list(sampler) != first
    with pytest.raises(ValueError, match="rank"):
        DistributedSampler(range(10), 3, 3)


def test_examples_of_one_s_own_types_are_collated_by_one_s_own_functions() -> None:
    from like_torch.utils.data._utils.collate import collate, default_collate_fn_map

    class Box:
        def __init__(self, value: int) -> None:
            self.value = value

    def unpacked(batch: Any, *, collate_fn_map: Any = None) -> Any:
        return collate([box.value for box in batch], collate_fn_map=collate_fn_map)

    functions = {Box: unpacked, **default_collate_fn_map}
    made = collate([{"box": Box(1)}, {"box": Box(2)}], collate_fn_map=functions)
    assert made["box"].tolist() == [1, 2]
    with pytest.raises(TypeError, match="batch must contain"):
        collate([Box(1)], collate_fn_map=default_collate_fn_map)
    with pytest.raises(TypeError, match="batch must contain"):
        collate([np.array(["text"])], collate_fn_map=default_collate_fn_map)


def test_sequences_that_can_be_written_to_keep_their_kind() -> None:
    class Row(list[Any]):
        pass

    collated = data.default_collate([Row([1, 2.0]), Row([3, 4.0])])
    assert type(collated) is Row and collated[0].tolist() == [1, 3]
    assert type(data.default_convert(Row([1]))) is Row
    assert data.default_convert(range(2)) == [0, 1]


def test_several_examples_at_once() -> None:
    class Whole(data.Dataset[int]):
        def __len__(self) -> int:
            return 4

        def __getitems__(self, indices: list[int]) -> list[int]:
            return [10 * i for i in indices]

    part = data.Subset(Whole(), [1, 3])
    assert part.__getitems__([1, 0]) == [30, 10]
    assert data.StackDataset(part, [7, 8]).__getitems__([0]) == [(10, 7)]
    assert data.StackDataset(a=part).__getitems__([0, 1]) == [{"a": 10}, {"a": 30}]
    (batch,) = data.DataLoader(data.StackDataset(part, [7, 8]), batch_size=2)
    assert [column.tolist() for column in batch] == [[10, 30], [7, 8]]


def test_lengths_of_joined_datasets() -> None:
    class Few(data.IterableDataset[int]):
        def __iter__(self) -> Any:
            return iter(range(2))

        def __len__(self) -> int:
            return 2

    assert len(Few() + Few()) == 4
    other = data.ChainDataset([Few(), [1]])  # type: ignore[list-item]
    for asked in (len, list):
        with pytest.raises(AssertionError, match="only supports IterableDataset"):
            asked(other)
    joined = data.ConcatDataset([range(2), range(3)])  # type: ignore[list-item]
    assert data.ConcatDataset.cumsum([range(2), range(3)]) == [2, 5]
    with pytest.warns(FutureWarning, match="renamed"):
        assert joined.cummulative_sizes == [2, 5]
    with pytest.warns(UserWarning, match="index 1 is 0"):
        data.random_split([1], [0.5, 0.5])  # type: ignore[arg-type]


@pytest.mark.parametrize("sampler", [
    lambda: data.RandomSampler(range(5), replacement=True, num_samples=10**10),
    lambda: data.RandomSampler(range(5), num_samples=10**10),
    lambda: data.WeightedRandomSampler([0.1, 0.2, 0.3, 0.2, 0.2], 10**10),
])  # fmt: skip
def test_samples_are_drawn_as_they_are_taken(sampler: Any) -> None:
    taken = list(itertools.islice(sampler(), 100))
    assert set(taken) == set(range(5)) and len(sampler()) == 10**10


def test_few_samples_are_drawn_at_once() -> None:
    gw.manual_seed(5)
    drawn = list(data.RandomSampler(range(50), replacement=True, num_samples=1000))
    gw.manual_seed(5)
    assert drawn == gw.randint(0, 50, (1000,)).tolist()
    assert len(list(data.RandomSampler(range(5), replacement=True, num_samples=40_000))) == 40_000
