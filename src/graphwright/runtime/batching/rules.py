"""Which rule an op has: one of its own, or that of its kind."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from graphwright.runtime.ops.table import Kind, Op

Rule = Callable[..., Any]
_RULES: dict[str, Rule] = {}
_FAMILIES = (
    "contractions", "convolutions", "dimensions", "indexing", "joining", "linear_algebra",
    "lookups", "pointwise", "randomness", "recurrent", "viewing", "windows",
)  # fmt: skip


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Make a function the rule of the ops of these names."""

    def register(function: Rule) -> Rule:
        for name in names:
            _RULES[name] = function
        return function

    return register


def load() -> None:
    """Import all rules."""
    for family in _FAMILIES:
        import_module(f"graphwright.runtime.batching.{family}")


def rule_of(op: Op) -> Rule | None:
    """The rule of an op, or None: its decomposition or a loop serves. See `engine`."""
    found = _RULES.get(op.name)
    if found is None and op.kind is Kind.POINTWISE:
        return _RULES["add"]
    return found
