"""Hooks that the gradients of `backward()` meet in the captured frame."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.face.api import lookup

from ..captured import Captured

Program = Callable[[Any, Any, list[Any]], Any]


def doubled(net: Any, x: Any, seen: list[Any]) -> Any:
    hidden = net[0](x)
    hidden.register_hook(lambda grad: grad * 2)
    loss = hidden.sin().sum()
    loss.backward()
    return loss


def noted(net: Any, x: Any, seen: list[Any]) -> Any:
    """Where a layer looks, by the gradients of what it gives."""
    hidden = net[0](x)
    hidden.register_hook(seen.append)
    net[1](hidden.tanh()).sum().backward()
    return (seen[-1].mean(0) * hidden.detach()).sum()


def retained(net: Any, x: Any, seen: list[Any]) -> Any:
    hidden = net[0](x)
    hidden.retain_grad()
    before = hidden.grad
    net[1](hidden).sum().backward(retain_graph=True)
    hidden.pow(2).sum().backward()
    return before, hidden.grad


def on_one_way_of_two(net: Any, x: Any, seen: list[Any]) -> Any:
    first = net[0](x)
    second = first.sin()
    used_before = second * 3
    second.register_hook(lambda grad: grad.clamp(-0.1, 0.1))
    second.register_hook(lambda grad: seen.append(grad.sum()))
    second.retain_grad()
    first.register_hook(lambda grad: grad + 1)
    (used_before.sum() + second.pow(2).sum() + first.cos().sum()).backward()
    return second.grad


def on_parts_and_the_result(net: Any, x: Any, seen: list[Any]) -> Any:
    left, right = net[0](x).chunk(2, 1)
    right.register_hook(lambda grad: grad * 3)
    left.register_hook(lambda grad: seen.append("left"))
    loss = (left * right).sum()
    loss.register_hook(lambda grad: grad * 0.5)
    loss.backward(gw.tensor(2.0))
    return loss.detach()


def behind_a_condition(net: Any, x: Any, seen: list[Any]) -> Any:
    hidden = net[0](x)
    if hidden.requires_grad:
        hidden.register_hook(lambda grad: grad / 2 if grad.ndim == 2 else None)
    (hidden * 3).sum().backward()
    return None


PROGRAMS: list[Program] = [
    doubled, noted, retained, on_one_way_of_two, on_parts_and_the_result, behind_a_condition,
]  # fmt: skip


def network() -> Any:
    gw.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 2))


def history(function: Program, net: Any) -> list[Any]:
    """What three calls give, note and leave behind."""
    seen: list[Any] = []
    found = []
    for _ in range(3):
        result = function(net, gw.randn(3, 4), seen)
        found.append((detached(result), detached(list(seen)), state(net)))
    return found


def detached(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [detached(item) for item in value]
    return (value.tolist(), value.requires_grad) if isinstance(value, gw.Tensor) else value


def state(net: Any) -> list[Any]:
    return [(detached(weight), detached(weight.grad)) for weight in net.parameters()]


def close(ours: Any, expected: Any) -> bool:
    if isinstance(expected, (list, tuple)):
        return len(ours) == len(expected) and all(map(close, ours, expected))
    if isinstance(expected, float):
        return bool(ours == pytest.approx(expected, rel=1e-4, abs=1e-6))
    return bool(ours == expected)


@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_hooks_run_in_the_graph(program: Program, backend: str) -> None:
    captured = Captured(program, backend=lookup(backend), fullgraph=True)
    assert close(history(captured, network()), history(program, network()))
    assert captured.graphs == 1 + len(captured.record.recompiles) <= 3


def trained(net: Any, x: Any, seen: list[Any]) -> Any:
    loss = net(x).pow(2).sum()
    loss.backward()
    return loss


def clipped(net: Any, seen: list[Any]) -> None:
    for weight in net.parameters():
        weight.register_hook(lambda grad: grad.clamp(-0.1, 0.1))


def told(net: Any, seen: list[Any]) -> None:
    for name, weight in net.named_parameters():
        weight.register_hook(lambda grad, name=name: seen.append(name))
        weight.register_post_accumulate_grad_hook(
            lambda weight, name=name: seen.append((name, weight.grad.sum().item())))


def stepped(net: Any, seen: list[Any]) -> None:
    """An optimiser for each weight, which steps as soon as its gradient is there."""
    optimizers = {weight: gw.optim.SGD([weight], lr=0.1) for weight in net.parameters()}

    def step(weight: Any) -> None:
        optimizers[weight].step()
        optimizers[weight].zero_grad()

    for weight in net.parameters():
        weight.register_post_accumulate_grad_hook(step)


@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize("register", [clipped, told, stepped])
def test_hooks_of_weights_run_in_the_graph(
    register: Callable[[Any, list[Any]], None], backend: str
) -> None:
    found = []
    for plainly in (True, False):
        captured = Captured(trained, backend=lookup(backend), fullgraph=True)
        net, seen = network(), []
        register(net, seen)
        for _ in range(3):
            (trained if plainly else captured)(net, gw.randn(3, 4), seen)
        found.append((state(net), detached(seen)))
    assert close(found[1], found[0])


def test_the_order_of_hooks_is_the_engines() -> None:
    orders = []
    for run in (trained, Captured(trained, fullgraph=True)):
        net, order = network(), []
        told(net, order)
        run(net, gw.randn(3, 4), [])
        orders.append(order)
    assert close(orders[1], orders[0]) and len(orders[0]) == 8


def test_a_hook_that_is_removed_or_added_is_noticed() -> None:
    captured, net, seen = Captured(trained, fullgraph=True), network(), []
    weight = net[0].weight
    handle = weight.register_hook(lambda grad: seen.append(1))
    captured(net, gw.randn(3, 4), [])
    handle.remove()
    captured(net, gw.randn(3, 4), [])
    weight.register_hook(lambda grad: seen.append(2))
    captured(net, gw.randn(3, 4), [])
    assert seen == [1, 2]


@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize("before", [False, True])
def test_a_hook_that_the_frame_removes_sees_no_gradient_from_then_on(
    before: bool, backend: str
) -> None:
    def program(weight: Any, handle: Any) -> Any:
        if before:
            (weight * 3).sum().backward()
        handle.remove()
        (weight * weight).sum().backward()
        return weight.grad

    captured = Captured(program, backend=lookup(backend), fullgraph=True)
    for _ in range(2):
        grads = []
        for run in (program, captured):
            weight = nn.Parameter(gw.arange(3.0))
            found = run(weight, weight.register_hook(lambda grad: grad * 2))
            grads.append(found.tolist())
        assert close(grads[1], grads[0])


def leaving_with_its_history(net: Any, x: Any, seen: list[Any]) -> Any:
    hidden = net[0](x)
    hidden.register_hook(lambda grad: seen.append(1))
    return hidden.sum()


def passed_and_kept(net: Any, x: Any, seen: list[Any]) -> Any:
    hidden = net[0](x)
    hidden.register_hook(lambda grad: grad * 2)
    loss = hidden.sin().sum()
    loss.backward(retain_graph=True)
    return loss


def leaving_with_its_gradient(net: Any, x: Any, seen: list[Any]) -> Any:
    hidden = net[0](x)
    hidden.retain_grad()
    hidden.sin().sum().backward()
    return hidden


def removed(net: Any, x: Any, seen: list[Any]) -> Any:
    hidden = net[0](x)
    handle = hidden.register_hook(lambda grad: grad * 2)
    handle.remove()
    hidden.sin().sum().backward()


def written_since(net: Any, x: Any, seen: list[Any]) -> Any:
    hidden = net[0](x)
    hidden.register_hook(lambda grad: grad * 2)
    hidden.mul_(3)
    hidden.sin().sum().backward()


def writing(net: Any, x: Any, seen: list[Any]) -> Any:
    hidden = net[0](x)
    hidden.register_hook(lambda grad: grad.mul_(2))
    hidden.sin().sum().backward()


def of_a_gradient(net: Any, x: Any, seen: list[Any]) -> Any:
    hidden = net[0](x)
    hidden.register_hook(lambda grad: grad * 2)
    return gw.autograd.grad(hidden.sin().sum(), net[0].weight)


@pytest.mark.parametrize("program", [
    leaving_with_its_history, passed_and_kept, leaving_with_its_gradient, removed, written_since,
    writing, of_a_gradient,
])
def test_what_needs_the_hook_on_the_tape_breaks_before_it(program: Program) -> None:
    found = []
    for run in (program, Captured(program)):
        net, seen = network(), []
        result = run(net, gw.ones(3, 4), seen)
        if isinstance(result, gw.Tensor) and result.ndim == 0:
            result.backward()
        kept = getattr(result, "grad", None) if program is leaving_with_its_gradient else None
        found.append((state(net), seen, detached(kept)))
    assert close(found[1], found[0])


def test_an_exception_of_a_hook_leaves_grad_mode_as_it_was() -> None:
    def program(net: Any, x: Any, seen: list[Any]) -> Any:
        hidden = net[0](x)

        def refuse(grad: Any) -> None:
            raise ValueError("no")

        hidden.register_hook(refuse)
        try:
            hidden.sum().backward()
        except ValueError as error:
            seen.append(str(error))
        return gw.is_grad_enabled()

    seen: list[Any] = []
    assert Captured(program)(network(), gw.ones(3, 4), seen) is True
    assert seen == ["no"]


def test_a_second_backward_meets_hooks_before_it_finds_that_memory_was_freed() -> None:
    """The hook is called again and then the error raised: the frame is cut before the hook."""
    def passed_twice(x: Any, seen: list[Any]) -> Any:
        middle = x.tanh()
        middle.register_hook(lambda grad: seen.append(float(grad.sum())))
        middle.sum().backward()
        try:
            middle.sum().backward()
        except RuntimeError as error:
            seen.append(str(error)[:40])
        return middle

    results = []
    for function in (passed_twice, Captured(passed_twice)):
        x, seen = gw.ones(4, requires_grad=True), []
        middle = function(x, seen)
        with pytest.raises(RuntimeError, match="a second time"):
            middle.sum().backward()
        results.append((seen, x.grad.tolist()))
    assert results[0] == results[1]
    assert results[0][0] == [4.0, 4.0, "Trying to backward through the graph a s", 4.0]


def test_hooks_behind_freed_memory_stay_in_the_graph() -> None:
    """A later pass fails before it gets to them."""
    def hooked(x: Any) -> Any:
        middle = x * 2
        middle.register_hook(lambda grad: grad * 3)
        loss = middle.sin().sum()
        loss.backward()
        return loss

    captured = Captured(hooked)
    x = gw.ones(4, requires_grad=True)
    loss = captured(x)
    with pytest.raises(RuntimeError, match="a second time"):
        loss.backward()
    assert (captured.graphs, len(captured.record.breaks)) == (1, 0)


def _two(x: Any) -> Any:
    first = x.sigmoid()
    return first, first.exp().sin() * x


RESULTS: list[Callable[[Any], Any]] = [
    lambda x: (x.tanh(),),
    lambda x: (x.exp(),),
    lambda x: (x.sigmoid(), x.cos()),
    lambda x: ((x * 2).pow(3).sqrt(),),
    lambda x: (x.softmax(0),),
    lambda x: (x + 1,),
    _two,
]


@pytest.mark.parametrize("way", ["hook", "changed", "retained", "wanted"])
@pytest.mark.parametrize("function", RESULTS)
def test_gradients_of_gradients_meet_the_results_that_were_saved(
    function: Callable[[Any], Any], way: str
) -> None:
    def passes(function: Callable[[Any], Any]) -> list[Any]:
        """The gradients of three orders, and what the result has seen of them."""
        x, seen = gw.tensor([0.3, 0.7, 0.5], requires_grad=True), []
        result = function(x)[0]
        if way == "hook":
            result.register_hook(lambda grad: seen.append(grad.detach()))
        elif way == "changed":
            result.register_hook(lambda grad: grad * 2)
        elif way == "retained":
            result.retain_grad()
        inputs = [x, result] if way == "wanted" else [x]
        total, found = (result.pow(3) * gw.tensor([1.0, 2.0, 3.0])).sum(), []
        for _ in range(3):
            grads = gw.autograd.grad(total, inputs, create_graph=True)
            found.append([grad.detach() for grad in grads])
            total = grads[0].pow(2).sum()
        if way == "retained":
            total.backward()
            seen.append(result.grad)
        return [*found, seen]

    plain, compiled = passes(function), passes(gw.compile(function))
    gw.testing.assert_close(compiled, plain, rtol=1e-4, atol=1e-5)


def test_a_hook_of_the_frame_meets_gradients_of_gradients() -> None:
    def program(seen: list[Any]) -> Any:
        w = gw.ones(4, requires_grad=True)
        hidden = w.tanh()
        hidden.register_hook(lambda grad: seen.append(grad.sum().item()))
        (slope,) = gw.autograd.grad(hidden.pow(2).sum(), w, create_graph=True)
        return gw.autograd.grad(slope.sum(), w)[0].tolist()

    plain: list[Any] = []
    seen: list[Any] = []
    captured = Captured(program, backend=lookup("llvm"))
    assert close([captured(seen), seen], [program(plain), plain])


def layers(net: Any, x: Any) -> Any:
    hidden = net[0](x)
    return hidden, net[1](hidden.relu())


def layers_trained(net: Any, x: Any, seen: list[str], forward: Any = layers) -> None:
    hidden, out = forward(net, x)
    hidden.register_hook(lambda grad: seen.append("hidden"))
    out.register_hook(lambda grad: seen.append("out"))
    out.sum().backward()


def test_weights_get_their_gradients_before_what_is_below_them() -> None:
    for run in (layers_trained, Captured(layers_trained, fullgraph=True),
                partial(layers_trained, forward=Captured(layers, fullgraph=True))):
        net = gw.nn.Sequential(gw.nn.Linear(4, 3), gw.nn.Linear(3, 2))
        seen: list[str] = []
        for name, weight in net.named_parameters():
            weight.register_post_accumulate_grad_hook(
                lambda _, name=name, seen=seen: seen.append(name))
        run(net, gw.randn(3, 4), seen)
        assert seen == ["out", "1.weight", "1.bias", "hidden", "0.weight", "0.bias"]
