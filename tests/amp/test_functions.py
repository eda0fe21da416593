"""Custom autograd functions under autocast."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright.amp import autocast, custom_bwd, custom_fwd


def _product(cast_inputs: Any, seen: list[Any]) -> Any:
    class Product(gw.autograd.Function):
        @staticmethod
        @custom_fwd(device_type="cpu", cast_inputs=cast_inputs)
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.save_for_backward(a, b)
            seen.append((gw.is_autocast_enabled("cpu"), a.dtype))
            return a @ b

        @staticmethod
        @custom_bwd(device_type="cpu")
        def backward(ctx: Any, grad: Any) -> Any:
            a, b = ctx.saved_tensors
            seen.append((gw.is_autocast_enabled("cpu"), (grad @ b.T).dtype))
            return (grad @ b.T).to(a.dtype), (a.T @ grad).to(b.dtype)

    return Product


@pytest.mark.parametrize(
    ("cast_inputs", "inside"),
    [(None, [(True, gw.float32), (True, gw.bfloat16)]),
     (gw.float32, [(False, gw.float32), (False, gw.float32)])],
)  # fmt: skip
def test_forward_and_backward_share_the_mode(cast_inputs: Any, inside: list[Any]) -> None:
    seen: list[Any] = []
    a, b = gw.ones(2, 3, requires_grad=True), gw.ones(3, 2, requires_grad=True)
    product = _product(cast_inputs, seen)
    with autocast("cpu", dtype=gw.bfloat16):
        out = product.apply(a, b)
    out.sum().backward()
    assert seen == inside
    assert a.grad is not None and a.grad.tolist() == [[2.0] * 3] * 2 and a.grad.dtype is gw.float32


def test_without_autocast_nothing_is_cast() -> None:
    seen: list[Any] = []
    a = gw.ones(2, 2, dtype=gw.float64, requires_grad=True)
    _product(gw.float32, seen).apply(a, a).sum().backward()
    assert seen == [(False, gw.float64), (False, gw.float64)]


def test_casts_reach_into_containers_and_leave_float64() -> None:
    given: list[Any] = []

    @custom_fwd(device_type="cpu", cast_inputs=gw.float16)
    def forward(ctx: Any, *args: Any) -> None:
        given.extend(args)

    class Context:
        pass

    with autocast("cpu", dtype=gw.bfloat16):
        forward(Context(), gw.ones(1), [gw.ones(1, dtype=gw.float64)], {"a": gw.ones(1)}, 3)
    assert given[0].dtype is gw.float16 and given[1][0].dtype is gw.float64
    assert given[2]["a"].dtype is gw.float16 and given[3] == 3


@pytest.mark.parametrize("decorator", [gw.amp.custom_fwd, gw.amp.custom_bwd])
def test_the_device_is_a_name(decorator: Any) -> None:
    with pytest.raises(ValueError, match="device_type"):
        decorator(device_type=3)


def test_the_switch_of_another_device_leaves_this_one_as_it_is() -> None:
    with gw.autocast("cpu"):
        gw.set_autocast_enabled("cuda", False)
        gw.set_autocast_enabled(False)
        assert gw.is_autocast_enabled("cpu")
        gw.set_autocast_enabled("cpu", False)
        assert not gw.is_autocast_enabled("cpu")
