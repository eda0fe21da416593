"""Random programs run plainly and captured: same results, exceptions and side effects."""

from __future__ import annotations

import random

import hypothesis
import pytest
from hypothesis import strategies

from graphwright.capture.exc import GraphBreakError, InternalCaptureError

from .randomly.program import WORLD, Program
from .randomly.reducing import is_valid, reduced
from .randomly.running import compare

PER_SEED = 20
SYMPTOMS = (AssertionError, GraphBreakError, InternalCaptureError)


def symptom(function_text: str, tensorless: bool) -> BaseException | None:
    """How plain and captured runs of a function differ."""
    try:
        compare(f"{WORLD}\n\n{function_text}", tensorless=tensorless)
    except SYMPTOMS as error:
        return error
    return None


def smallest(function_text: str, tensorless: bool, kind: type[BaseException]) -> str:
    """What is left of a program that fails, and how it fails."""
    left = reduced(function_text, lambda text: type(symptom(text, tensorless)) is kind)
    return f"{left}\n\n{symptom(left, tensorless)!r}"


@pytest.mark.fuzz(10)
@pytest.mark.filterwarnings("ignore:graphwright:RuntimeWarning")
def test_random_programs(seed: int) -> None:
    """Hypothesis draws the programs; one that fails is shown small, and with its seed.

    With every other seed frames without tensor operations are translated too.
    """
    tensorless = bool(seed % 2)
    texts: list[str] = []
    with_graph: list[bool] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=PER_SEED, deadline=None, database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(strategies.integers(0, 2**48))
    def run(number: int) -> None:
        text = Program(random.Random(number)).function_text
        hypothesis.assume(is_valid(text))
        texts.append(text)
        with_graph.append(compare(f"{WORLD}\n\n{text}", tensorless=tensorless).graphs > 0)

    try:
        run()
    except SYMPTOMS as error:
        pytest.fail(f"seed {seed}:\n{smallest(texts[-1], tensorless, type(error))}")
    assert sum(with_graph) >= len(with_graph) / 2
