"""PyTorch's names of backends, modes and controls of its compiler, and what they mean here."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright import _dynamo, _inductor
from graphwright.face.api import MODES

X = gw.arange(6.0)


def double(x: Any) -> Any:
    return x * 2


@pytest.mark.parametrize("backend", ["inductor", "aot_eager", "eager"])
@pytest.mark.parametrize("mode", [None, *MODES])
def test_backends_and_modes(backend: str, mode: str | None) -> None:
    compiled = gw.compile(double, backend=backend, mode=mode, dynamic=False)
    assert gw.equal(compiled(X), X * 2)
    kernels = gw.compiler.stats(compiled).kernels
    assert (kernels > 0) is (backend == "inductor")


@pytest.mark.parametrize(("options", "text"), [
    ({"backend": "tvm"}, "there are aot_eager, auto, c, eager, inductor, llvm, or give"),
    ({"mode": "fastest"}, "there are default, lite, reduce-overhead"),
    ({"options": {"triton.cudagraphs": True}}, "valid keys are 'recompile_limit', 'strict'"),
])
def test_what_is_unknown_is_refused_with_what_is_known(options: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        gw.compile(double, **options)


def test_controls_are_the_compilers_own() -> None:
    for name in ("allow_in_graph", "disable", "is_compiling", "list_backends", "mark_dynamic",
                 "mark_static", "reset", "set_stance"):
        assert getattr(_dynamo, name) is getattr(gw.compiler, name)
    assert gw.compiler.compile is gw.compile and _dynamo.is_dynamo_supported()
    assert _dynamo.mark_static_address(X) is None and not _dynamo.is_compile_supported("cuda")


def test_optimize_is_compile() -> None:
    @_dynamo.optimize("eager", nopython=True)
    def function(x: Any) -> Any:
        return _dynamo.assume_constant_result(double)(x) + 1

    assert gw.equal(function(X), X * 2 + 1) and gw.compiler.stats(function).graphs == 1


def test_a_graph_break_may_be_asked_for() -> None:
    @gw.compile
    def function(x: Any) -> Any:
        x = x + 1
        gw._dynamo.graph_break()
        return x * 2

    gw.compiler.set_notices(False)
    try:
        assert gw.equal(function(X), (X + 1) * 2)
    finally:
        gw.compiler.set_notices(True)
    assert gw.compiler.stats(function).graphs == 2
    assert gw.compiler.stats(function).breaks == 1


def test_the_limit_of_versions_is_set_under_both_names() -> None:
    config = _dynamo.config
    assert config.cache_size_limit == config.recompile_limit == 8
    with config.patch(cache_size_limit=2):
        assert config.recompile_limit == 2
        compiled = gw.compile(lambda x, name: x + len(name), dynamic=False)
        with pytest.warns(RuntimeWarning, match="compiled 2 times, the most there may be"):
            for name in ("a", "ab", "abc", "abcd"):
                compiled(X, name)
        assert gw.compiler.stats(compiled).graphs == 2
    assert config.recompile_limit == 8
    with pytest.raises(ValueError, match="must be a positive int"):
        config.cache_size_limit = 0


def test_other_switches_are_kept_or_refused() -> None:
    import importlib

    assert importlib.import_module("graphwright._dynamo.config") is _dynamo.config
    with _dynamo.config.patch("suppress_errors", True):
        assert _dynamo.config.suppress_errors
    assert not _dynamo.config.suppress_errors
    with _inductor.config.patch({"freezing": True}):
        assert _inductor.config.freezing
    with pytest.raises(AttributeError, match=r"graphwright\._dynamo\.config: there is no switch "
                                             r"'fast'; there are .*cache_size_limit"):
        _dynamo.config.fast = True
    with pytest.raises(AttributeError, match="has no attribute 'cutlass'"):
        _ = _inductor.config.cutlass
    assert set(_inductor.list_mode_options()) == set(MODES)


def test_a_compiled_module_leads_to_its_original() -> None:
    net = gw.nn.Linear(6, 2)
    compiled = gw.compile(net)
    assert compiled._orig_mod is net and isinstance(compiled, _dynamo.OptimizedModule)
