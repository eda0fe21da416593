"""Each call of the driver that a program makes (of very many, some) fails in turn: the program
sees an error of the right type, no memory is lost, and it runs to its end afterwards."""

from __future__ import annotations

import copy
import gc
from typing import Any

import pytest

import graphwright as gw

OUT_OF_MEMORY, INVALID_VALUE = 2, 1


def program() -> list[Any]:
    """Copies of all kinds between three devices, in two streams; the values at the end."""
    pinned = gw.arange(4_000).pin_memory()
    there = pinned.to("cuda", non_blocking=True)
    pageable = gw.arange(300.0).reshape(10, 30).cuda()
    stream = gw.cuda.Stream()
    stream.wait_stream(gw.cuda.current_stream())
    with gw.cuda.stream(stream):
        pageable[::2, 5].copy_(gw.ones(5))
        moved = pageable.t().cuda(1)
    pageable.record_stream(stream)
    mark = gw.cuda.Event(enable_timing=True)
    mark.record()
    mark.wait(gw.cuda.Stream(device=1))
    filled = gw.full((300,), 7, dtype=gw.int32, device="cuda:1")
    twice = copy.deepcopy([there, there[5:]])
    back = twice[1].to("cpu", non_blocking=True)
    gw.cuda.synchronize()
    values = [back[-1].item(), moved[5, 8].item(), moved[29, 9].item(), filled[-1].item(),
              gw.from_dlpack(there)[9].item()]
    del there, twice, filled, moved, pageable
    gw.cuda.empty_cache()
    gw.accelerator.empty_host_cache()
    return values


EXPECTED = [3_999, 1.0, 299.0, 7, 9]
CALLS = {
    "cuMemAlloc_v2": OUT_OF_MEMORY, "cuMemHostAlloc": OUT_OF_MEMORY,
    **dict.fromkeys(
        ("cuMemAlloc_v2 ", "cuMemHostAlloc ", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
         "cuMemcpyDtoDAsync_v2", "cuMemcpyPeerAsync", "cuMemsetD32Async", "cuEventCreate",
         "cuEventRecord", "cuStreamWaitEvent", "cuStreamSynchronize", "cuCtxSynchronize",
         "cuCtxSetCurrent", "cuEventQuery", "cuMemFree_v2"), INVALID_VALUE),
}
"""A function by its name, which a space makes another key, and the error that it gives."""


@pytest.mark.parametrize("call", CALLS)
def test_a_failure_at_every_call(call: str, gpu: Any) -> None:
    name, error = call.strip(), CALLS[call]
    gc.collect()
    gw.cuda.empty_cache()           # of other tests
    gw.accelerator.empty_host_cache()
    gpu.clear()
    gpu.set("legacy", 1)
    assert program() == EXPECTED
    count = gpu.calls(name)
    assert count > 0
    before = gw.cuda.memory_allocated(0), gw.cuda.memory_allocated(1)
    kind = gw.cuda.OutOfMemoryError if error == OUT_OF_MEMORY else gw.AcceleratorError
    for nth in range(0, count, max(1, count // 16)):
        gpu.fail(name, error, skip=nth, times=-1 if error == OUT_OF_MEMORY else 1)
        try:
            assert program() == EXPECTED        # where it was a finalizer's call, or a cache's
        except kind as caught:
            assert caught.args
        gpu.library.gpusim_clear_faults()
        gc.collect()
        gw.cuda.synchronize()
        assert (gw.cuda.memory_allocated(0), gw.cuda.memory_allocated(1)) == before
    assert program() == EXPECTED
