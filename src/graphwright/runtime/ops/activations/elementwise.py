"""What activations share: half types, entries of them and of their gradients."""

from __future__ import annotations

import re
from typing import Any

from graphwright.runtime._core import TensorBase
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.creation.fill import calculated, check_held
from graphwright.runtime.ops.nn_support import cast, require_floating, widened
from graphwright.runtime.ops.strides import pointwise_strides
from graphwright.runtime.ops.table import Kind, Op, define, op
from graphwright.runtime.ops.tensor_spec import TensorSpec


def floating_like(name: str) -> Any:
    """The shape rule of an activation, whose dtype has to hold the numbers among its options."""

    def meta(input: Any, *rest: Any) -> Any:
        require_floating(name, input)
        check_held(name, calculated(input.dtype), *rest)
        return like(input)

    return meta


def like(*operands: Any) -> TensorSpec:
    """The pointwise result of operands of one shape, in the layout that they have."""
    first = operands[0]
    strides = pointwise_strides(first.shape, [(x.shape, x.stride()) for x in operands])
    return TensorSpec(first.shape, strides, first.dtype, first.device)


def wide(function: Any) -> Any:
    """A decomposition computed in float32 for half precision; the first argument decides."""

    def decompose(first: Any, *rest: Any) -> Any:
        others = [widened(r) if isinstance(r, TensorBase) else r for r in rest]
        return cast(function(widened(first), *others), first.dtype)

    return decompose


def activation(
    schema: str,
    decompose: Any,
    backward: Any,
    *,
    meta: Any = None,
    method: bool = False,
    public: bool = False,
    straight: bool = False,
    doc: str = "",
) -> None:
    """An activation, which plain calls compute in C: `decompose(x, *options)` written with `ops`.

    Its gradient `backward(grad, x, *options)` becomes an op of its own, NAME_backward. Where it
    is made of `straight` lines, that does not depend on where in a line x is: see `straight_vjp`.
    """
    name, _, params = schema.partition("(")
    check = meta or floating_like(name)
    parts = wide(decompose)

    def eager(input: Any, *options: Any) -> Any:
        check(input, *options)
        return parts(input, *options)

    define(
        schema,
        Kind.COMPOSITE,
        meta=check,
        vjp=_vjp(op(f"{name}_backward"), op(name)),
        saves=("input",),
        decompose=parts,
        eager=eager,
        method=method,
        public=public,
        doc=doc,
    )
    plain = re.sub(r"=[^,)]*", "", params).replace("*, ", "")
    define(
        f"{name}_backward(Tensor grad, {plain}",
        Kind.COMPOSITE,
        meta=_like_input,
        vjp=straight_vjp(op(f"{name}_backward")) if straight else None,
        saves=("input",) if straight else (),
        decompose=wide(backward),
        method=False,
        public=False,
    )


def _vjp(backward: Op, entry: Op) -> Any:
    def vjp(ctx: Any, grad: Any) -> Any:
        return backward(grad, ctx.input, *(getattr(ctx, name) for name in entry.names[1:]))

    return vjp


def straight_vjp(backward: Op) -> Any:
    """The rule of `backward(grad, x, *options)` that is linear in grad: x has the gradient zero.

    Zeros, not none: a program that differentiates the gradient of a net of straight lines gets
    an answer for all that it depends on, as in PyTorch.
    """

    def vjp(ctx: Any, grad: Any) -> Any:
        to_grad = to_input = None
        if ctx.needs["grad"]:
            to_grad = backward(grad, ctx.input, *(getattr(ctx, n) for n in backward.names[2:]))
        if ctx.needs["input"]:
            to_input = ops.zeros_like(ctx.input)
        return to_grad, to_input

    return vjp


def inplace(*schemas: str) -> None:
    """The in-place forms of ops that are defined already."""
    for schema in schemas:
        name = schema.partition("(")[0]
        define(schema, Kind.INPLACE, functional=name[:-1], method=False, public=False)


def _like_input(grad: Any, input: Any, *rest: Any) -> Any:
    return like(grad, input)
