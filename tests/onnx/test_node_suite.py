"""The onnx library's tests for backends pass, but for those with a reason."""

from __future__ import annotations

import random

import pytest
from tests.onnx.suite import REASONS, Case, cases, outcome, reason

pytest.importorskip("onnx", reason="the onnx library is not installed")

SEED = 20


def wrong(tests: list[Case], compiled: bool) -> dict[str, str]:
    """What the tests say that neither pass nor have a reason, by name."""
    found = {case.name: outcome(case, compiled) for case in tests if not reason(case)}
    return {name: text for name, text in found.items() if text is not None}


def pytorch() -> list[Case]:
    return [*cases("pytorch-converted"), *cases("pytorch-operator")]


@pytest.mark.parametrize(("compiled", "count"), [(False, 400), (True, 40)])
def test_a_sample_of_the_nodes(compiled: bool, count: int) -> None:
    assert wrong(random.Random(SEED).sample(cases("node"), count), compiled) == {}


@pytest.mark.parametrize(("compiled", "count"), [(False, 117), (True, 20)])
def test_models_of_pytorch(compiled: bool, count: int) -> None:
    assert wrong(random.Random(SEED).sample(pytorch(), count), compiled) == {}


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("compiled", [False, True])
def test_all(compiled: bool) -> None:
    nodes = cases("node")
    assert wrong([*nodes, *pytorch()], compiled) == {}
    assert sum(not reason(case) for case in nodes) >= 1400


@pytest.mark.slow
def test_reasons_are_needed() -> None:
    """A test with a reason fails, but for random numbers, which may be those expected."""
    listed = [case for case in cases("node") if reason(case)]
    assert {reason(case) for case in listed} == set(REASONS.values())
    passing = {case.name for case in listed if outcome(case, compiled=False) is None}
    assert all("bernoulli" in name for name in passing)
