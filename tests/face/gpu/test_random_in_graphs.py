"""Random numbers of compiled functions on a GPU: those of the CPU, drawn once."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright.utils.checkpoint import checkpoint

from .compiled import moved

F = gw.nn.functional


def following(device: str) -> Any:
    """The numbers that a device's generator draws next, on the CPU."""
    return gw.rand(3, device=device).cpu()


def test_draws_are_the_cpu_s(gpu: Any) -> None:
    def f(x: Any) -> Any:
        noise = gw.randn_like(x) + gw.rand(4, 5, device=x.device)
        return noise + gw.randint(0, 9, (4, 5), device=x.device) + F.dropout(x, 0.5)

    x, results = gw.randn(4, 5), []
    for function, device in ((f, "cpu"), (gw.compile(f), "cuda"), (f, "cuda")):
        gw.manual_seed(3)
        results.append([function(x.to(device)).cpu() for _ in range(2)] + [following(device)])
    for got in results[1:]:
        gw.testing.assert_close(got, results[0])


def test_numbers_that_nothing_reads_are_drawn(gpu: Any) -> None:
    """Where ops of the graph run eagerly, too."""
    def f(x: Any) -> Any:
        gw.rand(3, device=x.device)
        y = gw.sin(x)
        F.dropout(x, 0.5)
        return y, gw.linalg.eigvalsh(x @ x.t())

    gw.cuda.set_fallback_mode("silent")
    states = []
    for function in (f, gw.compile(f)):
        gw.manual_seed(3)
        function(gw.ones(4, 4, device="cuda"))
        states.append((following("cuda"), following("cpu")))
    gw.cuda.set_fallback_mode("warn")
    gw.testing.assert_close(states[1], states[0], rtol=0, atol=0)


def test_gradients_of_gradients_draw_again(gpu: Any) -> None:
    def f(x: Any, w: Any) -> Any:
        return (F.dropout(x @ w, 0.5) ** 3).sum()

    given, found = (gw.randn(3, 4, requires_grad=True), gw.randn(4, 2, requires_grad=True)), []
    for function, device in ((f, "cpu"), (gw.compile(f), "cuda")):
        x, w = moved(given, device)
        gw.manual_seed(3)
        loss = function(x, w)
        following(device)
        (slope,) = gw.autograd.grad(loss, x, create_graph=True)
        (slope ** 2).sum().backward()
        found.append([loss.cpu(), slope.detach().cpu(), w.grad.cpu(), following(device)])
    gw.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_recomputation_draws_again(gpu: Any, compiled: bool, reentrant: bool) -> None:
    gw.manual_seed(0)
    layers = gw.nn.Sequential(gw.nn.Linear(5, 6), gw.nn.Dropout(0.4), gw.nn.Linear(6, 2))
    x = gw.randn(4, 5, requires_grad=True)

    def f(x: Any) -> Any:
        return checkpoint(layers, x, use_reentrant=reentrant).pow(2).sum()

    gw.manual_seed(3)
    layers(x).pow(2).sum().backward()
    want = [x.grad, *(p.grad.clone() for p in layers.parameters())]
    layers.zero_grad()
    layers.cuda()
    there = moved(x, "cuda")
    gw.manual_seed(3)
    loss = (gw.compile(f) if compiled else f)(there)
    following("cuda")
    loss.backward()
    got = [there.grad, *(p.grad for p in layers.parameters())]
    gw.testing.assert_close([g.cpu() for g in got], want, rtol=1e-4, atol=1e-5)
