"""Parameters, and other leaves of gradients, that the frame makes; modules that it copies."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.nn import functional as F
from graphwright.testing import assert_close

from ..captured import Captured

X = gw.arange(6.0).reshape(2, 3) - 2
Y = gw.ones(2, 3)


def model() -> nn.Module:
    gw.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 3))


def leaf(value: Any) -> Any:
    """What is seen of a tensor: its class, its place on the tape, its gradient, its memory."""
    grad = None if value.grad is None else value.grad
    return (type(value), value.is_leaf, value.requires_grad, value.stride(),
            value.storage_offset(), value.detach(), grad)


def seen(value: Any) -> Any:
    if isinstance(value, gw.Tensor):
        return leaf(value)
    if isinstance(value, nn.Module):
        parts = [*value.named_parameters(), *value.named_buffers()]
        return type(value), value.training, [(name, leaf(part)) for name, part in parts]
    if isinstance(value, dict):
        return type(value), [(key, seen(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [seen(item) for item in value]
    return value


def assert_same(ours: Any, plain: Any) -> None:
    if isinstance(plain, (list, tuple)):
        assert type(ours) is type(plain) and len(ours) == len(plain)
        for a, b in zip(ours, plain, strict=True):
            assert_same(a, b)
    elif isinstance(plain, gw.Tensor):
        assert_close(ours, plain)
    else:
        assert ours == plain


def parameter(m: Any, x: Any) -> Any:
    made = nn.Parameter(x * 2)
    held = {"a": made, "b": [made]}
    return held["a"] is held["b"][0], held, made.detach() + 1


def of_an_argument(m: Any, x: Any) -> Any:
    """It shares the memory of the argument."""
    made = nn.Parameter(x)
    with gw.no_grad():
        made.add_(1)
    return made, x * 2


def without_gradients(m: Any, x: Any) -> Any:
    return nn.Parameter(x.sum(0), requires_grad=False), (x * 2).requires_grad_()


def with_its_gradient(m: Any, x: Any) -> Any:
    made = nn.Parameter(x * 2)
    (made**2).sum().backward()
    return made, made.grad


def fitted(m: Any, x: Any) -> Any:
    weight = gw.zeros(3, requires_grad=True)
    for _ in range(2):
        loss = ((x @ weight - 1) ** 2).mean()
        weight.grad = None
        loss.backward()
        with gw.no_grad():
            weight -= 0.1 * weight.grad
    return weight, loss.detach()


def made_module(m: Any, x: Any) -> Any:
    layer = nn.Linear(3, 3)
    with gw.no_grad():
        nn.init.constant_(layer.weight, 0.5)
        layer.bias.zero_()
        return layer, layer(x)


def averaged(m: Any, x: Any) -> Any:
    """A copy of the model that follows it."""
    target = copy.deepcopy(m)
    with gw.no_grad():
        for mine, its in zip(target.parameters(), m.parameters(), strict=True):
            mine.mul_(0.9).add_(its, alpha=0.1)
    target.requires_grad_(False).eval()
    return target, target(x)


def best_state(m: Any, x: Any) -> Any:
    y = m(x)
    best = copy.deepcopy(m.state_dict())
    m(x * 3)
    return y.detach(), dict(best), type(best).__name__, dict(best._metadata)


def adapted(m: Any, x: Any) -> Any:
    """Steps of gradients on a copy; the loss comes out."""
    fast = copy.deepcopy(m)
    for _ in range(2):
        grads = gw.autograd.grad(F.mse_loss(fast(x), Y), list(fast.parameters()))
        with gw.no_grad():
            for part, grad in zip(fast.parameters(), grads, strict=True):
                part.sub_(0.1 * grad)
    with gw.no_grad():
        return F.mse_loss(fast(x), Y)


def optimised(m: Any, x: Any) -> Any:
    fast = copy.deepcopy(m)
    optimiser = gw.optim.SGD(fast.parameters(), lr=0.1)
    for _ in range(2):
        optimiser.zero_grad()
        loss = F.mse_loss(fast(x), Y)
        loss.backward()
        optimiser.step()
    return loss.detach()


def tied(m: Any, x: Any) -> Any:
    state = copy.deepcopy(nn.Sequential(m[0], m[0]).state_dict())
    state["0.bias"].add_(1)
    return dict(state), x + 1


def shallow(m: Any, x: Any) -> Any:
    other = copy.copy(m)
    return other[0].weight is m[0].weight, other.training, other(x).detach()


def leaf_and_argument(m: Any, x: Any) -> Any:
    first, second, third = copy.deepcopy([m[0].weight, x, x])
    second.add_(1)
    return first, second, third, second is third, x + 0


PROGRAMS = [
    parameter, of_an_argument, without_gradients, with_its_gradient, fitted, made_module,
    averaged, best_state, adapted, optimised, tied, shallow, leaf_and_argument,
]  # fmt: skip


@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_leaves_are_made_in_the_graph(program: Callable[..., Any], backend: str) -> None:
    compiled = gw.compile(program, backend=backend, fullgraph=True)
    plain, ours = model(), model()
    for step in range(3):
        arguments = [X * (step + 1), X * (step + 1)]
        expected = program(plain, arguments[0])
        assert_same(seen(compiled(ours, arguments[1])), seen(expected))
        assert_same(seen([ours, arguments[1]]), seen([plain, arguments[0]]))


def used(m: Any, x: Any) -> Any:
    scale = nn.Parameter(gw.ones(3))
    return x * scale, scale


def used_beside_others(m: Any, x: Any) -> Any:
    scale = nn.Parameter(gw.ones(3))
    return scale, m[0](x) * scale[:1]


@pytest.mark.parametrize("program", [used, used_beside_others])
def test_gradients_of_results_reach_the_leaves_that_leave_with_them(program: Any) -> None:
    captured = Captured(program)
    grads = []
    for function in (program, captured):
        made = function(model(), X)
        parameter, result = sorted(made, key=lambda part: type(part) is gw.Tensor)
        result.sum().backward()
        grads.append(parameter.grad)
    assert_close(grads[1], grads[0])
    assert captured.breaks == ["GB0023"]


class Weighted(nn.Module):
    def forward(self, x: Any) -> Any:
        with gw.no_grad():
            self.weight = nn.Parameter(x.mean(0))
        return x * 2


def test_a_module_gets_parameters_when_it_is_called() -> None:
    plain, ours = Weighted(), Weighted()
    compiled = gw.compile(ours, fullgraph=True)
    for step in range(3):
        assert_same(seen([compiled(X + step), ours]), seen([plain(X + step), plain]))


def test_the_memory_of_copied_arguments() -> None:
    """Parts of a memory, and arguments that share one, are copied as plain Python does."""
    def copied(x: Any, y: Any) -> Any:
        return copy.deepcopy([x, y])

    whole = gw.arange(12.0).reshape(4, 3)
    calls = [
        (gw.ones(3), gw.zeros(2)), (whole, gw.ones(3)), (whole[1:], gw.ones(3)),
        (whole, whole.detach()), (whole, whole[2:]), (whole[:, ::2], gw.ones(3)), (whole, whole),
    ]  # fmt: skip
    compiled = gw.compile(copied)
    for args in calls:
        found = compiled(*args)
        assert_same(seen(found), seen(copied(*args)))
        shared = found[0]._storage is found[1]._storage
        assert shared == (args[0]._storage is args[1]._storage)


def test_where_a_tensor_begins_in_its_memory() -> None:
    compiled = gw.compile(lambda x: ((x + 1)[1:].storage_offset(), x[1:].storage_offset()))
    whole = gw.arange(12.0).reshape(4, 3)
    for begin in (0, 1, 2):
        assert compiled(whole[begin:]) == (3, 3 * begin + 3)


def decided_by_values(x: Any) -> Any:
    made = nn.Parameter(x * 2)
    return (made, 1) if x.sum() > 0 else (made, 2)


def decided_amid_an_expression(x: Any) -> Any:
    made = (x * 2).requires_grad_()
    return gw.autograd.grad((made * (x / 2 if x.sum() > 0 else x)).sum(), made)[0], made


def handled(x: Any) -> Any:
    made = nn.Parameter(x * 2)
    try:
        print(1 // int(x[0, 0] > 0), end="")
    except ZeroDivisionError:
        return made, "none"
    return made, "some"


@pytest.mark.parametrize("program", [decided_by_values, decided_amid_an_expression, handled])
def test_every_way_behind_a_break_has_the_leaf(program: Any) -> None:
    captured = Captured(program)
    for x in (X + 9, X - 9, X + 9):
        assert_same(seen(captured(x)), seen(program(x)))
    assert captured.breaks


def inferred(x: Any) -> Any:
    with gw.inference_mode():
        made = nn.Parameter(x * 2)
        other = (x + 1).requires_grad_()
    return made, other


def inferred_before_a_break(x: Any) -> Any:
    with gw.inference_mode():
        layer = nn.Linear(3, 3)
        nn.init.constant_(layer.weight, 0.5)
    print(end="")
    return layer.weight, x + 1


@pytest.mark.parametrize("program", [inferred, inferred_before_a_break])
def test_leaves_made_in_inference_mode_leave_it(program: Callable[..., Any]) -> None:
    captured = Captured(program)
    for x in (X, X + 1):
        expected, found = program(x), captured(x)
        assert_same(seen(found), seen(expected))
        assert [part.is_inference() for part in found] == [
            part.is_inference() for part in expected]
    assert not gw.is_inference_mode_enabled()
    assert captured.graphs


def copied_behind_a_break_in_inference_mode(m: Any, x: Any) -> Any:
    with gw.inference_mode():
        print(end="")
    made = copy.deepcopy(m)
    made[0].weight.data.mul_(2)
    y = x + 1
    y.data.add_(1)
    return made[0].weight, y.data


def test_leaves_and_aliases_are_made_in_the_mode_of_their_memory() -> None:
    captured = Captured(copied_behind_a_break_in_inference_mode)
    for function in (copied_behind_a_break_in_inference_mode, captured):
        for part in function(model(), X):
            assert not part.is_inference()
            part.data.add_(1)
