"""Functions with a `jvp`: forward mode calls it, and differentiates `backward` of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

import graphwright as gw
from graphwright.autograd import forward_ad as fwAD

X, Y = gw.tensor([1.0, 2.0]), gw.tensor([3.0, 4.0])
DX, DY = gw.tensor([0.5, -1.0]), gw.tensor([2.0, 1.0])


class Product(gw.autograd.Function):
    """x * x * y, and beside it x; `jvp` gives ten times the first tangent, to be told apart."""

    seen: ClassVar[list[tuple[bool, bool]]] = []

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return x * x * y, x + 0

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(inputs[1], inputs[0])

    @staticmethod
    def backward(ctx: Any, grad: Any, other: Any) -> Any:
        x, y = ctx.saved_tensors
        return grad * 2 * x * y + other, grad * x * x

    @staticmethod
    def jvp(ctx: Any, dx: Any, dy: Any) -> Any:
        Product.seen.append((dx is None, dy is None))
        y, x = ctx.saved_tensors
        return 10 * (2 * x * y * dx + x * x * dy), dx


def by_dual_numbers(function: Callable[..., Any], primals: Any, tangents: Any) -> list[Any]:
    with fwAD.dual_level():
        duals = [fwAD.make_dual(x, t) for x, t in zip(primals, tangents, strict=True)]
        return [fwAD.unpack_dual(out).tangent for out in function(*duals)]


def by_transform(function: Callable[..., Any], primals: Any, tangents: Any) -> list[Any]:
    return list(gw.func.jvp(function, primals, tangents)[1])


WAYS = pytest.mark.parametrize("push", [by_dual_numbers, by_transform])


@WAYS
def test_tangents_come_from_jvp(push: Callable[..., Any]) -> None:
    first, second = push(Product.apply, (X, Y), (DX, DY))
    gw.testing.assert_close(first, 10 * (2 * X * Y * DX + X * X * DY))
    gw.testing.assert_close(second, DX)


@WAYS
def test_arguments_without_a_tangent_have_zeros(push: Callable[..., Any]) -> None:
    Product.seen.clear()
    first, _ = push(lambda x: Product.apply(x, Y), (X,), (DX,))
    gw.testing.assert_close(first, 20 * X * Y * DX)
    assert set(Product.seen) == {(False, False)}


@WAYS
def test_functions_before_and_after_are_chained(push: Callable[..., Any]) -> None:
    first, _ = push(lambda x: (Product.apply(x * 3, Y)[0] ** 2, x), (X,), (DX,))
    value = 9 * X * X * Y
    gw.testing.assert_close(first, 2 * value * 20 * 3 * X * Y * 3 * DX)


def test_tangents_of_jvp_can_be_differentiated() -> None:
    y = Y.clone().requires_grad_()
    with fwAD.dual_level():
        out = Product.apply(fwAD.make_dual(X, DX), y)[0]
        tangent = fwAD.unpack_dual(out).tangent
    (found,) = gw.autograd.grad(tangent.sum(), y)
    gw.testing.assert_close(found, 20 * X * DX)


def test_columns_of_a_jacobian_come_from_jvp() -> None:
    found = gw.func.jacfwd(lambda x: Product.apply(x, Y)[0])(X)
    gw.testing.assert_close(found, (20 * X * Y).diag())


def test_reverse_mode_calls_backward_even_beside_forward_mode() -> None:
    x = X.clone().requires_grad_()
    by_transform(Product.apply, (X, Y), (DX, DY))
    Product.apply(x, Y)[0].sum().backward()
    gw.testing.assert_close(x.grad, 2 * X * Y)


@pytest.mark.parametrize(
    ("tangents", "message"),
    [
        (X, "expected 2 but got 1"),
        ((X, 1.0), r"got float\) for output 1"),
        ((X[:1], X), "different size than that of output 0"),
    ],
)
def test_results_that_are_no_tangents_are_refused(tangents: Any, message: str) -> None:
    class Wrong(Product):
        @staticmethod
        def jvp(ctx: Any, dx: Any, dy: Any) -> Any:
            return tangents

    with pytest.raises(RuntimeError, match=message):
        by_transform(Wrong.apply, (X, Y), (DX, DY))


def test_outputs_may_have_no_tangent() -> None:
    class First(Product):
        @staticmethod
        def jvp(ctx: Any, dx: Any, dy: Any) -> Any:
            return dx, None

    first, second = by_transform(First.apply, (X, Y), (DX, DY))
    gw.testing.assert_close(first, DX)
    gw.testing.assert_close(second, gw.zeros(2))


def test_compiled_functions_differentiate_backward() -> None:
    def push(x: Any) -> Any:
        return gw.func.jvp(lambda x: Product.apply(x, x)[1], (x,), (x,))[1]

    gw.testing.assert_close(gw.compile(push)(X), push(X))
