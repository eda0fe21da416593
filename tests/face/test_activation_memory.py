"""What compiled training saves for the backward, by `activation_memory_budget`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from benchmarks.architectures.transformers import pre_norm_block
from tests.ir.lowering import captured

import graphwright as gw
from graphwright import nn
from graphwright.autograd import grad
from graphwright.ir.lowered_graph import Lowered
from graphwright.ir.pipeline import lower_graph

BUDGETS = (1.0, 0.5, 0.0)


def network(layers: int = 4, dropout: float = 0.0) -> nn.Module:
    """Transformer blocks, whose saved values are large beside their parameters."""
    gw.manual_seed(0)
    parts: list[nn.Module] = []
    for _ in range(layers):
        parts += [pre_norm_block(gw, 64, 4), *([nn.Dropout(dropout)] if dropout else [])]
    return nn.Sequential(*parts)


def lowered(fn: Callable[..., Any], *inputs: Any, budget: float = 1.0) -> Lowered:
    graph, fakes = captured(fn, inputs)
    return lower_graph(graph, fakes, needs_grad=True, activation_memory_budget=budget)


def saved_names(of: Lowered) -> list[str]:
    """What the forward saves beside inputs and results."""
    assert of.activations is not None
    return [name for name, _ in of.activations.saved]


def explained(model: nn.Module, x: gw.Tensor, budget: float) -> dict[str, Any]:
    """What `explain` says of what the model's graph saves."""
    found = gw.explain(model, options={"activation_memory_budget": budget})(x).to_dict()
    ((activations,),) = [[graph["activations"] for graph in frame["graphs"]]
                         for frame in found["frames"] if frame["graphs"]]
    return activations  # type: ignore[no-any-return]


def gelu_of_product(x: Any, w: Any, v: Any) -> Any:
    return gw.nn.functional.gelu(x @ w) @ v


def test_a_product_is_saved_and_what_is_made_of_it_recomputed() -> None:
    shapes = ((128, 128), (128, 128), (128, 128))
    inputs = [gw.randn(*shape, requires_grad=True) for shape in shapes]
    assert saved_names(lowered(gelu_of_product, *inputs)) == ["mm"]
    assert saved_names(lowered(gelu_of_product, *inputs, budget=0.0)) == []


def test_an_input_that_gradients_do_not_read_is_saved_as_a_copy() -> None:
    """Eager execution does not notice that it is written before the backward."""
    def shifted(x: Any, bias: Any) -> Any:
        return (x.sin() + bias).exp().sum()

    x, bias = gw.randn(64, 64, requires_grad=True), gw.randn(64, requires_grad=True)
    gradients = []
    for run in (shifted, gw.compile(shifted)):
        result = run(x, bias)
        with gw.no_grad():
            bias.add_(1.0)
        gradients.append(grad(result, (x, bias)))
        with gw.no_grad():
            bias.sub_(1.0)
    for got, want in zip(*gradients, strict=True):
        gw.testing.assert_close(got, want)


def test_values_are_saved_where_a_long_chain_is_narrow() -> None:
    def waves(x: Any) -> Any:
        for _ in range(64):
            x = x.sin().cos()
        return x

    of = lowered(waves, gw.randn(64, 64, requires_grad=True))
    assert len(saved_names(of)) <= 20, "of 128; about the root of that many"


def peak(model: nn.Module, x: gw.Tensor, options: dict[str, Any] | None) -> int:
    """The most bytes beside parameters and their gradients in the third training step."""
    step = model if options is None else gw.compile(model, options=options)
    for _ in range(3):
        model.zero_grad()
        before = gw.memory_stats()["live"]
        gw.reset_peak_memory_stats()
        step(x).square().mean().backward()
    return gw.memory_stats()["peak"] - before


def test_the_peak_of_training_is_no_higher_than_eager_and_falls_with_the_budget() -> None:
    x = gw.randn(8, 64, 64)
    eager = peak(network(), x, None)
    peaks = [peak(network(), x, {"activation_memory_budget": budget}) for budget in BUDGETS]
    assert peaks[0] <= eager
    assert peaks[1] <= 0.75 * eager
    assert peaks[2] < peaks[1]


@pytest.mark.parametrize("budget", BUDGETS)
def test_explain_says_what_is_saved_within_the_budget(budget: float) -> None:
    model, x = network(), gw.randn(8, 64, 64)
    before = gw.memory_stats()["live"]
    result = model(x)
    held = gw.memory_stats()["live"] - before
    found = explained(model, x, budget)
    assert 0.9 * held <= found["eager_bytes"] + 4 * result.numel() <= held
    assert found["saved_bytes"] == sum(found["saved"].values())
    assert found["saved_bytes"] <= max(budget, 0.15) * found["eager_bytes"]
    products = [name for name in found["recomputed"] if name.startswith("mm")]
    assert bool(products) == (budget < 1.0)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("dropout", [0.0, 0.25])
def test_results_and_gradients_are_those_of_eager_execution(
    budget: float, dropout: float
) -> None:
    x = gw.randn(2, 16, 64, requires_grad=True)
    found = []
    for options in (None, {"activation_memory_budget": budget}):
        model = network(2, dropout)
        run = model if options is None else gw.compile(model, fullgraph=True, options=options)
        gw.manual_seed(1)
        result = run(x)
        found.append((result, *grad(result.square().sum(), [x, *model.parameters()])))
    for got, want in zip(*found, strict=True):
        gw.testing.assert_close(got, want, rtol=2e-3, atol=2e-3)


def test_recomputing_changes_no_bit_of_a_gradient() -> None:
    """Products, sums and elementwise functions give the same in a backward as in a forward."""
    def loss(x: Any, w: Any, v: Any) -> Any:
        return (gw.nn.functional.gelu(x @ w) @ v).tanh().sum()

    inputs = [gw.randn(96, 96, requires_grad=True) for _ in range(3)]
    gradients = [grad(gw.compile(loss, options={"activation_memory_budget": budget})(*inputs),
                      inputs) for budget in (1.0, 0.0)]
    for once, again in zip(*gradients, strict=True):
        assert once.equal(again)


@pytest.mark.parametrize("budget", BUDGETS)
def test_retained_graphs_second_derivatives_and_dynamic_sizes(budget: float) -> None:
    def run(x: Any, w: Any) -> Any:
        return gw.nn.functional.gelu(x @ w).softmax(-1).square().sum()

    compiled = gw.compile(run, dynamic=True, options={"activation_memory_budget": budget})
    w = gw.randn(32, 32, requires_grad=True)
    for rows in (8, 24):
        x = gw.randn(rows, 32, requires_grad=True)
        for function in (run, compiled):
            result = function(x, w)
            first = grad(result, (x, w), retain_graph=True)
            again = grad(result, (x, w), create_graph=True)
            second = grad(again[0].square().sum(), (x, w))
            if function is run:
                expected = [*first, *again, *second]
            else:
                for got, want in zip([*first, *again, *second], expected, strict=True):
                    gw.testing.assert_close(got, want, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("bad", [-0.1, 1.5, "half", None, True, float("nan")])
def test_other_budgets_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="activation_memory_budget must be a number from 0 to 1"):
        gw.compile(lambda x: x, options={"activation_memory_budget": bad})


def test_a_callable_backend_takes_no_budget() -> None:
    with pytest.raises(ValueError, match='"activation_memory_budget" needs a named backend'):
        gw.compile(lambda x: x, backend=lambda graph, inputs: graph,
                   options={"activation_memory_budget": 0.5})
