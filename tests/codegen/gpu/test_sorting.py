"""Sorting of rows of any length, and binary search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.codegen.gpu.sorting import BLOCK, LONGEST

from ..lowered import tensor
from .programs import check_eager, program_of, tiles
from .simulated import run_program

RNG = np.random.default_rng(3)


def compared(function: Any, *inputs: Any, dynamic: bool = False) -> None:
    pytest.importorskip("triton")
    check_eager(function, *inputs, tolerance=0, dynamic=dynamic)


def with_ties(*shape: int, dtype: Any = gw.float32) -> Any:
    values = tensor(RNG.integers(0, 90, shape).astype("f4"))
    if dtype.is_floating_point:
        flat = values.view(-1)
        flat[::17], flat[5::19], flat[3::23] = float("nan"), float("inf"), float("-inf")
    return values.to(dtype)


@pytest.mark.parametrize("descending", [False, True], ids=["ascending", "descending"])
def test_rows_of_several_blocks(descending: bool) -> None:
    compared(lambda x: gw.sort(x, -1, descending), with_ties(2, 5 * BLOCK - 7))


@pytest.mark.parametrize("dtype", [gw.bool, gw.int8, gw.bfloat16, gw.float64])
def test_columns_of_every_kind(dtype: Any) -> None:
    compared(lambda x: gw.argsort(x, 0), with_ties(BLOCK + 3, 2, dtype=dtype))


def test_rows_of_symbolic_length() -> None:
    compared(lambda x: gw.sort(x, -1), with_ties(2, BLOCK + 40), dynamic=True)


def test_the_first_and_the_k_th() -> None:
    x = tensor(RNG.permutation(3 * BLOCK).astype("f4").reshape(2, -1))
    compared(lambda x: (*gw.topk(x, 5), *gw.topk(x, 2, 0, False), *gw.kthvalue(x, BLOCK)), x)


def test_too_long_a_row_of_symbolic_length_is_reported() -> None:
    program = program_of(lambda x: gw.argsort(x), gw.zeros(4), dynamic=True)
    (site,) = program.checks
    assert site.bound == LONGEST + 1 and "fewer than" in site.message


def test_searches_in_one_row_and_in_rows() -> None:
    values = tensor(RNG.integers(-1, 11, (4, 30)))
    row = np.sort(RNG.integers(0, 9, 40))
    rows = RNG.integers(0, 9, (4, 40))
    order = np.argsort(rows, -1, kind="stable")

    def both(s: Any, v: Any, o: Any = None) -> Any:
        return gw.searchsorted(s, v, sorter=o), gw.searchsorted(s, v, right=True, sorter=o)
    compared(both, tensor(row), values)
    compared(both, tensor(np.sort(rows, -1)), values)
    compared(both, tensor(rows), values, tensor(order))
    compared(lambda s, v: gw.bucketize(v, s, out_int32=True), tensor(row.astype("f4")), values)
    compared(lambda s: (gw.searchsorted(s, 4), gw.searchsorted(s[:0], 4)), tensor(row))


def test_a_search_is_a_loop_over_the_bits_of_the_position() -> None:
    assert tiles(lambda s, v: gw.searchsorted(s, v), gw.zeros(100), gw.zeros(50)) == """\
kernel k0_search_positions: i in tiles of 64 (50)
    t1 = arg1[i]
    t4 = search t3 = arg0[t2] over t2 in 100: ((t3 < t1) | (not(isnan(t3)) & isnan(t1)))
    out0[i] = t4
"""


def test_a_sorter_out_of_range_is_reported() -> None:
    pytest.importorskip("triton")
    row, order = np.arange(4), np.array([0, 1, 2, 9])
    program = program_of(lambda s, o: gw.searchsorted(s, 2, sorter=o), tensor(row), tensor(order))
    _, device = run_program(program, [row, order])
    assert (int(device.error[0]) & ((1 << 53) - 1)) - (1 << 52) == 9
