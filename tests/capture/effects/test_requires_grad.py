"""`requires_grad_()` of tensors from outside: frozen weights, inputs to differentiate by."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.face.api import lookup

from ..captured import Captured

Program = Callable[[Any, Any], Any]


class Networks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
        self.maker = nn.Linear(4, 4)


def adversarial(net: Any, x: Any) -> Any:
    """A whole step of a Wasserstein GAN."""
    critic, maker = net.critic, net.maker
    net.zero_grad()
    for weight in critic.parameters():
        weight.requires_grad = True
    (critic(maker(x).detach()).mean() - critic(x).mean()).backward()
    with gw.no_grad():
        for weight in critic.parameters():
            weight.sub_(weight.grad, alpha=0.1)
            weight.clamp_(-0.5, 0.5)
    for weight in critic.parameters():
        weight.requires_grad = False
    loss = -critic(maker(x)).mean()
    loss.backward()
    return loss


def frozen_meanwhile(net: Any, x: Any) -> Any:
    net.critic.requires_grad_(False)
    loss = net.critic(net.maker(x)).sum()
    net.critic.requires_grad_(True)
    loss.backward()
    return loss.detach()


def recorded_meanwhile(net: Any, x: Any) -> Any:
    before = x * 2
    x.requires_grad_()
    net.critic(x).sum().backward()
    x.requires_grad_(False)
    return before + x, x.grad


def frozen(net: Any, x: Any) -> Any:
    net.maker.weight.requires_grad_(False)
    return net.maker(x).sin()


def sampled(net: Any, x: Any) -> Any:
    """A step of Langevin dynamics."""
    x.requires_grad_()
    (slope,) = gw.autograd.grad(net.critic(x).sum(), x)
    return x - 0.1 * slope


def attacked(net: Any, x: Any) -> Any:
    """The fast gradient sign method."""
    x.requires_grad = True
    loss = net.critic(x).pow(2).sum()
    net.zero_grad()
    loss.backward()
    return gw.clamp(x + 0.1 * x.grad.data.sign(), 0, 1)


def state(net: Any, *tensors: Any) -> list[Any]:
    found = [*net.parameters(), *(t for t in tensors if isinstance(t, gw.Tensor))]
    return [(t.detach().clone(), t.requires_grad, t.is_leaf, t.grad if t.is_leaf else None)
            for t in found]


def history(function: Program) -> list[Any]:
    """What three calls give and leave behind."""
    gw.manual_seed(0)
    net, found = Networks(), []
    for _ in range(3):
        x = gw.randn(3, 4)
        result = function(net, x)
        results = result if isinstance(result, tuple) else (result,)
        found.append(state(net, x, *results))
    return found


@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize("program", [
    adversarial, frozen_meanwhile, recorded_meanwhile, frozen, sampled, attacked,
])
def test_one_graph_for_each_state_at_the_start(program: Program, backend: str) -> None:
    captured = Captured(program, backend=lookup(backend), fullgraph=True)
    gw.testing.assert_close(history(captured), history(program))
    assert captured.graphs <= 2


def frozen_before_the_pass(net: Any, x: Any) -> Any:
    loss = net.maker(x).sin().sum()
    net.maker.weight.requires_grad_(False)
    loss.backward()
    net.maker.weight.requires_grad_(True)
    return loss.detach()


def shown_frozen(net: Any, x: Any) -> Any:
    net.maker.weight.requires_grad_(False)
    row = net.maker.weight[0]
    net.maker.weight.requires_grad_(True)
    return row


def written_frozen(net: Any, x: Any) -> Any:
    net.maker.weight.requires_grad_(False)
    net.maker.weight.mul_(0.5)
    net.maker.weight.requires_grad_(True)
    return net.maker(x)


@pytest.mark.parametrize(
    "program", [frozen_before_the_pass, shown_frozen, written_frozen])
def test_what_an_alias_does_not_stand_for_runs_plainly(program: Program) -> None:
    captured = Captured(program)
    gw.testing.assert_close(history(captured), history(program))
    assert captured.breaks


def test_a_result_of_operations_is_refused_as_plainly() -> None:
    captured = Captured(lambda x: x.requires_grad_(False) * 2)
    with pytest.raises(RuntimeError, match="leaf"):
        captured(gw.ones(2, requires_grad=True) * 2)


def test_a_graph_that_fails_leaves_the_flag_as_it_was() -> None:
    def program(x: Any, index: Any) -> Any:
        known = x.requires_grad
        x.requires_grad_()
        total = x[index].sum()
        x.requires_grad_(False)
        return total.detach(), known

    captured = Captured(program, backend=lookup("llvm"))
    x = gw.tensor([1.0, 2.0])
    for index in (gw.tensor([0, 1]), gw.tensor([5])):
        try:
            total, known = captured(x, index)
            assert total == 3 and not known and not x.requires_grad
        except IndexError:
            assert x.requires_grad      # as the plain program leaves it
    assert captured.breaks == []


def test_which_branch_is_taken_decides_what_is_recorded() -> None:
    def program(net: Any, x: Any) -> Any:
        if bool(net.training):
            x.requires_grad_()
        return net.critic(x).sum()

    def both(function: Program) -> Any:
        gw.manual_seed(0)
        net = Networks()
        found = []
        for training in (True, False, True, False):
            x = gw.randn(2, 4)
            net.train(training)
            function(net, x).backward()
            found.append((x.requires_grad, x.grad))
        return found

    captured = Captured(program, fullgraph=True)
    gw.testing.assert_close(both(captured), both(program))
    assert captured.graphs == 2


def _by_method(h: Any) -> Any:
    return h.requires_grad_()


def _by_attribute(h: Any) -> Any:
    h.requires_grad = True
    return h


@pytest.mark.parametrize("switched", [_by_method, _by_attribute])
@pytest.mark.parametrize("leaf", [True, False])
def test_of_a_tensor_made_in_the_frame(switched: Any, leaf: bool) -> None:
    """One with a history keeps it; setting the attribute is refused then."""
    weight = gw.ones(3, requires_grad=True)

    def program(x: Any) -> Any:
        h = switched(x[:, None])
        return (h * weight).sum()

    found = []
    for function in (program, gw.compile(program)):
        x, weight.grad = gw.arange(4.0).requires_grad_(not leaf), None
        try:
            function(x).backward()
        except RuntimeError as error:
            found.append(str(error))
        else:
            found.append((None if x.grad is None else x.grad.tolist(), weight.grad.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("action", ["always", "error"])
def test_gradients_that_will_not_come_are_warned_of_once_and_where_they_are_read(
    action: Any,
) -> None:
    """By the reading line: neither by capture, nor by guards on a leaf that went before."""
    def program(x: Any, asked: Any) -> Any:
        y = x + 1
        return y, asked.grad is None

    captured = Captured(program)
    leaf = gw.ones(2, requires_grad=True)
    retained = leaf * 2
    retained.retain_grad()
    line = program.__code__.co_firstlineno + 2
    for asked in (leaf, leaf * 2, retained, leaf * 2, gw.ones(2), leaf, retained):
        warned = not asked.is_leaf and asked is not retained
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter(action)
            if warned and action == "error":
                with pytest.raises(UserWarning, match="not a leaf"):
                    captured(gw.ones(1), asked)
            else:
                assert captured.agrees(gw.ones(1), asked)
        expected = [(__file__, line)] * 2 if warned and action == "always" else []
        assert [(warning.filename, warning.lineno) for warning in found] == expected
    assert set(captured.breaks) == {"GB0008"}
