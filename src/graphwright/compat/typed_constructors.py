"""Constructors by type: `Tensor(2, 3)`, `FloatTensor([1, 2])`, `LongTensor()`.

Sizes give an uninitialised tensor, a sequence, array or tensor one with those values.
"""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import op
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import absence
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.size import Size
from graphwright.runtime.tensor.tensor import CONSTRUCT, Tensor
from graphwright.runtime.tensor.to_and_type import MAKE


def is_size(value: Any) -> bool:
    """Whether an argument can be a number of elements."""
    return hasattr(value, "__index__") and not isinstance(value, Tensor)


_EMPTY = op("empty")
_INTS = {int}


def constructed(dtype: DType, args: tuple[Any, ...], name: str = "Tensor") -> Tensor:
    """A tensor of the dtype from sizes, or from data. Raises TypeError for anything else."""
    if not args:
        return ops.empty((0,), dtype=dtype)
    if len(args) == 1 and (len(getattr(args[0], "shape", ())) or not is_size(args[0])):
        return _from_data(name, dtype, args[0])
    for size in args:
        if size.__class__ is not int and not is_size(size):
            raise TypeError(f"{name}(): sizes must be ints, got {args!r}")
    return ops.empty(args, dtype=dtype)


def _from_data(name: str, dtype: DType, data: Any) -> Tensor:
    if isinstance(data, Size):
        return ops.empty(tuple(data), dtype=dtype)
    if isinstance(data, Tensor):
        if data.dtype is not dtype:
            raise TypeError(f"expected {dtype!r} (got {data.dtype!r})")
        return ops.alias(data)
    if not hasattr(data, "__len__"):
        raise TypeError(f"{name}(): expected sizes or a sequence, not {type(data).__name__}")
    return MAKE.tensor(data, dtype=dtype)


class TensorType(type):
    """The type of `FloatTensor` and its like: makes tensors of a dtype, and knows them."""

    dtype: DType

    def __call__(cls, *args: Any) -> Tensor:
        return constructed(cls.dtype, args, cls.__name__)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and value.dtype is cls.dtype

    def __repr__(cls) -> str:
        return f"<class 'graphwright.{cls.__name__}'>"


def _named(name: str, dtype: DType) -> TensorType:
    about = f"Tensors of {dtype.name}, as a constructor and for `isinstance`."
    kind = TensorType(name, (), {"dtype": dtype, "__doc__": about, "__module__": "graphwright"})
    return kind


BoolTensor = _named("BoolTensor", dtypes.bool)
ByteTensor = _named("ByteTensor", dtypes.uint8)
CharTensor = _named("CharTensor", dtypes.int8)
ShortTensor = _named("ShortTensor", dtypes.int16)
IntTensor = _named("IntTensor", dtypes.int32)
LongTensor = _named("LongTensor", dtypes.int64)
HalfTensor = _named("HalfTensor", dtypes.float16)
BFloat16Tensor = _named("BFloat16Tensor", dtypes.bfloat16)
FloatTensor = _named("FloatTensor", dtypes.float32)
DoubleTensor = _named("DoubleTensor", dtypes.float64)


def set_default_tensor_type(t: TensorType | str) -> None:
    """Make the dtype and the device of a type of tensors the default ones.

    Args:
        t: a type such as `FloatTensor` or `cuda.FloatTensor`, or its name.

    Raises:
        TypeError: a type that is not floating point, or none; one of GPUs without a GPU.

    Example:
        >>> gw.set_default_tensor_type("graphwright.FloatTensor")
    """
    package, _, name = (
        t if isinstance(t, str) else f"{t.__module__}.{t.__name__}").rpartition(".")
    kind, on_gpu = globals().get(name), package.endswith("cuda")
    if not isinstance(kind, TensorType):
        raise TypeError(f"invalid type: {t!r}")
    if on_gpu and _core.cuda_absence() is not None:
        raise TypeError(f"type {t!r} is not available: {absence('cuda')}")
    dtypes.set_default_dtype(kind.dtype)
    _core.set_place(Device("cuda") if on_gpu else None)


def default_tensor(*args: Any) -> Tensor:
    """What `Tensor(...)` gives: one of the default dtype."""
    return constructed(dtypes.get_default_dtype(), args)


def _empty_or_constructed(dtype: DType, args: tuple[Any, ...]) -> Tensor:
    """`constructed`, with less on the way for no arguments or several ints."""
    if not args or (len(args) > 1 and {*map(type, args)} == _INTS):
        return dispatch(_EMPTY, (args or (0,), dtype, _core.place()))
    return constructed(dtype, args)


CONSTRUCT.tensor = _empty_or_constructed
