"""The stand-in for the driver: late queues, memory, events, errors on demand, several devices."""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
import sys
import threading

import numpy as np
import pytest

from .assembled import HEADER
from .fake_driver import FakeDriver
from .session import DriverError, Session

TEXT = HEADER.replace("sm_90a", "sm_80") + """
.visible .entry add_one(.param .u64 .ptr .global .align 4 x, .param .u32 by) .reqntid 32 {
  .reg .b64 %x; .reg .b32 %t, %v, %by; ld.param.b64 %x, [x]; ld.param.b32 %by, [by];
  mov.u32 %t, %tid.x; mad.wide.u32 %x, %t, 4, %x; ld.global.b32 %v, [%x];
  add.s32 %v, %v, %by; st.global.b32 [%x], %v; ret; }
.visible .entry shared_of(.param .u64 x) { ret; }
.visible .entry several(.param .b8 a, .param .u16 b, .param .f64 c, .param .align 16 .b8 d[20],
  .param .u64 .ptr .global .align 1 e) .reqntid 32, 1, 1 { ret; }
"""
NOT_READY, INVALID_VALUE, OUT_OF_MEMORY, INVALID_HANDLE = 600, 1, 2, 400


@pytest.fixture
def session(driver: FakeDriver) -> Session:
    return Session(driver)


def add_one(session: Session, address: int, by: int = 1,
            stream: ctypes.c_void_p | None = None) -> None:
    session.launch(session.function(TEXT, "add_one"), (1,), (32,), [("Q", address), ("i", by)],
                   stream=stream)


def refused(session: Session, code: int, name: str, *arguments: object) -> None:
    with pytest.raises(DriverError) as caught:
        session.call(name, *arguments)
    assert caught.value.code == code, caught.value


def test_nothing_runs_before_a_synchronisation(driver: FakeDriver, session: Session) -> None:
    x, y = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    address = session.upload(x)
    x += 100  # a copy that is enqueued reads its source when it runs
    add_one(session, address)
    session.download(y, address)
    assert not y.any() and driver.launches == []
    session.synchronize()
    np.testing.assert_array_equal(y, np.arange(32) + 101)
    launched, = driver.launches
    assert launched == ("add_one", (1, 1, 1), (32, 1, 1), 0, struct.pack("<Qi", address, 1))


def test_memory_is_poisoned_when_it_is_made_and_when_it_is_freed(session: Session) -> None:
    address, y = session.empty(16), np.zeros(4, np.float32)
    session.download(y, address)
    session.synchronize()
    assert np.isnan(y).all()
    pinned = session.pinned(8)
    assert (pinned == 0xFF).all()
    session.call("cuMemFreeHost", ctypes.c_void_p(pinned.ctypes.data))
    assert (pinned == 0xDB).all()


def test_a_freed_or_a_foreign_range_is_refused_and_a_kernel_on_it_named(
        driver: FakeDriver, session: Session) -> None:
    address = session.upload(np.zeros(32, np.int32))
    assert driver.used() >= 128
    session.free(address)
    y = np.zeros(32, np.int32)
    refused(session, INVALID_VALUE, "cuMemcpyDtoHAsync_v2", ctypes.c_void_p(y.ctypes.data),
            ctypes.c_uint64(address), ctypes.c_size_t(128), session.stream)
    refused(session, INVALID_VALUE, "cuMemFree_v2", ctypes.c_uint64(address))
    add_one(session, address)
    message = r"add_one, line \d+: ld\.global\.b32 .*byte 0 of a freed allocation of 128"
    with pytest.raises(DriverError, match=message) as caught:
        session.synchronize()
    assert caught.value.code == 700


def test_an_error_of_a_kernel_stays(driver: FakeDriver, session: Session) -> None:
    driver.fail("kernel", 719)
    address = session.upload(np.zeros(32, np.int32))
    add_one(session, address)
    refused(session, 719, "cuStreamSynchronize", session.stream)
    refused(session, 719, "cuMemFree_v2", ctypes.c_uint64(address))
    refused(session, 719, "cuCtxSynchronize")
    driver.clear()
    session.synchronize()


def test_streams_wait_for_events_and_not_for_each_other(driver: FakeDriver,
                                                        session: Session) -> None:
    other, event = session.handle("cuStreamCreate", 1), session.handle("cuEventCreate", 2)
    x, y = np.zeros(32, np.int32), np.zeros(32, np.int32)
    address = session.upload(x)
    add_one(session, address)
    session.call("cuEventRecord", event, session.stream)
    add_one(session, address, 10)
    session.call("cuStreamWaitEvent", other, event, 0)
    session.call("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(y.ctypes.data), ctypes.c_uint64(address),
                 ctypes.c_size_t(128), other)
    session.call("cuStreamSynchronize", other)
    assert (y == 1).all() and len(driver.launches) == 1
    session.call("cuCtxSynchronize")
    assert len(driver.launches) == 2


def test_without_an_event_the_order_between_streams_depends_on_the_seed(
        driver: FakeDriver, session: Session) -> None:
    seen = set()
    for seed in range(12):
        driver.set("seed", seed)
        other, y = session.handle("cuStreamCreate", 1), np.zeros(32, np.int32)
        address = session.upload(np.zeros(32, np.int32))
        session.synchronize()
        add_one(session, address)
        session.call("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(y.ctypes.data),
                     ctypes.c_uint64(address), ctypes.c_size_t(128), other)
        session.call("cuStreamSynchronize", other)
        seen.add(int(y[0]))
        session.call("cuCtxSynchronize")
    assert seen == {0, 1}


def test_the_null_stream_and_blocking_streams_wait_for_each_other(driver: FakeDriver) -> None:
    session = Session(driver, flags=0)
    null, y = ctypes.c_void_p(0), np.zeros(32, np.int32)
    address = session.upload(np.zeros(32, np.int32))
    add_one(session, address)
    add_one(session, address, 10, null)
    add_one(session, address, 100)
    session.download(y, address)
    session.synchronize()
    assert (y == 111).all()
    add_one(session, address, 1000, null)
    session.call("cuMemcpyDtoH_v2", ctypes.c_void_p(y.ctypes.data), ctypes.c_uint64(address),
                 ctypes.c_size_t(128))
    assert (y == 1111).all()


def test_polls_find_work_done_after_a_while(session: Session) -> None:
    event = session.handle("cuEventCreate", 2)
    session.call("cuEventRecord", event, session.stream)
    library = session.driver.library
    polls = [library.cuEventQuery(event) for _ in range(8)]
    assert polls[0] == NOT_READY and polls[-1] == 0 and sorted(polls, reverse=True) == polls
    session.upload(np.zeros(32, np.int32))
    polls = [library.cuStreamQuery(session.stream) for _ in range(8)]
    assert polls[0] == NOT_READY and polls[-1] == 0


def test_events_measure_time_and_are_checked(session: Session) -> None:
    start, end, untimed = (session.handle("cuEventCreate", flags) for flags in (0, 0, 2))
    elapsed = ctypes.c_float()
    arguments = ("cuEventElapsedTime", ctypes.byref(elapsed), start, end)
    refused(session, INVALID_HANDLE, *arguments)
    session.call("cuEventRecord", start, session.stream)
    add_one(session, session.upload(np.zeros(32, np.int32)))
    session.call("cuEventRecord", end, session.stream)
    refused(session, NOT_READY, *arguments)
    session.call("cuEventSynchronize", end)
    session.call(*arguments)
    assert elapsed.value > 0
    session.call("cuEventRecord", untimed, session.stream)
    session.call("cuCtxSynchronize")
    refused(session, INVALID_HANDLE, "cuEventElapsedTime", ctypes.byref(elapsed), start, untimed)
    session.call("cuEventDestroy_v2", end)
    refused(session, INVALID_HANDLE, "cuEventRecord", end, session.stream)


def test_fills_write_elements_of_each_width(session: Session) -> None:
    address, y = session.empty(16), np.zeros(16, np.uint8)
    for width, value in ((8, 0x11), (16, 0x2211), (32, 0x44332211)):
        session.call(f"cuMemsetD{width}Async", ctypes.c_uint64(address), value,
                     ctypes.c_size_t(128 // width), session.stream)
        session.download(y, address)
        session.synchronize()
        assert y.tobytes() == struct.pack("<I", value)[:width // 8] * (128 // width)


@pytest.mark.parametrize("number", range(4))
def test_memory_runs_out_at_the_allocation_that_is_asked_for(
        driver: FakeDriver, session: Session, number: int) -> None:
    driver.fail("cuMemAlloc_v2", OUT_OF_MEMORY, skip=number)
    for _ in range(number):
        session.empty(64)
    with pytest.raises(DriverError) as caught:
        session.empty(64)
    assert caught.value.code == OUT_OF_MEMORY
    session.empty(64)
    driver.set("memory", driver.used() + 1000)
    session.empty(1000)
    with pytest.raises(DriverError):
        session.empty(1)


def test_machine_code_and_other_architectures_are_refused(driver: FakeDriver,
                                                          session: Session) -> None:
    made = ctypes.byref(ctypes.c_void_p())
    refused(session, 209, "cuModuleLoadData", made, b"\x7fELF" + bytes(60))
    refused(session, 209, "cuModuleLoadData", made, TEXT.replace("sm_80", "sm_90a").encode())
    refused(session, 218, "cuModuleLoadData", made, b"no text of a module")
    refused(session, 218, "cuModuleLoadData", made, TEXT.replace("add.s32", "plus.s32").encode())
    assert "plus.s32 %v, %v, %by: unknown form: the instruction plus" in driver.faults[-1]
    module = session.handle("cuModuleLoadData", TEXT.encode())
    refused(session, 500, "cuModuleGetFunction", made, module, b"add")


def test_launches_are_checked(driver: FakeDriver, session: Session) -> None:
    function = session.function(TEXT, "add_one")
    arguments = [("Q", session.empty(128)), ("i", 1)]
    for grid, block, shared in (((0,), (32,), 0), ((1,), (64,), 0), ((1,), (32, 2), 0),
                                ((1, 70000), (32,), 0), ((1,), (32,), 50000)):
        with pytest.raises(DriverError) as caught:
            session.launch(function, grid, block, arguments, shared)
        assert caught.value.code == INVALID_VALUE
    session.call("cuFuncSetAttribute", function, 8, 50000)
    session.launch(function, (1,), (32,), arguments, 50000)
    refused(session, INVALID_VALUE, "cuFuncSetAttribute", function, 8, 200000)
    other = session.function(TEXT, "shared_of")
    with pytest.raises(DriverError):
        session.launch(other, (1,), (1056,), [("Q", 0)])


def test_parameters_have_the_offsets_of_the_interpreter(driver: FakeDriver,
                                                        session: Session) -> None:
    function = session.function(TEXT, "several")
    assert session.parameters(function) == [(0, 1), (2, 2), (8, 8), (16, 20), (40, 8)]
    assert driver.program(TEXT.encode()).parameters("several") == session.parameters(function)
    assert driver.program(TEXT.encode()).parameter_size("several") == 48


def test_parameters_may_come_as_a_block(session: Session) -> None:
    x = np.zeros(32, np.int32)
    address = session.upload(x)
    block = ctypes.create_string_buffer(struct.pack("<Qi", address, 5))
    size = ctypes.c_size_t(12)
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(block), 2, ctypes.addressof(size), None)
    session.call("cuLaunchKernel", session.function(TEXT, "add_one"), 1, 1, 1, 32, 1, 1, 0,
                 session.stream, None, extra)
    session.download(x, address)
    session.synchronize()
    assert (x == 5).all()


def test_devices_keep_their_memory_and_streams_apart(driver: FakeDriver) -> None:
    first, second = Session(driver, 0), Session(driver, 1)
    first.call("cuCtxSetCurrent", first.context)
    address = first.upload(np.zeros(32, np.int32))
    first.synchronize()
    second.call("cuCtxSetCurrent", second.context)
    refused(second, INVALID_HANDLE, "cuStreamSynchronize", first.stream)
    add_one(second, address)
    with pytest.raises(DriverError, match="in no allocation"):
        second.synchronize()
    driver.clear()
    second.call("cuCtxEnablePeerAccess", first.context, 0)
    add_one(second, address)
    second.synchronize()
    refused(second, 101, "cuDeviceGet", ctypes.byref(ctypes.c_int()), 2)


def test_a_call_without_a_context_is_refused(driver: FakeDriver, session: Session) -> None:
    caught: list[int] = []
    thread = threading.Thread(target=lambda: caught.append(
        driver.library.cuCtxSynchronize()))
    thread.start()
    thread.join()
    assert caught == [201]


def test_threads_wait_together_while_kernels_run(driver: FakeDriver, session: Session) -> None:
    address = session.upload(np.zeros(32, np.int32))
    for _ in range(200):
        add_one(session, address)

    def wait() -> None:
        session.call("cuCtxSetCurrent", session.context)
        session.synchronize()

    threads = [threading.Thread(target=wait) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
        assert not one.is_alive()
    y = np.zeros(32, np.int32)
    session.download(y, address)
    session.synchronize()
    assert (y == 200).all()


def test_the_null_mode_counts_launches_and_runs_none(driver: FakeDriver,
                                                     session: Session) -> None:
    address = session.upload(np.zeros(32, np.int32))
    add_one(session, address)
    session.synchronize()
    driver.clear()
    driver.set("null", 1)
    for _ in range(5):
        add_one(session, address)
    session.synchronize()
    assert driver.calls("cuLaunchKernel") == 5 and driver.launches == []


def test_graphs_are_not_there(session: Session) -> None:
    status = ctypes.c_int(7)
    session.call("cuStreamIsCapturing", session.stream, ctypes.byref(status))
    assert status.value == 0
    refused(session, 801, "cuStreamBeginCapture_v2", session.stream, 2)


def test_functions_are_found_by_name_and_a_library_can_lack_one(driver: FakeDriver) -> None:
    find, found = driver.library.cuGetProcAddress_v2, ctypes.c_void_p()
    for name in ("cuMemAlloc", "cuLaunchKernel", "cuEventDestroy"):
        assert find(name.encode(), ctypes.byref(found), 12000, ctypes.c_uint64(0), None) == 0
        assert found.value
    assert find(b"cuNothing", ctypes.byref(found), 12000, ctypes.c_uint64(0), None) == 500
    driver.fail("without cuMemHostAlloc", 500)
    assert find(b"cuMemHostAlloc", ctypes.byref(found), 12000, ctypes.c_uint64(0), None) == 500


SCRIPT = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
value, ordinal = ctypes.c_int(), ctypes.c_int()
print(library.cuInit(0), library.cuDriverGetVersion(ctypes.byref(value)), value.value,
      library.cuDeviceGetCount(ctypes.byref(ordinal)), ordinal.value,
      library.cuDeviceGetAttribute(ctypes.byref(value), 75, 0), value.value)
"""


@pytest.mark.parametrize("settings, printed", [
    ({}, "0 0 13000 0 2 0 8"),
    ({"GPU_SIM_ARCH": "90", "GPU_SIM_DEVICES": "1"}, "0 0 13000 0 1 0 9"),
    ({"GPU_SIM_DEVICES": "0"}, "100 0 13000 3 0 3 13000"),
    ({"GPU_SIM_VERSION": "11040"}, "0 0 11040 0 2 0 8"),
    ({"GPU_SIM_FAIL": "cuInit:0:1:999,cuDeviceGetCount:0:-1:3"}, "999 0 13000 3 0 3 13000"),
])
def test_settings_come_from_the_environment(driver: FakeDriver, settings: dict[str, str],
                                            printed: str) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(driver.path)], check=True, text=True,
                          capture_output=True, env={**os.environ, **settings})
    assert done.stdout.strip() == printed


ORDER = HEADER.replace("sm_90a", "sm_80") + """
.visible .entry sum(.param .u64 x, .param .u64 to) .reqntid 32 {
  .reg .b64 %x, %to; .reg .b32 %t, %v, %n; .reg .pred %p;
  ld.param.b64 %x, [x]; ld.param.b64 %to, [to];
  mov.u32 %t, %tid.x; mad.wide.u32 %x, %t, 4, %x; ld.global.b32 %v, [%x];
  red.global.add.f32 [%to], %v; atom.global.add.u32 %n, [%to+4], 1; st.global.b32 [%x], %n;
  ret; }
"""


def test_a_seed_changes_the_order_of_atomic_updates(driver: FakeDriver) -> None:
    """Sums of floats then round otherwise, and what each thread saw is a permutation."""
    sums, seen = set(), []
    for seed in range(4):
        driver.set("seed", seed)
        session = Session(driver)
        x = np.float32(10.0) ** np.linspace(-6, 6, 32, dtype=np.float32)
        total = np.zeros(2, np.uint32)
        places = session.upload(x), session.upload(total)
        session.launch(session.function(ORDER, "sum"), (1,), (32,), [("Q", one) for one in places])
        session.download(x, places[0])
        session.download(total, places[1])
        session.synchronize()
        sums.add(total.view(np.float32)[0])
        seen.append(x.view(np.uint32).tolist())
    assert len(sums) > 1 and seen[0] == list(range(32))
    assert all(sorted(one) == seen[0] for one in seen) and seen[1] != seen[2]
