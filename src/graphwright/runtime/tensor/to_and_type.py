"""Conversions between dtypes and devices, as a mixin of Tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.dispatch import PYTHON_TYPES, on_cuda
from graphwright.runtime.errors import describe, require_kind, require_tensor
from graphwright.runtime.naming import NAMING
from graphwright.runtime.ops import functions as ops
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


def _moved(tensor: Any, dtype: DType, device: Device, non_blocking: bool) -> Any:
    """On the device "meta" there is no data to move, and none comes back. All CPUs are one."""
    if device.type == "meta":
        return ops.empty_like(tensor, dtype=dtype, device=device)
    if tensor.device.type == "meta":
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    if tensor.is_cuda or (device.type == "cuda" and _core.cuda_absence() is None):
        return on_cuda().transfers.moved(tensor, dtype, device, not non_blocking)
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
        """The tensor converted to a dtype or device; the tensor itself where nothing changes.

        Args:
            args: a dtype, a device, a device and a dtype, or a tensor with both; or by the names
                `dtype`, `device` and `other`.
            copy: return a copy also where nothing changes.
            memory_format: the order of dims in memory, such as `channels_last`; as it is if None.
            non_blocking: return before the copy is done between a GPU and pinned memory, which
                the copy of a GPU's tensor is then made in.

        Returns: a tensor of the same shape. On the device "meta" it has no data.

        Raises:
            RuntimeError: there is no such device.
            NotImplementedError: a tensor on "meta" is to be moved elsewhere.
            TypeError: an argument is something else.

        Example:
            >>> gw.tensor([1, 2]).to(gw.float32)
            tensor([1., 2.])
        """
        if len(args) == 1 and not (kwargs or copy or memory_format):
            if args[0].__class__ is DType:
                return _cast(self, args[0])
            if (_CPU if args[0].__class__ is str and args[0] == "cpu" else args[0]) is self.device:
                return self
        dtype, device = _target(self, args, kwargs)
        if device.type == "cuda" and _core.cuda_absence() is None:
            device = on_cuda().devices.placed(device)
        if device != self.device:
            ordered = self if memory_format is None else in_format("to", self, memory_format)
            return _moved(ordered, dtype, device, non_blocking or any(arg is True for arg in args))
        if dtype is not self.dtype:
            result = ops.to_dtype(self, dtype)
        else:
            result = ops.clone(self) if copy else self
        return result if memory_format is None else in_format("to", result, memory_format)

    def type(self: Any, dtype: DType | str | None = None, non_blocking: Any = False) -> Any:
        """The tensor converted to a dtype; without one, the name of its type.

        Args:
            dtype: a dtype, a tensor class, or a name such as "graphwright.FloatTensor" or
                "graphwright.cuda.FloatTensor", which move the tensor too.
            non_blocking: without effect.

        Raises:
            RuntimeError: there is no GPU.
            ValueError: there is no type of that name.
            TypeError: `dtype` is a number or a tensor.

        Example:
            >>> gw.tensor([1.0, 2.0]).type(gw.int64)
            tensor([1, 2])
            >>> gw.tensor([1.0, 2.0]).type()
            'graphwright.FloatTensor'
        """
        require_kind("type", "non_blocking", non_blocking, bool)
        if isinstance(dtype, TensorBase | int | float | complex):
            raise TypeError(f"type(): argument 'dtype' must be a dtype, not {describe(dtype)}")
        if dtype is None:
            package = f"{NAMING.root}.cuda" if self.is_cuda else NAMING.root
            return f"{package}.{_TENSOR_TYPES[self.dtype]}Tensor"
        if isinstance(dtype, str):
            on_gpu = dtype.rpartition(".")[0].endswith("cuda")
            return self.to("cuda" if on_gpu else "cpu", _named_type(dtype))
        return self.to(getattr(dtype, "dtype", dtype))

    def type_as(self: Any, other: Tensor) -> Tensor:
        """The tensor converted to the dtype of `other`; the tensor itself where it has that.

        Raises:
            TypeError: `other` is no tensor.

        Example:
            >>> gw.tensor([1.0, 2.0]).type_as(gw.tensor(3))
            tensor([1, 2])
        """
        require_tensor("type_as", "other", other)
        return self.to(other.dtype)

    def float(self: Any) -> Tensor:
        """The tensor converted to float32; the tensor itself where it has that dtype.

        Complex numbers lose their imaginary part, with a UserWarning.

        Example:
            >>> gw.tensor([1, 2]).float()
            tensor([1., 2.])
        """
        return _cast(self, dtypes.float32)

    def double(self: Any) -> Tensor:
        """The tensor converted to float64; the tensor itself where it has that dtype.

        Complex numbers lose their imaginary part, with a UserWarning.

        Example:
            >>> gw.tensor([1, 2]).double()
            tensor([1., 2.], dtype=graphwright.float64)
        """
        return _cast(self, dtypes.float64)

    def half(self: Any) -> Tensor:
        """The tensor converted to float16; the tensor itself where it has that dtype.

        Numbers of 65520 and more become infinite.

        Example:
            >>> gw.tensor([0.5, 1e5]).half()
            tensor([0.5000,    inf], dtype=graphwright.float16)
        """
        return _cast(self, dtypes.float16)

    def bfloat16(self: Any) -> Tensor:
        """The tensor converted to bfloat16; the tensor itself where it has that dtype.

        It has the range of float32 and 8 bits of precision.

        Example:
            >>> gw.tensor([1.0, 1.001]).bfloat16()
            tensor([1., 1.], dtype=graphwright.bfloat16)
        """
        return _cast(self, dtypes.bfloat16)

    def long(self: Any) -> Tensor:
        """The tensor converted to int64; the tensor itself where it has that dtype.

        Fractions are cut off.

        Example:
            >>> gw.tensor([1.7, -1.7]).long()
            tensor([ 1, -1])
        """
        return _cast(self, dtypes.int64)

    def int(self: Any) -> Tensor:
        """The tensor converted to int32; the tensor itself where it has that dtype.

        Fractions are cut off; integers beyond the range wrap around.

        Example:
            >>> gw.tensor([1.7, -1.7]).int()
            tensor([ 1, -1], dtype=graphwright.int32)
        """
        return _cast(self, dtypes.int32)

    def bool(self: Any) -> Tensor:
        """The tensor converted to bool; the tensor itself where it has that dtype.

        What is not zero is True, also NaN.

        Example:
            >>> gw.tensor([0.0, 0.5]).bool()
            tensor([False,  True])
        """
        return _cast(self, dtypes.bool)

    def byte(self: Any) -> Tensor:
        """The tensor converted to uint8; the tensor itself where it has that dtype.

        Fractions are cut off; integers beyond the range wrap around.

        Example:
            >>> gw.tensor([1, 300]).byte()
            tensor([ 1, 44], dtype=graphwright.uint8)
        """
        return _cast(self, dtypes.uint8)

    def char(self: Any) -> Tensor:
        """The tensor converted to int8; the tensor itself where it has that dtype.

        Fractions are cut off; integers beyond the range wrap around.

        Example:
            >>> gw.tensor([1, 300]).char()
            tensor([ 1, 44], dtype=graphwright.int8)
        """
        return _cast(self, dtypes.int8)

    def short(self: Any) -> Tensor:
        """The tensor converted to int16; the tensor itself where it has that dtype.

        Fractions are cut off; integers beyond the range wrap around.

        Example:
            >>> gw.tensor([1, 70000]).short()
            tensor([   1, 4464], dtype=graphwright.int16)
        """
        return _cast(self, dtypes.int16)

    def cfloat(self: Any) -> Tensor:
        """The tensor converted to complex64; the tensor itself where it has that dtype.

        Example:
            >>> gw.tensor([1.0]).cfloat()
            tensor([1.+0.j])
        """
        return _cast(self, dtypes.complex64)

    def cdouble(self: Any) -> Tensor:
        """The tensor converted to complex128; the tensor itself where it has that dtype.

        Example:
            >>> gw.tensor([1.0]).cdouble()
            tensor([1.+0.j], dtype=graphwright.complex128)
        """
        return _cast(self, dtypes.complex128)

    def cpu(self: Any, memory_format: Any = None) -> Tensor:
        """The tensor in main memory: itself, where it lies there.

        Args:
            memory_format: the order of dims in memory, as of `to`; as it is if None.

        Raises:
            NotImplementedError: the tensor is on the meta device and has no data.

        Example:
            >>> gw.tensor([1, 2]).cpu().device
            device(type='cpu')
        """
        moved = self.to(_CPU)
        return moved if memory_format is None else moved.to(memory_format=memory_format)

    def contiguous(self: Any, *, memory_format: Any = contiguous_format) -> Tensor:
        """The tensor itself if it is row-major without gaps, else a copy that is.

        Args:
            memory_format: another order of dims in memory, such as `channels_last`.

        Raises:
            RuntimeError: the number of dims does not suit the format.

        Example:
            >>> gw.ones(2, 3).t().contiguous().stride()
            (2, 1)
        """
        if memory_format is not contiguous_format:
            return in_format("contiguous", self, memory_format)
        return self if self.is_contiguous() else ops.contiguous(self)

    def _is_in_format(self: Any, memory_format: Any) -> Any:
        """What `is_contiguous(memory_format)` asks."""
        return is_in_format("is_contiguous", self, memory_format)

    def new_tensor(self: Any, data: Any, **options: Any) -> Tensor:
        """A new tensor of `data`, with this tensor's dtype and device unless others are given.

        Args:
            data: numbers, sequences of them, or an array.
            options: as of `graphwright.tensor`: `dtype`, `device`, `requires_grad`.

        Example:
            >>> gw.ones(2).new_tensor([1, 2])
            tensor([1., 2.])
        """
        return MAKE.tensor(data, **_defaults(self, options))

    def new_zeros(
        self: Any, *size: Any, dtype: Any = None, device: Any = None, **options: Any
    ) -> Tensor:
        """A new tensor filled with 0.

        Args:
            size: its shape: a sequence, or one argument per size.
            dtype: its dtype; that of this tensor if None.
            device: where it is made; the device of this tensor if None.
            options: as of `zeros`, such as `requires_grad`.

        Raises:
            RuntimeError: a size is negative.

        Example:
            >>> gw.tensor([1, 2]).new_zeros(2)
            tensor([0, 0])
        """
        dtype = self.dtype if dtype is None else dtype
        device = self.device if device is None else device
        if options:
            return ops.zeros(_sizes(size, options), dtype=dtype, device=device, **options)
        return ops.zeros(*size, dtype=dtype, device=device)

    def new_ones(
        self: Any, *size: Any, dtype: Any = None, device: Any = None, **options: Any
    ) -> Tensor:
        """A new tensor filled with 1.

        Args:
            size: its shape: a sequence, or one argument per size.
            dtype: its dtype; that of this tensor if None.
            device: where it is made; the device of this tensor if None.
            options: as of `ones`, such as `requires_grad`.

        Raises:
            RuntimeError: a size is negative.

        Example:
            >>> gw.tensor([1, 2]).new_ones(2)
            tensor([1, 1])
        """
        dtype = self.dtype if dtype is None else dtype
        device = self.device if device is None else device
        if options:
            return ops.ones(_sizes(size, options), dtype=dtype, device=device, **options)
        return ops.ones(*size, dtype=dtype, device=device)

    def new_empty(
        self: Any, *size: Any, dtype: Any = None, device: Any = None, **options: Any
    ) -> Tensor:
        """A new tensor whose elements are whatever is in its memory.

        Args:
            size: its shape: a sequence, or one argument per size.
            dtype: its dtype; that of this tensor if None.
            device: where it is made; the device of this tensor if None.
            options: as of `empty`, such as `requires_grad`.

        Raises:
            RuntimeError: a size is negative.

        Example:
            >>> gw.tensor([1, 2]).new_empty(2, 3).shape
            graphwright.Size([2, 3])
        """
        dtype = self.dtype if dtype is None else dtype
        device = self.device if device is None else device
        if options:
            return ops.empty(_sizes(size, options), dtype=dtype, device=device, **options)
        return ops.empty(*size, dtype=dtype, device=device)

    def new_full(self: Any, size: Any, fill_value: Any, **options: Any) -> Tensor:
        """A new tensor filled with one number.

        Args:
            size: its shape.
            fill_value: the number.
            options: as of `full`; `dtype` and `device` are those of this tensor if not given.

        Raises:
            RuntimeError: a size is negative, or the dtype does not hold the number.

        Example:
            >>> gw.tensor([1, 2]).new_full((2,), 7)
            tensor([7, 7])
        """
        return ops.full(size, fill_value, **_defaults(self, options))

    def new_empty_strided(self: Any, size: Any, stride: Any, **options: Any) -> Tensor:
        """A new tensor with given strides, whose elements are whatever is in its memory.

        Args:
            size: its shape.
            stride: its strides, counted in elements.
            options: as of `empty_strided`; `dtype` and `device` are those of this tensor if not
                given.

        Raises:
            RuntimeError: the lengths differ, or a size or stride is negative.

        Example:
            >>> gw.ones(2).new_empty_strided((2, 3), (1, 2)).stride()
            (1, 2)
        """
        return ops.empty_strided(size, stride, **_defaults(self, options))
