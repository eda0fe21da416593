"""What activations share: NumPy kernels over blocks that stay in cache, half types, entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.ops.kernels import allocate, is_wide_float
from graphwright.runtime.ops.nn_support import (
    Array,
    cast,
    compute,
    finish,
    is_half,
    quietly,
    require_floating,
    widened,
)
from graphwright.runtime.ops.spec import TensorSpec
from graphwright.runtime.ops.strides import pointwise_strides
from graphwright.runtime.ops.table import Kind, Op, define, op
from graphwright.runtime.tensor import Tensor

_BLOCK = 16 * 1024


def floating_like(name: str) -> Any:
    def meta(input: Any, *rest: Any) -> Any:
        require_floating(name, input)
        return like(input)

    return meta


def like(*operands: Any) -> TensorSpec:
    """The pointwise result of operands of one shape, in the layout that they have."""
    first = operands[0]
    strides = pointwise_strides(first.shape, [(x.shape, x.stride()) for x in operands])
    return TensorSpec(first.shape, strides, first.dtype, first.device)


def over_blocks(function: Any, operands: tuple[Tensor, ...], options: tuple[Any, ...]) -> Tensor:
    """function(*arrays, out, *options) over blocks that stay in cache."""
    wanted = like(*operands)
    result = allocate(wanted.shape, wanted.strides, wanted.dtype)
    arrays = [compute(operand) for operand in operands]
    out = np.empty_like(result._nd, np.float32) if is_half(wanted.dtype) else result._nd
    flat = [_in_memory_order(array) for array in (*arrays, out)]
    if any(array is None for array in flat) or len({x.strides for x in (*arrays, out)}) > 1:
        function(*arrays, out, *options)
        return finish(result, out)
    for start in range(0, out.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        function(*(array[block] for array in flat), *options)  # type: ignore[index]
    return finish(result, out)


def _in_memory_order(array: Array) -> Array | None:
    """A dense array as one row, without copying; None for other layouts."""
    if array.flags.c_contiguous:
        return array.reshape(-1)
    if array.flags.f_contiguous:
        return array.reshape(-1, order="F")
    return None


def blocked(name: str, function: Any) -> Any:
    """An eager kernel from `function(x, out, *options)` on arrays."""

    def kernel(input: Tensor, *options: Any) -> Tensor:
        if is_wide_float(input) and input.numel() <= _BLOCK:
            small = _core.empty(Tensor, input.shape, input.dtype)
            function(input._nd, small._nd, *options)
            return small
        require_floating(name, input)
        return over_blocks(function, (input,), options)

    return kernel


def blocked_backward(function: Any) -> Any:
    """As `blocked`, from `function(grad, x, out, *options)`."""

    def kernel(grad: Tensor, input: Tensor, *options: Any) -> Tensor:
        return over_blocks(function, (grad, input), options)

    return kernel


def wide(function: Any) -> Any:
    """A decomposition computed in float32 for half precision; the first argument decides."""

    def decompose(first: Any, *rest: Any) -> Any:
        tensors = [widened(r) if hasattr(r, "dtype") else r for r in rest]
        return cast(function(widened(first), *tensors), first.dtype)

    return decompose


def activation(
    schema: str,
    array: Any,
    decompose: Any,
    backward: Any,
    *,
    meta: Any = None,
    method: bool = False,
    public: bool = False,
) -> None:
    """An activation: `array(x, out, *options)` eagerly, `decompose(x, *options)` compiled.

    `backward(grad, x, *options)` is its gradient, written with `ops`.
    """
    name = schema.partition("(")[0]
    define(
        schema,
        Kind.COMPOSITE,
        meta=meta or floating_like(name),
        vjp=_vjp(wide(backward), op(name)),
        saves=("input",),
        decompose=wide(decompose),
        eager=quietly(blocked(name, array)),
        method=method,
        public=public,
    )


def _vjp(backward: Any, entry: Op) -> Any:
    def vjp(ctx: Any, grad: Any) -> Any:
        return backward(grad, ctx.input, *(getattr(ctx, name) for name in entry.names[1:]))

    return vjp


def inplace(*schemas: str) -> None:
    """The in-place forms of ops that are defined already."""
    for schema in schemas:
        name = schema.partition("(")[0]
        define(schema, Kind.INPLACE, functional=name[:-1], method=False, public=False)


def _like_input(grad: Any, input: Any, *rest: Any) -> Any:
    return like(grad, input)


def activation_backward(schema: str, array: Any, decompose: Any) -> None:
    """The gradient of an activation as an op of its own: `array(grad, x, out, *options)`."""
    define(
        schema,
        Kind.COMPOSITE,
        meta=_like_input,
        decompose=wide(decompose),
        eager=quietly(blocked_backward(array)),
        method=False,
        public=False,
    )
