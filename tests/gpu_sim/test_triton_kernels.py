"""Triton's kernels, compiled without a device and interpreted, against NumPy.

All of them run by `make gpu-sim`; every day a few are drawn by a seed that is printed.
"""

from __future__ import annotations

import random
import zlib
from typing import Any

import numpy as np
import pytest

pytest.importorskip("triton")
pytest.importorskip("scipy")

from . import triton_kernels as kernels
from .forms import EMITTED
from .ptx.machine import program
from .ptx.values import Fault
from .triton_cases import CASES, Buffer, Case, Kernel

SAMPLES, DRAWN = 4, 2
EVERY = [(name, arch) for name, case in CASES.items() for arch in case.archs]


def check(name: str, case: Case, arch: int) -> None:
    """Run a case and compare each output, relative to the largest value."""
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    arguments = [one.make(generator) if isinstance(one, Buffer) else one for one in case.arguments]
    wanted = case.expected(*arguments)
    case.kernel.run(arch, case.grid, arguments)
    outputs = [array for one, array in zip(case.arguments, arguments, strict=True)
               if isinstance(one, Buffer) and one.draw is None]
    for got, want in zip(outputs, wanted, strict=True):
        if case.tolerance == 0:
            np.testing.assert_array_equal(got, want.astype(got.dtype), err_msg=f"{name} {arch}")
        else:
            error = np.abs(got.astype(np.float64) - want).max()
            limit = case.tolerance * max(1.0, np.abs(want).max())
            assert error <= limit, f"{name} {arch}: {error}"


@pytest.mark.slow
@pytest.mark.parametrize("name, arch", EVERY)
def test_kernels(name: str, arch: int) -> None:
    """A form that `forms.py` lacks has no test of its own: it belongs there."""
    check(name, CASES[name], arch)
    module = program(CASES[name].kernel.compile(arch).asm["ptx"]).module
    used = {".".join((i.opcode, *i.modifiers))
            for one in module.functions.values() for i in one.code}
    assert sorted(used - set(EMITTED)) == []


@pytest.mark.parametrize("part", range(SAMPLES))
def test_a_sample_of_the_kernels(draw: random.Random, part: int) -> None:
    """Of each part of the list a few, on sm_80 where they run there."""
    for name in draw.sample(sorted(CASES)[part::SAMPLES], DRAWN):
        check(name, CASES[name], CASES[name].archs[0])


X, ROWS = np.ones((4, 1001), np.float32), {"x": "*fp32", "y": "*fp32", "n": "i32"}
SMALL = np.ones((21, 100), np.float32)
DOUBLED = kernels.doubled_rows, ROWS, {"B": 1024, "MASKED": True}
MISTAKES: dict[str, tuple[tuple[Any, ...], str | None, int, list[Any], str]] = {
    "no mask": ((*DOUBLED[:2], {"B": 1024, "MASKED": False}), None, 4, [X, X, 1001],
                r"doubled_rows, line \d+: @?.*ld\.global\S* .*illegal address"),
    "a row length that 16 does not divide": (DOUBLED, "x y n", 4, [X, X, 1001],
                                             r"line \d+: .*ld\.global\.v\d.*misaligned address"),
    "a program too many": (DOUBLED, None, 5, [X, X, 1001],
                           r"line \d+: .*ld\.global.*illegal address.*block \(4, 0, 0\)"),
    "a narrower buffer": (DOUBLED, None, 4, [X.astype(np.float16), X, 1001],
                          r"line \d+: .*ld\.global.*illegal address"),
    "a null pointer": (DOUBLED, None, 4, [X, 0, 1001], r"line \d+: .*st\.global.*a null pointer"),
    "a view that is not aligned": (DOUBLED, "x y n", 4, [(X.copy(), 4), X, 992],
                                   r"line \d+: .*ld\.global\.v\d.*misaligned address"),
    "no shared memory": ((kernels.normalized_rows, {**ROWS, "R": "i32"}, {"BR": 8, "B": 128}),
                         None, 3, [SMALL, SMALL, 21, 100],
                         r"normalized_rows, line \d+: .*shared address \d+ of \d+ bytes"),
    "an index out of range": ((kernels.gathered_rows, {**ROWS, "index": "*i64", "D": "i32"},
                               {"B": 128}), None, 2, [SMALL, np.array([3, 21]), SMALL, 21, 100],
                              r"assertion failed: index out of range, thread"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_in_kernels_and_launches_are_found(mistake: str) -> None:
    """With the instruction and the thread."""
    kernel, divisible, programs, arguments, message = MISTAKES[mistake]
    arguments = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
    options = {"debug": True} if "index" in mistake else {}
    with pytest.raises(Fault, match=message):
        Kernel(*kernel, divisible, options).run(80, (programs,), arguments,
                                                0 if "shared" in mistake else None)
