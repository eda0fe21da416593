"""The stand-in for the driver: late queues, memory, modules, launches, several devices.

What it does for the runtime, and its errors on demand, are in tests/runtime/cuda."""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .assembled import HEADER
from .fake_driver import FakeDriver, host_array
from .ptx.values import Array

Handle = ctypes.c_void_p
TEXT = HEADER.replace("sm_90a", "sm_80") + """
.visible .entry add_one(.param .u64 .ptr .global .align 4 x, .param .u32 by) .reqntid 32 {
  .reg .b64 %x; .reg .b32 %t, %v, %by; ld.param.b64 %x, [x]; ld.param.b32 %by, [by];
  mov.u32 %t, %tid.x; mad.wide.u32 %x, %t, 4, %x; ld.global.b32 %v, [%x];
  add.s32 %v, %v, %by; st.global.b32 [%x], %v; ret; }
.visible .entry any_block(.param .u64 x) { ret; }
.visible .entry several(.param .b8 a, .param .u16 b, .param .f64 c, .param .align 16 .b8 d[20],
  .param .u64 .ptr .global .align 1 e) .reqntid 32, 1, 1 { ret; }
.visible .entry sum(.param .u64 x, .param .u64 to) .reqntid 32 {
  .reg .b64 %x, %to; .reg .b32 %t, %v, %n; .reg .pred %p;
  ld.param.b64 %x, [x]; ld.param.b64 %to, [to];
  mov.u32 %t, %tid.x; mad.wide.u32 %x, %t, 4, %x; ld.global.b32 %v, [%x];
  red.global.add.f32 [%to], %v; atom.global.add.u32 %n, [%to+4], 1; st.global.b32 [%x], %n;
  ret; }
"""
ROOT = Path(__file__).parents[2]
INVALID_VALUE, OUT_OF_MEMORY, INVALID_HANDLE, NOT_FOUND, NOT_READY = 1, 2, 400, 500, 600


class DriverError(Exception):
    """A call that the driver refused; `code` is its error."""

    def __init__(self, call: str, code: int, faults: list[str]) -> None:
        super().__init__(f"{call}: error {code}" + "".join(f"; {fault}" for fault in faults))
        self.code = code


class Session:
    """A device and one stream, by the driver's functions alone."""

    def __init__(self, driver: FakeDriver, ordinal: int = 0) -> None:
        self.driver = driver
        self.call("cuInit", 0)
        self.context = self.handle("cuDevicePrimaryCtxRetain", ordinal)
        self.call("cuCtxSetCurrent", self.context)
        self.stream = self.new_stream()

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver; integers above 32 bits need a type of ctypes.

        Raises:
            DriverError: it did not succeed.
        """
        code = getattr(self.driver.library, name)(*arguments)
        if code:
            raise DriverError(name, code, self.driver.faults[-1:])

    def handle(self, name: str, *arguments: Any) -> Handle:
        """What a function that makes something makes."""
        made = Handle()
        self.call(name, ctypes.byref(made), *arguments)
        return made

    def new_stream(self) -> Handle:
        return self.handle("cuStreamCreateWithPriority", 1, 0)

    def empty(self, size: int) -> int:
        """The address of a fresh allocation of device memory."""
        return self.handle("cuMemAlloc_v2", ctypes.c_size_t(size)).value or 0

    def free(self, address: int) -> None:
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def pinned(self, size: int) -> Array:
        """Pinned host memory as an array of bytes."""
        return host_array(self.handle("cuMemHostAlloc", ctypes.c_size_t(size), 0).value or 0, size)

    def upload(self, array: Array, address: int | None = None) -> int:
        """Enqueue a copy to the device; where it goes. The array must live until it has run."""
        address = self.empty(array.nbytes) if address is None else address
        self.call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(address), Handle(array.ctypes.data),
                  ctypes.c_size_t(array.nbytes), self.stream)
        return address

    def download(self, array: Array, address: int, stream: Handle | None = None) -> None:
        """Enqueue a copy from the device."""
        self.call("cuMemcpyDtoHAsync_v2", Handle(array.ctypes.data), ctypes.c_uint64(address),
                  ctypes.c_size_t(array.nbytes), self.stream if stream is None else stream)

    def synchronize(self) -> None:
        self.call("cuStreamSynchronize", self.stream)

    def function(self, ptx: str, name: str) -> Handle:
        """A kernel of a module."""
        module = self.handle("cuModuleLoadData", ptx.encode())
        return self.handle("cuModuleGetFunction", module, name.encode())

    def launch(self, function: Handle, grid: tuple[int, ...], block: tuple[int, ...],
               arguments: Sequence[tuple[str, int | float]], shared: int = 0,
               stream: Handle | None = None) -> None:
        """Enqueue a kernel. An argument is a letter of `struct` and its value."""
        values = [np.frombuffer(struct.pack("<" + letter, value), np.uint8)
                  for letter, value in arguments]
        pointers = (Handle * len(values))(*(one.ctypes.data for one in values))
        self.call("cuLaunchKernel", function, *(*grid, 1, 1)[:3], *(*block, 1, 1)[:3], shared,
                  self.stream if stream is None else stream, pointers, None)


@pytest.fixture
def session(driver: FakeDriver) -> Session:
    return Session(driver)


def zeros() -> Array:
    return np.zeros(32, np.int32)


def add_one(session: Session, address: int, by: int = 1,
            stream: Handle | None = None) -> None:
    session.launch(session.function(TEXT, "add_one"), (1,), (32,), [("Q", address), ("i", by)],
                   stream=stream)


def fails(code: int, call: Callable[..., None], *arguments: object) -> None:
    """The driver refuses a call with that error."""
    with pytest.raises(DriverError) as caught:
        call(*arguments)
    assert caught.value.code == code, caught.value


# ---- queues

def test_nothing_runs_before_a_synchronisation(driver: FakeDriver, session: Session) -> None:
    x, y = np.arange(32, dtype=np.int32), zeros()
    address = session.upload(x)
    x += 100  # a copy that is enqueued reads its source when it runs
    add_one(session, address)
    session.download(y, address)
    assert not y.any() and driver.launches == [] and driver.calls("cuLaunchKernel") == 1
    session.synchronize()
    np.testing.assert_array_equal(y, np.arange(32) + 101)
    (launched,) = driver.launches
    assert launched[:-1] == ("add_one", (1, 1, 1), (32, 1, 1), 0, struct.pack("<Qi", address, 1))


def test_streams_wait_for_events_and_not_for_each_other(driver: FakeDriver,
                                                        session: Session) -> None:
    other, event = session.new_stream(), session.handle("cuEventCreate", 2)
    x, y = zeros(), zeros()
    address = session.upload(x)
    add_one(session, address)
    session.call("cuEventRecord", event, session.stream)
    add_one(session, address, 10)
    session.call("cuStreamWaitEvent", other, event, 0)
    session.download(y, address, other)
    session.call("cuStreamSynchronize", other)
    assert (y == 1).all() and len(driver.launches) == 1
    session.call("cuCtxSynchronize")
    assert len(driver.launches) == 2


def test_without_an_event_the_order_between_streams_depends_on_the_seed(
        driver: FakeDriver, session: Session) -> None:
    seen, x = set(), zeros()
    for seed in range(12):
        driver.set("seed", seed)
        other, y = session.new_stream(), zeros()
        address = session.upload(x)
        session.synchronize()
        add_one(session, address)
        session.download(y, address, other)
        session.call("cuStreamSynchronize", other)
        seen.add(int(y[0]))
        session.call("cuCtxSynchronize")
    assert seen == {0, 1}


def test_polls_find_work_done_after_a_while(session: Session) -> None:
    event, x = session.handle("cuEventCreate", 2), zeros()
    library = session.driver.library
    add_one(session, session.upload(x))
    session.call("cuEventRecord", event, session.stream)
    polls = [library.cuEventQuery(event) for _ in range(16)]
    assert polls[0] == NOT_READY and polls[-1] == 0 and sorted(polls, reverse=True) == polls
    assert library.cuStreamQuery(session.stream) == 0
    session.upload(x)
    assert library.cuStreamQuery(session.stream) == NOT_READY


def test_a_poll_that_holds_python_s_lock_runs_no_kernel_itself(driver: FakeDriver,
                                                              session: Session) -> None:
    """Who polls, as the runtime's allocator does, does not expect other threads to run Python."""
    x = zeros()
    add_one(session, session.upload(x))
    query = ctypes.PyDLL(str(driver.path)).cuStreamQuery
    switch = sys.getswitchinterval()
    sys.setswitchinterval(100)
    try:
        assert all(query(session.stream) == NOT_READY for _ in range(200))
    finally:
        sys.setswitchinterval(switch)
    assert driver.launches == []
    while query(session.stream) == NOT_READY:
        threading.Event().wait(0.001)
    assert len(driver.launches) == 1


def test_threads_wait_together_while_kernels_run(session: Session) -> None:
    x, y = zeros(), zeros()
    address = session.upload(x)
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
    session.download(y, address)
    session.synchronize()
    assert (y == 200).all()


def test_the_null_stream_has_work_where_it_is_allowed(driver: FakeDriver,
                                                      session: Session) -> None:
    null, x = ctypes.c_void_p(0), zeros()
    address = session.upload(x)
    fails(INVALID_HANDLE, add_one, session, address, 1, null)
    driver.set("legacy", 1)
    add_one(session, address, 1, null)
    session.call("cuCtxSynchronize")
    assert len(driver.launches) == 1


# ---- memory

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
    used, x = driver.used(), zeros()
    address = session.upload(x)
    assert driver.used() == used + 128
    session.free(address)
    assert driver.used() == used
    fails(INVALID_VALUE, session.download, x, address)
    fails(INVALID_VALUE, session.free, address)
    add_one(session, address)
    message = r"add_one, line \d+: ld\.global\.b32 .*byte 0 of a freed allocation of 128"
    with pytest.raises(DriverError, match=message) as caught:
        session.synchronize()
    assert caught.value.code == 700


# ---- modules and launches

@pytest.mark.parametrize("text, code", [
    (TEXT.replace(" add_one(", " add_two("), 500),
    ("\x7fELF" + 60 * "\0", 209), (TEXT.replace("sm_80", "sm_90a"), 209),
    (TEXT.replace("sm_80", "sm_86"), 209), ("no text of a module", 218),
    (TEXT.replace("add.s32", "plus.s32"), 218)])
def test_what_is_no_text_for_the_device_is_refused(driver: FakeDriver, session: Session, text: str,
                                                   code: int) -> None:
    fails(code, session.function, text, "add_one")
    if "plus" in text:
        assert "plus.s32 %v, %v, %by: unknown form: the instruction plus" in driver.faults[-1]


@pytest.mark.parametrize("kernel, grid, block, shared", [
    ("add_one", (0,), (32,), 0), ("add_one", (1,), (64,), 0), ("add_one", (1,), (32, 2), 0),
    ("add_one", (1, 70000), (32,), 0), ("add_one", (1,), (32,), 50000),
    ("any_block", (1,), (1056,), 0)])
def test_launches_are_checked(session: Session, kernel: str, grid: tuple[int, ...],
                              block: tuple[int, ...], shared: int) -> None:
    arguments, function = [("Q", session.empty(128)), ("i", 1)], session.function(TEXT, kernel)
    fails(INVALID_VALUE, session.launch, function, grid, block, arguments, shared)
    fails(INVALID_VALUE, session.call, "cuFuncSetAttribute", function, 8, 200000)
    session.call("cuFuncSetAttribute", function, 8, 50000)
    session.launch(function, (1,), (32,), arguments, 50000)


def test_parameters_are_packed_as_the_text_lists_them(driver: FakeDriver,
                                                      session: Session) -> None:
    session.launch(session.function(TEXT, "several"), (1,), (32,),
                   [("b", 1), ("h", 2), ("d", 3.0), ("20s", bytes(range(20))), ("q", -1)])
    session.synchronize()
    assert driver.launches[0].parameters == struct.pack("<bxh4xd20s4xq", 1, 2, 3.0,
                                                        bytes(range(20)), -1)


def test_a_seed_changes_the_order_of_atomic_updates(driver: FakeDriver) -> None:
    """Sums of floats then round otherwise, and what each thread saw is a permutation."""
    sums, seen = set(), []
    for seed in range(4):
        driver.set("seed", seed)
        session = Session(driver)
        x = np.float32(10.0) ** np.linspace(-6, 6, 32, dtype=np.float32)
        total = np.zeros(2, np.uint32)
        places = session.upload(x), session.upload(total)
        session.launch(session.function(TEXT, "sum"), (1,), (32,), [("Q", one) for one in places])
        session.download(x, places[0])
        session.download(total, places[1])
        session.synchronize()
        sums.add(total.view(np.float32)[0])
        seen.append(x.view(np.uint32).tolist())
    assert len(sums) > 1 and seen[0] == list(range(32))
    assert all(sorted(one) == seen[0] for one in seen) and seen[1] != seen[2]


def test_the_null_mode_reads_no_text_and_runs_nothing(driver: FakeDriver,
                                                      session: Session) -> None:
    driver.set("null", 1)
    session.launch(session.function("any text", "any_name"), (1,), (32,), [])
    session.synchronize()
    assert driver.launches == []


# ---- errors, devices

def test_an_error_of_the_interpreter_is_raised_by_clear(driver: FakeDriver, session: Session,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    add_one(session, session.empty(128))
    monkeypatch.setattr(driver, "memory", lambda device: None)
    fails(999, session.synchronize)
    with pytest.raises(AttributeError, match="NoneType"):
        driver.clear()


def test_devices_keep_their_memory_and_streams_apart(driver: FakeDriver) -> None:
    first, second, x = Session(driver, 0), Session(driver, 1), zeros()
    first.call("cuCtxSetCurrent", first.context)
    address = first.upload(x)
    first.synchronize()
    second.call("cuCtxSetCurrent", second.context)
    fails(INVALID_HANDLE, second.call, "cuStreamSynchronize", first.stream)
    fails(INVALID_VALUE, second.download, x, address)
    there = second.empty(128)
    second.call("cuMemcpyPeerAsync", ctypes.c_uint64(there), second.context,
                ctypes.c_uint64(address), first.context, ctypes.c_size_t(128), second.stream)
    add_one(second, there)
    second.download(x, there)
    second.synchronize()
    assert (x == 1).all()
    add_one(second, address)
    with pytest.raises(DriverError, match=r"illegal address .* thread"):
        second.synchronize()
    fails(101, second.call, "cuDeviceGet", ctypes.byref(ctypes.c_int()), 2)
