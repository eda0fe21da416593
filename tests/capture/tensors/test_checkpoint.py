"""`utils.checkpoint` in captured code: inlined, and computed again in the compiled backward."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.capture.frame.frontend import Frontend
from graphwright.utils.checkpoint import checkpoint, checkpoint_sequential

from ..captured import run_graph


def layers(n: int = 3, **parts: Any) -> Any:
    gw.manual_seed(0)
    made: list[Any] = []
    for _ in range(n):
        made += [gw.nn.Linear(4, 4), gw.nn.Tanh(), *parts.values()]
    return gw.nn.Sequential(*made)


def run(model: Any, function: Callable[[Any], Any]) -> list[Any]:
    gw.manual_seed(1)
    x = gw.randn(5, 4, requires_grad=True)
    for _ in range(2):
        function(x).sum().backward()
    return [x.grad, *(parameter.grad for parameter in model.parameters())]


def agree(model: Any, program: Callable[[Any, Any], Any], backend: Any, **options: Any) -> None:
    """The same gradients with and without the compiler."""
    other = copy.deepcopy(model)
    plain = run(model, lambda x: program(model, x))
    captured = run(other, gw.compile(lambda x: program(other, x), backend=backend, **options))
    assert all(gw.allclose(a, b, atol=1e-6) for a, b in zip(plain, captured, strict=True))


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "not reentrant": lambda m, x: checkpoint(m, x, use_reentrant=False).relu(),
    "reentrant": lambda m, x: checkpoint(m, x, use_reentrant=True) * 2,
    "sequential": lambda m, x: checkpoint_sequential(m, 2, x, use_reentrant=False),
    "keywords": lambda m, x: checkpoint(lambda y, scale: m(y) * scale, x, use_reentrant=False,
                                        scale=2, preserve_rng_state=True),
    "without gradients": lambda m, x: checkpoint(m, x.detach(), use_reentrant=False) + x,
}


@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_one_graph(program: Callable[[Any, Any], Any], backend: str) -> None:
    agree(layers(), program, backend, fullgraph=True)


def test_the_same_random_numbers() -> None:
    model = layers(dropout=gw.nn.Dropout(0.5))
    agree(model, PROGRAMS["not reentrant"], "llvm", fullgraph=True)


def saved(program: Callable[[Any], Any]) -> int:
    """How many elements the compiled forward keeps for the backward."""
    compiled = gw.compile(program, backend="llvm", fullgraph=True)
    result = compiled(gw.randn(64, 4, requires_grad=True))
    node = result.grad_fn
    places = node.training.whole.saved
    kept = [*node.inputs.unpack(node, places.inputs), *node.made.unpack(node, places.made)]
    return sum(value.numel() for value in kept if isinstance(value, gw.Tensor))


def test_less_is_kept() -> None:
    model = layers(8)
    assert saved(lambda x: checkpoint(model, x, use_reentrant=False).relu()) < saved(
        lambda x: model(x).relu()
    ) / 2


@pytest.mark.parametrize("kind", ["running statistics", "a list", "grad mode", "the default"])
def test_what_python_has_to_run_ends_the_graph(kind: str) -> None:
    model = layers(batch_norm=gw.nn.BatchNorm1d(4)) if "statistics" in kind else layers()
    log: list[int] = []

    def function(x: Any) -> Any:
        if kind == "a list":
            log.append(1)
        if kind == "grad mode" and not gw.is_grad_enabled():
            log.append(2)
        return model(x)

    def program(x: Any) -> Any:
        if kind == "the default":
            return checkpoint(function, x)
        return checkpoint(function, x, use_reentrant=kind == "grad mode")

    frontend = Frontend(run_graph)
    with pytest.warns(match="use_reentrant") if kind == "the default" else gw.enable_grad():
        run(model, frontend.compile(program))
    (found,) = frontend.record.breaks
    assert found.code == "GB0024"
    if kind == "running statistics":
        assert "of a function that writes to" in found.detail
        assert found.detail.endswith("['num_batches_tracked']")
    assert len(log) == {"a list": 4, "grad mode": 2}.get(kind, 0)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_numbers_drawn_by_python_are_drawn_again(use_reentrant: bool) -> None:
    def program(x: Any) -> Any:
        return checkpoint(lambda y: y.exp() * random.random(), x, use_reentrant=use_reentrant)

    def gradient(function: Callable[[Any], Any]) -> list[float]:
        random.seed(0)
        x = gw.ones(2, requires_grad=True)
        function(x).sum().backward()
        return [*x.grad.tolist(), random.random()]

    assert gradient(gw.compile(program)) == pytest.approx(gradient(program))


def written_behind(x: Any) -> Any:
    y = x * 2
    result = checkpoint(gw.exp, y, use_reentrant=False)
    with gw.no_grad():
        y.mul_(3)
    return result


def written_within(x: Any) -> Any:
    y = x * 2
    return checkpoint(lambda z: z.add_(1).exp(), y, use_reentrant=False)


@pytest.mark.parametrize("program", [written_behind, written_within])
def test_what_is_written_is_read_again_as_plain_code_does(program: Any) -> None:
    def gradient(function: Callable[[Any], Any]) -> list[float]:
        x = gw.tensor([1.0, 2.0], requires_grad=True)
        function(x).sum().backward()
        return x.grad.tolist()

    assert gradient(gw.compile(program)) == pytest.approx(gradient(program))


def test_what_is_computed_again_is_not_compiled_where_the_gradients_are_taken() -> None:
    def step(model: Any, x: Any) -> Any:
        loss = checkpoint(model, x, use_reentrant=False).pow(2).mean()
        loss.backward()
        return loss

    model = layers(batch_norm=gw.nn.BatchNorm1d(4))
    other, x = copy.deepcopy(model), gw.randn(5, 4)
    compiled = gw.compile(step)
    for _ in range(2):
        assert gw.allclose(compiled(model, x), step(other, x))
    assert all(gw.allclose(p.grad, q.grad, atol=1e-5)
               for p, q in zip(model.parameters(), other.parameters(), strict=True))
    assert all(map(gw.allclose, model.buffers(), other.buffers()))


def test_a_training_step_is_one_graph() -> None:
    def step(model: Any, x: Any) -> Any:
        loss = checkpoint(model, x, use_reentrant=False).sum()
        loss.backward()
        with gw.no_grad():
            for parameter in model.parameters():
                parameter -= 0.1 * parameter.grad
                parameter.grad = None
        return loss

    model, x = layers(), gw.ones(5, 4)
    other = copy.deepcopy(model)
    compiled = gw.compile(step, fullgraph=True)
    for _ in range(3):
        assert gw.allclose(compiled(model, x), step(other, x))


@pytest.mark.parametrize("backend", [run_graph, "auto"])
def test_a_part_of_a_result_may_be_written_within_the_call(backend: Any) -> None:
    def chosen(x: Any) -> Any:
        weights, places = gw.topk(x.softmax(-1), 2)
        weights /= weights.sum(-1, keepdim=True)
        return (x.gather(1, places) * weights).sum(-1)

    def gradient(function: Any) -> Any:
        gw.manual_seed(2)
        x = gw.randn(5, 4, requires_grad=True)
        function(x).sum().backward()
        return x.grad

    def program(x: Any) -> Any:
        return checkpoint(chosen, x * 2, use_reentrant=False)

    compiled = gw.compile(program, backend=backend, fullgraph=True)
    assert gw.allclose(gradient(compiled), gradient(program), atol=1e-6)
