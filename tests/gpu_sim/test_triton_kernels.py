"""Triton's kernels, compiled without a device, launched through the driver, against NumPy.

All of them run by `make gpu-sim`; every day a few are drawn by a seed that is printed.
"""

from __future__ import annotations

import random
import zlib

import numpy as np
import pytest

pytest.importorskip("triton")
pytest.importorskip("scipy")

from .compiled import Tile
from .fake_driver import FakeDriver
from .ptx.text import parse
from .ptx.values import Array
from .session import Session
from .test_scalar_forms import FORMS
from .triton_cases import CASES, Case

SAMPLES, DRAWN = 4, 4
EVERY = [(name, arch) for name, case in CASES.items() for arch in case.archs]


def check(driver: FakeDriver, name: str, case: Case, arch: int) -> None:
    """Run a case and compare each output, relative to the largest value."""
    arguments = case.arguments(np.random.default_rng(zlib.crc32(name.encode())))
    wanted = case.expected(*arguments)
    case.kernel.run(driver, arch, case.grid, arguments)
    arrays: list[Array] = [one.array if isinstance(one, Tile) else one for one in arguments
                           if isinstance(one, np.ndarray | Tile)]
    for got, want in zip(arrays[-len(wanted):], wanted, strict=True):
        want = np.asarray(want)
        if case.tolerance == 0:
            np.testing.assert_array_equal(got, want.astype(got.dtype), err_msg=f"{name} {arch}")
            continue
        error = np.abs(got.astype(np.float64) - want).max()
        assert error <= case.tolerance * max(1.0, np.abs(want).max()), f"{name} {arch}: {error}"
    made = case.kernel.compile(arch)
    assert [one.name for one in driver.launches] == [made.name]
    session = Session(driver)
    assert session.parameters(session.function(made.ptx, made.name)) == driver.program(
        made.ptx.encode()).parameters(made.name)


@pytest.mark.slow
@pytest.mark.parametrize("name, arch", EVERY)
def test_kernels(driver: FakeDriver, name: str, arch: int) -> None:
    """A form that `forms.txt` lacks has no test of its own: it belongs there."""
    check(driver, name, CASES[name], arch)
    functions = parse(CASES[name].kernel.compile(arch).ptx).functions.values()
    used = {".".join((i.opcode, *i.modifiers)) for one in functions for i in one.code}
    assert sorted(used - set(FORMS)) == []


@pytest.mark.parametrize("part", range(SAMPLES))
def test_a_sample_of_the_kernels(driver: FakeDriver, part: int) -> None:
    """Of each part of the list a few, on sm_80 where they run there."""
    seed = random.randrange(1 << 30)
    print("seed", seed)
    names = sorted(CASES)[part::SAMPLES]
    for name in random.Random(seed).sample(names, DRAWN):
        driver.clear()
        check(driver, name, CASES[name], CASES[name].archs[0])


