"""Leaves that are frozen after their use: a pass leaves their `.grad` alone, as plainly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.face.api import lookup
from graphwright.utils.checkpoint import CheckpointError, checkpoint

from ..captured import Captured

Program = Callable[[Any, Any, list[Any]], Any]


class Logged(gw.autograd.Function):
    """Twice its argument; its backward is seen."""

    seen: list[Any]

    @staticmethod
    def forward(ctx: Any, t: Any) -> Any:
        ctx.save_for_backward(t)
        return t * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        Logged.seen.append(ctx.needs_input_grad)
        return grad * 2 + ctx.saved_tensors[0] * 0


def leaf_of(x: Any) -> Any:
    return x.detach().clone().requires_grad_()


def made(net: Any, x: Any, seen: list[Any]) -> Any:
    w = leaf_of(x)
    loss = (w * 2).relu().sum()
    w.requires_grad_(False)
    loss.backward()
    return w.grad


def made_beside_another(net: Any, x: Any, seen: list[Any]) -> Any:
    w = nn.Parameter(x.detach() * 2)
    loss = (w * w * x).sum()
    w.requires_grad = False
    loss.backward()
    return w.grad


def of_a_module(net: Any, x: Any, seen: list[Any]) -> Any:
    loss = net(x).sin().sum()
    net.weight.requires_grad_(False)
    loss.backward()
    return loss.detach()


def all_of_a_module(net: Any, x: Any, seen: list[Any]) -> Any:
    loss = net(x).sin().sum()
    net.requires_grad_(False)
    loss.backward()
    return loss.detach()


def below_a_hook(net: Any, x: Any, seen: list[Any]) -> Any:
    w = leaf_of(x)
    hidden = w * w
    hidden.register_hook(lambda grad: seen.append(grad.sum()))
    loss = (hidden * x).sum()
    w.requires_grad_(False)
    loss.backward()
    return w.grad


def beside_a_hook(net: Any, x: Any, seen: list[Any]) -> Any:
    other = Logged.apply(nn.Parameter(x.detach() * 1))
    other.register_hook(lambda grad: seen.append(grad.sum()))
    w = leaf_of(x)
    loss = (w * x[:1].detach()).relu().sum()
    w.requires_grad_(False)
    loss.backward()
    return w.grad


def below_a_retained(net: Any, x: Any, seen: list[Any]) -> Any:
    w = leaf_of(x)
    hidden = w * w
    hidden.retain_grad()
    loss = (hidden * x).sum()
    loss.backward(retain_graph=True)
    w.requires_grad_(False)
    loss.backward()
    return hidden.grad, w.grad


def below_an_own_function(net: Any, x: Any, seen: list[Any]) -> Any:
    w = leaf_of(x)
    loss = Logged.apply(w).sum() + (x * x).sum()
    w.requires_grad_(False)
    loss.backward()
    return w.grad


def for_one_pass_of_three(net: Any, x: Any, seen: list[Any]) -> Any:
    w = leaf_of(x)
    loss = (w * w * net(x).sum()).sum()
    for on in (True, False, True):
        w.requires_grad_(on)
        net.weight.requires_grad_(on)
        loss.backward(retain_graph=True)
    return w.grad


def by_a_hook(net: Any, x: Any, seen: list[Any]) -> Any:
    hidden = net(x).sin()
    hidden.register_hook(lambda grad: seen.append(net.weight.requires_grad_(False).sum()))
    hidden.sum().backward()
    return hidden.detach()


def made_by_a_hook(net: Any, x: Any, seen: list[Any]) -> Any:
    w = leaf_of(x)
    hidden = w * w
    hidden.register_hook(lambda grad: seen.append(w.requires_grad_(False).sum()))
    (hidden * x).sum().backward()
    return w.grad, w


def before_its_result_leaves(net: Any, x: Any, seen: list[Any]) -> Any:
    w = leaf_of(x)
    result = (w * w * x).sum()
    w.requires_grad_(False)
    return result


def given_at_its_making(net: Any, x: Any, seen: list[Any]) -> Any:
    w = gw.ones(3, requires_grad=True)
    result = (w.exp() * x).sum()
    w.requires_grad_(False)
    return result, w * 2


def before_a_passed_result_leaves(net: Any, x: Any, seen: list[Any]) -> Any:
    w = leaf_of(x)
    result = (w * w * x).sum()
    result.backward()
    w.requires_grad_(False)
    return result


def before_a_result_leaves_that_is_passed_in_part(net: Any, x: Any, seen: list[Any]) -> Any:
    w = leaf_of(x)
    part = (w * w).sum()
    result = part + (x * x).sum()
    part.backward()
    w.requires_grad_(False)
    return result


def outcome(function: Program, x_needs: bool) -> list[Any]:
    """What two calls give and leave behind, and what passes from their results do."""
    found = []
    for _ in range(2):
        gw.manual_seed(0)
        net, x, seen = nn.Linear(3, 2), gw.randn(4, 3).requires_grad_(x_needs), []
        Logged.seen = seen
        result = function(net, x, seen)
        results = result if isinstance(result, tuple) else (result,)
        leaves = (x, *net.parameters())
        found.append([(t.requires_grad, t.is_leaf, t.detach()) for t in results if t is not None])
        for on in (None, True):
            for leaf in leaves:
                leaf.requires_grad_(on or leaf.requires_grad)
            for value in results:
                if value is not None and value.grad_fn is not None:
                    try:
                        value.backward(retain_graph=True)
                    except RuntimeError as error:
                        found.append(["a second time" in str(error)])
            found.append([*seen, *((leaf.requires_grad, leaf.grad) for leaf in leaves)])
    return found


PROGRAMS = [
    made, made_beside_another, of_a_module, all_of_a_module, below_a_hook, beside_a_hook,
    below_a_retained, below_an_own_function, for_one_pass_of_three, by_a_hook, made_by_a_hook,
    before_its_result_leaves, given_at_its_making, before_a_passed_result_leaves,
    before_a_result_leaves_that_is_passed_in_part,
]


@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize("x_needs", [True, False])
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_plainly(program: Program, x_needs: bool, backend: str) -> None:
    captured = Captured(program, backend=lookup(backend))
    gw.testing.assert_close(outcome(captured, x_needs), outcome(program, x_needs))
    assert captured.graphs


@pytest.mark.parametrize("stage", ["hook", "accumulate_hook"])
def test_by_hooks_of_leaves(stage: str) -> None:
    """What has its gradient already keeps it; what comes later gets none."""
    def program(net: Any, x: Any) -> Any:
        net(x).sum().backward()

    def grads(function: Any) -> list[Any]:
        net = nn.Linear(3, 2)
        register = ("register_hook" if stage == "hook"
                    else "register_post_accumulate_grad_hook")
        for leaf in net.parameters():
            getattr(leaf, register)(lambda _: net.requires_grad_(False) and None)
        function(net, gw.ones(2, 3))
        return [(leaf.requires_grad, leaf.grad) for leaf in net.parameters()]

    captured = Captured(program)
    gw.testing.assert_close(grads(captured), grads(program))


def _of_a_module(net: Any, x: Any) -> Any:
    loss = checkpoint(net, x, use_reentrant=False).tanh().sum()
    net.weight.requires_grad_(False)
    return loss


def _made(net: Any, x: Any) -> Any:
    w = leaf_of(x)
    loss = checkpoint(lambda t: (t.tanh() * x).sum(), w, use_reentrant=False)
    w.requires_grad_(False)
    return loss


def _not_any_more(net: Any, x: Any) -> Any:
    x.requires_grad_(False)
    loss = checkpoint(lambda t: net(t).tanh().sum(), x, use_reentrant=False)
    x.requires_grad_()
    return loss


@pytest.mark.parametrize("within", [True, False])
@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize("program", [_of_a_module, _made, _not_any_more])
def test_what_a_checkpoint_reads_again(program: Any, backend: str, within: bool) -> None:
    """What it saves is other tensors then: that is refused, by the frame's pass or a later one."""
    def run(net: Any, x: Any) -> Any:
        loss = program(net, x)
        if within:
            loss.backward(retain_graph=True)
        return loss

    for function in (run, gw.compile(run, backend=backend)):
        x = gw.arange(12.0).view(4, 3).requires_grad_()
        with pytest.raises(CheckpointError):
            function(nn.Linear(3, 2), x).backward()


def test_what_a_pass_has_computed_again_already() -> None:
    def program(net: Any, x: Any) -> Any:
        net.requires_grad_(False)
        loss = checkpoint(lambda t: net(t).tanh().sum(), x, use_reentrant=False)
        loss.backward()
        net.requires_grad_(True)
        return loss.detach()

    captured = Captured(program, fullgraph=True)
    for function in (program, captured):
        net, x = nn.Linear(3, 2), gw.ones(2, 3, requires_grad=True)
        function(net, x)
        assert x.grad is not None and net.weight.grad is None and net.weight.requires_grad


def moved_within(w: Any, h: Any, x: Any) -> Any:
    loss = (w * 3).sum() + x.sum()
    w.requires_grad_(False)
    w.mul_(h)
    loss.backward()
    return x.grad


def moved_and_made_within(w: Any, h: Any, x: Any) -> Any:
    return moved_within(w.detach().clone().requires_grad_(), h, x)


def moved_after_a_part(w: Any, h: Any, x: Any) -> Any:
    loss = gw.compile(lambda w, x: (w * 3).sum() + x.sum())(w, x)
    w.requires_grad_(False)
    w.copy_(h)
    loss.backward()
    return x.grad


@pytest.mark.parametrize("program", [moved_within, moved_and_made_within, moved_after_a_part])
def test_a_frozen_leaf_that_has_got_a_history(program: Any) -> None:
    """What it was used for before does not lead to where its history goes: that is refused."""
    for function in (program, gw.compile(program)):
        w, h, x = (gw.full((3,), value, requires_grad=True) for value in (1.0, 2.0, 3.0))
        with pytest.raises(RuntimeError, match="moved into the graph interior"):
            function(w, h, x)
        assert h.grad is None
