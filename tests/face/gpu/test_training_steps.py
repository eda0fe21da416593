"""Training steps on the simulated GPU: loss, backward and optimiser in one graph, or around it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import graphwright as gw
from graphwright.runtime.cuda import fallbacks

from .networks import Classifier

F = gw.nn.functional
STEPS = 3


class Trained(NamedTuple):
    """The losses of some steps, the parameters after them, and the counts of the compiled step."""

    losses: list[float]
    parameters: list[Any]
    stats: Any


def train(
    device: str, optimiser: Callable[..., Any], whole: bool = True,
    step_of: Callable[..., Callable[..., Any]] | None = None,
) -> Trained:
    """Train the classifier for a few steps on one batch.

    whole: whether backward and the optimiser's step are in the compiled function; step_of: makes
    that function of the model and its optimiser.
    """
    gw.compiler.reset()
    gw.manual_seed(0)
    model, x, y = Classifier(), gw.randn(5, 6), gw.tensor([0, 2, 1, 1, 0])
    model, x, y = model.to(device), x.to(device), y.to(device)
    steps = optimiser(model.parameters())

    def step(x: Any, y: Any) -> Any:
        loss = F.cross_entropy(model(x), y)
        if whole:
            loss.backward()
            steps.step()
            steps.zero_grad()
        return loss

    compiled = gw.compile(step_of(model, steps) if step_of else step)
    losses = []
    gw.manual_seed(1)       # also where the CPU's numbers were drawn for the model
    for _ in range(STEPS):
        loss = compiled(x, y)
        if not whole:
            loss.backward()
            steps.step()
            steps.zero_grad()
        losses.append(loss.item())
    return Trained(losses, list(model.parameters()), gw.compiler.stats(compiled))


def assert_as_on_the_cpu(gpu: Any, *args: Any, tolerance: float = 1e-5, **options: Any) -> Trained:
    """Assert equal losses and parameters, in one graph without ops on the CPU."""
    here = train("cpu", *args, **options)
    fallbacks.clear()
    there = train("cuda", *args, **options)
    assert fallbacks.counts() == {}
    stats = there.stats
    assert (stats.graphs, stats.breaks, stats.fallbacks, stats.recompiles) == (1, 0, 0, 0)
    gw.testing.assert_close(there.losses, here.losses, rtol=tolerance, atol=tolerance)
    for got, want in zip(there.parameters, here.parameters, strict=True):
        assert got.is_cuda
        gw.testing.assert_close(got.cpu(), want, rtol=10 * tolerance, atol=10 * tolerance)
    assert here.losses[-1] != here.losses[0] and not gpu.faults
    return there


OPTIMISERS: dict[str, Callable[..., Any]] = {
    "SGD": lambda p: gw.optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
    "Adam": lambda p: gw.optim.Adam(p, 0.01, amsgrad=True),
    "AdamW, capturable": lambda p: gw.optim.AdamW(p, 0.01, capturable=True),
    "Adam, fused": lambda p: gw.optim.Adam(p, 0.01, fused=True),
    "AdamW, fused": lambda p: gw.optim.AdamW(p, 0.01, fused=True),
    "SGD, fused": lambda p: gw.optim.SGD(p, 0.1, momentum=0.9, fused=True),
    "AdamW, foreach": lambda p: gw.optim.AdamW(p, 0.01, foreach=True),
    "SGD, foreach": lambda p: gw.optim.SGD(p, 0.1, foreach=True),
    "RMSprop": lambda p: gw.optim.RMSprop(p, 0.01),
    "NAdam": lambda p: gw.optim.NAdam(p, 0.01),
}


@pytest.mark.parametrize("name", [
    name if name in ("SGD", "AdamW, fused") else pytest.param(name, marks=pytest.mark.slow)
    for name in OPTIMISERS])
def test_a_whole_step_is_one_graph(gpu: Any, name: str) -> None:
    trained = assert_as_on_the_cpu(gpu, OPTIMISERS[name])
    launches = len(gpu.launches)
    assert launches >= STEPS * trained.stats.kernels


def test_backward_and_the_optimiser_outside_of_the_graph(gpu: Any) -> None:
    assert_as_on_the_cpu(gpu, OPTIMISERS["AdamW, fused"], whole=False)


def test_gradients_are_clipped_within_the_step(gpu: Any) -> None:
    def step_of(model: Any, optimiser: Any) -> Callable[..., Any]:
        def step(x: Any, y: Any) -> Any:
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            gw.nn.utils.clip_grad_norm_(model.parameters(), 0.05)
            optimiser.step()
            optimiser.zero_grad()
            return loss
        return step

    assert_as_on_the_cpu(gpu, OPTIMISERS["SGD"], step_of=step_of)


def test_batches_come_from_the_cpu(gpu: Any) -> None:
    def step_of(model: Any, optimiser: Any) -> Callable[..., Any]:
        data = gw.utils.data.TensorDataset(gw.randn(12, 6), gw.randn(12, 3))
        batches = iter(gw.utils.data.DataLoader(data, batch_size=4, pin_memory=True))

        def step(x: Any, y: Any) -> Any:
            loss = F.mse_loss(model(x.to(device, non_blocking=True)), y.to(device))
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()
            return loss

        device = next(model.parameters()).device
        compiled = gw.compile(step)
        made.append(compiled)
        return gw.compiler.disable(lambda x, y: compiled(*next(batches)))

    losses = []
    for device in ("cpu", "cuda"):
        made: list[Any] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")     # without a GPU nothing is pinned
            losses.append(train(device, OPTIMISERS["SGD"], step_of=step_of).losses)
        assert gw.compiler.stats(made[0]).graphs == 1
    gw.testing.assert_close(losses[1], losses[0], rtol=1e-5, atol=1e-5)


def test_the_state_of_an_optimiser_goes_on_elsewhere(gpu: Any) -> None:
    """A step compiled for the CPU's parameters is compiled anew for those of a GPU."""
    model, losses = Classifier().eval(), []
    optimiser = gw.optim.Adam(model.parameters(), 0.01)
    x, y = gw.randn(5, 6), gw.randn(5, 3)

    @gw.compile
    def step(x: Any, y: Any) -> Any:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        return loss

    for device in ("cpu", "cuda", "cuda:1"):
        model.to(device)
        optimiser.load_state_dict(optimiser.state_dict())
        losses.append(step(x.to(device), y.to(device)).item())
    assert losses[0] > losses[1] > losses[2]
    assert all(p.device == gw.device("cuda:1") for p in model.parameters())
    stats = gw.compiler.stats(step)
    assert (stats.graphs, stats.recompiles, stats.fallbacks) == (3, 2, 0)
