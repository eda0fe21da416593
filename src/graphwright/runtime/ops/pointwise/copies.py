"""Copies of tensors, in another dtype or order of dims in memory."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.ops.kernels import allocate, copy_into
from graphwright.runtime.ops.strides import contiguous_strides, preserved_strides
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.tensor import Tensor


def _like(input: Any, dtype: DType) -> TensorSpec:
    strides = preserved_strides(input.shape, input.stride())
    return TensorSpec(input.shape, strides, dtype, input.device)


def _copy(input: Any, dtype: DType, strides: tuple[int, ...]) -> Tensor:
    out = allocate(input.shape, strides, dtype)
    copy_into(out, input)
    return out


define(
    "to_dtype(Tensor input, dtype dtype)",
    Kind.POINTWISE,
    meta=_like,
    vjp=lambda ctx, grad: grad,
    eager=lambda input, dtype: _copy(
        input, dtype, preserved_strides(input.shape, input.stride())
    ),
    method=False,
    public=False,
)
define(
    "clone(Tensor input)",
    Kind.POINTWISE,
    meta=lambda input: _like(input, input.dtype),
    vjp=lambda ctx, grad: grad,
    eager=lambda input: _copy(
        input, input.dtype, preserved_strides(input.shape, input.stride())
    ),
    doc="""Copy of a tensor in memory of its own, through which gradients flow.

    Args:
        input: a tensor of any shape and dtype.
        memory_format: the order of dims in memory; that of `input` if None.

    Example:
        >>> x = gw.zeros(2)
        >>> y = gw.clone(x)
        >>> y[0] = 1.0
        >>> x, y
        (tensor([0., 0.]), tensor([1., 0.]))
    """,
)
define(
    "contiguous(Tensor input)",
    Kind.POINTWISE,
    meta=lambda input: TensorSpec(
        input.shape, contiguous_strides(input.shape), input.dtype, input.device
    ),
    vjp=lambda ctx, grad: grad,
    eager=lambda input: _copy(input, input.dtype, contiguous_strides(input.shape)),
    method=False,
    public=False,
)
