"""Custom functions: contexts, in-place outputs, refusals; against PyTorch where it is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.autograd.function import Function as Direct
from graphwright.autograd.function import FunctionCtx

pytestmark = pytest.mark.oracle
Program = Callable[[Any], Any]


def _leaf(lib: Any, *values: float) -> Any:
    return lib.tensor(list(values), dtype=lib.float64, requires_grad=True)


def exp_of_output(lib: Any) -> Any:
    class Exp(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            out = x.exp()
            ctx.save_for_backward(out)
            return out

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (out,) = ctx.saved_tensors
            return grad * out

    x = _leaf(lib, 0.0, 1.0)
    y = Exp.apply(x)
    (first,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = lib.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = lib.autograd.grad(second.sum(), x)
    return first.detach(), second.detach(), third, y.grad_fn.name()


def separate_setup(lib: Any) -> Any:
    class Scale(lib.autograd.Function):
        @staticmethod
        def forward(x: Any, factor: float) -> Any:
            return x * factor, x.sum()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.factor = inputs[1]
            ctx.count = len(output)

        @staticmethod
        def backward(ctx: Any, first: Any, second: Any) -> Any:
            return first * ctx.factor * ctx.count + second, None

    x = _leaf(lib, 1.0, 2.0)
    y, total = Scale.apply(x, 3.0)
    (y.sum() + total).backward()
    return x.grad


def needs_input_grad(lib: Any) -> Any:
    seen = []

    class Mul(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any, c: Any) -> Any:
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            a, b = ctx.saved_tensors
            seen.append(list(ctx.needs_input_grad))
            return grad * b, grad * a, None

    x, y = _leaf(lib, 1.0), lib.tensor([2.0], dtype=lib.float64)
    Mul.apply(x, y, "text").sum().backward()
    return x.grad, seen


def dirty(lib: Any) -> Any:
    class Double(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    x = _leaf(lib, 1.0, 2.0)
    y = x * 1
    z = Double.apply(y)
    z.sum().backward()
    return z is y, y.detach(), x.grad, y._version


def dirty_leaf(lib: Any) -> Any:
    class Double(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x.mul_(2))
            return x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad

    Double.apply(_leaf(lib, 1.0))


def not_differentiable(lib: Any) -> Any:
    class Sort(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            index, copy = x * 0, x * 1
            ctx.mark_non_differentiable(index)
            return copy, index

        @staticmethod
        def backward(ctx: Any, grad: Any, other: Any) -> Any:
            return grad + other

    x = _leaf(lib, 1.0, 2.0)
    copy, index = Sort.apply(x)
    copy.sum().backward()
    return copy.requires_grad, index.requires_grad, x.grad


def undefined_gradients(lib: Any) -> Any:
    seen = []

    class Two(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            seen.append(b is None)
            return a * 2

    x = _leaf(lib, 1.0)
    Two.apply(x)[0].sum().backward()
    return x.grad, seen


def once(lib: Any) -> Any:
    class Square(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @lib.autograd.function.once_differentiable
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.saved_tensors[0] * 2

    x = _leaf(lib, 3.0)
    (first,) = lib.autograd.grad(Square.apply(x).sum(), x)
    assert first.item() == 6.0
    (again,) = lib.autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    again.sum().backward()


def _returning(lib: Any, make: Callable[[Any], Any]) -> Any:
    class Identity(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return make(grad)

    x = _leaf(lib, 1.0, 2.0)
    Identity.apply(x).sum().backward()
    return x.grad


def too_many(lib: Any) -> Any:
    return _returning(lib, lambda g: (g, g))


def surplus_none(lib: Any) -> Any:
    return _returning(lib, lambda g: (g, None, None))


def wrong_shape(lib: Any) -> Any:
    return _returning(lib, lambda g: lib.ones(3, dtype=lib.float64))


def wider_shape(lib: Any) -> Any:
    return _returning(lib, lambda g: lib.ones(4, 2, dtype=lib.float64))


def other_dtype(lib: Any) -> Any:
    return _returning(lib, lambda g: lib.ones(2, dtype=lib.float32))


def wrong_kind(lib: Any) -> Any:
    return _returning(lib, lambda g: 3)


def returns_its_input(lib: Any) -> Any:
    class Same(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 5

    x = _leaf(lib, 1.0)
    y = Same.apply(x)
    y.sum().backward()
    return y is x, x.grad


def saved_then_modified(lib: Any) -> Any:
    class Square(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return ctx.saved_tensors[0] * grad * 2

    y = _leaf(lib, 1.0) * 1
    z = Square.apply(y)
    y.add_(1)
    z.sum().backward()


def saves_a_number(lib: Any) -> Any:
    class Bad(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(3)
            return x * 1

    Bad.apply(_leaf(lib, 1.0))


def no_backward(lib: Any) -> Any:
    class Half(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 0.5

    Half.apply(_leaf(lib, 1.0)).sum().backward()


def twice_without_saved(lib: Any) -> Any:
    class Twice(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    x = _leaf(lib, 1.0)
    y = Twice.apply(x).sum()
    y.backward()
    y.backward()
    return x.grad


def named_arguments(lib: Any) -> Any:
    class Scale(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float = 2.0) -> Any:
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return (grad * ctx.factor, None)[: len(ctx.needs_input_grad)]

    x = _leaf(lib, 1.0, 2.0)
    Scale.apply(x, factor=3.0).sum().backward()
    return x.grad


def changed_but_not_returned(lib: Any) -> Any:
    class Lost(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.mul_(2)
            ctx.mark_dirty(x)
            return x + 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad

    return Lost.apply(_leaf(lib, 1.0) * 1)


def the_older_name_of_backward(lib: Any) -> Any:
    class Triple(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 3

        @staticmethod
        def vjp(ctx: Any, grad: Any) -> Any:
            return grad * 3

    x = _leaf(lib, 1.0)
    Triple.apply(x).sum().backward()
    return x.grad


def the_node_shows_the_context(lib: Any) -> Any:
    class Square(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            ctx.note = "kept"
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2 * ctx.saved_tensors[0]

    node = Square.apply(_leaf(lib, 3.0)).grad_fn
    return node.saved_tensors, node.note, list(node.needs_input_grad), hasattr(node, "other")


def what_is_no_tensor_is_returned_as_it_is(lib: Any) -> Any:
    class Text(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return "text"

    return Text.apply(_leaf(lib, 1.0))


PROGRAMS = [value for value in list(globals().values())
            if callable(value) and getattr(value, "__module__", "") == __name__
            and not value.__name__.startswith("_")]  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    return value.detach().numpy().tolist() if hasattr(value, "detach") else value


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_same_as_pytorch(program: Program) -> None:
    torch = pytest.importorskip("torch")
    try:
        expected = _plain(program(torch))
    except Exception as error:
        with pytest.raises(type(error)):
            program(gw)
        return
    assert _plain(program(gw)) == expected


def test_the_public_module() -> None:
    assert Direct is gw.autograd.Function


def test_contexts_are_annotated_by_their_class() -> None:
    class Double(gw.autograd.Function):
        @staticmethod
        def forward(ctx: FunctionCtx, x: Any) -> Any:
            assert isinstance(ctx, FunctionCtx)
            return x * 2

        @staticmethod
        def backward(ctx: FunctionCtx, grad: Any) -> Any:
            return grad * 2

    x = gw.ones(2, requires_grad=True)
    Double.apply(x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [2, 2]
