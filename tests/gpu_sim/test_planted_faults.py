"""Mistakes in Triton kernels and in their launches: found, with instruction and thread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("triton")

from . import triton_kernels as kernels
from .compiled import Kernel, Offset
from .fake_driver import FakeDriver
from .session import DriverError


def planted(what: str) -> tuple[Any, tuple[int, ...], list[Any], int | None]:
    """A kernel, its grid, its arguments and its shared memory, with one mistake."""
    x, y = np.ones((4, 1001), np.float32), np.zeros((4, 1001), np.float32)
    rows = {"x": "*fp32", "y": "*fp32", "n": "i32"}
    plain = Kernel(kernels.doubled_rows, rows, {"B": 1024})
    claimed = Kernel(kernels.doubled_rows, rows, {"B": 1024}, divisible="x y n")
    unmasked = Kernel(kernels.doubled_rows_without_mask, rows, {"B": 1024})
    tile = Kernel(kernels.normalized_rows, {**rows, "R": "i32"}, {"BR": 8, "B": 128})
    checked = Kernel(kernels.gathered_rows, {**rows, "index": "*i64", "D": "i32"}, {"B": 128},
                     debug=True)
    small, few = np.ones((21, 100), np.float32), np.zeros((2, 100), np.float32)
    return {
        "no mask": (unmasked, (4,), [x, y, 1001], None),
        "a row length that 16 does not divide": (claimed, (4,), [x, y, 1001], None),
        "a program too many": (plain, (5,), [x, y, 1001], None),
        "a narrower buffer": (plain, (4,), [x.astype(np.float16), y, 1001], None),
        "a null pointer": (plain, (4,), [x, 0, 1001], None),
        "a view that is not aligned": (claimed, (4,), [Offset(x, 4), y, 992], None),
        "no shared memory": (tile, (3,), [small, small.copy(), 21, 100], 0),
        "an index out of range": (checked, (2,), [small, np.array([3, 21]), few, 21, 100],
                                  None),
    }[what]


@pytest.mark.parametrize("what, message", [
    ("no mask", r"doubled_rows_without_mask, line \d+: @?.*ld\.global\S* .*illegal address"),
    ("a row length that 16 does not divide", r"line \d+: .*ld\.global\.v\d.*misaligned address"),
    ("a program too many", r"line \d+: .*ld\.global.*illegal address.*block \(4, 0, 0\)"),
    ("a narrower buffer", r"line \d+: .*ld\.global.*illegal address"),
    ("a null pointer", r"line \d+: .*st\.global.*a null pointer"),
    ("a view that is not aligned", r"line \d+: .*ld\.global\.v\d.*misaligned address"),
    ("no shared memory", r"normalized_rows, line \d+: .*shared address \d+ of \d+ bytes"),
    ("an index out of range", r"assertion failed: index out of range, thread"),
])
def test_planted_mistakes_are_found(driver: FakeDriver, what: str, message: str) -> None:
    kernel, grid, arguments, shared = planted(what)
    with pytest.raises(DriverError, match=message):
        kernel.run(driver, 80, grid, arguments, shared)
