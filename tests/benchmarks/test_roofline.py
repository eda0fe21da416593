"""What kernels cost, counted on loop nests, and how the spans of a call are joined with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from benchmarks.kernel_costs import Cost
from benchmarks.roofline import Machine, parts_of, rows_of, step_costs
from tests.benchmarks.small import SMALL

import graphwright as gw
from graphwright.face.api import compilation_of
from graphwright.face.stage_dumps import compiled_graphs


def costs(function: Callable[..., Any], *inputs: gw.Tensor) -> dict[str, tuple[int, Cost]]:
    compiled = gw.compile(function, fullgraph=True)
    compiled(*inputs)
    ((_, artifacts),) = compiled_graphs(compilation_of(compiled).record)
    (segment,) = artifacts.programs["forward"].segments
    return step_costs(segment)


def test_pointwise_ops_and_their_buffers() -> None:
    found = costs(lambda x, y: (x * y).exp() + 1, gw.rand(100, 8), gw.rand(8))
    assert list(found.values()) == [(1, Cost(3 * 800, 4 * (800 + 8 + 800)))]


def test_a_row_that_is_read_twice_counts_once() -> None:
    ((count, cost),) = costs(lambda x: x - x.sum(-1, keepdim=True), gw.rand(50, 64)).values()
    assert (count, cost.nbytes) == (1, 2 * 4 * 50 * 64)
    assert cost.operations == 2 * 50 * 64


def test_products_of_equal_sizes_are_one_part() -> None:
    found = costs(lambda x, a, b: x @ a @ b, gw.rand(32, 64), gw.rand(64, 64), gw.rand(64, 64))
    assert found == {
        "gemm 32 x 64 x 64": (2, Cost(2 * 2 * 32 * 64 * 64, 2 * 4 * (2 * 32 * 64 + 64 * 64)))}


def test_of_a_table_the_rows_count_that_are_looked_up() -> None:
    table, rows = gw.rand(1000, 16), gw.tensor([3, 5, 7])
    ((_, cost),) = costs(lambda t, i: gw.nn.functional.embedding(i, t), table, rows).values()
    assert cost.nbytes == 4 * 2 * 3 * 16 + 8 * 3


@pytest.mark.parametrize("name", ["resnet", "lstm", "sentences"])
def test_the_parts_of_a_call_have_times_and_costs(name: str) -> None:
    parts, whole = parts_of(SMALL[name])
    assert whole > 0 and len({part.name for part in parts}) == len(parts)
    assert all(part.seconds >= 0 and part.cost.nbytes >= 0 for part in parts)
    if name == "resnet":
        convolutions = [part for part in parts if part.name.startswith("convolution")]
        assert sum(part.runs for part in convolutions) == 20
        assert all(part.cost.operations for part in convolutions)


def test_rows_say_what_bounds_a_kernel() -> None:
    machine = Machine(1e9, {1 << 20: 1e9, 1 << 30: 1e8})
    assert machine.seconds(Cost(2000, 1000), 500) == 2e-6
    assert machine.seconds(Cost(2000, 1000), 1 << 21) == 1e-5
    assert machine.rate(1 << 40) == 1e8
    whole, *kernels = rows_of(SMALL["bert"], machine)
    assert whole.name == "BERT" and whole.value is not None and whole.value > 0
    assert all(row.name.startswith("BERT: ") and "of the roofline by" in row.note
               for row in kernels)
