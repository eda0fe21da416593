"""Functions of the user's own that write to what they made are part of the compiled graph."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright.autograd import Function


class Clamped(Function):
    """The first example of a function of one's own: backward writes by a mask."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        grad = grad.clone()
        grad[x < 0] = 0
        return grad


class Masked(Function):
    """Forward writes to its result, and saves it."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mask = x > 1
        out = gw.softmax(x.masked_fill(ctx.mask, -1e9), -1)
        out.masked_fill_(ctx.mask, 0)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (out,) = ctx.saved_tensors
        return gw._softmax_backward_data(grad, out, -1, out.dtype)


class ThroughViews(Function):
    """Views taken before a write show it, and are written themselves."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        out = gw.empty(x.shape)
        rows = out.view(-1)
        out.copy_(x)
        first = out[0]
        first.mul_(rows[5])
        out[1:, 0] += 1
        ctx.save_for_backward(rows, first)
        return out.t() + out.detach().t()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        rows, first = ctx.saved_tensors
        scaled = gw.empty(grad.t().shape)
        scaled.copy_(grad.t())
        scaled.view(-1)[2:].mul_(rows[2:])
        scaled[0] = first
        return scaled


@pytest.mark.parametrize("function", [Clamped, Masked, ThroughViews])
@pytest.mark.parametrize("dynamic", [False, True])
def test_writes_to_what_the_function_made_are_compiled(function: Any, dynamic: bool) -> None:
    def loss(x: Any) -> Any:
        return (function.apply(x * 2) ** 2).sum()

    compiled = gw.compile(loss, fullgraph=True, dynamic=dynamic)
    for rows in (3, 4):
        x = gw.randn(rows, 4)
        given = [x.clone().requires_grad_(), x.clone().requires_grad_()]
        values = [run(leaf) for run, leaf in zip((loss, compiled), given, strict=True)]
        for value in values:
            value.backward()
        gw.testing.assert_close(values[1], values[0])
        gw.testing.assert_close(given[1].grad, given[0].grad)
        gw.testing.assert_close(compiled(x), loss(x))
    stats = gw.compiler.stats(compiled)
    assert (stats.breaks, stats.fallbacks) == (0, 0)


class OfAnArgument(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        x.mul_(2)
        return x + 1

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad


class OfRepeatedPlaces(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        out = x.clone()
        out.as_strided((2, 2), (1, 1)).add_(1)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad


@pytest.mark.parametrize("function", [OfAnArgument, OfRepeatedPlaces])
def test_other_writes_run_as_plain_python(function: Any) -> None:
    def program(x: Any) -> Any:
        y = x * 2
        return function.apply(y) * y

    x = gw.rand(4)
    results = []
    for run in (program, gw.compile(program)):
        leaf = x.clone().requires_grad_()
        try:
            results.append(str(run(leaf).detach()))
        except RuntimeError as error:
            results.append(str(type(error)))
    assert results[0] == results[1]
