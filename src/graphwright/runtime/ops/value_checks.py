"""Values that an op refuses: looked at at once, or, in compiled code, when it runs."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.dtype_rules import has_values
from graphwright.runtime.ops.spec import TensorSpec
from graphwright.runtime.ops.strides import preserved_strides
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import Tensor


def checked(tensor: Any, ok: Any, message: str) -> Any:
    """`tensor`, all of whose `ok` is true: what follows reads the result instead of it.

    Args:
        tensor: any tensor.
        ok: bool, of a shape that broadcasts to the tensor's.
        message: what the error says.

    Raises:
        RuntimeError: a value is not ok. Where the values are not known yet, the check is an op.
    """
    if not has_values(ok):
        return ops.require_values(tensor, ok, message)
    if not ok.all().item():
        raise RuntimeError(message)
    return tensor


def inside(tensor: Any, low: float, high: float) -> Any:
    """Where a tensor lies in [low, high], which a NaN does not."""
    return ops.logical_and(ops.ge(tensor, low), ops.le(tensor, high))


def _meta(input: Any, ok: Any, message: str) -> TensorSpec:
    strides = preserved_strides(input.shape, input.stride())
    return TensorSpec(input.shape, strides, input.dtype, input.device)


def _eager(input: Tensor, ok: Tensor, message: str) -> Any:
    return checked(input, ok, message).clone()


define(
    "require_values(Tensor input, Tensor ok, str message)",
    Kind.INDEXING,
    meta=_meta,
    vjp=lambda ctx, grad: (grad, None),
    eager=_eager,
    method=False,
    public=False,
)
