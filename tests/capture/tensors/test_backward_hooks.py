"""Modules with backward hooks: graphs before, in and behind them, without a break.

The graph is cut where gradients reach the hooks. These are the program's own functions, called in
the backward pass with the gradients that eager execution gives them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from graphwright.nn.modules.module import register_module_full_backward_hook

import graphwright as gw
from graphwright import nn

from ..captured import Captured

SEEN: list[Any] = []


def note(module: Any, inputs: Any, outputs: Any) -> None:
    SEEN.append((type(module).__name__, inputs, outputs))


def doubled(module: Any, inputs: Any, outputs: Any) -> Any:
    note(module, inputs, outputs)
    return tuple(None if grad is None else grad * 2 for grad in inputs)


def negated(module: Any, outputs: Any) -> Any:
    SEEN.append((type(module).__name__, outputs))
    return tuple(-grad for grad in outputs)


def network() -> nn.Sequential:
    gw.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3))


def outcome(function: Callable[..., Any], x: Any, wanted: Any) -> Any:
    """The result, the gradients, and what the hooks were called with."""
    SEEN.clear()
    x = x.clone().requires_grad_()
    result = function(x)
    gradients = gw.autograd.grad(result.square().sum(), [x, *wanted], allow_unused=True)
    return result, gradients, list(SEEN)


def close(left: Any, right: Any) -> bool:
    if isinstance(left, (tuple, list)):
        return len(left) == len(right) and all(map(close, left, right))
    if isinstance(left, gw.Tensor):
        return left.shape == right.shape and bool(gw.allclose(left, right, atol=1e-5))
    return type(left) is type(right) and bool(left == right)


HOOKS: dict[str, Callable[[Any], Any]] = {
    "inner": lambda m: m[0].register_full_backward_hook(note),
    "last": lambda m: m[2].register_full_backward_hook(doubled),
    "outer": lambda m: m.register_full_backward_hook(doubled),
    "before": lambda m: m[1].register_full_backward_pre_hook(negated),
    "several": lambda m: [
        m.register_full_backward_hook(note), m[0].register_full_backward_hook(doubled),
        m[0].register_full_backward_pre_hook(negated), m[2].register_full_backward_hook(note),
    ],
    "every": lambda m: register_module_full_backward_hook(note),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _no_hooks_of_all_modules() -> Any:
    yield
    from graphwright.nn.hooks import every_module

    every_module._backward_hooks.clear()


@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize("register", HOOKS.values(), ids=HOOKS)
def test_hooks_see_what_they_see_in_eager_execution(
    register: Callable[[Any], Any], backend: str
) -> None:
    module = network()
    register(module)

    def function(x: Any) -> Any:
        return module(x + 1) * 2

    x = gw.randn(2, 3)
    expected = outcome(function, x, module.parameters())
    assert expected[2]
    if backend == "llvm":
        compiled = gw.compile(function)
        assert close(outcome(compiled, x, module.parameters()), expected)
        assert gw.compiler.stats(compiled).breaks == 0
        return
    captured = Captured(function, lambda graph, examples: graph.forward)
    for _ in range(2):
        assert close(outcome(captured, x, module.parameters()), expected)
    assert not captured.breaks


def test_the_graph_is_cut_at_the_inputs_and_outputs_of_the_module() -> None:
    module = network()
    module[2].register_full_backward_hook(note)
    captured = Captured(lambda x: module(x) * 2)
    captured(gw.ones(2, 3))
    assert captured.ops == [2, 1, 1]    # linear and tanh; linear; the product
    module[2].register_full_backward_hook(note)
    captured(gw.ones(2, 3))     # one more hook is no other graph, but another capture
    assert captured.graphs == 6


def test_a_hook_is_found_by_calls_after_it_was_registered_until_it_is_removed() -> None:
    module = network()
    captured = Captured(lambda x: module(x))
    x, wanted = gw.randn(2, 3), list(module.parameters())
    for step in range(3):
        handle = module[0].register_full_backward_hook(note) if step == 1 else None
        assert close(outcome(captured, x, wanted), outcome(module, x, wanted))
        assert len(SEEN) == (step == 1)
        if handle is not None:
            handle.remove()
    assert not captured.breaks
    assert captured.ops == [3, 1, 2]


def test_calls_whose_backward_comes_later_keep_their_gradients_apart() -> None:
    module = network()
    module[0].register_full_backward_hook(note)
    captured = Captured(lambda x: module(x))
    x = gw.randn(2, 3, requires_grad=True)
    first, second = captured(x), captured(x)
    SEEN.clear()
    second.sum().backward()
    first.sum().backward(gw.tensor(3.0))
    (_, late, _), (_, early, _) = SEEN
    assert gw.allclose(early[0], late[0] * 3, atol=1e-5)


def test_one_graph_serves_all_sizes() -> None:
    module = network()
    module[0].register_full_backward_hook(note)
    captured = Captured(lambda x: (module(x) * x.shape[0]).sum(0))
    for size in (2, 3, 4, 5):
        x, wanted = gw.randn(size, 3), list(module.parameters())
        expected = outcome(lambda x: (module(x) * x.shape[0]).sum(0), x, wanted)
        assert close(outcome(captured, x, wanted), expected)
    assert captured.graphs == 4     # two pieces for one size, and for all
    assert not captured.breaks


def test_without_gradients_there_is_nothing_to_cut() -> None:
    module = network()
    module[0].register_full_backward_hook(note)
    captured = Captured(lambda x: module(x) * 2)
    with gw.no_grad():
        assert captured.agrees(gw.ones(2, 3))
    assert (captured.graphs, captured.breaks) == (1, [])


# one break, and a reason that names the module


def test_backward_in_the_function() -> None:
    module = network()
    module[0].register_full_backward_hook(note)

    def step(x: Any) -> Any:
        y = module(x).sum()
        y.backward()
        return y * 2

    captured = Captured(step)
    x = gw.randn(2, 3, requires_grad=True)
    for run in (step, captured, captured):
        SEEN.clear()
        module.zero_grad()
        run(x)
        assert len(SEEN) == 1
    reason, *others = captured.record.breaks
    assert reason.code == "GB0027"
    assert "a call of Linear, which has backward hooks" in reason.detail
    assert {entry.code for entry in others} == {"GB0004"}   # gradients leave the rest of it


def test_a_module_in_a_block_that_the_function_begins() -> None:
    module = network()
    module[0].register_full_backward_hook(note)

    def function(x: Any) -> Any:
        with gw.autocast("cpu", dtype=gw.bfloat16):
            y = module(x)
        return y.float() * 2

    captured = Captured(function)
    x, wanted = gw.randn(2, 3), list(module.parameters())
    for _ in range(2):
        expected, found = outcome(function, x, wanted), outcome(captured, x, wanted)
        assert gw.allclose(expected[0], found[0], atol=0.1)
        assert len(found[2]) == 1
    assert captured.breaks[0] == "GB0027"


def test_outputs_that_are_neither_tensor_nor_tuple_warn_as_plainly() -> None:
    class Wrapped(nn.Module):
        def forward(self, x: Any) -> Any:
            return {"y": x * 2}

    module = Wrapped()
    module.register_full_backward_hook(note)
    captured = Captured(lambda x: module(x)["y"] + 1)
    x = gw.ones(2, requires_grad=True)
    for _ in range(2):
        with pytest.warns(UserWarning, match="output should be a Tensor or a tuple"):
            assert gw.equal(captured(x), x * 2 + 1)
    assert set(captured.breaks) == {"GB0027"}


def test_memory_that_is_written_across_the_module() -> None:
    module = nn.Linear(3, 3)
    module.register_full_backward_hook(note)

    def function(x: Any, total: Any) -> Any:
        total.add_(1)
        y = module(x)
        total.mul_(2)
        return y + total

    captured = Captured(function)
    for _ in range(2):
        x, totals = gw.ones(2, 3, requires_grad=True), [gw.ones(3), gw.ones(3)]
        assert gw.allclose(captured(x, totals[0]), function(x, totals[1]))
        assert gw.equal(*totals)
    assert captured.breaks[0] == "GB0027"


def test_a_module_in_a_branch_or_a_checkpoint() -> None:
    module = nn.Linear(3, 3)
    module.register_full_backward_hook(note)

    def in_a_branch(x: Any) -> Any:
        return gw.cond(x.sum() > 0, module, lambda x: x * 2, (x,)) + 1

    def in_a_checkpoint(x: Any) -> Any:
        return gw.utils.checkpoint.checkpoint(module, x, use_reentrant=False) * 2

    for function, code in ((in_a_branch, "GB0026"), (in_a_checkpoint, "GB0027")):
        captured = Captured(function)
        x, wanted = gw.ones(2, 3), list(module.parameters())
        for _ in range(2):
            assert close(outcome(captured, x, wanted), outcome(function, x, wanted))
        assert captured.breaks[0] == code


def test_graphs_are_no_modules_to_hooks_on_all_of_them() -> None:
    called = []
    module = network()
    compiled = gw.compile(module, backend="eager")
    handle = nn.modules.module.register_module_forward_hook(
        lambda module, inputs, output: called.append(type(module).__name__))
    with handle:
        compiled(gw.ones(2, 3))
    assert called == ["Linear", "Tanh", "Linear", "Sequential"]
