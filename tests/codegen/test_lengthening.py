"""Programs that are made of few rounds and lengthened are those that the whole graphs become."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.codegen.cache_key import canonical
from graphwright.codegen.compile import Segment, compile_graph, compile_lengthened
from graphwright.codegen.lengthening import NotPeriodic
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.lower_rounds import lower_rounds
from graphwright.ir.lowered_graph import Graphs, Lowered
from graphwright.ir.pipeline import lower_graph
from graphwright.runtime.later import Later

ROUNDS = 10
X = gw.randn(6, 16)
WEIGHTS = [gw.randn(16, 16) * 0.3 for _ in range(ROUNDS)]


def _never() -> Graphs:
    raise AssertionError("the whole graph is not lowered for its program")


def examples_of(module: GraphModule) -> list[Any]:
    return [node.meta["val"] for node in module.graph.placeholders]


def compare(f: Callable[..., Any], *args: Any) -> bool:
    """Whether a function's program was lengthened; then it is the one that the whole graph
    becomes: the same code, called in the same way, for the same results."""
    found: list[bool] = []

    def backend(module: GraphModule, inputs: Any) -> Callable[..., Any]:
        whole = lower_graph(module, inputs, needs_grad=False)
        lowered = lower_rounds(module, inputs, Later(_never))
        made = None if lowered is None else _lengthened(lowered)
        if lowered is not None and made is not None:
            same = compile_graph(whole.forward, examples_of(whole.forward), target="llvm")
            (segment,) = same.segments
            assert canonical(made.program).text == canonical(segment.program).text
            assert made.plan == segment.plan
            assert (lowered.outputs, lowered.ends) == (whole.outputs, whole.ends)
        found.append(made is not None)
        return module.forward

    with gw.no_grad():
        gw.compile(f, backend=backend)(*args)
    return all(found)


def check(f: Callable[..., Any], *args: Any) -> bool:
    """As `compare`; compiled code also computes what eager execution does."""
    with gw.no_grad():
        made = gw.compile(f, backend="llvm")(*args)
        gw.testing.assert_close(made, f(*args), rtol=1e-4, atol=1e-5)
    return compare(f, *args)


def _lengthened(lowered: Lowered) -> Segment | None:
    short = lowered.shortened
    assert short is not None
    try:
        made = compile_lengthened(
            short.forward, examples_of(short.forward), short.removed, target="llvm")
    except NotPeriodic:
        more = short.longer and short.longer()
        return _lengthened(more) if more else None
    (segment,) = made.segments
    assert isinstance(segment, Segment)
    return segment


def layers(x: Any, *weights: Any) -> Any:
    for w in weights:
        x = gw.tanh(x @ w)
        x = x / x.exp().sum(1, keepdim=True)
    return x


def skips(x: Any, *weights: Any) -> Any:
    """One skip over each round, and one over all; two results."""
    begun = x
    for w in weights:
        x = x + gw.relu(x @ w)
    return x + begun, x.sum()


def masked(x: Any, *weights: Any) -> Any:
    """What is the same in all rounds is computed once."""
    for w in weights:
        x = gw.ones(6, 6).tril() @ gw.tanh(x @ w)
    return x


def two_carried(x: Any, *weights: Any) -> Any:
    h = c = x
    for w in weights:
        f, g = (gw.cat([x, h], 1) @ gw.cat([w, w], 0)).chunk(2, 1)
        c = c * gw.cat([f.sigmoid(), g.tanh()], 1)
        h = c.tanh() @ w
    return h, c


def inputs_are_results(x: Any, bias: Any, *weights: Any) -> Any:
    y = layers(x, *weights)
    return y + bias, bias.T, bias, x, y.shape[0]


@pytest.mark.parametrize("f", [layers, skips, masked, two_carried])
def test_equal_rounds_are_lowered_once(f: Callable[..., Any]) -> None:
    assert check(f, X, *WEIGHTS)


def test_layers_of_a_transformer() -> None:
    from benchmarks.compile_time import transformer

    assert check(*transformer(ROUNDS))


def test_results_that_are_inputs_have_the_numbers_of_the_whole_graph() -> None:
    assert check(inputs_are_results, X, gw.ones(6, 16), *WEIGHTS)


def test_sizes_that_are_symbolic_in_all_rounds() -> None:
    x = gw.randn(7, 16)
    gw.compiler.mark_dynamic(x, 0)
    assert check(layers, x, *WEIGHTS)


def counted(x: Any, *weights: Any) -> Any:
    """A number that decides late, and is another in each round."""
    count = gw.zeros(())
    for w in weights:
        x = gw.tanh(x @ w) + (count >= 7.0)
        count = count + 1.0
    return x


def counted_from_a_constant(x: Any, *weights: Any) -> Any:
    count = gw.tensor(0.0)
    for w in weights:
        x = gw.tanh(x @ w) + (count >= 7.0)
        count = count + 1.0
    return x


def an_op_apart(x: Any, *weights: Any) -> Any:
    for w in weights:
        x = gw.tanh(x @ w).sort(1)[0]
    return x


def written(x: Any, *weights: Any) -> Any:
    for w in weights:
        w.mul_(1.0)
        x = gw.tanh(x @ w)
    return x


def one_kernel(x: Any, *weights: Any) -> Any:
    for w in weights:
        x = gw.sin(x) + gw.cos(x) * w[0]
    return x


def apart_from_the_chain(x: Any, *weights: Any) -> Any:
    total = gw.zeros(16)
    for w in weights:
        x = gw.tanh(x @ w)
        total = total * 0.5 + w.sum(0)
    return x, total


@pytest.mark.parametrize("f", [
    counted, counted_from_a_constant, an_op_apart, written, one_kernel, apart_from_the_chain])
def test_rounds_that_do_not_show_what_more_would_be_are_lowered_with_all(
    f: Callable[..., Any]
) -> None:
    assert not check(f, X, *[w.clone() for w in WEIGHTS])


def draws(x: Any, *weights: Any) -> Any:
    for w in weights:
        x = nn.functional.dropout(gw.tanh(x @ w), 0.5, training=True)
    return x


def test_rounds_that_draw_random_numbers_draw_what_they_did() -> None:
    with gw.no_grad():
        gw.manual_seed(3)
        expected = draws(X, *WEIGHTS)
        gw.manual_seed(3)
        gw.testing.assert_close(gw.compile(draws, backend="llvm")(X, *WEIGHTS), expected)


STEPS: list[Callable[[Any, Any, Any], Any]] = [
    lambda x, h, w: gw.tanh(x @ w),
    lambda x, h, w: x + h,
    lambda x, h, w: gw.relu(x) * 0.5,
    lambda x, h, w: x - x.mean(1, keepdim=True),
    lambda x, h, w: x.softmax(0),
    lambda x, h, w: x.flip(0) * w[0],
    lambda x, h, w: gw.cat([x[:, 8:], h[:, :8]], 1),
    lambda x, h, w: (x.view(6, 4, 4).transpose(1, 2).reshape(6, 16) @ w).sin(),
    lambda x, h, w: gw.where(x > 0.0, x, h),
    lambda x, h, w: gw.arange(6)[:, None] * x,
]


ROWS = [*WEIGHTS, *[w + 0.1 for w in WEIGHTS[:4]]]


def random_function(seed: int) -> Callable[..., Any]:
    """Rounds of random steps; in half of the functions one round has another constant, and some
    return what a round in the middle gave."""
    rng = random.Random(seed)
    chosen = [rng.choice(STEPS) for _ in range(rng.randint(2, 6))]
    odd = rng.choice([None, rng.randrange(len(ROWS))])
    middle = rng.choice([None, None, rng.randrange(len(ROWS))])
    carried = rng.random() < 0.5

    def f(x: Any, *weights: Any) -> Any:
        h, results = x.cos(), []
        for n, w in enumerate(weights):
            for step in chosen:
                x = step(x, h, w)
            x = x * 0.5 if n == odd else x * 0.75
            h = gw.sin(x) if carried else h
            results += [h] if n == middle else []
        return x, *results

    return f


def test_random_rounds() -> None:
    """Many of them are lengthened; all of these are what the whole graph becomes."""
    made = [compare(random_function(seed), X, *ROWS) for seed in range(12)]
    assert sum(made) >= 4
