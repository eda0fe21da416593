"""The thread pool: deterministic chunks, nesting, concurrent callers, forks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from graphwright.runtime import _core
from graphwright.runtime.tensor import dtypes


class Plain(_core.TensorBase):
    __slots__ = ()


def launcher(kernels: _core.CodeObject, name: str, n: int, **changes: object) -> _core.Launcher:
    arguments: dict[str, object] = {
        "run": kernels.address(name),
        "shapes": 0,
        "keepalive": kernels,
        "n_inputs": 2,
        "outputs": [(dtypes.int64, (n,), None)],
        "arena_bytes": 0,
        "symbols": [(0, -1), (1, -1)],
        "rng_ops": 0,
        "mutated": [],
        "messages": [],
        "cls": Plain,
        "release_gil": True,
        "single": True,
    }
    return _core.Launcher(**{**arguments, **changes})  # type: ignore[arg-type]


@pytest.fixture(params=[1, 2, 5])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    old = _core.set_num_threads(request.param)
    yield request.param
    _core.set_num_threads(old)


def chunk_ends(kernels: _core.CodeObject, n: int, grain: int) -> list[int]:
    ends = launcher(kernels, "chunks", n)(n, grain)._nd
    assert (ends > np.arange(n)).all() and (np.diff(ends) >= 0).all()
    return sorted(set(ends.tolist()))


@pytest.mark.parametrize(
    ("n", "grain"), [(1, 1), (10, 3), (1000, 1), (1000, 64), (7, 100), (99999, 7)]
)
def test_chunks(kernels: _core.CodeObject, threads: int, n: int, grain: int) -> None:
    ends = chunk_ends(kernels, n, grain)
    assert ends[-1] == n
    most = 1 if threads == 1 else 4 * threads
    assert len(ends) == min(most, -(-n // grain))
    assert all(end % grain == 0 for end in ends[:-1])
    lengths = np.diff([0, *ends])
    assert lengths.max() - lengths[:-1].min(initial=lengths.max()) <= grain
    for _ in range(50):
        assert chunk_ends(kernels, n, grain) == ends


def test_nested_regions_are_serial(kernels: _core.CodeObject, threads: int) -> None:
    nest = launcher(kernels, "nest", 5000, n_inputs=0, symbols=[])
    for _ in range(20):
        ends = nest()._nd.reshape(50, 100)
        assert (ends == ends[0]).all() and ends[0, -1] == 100


def test_concurrent_callers(kernels: _core.CodeObject) -> None:
    old = _core.set_num_threads(4)
    expected = chunk_ends(kernels, 5000, 10)
    failures = []

    def work() -> None:
        for _ in range(200):
            if chunk_ends(kernels, 5000, 10) != expected:
                failures.append("other chunks")

    try:
        callers = [threading.Thread(target=work) for _ in range(4)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
    finally:
        _core.set_num_threads(old)
    assert not failures


def test_after_a_fork(kernels: _core.CodeObject) -> None:
    old = _core.set_num_threads(3)
    try:
        expected = chunk_ends(kernels, 5000, 10)
        for _ in range(5):
            child = os.fork()
            if child == 0:
                good = all(chunk_ends(kernels, 5000, 10) == expected for _ in range(20))
                os._exit(0 if good else 1)
            assert os.waitpid(child, 0)[1] == 0
            assert chunk_ends(kernels, 5000, 10) == expected
    finally:
        _core.set_num_threads(old)


COUNT = "from graphwright.runtime import _core; print(_core.num_threads())"


def count_in_a_process(program: str, setting: str | None) -> int:
    environment = {k: v for k, v in os.environ.items() if k != "GRAPHWRIGHT_NUM_THREADS"}
    if setting is not None:
        environment["GRAPHWRIGHT_NUM_THREADS"] = setting
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.parametrize("setting", ["3", "0", "many", ""])
def test_the_environment_decides(setting: str) -> None:
    expected = 3 if setting == "3" else count_in_a_process(COUNT, None)
    assert count_in_a_process(COUNT, setting) == expected


def test_affinity_limits_the_threads() -> None:
    one = min(os.sched_getaffinity(0))
    assert count_in_a_process(f"import os; os.sched_setaffinity(0, [{one}]); {COUNT}", None) == 1


def test_counts_out_of_range() -> None:
    for bad in (0, -1, 100_000):
        with pytest.raises(ValueError, match="number of threads"):
            _core.set_num_threads(bad)


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1_000_003])
def test_copy(n: int) -> None:
    source = np.random.default_rng(n).integers(0, 255, n, np.uint8)
    target = np.zeros(n + 1, np.uint8)
    _core.copy_bytes(target[:n], source)
    assert (target[:n] == source).all() and target[n] == 0
    with pytest.raises(ValueError, match="differ in size"):
        _core.copy_bytes(target, source)
    with pytest.raises((ValueError, TypeError, BufferError)):
        _core.copy_bytes(b"x" * n, source)
