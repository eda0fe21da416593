"""Functions of every kind, compiled: forward and backward, of static and dynamic sizes."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

from ...codegen.gpu.functions import CASES, COMPOSED, EXACT
from .compiled import alike, trained

DAILY = 3
HERE = {
    "random": lambda x: x + gw.rand(20, 30, device=x.device) + gw.randn(20, 30, device=x.device),
}
"""Those whose new tensors are to lie where their arguments are."""
FUNCTIONS: dict[str, tuple[Callable[..., Any], list[Any], float]] = {
    name: (HERE.get(name, function), inputs, tolerance)
    for cases, tolerance in ((CASES, 1e-5), (COMPOSED, 1e-5), (EXACT, 0.0))
    for name, (function, inputs) in cases.items()}
WITHOUT_GRADIENT = frozenset({
    "comparisons", "casts", "empty", "extremes", "long argmax", *(
        name for name, (_, inputs, _) in FUNCTIONS.items()
        if not any(x.dtype.is_floating_point for x in inputs))})


def check(name: str, gpu: Any, dynamic: bool) -> None:
    function, inputs, tolerance = FUNCTIONS[name]
    assert alike(function, *inputs, gpu=gpu, tolerance=tolerance, dynamic=dynamic).kernels > 0


def check_gradients(name: str, gpu: Any) -> None:
    function, inputs, tolerance = FUNCTIONS[name]
    forward = alike(function, *inputs, gpu=gpu, tolerance=tolerance).kernels
    both = alike(function, *trained(inputs), gpu=gpu, tolerance=tolerance or 1e-5).kernels
    assert both > forward


def test_some_functions(gpu: Any, draw: random.Random) -> None:
    for name in draw.sample(list(FUNCTIONS), k=DAILY):
        print(name)
        check(name, gpu, dynamic=False)
        check(name, gpu, dynamic=True)
        if name not in WITHOUT_GRADIENT:
            check_gradients(name, gpu)


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_every_function(gpu: Any, name: str, dynamic: bool) -> None:
    check(name, gpu, dynamic)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in WITHOUT_GRADIENT])
def test_gradients_of_every_function(gpu: Any, name: str) -> None:
    check_gradients(name, gpu)


def test_other_sizes_run_the_same_program(gpu: Any) -> None:
    compiled = gw.compile(lambda x: gw.softmax(x * 2, -1), dynamic=True)
    for shape in ((5, 7), (3, 64), (40, 2), (2, 1000)):
        x = gw.randn(shape)
        gw.testing.assert_close(compiled(x.cuda()).cpu(), gw.softmax(x * 2, -1))
    stats = gw.compiler.stats(compiled)
    assert (stats.graphs, stats.recompiles, stats.kernels) == (1, 0, 1)
    assert len(gpu.launches) == 4
