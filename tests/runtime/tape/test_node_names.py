"""Nodes of the tape are of classes named after their ops and Functions, as in PyTorch."""

from __future__ import annotations

import re
from typing import Any

import graphwright as gw
from graphwright.autograd.graph import Node


def _names(node: Any) -> list[str]:
    """The classes on the way from a node to the first leaf."""
    found = []
    while node is not None:
        found.append(type(node).__name__)
        node = node.next_functions[0][0] if node.next_functions else None
    return found


def test_classes_are_named_after_ops() -> None:
    x = gw.ones(2, 3, requires_grad=True)
    assert _names((x * 2).exp().sum().grad_fn) == [
        "SumBackward0", "ExpBackward0", "MulBackward0", "AccumulateGrad",
    ]
    assert _names((x @ x.T + 1).grad_fn)[:2] == ["AddBackward0", "MmBackward0"]
    assert _names(gw.softmax(x, 0).relu_().grad_fn)[:2] == ["ReluBackward0", "SoftmaxBackward0"]


def test_one_class_for_all_nodes_of_an_op() -> None:
    x = gw.ones(2, requires_grad=True)
    first, second = (x + 1).grad_fn, (x + x).grad_fn
    assert type(first) is type(second) and isinstance(first, Node)
    assert type(first) is not type((x * 2).grad_fn)
    assert re.fullmatch(r"<AddBackward0 object at 0x[0-9a-f]+>", repr(first))
    assert first._sequence_nr() < second._sequence_nr()


def test_a_looked_at_graph_is_differentiated_as_before() -> None:
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    y = (x.exp() * x).sum()
    assert len(_names(y.grad_fn)) == 4
    (gradient,) = gw.autograd.grad(y, x, create_graph=True)
    assert type(gradient.grad_fn).__name__ == gradient.grad_fn.name()
    gw.testing.assert_close(gradient, x.exp() * (1 + x))
    (second,) = gw.autograd.grad(gradient.sum(), x)
    gw.testing.assert_close(second, x.exp() * (2 + x))


def test_nodes_of_functions() -> None:
    class Double(gw.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: gw.Tensor) -> gw.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: gw.Tensor) -> gw.Tensor:
            return grad * 2

    class Quadruple(Double):
        pass

    x = gw.ones(2, requires_grad=True)
    assert _names(Double.apply(x).grad_fn) == ["DoubleBackward", "AccumulateGrad"]
    assert type(Quadruple.apply(x).grad_fn).__name__ == "QuadrupleBackward"
    assert type(Double.apply(x).grad_fn) is type(Double.apply(x).grad_fn)
