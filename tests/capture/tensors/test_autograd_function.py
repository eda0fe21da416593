"""Calls of `autograd.Function`s: one node each, with the user's backward as their gradient."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright.autograd import Function
from graphwright.runtime.tape.function import once_differentiable

from ..captured import Captured

SCALE = scale = 2.0
CALLS: list[str] = []


class Exponential(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (y,) = ctx.saved_tensors
        return grad * y


class MultiplyAdd(Function):
    """Tells which gradients are wanted; takes a number too."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any, factor: float) -> Any:
        ctx.save_for_backward(a, b)
        ctx.factor = factor
        return a * b * factor

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        a, b = ctx.saved_tensors
        da = grad * b * ctx.factor if ctx.needs_input_grad[0] else None
        db = grad * a * ctx.factor if ctx.needs_input_grad[1] else None
        return da, db, None


class Sorted(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        values, order = gw.sort(x, dim=-1)
        ctx.mark_non_differentiable(order)
        ctx.save_for_backward(order)
        return values, order

    @staticmethod
    def backward(ctx: Any, grad: Any, _: Any) -> Any:
        (order,) = ctx.saved_tensors
        return gw.zeros(order.shape).scatter(-1, order, grad)


class StraightThrough(Function):
    """The gradient is not the derivative of forward."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return (x > 0).float()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return (grad * x).clamp(-1, 1)


class Separate(Function):
    @staticmethod
    def forward(x: Any, power: int) -> Any:
        return x**power

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, ctx.power = inputs
        ctx.save_for_backward(x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad * ctx.power * x ** (ctx.power - 1), None


class Reversed(Function):
    """Gives a view of its argument."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return -grad


class Sparse(Function):
    """Undefined gradients arrive as None."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx: Any, a: Any, b: Any) -> Any:
        total = None if a is None else a * 2
        return total if b is None else b * 3 if total is None else total + b * 3


class InPlace(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2


class ReadsGlobal(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * scale

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * scale


class ReadsConstant(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * SCALE

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * SCALE


class Notes(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        CALLS.append("forward")
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2


class Noisy(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x + gw.rand(x.shape)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad


class Scaled(Function):
    """Gives None for each argument that may be left out."""

    @staticmethod
    def forward(ctx: Any, x: Any, factor: float = 2.0, name: str = "scaled") -> Any:
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * ctx.factor, None, None


class Wrong(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        return x + y

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad


def exponential(x: Any, y: Any) -> Any:
    return Exponential.apply(x * 2) + y


def product(x: Any, y: Any) -> Any:
    return MultiplyAdd.apply(x, y, 3.0).sin()


def part_of_a_product(x: Any, y: Any) -> Any:
    return MultiplyAdd.apply(x, y.detach(), 3.0)


def in_order(x: Any, y: Any) -> Any:
    values, order = Sorted.apply(x)
    return values * y, order, order.requires_grad, values.requires_grad


def straight_through(x: Any, y: Any) -> Any:
    return StraightThrough.apply(x) * y


def separate(x: Any, y: Any) -> Any:
    return Separate.apply(x, 3) * y


def reversed_gradient(x: Any, y: Any) -> Any:
    return Reversed.apply(x * 2) * y


def one_of_two(x: Any, y: Any) -> Any:
    return Sparse.apply(x)[1] * y


def both_of_two(x: Any, y: Any) -> Any:
    a, b = Sparse.apply(x)
    return a * b * y


def arguments_left_out(x: Any, y: Any) -> Any:
    return Scaled.apply(x.sin()) * Scaled.apply(y, 3.0)


def without_gradients(x: Any, y: Any) -> Any:
    with gw.no_grad():
        z = Exponential.apply(x)
    return z * y


def nested(x: Any, y: Any) -> Any:
    apply = Exponential.apply
    return apply(StraightThrough.apply(apply(x * 0.1)) * y)


def reads_a_constant(x: Any, y: Any) -> Any:
    return ReadsConstant.apply(x.sin()) * y


WHOLE = [
    exponential, product, part_of_a_product, in_order, straight_through, separate,
    reversed_gradient, one_of_two, both_of_two, without_gradients, nested,
    arguments_left_out, reads_a_constant,
]  # fmt: skip


def operands() -> tuple[Any, Any]:
    x = gw.tensor([[0.3, -0.2, 0.9], [-1.0, 0.5, 0.1]], requires_grad=True)
    y = gw.tensor([0.7, -0.4, 0.2], requires_grad=True)
    return x, y


def gradients(function: Any) -> list[Any]:
    """Results, gradients, and gradients of gradients where there are any."""
    x, y = operands()
    results = function(x, y)
    results = results if isinstance(results, tuple) else (results,)
    grads = gw.autograd.grad(results[0].sum(), (x, y), create_graph=True, allow_unused=True)
    found = [*results, *grads]
    total = sum((g.sin().sum() for g in grads if g is not None), start=gw.zeros(()))
    if total.requires_grad:
        found += gw.autograd.grad(total, (x, y), allow_unused=True)
    return found


def agree(ours: list[Any], expected: list[Any]) -> bool:
    return all(
        gw.allclose(a, b, rtol=1e-5) if isinstance(b, gw.Tensor) else a is b
        for a, b in zip(ours, expected, strict=True)
    )


@pytest.mark.parametrize("program", WHOLE, ids=lambda program: program.__name__)
def test_calls_are_part_of_one_graph(program: Any) -> None:
    captured = Captured(program, fullgraph=True)
    expected = gradients(program) if program is not separate else []
    for _ in range(2):
        if expected:
            assert agree(gradients(captured), expected)
        else:
            assert captured.agrees(*operands())
    assert captured.graphs == 1


@pytest.mark.parametrize(
    "program",
    [program for program in WHOLE if program is not separate],
    ids=lambda program: program.__name__,
)
def test_forward_and_backward_are_compiled(program: Any) -> None:
    compiled: Any = gw.compile(program, fullgraph=True, backend="llvm")
    assert agree(gradients(compiled), gradients(program))


def test_the_node_is_named_after_the_class() -> None:
    captured = Captured(exponential, fullgraph=True)
    captured(*operands())
    assert "Exponential(" in captured.record.graphs[0].graph.code


def breaking(function: type[Function]) -> Any:
    def program(x: Any, y: Any) -> Any:
        z = x * 2
        return function.apply(z, y) + 1 if function is Wrong else function.apply(z) + 1

    return program


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (InPlace, "changes an argument in place"),
        (ReadsGlobal, "reads 2.0"),
        (Notes, "reads list"),
        (Noisy, "draws random numbers"),
        (Wrong, "another number of gradients"),
    ],
)
def test_what_cannot_be_a_node_runs_natively(function: type[Function], reason: str) -> None:
    program = breaking(function)
    captured = Captured(program)
    for _ in range(2):
        gw.manual_seed(3)
        expected = program(*operands())
        gw.manual_seed(3)
        assert gw.equal(captured(*operands()), expected)
    assert any(reason in entry.detail for entry in captured.record.breaks)


def test_a_view_of_an_argument_that_leaves_the_graph_runs_natively() -> None:
    def program(x: Any) -> Any:
        return Reversed.apply(x)

    captured = Captured(program)
    x = gw.ones(3, requires_grad=True)
    assert captured(x).data_ptr() == x.data_ptr()


def test_a_replaced_backward_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: Any = gw.compile(exponential, backend="llvm")
    x, y = operands()
    compiled(x, y).sum().backward()
    monkeypatch.setattr(Exponential, "backward", staticmethod(lambda ctx, grad: grad * 100))
    x, y = operands()
    compiled(x, y).sum().backward()
    assert gw.equal(x.grad, gw.full((2, 3), 200.0))


class WritesOwn(Function):
    """Both ways write to what they made themselves."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        total = x.cumsum(-1)
        total /= 2
        return x - total

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        result = grad.clone()
        result[x < 0] = 0
        return result


class WritesGradient(WritesOwn):
    """Only backward does."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.clamp(min=0)


@pytest.mark.parametrize("function", [WritesOwn, WritesGradient])
def test_what_a_function_writes_to_its_own_tensors_is_there(function: type[Function]) -> None:
    def program(x: Any) -> Any:
        return function.apply(x * 2).exp()

    compiled = gw.compile(program, fullgraph=True)
    for _ in range(2):
        x = gw.tensor([[1.0, -2.0, 3.0]], requires_grad=True)
        other = x.detach().clone().requires_grad_()
        y, expected = compiled(x), program(other)
        y.sum().backward()
        expected.sum().backward()
        assert gw.allclose(y, expected) and gw.allclose(x.grad, other.grad)


class Doubled(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        out = gw.empty(x.shape[0], 2)
        out[:, 0] = x
        out[:, 1] = x
        return out

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad.sum(1)


def test_forward_may_make_tensors_of_symbolic_sizes() -> None:
    captured = Captured(lambda x: Doubled.apply(x * 2) + 1, dynamic=True)
    for size in (3, 4, 5):
        assert captured.agrees(gw.rand(size, requires_grad=True))
    assert captured.breaks == [] and captured.record.recompiles == []
