"""Every public op on few elements, and what surrounds ops, against PyTorch eager.

`python -m benchmarks.sweep [WORDS..]` prints the cases whose names contain one of the words, the
slowest compared with PyTorch first; without words all of them, and how many are slower. The ops'
arguments are the tests' samples. A case is timed on both in turns, and the best of many short
samples counts: what disturbs a machine only ever adds.
"""

from __future__ import annotations

import argparse
import gc
import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from tests.runtime.samples import ALL, Arr, OpSamples, Sample

import graphwright as gw
from benchmarks import argument_forms, peers, surroundings
from graphwright.runtime.ops import functions as ops

Call = Callable[[], object]
MODES = ("plain", "recorded", "with backward")
SAMPLE_SECONDS = 2e-4
REFUSALS = (TypeError, RuntimeError, ValueError, IndexError, AttributeError)
OPTIMISERS = "_step_"


@dataclass(frozen=True)
class Compared:
    """Microseconds of one case in both libraries."""

    name: str
    mode: str
    own: float
    torch: float

    @property
    def ratio(self) -> float:
        return self.own / self.torch

    def __str__(self) -> str:
        times = f"{self.own:9.2f} {self.torch:9.2f} us"
        return f"{self.ratio:6.2f}x {times}  {self.name} ({self.mode})"


def in_turns(own: Call, torch: Call, rounds: int) -> tuple[float, float]:
    """The best time of each in microseconds per call."""
    calls = (own, torch)
    repeats = [_repeats(call) for call in calls]
    best = [math.inf, math.inf]
    for _ in range(rounds):
        for i, call in enumerate(calls):
            best[i] = min(best[i], _sample(call, repeats[i]))
    return best[0] * 1e6, best[1] * 1e6


def _sample(call: Call, repeats: int) -> float:
    loop = range(repeats)
    start = time.perf_counter()
    for _ in loop:
        call()
    return (time.perf_counter() - start) / repeats


def _repeats(call: Call) -> int:
    repeats = 1
    while (seconds := _sample(call, repeats) * repeats) < SAMPLE_SECONDS / 2:
        repeats *= 2
    return max(1, round(repeats * SAMPLE_SECONDS / seconds))


def _found(lib: Any, entry: OpSamples) -> Any:
    """The function of that name in a library, wherever it is; None where there is none."""
    if entry.torch == "":
        return None
    anywhere = (lib.nn.functional, lib, lib.special, lib.linalg, lib.Tensor)
    for place in (lib, lib.Tensor) if entry.torch else anywhere:
        function = getattr(place, entry.name, None)
        if function is not None:
            return function
    return None


def _argument(lib: Any, value: Any, salt: str, leaves: list[Any] | None) -> Any:
    """`value` for a library: arrays become tensors, and leaves where those are collected."""
    if isinstance(value, Arr):
        array = value.values(salt)
        if value.kind == "complex":
            array = array.astype(np.complex64)
        floating = value.kind == "float"
        tensor = lib.from_numpy(np.array(array.astype(np.float32) if floating else array))
        if leaves is not None and value.grad and value.kind in ("float", "complex"):
            leaves.append(tensor.requires_grad_())
        return tensor
    if isinstance(value, gw.dtype):
        return getattr(lib, value.name)
    if isinstance(value, list | tuple):
        return type(value)(_argument(lib, item, salt, leaves) for item in value)
    return value


def _tensors(out: Any) -> Iterator[Any]:
    for item in out if isinstance(out, list | tuple) else (out,):
        if getattr(item, "requires_grad", False):
            yield item


def _backward(lib: Any, call: Call, leaves: list[Any]) -> Call | None:
    """Forward, and backward from the first output that has a history; None where none has."""
    found = list(_tensors(call()))
    if not found or not leaves:
        return None
    gradient = lib.ones_like(found[0]).detach()

    def run() -> object:
        for leaf in leaves:
            leaf.grad = None
        return next(_tensors(call())).backward(gradient)

    return run


def case(lib: Any, entry: OpSamples, sample: Sample, mode: str) -> Call | None:
    """The call in one library; None where it does not exist there or has no gradient."""
    function = _found(lib, entry)
    if function is None:
        return None
    leaves: list[Any] | None = None if mode == "plain" else []
    args = [_argument(lib, value, entry.name, leaves) for value in sample.args]
    kwargs = {k: _argument(lib, v, entry.name, leaves) for k, v in sample.kwargs.items()}

    def call() -> object:
        return function(*args, **kwargs)

    call()
    if leaves is None:
        return call
    if not leaves or not list(_tensors(call())):
        return None
    return call if mode == "recorded" else _backward(lib, call, leaves)


def op_cases(words: list[str]) -> Iterator[tuple[str, str, Callable[[Any], Call | None]]]:
    """name, mode and maker of the calls of every op with a sample."""
    for entry in ALL.values():
        if entry.name not in dir(ops) or OPTIMISERS in entry.name:
            continue
        for number, sample in enumerate(entry.samples):
            if 0 in [size for arr in sample.args if isinstance(arr, Arr) for size in arr.shape]:
                continue
            name = f"{entry.name}-{number}"
            if words and not any(word in name for word in words):
                continue
            for mode in MODES:
                yield name, mode, partial(case, entry=entry, sample=sample, mode=mode)


def other_cases(words: list[str]) -> Iterator[tuple[str, str, Callable[[Any], Call | None]]]:
    """Attributes, indexing, creation, modules, losses, optimisers; calls in all their forms."""
    for name, make in (surroundings.CASES | argument_forms.CASES).items():
        if not words or any(word in name for word in words):
            yield name, "plain", make


def _made(make: Callable[[Any], Call | None], lib: Any) -> Call | None:
    """The call, tried once; None where the library refuses these arguments."""
    try:
        call = make(lib)
        if call is not None:
            call()
    except REFUSALS:
        return None
    return call


def compare(words: list[str], rounds: int) -> tuple[list[Compared], list[str]]:
    """All figures, and the cases that only one of both has or takes such arguments for."""
    torch = peers.torch()
    if torch is None:
        raise SystemExit("the sweep compares with PyTorch, which is not installed")
    figures, alone = [], []
    gc.disable()
    for name, mode, make in (*op_cases(words), *other_cases(words)):
        own, theirs = _made(make, gw), _made(make, torch)
        if own is None or theirs is None:
            if own is not theirs:
                alone.append(f"{name} ({mode})")
            continue
        figures.append(Compared(name, mode, *in_turns(own, theirs, rounds)))
    gc.enable()
    return figures, alone


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep")
    parser.add_argument("words", nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--above", type=float, default=1.0, help="list ratios from here on")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    figures, alone = compare(arguments.words, arguments.rounds)
    for figure in sorted(figures, key=lambda f: -f.ratio):
        if figure.ratio >= arguments.above or arguments.words:
            print(figure)
    for mode in MODES:
        ratios = [f.ratio for f in figures if f.mode == mode]
        slower = sum(ratio > 1 for ratio in ratios)
        if ratios:
            middle = float(np.median(ratios))
            print(f"{mode}: {slower} of {len(ratios)} slower than PyTorch, median {middle:.2f}x")
    print(f"not compared: {len(alone)}", *alone if arguments.words else ())


if __name__ == "__main__":
    main()
