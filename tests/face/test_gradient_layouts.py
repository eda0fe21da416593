"""Gradients through compiled code have eager execution's strides, whatever comes from behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.face.gradient_layouts import GradientLayouts


def pointwise(x: Any, y: Any) -> Any:
    return (x * 2 + 1).tanh() * y


def product(x: Any, y: Any) -> Any:
    return x.T @ y


def transposed(x: Any, y: Any) -> Any:
    return (x * y).T * 3


def rows(x: Any, y: Any) -> Any:
    return (x * y).sum(1, keepdim=True) + x


def dropped(x: Any, y: Any) -> Any:
    return gw.nn.functional.dropout(x * y, 0.5)


def two(x: Any, y: Any) -> Any:
    return x.exp(), x * y


def reshaped(x: Any, y: Any) -> Any:
    return gw.cat([x * y, y.sin()]).reshape(2, x.shape[0], -1)


PROGRAMS = [pointwise, product, transposed, rows, dropped, two, reshaped]
GRADIENTS: dict[str, Callable[[Any], Any]] = {
    "row-major": lambda out: gw.rand(out.shape),
    "column-major": lambda out: gw.rand(out.shape[::-1]).permute(*range(out.ndim)[::-1]),
    "of a sum": lambda out: gw.rand(()).expand(out.shape),
    "of sums of rows": lambda out: gw.rand(len(out), *out.shape[1:-1], 1).expand(out.shape),
    "with gaps": lambda out: gw.rand(*out.shape, 2)[..., 0],
    "part of another": lambda out: gw.rand(len(out), out.shape[1] + 2, *out.shape[2:])[:, 1:-1],
}
ARGUMENTS: list[Callable[[], Any]] = [
    lambda: gw.rand(5, 5), lambda: gw.rand(5, 5).T, lambda: gw.rand(6, 6).T,
]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_eager_execution(program: Callable[..., Any], dynamic: bool) -> None:
    compiled = gw.compile(program, dynamic=dynamic)
    for kind, gradient in GRADIENTS.items():
        for number, made in enumerate(ARGUMENTS * 2):
            found = []
            for function in (program, compiled):
                gw.manual_seed(number)
                x, y = made().requires_grad_(), made()[:, :].requires_grad_()
                result = function(x, y)
                results = result if isinstance(result, tuple) else (result,)
                gradients = gw.autograd.grad(results, (x, y), [gradient(r) for r in results])
                found.append((gradients, [g.stride() for g in gradients], gw.rand(2).tolist()))
            assert found[0][1:] == found[1][1:], kind
            for plain, compiled_one in zip(found[0][0], found[1][0], strict=True):
                assert gw.allclose(plain, compiled_one, rtol=1e-4, atol=1e-5), kind


def test_layouts_are_found_once_for_all_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Any] = []
    found = GradientLayouts._found
    monkeypatch.setattr(
        GradientLayouts, "_found", lambda *args: runs.append(args) or found(*args)
    )
    compiled = gw.compile(pointwise, dynamic=True)
    for gradient in (GRADIENTS["of a sum"], GRADIENTS["column-major"], GRADIENTS["row-major"]):
        for n in range(3, 9):
            x, y = gw.rand(n, n + 1).T.requires_grad_(), gw.rand(n + 1, n)
            result = compiled(x, y)
            (grad,) = gw.autograd.grad(result, x, gradient(result))
            (plain,) = gw.autograd.grad(again := pointwise(x, y), x, gradient(again))
            assert grad.stride() == plain.stride()
    assert len(runs) <= len(GRADIENTS)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("program", [
    lambda x, w: gw.nn.functional.linear(x, w).transpose(0, 1),
    lambda x, w: (x @ w.T).permute(2, 0, 1),
    lambda x, w: gw.nn.functional.group_norm(x, 1, w[:1].expand(x.shape[1], 6)[:, 0]).mT,
], ids=["linear", "product", "groups"])  # fmt: skip
def test_gradients_that_the_views_of_a_backward_do_not_fit_are_copied(
    program: Callable[..., Any], dynamic: bool
) -> None:
    compiled, weight = gw.compile(program, dynamic=dynamic), gw.rand(6, 6)
    for n in (3, 4):
        x = gw.rand(2, n, 6, requires_grad=True)
        shape = program(x, weight).shape
        flat = gw.rand(shape.numel())
        for gradient in (flat.view(shape), flat.view(shape[::-1]).permute(2, 1, 0)):
            plain, found = (gw.autograd.grad(function(x, weight), x, gradient)[0]
                            for function in (program, compiled))  # fmt: skip
            assert found.stride() == plain.stride()
            assert gw.allclose(found, plain, rtol=1e-4, atol=1e-5)


REDUCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(),
    "of columns": lambda x: x.sum(0),
    "of rows, kept": lambda x: x.sum(1, keepdim=True),
    "twice": lambda x: x.sum(0).sum() + x.sum(),
    "of a function": lambda x: x.sum().sin(),
    "beside a function": lambda x: x.sum() + x.exp().sum(),
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_what_is_reduced_gets_an_expanded_gradient(name: str, dynamic: bool) -> None:
    """As eagerly: who computes with it gets results of the same layouts; leaves get dense ones."""
    function = REDUCTIONS[name]
    compiled = gw.compile(function, dynamic=dynamic)
    for made in (gw.rand(4, 7).T, gw.rand(7, 4), gw.rand(3, 4), gw.rand(1, 4), gw.rand(4, 3).T):
        plain, found = gradients(function, made), gradients(compiled, made)
        assert [steps(g) for g in plain] == [steps(g) for g in found]
        assert all(gw.allclose(*pair) for pair in zip(plain, found, strict=True))


def gradients(function: Callable[[Any], Any], given: Any) -> list[Any]:
    """Of what is reduced, what a hook makes of it, and of the leaf."""
    x, seen = given.clone().requires_grad_(), []
    middle = x * 1
    middle.register_hook(lambda g: seen.extend([g, g * given]))
    function(middle).sum().backward()
    return [*seen, x.grad]


def steps(tensor: Any) -> list[int]:
    """The strides that mean something."""
    return [step for size, step in zip(tensor.shape, tensor.stride(), strict=True) if size > 1]


def test_rows_of_an_expanded_gradient_are_expanded() -> None:
    x = gw.ones(3, 4, requires_grad=True)
    middle, seen = x * 1, []
    middle.register_hook(lambda g: seen.append(g.stride()))
    middle.sum(0).sum().backward()
    assert seen == [(0, 0)]
