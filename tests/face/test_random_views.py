"""The random programs of views and in-place writes, natively through the front door."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw

from ..ir.test_fuzz import Program, arguments, is_valid


def outcome(function: Any, inputs: list[Any]) -> list[np.ndarray]:
    """Results, what became of the arguments, and gradients where there are any."""
    outputs = function(*inputs)
    arrays = [out.detach().numpy() for out in outputs]
    arrays += [value.detach().numpy() for value in inputs]
    roots = [out for out in outputs if out.requires_grad]
    if roots:
        grads = gw.autograd.grad(roots, inputs, [gw.ones_like(r) for r in roots],
                                 allow_unused=True)
        arrays += [np.zeros((4, 6)) if grad is None else grad.numpy() for grad in grads]
    return arrays


@pytest.mark.fuzz(60)
@pytest.mark.parametrize("grad", [False, True])
def test_views_and_writes_run_natively(seed: int, grad: bool) -> None:
    program = Program(seed + 5000, writes_to_arguments=not grad)
    if not is_valid(program, arguments(seed, grad)):
        return

    def function(x: gw.Tensor, w: gw.Tensor) -> tuple[gw.Tensor, ...]:
        return program(x, w)

    graph_of = gw.compile(function, backend="llvm")
    expected = outcome(function, arguments(seed, grad))
    for _ in range(2):
        for a, b in zip(expected, outcome(graph_of, arguments(seed, grad)), strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9)
