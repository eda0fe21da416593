"""What people see of a function whose rounds were compiled once is what it consists of."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.compile_time import transformer

import graphwright as gw
from graphwright.codegen.cache import kernel_cache
from graphwright.face import native_backends
from graphwright.face.api import compilation_of
from graphwright.face.stage_dumps import artifacts_of

LAYERS = 9


@pytest.fixture
def compiled(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("GRAPHWRIGHT_CACHE_DIR", str(tmp_path))
    model, x = transformer(LAYERS)
    with gw.no_grad():
        compiled = gw.compile(model, backend="llvm")
        compiled(x)
    return compiled


def test_its_stages_are_those_of_the_whole_graph(
    compiled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are made when they are asked for, and have the code that is in the cache already."""
    misses = kernel_cache().counts.misses
    found = gw.compiler.dump(compiled, ["joint", "loops"])
    assert kernel_cache().counts.misses == misses
    assert gw.compiler.stats(compiled).kernels == 16 * LAYERS + 1
    assert found["loops"].count("kernel k") + found["loops"].count(" = gemm(") == 16 * LAYERS + 1
    monkeypatch.setattr(native_backends, "lower_rounds", lambda *_: None)
    model, x = transformer(LAYERS)
    with gw.no_grad():
        whole = gw.compile(model, backend="llvm")
        whole(x)
    assert gw.compiler.dump(whole, ["joint", "loops"])["joint"].partition("\n")[2] == (
        found["joint"].partition("\n")[2])


def test_the_graph_cache_has_its_program(compiled: Any) -> None:
    model, x = transformer(LAYERS)
    with gw.no_grad():
        again = gw.compile(model, backend="llvm")
        gw.testing.assert_close(again(x), model(x), rtol=1e-4, atol=1e-5)
    (record,) = compilation_of(again).record.graphs
    artifacts = artifacts_of(record.graph)
    assert artifacts is not None and artifacts.loaded == ["lowered", "forward"]


@pytest.mark.parametrize("beside", [
    lambda s, n: s + 0.25, lambda s, n: s * 0.5, lambda s, n: -s, lambda s, n: 1 - s,
    lambda s, n: gw.tanh(s), lambda s, n: s.flip(0)])
@pytest.mark.parametrize("count", [12, 15])
def test_what_runs_beside_the_layers_runs_as_often(beside: Any, count: int) -> None:
    weights = [gw.randn(8, 8) * 0.3 for _ in range(count)]

    def layers(x: gw.Tensor, side: gw.Tensor, *weights: gw.Tensor) -> Any:
        first = side @ side
        for number, w in enumerate(weights):
            x, side = gw.tanh(x @ w), beside(side, number)
        return x, side, x @ first
    x, side = gw.randn(4, 8), gw.randn(8, 8)
    with gw.no_grad():
        for got, want in zip(gw.compile(layers)(x, side, *weights), layers(x, side, *weights),
                             strict=True):
            gw.testing.assert_close(got, want)


def test_layers_may_begin_with_the_weight_of_one() -> None:
    def layers(*weights: gw.Tensor) -> gw.Tensor:
        x = weights[3]
        for w in weights:
            x = gw.tanh(x @ w)
        return x
    weights = [gw.randn(8, 8) * 0.3 for _ in range(12)]
    with gw.no_grad():
        gw.testing.assert_close(gw.compile(layers)(*weights), layers(*weights))
