"""Graphs with ops that run eagerly: native segments between them, each compiled once."""

from __future__ import annotations

import copy
import weakref
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn
from graphwright.codegen.cache import kernel_cache
from graphwright.native_backends import native


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
