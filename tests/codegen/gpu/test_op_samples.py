"""Every op's samples, as GPU programs on the simulator, give what the CPU's eager kernels give."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.codegen.gpu.build import prepared
from graphwright.codegen.gpu.rules import gpu_rules
from graphwright.codegen.lowering.graph import needs_eager
from graphwright.ir.lowered_graph import CannotLower
from graphwright.runtime.errors import DataDependent

from ...ir.test_every_op import CASES, split_arguments
from .programs import check_eager, graph_of

SAMPLED = 12
TOLERANCES = {"float32": 1e-4, "float64": 1e-8, "bfloat16": 0.02, "float16": 0.01}
UNSOUND = frozenset({"max_pool_backward"})
"""Ops whose samples no forward pass gives: indices outside of their windows."""


@pytest.fixture(autouse=True)
def needs_triton() -> None:
    pytest.importorskip("triton")


def check_sample(entry: Any, sample: Any, dtype: str) -> bool:
    """Whether the sample is one GPU program, which is then compared with the CPU: it is of the
    dtype, and its shapes are known."""
    if entry.name in UNSOUND or (dtype.endswith("float16") and not entry.halves):
        return False
    with np.errstate(all="ignore"):
        inputs, fn = split_arguments(entry, sample, "contiguous", getattr(gw, dtype))
        inputs = [x.detach() for x in inputs]
        try:
            module, fakes = graph_of(fn, inputs)
        except (CannotLower, DataDependent):
            return False
        if needs_eager(prepared(module, fakes), gpu_rules()):
            return False
        check_eager(fn, *inputs, tolerance=TOLERANCES[dtype])
    return True


def test_drawn_samples(draw: random.Random) -> None:
    drawn = draw.sample(CASES, k=len(CASES))
    made = 0
    while made < SAMPLED:
        param = drawn.pop()
        print(param.id)
        made += check_sample(*param.values, "float32")


@pytest.mark.slow
@pytest.mark.parametrize(("entry", "sample"), CASES)
def test_a_sample(draw: random.Random, entry: Any, sample: Any) -> None:
    dtype = draw.choice(list(TOLERANCES))
    print(dtype)
    check_sample(entry, sample, dtype)
