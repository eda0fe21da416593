"""Graphs with ops that run eagerly: native segments between them, each compiled once."""

from __future__ import annotations

import copy
import sys
import weakref
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn
from graphwright.capture.frame.code_owner import is_library
from graphwright.codegen.cache import kernel_cache
from graphwright.face.native_backends import native
from graphwright.ir.pipeline import lower_graph
from graphwright.runtime import _core


@pytest.mark.parametrize("training", [False, True])
def test_what_comes_before_an_eager_op_is_compiled_once(training: bool) -> None:
    layers = []
    for n in range(6):
        layers += [nn.Conv1d(4, 4, 3, padding=1, dilation=1), nn.ReLU(), nn.Softmax(n % 3)]
    model = nn.Sequential(*layers)
    x = gw.randn(2, 4, 9)
    before = copy.copy(kernel_cache().counts)
    compiled = gw.compile(model, backend="llvm", fullgraph=True)
    with gw.set_grad_enabled(training):
        result = compiled(x)
    if training:
        result.sum().backward()
    after = kernel_cache().counts
    looked_up = sum(
        getattr(after, name) - getattr(before, name)
        for name in ("memory_hits", "disk_hits", "misses")
    )
    assert looked_up <= gw.compiler.stats(compiled).kernels
    np.testing.assert_allclose(result.detach().numpy(), model(x).detach().numpy(), rtol=1e-5)


def test_values_end_with_their_last_reader() -> None:
    """As eagerly: what a long chain of eager ops makes is not all held until the end."""
    def chain(x: gw.Tensor) -> gw.Tensor:
        for n in range(20):
            x = (x + n).sort(0)[0]
        return x

    compiled = gw.compile(chain, backend="llvm", fullgraph=True)
    x = gw.randn(100_000)
    np.testing.assert_allclose(compiled(x).numpy(), chain(x).numpy(), rtol=1e-5)
    held = []
    for run in (chain, compiled):
        gw.empty_cache()
        run(x)
        held.append(gw.memory_stats()["cached"])
    eager, native = held
    assert native <= 2 * eager < 20 * x.nbytes


def test_inputs_that_are_given_away_end_with_their_last_reader_too() -> None:
    programs: list[Any] = []
    present: list[bool] = []

    @gw.library.custom_op("test_segments::look", mutates_args=())
    def look(x: gw.Tensor) -> gw.Tensor:
        present.append(given() is not None)
        return x.clone()

    look.register_fake(gw.empty_like)

    def backend(graph: Any, examples: Any) -> Any:
        programs.append(native("llvm", graph, examples))
        return programs[0]

    def function(x: gw.Tensor) -> gw.Tensor:
        return look(look(x.sort(0)[0] * x) + 1)

    x = gw.randn(100)
    given = weakref.ref(x)
    wanted = gw.compile(function, backend=backend)(x).numpy()
    values = [x.clone()]
    given = weakref.ref(values[0])
    (result,) = programs[0].consume(values)
    np.testing.assert_array_equal(result.numpy(), wanted)
    assert values == [] and present == [True, True, False, False]


def test_a_segment_counts_by_the_sizes_that_a_product_in_its_input_stands_for() -> None:
    """The median is looked up in what `sort`, an eager op, gives for all elements in a row."""
    compiled = gw.compile(gw.median, dynamic=True)
    for shape in ((3, 5), (4, 7)):
        x = gw.rand(*shape)
        assert compiled(x).item() == gw.median(x).item()


def test_a_segment_counts_by_the_strides_of_what_goes_in() -> None:
    """`frexp` runs eagerly; the stride of the argument's rows is no size of anything."""

    def function(x: gw.Tensor) -> tuple[gw.Tensor, gw.Tensor]:
        pairs = gw.unfold_copy(x, 1, 2, 1)
        pairs.add_(pairs.mean())
        return pairs, gw.frexp(x)[1]

    compiled = gw.compile(function, dynamic=True)
    for rows, width in ((7, 5), (4, 9)):
        x = gw.rand(rows, width)[:, :2]
        for got, wanted in zip(compiled(x), function(x), strict=True):
            np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-6)


@pytest.mark.parametrize("mode", [gw.no_grad, gw.inference_mode])
def test_eager_ops_of_a_function_that_switches_gradients_off_record_nothing(mode: type) -> None:
    layer = nn.Conv1d(2, 2, 3)

    @mode()
    def forward(x: gw.Tensor) -> gw.Tensor:
        return layer(layer(x) * 2)

    compiled = gw.compile(forward, backend="llvm", fullgraph=True)
    with gw.inference_mode():
        of_inference = gw.randn(1, 2, 9)
    for x in (gw.randn(1, 2, 9), of_inference):
        found = compiled(x)
        assert not found.requires_grad and found.grad_fn is None
        np.testing.assert_allclose(found.numpy(), forward(x).numpy(), rtol=1e-5, atol=1e-6)
    assert gw.compiler.stats(compiled).fallbacks == 0


def _calls(function: Any, *args: Any) -> int:
    """How many functions of the compiler, kernels apart, a call enters in Python."""
    entered: list[str] = []

    def note(frame: Any, event: str, _: Any) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("graphwright"):
            entered.append(f"{module}.{frame.f_code.co_qualname}")

    sys.setprofile(note)
    try:
        function(*args)
    finally:
        sys.setprofile(None)
    return len([name for name in entered if not name.startswith("graphwright.runtime.ops.")])


def _compiled(function: Any, *args: Any) -> tuple[Any, Any]:
    """The compiled function, and what runs its graph beneath guards and dispatch."""
    made: list[Any] = []

    def backend(graph: Any, examples: Any) -> Any:
        made.append(native("llvm", graph, examples))
        return made[0]

    compiled = gw.compile(function, backend=backend, fullgraph=True)
    compiled(*args)
    return compiled, made[0]


@pytest.mark.parametrize("segments", [1, 3, 10])
def test_a_call_enters_one_python_function_however_many_the_steps(segments: int) -> None:
    def function(x: gw.Tensor) -> gw.Tensor:
        for _ in range(segments):
            x = gw.cumsum(x, 0) * 2
        return x

    x = gw.randn(7)
    compiled, program = _compiled(function, x)
    np.testing.assert_allclose(compiled(x).numpy(), function(x).numpy(), rtol=1e-5)
    assert _calls(program, x) == 1


@pytest.mark.parametrize("function", [
    gw.Tensor.t, lambda x: x[1:].t()[0], lambda x: (x, x.t()), lambda x: (x.add_(1), x.t()),
    lambda x: (x[0], x * 2, x.shape, 1000, "text"),
])
def test_results_that_are_views_are_made_by_one_python_function(function: Any) -> None:
    x = gw.randn(3, 4)
    compiled, program = _compiled(function, x)
    found, wanted = compiled(x), function(x)
    if isinstance(wanted, gw.Tensor):
        found, wanted = [found], [wanted]
    for got, expected in zip(found, wanted, strict=True):
        if not isinstance(expected, gw.Tensor):
            assert got == expected
            continue
        assert got.stride() == expected.stride() and got._is_view() == expected._is_view()
        np.testing.assert_array_equal(got.numpy(), expected.numpy())
    assert _calls(program, x) == 1


def test_a_graph_of_views_alone_runs_no_kernel() -> None:
    def absent(*inputs: Any) -> Any:
        raise AssertionError("called")

    def backend(graph: Any, examples: Any) -> Any:
        return lower_graph(graph, examples, needs_grad=False).inference(absent)

    x = gw.randn(2, 3)
    result = gw.compile(lambda x: x.t(), backend=backend)(x)
    assert result.shape == (3, 2) and result._base is x


def test_arguments_in_containers_and_sizes_that_vary() -> None:
    """Eager steps take lists of tensors, slices and sizes that are computed in each call."""

    def function(x: gw.Tensor, y: gw.Tensor) -> tuple[gw.Tensor, ...]:
        made = gw.block_diag(gw.cumsum(x, 0), y)
        return gw.sort(made.reshape(x.shape[0] + y.shape[0], -1), 1)[0], made

    compiled = gw.compile(function, dynamic=True, fullgraph=True)
    for n, m in ((3, 4), (5, 2), (6, 7)):
        x, y = gw.rand(n, 3), gw.rand(m, 5)
        for got, wanted in zip(compiled(x, y), function(x, y), strict=True):
            np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-6)


def test_an_error_in_an_eager_step_has_no_line_but_the_users() -> None:
    """The steps' code counts as this package's where the user's line is looked for."""

    @gw.library.custom_op("test_segments::where", mutates_args=())
    def where(x: gw.Tensor) -> gw.Tensor:
        frame = sys._getframe()
        while frame.f_back is not None:
            frame = frame.f_back
            if frame.f_globals.get("__name__") == "graphwright.ir.graph.python_emitter":
                files.append(frame.f_code.co_filename)
        return x.clone()

    where.register_fake(gw.empty_like)
    files: list[str] = []
    gw.compile(lambda x: where(x) + 1, fullgraph=True)(gw.zeros(2))
    assert files and all(is_library(name) for name in files)


@pytest.mark.parametrize("grads", [False, True])
def test_modes_are_afterwards_what_they_were_before(grads: bool) -> None:
    seen: list[tuple[bool, bool]] = []

    def modes(fail: bool) -> Any:
        seen.append((gw.is_grad_enabled(), gw.is_autocast_enabled("cpu")))
        if fail:
            raise KeyError("refused")

    with gw.set_grad_enabled(grads), gw.autocast("cpu"):
        before = _core.modes()
        for fail in (False, True):
            with pytest.raises(KeyError) if fail else nullcontext():
                _core.unrecorded(modes, fail)
            assert _core.modes() == before and gw.is_grad_enabled() == grads
    assert seen == [(False, False)] * 2
    with pytest.raises(TypeError, match="takes a function"):
        _core.unrecorded()  # type: ignore[call-arg]
