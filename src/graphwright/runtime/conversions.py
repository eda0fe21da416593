"""Conversions between dtypes and devices, as a mixin of Tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphwright.runtime import dtypes
from graphwright.runtime.device import device as Device
from graphwright.runtime.dtypes import dtype as DType
from graphwright.runtime.ops import _face as ops

if TYPE_CHECKING:
    from graphwright.runtime.tensor import Tensor


def _target(tensor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The (dtype, device) that arguments of `to` ask for."""
    dtype, device = kwargs.pop("dtype", None), kwargs.pop("device", None)
    kwargs.pop("non_blocking", None)
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
    for arg in args:
        if isinstance(arg, DType):
            dtype = arg
        elif isinstance(arg, str | Device):
            device = arg
        elif hasattr(arg, "dtype") and hasattr(arg, "device"):
            dtype, device = arg.dtype, arg.device
        elif arg is not None and not isinstance(arg, bool):
            raise TypeError(f"to(): expected a dtype, device or Tensor, not {arg!r}")
    return dtype or tensor.dtype, Device(device) if device is not None else tensor.device


def _sizes(size: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], list | tuple) else size


class Conversions:
    """`to` and its shorthands, and `new_*`."""

    __slots__ = ()

    def to(self: Any, *args: Any, copy: bool = False, **kwargs: Any) -> Tensor:
        """By dtype, device, both, or like another tensor; self where nothing changes."""
        dtype, device = _target(self, args, kwargs)
        if device != self.device:
            raise RuntimeError(f"cannot move a tensor from {self.device} to {device} here")
        if dtype is self.dtype and not copy:
            return self
        return ops.clone(self) if dtype is self.dtype else ops.to_dtype(self, dtype)

    def type(self: Any, dtype: DType) -> Tensor:
        return self.to(dtype)

    def type_as(self: Any, other: Tensor) -> Tensor:
        return self.to(other.dtype)

    def float(self: Any) -> Tensor:
        return self.to(dtypes.float32)

    def double(self: Any) -> Tensor:
        return self.to(dtypes.float64)

    def half(self: Any) -> Tensor:
        return self.to(dtypes.float16)

    def bfloat16(self: Any) -> Tensor:
        return self.to(dtypes.bfloat16)

    def long(self: Any) -> Tensor:
        return self.to(dtypes.int64)

    def int(self: Any) -> Tensor:
        return self.to(dtypes.int32)

    def bool(self: Any) -> Tensor:
        return self.to(dtypes.bool)

    def cpu(self: Any) -> Tensor:
        return self.to("cpu")

    def contiguous(self: Any) -> Tensor:
        """Self if row-major without gaps, else a copy that is."""
        return self if self.is_contiguous() else ops.contiguous(self)

    def new_zeros(self: Any, *size: Any, dtype: DType | None = None) -> Tensor:
        return ops.zeros(_sizes(size), dtype=dtype or self.dtype, device=self.device)

    def new_ones(self: Any, *size: Any, dtype: DType | None = None) -> Tensor:
        return ops.ones(_sizes(size), dtype=dtype or self.dtype, device=self.device)

    def new_empty(self: Any, *size: Any, dtype: DType | None = None) -> Tensor:
        return ops.empty(_sizes(size), dtype=dtype or self.dtype, device=self.device)

    def new_full(self: Any, size: Any, fill_value: Any, dtype: DType | None = None) -> Tensor:
        return ops.full(size, fill_value, dtype=dtype or self.dtype, device=self.device)
