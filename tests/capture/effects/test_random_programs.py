"""Random programs run plainly and captured: same results, exceptions and side effects."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies

from graphwright.capture.exc import GraphBreakError, InternalCaptureError

from ..captured import Captured
from ..randomly.program import WORLD, Program
from ..randomly.reducing import is_valid, reduced
from ..randomly.running import calls, compare

PER_SEED = 20
SYMPTOMS = (AssertionError, GraphBreakError, InternalCaptureError)
OPTIONS: tuple[dict[str, Any], ...] = (
    {}, {"tensorless": True}, {"dynamic": True}, {"limit": 64},
    {"tensorless": True, "dynamic": False}, {"native": True}, {"native": True, "dynamic": True},
)


class Case:
    """One program, the variants it is called with, and how it is captured."""

    def __init__(self, origin: str, options: dict[str, Any]) -> None:
        chance = random.Random(origin)
        self.text = Program(chance).function_text
        self.variants = calls(chance)
        self.options = options
        self.found = "mismatch"

    def run(self, text: str) -> Captured:
        """Compare both runs of the program, or of what is left of it."""
        return compare(f"{WORLD}\n\n{text}", self.variants, **self.options)

    def symptom(self, text: str) -> BaseException | None:
        """How plain and captured runs of a function differ."""
        try:
            self.run(text)
        except SYMPTOMS as error:
            return error
        return None

    def smallest(self, kind: type[BaseException]) -> str:
        """What is left of a program that fails, and how it fails."""
        left = reduced(self.text, lambda text: type(self.symptom(text)) is kind)
        return f"{left}\n\n{self.options} {self.variants}\n{self.symptom(left)!r}"


@pytest.mark.fuzz(10)
@pytest.mark.filterwarnings("ignore:graphwright:RuntimeWarning", "ignore:Using a target size")
def test_random_programs(seed: int, record_property: Callable[[str, object], None]) -> None:
    """Hypothesis draws the programs; one that fails is shown small, and with its seed.

    No two seeds draw the same program. Seeds take turns in how they capture: also frames without
    tensor operations, with symbolic sizes from the start or never, with room for a version for
    every call, compiled to native code and differentiated.
    """
    options = OPTIONS[seed % len(OPTIONS)]
    cases: dict[int, Case] = {}

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=PER_SEED, deadline=None, database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(strategies.integers(0, 2**48))
    def run(number: int) -> None:
        case = Case(f"{seed}/{number}", options)
        hypothesis.assume(is_valid(case.text))
        cases.pop(number, None)
        cases[number] = case
        case.found = "graph" if case.run(case.text).graphs else "none"

    symptom = None
    try:
        run()
    except SYMPTOMS as error:
        symptom = type(error)
    found = [case.found for case in cases.values()]
    record_property("random programs", [str(options), *found])
    if symptom is not None:
        pytest.fail(f"seed {seed}:\n{list(cases.values())[-1].smallest(symptom)}")
    assert found.count("graph") >= len(found) / 2
