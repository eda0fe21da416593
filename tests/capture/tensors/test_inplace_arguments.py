"""Writes to arguments that have a history: what blocks of a network do to their activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured
from ..programs import Programs

block = Programs()


@block
def residual(x: Any, y: Any) -> Any:
    x = x.mul_(2)
    x += y
    return x + 1


@block
def activation(x: Any, y: Any) -> Any:
    return gw.nn.functional.relu(x, inplace=True) * y


@block
def parts(x: Any, y: Any) -> Any:
    x[:, 0] = 0
    x[1].add_(y[0])
    x[:, 1] = y[:, 1]
    return x.exp()


@block
def through_a_view(x: Any, y: Any) -> Any:
    row = x[1:]
    row.mul_(3)
    return x.sum() + (row * y[1:]).sum()


@block
def masked(x: Any, y: Any) -> Any:
    x.masked_fill_(y > 0, 0.0)
    return x.sum()


@block
def only_written(x: Any, y: Any) -> Any:
    x.copy_(y)


@block
def history_reaches_a_plain_tensor(x: Any, y: Any) -> Any:
    z = gw.zeros(3, 3)
    z += x
    x.zero_()
    return z * y


@block
def without_gradients(x: Any, y: Any) -> Any:
    with gw.no_grad():
        x.add_(1)
    return x * y


@block
def what_they_are(x: Any, y: Any) -> Any:
    before = x.is_leaf, x.requires_grad
    x.zero_()
    return before, x.is_leaf, x.requires_grad, x + y


def run(function: Any, make: Any) -> list[Any]:
    """The arguments and results of a call, and the gradients of what led to the arguments."""
    gw.manual_seed(3)
    first, second = gw.randn(3, 3, requires_grad=True), gw.randn(3, 3, requires_grad=True)
    x, y = make(first), second * 2
    result = function(x, y)
    found = [value for value in (result, x, y) if isinstance(value, gw.Tensor)]
    sum((value * value).sum() for value in found).backward()
    values = [value.tolist() for value in (*found, first.grad, second.grad)]
    return [values, result if isinstance(result, tuple) else None, x.is_leaf, x._version]


MAKERS = [
    lambda w: w * 1,
    lambda w: (w * 1).t(),
    lambda w: (w.repeat(2, 1) * 1)[::2],
]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize("program", block.all)
def test_gradients_go_on_to_what_came_before(program: Any, backend: str, make: Any) -> None:
    if program is what_they_are:
        pytest.skip("its result is compared below")
    compiled = gw.compile(program, backend=backend, fullgraph=True)
    for _ in range(2):
        plain, captured = run(program, make), run(compiled, make)
        assert gw.allclose(flat(plain[0]), flat(captured[0]))
        assert plain[1:3] == captured[1:3]


def flat(values: list[Any]) -> Any:
    return gw.cat([gw.tensor(value).reshape(-1) for value in values])


def test_facts() -> None:
    captured = Captured(what_they_are, fullgraph=True)
    x = gw.ones(3, 3, requires_grad=True) * 1
    assert captured(x, x * 2)[:3] == ((False, True), False, True)


@pytest.mark.parametrize("make", [lambda w: w, lambda w: w[0]], ids=["leaf", "view of a leaf"])
def test_leaves_are_refused_as_by_plain_python(make: Any) -> None:
    def program(x: Any) -> Any:
        return x.add_(1)

    captured = Captured(program)
    assert captured(gw.ones(3, 3, requires_grad=True) * 1).tolist() == [[2.0] * 3] * 3
    for _ in range(2):
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            captured(make(gw.ones(3, 3, requires_grad=True)))


def test_backward_that_leads_out_of_the_frame_ends_the_graph() -> None:
    def program(x: Any) -> Any:
        x.mul_(2)
        (x * x).sum().backward()
        return x + 1

    w = gw.ones(3, requires_grad=True)
    captured = Captured(program)
    captured(w * 1)
    assert w.grad.tolist() == [8.0] * 3 and captured.breaks == ["GB0004"]


@pytest.mark.parametrize("backend", ["llvm", "eager"])
def test_a_result_with_other_strides_than_the_value_that_gradients_read(backend: str) -> None:
    def program(x: Any, y: Any) -> Any:
        z = x.clone()
        z[0] = y[0]
        return z.exp()

    compiled = gw.compile(program, backend=backend)
    found = []
    for function in (program, compiled):
        w = gw.arange(9.0).view(3, 3).div(9).requires_grad_()
        result = function(w.t(), w * 2)
        (result * gw.arange(9.0).view(3, 3)).sum().backward()
        found.append((result.stride(), w.grad))
    assert found[0][0] == found[1][0] and gw.allclose(found[0][1], found[1][1])


def written_beside_its_base(rows: Any, base: Any, index: Any) -> Any:
    rows.mul_(2)
    return base + 1


def written_after_its_base(rows: Any, base: Any, index: Any) -> Any:
    base.mul_(2)
    rows.add_(1)
    return base[index]


def told_by(call: Callable[..., Any], *args: Any) -> Any:
    try:
        found = call(*args)
        return found.tolist() if isinstance(found, gw.Tensor) else found
    except (IndexError, RuntimeError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize("program", [written_beside_its_base, written_after_its_base])
def test_views_made_without_gradients(program: Any, earlier: bool) -> None:
    """Autograd tells the history of none whose base was written since; also if a graph fails."""
    captured = Captured(program)
    for index in (1, 1, 7):
        found = []
        for function in (program, captured):
            base = gw.ones(3, 3, requires_grad=True)
            with gw.no_grad():
                first = base.view(3, 3).unbind(0)[0]
                if earlier:
                    base.add_(1)
                result = told_by(function, first, base, gw.tensor([index]))
            found.append((base.tolist(), result, told_by(getattr, first, "grad_fn")))
        assert found[0] == found[1]
    assert captured.graphs
