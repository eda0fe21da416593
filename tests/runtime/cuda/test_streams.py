"""Streams, events and devices."""

from __future__ import annotations

import threading

import pytest

import graphwright as gw
from graphwright.utils.checkpoint import get_device_states, set_device_states

pytestmark = pytest.mark.usefixtures("gpu")
cuda = gw.cuda


def test_devices() -> None:
    assert cuda.is_available() and cuda.device_count() == 2 and cuda.current_device() == 0
    assert cuda.get_device_name(1) == "simulated GPU 1 (sm_80)"
    assert cuda.get_device_capability() == (8, 0)
    found = cuda.get_device_properties("cuda:1")
    assert found.total_memory == 8 << 30 and found.multi_processor_count == 108
    assert found.warp_size == 32 and repr(found).startswith(
        "DeviceProperties(name='simulated GPU 1 (sm_80)', major=8, minor=0")
    assert cuda.is_bf16_supported() and cuda.can_device_access_peer(0, 1)
    with pytest.raises(RuntimeError, match="invalid device ordinal: cuda:2, where there are 2"):
        cuda.set_device(2)
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        cuda.get_device_name("cpu")
    assert gw.accelerator.current_accelerator() == gw.device("cuda")
    assert gw.accelerator.current_device_index() == 0


def test_the_device_in_use_is_the_thread_s() -> None:
    seen = []
    with cuda.device(1):
        assert cuda.current_device() == 1
        thread = threading.Thread(target=lambda: seen.append(cuda.current_device()))
        thread.start()
        thread.join()
        with cuda.device_of(gw.zeros(1, device="cuda:0")), cuda.device(-1), cuda.device(None):
            assert cuda.current_device() == 0
        assert cuda.current_device() == 1
    assert seen == [0] and cuda.current_device() == 0
    cuda.set_device("cuda:1")
    assert cuda.current_stream().device_index == 1
    cuda.set_device(0)


def test_streams_are_current_inside_of_blocks() -> None:
    usual = cuda.current_stream()
    assert usual == cuda.default_stream() and usual.cuda_stream != 0
    stream, far = cuda.Stream(), cuda.Stream(device=1, priority=-9)
    assert isinstance(stream, gw.Stream) and far.device == gw.device("cuda:1")
    assert far.priority == -5
    with cuda.stream(stream):
        assert cuda.current_stream() == stream and hash(cuda.current_stream()) == hash(stream)
        with cuda.stream(far), cuda.stream(None):
            assert cuda.current_device() == 1 and cuda.current_stream() == far
            assert cuda.current_stream(0) == stream
        assert cuda.current_device() == 0
    assert cuda.current_stream() == usual and cuda.current_stream(1) == cuda.default_stream(1)
    cuda.set_stream(stream)
    assert cuda.current_stream() == stream
    cuda.set_stream(usual)
    same = cuda.get_stream_from_external(stream.cuda_stream)
    assert same == stream and f"{stream.cuda_stream:#x}" in repr(same)
    assert len({cuda.Stream().stream_id for _ in range(70)}) == 32
    assert not cuda.is_current_stream_capturing()


def test_work_is_done_when_it_is_waited_for() -> None:
    stream = cuda.Stream()
    with cuda.stream(stream):
        x = gw.zeros(4, device="cuda")
    assert not stream.query()
    stream.synchronize()
    assert stream.query()
    with cuda.stream(stream):
        x.fill_(3)
    event = stream.record_event()
    assert not event.query()
    event.synchronize()
    assert event.query() and x.tolist() == [3.0] * 4


def test_a_stream_waits_for_another() -> None:
    """Its reads come after the other's writes, though nobody else waits for these."""
    writing, reading = cuda.Stream(), cuda.Stream()
    x = gw.zeros(4, device="cuda")
    writing.wait_stream(cuda.current_stream())
    with cuda.stream(writing):
        x.fill_(5)
    reading.wait_stream(writing)
    with cuda.stream(reading):
        y = x.clone()
        assert y.tolist() == [5.0] * 4


def test_events_take_times() -> None:
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    assert isinstance(start, gw.Event) and start.query() and start.device is None
    with pytest.raises(RuntimeError, match="must be recorded before"):
        start.elapsed_time(end)
    start.record()
    gw.zeros(100_000, device="cuda")
    end.record()
    with pytest.raises(RuntimeError, match="must be completed before"):
        start.elapsed_time(end)
    cuda.synchronize()
    assert 0 < start.elapsed_time(end) < 10_000 and start.device == gw.device("cuda:0")
    plain = cuda.Event()
    plain.record()
    cuda.synchronize()
    with pytest.raises(RuntimeError, match="enable_timing=True"):
        start.elapsed_time(plain)
    with pytest.raises(RuntimeError, match="does not match recording stream's device cuda:1"):
        start.record(cuda.Stream(device=1))


def test_seeds() -> None:
    gw.manual_seed(7)
    assert cuda.initial_seed() == 7
    state = cuda.get_rng_state()
    cuda.manual_seed_all(9)
    cuda.manual_seed(8)
    assert cuda.initial_seed() == 8
    with cuda.device(1):
        assert cuda.initial_seed() == 9
    cuda.set_rng_state(state, "cuda:1")
    assert [s.tolist()[0] for s in cuda.get_rng_state_all()] == [8, 7]
    cuda.seed_all()
    assert cuda.get_rng_state(0).tolist() == cuda.get_rng_state(1).tolist()
    devices, states = get_device_states(gw.ones(2), {"x": gw.ones(2).to("cuda:1")}, 3)
    assert devices == [1]
    cuda.manual_seed_all(9)
    set_device_states(devices, states)
    assert cuda.get_rng_state(1).tolist() == states[0].tolist() != cuda.get_rng_state(0).tolist()


@pytest.mark.parametrize("call", [
    lambda: cuda.CUDAGraph(), lambda: cuda.graph(None), lambda: cuda.MemPool(),
    lambda: cuda.utilization(), lambda: cuda.set_sync_debug_mode("warn"),
    lambda: cuda.Event(interprocess=True),
    lambda: gw.accelerator.Graph(), lambda: cuda.nvtx.range_push("step"),
    lambda: cuda.nvtx.range("step"), lambda: cuda.profiler.start(), lambda: cuda.GreenContext(),
    lambda: cuda.caching_allocator_disabled(), lambda: cuda.Event.from_ipc_handle(0, b""),
])
def test_what_is_not_there_yet_says_so(call: object) -> None:
    with pytest.raises(NotImplementedError, match=r"is not there yet|not shared|not reported"):
        call()  # type: ignore[operator]
