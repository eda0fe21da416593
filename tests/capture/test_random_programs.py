"""Random programs run plainly and captured: same results, exceptions and side effects."""

from __future__ import annotations

import contextlib
import io
import random
from types import ModuleType
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies

import graphwright as gw

from .captured import Captured, same
from .random_programs import Program

VARIANTS = (0, 0, 1, 2, 0, 3)
PER_SEED = 20


def load(text: str) -> dict[str, Any]:
    """The globals of the program's module."""
    module = ModuleType("random_program")
    exec(compile(text, f"<random {hash(text)}>", "exec"), vars(module))
    return vars(module)


def arguments(space: dict[str, Any], variant: int) -> list[Any]:
    """Fresh arguments; variants differ in values and signs."""
    gw.manual_seed(variant)
    x, y = gw.randn(3, 4), gw.randn(3, 4)
    return [x, y, variant + 1, [1, 5, variant], {"k": variant, "b": 2}, space["Obj"](variant)]


def outcome(function: Any, space: dict[str, Any], variant: int) -> tuple[Any, ...]:
    """Result or exception, printed text, arguments and globals afterwards."""
    args = arguments(space, variant)
    printed = io.StringIO()
    space["G"][:] = [variant]
    try:
        with contextlib.redirect_stdout(printed):
            result: Any = function(*args)
    except Exception as error:
        cause = error.__cause__ and (type(error.__cause__), str(error.__cause__))
        result = (type(error), str(error), error.args, cause, error.__suppress_context__)
    names = sorted(name for name in space if not name.startswith("__"))
    return result, printed.getvalue(), args[:5], vars(args[5]), list(space["G"]), names


def compare(text: str) -> Captured:
    """Run one program both ways on several arguments."""
    space = load(text)
    captured = Captured(space["f"])
    for variant in VARIANTS:
        expected = outcome(space["f"], space, variant)
        actual = outcome(captured, space, variant)
        assert same(expected, actual), f"variant {variant}: {actual} for {expected}\n{text}"
        assert gw.is_grad_enabled()
    return captured


@pytest.mark.fuzz(10)
def test_random_programs(seed: int) -> None:
    """Written by hypothesis: a failing program is shrunk, and shown with its seed."""
    with_graph: list[bool] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=PER_SEED, deadline=None, database=None, print_blob=True,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(strategies.randoms(use_true_random=False))
    def run(chance: random.Random) -> None:
        hypothesis.note(f"seed {seed}")
        with_graph.append(compare(Program(chance).text).graphs > 0)

    run()
    assert sum(with_graph) >= len(with_graph) / 2
