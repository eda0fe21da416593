"""Conversions between dtypes and devices, as a mixin of Tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.runtime._core import TensorBase
from graphwright.runtime.dispatch import PYTHON_TYPES
from graphwright.runtime.errors import describe, require_kind, require_tensor
from graphwright.runtime.naming import NAMING
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import absence
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.memory_format import contiguous_format, in_format, is_in_format

if TYPE_CHECKING:
    from graphwright.runtime.tensor.tensor import Tensor


_CPU = Device("cpu")


def _target(tensor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The (dtype, device) that arguments of `to` ask for."""
    dtype, device = kwargs.pop("dtype", None), kwargs.pop("device", None)
    dtype = kwargs.pop("other", None) if dtype is None else dtype
    if hasattr(dtype, "device"):
        dtype, device = dtype.dtype, dtype.device
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
    if args and isinstance(args[0], bool | float | complex):    # as a tensor without dims
        dtype = PYTHON_TYPES[type(args[0])]
        for arg in args[1:]:
            require_kind("to", "non_blocking", arg, bool)
        return dtype, tensor.device
    for place, arg in enumerate(args):
        if isinstance(arg, DType):
            dtype = arg
        elif isinstance(arg, type) and arg in PYTHON_TYPES:
            dtype = PYTHON_TYPES[arg]
        elif isinstance(arg, str | Device):
            device = arg
        elif not place and hasattr(arg, "dtype") and hasattr(arg, "device"):
            dtype, device = arg.dtype, arg.device
        elif type(arg) is int and not place:
            device = Device("cuda", arg)
        elif arg is not None and not isinstance(arg, bool):
            raise TypeError(f"to(): expected a dtype, device or Tensor, not {describe(arg)}")
    if device is None or (device.__class__ is str and device == "cpu" and tensor.device is _CPU):
        return dtype or tensor.dtype, tensor.device
    return dtype or tensor.dtype, Device(device)


def _cast(tensor: Any, dtype: DType) -> Any:
    """The tensor itself where it has the dtype."""
    return tensor if tensor.dtype is dtype else ops.to_dtype(tensor, dtype)


def _moved(tensor: Any, dtype: DType, device: Device) -> Any:
    """On the device "meta" there is no data to move, and none comes back. All CPUs are one."""
    if device.type == "meta":
        return ops.empty_like(tensor, dtype=dtype, device=device)
    if tensor.device.type == "meta":
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    if device.type == "cpu":
        return ops.clone(tensor) if tensor.dtype is dtype else ops.to_dtype(tensor, dtype)
    raise RuntimeError(f"to(): {absence(device.type)}")


def _sizes(size: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """Sizes given one by one, as one sequence, or as `size=`."""
    if not size and "size" in options:
        size = (options.pop("size"),)
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], list | tuple) else size


def _defaults(tensor: Any, options: dict[str, Any]) -> dict[str, Any]:
    """dtype and device of a tensor where the options do not name them."""
    if not options:
        return {"dtype": tensor.dtype, "device": tensor.device}
    for name in ("dtype", "device"):
        if options.get(name) is None:
            options[name] = getattr(tensor, name)
    return options


_TENSOR_TYPES = {
    dtypes.bool: "Bool",
    dtypes.uint8: "Byte",
    dtypes.int8: "Char",
    dtypes.int16: "Short",
    dtypes.int32: "Int",
    dtypes.int64: "Long",
    dtypes.uint16: "UInt16",
    dtypes.uint32: "UInt32",
    dtypes.uint64: "UInt64",
    dtypes.float16: "Half",
    dtypes.bfloat16: "BFloat16",
    dtypes.float32: "Float",
    dtypes.float64: "Double",
    dtypes.complex64: "ComplexFloat",
    dtypes.complex128: "ComplexDouble",
    **{dtype: dtype.name.capitalize() for dtype in dtypes.FLOAT8},
}


def _named_type(name: str) -> DType:
    for dtype, text in _TENSOR_TYPES.items():
        if name.rpartition(".")[2] == f"{text}Tensor":
            return dtype
    raise ValueError(f"invalid type: '{name}'")


class _Make:
    """Filled by `interop`, which knows how data become tensors."""

    __slots__ = ("tensor",)

    def __init__(self) -> None:
        self.tensor: Callable[..., Tensor]


MAKE = _Make()


class Conversions:
    """`to` and its shorthands, and `new_*`."""

    __slots__ = ()

    def to(
        self: Any, *args: Any, copy: bool = False, memory_format: Any = None,
        non_blocking: Any = False, **kwargs: Any,
    ) -> Tensor:
        """By dtype, device, both, or like another tensor; self where nothing changes.

        `memory_format` orders the dims in memory; `non_blocking` changes nothing. To "meta" only
        the type is kept.
        """
        if len(args) == 1 and not (kwargs or copy or memory_format):
            if args[0].__class__ is DType:
                return _cast(self, args[0])
            if (_CPU if args[0].__class__ is str and args[0] == "cpu" else args[0]) is self.device:
                return self
        dtype, device = _target(self, args, kwargs)
        if device != self.device:
            return _moved(self, dtype, device)
        if dtype is not self.dtype:
            result = ops.to_dtype(self, dtype)
        else:
            result = ops.clone(self) if copy else self
        return result if memory_format is None else in_format("to", result, memory_format)

    def type(self: Any, dtype: DType | str | None = None, non_blocking: Any = False) -> Any:
        """Cast to a dtype, or to one named as `graphwright.FloatTensor`; without, that name."""
        require_kind("type", "non_blocking", non_blocking, bool)
        if isinstance(dtype, TensorBase | int | float | complex):
            raise TypeError(f"type(): argument 'dtype' must be a dtype, not {describe(dtype)}")
        if dtype is None:
            return f"{NAMING.root}.{_TENSOR_TYPES[self.dtype]}Tensor"
        if isinstance(dtype, str):
            return self.to(_named_type(dtype))
        return self.to(getattr(dtype, "dtype", dtype))

    def type_as(self: Any, other: Tensor) -> Tensor:
        require_tensor("type_as", "other", other)
        return self.to(other.dtype)

    def float(self: Any) -> Tensor:
        return _cast(self, dtypes.float32)

    def double(self: Any) -> Tensor:
        return _cast(self, dtypes.float64)

    def half(self: Any) -> Tensor:
        return _cast(self, dtypes.float16)

    def bfloat16(self: Any) -> Tensor:
        return _cast(self, dtypes.bfloat16)

    def long(self: Any) -> Tensor:
        return _cast(self, dtypes.int64)

    def int(self: Any) -> Tensor:
        return _cast(self, dtypes.int32)

    def bool(self: Any) -> Tensor:
        return _cast(self, dtypes.bool)

    def byte(self: Any) -> Tensor:
        return _cast(self, dtypes.uint8)

    def char(self: Any) -> Tensor:
        return _cast(self, dtypes.int8)

    def short(self: Any) -> Tensor:
        return _cast(self, dtypes.int16)

    def cfloat(self: Any) -> Tensor:
        return _cast(self, dtypes.complex64)

    def cdouble(self: Any) -> Tensor:
        return _cast(self, dtypes.complex128)

    def cpu(self: Any, memory_format: Any = None) -> Tensor:
        return self.to(_CPU) if memory_format is None else self.to(memory_format=memory_format)

    def contiguous(self: Any, *, memory_format: Any = contiguous_format) -> Tensor:
        """Self if row-major (or in another format) without gaps, else a copy that is."""
        if memory_format is not contiguous_format:
            return in_format("contiguous", self, memory_format)
        return self if self.is_contiguous() else ops.contiguous(self)

    def _is_in_format(self: Any, memory_format: Any) -> Any:
        """What `is_contiguous(memory_format)` asks."""
        return is_in_format("is_contiguous", self, memory_format)

    def new_tensor(self: Any, data: Any, **options: Any) -> Tensor:
        """A tensor of `data` with this one's dtype, unless `dtype` says otherwise."""
        dtype = options.pop("dtype", None)
        return MAKE.tensor(data, dtype=self.dtype if dtype is None else dtype, **options)

    def new_zeros(
        self: Any, *size: Any, dtype: Any = None, device: Any = None, **options: Any
    ) -> Tensor:
        """As `zeros`, with this tensor's dtype and device unless others are given."""
        dtype = self.dtype if dtype is None else dtype
        device = self.device if device is None else device
        if options:
            return ops.zeros(_sizes(size, options), dtype=dtype, device=device, **options)
        return ops.zeros(*size, dtype=dtype, device=device)

    def new_ones(
        self: Any, *size: Any, dtype: Any = None, device: Any = None, **options: Any
    ) -> Tensor:
        """As `ones`, with this tensor's dtype and device unless others are given."""
        dtype = self.dtype if dtype is None else dtype
        device = self.device if device is None else device
        if options:
            return ops.ones(_sizes(size, options), dtype=dtype, device=device, **options)
        return ops.ones(*size, dtype=dtype, device=device)

    def new_empty(
        self: Any, *size: Any, dtype: Any = None, device: Any = None, **options: Any
    ) -> Tensor:
        """As `empty`, with this tensor's dtype and device unless others are given."""
        dtype = self.dtype if dtype is None else dtype
        device = self.device if device is None else device
        if options:
            return ops.empty(_sizes(size, options), dtype=dtype, device=device, **options)
        return ops.empty(*size, dtype=dtype, device=device)

    def new_full(self: Any, size: Any, fill_value: Any, **options: Any) -> Tensor:
        """As `full`, with this tensor's dtype and device unless others are given."""
        return ops.full(size, fill_value, **_defaults(self, options))

    def new_empty_strided(self: Any, size: Any, stride: Any, **options: Any) -> Tensor:
        """As `empty_strided`, with this tensor's dtype and device unless others are given."""
        return ops.empty_strided(size, stride, **_defaults(self, options))
