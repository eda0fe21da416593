"""multiprocessing: tensors in memory that several processes have, and what carries them there."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import queue
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw
import graphwright.multiprocessing as mp
from graphwright.multiprocessing import reductions

FORK = mp.get_context("fork")


def in_child(function: Callable[[], Any]) -> None:
    """Run it in a forked process, which must end well."""
    child = FORK.Process(target=function)
    child.start()
    child.join()
    assert child.exitcode == 0


def mapped() -> int:
    """How many pieces of shared memory this process has."""
    gc.collect()
    return Path("/proc/self/maps").read_text().count("memfd:graphwright")


# share_memory_


def test_what_a_child_writes_shows_in_shared_memory_only() -> None:
    shared, own = gw.zeros(3).share_memory_(), gw.zeros(3)

    def write() -> None:
        shared.add_(1)
        own.add_(1)

    in_child(write)
    assert shared.tolist() == [1, 1, 1] and own.tolist() == [0, 0, 0]
    assert shared.is_shared() and not own.is_shared()


@pytest.mark.parametrize("dtype", [gw.bool, gw.bfloat16, gw.float64, gw.complex64])
def test_all_that_lies_over_the_memory_moves_with_it(dtype: gw.dtype) -> None:
    base = gw.ones(4, 6).to(dtype)
    view, turned, data, detached = base[1], base.T, base.data, base.detach()
    parameter = gw.nn.Parameter(gw.ones(2))
    alias = parameter.detach()
    array = base.view(gw.uint8).numpy()
    view.zero_()
    assert base.share_memory_() is base and parameter.share_memory_() is parameter
    together = (base, view, turned, data, detached, base.untyped_storage(), parameter, alias)
    assert all(each.is_shared() for each in together)
    base.fill_(1)
    for other in (view, turned, data, detached):
        assert bool((other == 1).all())
    assert base._version == view._version == 2 and view._base is base
    assert not array[1].any()       # the array stays where it was
    before = base.data_ptr()
    assert base.share_memory_().data_ptr() == before


def test_gradients_go_on_over_memory_that_moved() -> None:
    weight = gw.ones(3, requires_grad=True)
    loss = (weight * weight).sum()
    weight.share_memory_()
    loss.backward()
    assert weight.grad is not None and weight.grad.tolist() == [2, 2, 2]
    loss = (weight * weight).sum()
    with gw.no_grad():
        weight.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_compiled_code_follows_the_memory_of_a_module() -> None:
    layer = gw.nn.Linear(2, 2)
    compiled = gw.compile(layer, fullgraph=True)
    x = gw.ones(1, 2)
    before = compiled(x)
    layer.share_memory()
    assert all(tensor.is_shared() for tensor in layer.parameters())
    assert gw.equal(compiled(x), before)
    in_child(lambda: layer.bias.data.add_(1))  # type: ignore[union-attr]
    gw.testing.assert_close(compiled(x), before + 1)


def test_compiled_code_asks_anew_whether_memory_is_shared() -> None:
    compiled = gw.compile(lambda x: x + 1 if x.is_shared() else x * 2)
    x = gw.full((2,), 5)
    assert compiled(x).tolist() == [10, 10]
    assert compiled(x.share_memory_()).tolist() == [6, 6]


def test_what_has_no_memory_to_share() -> None:
    assert gw.empty(0).share_memory_().is_shared()
    with pytest.raises(RuntimeError, match="only memory of the CPU"):
        gw.empty(2, device="meta").share_memory_()
    with pytest.raises(RuntimeError, match="uninitialized"):
        gw.nn.LazyLinear(2).share_memory()


def test_memory_is_freed_with_the_last_that_has_it() -> None:
    before, files = mapped(), len(os.listdir("/proc/self/fd"))
    tensor = gw.zeros(1 << 20).share_memory_()
    view = tensor[:1]
    del tensor
    assert mapped() == before + 1 and view.tolist() == [0]
    del view
    assert mapped() == before and len(os.listdir("/proc/self/fd")) == files


def test_modules_have_few_files() -> None:
    files = len(os.listdir("/proc/self/fd"))
    layers = gw.nn.ModuleList([gw.nn.Linear(3, 3) for _ in range(300)]).share_memory()
    assert len(os.listdir("/proc/self/fd")) == files + 1
    assert all(tensor.is_shared() for tensor in layers.parameters())


def test_storages_are_shared_too() -> None:
    storage = gw.UntypedStorage(4)
    assert storage.share_memory_() is storage and storage.is_shared()
    in_child(lambda: storage.fill_(7))
    assert storage.tolist() == [7] * 4


# What carries tensors


def carriers() -> list[tuple[Callable[[Any], None], Callable[[], Any]]]:
    reader, writer = FORK.Pipe(duplex=False)
    one, other = FORK.Pipe()
    plain, simple, joinable = FORK.Queue(), FORK.SimpleQueue(), FORK.JoinableQueue()
    return [
        (plain.put, plain.get), (simple.put, simple.get), (joinable.put, joinable.get),
        (writer.send, reader.recv), (one.send, other.recv), (other.send, one.recv),
    ]  # fmt: skip


@pytest.mark.parametrize("i", range(6))
def test_tensors_are_one_memory_on_both_ends(i: int) -> None:
    send, receive = carriers()[i]
    weight = gw.nn.Parameter(gw.arange(6.0).reshape(2, 3))
    sent = {"weight": weight, "row": weight.detach()[1], "text": "a", "storage": gw.ByteStorage(2)}

    def child() -> None:
        send(sent)
        send(gw.full((2,), 7))
        assert sent["storage"].is_shared()

    in_child(child)                 # which has ended when its tensors are received
    got, last = receive(), receive()
    assert isinstance(got["weight"], gw.nn.Parameter) and got["weight"].requires_grad
    assert got["text"] == "a" and last.tolist() == [7, 7] and got["storage"].is_shared()
    with gw.no_grad():
        got["row"].zero_()
    assert got["weight"].tolist() == [[0, 1, 2], [0, 0, 0]]


def test_what_comes_back_is_what_was_sent() -> None:
    there, back = FORK.SimpleQueue(), FORK.SimpleQueue()
    tensor = gw.zeros(3)

    def child() -> None:
        got = there.get()
        got += 1
        back.put((got, got[1:]))

    process = FORK.Process(target=child)
    process.start()
    there.put(tensor)
    same, part = back.get()
    process.join()
    assert tensor.tolist() == [1, 1, 1] and same.data_ptr() == tensor.data_ptr()
    part.zero_()
    assert tensor.tolist() == [1, 0, 0]


def test_python_s_own_queues_keep_shared_memory_and_copy_the_rest() -> None:
    own = multiprocessing.get_context("fork").SimpleQueue()
    shared, plain = gw.zeros(2).share_memory_(), gw.zeros(2)
    own.put((shared, plain))
    got = own.get()
    shared += 1
    plain += 1
    assert [tensor.tolist() for tensor in got] == [[1, 1], [0, 0]]
    assert pickle.loads(pickle.dumps(shared)).is_shared() is False


def test_queues_are_queues() -> None:
    q = FORK.JoinableQueue(2)
    assert q.empty()
    q.put(1)
    q.put(gw.ones(1))
    assert q.full() and q.qsize() == 2
    with pytest.raises(queue.Full):
        q.put(3, timeout=0.01)
    assert (q.get(timeout=10), q.get().tolist()) == (1, [1])
    with pytest.raises(queue.Empty):
        q.get(timeout=0.01)
    with pytest.raises(queue.Empty):
        q.get_nowait()
    q.task_done()
    q.task_done()
    q.join()
    q.close()
    with pytest.raises(ValueError, match="closed"):
        q.put(1)


def test_what_cannot_be_sent_is_told_to_who_sends_it() -> None:
    q = FORK.Queue()
    history = gw.ones(1, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match=r"do not cross processes: send tensor\.detach"):
        q.put(history)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        q.put(lambda: None)
    q.put(gw.empty(2, device="meta"))
    assert q.get().device.type == "meta"


def test_ends_of_a_pipe() -> None:
    reader, writer = FORK.Pipe(duplex=False)
    with pytest.raises(OSError, match="read-only"):
        reader.send(1)
    writer.send_bytes(b"abc")
    assert reader.poll(10) and reader.recv_bytes() == b"abc"
    writer.send([gw.ones(2)] * 3)
    first, second, _ = reader.recv()
    assert first is second
    long = "x" * 3_000_000
    process = FORK.Process(target=lambda: writer.send(long))
    process.start()
    assert reader.recv() == long
    process.join()
    writer.close()
    with pytest.raises(EOFError):
        reader.recv()
    reader.close()
    with pytest.raises(OSError, match="closed"):
        reader.recv()


def send_many() -> None:
    reader, writer = FORK.Pipe(duplex=False)
    single = [gw.full((1,), i).share_memory_() for i in range(300)]     # a file each
    large = [gw.full((20_000,), i) for i in range(100)]
    process = FORK.Process(target=lambda: writer.send((single, large)))
    process.start()
    got = reader.recv()
    process.join()
    assert [int(tensor[0]) for tensor in (*got[0], *got[1])] == [*range(300), *range(100)]
    got[0][5].fill_(0)
    assert single[5] == 0


def test_many_tensors_in_one_message() -> None:
    gc.collect()
    files = len(os.listdir("/proc/self/fd"))
    send_many()
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= files


def test_a_pool_returns_tensors() -> None:
    with FORK.Pool(2) as pool:
        assert [t.tolist() for t in pool.map(gw.ones, [1, 2])] == [[1], [1, 1]]
        with pytest.raises(RuntimeError):
            pool.apply(gw.ones, (-1,))


def test_a_parcel_closes_its_files() -> None:
    files = len(os.listdir("/proc/self/fd"))
    parcel = reductions.pack([gw.zeros(100_000), gw.zeros(3)], False)
    assert len(parcel.files) == 2
    parcel.close()
    assert len(os.listdir("/proc/self/fd")) == files
    parcel = reductions.pack(gw.zeros(3), False)
    with pytest.raises(pickle.UnpicklingError):
        reductions.unpack(parcel.data[:-5], parcel.files)
    assert len(os.listdir("/proc/self/fd")) == files


# Processes


PROGRAM = """
import sys
import graphwright as gw
import graphwright.multiprocessing as mp

def train(model, step, out):
    for _ in range(step):
        with gw.no_grad():
            model.weight.add_(1)
    out.put(model.weight.detach()[0])

def begin(tensor):
    global given
    given = tensor

def use(i):
    given[i] += i
    return given[i].item()

def indexed(i, total):
    total[i] = i + 1

if __name__ == "__main__":
    mp.set_start_method(sys.argv[1])
    model, out = gw.nn.Linear(2, 2, bias=False), mp.Queue()
    with gw.no_grad():
        model.weight.zero_()
    process = mp.Process(target=train, args=(model, 3), kwargs={"out": out})
    process.start()
    process.join()
    print(process.exitcode, out.get(timeout=60).tolist(), model.weight.tolist())
    tensor = gw.zeros(2)
    with mp.Pool(1, begin, (tensor,)) as pool:
        print(pool.map(use, range(2)), tensor.tolist())
    total = gw.zeros(2)
    mp.start_processes(indexed, (total,), 2, start_method=sys.argv[1])
    print(total.tolist())
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_arguments_of_new_processes_are_the_same_memory(method: str, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    done = subprocess.run([sys.executable, script, method], capture_output=True, text=True,
                          timeout=100, check=True)
    assert done.stdout.splitlines() == [
        "0 [3.0, 3.0] [[3.0, 3.0], [3.0, 3.0]]", "[0.0, 1.0] [0.0, 1.0]", "[1.0, 2.0]",
    ], done.stderr  # fmt: skip


def fork(function: Callable[..., None], count: int, **options: Any) -> Any:
    return mp.start_processes(function, (), count, start_method="fork", **options)


def test_the_first_failure_ends_all_processes() -> None:
    def fail(index: int) -> None:
        if index == 1:
            raise ValueError("number one")
        time.sleep(60)

    with pytest.raises(mp.ProcessRaisedException, match="Process 1 terminated with the foll") as e:
        fork(fail, 3)
    assert "ValueError: number one" in str(e.value) and e.value.error_index == 1
    assert not os.path.exists(f"/proc/{e.value.error_pid}")


@pytest.mark.parametrize(("end", "code", "name", "message"), [
    (lambda: os._exit(3), 3, None, "process 0 terminated with exit code 3"),
    (lambda: os.kill(os.getpid(), 9), -9, "SIGKILL", "process 0 terminated with signal SIGKILL"),
])  # fmt: skip
def test_a_process_that_dies_says_how(
    end: Callable[[], None], code: int, name: str | None, message: str
) -> None:
    with pytest.raises(mp.ProcessExitedException) as caught:
        fork(lambda index: end(), 1)
    error = caught.value
    assert (str(error), error.exit_code, error.signal_name) == (message, code, name)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.exit_code, again.error_pid) == (message, code, error.error_pid)


def test_processes_that_are_not_waited_for() -> None:
    go = FORK.Event()
    started = fork(lambda index: go.wait(60), 2, join=False, daemon=True)
    assert len(started.pids()) == 2 and not started.join(timeout=0.01)
    go.set()
    while not started.join():
        pass
    assert [process.exitcode for process in started.processes] == [0, 0] and started.join()
    with pytest.warns(FutureWarning, match="start_processes"):
        mp.spawn(print, nprocs=0, start_method="fork")


# Names


def test_contexts_and_strategies() -> None:
    assert mp.get_all_start_methods() == multiprocessing.get_all_start_methods()
    assert mp.get_context("spawn").get_start_method() == "spawn"
    assert issubclass(mp.Process, multiprocessing.Process)
    assert isinstance(FORK.Event(), multiprocessing.synchronize.Event)
    with pytest.raises(ValueError, match="cannot find context for 'thread'"):
        mp.get_context("thread")
    before = mp.get_sharing_strategy()
    assert before in mp.get_all_sharing_strategies()
    mp.set_sharing_strategy("file_system")
    assert mp.get_sharing_strategy() == "file_system"
    mp.set_sharing_strategy(before)
    with pytest.raises(AssertionError, match="invalid sharing strategy 'thread'"):
        mp.set_sharing_strategy("thread")
