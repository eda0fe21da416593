"""The benchmark of GPUs, small, on the simulated one."""

from __future__ import annotations

from typing import Any

from benchmarks import gpu as benchmark


def test_each_row_checks_its_result_and_is_timed(gpu: Any) -> None:
    results = benchmark.run(benchmark.SMALL)
    assert [result.note for result in results if result.value is None] == []
    names = [result.name for result in results]
    assert len(names) == len(set(names)) == 10 + 3 + 2 + 1
    assert all(result.value > 0 for result in results)
