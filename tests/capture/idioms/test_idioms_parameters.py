"""Parameters and modules made in the frame, and questions about a tensor's history."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright import nn

from ..captured import Captured
from ..pictures import picture
from ..programs import Programs

whole_program = Programs()
broken_program = Programs()


class Net(nn.Module):
    """A layer, a parameter and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.scale = nn.Parameter(gw.ones(3))
        self.register_buffer("offset", gw.ones(3))

    def forward(self, x: Any) -> Any:
        return self.layer(x) * self.scale + self.offset


@whole_program
def applied_without_gradients(x: Any) -> Any:
    net = Net()
    with gw.no_grad():
        y = net(x)
    return y, [name for name, _ in net.named_parameters()], sorted(dict(net.named_buffers()))


@whole_program
def fitted_in_the_frame(x: Any) -> Any:
    weight = nn.Parameter(gw.zeros(3, 2))
    for _ in range(3):
        loss = (x @ weight - 1).pow(2).mean()
        loss.backward()
        with gw.no_grad():
            weight -= 0.1 * weight.grad
            weight.grad = None
    return loss.detach(), weight.detach().clone()


@whole_program
def kinds(x: Any) -> Any:
    parameter = nn.Parameter(x * 2, requires_grad=False)
    facts = isinstance(parameter, nn.Parameter), type(parameter) is nn.Parameter
    return parameter + 1, facts, parameter.requires_grad, parameter.is_leaf


@whole_program
def history(x: Any) -> Any:
    y = x.clone().requires_grad_()
    z = y * 2
    return z.detach(), x.grad_fn is None, y.grad_fn is None, y.is_leaf, z.is_leaf


@broken_program
def layer_leaves(x: Any) -> Any:
    layer = nn.Linear(3, 2)
    return layer(x * 2), layer


@broken_program
def result_leaves_with_its_history(x: Any) -> Any:
    return nn.Linear(3, 2)(x)


@whole_program
def parameter_without_gradients_leaves(x: Any) -> Any:
    return nn.Parameter(x * 2, requires_grad=False)


def outcome(function: Any, x: Any) -> Any:
    gw.manual_seed(0)
    return picture((function(x), gw.rand(1)))


@pytest.mark.parametrize("program", whole_program.all, ids=lambda p: p.__name__)
def test_in_one_graph(program: Any) -> None:
    captured, x = Captured(program, fullgraph=True), gw.randn(4, 3)
    for _ in range(2):
        assert outcome(captured, x) == outcome(program, x)


@pytest.mark.parametrize("program", broken_program.all, ids=lambda p: p.__name__)
def test_what_leaves_the_frame_is_made_by_plain_python(program: Any) -> None:
    captured, x = Captured(program), gw.randn(4, 3)
    for _ in range(2):
        assert outcome(captured, x) == outcome(program, x)
    assert captured.breaks
    assert type(captured(x)) is type(program(x))


def questions(x: Any) -> Any:
    return x * 2, x.is_leaf, x.grad_fn is None


def test_history_of_arguments_is_guarded() -> None:
    captured = Captured(questions)
    leaf = gw.ones(2, requires_grad=True)
    for x in (leaf, leaf * 1, gw.ones(2), leaf, leaf * 1):
        assert captured(x)[1:] == questions(x)[1:]


def added_leaf(weight: Any) -> Any:
    return weight + gw.ones(3, requires_grad=True)


def random_leaf(weight: Any) -> Any:
    return weight * 2 + gw.rand(3, requires_grad=True)


def leaf_under_no_grad(weight: Any) -> Any:
    leaf = gw.full((3,), 2.0).requires_grad_()
    with gw.no_grad():
        plain = leaf * 2
    return weight * (weight.detach() * leaf) + plain


@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize("program", [added_leaf, random_leaf, leaf_under_no_grad])
def test_leaves_made_in_the_frame_take_no_gradients_from_others(
    program: Any, backend: str
) -> None:
    found = []
    for function in (program, gw.compile(program, backend=backend, fullgraph=True)):
        gw.manual_seed(0)
        weight = gw.arange(3.0).requires_grad_()
        result = function(weight)
        result.sum().backward()
        found.append((result.requires_grad, result.tolist(), weight.grad.tolist()))
    assert found[0] == found[1]


def test_the_state_of_a_module_is_read_in_one_graph() -> None:
    def program(x: Any) -> Any:
        state = NET.state_dict()
        doubled = {name: value * 2 for name, value in state.items() if value.dim()}
        return NET(x), doubled, list(state), state["scale"] is NET.scale, state

    captured, x = Captured(program, fullgraph=True), gw.ones(3)
    for _ in range(2):
        assert picture(captured(x)) == picture(program(x))


NET = Net()
