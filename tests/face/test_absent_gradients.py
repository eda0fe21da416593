"""Results of compiled code from which nothing was computed contribute nothing to gradients.

They have no gradient, as eagerly: no zeros, which times an infinite derivative are nan, and which
functions of the user's own would see.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw
import graphwright.face.native_backends as backends
from graphwright.face.compiled_call import MOST_HALVES
from graphwright.ir.joint import absent_gradients
from graphwright.ir.lowered_graph import CannotLower, Lowered

START = [[1000.0, 1.0, 0.0, 2.0], [0.5, 3.0, 0.0, 1.0]]


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[Lowered]:
    """What is lowered for some of a call's gradients."""
    found: list[Lowered] = []
    lower = backends.lower_given

    def noted(whole: Lowered, given: Any) -> Lowered:
        found.append(lower(whole, given))
        return found[-1]

    monkeypatch.setattr(backends, "lower_given", noted)
    return found


def test_of_a_result_that_the_loss_does_not_use(lowered: list[Lowered]) -> None:
    compiled = gw.compile(lambda x: (x.mean(), x.exp()), fullgraph=True)
    for _ in range(3):
        x = gw.tensor([1000.0, 1.0], requires_grad=True)
        compiled(x)[0].backward()
        assert x.grad.tolist() == [0.5, 0.5]
    (only,) = lowered
    assert only.tangents == [0] and only.saved == []
    mean, exp = compiled(x)
    gw.autograd.grad(mean + exp.sum(), x)
    assert len(lowered) == 1


def test_many_sets_of_results_are_not_all_compiled(lowered: list[Lowered]) -> None:
    compiled = gw.compile(lambda x: tuple((x * k).sin() for k in range(1, 6)), fullgraph=True)
    for chosen in range(1, 1 << 5):
        x = gw.tensor(START, dtype=gw.float64, requires_grad=True)
        results = [y for k, y in enumerate(compiled(x)) if chosen >> k & 1]
        (got,) = gw.autograd.grad([y.sum() for y in results], x)
        wanted = sum(k * np.cos(k * np.array(START)) for k in range(1, 6) if chosen >> k - 1 & 1)
        assert np.allclose(got.numpy(), wanted)
    assert len(lowered) == MOST_HALVES


class Shifted(gw.autograd.Function):
    """Twice x and exp(x); backward adds 5 whenever it is called."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 2, x.exp()

    @staticmethod
    def backward(ctx: Any, one: Any, two: Any) -> Any:
        return one + 5 + two * ctx.saved_tensors[0].exp()


class Layers(gw.nn.Module):
    """Results of a small network; the activations stay in an attribute."""

    def __init__(self) -> None:
        super().__init__()
        gw.manual_seed(0)
        self.first = gw.nn.Linear(4, 4, dtype=gw.float64)
        self.hidden: Any = None

    def forward(self, x: Any) -> Any:
        h = self.hidden = self.first(x).relu()
        return h.mean(), gw.softmax(h, -1), gw.nn.functional.dropout(h.sqrt(), 0.5), h.t()


def written(x: Any) -> Any:
    y = x * 2
    z, w = y.exp(), y.sin()
    y.add_(1)
    return y.log(), z, w.sqrt(), y


def views(x: Any) -> Any:
    y = x.exp()
    return y[0], y.sum(0), x.log(), y.t()


def own_functions(x: Any) -> Any:
    return *Shifted.apply(x.sqrt()), *Shifted.apply(x)


def broken(x: Any) -> Any:
    y, z = x.exp(), x.sqrt()
    print(end="")
    return (y * 2).sum(), z.log(), (x / 0).mean(), y


def several_of_one_operation(x: Any) -> Any:
    one, two = x.sqrt().unbind(0)
    return one, two, *gw.var_mean(x.log(), 1)


def partly_without_gradients(x: Any) -> Any:
    with gw.no_grad():
        y = x.exp()
    return y * x, x.sqrt(), x.log(), (x - x).norm()


def layers(x: Any) -> Any:
    return LAYERS(x)


def argument_written(x: Any) -> Any:
    y = x * 1
    inner(y)
    return y, y.log(), x.sqrt(), x.exp()


def scaled(x: Any) -> None:
    x.mul_(x.exp())


inner = gw.compile(scaled)
LAYERS = Layers()
PROGRAMS = [written, views, own_functions, broken, several_of_one_operation,
            partly_without_gradients, layers, argument_written]


def gradients(function: Callable[..., Any], given: int, recorded: bool) -> Any:
    """By the results that are bits of `given`; where recorded, also those of the gradients."""
    gw.manual_seed(3)
    leaf = gw.tensor(START, dtype=gw.float64, requires_grad=True)
    results = function(leaf)
    assert len(results) == 4
    roots = [out for number, out in enumerate(results) if given >> number & 1]
    tangents = [gw.tensor(np.random.default_rng(1).standard_normal(out.shape)) for out in roots]
    found = list(gw.autograd.grad(roots, leaf, tangents, create_graph=recorded))
    if recorded and found[0].requires_grad:
        found += gw.autograd.grad(found[0].sum(), leaf, allow_unused=True)
    return [None if one is None else one.detach().numpy() for one in found]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_however_the_value_left_the_graph(
    program: Callable[..., Any], dynamic: bool, lowered: list[Lowered]
) -> None:
    compiled = gw.compile(program, dynamic=dynamic)
    for given in (1, 4) if dynamic else (1, 2, 4, 6, 8, 15):
        for recorded in (False, True):
            outcomes = []
            for function in (program, compiled):
                try:
                    with np.errstate(all="ignore"):
                        outcomes.append(gradients(function, given, recorded))
                except RuntimeError as refused:     # written since it was saved
                    outcomes.append(str(refused).partition(":")[0])
            np.testing.assert_equal(*[[one is None for one in found] for found in outcomes])
            for plain, other in zip(*outcomes, strict=True):
                if isinstance(plain, np.ndarray):
                    np.testing.assert_allclose(other, plain, rtol=1e-9, atol=1e-12)
    assert lowered and all(one.backward is not None for one in lowered)


def test_attributes_and_arguments_that_have_gradients_of_their_own() -> None:
    found = []
    for function in (LAYERS, gw.compile(LAYERS, fullgraph=True)):
        x = gw.tensor(START, dtype=gw.float64, requires_grad=True)
        function(x)
        (grad,) = gw.autograd.grad(LAYERS.hidden.sum(), x)
        found.append(grad)
    assert gw.allclose(*found)


def test_inputs_that_are_not_reached_have_no_gradient() -> None:
    compiled = gw.compile(lambda x, y: (x.exp(), y.sqrt()), fullgraph=True)
    x, y = gw.tensor([1.0], requires_grad=True), gw.tensor([0.0], requires_grad=True)
    found = gw.autograd.grad(compiled(x, y)[0], (x, y), allow_unused=True)
    assert found[0].item() == pytest.approx(2.7182817) and found[1] is None
    (x * compiled(x, y)[0]).backward()
    assert y.grad is None


@pytest.mark.parametrize("recorded", [False, True])
def test_of_all_examples_of_a_batch(recorded: bool) -> None:
    def program(x: Any) -> Any:
        return x.mean(), (x * 0).sqrt(), gw.nn.functional.dropout(x.exp(), 0.5) * x

    x = gw.tensor([1.0, 2.0, 3.0], dtype=gw.float64, requires_grad=True)
    found = []
    for function in (program, gw.compile(program, fullgraph=True)):
        gw.manual_seed(1)
        results = function(x)
        (rows,) = gw.autograd.grad(results[2], x, gw.eye(3, dtype=gw.float64),
                                   is_grads_batched=True, create_graph=recorded)
        again = gw.autograd.grad(rows.sum(), x) if recorded else ()
        found.append([rows, *again])
    for plain, other in zip(*found, strict=True):
        assert gw.allclose(plain, other) and not other.isnan().any()


def test_what_the_whole_backward_saved_is_read_and_nothing_else(lowered: list[Lowered]) -> None:
    def two(x: Any, w: Any) -> Any:
        h = gw.tanh(x @ w)
        return h @ w, (h * 2).exp(), gw.nn.functional.dropout(h, 0.5)

    compiled = gw.compile(two, fullgraph=True)
    x, w = gw.rand(3, 3, requires_grad=True), gw.rand(3, 3, requires_grad=True)
    for number in range(3):
        found = []
        for function in (two, compiled):
            gw.manual_seed(number)
            found.append(gw.autograd.grad(function(x, w)[number].sum(), (x, w)))
        for plain, other in zip(*found, strict=True):
            assert gw.allclose(plain, other, atol=1e-6)
    assert [one.tangents for one in lowered] == [[0], [1], [2]]
    products = [sum(node.name.startswith("mm") for node in one.backward.graph.nodes)
                for one in lowered if one.backward is not None]
    assert products == [4, 2, 2]        # none of the forward's again


def test_where_nothing_is_lowered_the_joint_graph_runs_op_by_op(
    monkeypatch: pytest.MonkeyPatch, lowered: list[Lowered]
) -> None:
    def refused(*args: Any) -> Any:
        raise CannotLower("for the test")

    monkeypatch.setattr(absent_gradients, "trace_joint", refused)
    for recorded in (False, True):
        compiled = gw.compile(lambda x: (x.mean(), x.exp(), x * x), fullgraph=True)
        x = gw.tensor([1000.0, 1.0], requires_grad=True)
        mean, _, square = compiled(x)
        (found,) = gw.autograd.grad(mean + square.sum(), x, create_graph=recorded)
        assert found.tolist() == [2000.5, 2.5] and found.requires_grad is recorded
        if recorded:
            assert gw.autograd.grad(found.sum(), x)[0].tolist() == [2.0, 2.0]
    assert len(lowered) == 2 and all(one.backward is None for one in lowered)
