"""The allocator: whose memory it is, when it serves others, statistics, and running out."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

import graphwright as gw

MIB = 1 << 20


@pytest.fixture(autouse=True)
def empty_gpus(gpu: Any) -> Iterator[None]:
    """Tests leave no memory behind, and start with none, on GPUs of 1 GiB."""
    gpu.set("memory", 1 << 30)
    gc.collect()
    gw.cuda.empty_cache()
    for device in range(gw.cuda.device_count()):
        gw.cuda.reset_peak_memory_stats(device)
    yield
    gc.collect()


def room(mebibytes: float, device: str = "cuda") -> Any:
    return gw.empty(int(mebibytes * MIB), dtype=gw.uint8, device=device)


def test_sizes_are_rounded_and_counted() -> None:
    before = gw.cuda.memory_allocated()
    x = gw.empty(100, dtype=gw.uint8, device="cuda")
    assert gw.cuda.memory_allocated() - before == 512 and gw.cuda.memory_reserved() == 2 * MIB
    stats = gw.cuda.memory_stats()
    assert stats["requested_bytes.small_pool.current"] == 100
    assert stats["inactive_split_bytes.all.current"] == 2 * MIB - 512
    large, very_large = room(2), room(30.5)
    assert gw.cuda.memory_reserved() == (2 + 20 + 32) * MIB
    assert gw.cuda.memory_allocated() - before == 512 + int(32.5 * MIB)
    del x, large, very_large
    assert gw.cuda.memory_allocated() == before and gw.cuda.memory_reserved() == 54 * MIB
    assert gw.cuda.max_memory_allocated() - before == 512 + int(32.5 * MIB)
    gw.cuda.empty_cache()
    assert gw.cuda.memory_reserved() == 0 and gw.cuda.max_memory_reserved() == 54 * MIB
    gw.cuda.reset_peak_memory_stats()
    assert gw.cuda.max_memory_reserved() == 0
    nested = gw.cuda.memory_stats_as_nested_dict()
    assert nested["segment"]["large_pool"]["current"] == 0


def test_freed_memory_serves_the_next_tensor() -> None:
    x = room(3)
    address = x.data_ptr()
    del x
    y = room(2.5)
    assert y.data_ptr() == address
    first, second, third = room(5), room(5), room(5)
    low = first.data_ptr()
    del first, third, second                    # the parts join again
    assert room(15).data_ptr() == low


def test_memory_goes_back_to_its_own_stream() -> None:
    other = gw.cuda.Stream()
    with gw.cuda.stream(other):
        x = room(3)
    address = x.data_ptr()
    del x
    kept = room(3)
    assert kept.data_ptr() != address
    with gw.cuda.stream(other):
        assert room(3).data_ptr() == address


def test_memory_that_another_stream_uses_is_kept_until_that_is_done() -> None:
    x = room(3)
    address = x.data_ptr()
    other = gw.cuda.Stream()
    with gw.cuda.stream(other):
        x.fill_(1)
    x.record_stream(other)
    del x
    assert gw.cuda.memory_allocated() == 0
    assert gw.cuda.memory_stats()["active_bytes.all.current"] == 3 * MIB
    y = room(3)
    assert y.data_ptr() != address              # the stream is late
    other.synchronize()
    assert room(3).data_ptr() == address
    assert gw.cuda.memory_stats()["active_bytes.all.current"] == 3 * MIB


def test_memory_that_another_gpu_uses_is_kept_until_that_is_done() -> None:
    x = room(3)
    address = x.data_ptr()
    other = gw.cuda.Stream(device=1)
    with gw.cuda.stream(other):
        busy = room(1, "cuda:1").fill_(1)
    x.record_stream(other)
    del x
    assert room(3).data_ptr() != address
    other.synchronize()
    assert room(3).data_ptr() == address and busy[0].item() == 1


def test_without_memory_unused_segments_are_given_back(gpu: Any) -> None:
    gpu.set("memory", 64 * MIB)
    kept = room(20)
    del_me = room(40)
    del del_me
    retries = gw.cuda.memory_stats()["num_alloc_retries"]
    assert room(44).numel() == 44 * MIB         # the 40 MiB that are reserved do not suffice
    assert gw.cuda.memory_stats()["num_alloc_retries"] == retries + 1
    assert kept.numel() == 20 * MIB


def test_out_of_memory_lists_what_takes_it(gpu: Any) -> None:
    gpu.set("memory", 64 * MIB)
    kept, before = [room(10), room(10), room(12)], gw.cuda.memory_stats()["num_ooms"]
    with pytest.raises(gw.cuda.OutOfMemoryError) as caught:
        room(50)
    text = str(caught.value)
    assert "CUDA out of memory. Tried to allocate 50.00 MiB. GPU 0 has a total capacity of" in text
    assert "The largest live blocks: 1 x 12.00 MiB, 2 x 10.00 MiB." in text
    assert isinstance(caught.value, MemoryError) and isinstance(caught.value, RuntimeError)
    assert gw.cuda.memory_stats()["num_ooms"] == before + 1
    kept.clear()
    assert room(50).numel() == 50 * MIB         # the program goes on


@pytest.mark.parametrize("nth", range(1, 7))
def test_running_out_at_every_allocation(gpu: Any, nth: int) -> None:
    """The first failure is met by a flush; the program sees none of it."""
    gpu.fail("cuMemAlloc_v2", 2, skip=nth - 1)
    made = [gw.full((n * 300_000,), n, dtype=gw.int64, device="cuda") for n in range(1, 6)]
    assert [x[-1].item() for x in made] == [1, 2, 3, 4, 5]
    del made
    gc.collect()
    assert gw.cuda.memory_allocated() == 0


def test_all_memory_comes_back_to_the_driver(gpu: Any) -> None:
    made = [room(n / 7, device) for n in range(1, 30) for device in ("cuda:0", "cuda:1")]
    assert gpu.used(0) == gpu.used(1) == gw.cuda.memory_reserved(1)
    del made[::3]
    made += [room(n / 5) for n in range(20)]
    made.clear()
    gw.cuda.empty_cache()
    assert gpu.used(0) == gpu.used(1) == 0
    stats = gw.cuda.memory_stats()
    assert all(stats[f"{name}.all.current"] == 0 for name in
               ("allocation", "segment", "active", "inactive_split", "requested_bytes"))


def test_blocks_never_overlap() -> None:
    """Random sizes, given and freed at random: what is written there is there until the end."""
    import random

    draw, live = random.Random(5), []
    for step in range(400):
        if live and draw.random() < 0.45:
            x, value = live.pop(draw.randrange(len(live)))
            assert x[0].item() == x[-1].item() == value
        else:
            x = gw.empty(draw.choice((1, 700, 60_000, 300_000)), dtype=gw.int32, device="cuda")
            live.append((x.fill_(step), step))
    assert len({x.data_ptr() for x, _ in live}) == len(live)


def test_a_share_of_the_memory() -> None:
    gw.cuda.set_per_process_memory_fraction(0.25)
    try:
        assert gw.cuda.get_per_process_memory_fraction() == 0.25
        refused = gw.cuda.memory_stats()["num_oom_rejections"]
        with pytest.raises(gw.cuda.OutOfMemoryError, match=r"This process may have 256\.00 MiB\."):
            room(300)
        assert gw.cuda.memory_stats()["num_oom_rejections"] == refused + 2   # and after a flush
        assert room(200).numel() == 200 * MIB
    finally:
        gw.cuda.set_per_process_memory_fraction(1.0)
    for bad, error in ((1, TypeError), (1.5, ValueError)):
        with pytest.raises(error, match="fraction"):
            gw.cuda.set_per_process_memory_fraction(bad)


def test_summary_and_snapshot() -> None:
    x = room(3)
    summary = gw.cuda.memory_summary()
    assert "Allocated memory" in summary and "3.00 MiB" in summary
    assert len(gw.cuda.memory_summary(abbreviated=True)) < len(summary)
    (block,) = gw.cuda.memory_snapshot()
    assert block["address"] == x.data_ptr() and block["requested_size"] == 3 * MIB
    free, total = gw.cuda.mem_get_info()
    assert total - free == gw.cuda.device_memory_used() == gw.cuda.memory_reserved() == 20 * MIB


def test_memory_for_other_libraries() -> None:
    address = gw.cuda.caching_allocator_alloc(1000)
    assert gw.cuda.memory_allocated() == 1024
    gw.cuda.caching_allocator_delete(address)
    assert gw.cuda.memory_allocated() == 0
    with pytest.raises(ValueError, match="did not give"):
        gw.cuda.caching_allocator_delete(address)
