"""Programs of many operations: kernels and native functions stay short enough to be compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.codegen.emit import walker
from graphwright.codegen.emit.native import c_text, llvm_text
from graphwright.runtime.ops import functions as ops

from .lowered import check, program_of, tensor

RNG = np.random.default_rng(3)


def waves(count: int, x: Any) -> Any:
    for _ in range(count):
        x = ops.sin(ops.add(ops.mul(x, 1.01), 0.5))
    return x


def test_a_long_chain_is_cut_into_kernels() -> None:
    x = RNG.standard_normal(10).astype(np.float32)
    short, _ = program_of(lambda x: waves(40, x), [tensor(x)])
    long, _ = program_of(lambda x: waves(400, x), [tensor(x)])
    assert len(short.steps) == 1
    assert 5 <= len(long.steps) <= 10
    check(lambda x: waves(100, x), [x])


def test_the_kernels_of_a_long_program_are_spread_over_functions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(walker, "MOST_LINES", 100)
    x = RNG.standard_normal(10).astype(np.float32)
    short, _ = program_of(lambda x: waves(20, x), [tensor(x)])
    long, _ = program_of(lambda x: waves(200, x), [tensor(x)])
    for text in (llvm_text, c_text):
        assert "part0" not in text(short)
        assert "part1" in text(long)


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_every_part_runs_and_can_refuse(
    backend: str, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(walker, "MOST_LINES", 100)

    def last(x: Any, index: Any) -> Any:
        y = waves(150, x)
        return y, gw.index_select(waves(40, y), 0, index)

    compiled = gw.compile(last, backend=backend, fullgraph=True)
    x = gw.randn(12)
    good, bad = gw.tensor([3, 11]), gw.tensor([3, 12])
    for ours, eager in zip(compiled(x, good), last(x, good), strict=True):
        gw.testing.assert_close(ours, eager, rtol=1e-3, atol=1e-3)
    with pytest.raises(IndexError):
        last(x, bad)
    with pytest.raises(IndexError):
        compiled(x, bad)
