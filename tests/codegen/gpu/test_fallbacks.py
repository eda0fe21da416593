"""Which ops GPU programs have, and which not: a set with a reason for each."""

from __future__ import annotations

import operator
import random
from collections.abc import Sequence
from typing import Any

import pytest

import graphwright as gw
from graphwright.codegen.gpu.build import build_gpu_program, prepared
from graphwright.codegen.gpu.fallbacks import FALLBACKS, GENERATED, fallback_reason
from graphwright.codegen.gpu.rules import gpu_rules
from graphwright.codegen.lowering.graph import needs_eager
from graphwright.ir.lowered_graph import CannotLower
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.ops.table import TABLE

from ...ir.test_every_op import CASES, split_arguments
from ...runtime.samples import ALL
from .programs import graph_of


def has_form(name: str) -> bool:
    """Whether an op has a GPU form of its own, or parts."""
    op = TABLE[name]
    if op.functional is not None and op.is_inplace:
        return has_form(op.functional.name)
    return name in gpu_rules() or op.is_view or op.decompose is not None


def test_every_op_has_a_form_or_a_reason() -> None:
    known = {*ALL, *TABLE}
    missing = {name for name in known if not has_form(name)}
    assert missing - {"copy_"} == {*FALLBACKS, *GENERATED}


def left_out(entry: Any, sample: Any) -> set[str]:
    """The ops of a sample that are no part of its GPU programs."""
    inputs, fn = split_arguments(entry, sample, "contiguous", gw.float32)
    try:
        module, fakes = graph_of(fn, [x.detach() for x in inputs])
    except (CannotLower, DataDependent):
        return set()
    module = prepared(module, fakes)
    eager = needs_eager(module, gpu_rules())
    if not eager:
        build_gpu_program(module, fakes)
    return {node.target.name for node in eager if node.target is not operator.getitem}


def check_samples(samples: Sequence[Any]) -> None:
    assert samples
    for param in samples:
        assert left_out(*param.values) <= {*FALLBACKS}, param.id


def test_samples_leave_out_nothing_else(draw: random.Random) -> None:
    check_samples(draw.sample(CASES, k=150))


@pytest.mark.slow
def test_no_sample_leaves_out_anything_else() -> None:
    check_samples(CASES)


def test_the_reason_names_the_op_or_the_dtype() -> None:
    real, numbers = gw.ones(2, 2), gw.ones(2, dtype=gw.complex64)
    assert "LAPACK" in str(fallback_reason(TABLE["linalg_det"], (real,)))
    assert fallback_reason(TABLE["cat"], ((real, real), 0)) is None
    assert fallback_reason(TABLE["cat"], ((numbers, numbers), 0)) == (
        "complex64 has no arithmetic in GPU programs")
