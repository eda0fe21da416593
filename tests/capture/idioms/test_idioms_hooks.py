"""Hooks that a frame puts on its arguments, and tensors that it cuts off from their history."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured


def gradients(function: Any, x: Any) -> Any:
    """What a call gives, and the gradient of its argument's leaf afterwards."""
    leaf = gw.tensor(x).requires_grad_()
    result = function(leaf)
    result.sum().backward()
    assert leaf.grad is not None
    return result.tolist(), leaf.grad.tolist()


def tenfold(x: Any) -> Any:
    x.register_hook(lambda grad: grad * 10)
    return x * 3


def in_order(x: Any) -> Any:
    factor = 2.0
    kept = x.register_hook(lambda grad: grad * factor)
    y = x * 3
    x.register_hook(lambda grad: grad + 1)
    del kept
    return y


def after_accumulation(x: Any) -> Any:
    def negate(leaf: Any) -> None:
        leaf.grad = -leaf.grad

    x.register_post_accumulate_grad_hook(negate)
    return x.square()


def after_gradients(x: Any) -> Any:
    (x * 3).sum().backward()
    x.register_hook(lambda grad: grad * 5)
    return x * 2


def cut_off(x: Any) -> Any:
    y = x * 2
    known = [y]
    y.detach_().add_(1)
    return known[0] * x


@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize(
    "function", [tenfold, in_order, after_accumulation, after_gradients, cut_off]
)
def test_in_one_graph(function: Any, backend: str) -> None:
    compiled = gw.compile(function, backend=backend, fullgraph=True)
    for values in ([1.0, 2.0], [3.0, 4.0]):
        assert gradients(compiled, values) == gradients(function, values)


def removed(x: Any) -> Any:
    handle = x.register_hook(lambda grad: grad * 10)
    y = x * 3
    handle.remove()
    return y


def before_gradients(x: Any) -> Any:
    x.register_hook(lambda grad: grad * 10)
    (x * 3).sum().backward()
    return x * 2


def of_a_tensor_made(x: Any) -> Any:
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    return y * y


@pytest.mark.parametrize("function", [removed, before_gradients, of_a_tensor_made])
def test_where_the_hook_matters_in_the_frame_it_is_put_by_plain_python(function: Any) -> None:
    captured = Captured(function)
    for _ in range(2):
        assert gradients(captured, [1.0, 2.0]) == gradients(function, [1.0, 2.0])
    assert captured.breaks


def test_a_view_is_not_cut_off() -> None:
    def program(x: Any) -> Any:
        y = x * 2
        y[0].detach_()
        return y

    with pytest.raises(RuntimeError, match="detach views in-place"):
        Captured(program)(gw.ones(2, requires_grad=True))
