"""Runs a function plainly and captured, and says how it ran."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graphwright as gw
from graphwright.capture.frame.frontend import Frontend
from graphwright.capture.frame.record import CaptureRecord


def run_graph(module: Any, examples: Any) -> Callable[..., Any]:
    """A backend that runs the captured graph as it is."""
    return module


def same(left: Any, right: Any) -> bool:
    """Equal types, structure and values."""
    if isinstance(left, gw.Tensor):
        return (
            type(left) is type(right)
            and left.shape == right.shape
            and left.dtype == right.dtype
            and bool(((left == right) | ((left != left) & (right != right))).all().item())
        )
    if isinstance(left, (list, tuple)):
        return (
            type(left) is type(right)
            and len(left) == len(right)
            and all(same(a, b) for a, b in zip(left, right, strict=True))
        )
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if hasattr(left, "__dict__") and type(left).__eq__ is object.__eq__:
        return type(left) is type(right) and same(vars(left), vars(right))
    return type(left) is type(right) and bool(left == right)


class Captured:
    """A compiled function with the record of its captures."""

    def __init__(
        self, function: Callable[..., Any], backend: Callable[..., Any] = run_graph, **options: Any
    ) -> None:
        self.frontend = Frontend(backend, **options)
        self.frontend.strict = True
        self.function = function
        self.compiled = self.frontend.compile(function)

    @property
    def record(self) -> CaptureRecord:
        return self.frontend.record

    @property
    def graphs(self) -> int:
        return len(self.record.graphs)

    @property
    def ops(self) -> list[int]:
        return [graph.n_ops for graph in self.record.graphs]

    @property
    def breaks(self) -> list[str]:
        return [entry.code for entry in self.record.breaks]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.compiled(*args, **kwargs)

    def agrees(self, *args: Any, **kwargs: Any) -> bool:
        """Whether the compiled function gives what the plain one gives."""
        return same(self.function(*args, **kwargs), self.compiled(*args, **kwargs))


def check(function: Callable[..., Any], *args: Any, **expected: Any) -> Captured:
    """Compare twice (captured, and from the cache); `expected`: graphs, breaks, ops."""
    captured = Captured(function)
    for _ in range(2):
        assert captured.agrees(*args)
    if expected.setdefault("breaks", []) is not None:
        assert captured.breaks == expected["breaks"], list(map(str, captured.record.breaks))
    if "graphs" in expected:
        assert captured.graphs == expected["graphs"]
    if "ops" in expected:
        assert captured.ops == expected["ops"]
    return captured
