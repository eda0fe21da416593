"""Weights written by hand within the frame that differentiates them, without an optimiser."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import graphwright as gw
from graphwright.face.native_backends import native

from ..captured import Captured


@pytest.mark.parametrize("target", ["c", "llvm"])
def test_steps_by_hand_in_one_frame_are_compiled(target: str) -> None:
    """Weights written under no_grad and differentiated again, as nothing leaves with a history."""

    def steps(x: gw.Tensor, weight: gw.Tensor) -> Any:
        for _ in range(3):
            loss = ((weight * x - 1) ** 2).sum()
            loss.backward()
            with gw.no_grad():
                weight.sub_(weight.grad, alpha=0.1)
                weight.grad = None
        return loss.detach()

    captured = Captured(steps, backend=functools.partial(native, target), fullgraph=True)
    plain, ours = (gw.ones(3, requires_grad=True) for _ in range(2))
    for scale in (0.5, 0.25):
        x = gw.tensor([1.0, 2.0, 3.0]) * scale
        assert gw.allclose(captured(x, ours), steps(x, plain))
        assert gw.allclose(ours, plain) and ours.grad is None and ours.is_leaf
    assert captured.graphs == 1 and not captured.breaks


def clamped(net: Any, x: Any) -> Any:
    """The critic of a Wasserstein GAN."""
    with gw.no_grad():
        for weight in net.parameters():
            weight.clamp_(-0.2, 0.2)
    return net(x).mean()


def rescaled(net: Any, x: Any) -> Any:
    """Rows of at most a length."""
    net.weight.data.div_(net.weight.data.norm(dim=1, keepdim=True).clamp(min=0.5))
    return net(x).sin().sum()


def looked_up(table: Any, x: Any) -> Any:
    return gw.nn.functional.embedding(gw.tensor([1, 0, 1]), table.weight, max_norm=0.5).sin().sum()


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("program", [clamped, rescaled, looked_up])
def test_weights_written_before_they_are_used_are_compiled(
    program: Any, create_graph: bool
) -> None:
    found = []
    for plainly in (True, False):
        captured = Captured(program, backend=functools.partial(native, "llvm"), fullgraph=True)
        gw.manual_seed(3)
        net, x = gw.nn.Linear(4, 3), gw.randn(5, 4)
        for _ in range(2):
            loss = (program if plainly else captured)(net, x)
            (grad,) = gw.autograd.grad(loss, net.weight, create_graph=create_graph)
        found.append((loss.detach(), grad.detach(), net.weight.detach(), net.weight.is_leaf))
        if create_graph and program is not clamped:
            grad.sum().backward()
            found[-1] += (net.weight.grad,)
    assert not captured.breaks and captured.graphs == 1
    gw.testing.assert_close(found[1], found[0])


def test_a_step_beside_a_result_with_a_history_and_an_op_that_may_refuse() -> None:
    """All that the graph writes is written at its end: buffers and leaves, once."""

    def f(net: Any, x: gw.Tensor, index: gw.Tensor) -> gw.Tensor:
        net.seen += 1
        kept = gw.zeros(3, 4).scatter_(1, index, 1.5)
        result = net.linear(x) + kept
        optimizer = gw.optim.AdamW(net.linear.parameters())
        net.linear(x).pow(2).mean().backward()
        optimizer.step()
        return result

    nets = []
    for call in (f, gw.compile(f, backend="llvm", fullgraph=True)):
        gw.manual_seed(0)
        net = gw.nn.Module()
        net.linear = gw.nn.Linear(4, 4)
        net.register_buffer("seen", gw.zeros(1))
        result = call(net, gw.ones(3, 4), gw.zeros(3, 1, dtype=gw.int64))
        assert result.requires_grad and net.seen.item() == 1.0
        nets.append(net)
    gw.testing.assert_close(nets[1].linear.weight, nets[0].linear.weight)


def added_to_a_product(x: Any, w: Any) -> Any:
    scores = (x @ w).unflatten(-1, (2, 4)).transpose(1, 2) @ x.unflatten(-1, (2, 4)).permute(
        0, 2, 3, 1
    )
    scores += 1.0
    return (scores * scores).mean()


def added_to_transposed_parts(x: Any, w: Any) -> Any:
    y = x @ w + 1
    parts = y.view(*x.shape[:2], 2, 4).transpose(1, 2)
    parts += 1.0
    return (y * y).mean() + parts.sum()


def scaled_slices(x: Any, w: Any) -> Any:
    y = x @ w + 1
    y[:, :, ::2] *= x[:, :, 1::2]
    return (y * y).mean()


def written_rows(x: Any, w: Any) -> Any:
    y = x @ w + 1
    flat = y.flatten(0, 1)
    flat[0] = 0
    y.transpose(0, 1)[0].add_(1)
    return (y * y).mean() + (flat * flat).sum()


@pytest.mark.parametrize(
    "loss", [added_to_a_product, added_to_transposed_parts, scaled_slices, written_rows]
)
def test_views_that_are_written_in_steps_of_changing_sizes(loss: Any) -> None:
    def step(x: Any, w: Any) -> Any:
        value = loss(x, w)
        value.backward()
        return value

    gw.manual_seed(0)
    ours = gw.randn(8, 8, requires_grad=True)
    plain = ours.detach().clone().requires_grad_()
    compiled = gw.compile(step, fullgraph=True)
    for sizes in [(2, 5), (3, 5), (4, 6), (7, 9)]:
        x = gw.randn(*sizes, 8)
        assert gw.allclose(compiled(x, ours), step(x, plain))
        assert gw.allclose(ours.grad, plain.grad, rtol=1e-4, atol=1e-4)
    assert gw.compiler.stats(compiled).graphs == 3
