"""`mode="max-autotune"`: each product is made the way that was measured to be the fastest."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.codegen import autotune
from graphwright.codegen.cache import kernel_cache
from graphwright.codegen.program import ANY, LIBRARY, OWN, PANELS, Gemm
from graphwright.face.api import compilation_of
from graphwright.face.stage_dumps import artifacts_of
from graphwright.runtime import _core

WAYS = {LIBRARY: "library", OWN: "own", PANELS: "panels"}


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[dict[int, float]]:
    """What each way takes; and a kernel cache of the test's own."""
    times = dict.fromkeys((ANY, *WAYS), 1.0)
    times["calls"] = 0

    def time_product(dtype: int, way: int, *form: int) -> float:
        times["calls"] += 1
        return times[way]
    monkeypatch.setenv("GRAPHWRIGHT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(_core, "time_product", time_product)
    return times


def ways(model: Any, x: gw.Tensor, **options: Any) -> list[int]:
    """The ways of the products of a compiled module; its result is as that of eager execution."""
    with gw.no_grad():
        compiled = gw.compile(model, **options)
        gw.testing.assert_close(compiled(x), model(x))
    artifacts = artifacts_of(compilation_of(compiled).record.graphs[0].graph)
    assert artifacts is not None
    steps = itertools.chain.from_iterable(
        segment.program.steps for one in artifacts.programs.values() for segment in one.segments)
    return [step.way for step in steps if isinstance(step, Gemm)]


@pytest.mark.parametrize("fastest", WAYS, ids=list(WAYS.values()))
@pytest.mark.parametrize("rows", [1, 4, 40])
def test_the_fastest_way_is_taken(
    seconds: dict[int, float], rows: int, fastest: int
) -> None:
    seconds[fastest] = 0.5
    usual = fastest == PANELS       # of parameters
    assert ways(gw.nn.Linear(256, 160), gw.randn(rows, 256), mode="max-autotune") == [
        ANY if usual else fastest]


def test_a_little_gain_does_not_count(seconds: dict[int, float]) -> None:
    seconds[LIBRARY] = 0.97
    assert ways(gw.nn.Linear(96, 80), gw.randn(8, 96), mode="max-autotune") == [ANY]


def test_only_the_two_modes_and_the_option_measure(seconds: dict[int, float]) -> None:
    seconds[OWN] = 0.5
    x = gw.randn(8, 96)
    for options in ({}, {"mode": "reduce-overhead"}, {"mode": "default"}):
        assert ways(gw.nn.Linear(96, 80), x, **options) == [ANY]
    assert not seconds["calls"]
    for options in ({"mode": "max-autotune-no-cudagraphs"}, {"options": {"max_autotune": True}}):
        assert ways(gw.nn.Linear(96, 80), x, **options) == [OWN]


def test_a_shape_is_measured_once_and_kept_on_disk(
    seconds: dict[int, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds[OWN] = 0.5
    assert ways(gw.nn.Linear(96, 80), gw.randn(100, 96), mode="max-autotune") == [OWN]
    count = seconds["calls"]
    assert count
    kernel_cache()._memory.clear()      # as a new process finds it
    seconds[LIBRARY] = 0.1
    assert ways(gw.nn.Linear(96, 80), gw.randn(128, 96), mode="max-autotune") == [OWN]
    assert seconds["calls"] == count
    assert ways(gw.nn.Linear(96, 80), gw.randn(129, 96), mode="max-autotune") == [LIBRARY]


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64])
@pytest.mark.parametrize("way", [ANY, *WAYS])
def test_every_way_gives_the_product(
    monkeypatch: pytest.MonkeyPatch, way: int, dtype: gw.dtype
) -> None:
    monkeypatch.setattr(autotune, "_fastest", lambda product, ways: way if way in ways else ANY)
    for rows, batch in itertools.product((1, 5, 70), ((), (3,))):
        x, y = gw.randn(*batch, rows, 64, dtype=dtype), gw.randn(*batch, 64, 33, dtype=dtype)
        run = gw.compile(lambda x, y: (x @ y).relu(), mode="max-autotune")
        gw.testing.assert_close(run(x, y), (x @ y).relu())
        turned = y.transpose(-1, -2).contiguous().transpose(-1, -2)
        gw.testing.assert_close(run(x, turned), (x @ y).relu())


def test_products_are_timed() -> None:
    code = gw.float32.code
    assert 0 < _core.time_product(code, PANELS, False, True, 4, 64, 64, 1) < np.inf
    with pytest.raises(ValueError, match="a way, and matrices of 1 to"):
        _core.time_product(code, 4, False, False, 4, 4, 4, 1)
    with pytest.raises(ValueError, match="a way, and matrices of 1 to"):
        _core.time_product(code, ANY, False, False, 0, 4, 4, 1)


def test_the_option_is_checked() -> None:
    with pytest.raises(ValueError, match="max_autotune must be True or False, not 1"):
        gw.compile(lambda x: x, options={"max_autotune": 1})


def test_equal_layers_are_tuned_alike(seconds: dict[int, float]) -> None:
    seconds[OWN] = 0.5
    layers = [part for _ in range(12) for part in (gw.nn.Linear(96, 96), gw.nn.Tanh())]
    assert ways(gw.nn.Sequential(*layers), gw.randn(8, 96), mode="max-autotune") == [OWN] * 12
    assert seconds["calls"] == 4        # the usual way, and three others, of one shape
