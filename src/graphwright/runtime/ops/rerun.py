"""Gradients of composites that one kernel recorded, from their parts run again."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.ops.table import Op


def differentiated(entry: Op, args: tuple[Any, ...], needs: tuple[bool, ...], grad: Any) -> Any:
    """The gradients of the first arguments, None where `needs` has False.

    They have a history where gradients are recorded.
    """
    found = _core.with_grad_mode(True, _gradients, entry, args, needs, grad)
    if _core.grad_enabled():
        return found
    return tuple(None if one is None else one.detach() for one in found)


def _gradients(entry: Op, args: tuple[Any, ...], needs: tuple[bool, ...], grad: Any) -> Any:
    engine = import_module("graphwright.runtime.autograd.engine")
    assert entry.decompose is not None
    wanted = [arg for arg, need in zip(args, needs, strict=False) if need]
    out = entry.decompose(*args)
    found = iter(engine.grad(out, wanted, grad, create_graph=True, allow_unused=True))
    return tuple(next(found) if need else None for need in needs)
