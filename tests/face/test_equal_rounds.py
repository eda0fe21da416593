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
