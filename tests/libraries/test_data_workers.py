"""utils.data: worker processes of a DataLoader, what they are told, and how they end."""

from __future__ import annotations

import gc
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime import _core
from graphwright.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    TensorDataset,
    crew,
    default_collate,
    get_worker_info,
)


class Examples(Dataset[Any]):
    """Tensors, numbers and texts of index i; `act(i)` is called first, in the worker."""

    def __init__(self, count: int, act: Callable[[int], Any] = lambda i: None) -> None:
        self.count, self.act = count, act
        self.rows = gw.arange(2.0 * count).reshape(count, 2)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        self.act(index)
        return {"row": self.rows[index], "number": index, "text": str(index)}


class Stream(IterableDataset[int]):
    """The worker's share of 0, 1, .., 10."""

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        return iter(range(11) if info is None else range(info.id, 11, info.num_workers))


def plain(batch: Any) -> Any:
    """What a batch holds, as Python values."""
    if isinstance(batch, dict):
        return {name: plain(value) for name, value in batch.items()}
    return batch.tolist() if isinstance(batch, gw.Tensor) else batch


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that do not end by themselves are terminated soon."""
    monkeypatch.setattr(crew, "_PATIENCE", 0.2)


# What they make


@pytest.mark.parametrize("options", [
    {"batch_size": 4}, {"batch_size": 4, "drop_last": True}, {"batch_size": 3, "shuffle": True},
    {"batch_size": None}, {"batch_sampler": [[3, 1], [0], [5, 5]]}, {"sampler": [2, 7, 1]},
])  # fmt: skip
def test_batches_are_those_of_one_process_in_the_same_order(options: dict[str, Any]) -> None:
    def batches(workers: int) -> list[Any]:
        gw.manual_seed(3)
        loader = DataLoader(Examples(10), num_workers=workers, **options)
        return [plain(batch) for batch in loader]

    assert batches(2) == batches(0)


def test_workers_take_turns_where_a_dataset_is_gone_through() -> None:
    batches = [batch.tolist() for batch in DataLoader(Stream(), batch_size=2, num_workers=2)]
    assert batches == [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10], [9]]
    loader = DataLoader(Stream(), batch_size=2, num_workers=2, drop_last=True)
    assert [batch.tolist() for batch in loader] == batches[:5]


def test_without_order_each_batch_comes_when_it_is_made() -> None:
    def slow(index: int) -> None:
        time.sleep(0.3 if index == 0 else 0)

    loader = DataLoader(Examples(6, slow), num_workers=2, in_order=False)
    order = [int(batch["number"]) for batch in loader]
    assert sorted(order) == list(range(6)) and order[0] != 0
    loader = DataLoader(Stream(), num_workers=2, in_order=False)
    assert sorted(int(batch) for batch in loader) == list(range(11))


def test_tensors_come_in_shared_memory_with_their_layout() -> None:
    image = gw.arange(24.0).reshape(2, 3, 2, 2).contiguous(memory_format=gw.channels_last)

    def collated(_: Any) -> Any:
        base = gw.arange(6)
        wide = gw.arange(20).reshape(4, 5)[:, 1]
        weight = gw.nn.Parameter(gw.ones(2))
        return image, base, base[2:], gw.ones(1).expand(3), wide, gw.empty(0, 2), weight, base

    loader = DataLoader([0], num_workers=1, collate_fn=collated)
    (batch,) = loader
    made, base, part, wide = batch[:4]
    assert all(tensor.is_shared() for tensor in batch)
    assert made.stride() == image.stride() and gw.equal(made, image) and wide.stride() == (0,)
    base.add_(1)
    assert part.tolist() == [3, 4, 5, 6] and batch[7] is base
    assert batch[4].tolist() == [1, 6, 11, 16] and batch[5].shape == (0, 2)
    assert isinstance(batch[6], gw.nn.Parameter) and batch[6].requires_grad


def test_a_label_that_is_kept_does_not_keep_the_image() -> None:
    def collated(_: Any) -> Any:
        return gw.zeros(1 << 20), gw.zeros(3)

    ((image, label),) = DataLoader([0], num_workers=1, collate_fn=collated)
    memories = [_core.shared_place(part._storage) for part in (image, label)]
    assert all(memory is not None for memory in memories)
    assert [memory[0].nbytes for memory in memories if memory] == [4 << 20, 64]


def test_an_index_may_be_a_tensor_and_a_batch_any_object() -> None:
    loader = DataLoader(
        Examples(4), sampler=list(gw.arange(4)), num_workers=1, collate_fn=lambda rows: {1, "a"}
    )
    assert list(loader) == [{1, "a"}] * 4


def test_long_messages_both_ways_do_not_block_each_other() -> None:
    class Long(Dataset[Any]):
        def __getitems__(self, indices: list[int]) -> list[str]:
            return [str(len(indices)) * 200_000]

    order = [list(range(100_000))] * 6
    loader = DataLoader(Long(), batch_sampler=order, num_workers=1, prefetch_factor=4)
    assert [len(batch[0]) for batch in loader] == [1_200_000] * 6


# What they are told


def test_workers_know_who_they_are() -> None:
    begun = gw.zeros(2, dtype=gw.int64).share_memory_()

    class Told(Dataset[Any]):
        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> Any:
            info = get_worker_info()
            assert info is not None and info.dataset is self
            return index, info.id, info.num_workers, gw.get_num_threads()

    def begin(number: int) -> None:
        begun[number] += 1

    def batches() -> list[Any]:
        return [[part.tolist() for part in batch] for batch in loader]

    loader = DataLoader(Told(), batch_size=2, num_workers=2, worker_init_fn=begin)
    assert batches() == [[[0, 1], [0, 0], [2, 2], [1, 1]], [[2, 3], [1, 1], [2, 2], [1, 1]]]
    assert begun.tolist() == [1, 1] and get_worker_info() is None
    loader = DataLoader(Told(), 2, num_workers=2, worker_init_fn=begin, persistent_workers=True)
    assert batches() == batches() and begun.tolist() == [2, 2]


class Draws(Dataset[Any]):
    """What the generators draw first in a worker, and its seed."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> Any:
        info = get_worker_info()
        assert info is not None
        return info.seed, gw.rand(1).item(), random.random(), np.random.rand()


def test_each_worker_has_seeds_of_its_own_that_follow_the_generator() -> None:
    def rounds() -> list[list[tuple[Any, ...]]]:
        generator = gw.Generator().manual_seed(0)
        loader = DataLoader(
            Draws(), batch_size=None, num_workers=2, generator=generator, collate_fn=tuple
        )
        return [list(loader) for _ in range(2)]

    first, second = rounds()
    assert rounds() == [first, second] and first != second
    base = first[0][0]
    for number, (seed, drawn, python, numpy) in enumerate(first):
        assert seed == base + number
        assert drawn == gw.rand(1, generator=gw.Generator().manual_seed(seed)).item()
        assert python == random.Random(seed).random()
        bits = np.random.SeedSequence([number, base & 0xFFFFFFFF, base >> 32, 0])
        assert numpy == np.random.RandomState(bits.generate_state(4)).rand()


def test_workers_run_ahead_as_far_as_they_are_told() -> None:
    made = gw.zeros(20, dtype=gw.int64).share_memory_()

    def count(index: int) -> None:
        made[index] += 1

    batches = iter(DataLoader(Examples(20, count), num_workers=2, prefetch_factor=3))
    next(batches)
    end = time.monotonic() + 20
    while made.sum() < 7 and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.05)
    assert made.tolist() == [1] * 7 + [0] * 13


def test_persistent_workers_keep_their_datasets_and_begin_anew() -> None:
    class Counting(IterableDataset[int]):
        rounds = 0

        def __iter__(self) -> Iterator[int]:
            self.rounds += 1
            return iter([10 * self.rounds + i for i in range(4)])

    loader = DataLoader(Counting(), batch_size=None, num_workers=1, persistent_workers=True)
    assert list(loader) == [10, 11, 12, 13]
    assert next(iter(loader)) == 20     # and the rest of this round is left
    assert list(loader) == [30, 31, 32, 33]
    assert [next(iter(DataLoader(Counting(), None, num_workers=1))) for _ in "ab"] == [10, 10]


def test_workers_start_after_the_thread_pool_has_run() -> None:
    gw.randn(300_000).exp().sum()

    def product(index: int) -> Any:
        assert gw.get_num_threads() == 1
        return (gw.ones(200, 200) @ gw.ones(200, 200)).sum()

    (batch,) = DataLoader(range(2), 2, num_workers=1, collate_fn=lambda i: product(0))  # type: ignore[arg-type]
    assert batch == 200**3 and gw.randn(300_000).exp().sum() > 0


def test_a_worker_of_a_compiled_loop_captures_nothing() -> None:
    def entries(index: int) -> None:
        from graphwright.capture import _eval_frame

        captured[index] = len(_eval_frame.code_entries(doubled.__code__))

    def doubled(rows: Any) -> Any:
        return default_collate(rows)["row"] * 2

    captured = gw.zeros(4, dtype=gw.int64).share_memory_()
    loader = DataLoader(Examples(4, entries), batch_size=2, num_workers=1, collate_fn=doubled)

    @gw.compile
    def total(weight: gw.Tensor) -> gw.Tensor:
        found = gw.zeros(())
        for batch in loader:
            found = found + (batch * weight).sum()
        return found

    assert total(gw.ones(2)) == 56 and captured.tolist() == [0, 0, 0, 0]


STARTED = """
import sys
import graphwright as gw
from graphwright.utils.data import DataLoader, Dataset, get_worker_info

class Rows(Dataset):
    def __init__(self):
        self.rows, self.layer = gw.arange(6.0).reshape(3, 2), gw.nn.Linear(2, 1)
    def __len__(self):
        return 3
    def __getitem__(self, i):
        assert gw.get_num_threads() == 1 and get_worker_info().dataset is self
        self.rows[i] += 1
        return self.rows[i], self.layer(self.rows[i]).detach()

if __name__ == "__main__":
    rows = Rows()
    loader = DataLoader(rows, 3, num_workers=1, multiprocessing_context=sys.argv[1])
    for batch, out in loader:
        print(batch.tolist(), gw.allclose(out, rows.layer(batch)), rows.rows.is_shared())
    print(rows.rows.tolist())
    loader = DataLoader([lambda: None], num_workers=1, multiprocessing_context=sys.argv[1])
    try:
        iter(loader)
    except Exception as error:
        print(type(error).__name__)
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_workers_that_are_not_forked_share_the_tensors_of_the_dataset(
    method: str, tmp_path: Path
) -> None:
    script = tmp_path / "started.py"
    script.write_text(STARTED)
    done = subprocess.run([sys.executable, script, method], capture_output=True, text=True,
                          timeout=100, check=True)
    grown = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert done.stdout.splitlines()[:2] == [f"{grown} True True", f"{grown}"], done.stderr
    assert done.stdout.splitlines()[2] in ("PicklingError", "AttributeError")


# How they fail


class TwoParts(ValueError):
    """Cannot be made from a message."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(first, second)


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("by_index", [True, False])
@pytest.mark.parametrize(("error", "seen"), [
    (KeyError("a key"), KeyError), (OSError("a file"), OSError),
    (TwoParts("a", "b"), RuntimeError),
])  # fmt: skip
def test_a_failure_in_a_worker_is_told_with_its_number_and_place(
    error: Exception, seen: type[Exception], by_index: bool, in_order: bool
) -> None:
    class Failing(Dataset if by_index else IterableDataset):  # type: ignore[misc]
        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> Any:
            raise error

        def __iter__(self) -> Any:
            raise error

    with pytest.raises(seen) as caught:
        list(DataLoader(Failing(), num_workers=1, in_order=in_order))
    text = str(caught.value)
    assert text.startswith(f"Caught {type(error).__name__} in DataLoader worker process 0.\n")
    assert "Original Traceback" in text and "raise error" in text


def test_other_batches_come_after_a_failure() -> None:
    class Odd(Exception):
        """Has no name that another process could find."""

    def refuse(index: int) -> None:
        if index == 1:
            raise Odd("one")

    for workers in (0, 2):
        batches = iter(DataLoader(Examples(4, refuse), num_workers=workers))
        assert next(batches)["text"] == ["0"]
        with pytest.raises(RuntimeError if workers else Odd, match="one") as caught:
            next(batches)
        if workers:
            assert "Caught Odd in DataLoader worker process 1." in str(caught.value)
        assert [batch["text"] for batch in batches] == [["2"], ["3"]]


def test_what_cannot_be_sent_is_a_failure() -> None:
    def collated(rows: list[int]) -> Any:
        weight = gw.ones(1, requires_grad=True)
        return (lambda: None) if rows == [0] else weight * 2

    batches = iter(DataLoader([0, 1], num_workers=1, collate_fn=collated))
    with pytest.raises(Exception, match=r"in DataLoader worker process 0\.\nOriginal"):
        next(batches)
    with pytest.raises(RuntimeError, match="gradients do not cross processes"):
        next(batches)


def test_a_worker_that_cannot_begin_says_so() -> None:
    def begin(number: int) -> None:
        raise OSError("no file")

    loader = DataLoader(range(3), num_workers=1, worker_init_fn=begin)  # type: ignore[arg-type]
    with pytest.raises(OSError, match="Caught OSError in DataLoader worker process 0"):
        next(iter(loader))


@pytest.mark.parametrize(("end", "message"), [
    (lambda: os._exit(3), r"\(pid\(s\) \d+\) exited unexpectedly: worker process 1 of 2 .* 3$"),
    (lambda: sys.exit(4), r"\(pid\(s\) \d+\) exited unexpectedly: worker process 1 of 2 .* 4$"),
    (lambda: os.kill(os.getpid(), signal.SIGKILL),
     r"\(pid \d+\) is killed by signal: Killed\. It was worker process 1 of 2\.$"),
])  # fmt: skip
def test_a_worker_that_dies_is_reported_by_number(
    end: Callable[[], None], message: str
) -> None:
    def act(index: int) -> None:
        if index == 3:
            end()

    batches = iter(DataLoader(Examples(6, act), num_workers=2))
    assert [int(next(batches)["number"]) for _ in range(3)] == [0, 1, 2]
    for _ in range(2):
        with pytest.raises(RuntimeError, match="DataLoader worker " + message):
            next(batches)


@pytest.mark.parametrize("in_order", [True, False])
def test_a_worker_that_takes_too_long(in_order: bool, hasty: None) -> None:
    loader = DataLoader(Examples(1, lambda i: time.sleep(30)), num_workers=2, timeout=0.05,
                        in_order=in_order)
    with pytest.raises(RuntimeError, match=r"timed out after 0\.05 seconds .* worker process 0"):
        next(iter(loader))


def test_more_workers_than_cpus_are_warned_of() -> None:
    loader = DataLoader(range(3), num_workers=10_000)  # type: ignore[arg-type]
    with pytest.warns(UserWarning, match="will create 10000 worker processes"):
        loader.check_worker_number_rationality()


# How they end


def alive(pids: list[int]) -> list[int]:
    """Those of the processes that still run."""
    return [pid for pid in pids if os.path.exists(f"/proc/{pid}/cmdline")
            and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"]


def wait_for_the_end(pids: list[int]) -> None:
    end = time.monotonic() + 20
    while alive(pids) and time.monotonic() < end:
        time.sleep(0.01)
    assert alive(pids) == []


def shared_memory() -> int:
    """How many pieces of shared memory there are of ours."""
    named = sum("graphwright" in name for name in os.listdir("/dev/shm"))
    return named + Path("/proc/self/maps").read_text().count("memfd:graphwright")


class Pids(Dataset[int]):
    """The process that makes each example."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> int:
        return os.getpid()


@pytest.mark.parametrize("persistent", [False, True])
def test_workers_end_with_their_round_or_their_loader(persistent: bool) -> None:
    gc.collect()
    files, memory = len(os.listdir("/proc/self/fd")), shared_memory()
    loader = DataLoader(Pids(), num_workers=2, persistent_workers=persistent)
    pids = {int(pid) for pid in loader}
    assert len(pids) == 2 and len(alive(list(pids))) == (2 if persistent else 0)
    again = iter(loader)
    pids |= {int(next(again)) for _ in range(3)}
    del again, loader
    gc.collect()
    wait_for_the_end(list(pids))
    assert len(os.listdir("/proc/self/fd")) <= files and shared_memory() <= memory


def test_a_forked_child_does_not_ask_its_parent_s_workers() -> None:
    batches = iter(DataLoader(Pids(), num_workers=1))
    child = os.fork()
    if not child:
        try:
            next(batches)
        except RuntimeError as error:
            os._exit(7 if "another process's" in str(error) else 1)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert len(list(batches)) == 8


PROGRAM = """
import os, signal, sys, time
import graphwright as gw
from graphwright.utils.data import crew
from graphwright.utils.data import DataLoader
crew._PATIENCE = 0.2
signal.signal(signal.SIGINT, signal.default_int_handler)     # test runners may ignore it

class Examples:
    def __len__(self):
        return 8
    def __getitem__(self, i):
        os.write(1, b"%d\\n" % os.getpid())
        {wait}
        return i

loader = DataLoader(Examples(), num_workers=2, {options})
{body}
"""


def started(body: str, wait: str = "", options: str = "") -> subprocess.Popen[str]:
    code = PROGRAM.format(body=body, wait=wait, options=options)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                            stderr=subprocess.PIPE, start_new_session=True)


@pytest.mark.parametrize(("wait", "options"), [
    ("while True: pass", "timeout=0.1"),
    ("signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)",
     "timeout=0.1, persistent_workers=True"),
])  # fmt: skip
def test_the_program_ends_while_a_worker_hangs(wait: str, options: str) -> None:
    body = "try:\n    list(loader)\nexcept RuntimeError as error:\n    print('late')"
    program = started(body, wait, options)
    out, errors = program.communicate(timeout=60)
    words = out.split()     # a worker that starts late writes its number last
    assert program.returncode == 0 and "late" in words and not errors
    wait_for_the_end([int(word) for word in words if word != "late"])


def test_the_program_ends_at_once_where_workers_are_idle() -> None:
    program = started("crew._PATIENCE = 1e3\nbatches = iter(loader)\nnext(batches)\nsys.exit(5)")
    _, errors = program.communicate(timeout=60)
    assert program.returncode == 5 and not errors


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_when_the_program_is_interrupted_or_killed(sent: signal.Signals) -> None:
    body = "for batch in loader:\n    os.write(1, b'ready\\n')\n    time.sleep(30)"
    program = started(body, "time.sleep(0.2)")
    assert program.stdout is not None
    pids = {int(line) for line in iter(program.stdout.readline, "ready\n")}
    if sent is signal.SIGINT:       # as a terminal does
        os.killpg(program.pid, sent)
    else:
        program.send_signal(sent)
    _, errors = program.communicate(timeout=60)
    assert program.returncode == -sent
    assert errors.count("KeyboardInterrupt") == (sent is signal.SIGINT)
    wait_for_the_end([*pids, program.pid])


@pytest.mark.parametrize("delay", [0.0, 0.03, 0.1])
def test_an_interrupt_while_workers_start_is_not_lost(delay: float) -> None:
    program = started("print('ready', flush=True)\nfor batch in loader:\n    time.sleep(30)")
    assert program.stdout is not None
    while program.stdout.readline() != "ready\n":
        pass
    time.sleep(delay)
    os.killpg(program.pid, signal.SIGINT)
    _, errors = program.communicate(timeout=60)
    assert program.returncode == -signal.SIGINT
    assert errors.count("KeyboardInterrupt") == 1


# Options


@pytest.mark.parametrize(("context", "error"), [("nope", ValueError), (3, TypeError)])
def test_contexts_of_processes_that_there_are_none_of(
    context: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match="multiprocessing_context option should"):
        DataLoader(range(3), num_workers=1, multiprocessing_context=context)  # type: ignore[arg-type]


def test_a_context_of_python_s_own_will_do() -> None:
    import multiprocessing

    context = multiprocessing.get_context("fork")
    dataset = TensorDataset(gw.arange(4))
    loader = DataLoader(dataset, 4, num_workers=1, multiprocessing_context=context)
    assert [batch.tolist() for (batch,) in loader] == [[0, 1, 2, 3]]


@pytest.mark.parametrize("options", [
    {"timeout": -1}, {"prefetch_factor": 2}, {"persistent_workers": True}, {"num_workers": -1},
    {"multiprocessing_context": "fork"}, {"num_workers": 1, "prefetch_factor": -1},
])  # fmt: skip
def test_options_of_workers_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        DataLoader(range(3), **options)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="prefetch_factor"):
        iter(DataLoader(range(3), num_workers=1, prefetch_factor=0))  # type: ignore[arg-type]
