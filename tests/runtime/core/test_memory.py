"""The allocator: reuse, bounds, statistics, alignment."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from graphwright.runtime import _core
from graphwright.runtime.tensor import dtypes


class Plain(_core.TensorBase):
    __slots__ = ()


def empty(nbytes: int) -> Plain:
    return _core.empty(Plain, (nbytes,), dtypes.uint8)


@pytest.mark.parametrize("nbytes", [1, 64, 65, 1000, 57344, 57345, 65536, 1 << 20, (2 << 20) + 1])
def test_blocks_are_aligned_writeable_and_reused(nbytes: int) -> None:
    t = empty(nbytes)
    address = t.data_ptr()
    assert address % 64 == 0
    t._nd[:] = 0xAB
    del t
    again = empty(nbytes)
    assert again.data_ptr() == address


def test_every_size_has_room() -> None:
    sizes = [*range(1, 700), *(2**i + d for i in range(9, 23) for d in (-1, 0, 1))]
    live = [empty(n) for n in sizes]
    for i, t in enumerate(live):
        t._nd[:] = i % 251
    for i, t in enumerate(live):
        assert (t._nd == i % 251).all()


def test_statistics_and_the_cache() -> None:
    _core.empty_cache()
    before = _core.memory_stats()
    assert before["cached"] == 0
    t = empty(1 << 20)
    during = _core.memory_stats()
    assert during["live"] - before["live"] == 1 << 20
    assert during["misses"] == before["misses"] + 1 and during["peak"] >= during["live"]
    del t
    assert _core.memory_stats()["cached"] == 1 << 20
    t = empty((1 << 20) - 100)
    assert _core.memory_stats()["hits"] == before["hits"] + 1
    del t
    _core.empty_cache()
    assert _core.memory_stats()["cached"] == 0


def test_the_cache_is_bounded_and_drops_the_oldest() -> None:
    _core.empty_cache()
    old = _core.set_cache_limit(3 << 20)
    try:
        blocks = [empty((1 << 20) + 4096 * i) for i in range(6)]
        sizes = [_core.memory_stats()["live"]]
        newest = blocks[-1].data_ptr()
        while blocks:
            del blocks[0]
            sizes.append(_core.memory_stats()["cached"])
        assert max(sizes[1:]) <= 3 << 20
        assert empty((1 << 20) + 4096 * 5).data_ptr() == newest
        big = empty(8 << 20)
        cached = _core.memory_stats()["cached"]
        del big
        assert _core.memory_stats()["cached"] <= cached
        with pytest.raises(ValueError, match="at least 1"):
            _core.set_cache_limit(0)
    finally:
        assert _core.set_cache_limit(old) == 3 << 20


def test_views_keep_the_block() -> None:
    t = empty(1 << 20)
    view = _core.as_view(Plain, t, (10,), (1,), 1000)
    address = view.data_ptr()
    view._nd[:] = 5
    del t
    other = empty(1 << 20)
    other._nd[:] = 9
    assert view.data_ptr() == address and (view._nd == 5).all()


def test_threads_share_the_allocator() -> None:
    failures: list[str] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        kept: list[tuple[Plain, int]] = []
        for _ in range(300):
            value = int(rng.integers(256))
            t = empty(int(rng.integers(1, 1 << 18)))
            t._nd[:] = value
            kept.append((t, value))
            if len(kept) > 10:
                tensor, expected = kept.pop(int(rng.integers(10)))
                if not (tensor._nd == expected).all():
                    failures.append("a block was given out twice")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
