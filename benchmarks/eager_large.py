"""Large tensors, eagerly: every kind of op on millions of elements against PyTorch eager.

`python -m benchmarks.eager_large [TEXT..]` times the cases whose name holds one of the texts. The
results are compared first. A ratio is that of the least CPU times of calls that take turns, on one
thread each: other work on the machine disturbs it little. Beside it stands over how many threads
graphwright spreads the case when it may.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import graphwright as gw
from benchmarks import peers
from benchmarks.eager_large_cases import CASES, Case
from benchmarks.eager_large_forms import FORMS

TARGET = 1.5
ROUNDS = 4
LONGEST = 0.6   # seconds for one case
SHARED, LONG = 1.3, 1e-3    # threads that a case longer than so many seconds should be spread over


def arrays_of(case: Case) -> list[np.ndarray]:
    """The inputs of a case as NumPy arrays, the same in every run."""
    random = np.random.default_rng(0)
    return [make(random) for make in case.inputs]


def tensor_of(lib: Any, array: np.ndarray, dtype: str) -> Any:
    tensor = lib.from_numpy(array)
    floating = array.dtype.kind == "f"
    return tensor.to(getattr(lib, dtype)) if floating and dtype != str(array.dtype) else tensor


def flat(result: Any) -> list[Any]:
    """The tensors of a result, which may be a tuple."""
    return [t for r in result for t in flat(r)] if isinstance(result, tuple | list) else [result]


def disagreement(own: Any, peer: Any, exact: Callable[[], Any]) -> str:
    """What differs between two results; empty where they agree.

    Where values differ, those of `exact` decide: the peer's in float64 of the same inputs.
    """
    tolerances = {"bfloat16": 2e-2, "float16": 2e-3, "float32": 1e-4}
    for i, (a, b) in enumerate(zip(flat(own), flat(peer), strict=True)):
        kinds = [str(t.dtype).partition(".")[2] for t in (a, b)]
        if tuple(a.shape) != tuple(b.shape) or kinds[0] != kinds[1]:
            return f"{a.dtype}{tuple(a.shape)} instead of {b.dtype}{tuple(b.shape)}"
        x = np.asarray(a.detach().to(gw.float64).numpy())
        y = np.asarray(b.detach().double().numpy())
        tolerance = tolerances.get(kinds[0], 1e-9)
        if not np.allclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True):
            z = np.asarray(flat(exact())[i].detach().double().numpy())
            errors = [np.nanmax(np.abs(values - z)) for values in (x, y)]
            if not errors[0] <= errors[1]:
                return f"differs by {np.nanmax(np.abs(x - y)):.2e}"
    return ""


def seconds(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least CPU time of each call on one thread; they take turns."""
    best = dict.fromkeys(calls, float("inf"))
    end = time.perf_counter() + LONGEST
    for _ in range(ROUNDS):
        for name, call in calls.items():
            call()
            for _ in range(2):
                start = time.process_time()
                call()
                best[name] = min(best[name], time.process_time() - start)
        if time.perf_counter() > end:
            break
    return best


def spread(call: Callable[[], object]) -> float:
    """How many threads share the work of a call: its CPU time over that of the calling thread."""
    found = 1.0
    for _ in range(3):
        start, own = time.process_time(), time.thread_time()
        call()
        own = max(time.thread_time() - own, 1e-9)
        found = max(found, (time.process_time() - start) / own)
    return found


class Row:
    """One measured case."""

    def __init__(self, name: str, own: float, peer: float, threads: float, wrong: str) -> None:
        self.name, self.own, self.peer, self.threads, self.wrong = name, own, peer, threads, wrong
        self.ratio = own / peer

    @property
    def slow(self) -> bool:
        return self.ratio > TARGET or (self.threads < SHARED and self.own > LONG)

    def __str__(self) -> str:
        note = "  WRONG: " + self.wrong if self.wrong else ""
        return (f"{self.ratio:8.2f}  {self.own * 1e3:9.2f} ms {self.peer * 1e3:9.2f} ms "
                f"{self.threads:5.1f}  {self.name}{note}")


def measured(case: Case, dtype: str) -> Row:
    """Time a case in one dtype with both libraries, on one thread; then own threads."""
    torch = peers.torch()
    assert torch is not None
    threads = gw.get_num_threads()
    calls: dict[str, Callable[[], object]] = {}
    results: list[Any] = []
    for label, lib in (("own", gw), ("peer", torch)):
        tensors = [tensor_of(lib, array, dtype) for array in arrays_of(case)]
        call = case.prepare(lib, *tensors)
        results.append(call())
        calls[label] = call

    def exact() -> Any:
        tensors = [tensor_of(torch, array, dtype) for array in arrays_of(case)]
        wide = [t.double() if t.is_floating_point() else t for t in tensors]
        return case.prepare(torch, *wide)()

    wrong = "" if case.random else disagreement(results[0], results[1], exact)
    results.clear()
    gw.set_num_threads(1)
    torch.set_num_threads(1)
    try:
        times = seconds(calls)
    finally:
        gw.set_num_threads(threads)
    return Row(f"{case.name}, {dtype}", times["own"], times["peer"], spread(calls["own"]), wrong)


def rows(texts: list[str]) -> Iterator[Row]:
    for case in [*CASES, *FORMS]:
        for dtype in case.dtypes:
            name = f"{case.name}, {dtype}"
            if not texts or any(text in name for text in texts):
                yield measured(case, dtype)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.eager_large")
    parser.add_argument("texts", nargs="*", default=[])
    arguments = parser.parse_args()
    if peers.torch() is None:
        raise SystemExit("PyTorch is not installed: there is nothing to compare with")
    found = []
    for row in rows(arguments.texts):
        print(row, flush=True)
        found.append(row)
    slow = sorted((r for r in found if r.slow), key=lambda r: -r.ratio)
    print(f"\n{len(found)} cases, {len(slow)} above {TARGET} or on one thread:")
    for row in slow:
        print(row)


if __name__ == "__main__":
    main()
