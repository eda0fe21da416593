"""Gradients of composites that one kernel recorded, from their parts run again."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Op


def differentiated(entry: Op, args: tuple[Any, ...], needs: tuple[bool, ...], grad: Any) -> Any:
    """The gradients of an op's first arguments, from its parts."""
    assert entry.decompose is not None
    return through(entry.decompose, args, needs, grad)


def through(
    parts: Callable[..., Any], args: tuple[Any, ...], needs: tuple[bool, ...], grad: Any
) -> Any:
    """The gradients of the first arguments of `parts`, None where `needs` has False.

    They have a history where gradients are recorded, or will be when what is traced runs.
    """
    found = _core.with_grad_mode(True, _gradients, parts, args, needs, grad)
    if _core.grad_enabled() or getattr(_core.tracer(), "differentiable", False):
        return found
    return tuple(None if one is None else one.detach() for one in found)


def _gradients(
    parts: Callable[..., Any], args: tuple[Any, ...], needs: tuple[bool, ...], grad: Any
) -> Any:
    """By stand-ins for the arguments: one may have come from another, which is no part of this."""
    engine = import_module("graphwright.runtime.tape.engine")
    first = [ops.alias(arg) if need else arg for arg, need in zip(args, needs, strict=False)]
    wanted = [arg for arg, need in zip(first, needs, strict=False) if need]
    out = parts(*first, *args[len(first) :])
    found = iter(engine.grad(out, wanted, grad, create_graph=True, allow_unused=True))
    return tuple(next(found) if need else None for need in needs)
