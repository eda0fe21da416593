"""Ops whose results require gradients that nobody has: backward says so, as in PyTorch.

Zeros, or no gradient at all, would look like an answer.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import graphwright as gw

Function = Callable[[gw.Tensor], gw.Tensor]
PLACES = gw.tensor([[0, 1], [1, 0]])

REFUSED: dict[str, Function] = {
    "floor_divide": lambda x: x // 2,
    "floor_divide by a tensor": lambda x: 3.0 // x,
    "floor_divide_": lambda x: x.clone().floor_divide_(2),
    "heaviside": lambda x: gw.heaviside(x, x),
    "scatter with add": lambda x: gw.zeros(2, 2).scatter(0, PLACES, x, reduce="add"),
    "scatter with multiply": lambda x: gw.zeros(2, 2).scatter(0, PLACES, x, reduce="multiply"),
    "scatter_ with add": lambda x: x.clone().scatter_(0, PLACES, 2.0, reduce="add"),
    "unique": lambda x: x.unique(),
    "unique_consecutive": lambda x: gw.unique_consecutive(x),
    "histogram": lambda x: gw.histogram(x, 3).hist,
    "edges of a histogram": lambda x: gw.histogram(x, 3).bin_edges,
    "a histogram with bins": lambda x: gw.histogram(gw.ones(3), x[0].sort().values).hist,
    "bincount": lambda x: gw.bincount(gw.tensor([0, 1]), x[0]),
    "histogramdd": lambda x: gw.histogramdd(x, [2, 2]).hist,
    "geqrf": lambda x: gw.geqrf(x).a,
    "ldl_factor": lambda x: gw.linalg.ldl_factor(x).LD,
    "igamma": lambda x: gw.igamma(x, gw.ones(2, 2)),
    "zeta": lambda x: gw.special.zeta(x, gw.ones(2, 2)),
}


def given() -> gw.Tensor:
    return gw.tensor([[2.0, 1.5], [1.5, 3.0]], requires_grad=True)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", REFUSED)
def test_backward_is_refused(name: str, compiled: bool) -> None:
    function = gw.compile(REFUSED[name]) if compiled else REFUSED[name]
    out = function(given())
    assert out.requires_grad
    with pytest.raises(RuntimeError, match=r"derivative for .* is not implemented"):
        out.sum().backward()


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_reach_the_loss_needs_no_derivative(name: str) -> None:
    def loss(x: gw.Tensor) -> gw.Tensor:
        return (REFUSED[name](x).detach().sum() * x).sum()

    grads = []
    for run in (loss, gw.compile(loss)):
        x = given()
        run(x).backward()
        assert x.grad is not None
        grads.append(x.grad.tolist())
    expected = REFUSED[name](given()).sum().item()
    assert grads == [[[pytest.approx(expected)] * 2] * 2] * 2


LOSSES: dict[str, Callable[[gw.Tensor, gw.Tensor], gw.Tensor]] = {
    "nll_loss": lambda x, w: gw.nn.functional.nll_loss(x, gw.tensor([0, 1]), w),
    "cross_entropy": lambda x, w: gw.nn.functional.cross_entropy(x, gw.tensor([0, 1]), w),
    "binary_cross_entropy": lambda x, w: gw.nn.functional.binary_cross_entropy(
        gw.sigmoid(x), gw.ones(2, 2), w
    ),
}


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", LOSSES)
def test_weights_of_classes_are_constants(name: str, compiled: bool) -> None:
    """A weight that is to be learnt would silently stay as it is."""
    function = gw.compile(LOSSES[name]) if compiled else LOSSES[name]
    weight = gw.tensor([0.5, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="not differentiable with respect to argument 'weight'"):
        function(given(), weight)
    with gw.no_grad():
        assert function(given(), weight).isfinite().all()


def test_a_count_has_no_gradient() -> None:
    x = given()
    (gw.linalg.vector_norm(x, 0) + 0 * x.detach().sum()).backward()
    assert x.grad is None


@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_ends_of_what_is_spaced_out_are_constants(name: str) -> None:
    end = gw.tensor(2.0, requires_grad=True)
    assert not getattr(gw, name)(gw.tensor(0.0), end, 3).requires_grad
