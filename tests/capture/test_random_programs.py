"""Random programs run plainly and captured: same results, exceptions and side effects."""

from __future__ import annotations

import contextlib
import copy
import io
from types import ModuleType
from typing import Any

import pytest

import graphwright as gw

from .captured import Captured, same
from .random_programs import Program


def load(seed: int) -> tuple[str, dict[str, Any]]:
    """The program's source, and its module's globals."""
    text = Program(seed).text
    module = ModuleType(f"random_{seed}")
    exec(compile(text, f"<random {seed}>", "exec"), vars(module))
    return text, vars(module)


def arguments(space: dict[str, Any], variant: int) -> list[Any]:
    """Fresh arguments; variants differ in values and signs."""
    gw.manual_seed(variant)
    x, y = gw.randn(3, 4), gw.randn(3, 4)
    return [x, y, variant + 1, [1, 5, variant], {"k": variant, "b": 2}, space["Obj"](variant)]


def outcome(function: Any, space: dict[str, Any], variant: int) -> tuple[Any, ...]:
    """Result or exception, printed text, arguments and globals afterwards."""
    args = arguments(space, variant)
    before = copy.deepcopy(args[:2])
    printed = io.StringIO()
    space["G"][:] = [variant]
    try:
        with contextlib.redirect_stdout(printed):
            result: Any = function(*args)
    except Exception as error:
        result = (type(error), str(error))
    kept = same(before, args[:2])
    return result, printed.getvalue(), args[2:5], vars(args[5]), list(space["G"]), kept


def compare(seed: int) -> Captured:
    """Run one program both ways on several arguments."""
    text, space = load(seed)
    captured = Captured(space["f"])
    for variant in (0, 0, 1, 2, 0, 3):
        expected = outcome(space["f"], space, variant)
        actual = outcome(captured, space, variant)
        assert same(expected, actual), f"seed {seed}, variant {variant}\n{text}"
    return captured


@pytest.mark.fuzz(10)
def test_random_programs(seed: int) -> None:
    with_graph = sum(compare(20 * seed + n).graphs > 0 for n in range(20))
    assert with_graph >= 10
