"""Scaling by powers of two, linear interpolation, and products and quotients added to a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.creation.fill import calculated, check_held
from graphwright.runtime.ops.dtype_rules import require_dtype
from graphwright.runtime.ops.kernels import HALVES, allocate, wrap
from graphwright.runtime.ops.strides import contiguous_strides, preserved_strides
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.promotion import can_cast, result_dtype
from graphwright.runtime.tensor.tensor import Tensor


def _ldexp(input: Any, other: Any) -> Any:
    for value in (input, other):
        if not isinstance(value, Tensor):
            raise TypeError(f"ldexp(): both arguments must be Tensors, not {type(value).__name__}")
    inexact = input.dtype.is_floating_point or input.dtype.is_complex
    if not inexact or other.dtype.is_floating_point or other.dtype.is_complex:
        return ops.mul(input, ops.pow(2.0, other))
    if input.dtype.is_complex:
        return ops.mul(input, ops.pow(2.0, ops.to_dtype(other, input.dtype.to_real())))
    if other.dtype is dtypes.bool:
        raise NotImplementedError(f'"ldexp" not implemented for an exponent {describe(other)}')
    return _scaled_by_power(input, other)


def _scaled_by_power(input: Any, other: Any) -> Any:
    """input 2^other in the dtype of `input`, by three factors, each of which float64 holds."""
    exponent = ops.clamp(ops.to_dtype(other, dtypes.int64), -3000, 3000)
    first = ops.div(exponent, 3, rounding_mode="trunc")
    result = ops.to_dtype(input, dtypes.float64)
    for part in (first, first, ops.sub(exponent, ops.mul(first, 2))):
        result = ops.mul(result, ops.pow(2.0, ops.to_dtype(part, dtypes.float64)))
    return ops.to_dtype(result, input.dtype)


define(
    "ldexp(Tensor input, Tensor other)",
    Kind.COMPOSITE,
    decompose=_ldexp,
    doc="""Product with a power of two, `input * 2^other`, elementwise and broadcast.

    Args:
        input: a tensor; integers and bool give the default dtype.
        other: a tensor of exponents that broadcasts with `input`.

    Returns: a tensor of the broadcast shape.

    Raises:
        NotImplementedError: `input` is floating-point and `other` of bool.
        RuntimeError: the shapes do not broadcast.
        TypeError: one of them is a number.

    Example:
        >>> gw.ldexp(gw.tensor([1.0, 3.0]), gw.tensor([2, -1]))
        tensor([4.0000, 1.5000])
    """,
)
define(
    "ldexp_(Tensor input, Tensor other)",
    Kind.INPLACE,
    functional="ldexp",
    public=False,
)


def _frexp_specs(input: Any) -> tuple[TensorSpec, TensorSpec]:
    require_dtype("frexp", input.dtype, bool=False, integers=False, complex=False)
    strides = preserved_strides(input.shape, input.stride())
    return (
        TensorSpec(input.shape, strides, input.dtype, input.device),
        TensorSpec(input.shape, strides, dtypes.int32, input.device),
    )


def _frexp_eager(input: Any) -> tuple[Tensor, Tensor]:
    first, _ = _frexp_specs(input)
    array = input._nd.astype(np.float32) if input.dtype in HALVES else input._nd
    mantissa, exponent = np.frexp(array)
    if first.strides == contiguous_strides(first.shape):
        return wrap(mantissa, input.dtype), wrap(exponent, dtypes.int32)
    results = []
    for values, dtype in ((mantissa, input.dtype), (exponent, dtypes.int32)):
        out = allocate(first.shape, first.strides, dtype)
        np.copyto(out._nd, values, casting="unsafe")
        results.append(out)
    return results[0], results[1]


define(
    "frexp_parts(Tensor input)",
    Kind.OTHER,
    meta=_frexp_specs,
    vjp=lambda ctx, grad, _: ops.ldexp(grad, ops.neg(ctx.out1)),
    saves=("out1",),
    eager=_frexp_eager,
    method=False,
    public=False,
)
define(
    "frexp(Tensor input)",
    Kind.COMPOSITE,
    decompose=lambda input: return_types.frexp(*ops.frexp_parts(input)),
    doc="""Mantissa and exponent of each element: `input = mantissa * 2^exponent`.

    The absolute value of the mantissa is in [0.5, 1), or 0 where the element is.

    Args:
        input: a floating-point tensor of any shape.

    Returns: a named tuple (mantissa, exponent), of the dtype of `input` and of int32.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.

    Example:
        >>> mantissa, exponent = gw.frexp(gw.tensor([6.0, -0.5]))
        >>> mantissa, exponent
        (tensor([ 0.7500, -0.5000]), tensor([3, 0], dtype=graphwright.int32))
    """,
)


# -- interpolation and fused products


def _same_dtype(name: str, input: Any, **others: Any) -> None:
    for argument, value in others.items():
        if isinstance(value, Tensor) and value.dtype is not input.dtype:
            raise RuntimeError(
                f"{name}: expected dtype {input.dtype} for `{argument}` but got dtype "
                f"{value.dtype}"
            )


def _lerp(input: Any, end: Any, weight: Any) -> Any:
    """From the nearer end, so that weight 1 gives `end` exactly."""
    require_dtype("lerp", input.dtype, bool=False, integers=False)
    other = isinstance(weight, Tensor) and weight.dtype is not input.dtype
    if other and weight.ndim == 0 and can_cast(weight.dtype, input.dtype):
        return ops.lerp(input, end, ops.to_dtype(weight, input.dtype))
    _same_dtype("lerp", input, end=end, weight=weight)
    check_held("lerp", calculated(input.dtype), weight)
    if input.dtype in HALVES:
        wide = [ops.to_dtype(t, dtypes.float32) if isinstance(t, Tensor) else t
                for t in (input, end, weight)]
        return ops.to_dtype(ops.lerp(*wide), input.dtype)
    gap = ops.sub(end, input)
    if isinstance(weight, Tensor):
        near = ops.add(input, ops.mul(weight, gap))
        far = ops.sub(end, ops.mul(gap, ops.sub(1, weight)))
        return ops.where(ops.lt(ops.abs(weight), 0.5), near, far)
    if abs(weight) < 0.5:
        return ops.add(input, ops.mul(gap, weight))
    return ops.sub(end, ops.mul(gap, 1 - weight))


define(
    "lerp(Tensor input, Tensor end, Operand weight)",
    Kind.COMPOSITE,
    decompose=_lerp,
    doc="""Linear interpolation, `input + weight * (end - input)`, elementwise and broadcast.

    A weight of 1 gives `end` exactly.

    Args:
        input: a floating-point or complex tensor.
        end: a tensor of the dtype of `input` that broadcasts with it.
        weight: a number, or a tensor of that dtype; without dims, of any that casts to it.

    Returns: a tensor of the broadcast shape, in the dtype of `input`.

    Raises:
        NotImplementedError: `input` is of integers or bool.
        RuntimeError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> gw.lerp(gw.tensor([0.0, 2.0]), gw.tensor([4.0, 4.0]), 0.25)
        tensor([1.0000, 2.5000])
    """,
)
define(
    "lerp_(Tensor input, Tensor end, Operand weight)",
    Kind.INPLACE,
    functional="lerp",
    public=False,
)


def _addcmul(input: Any, tensor1: Any, tensor2: Any, value: Any) -> Any:
    dtype = result_dtype((input, tensor1, tensor2))
    require_dtype("addcmul", dtype, bool=False)
    check_held("addcmul", calculated(dtype), value)
    if dtype in HALVES:
        return _widely(ops.addcmul, (input, tensor1, tensor2), value, dtype)
    return ops.add(input, ops.mul(_scaled(tensor1, value, dtype), tensor2))


def _scaled(tensor: Any, value: Any, dtype: DType) -> Any:
    """`value * tensor` in the result's dtype, which comes before the product or quotient.

    Integers are multiplied by the whole part of a float, as in PyTorch.
    """
    tensor = tensor if tensor.dtype is dtype else ops.to_dtype(tensor, dtype)
    if isinstance(value, float) and not (dtype.is_floating_point or dtype.is_complex):
        value = int(value)
    is_one = not isinstance(value, Tensor) and value == 1
    return tensor if is_one else ops.mul(tensor, value)


def _widely(function: Any, tensors: tuple[Any, ...], value: Any, dtype: DType) -> Any:
    """Of half types: computed in float32 and rounded once."""
    wide = [ops.to_dtype(ops.to_dtype(t, dtype), dtypes.float32) for t in tensors]
    return ops.to_dtype(function(*wide, value=value), dtype)


def _addcdiv(input: Any, tensor1: Any, tensor2: Any, value: Any) -> Any:
    inexact = [
        t.dtype.is_floating_point or t.dtype.is_complex for t in (tensor1, tensor2)
    ]
    if not any(inexact):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future release "
            "addcdiv will perform a true division of tensor1 and tensor2"
        )
    dtype = result_dtype((input, tensor1, tensor2))
    check_held("addcdiv", calculated(dtype), value)
    if dtype in HALVES:
        return _widely(ops.addcdiv, (input, tensor1, tensor2), value, dtype)
    return ops.add(input, ops.div(_scaled(tensor1, value, dtype), tensor2))


for _name, _function, _doc in (
    (
        "addcmul",
        _addcmul,
        """Sum with a product, `input + value * tensor1 * tensor2`, elementwise and broadcast.

        Args:
            input: the tensor that is added to.
            tensor1, tensor2: tensors that broadcast with `input`.
            value: the number that the product is multiplied by.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: all tensors are of bool.
            RuntimeError: the shapes do not broadcast.

        Example:
            >>> gw.addcmul(gw.tensor([1.0]), gw.tensor([2.0]), gw.tensor([4.0]), value=0.5)
            tensor([5.])
        """,
    ),
    (
        "addcdiv",
        _addcdiv,
        """Sum with a quotient, `input + value * tensor1 / tensor2`, elementwise and broadcast.

        Args:
            input: the tensor that is added to.
            tensor1, tensor2: tensors that broadcast with `input`.
            value: the number that the quotient is multiplied by.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            RuntimeError: `tensor1` and `tensor2` are of integers, or the shapes do not broadcast.

        Example:
            >>> gw.addcdiv(gw.tensor([1.0]), gw.tensor([2.0]), gw.tensor([4.0]), value=0.5)
            tensor([1.2500])
        """,
    ),
):
    define(
        f"{_name}(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1)",
        Kind.COMPOSITE,
        decompose=_function,
        doc=_doc,
    )
    define(
        f"{_name}_(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1)",
        Kind.INPLACE,
        functional=_name,
        public=False,
    )
