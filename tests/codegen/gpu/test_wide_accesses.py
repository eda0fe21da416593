"""Which symbolic sizes have to be multiples of 16 for accesses of 16 bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.codegen.gpu.wide_accesses import deciding_sizes

from .programs import program_of

ROWS, SQUARE = gw.zeros(5, 7), gw.zeros(7, 7)


@pytest.mark.parametrize("function, inputs, wanted", [
    # s0, s1 = 5, 7 of the first input; then s2, ...
    (lambda x: x.exp(), (ROWS,), {"s0", "s1"}),             # one contiguous axis of s0*s1
    (lambda x: x.t() + 1, (ROWS,), {"s0", "s1"}),
    (lambda x: x.sum(1), (ROWS,), {"s1"}),                  # each row begins at a multiple of s1
    (lambda x: x.sum(0), (ROWS,), {"s1"}),
    (lambda x: x[:, 1:] * 2, (ROWS,), {"s1"}),              # what is loaded is narrow anyway
    (lambda x: x[1:].sum(1), (ROWS,), {"s1"}),
    (lambda x, y: x + y, (ROWS, gw.zeros(7)), {"s1"}),    # so are s0*s1 elements multiples
    (lambda x, y: x @ y, (ROWS, gw.zeros(7, 6)), {"s1", "s3"}),     # not the number of rows
    (lambda x, y: x.t() @ y, (ROWS, gw.zeros(5, 6)), {"s1", "s3"}),
    (lambda x: x @ gw.ones(7, 6), (gw.zeros(5, 7),), set()),
    (lambda x: x.reshape(-1, 2, 16).exp(), (gw.zeros(5, 32),), set()),
])
def test_sizes_that_decide(
    function: Callable[..., Any], inputs: tuple[Any, ...], wanted: set[str]
) -> None:
    program = program_of(function, *inputs, dynamic=True)
    assert set().union(*map(deciding_sizes, program.steps)) == wanted
