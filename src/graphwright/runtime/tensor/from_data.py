"""Tensors from Python data and NumPy arrays."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.dispatch import dtype_of, on_cuda
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import absence
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dlpack import CUDA
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.from_python import as_array
from graphwright.runtime.tensor.memory_format import check_placement
from graphwright.runtime.tensor.storage import TypedStorage, UntypedStorage
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.tensor.to_and_type import MAKE


def tensor(
    data: Any,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """New tensor with a copy of data.

    Args:
        data: a number, a nested sequence of numbers, an array, or a tensor (which warns).
        dtype: the dtype; if None it is inferred: Python floats give the default dtype,
            complex numbers the complex dtype of its precision, ints int64, bools bool; arrays
            keep theirs.
        device: the device; the default device if None.
        requires_grad: record gradients.
        pin_memory: True for page-locked memory of the CPU, as of `Tensor.pin_memory`.

    Returns: a contiguous tensor.

    Raises:
        RuntimeError: the dtype cannot hold an int, `data` is another object, or memory is to be
            pinned without a GPU, or on one.
        TypeError: `data` is a text.
        ValueError: sequences are ragged, or an int is too large.

    Example:
        >>> gw.tensor([[1, 2], [3, 4]])
        tensor([[1, 2],
                [3, 4]])
    """
    if device is None and _core.place() is None and not (pin_memory or requires_grad):
        result = _core.literal(Tensor, data, dtype)
        if result is not None:
            return result
    check_placement("tensor", None, pin_memory)
    place, dtype = _placed("tensor", device), dtype_of("tensor", dtype)
    if _is_lent(data):
        result = on_cuda().interop.from_interface(data).to(place or "cpu", dtype, copy=True)
    elif isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use source.detach().clone()",
            stacklevel=2,
        )
        result = data.detach().to(data.device if device is None else device, dtype, copy=True)
    else:
        array = np.array(as_array(data, dtype), order="C", copy=True)
        result = _core.from_ndarray(Tensor, array, dtypes.from_numpy_dtype(array.dtype))
    result = result if place is None else result.to(place)
    result = result.pin_memory() if pin_memory else result
    if requires_grad:
        result.requires_grad = True
    return result


MAKE.tensor = tensor


def _placed(name: str, device: Device | str | None) -> Device | None:
    """Where the tensor goes; None is the CPU. Raises NotImplementedError for an absent GPU."""
    place = _core.place() if device is None else Device(device)
    if place is None or place.type == "cpu":
        return None
    if place.type == "cuda" and _core.cuda_absence() is None:
        return place
    if place.type != "meta":
        raise NotImplementedError(f"{name}(): {absence(place.type)}")
    return place


def _is_lent(data: Any) -> bool:
    """Whether data is another library's, in memory of a GPU."""
    own = isinstance(data, Tensor | np.ndarray | list | tuple)
    return not own and hasattr(data, "__cuda_array_interface__")


def from_numpy(array: np.ndarray[Any, Any]) -> Tensor:
    """Tensor over the memory of a NumPy array: writes to one show in the other.

    Args:
        array: an array; warns where it is read-only.

    Returns: a tensor of its shape and dtype.

    Raises:
        TypeError: `array` is no array, or its dtype has no counterpart.
        ValueError: strides are negative or no multiple of the item size, or the byte order is
            not the machine's.

    Example:
        >>> import numpy
        >>> gw.from_numpy(numpy.array([1, 2]))
        tensor([1, 2])
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    if array.strides and min(array.strides) < 0:
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with "
            "negative strides are not supported. (copy the array first)"
        )
    if not array.flags.writeable:
        warnings.warn(
            "The given NumPy array is not writable, and tensors do not know that: writing to this "
            "tensor is undefined. Copy the array, or make it writable, if it is to be written to.",
            UserWarning,
            stacklevel=2,
        )
    known = dtypes.BY_NUMPY.get(array.dtype)
    if known is None and not array.dtype.isnative:
        raise ValueError(f"from_numpy: the byte order of {array.dtype!r} is not the machine's")
    return _core.from_ndarray(Tensor, array, known or dtypes.from_numpy_dtype(array.dtype))


def from_dlpack(
    ext_tensor: Any, *, device: Device | str | None = None, copy: bool | None = None
) -> Tensor:
    """Tensor over the memory of an object with `__dlpack__`, or of a DLPack capsule.

    Writes show on both sides unless copied.

    Args:
        ext_tensor: the object or capsule, in main memory or on a GPU.
        device: where the tensor is to be; where the memory is, if None.
        copy: True for memory of its own, False to refuse one, None to copy only where needed.

    Returns: a tensor.

    Raises:
        BufferError: memory of another kind of device, or of a GPU that cannot be used; negative
            strides; element types without a dtype; another device with `copy=False`.
        RuntimeError: there is no such device.
        TypeError: another object.

    Example:
        >>> gw.from_dlpack(gw.tensor([1, 2]))
        tensor([1, 2])
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        if type(ext_tensor).__name__ != "PyCapsule":
            raise TypeError(
                f"from_dlpack(): {type(ext_tensor).__name__} has no method __dlpack__"
            )
        return _imported(ext_tensor, device, copy, copied=False)
    stream = _consuming_stream(*ext_tensor.__dlpack_device__())
    try:
        options = stream if copy is None or device is not None else {**stream, "copy": copy}
        capsule, copied = ext_tensor.__dlpack__(max_version=(1, 0), **options), "copy" in options
    except TypeError:
        capsule, copied = ext_tensor.__dlpack__(**stream), False
    return _imported(capsule, device, copy, copied=copied)


def _consuming_stream(kind: Any, ordinal: Any) -> dict[str, int]:
    """The argument `stream` of `__dlpack__`, for memory on a GPU."""
    if int(kind) != CUDA:
        return {}
    known = _core.cuda_ordinals()
    if ordinal not in known:
        raise BufferError(f"from_dlpack: memory on GPU {ordinal}, which cannot be used here")
    return {"stream": on_cuda().interop.current_handle(known.index(ordinal))}


def _imported(capsule: Any, device: Any, copy: bool | None, *, copied: bool) -> Tensor:
    """The tensor of a capsule on a device, None being its own; copied unless that was done."""
    tensor = _core.from_dlpack(Tensor, capsule)
    moved = tensor if device is None else tensor.to(device)
    if moved is not tensor and copy is False:
        raise BufferError(f"from_dlpack: memory on {tensor.device} is not on {moved.device}, and "
                          "copy is False")
    return moved.clone() if copy and not copied and moved is tensor else moved


def to_dlpack(tensor: Tensor) -> Any:
    """DLPack capsule of a tensor, for consumers that take one; without versions and flags.

    Args:
        tensor: a tensor in main memory.

    Returns: a capsule, which one consumer takes over.

    Raises:
        TypeError: `tensor` is no tensor.

    Example:
        >>> gw.from_dlpack(gw.to_dlpack(gw.tensor([1, 2])))
        tensor([1, 2])
    """
    return _tensor_of("to_dlpack", tensor).__dlpack__()


def as_tensor(
    data: Any, dtype: DType | None = None, device: Device | str | None = None
) -> Tensor:
    """Data as a tensor that shares the memory of arrays and tensors where the dtype allows it.

    Args:
        data: a tensor, array, number or nested sequence of numbers.
        dtype: the dtype; that of `data`, inferred as by `tensor`, if None.
        device: the device; that of `data` if None.

    Returns: a tensor; `data` itself where it is one of that dtype and device.

    Raises:
        RuntimeError: `data` cannot be converted.
        ValueError: a sequence is ragged.

    Example:
        >>> gw.as_tensor([1, 2], dtype=gw.float32)
        tensor([1., 2.])
    """
    if isinstance(data, Tensor) and dtype is None and device is None and _core.place() is None:
        return data
    place, dtype = _placed("as_tensor", device), dtype_of("as_tensor", dtype)
    if _is_lent(data):
        lent: Tensor = on_cuda().interop.from_interface(data).to(place or "cpu", dtype)
        return lent
    if place is not None or isinstance(data, Tensor):
        found = data if isinstance(data, Tensor) else tensor(data, dtype=dtype, device=place)
        return found.to(dtype or found.dtype) if device is None else found.to(device, dtype)
    if isinstance(data, np.ndarray) and data.dtype.isnative:
        result = from_numpy(data)
        return result if dtype is None else result.to(dtype)
    return tensor(data, dtype=dtype)


def asarray(
    obj: Any,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """Tensor of what an object holds: array, buffer, storage, tensor, number or sequence.

    Args:
        obj: the object; elements of a storage are shared, those of an untyped one are of
            `dtype`, int64 if None.
        dtype: the dtype; that of `obj` if None, of a buffer the default dtype.
        device: the device; that of `obj` if None.
        copy: True: always new memory. False: always the memory of `obj`. None: as
            `as_tensor`.
        requires_grad: True keeps the history of a tensor `obj`, or makes the result a leaf
            that requires grad; False gives it none; None: as `obj`.

    Returns: a tensor.

    Raises:
        RuntimeError: a typed storage, and another dtype.
        ValueError: `copy=False`, but the memory cannot be shared.

    Example:
        >>> gw.asarray([1.0, 2.0])
        tensor([1., 2.])
    """
    if isinstance(obj, bytes | bytearray | memoryview):
        found = frombuffer(obj, dtype=dtype or dtypes.get_default_dtype())
        return found.clone() if copy else found
    if isinstance(obj, TypedStorage | UntypedStorage):
        obj = _elements(obj, dtype)
    found = as_tensor(obj, dtype, device)
    shared = found is obj or (
        isinstance(obj, np.ndarray) and found.is_cpu and np.shares_memory(obj, found._nd))
    if copy is False and not shared:
        raise ValueError("asarray: can't alias the memory of the given object, and copy is False")
    if copy and shared:
        found = found.clone()
    if requires_grad is None or requires_grad == found.requires_grad:
        return found
    return found.requires_grad_() if requires_grad else found.detach()


def _elements(storage: TypedStorage | UntypedStorage, dtype: DType | None) -> Tensor:
    """A storage as a flat tensor of its memory."""
    if isinstance(storage, UntypedStorage):
        storage = TypedStorage._of(storage._holder, dtype or dtypes.int64)
    elif dtype is not None and dtype is not storage.dtype:
        raise RuntimeError(
            f"asarray: expected an untyped storage, or one of {dtype.name}, not of "
            f"{storage.dtype.name}"
        )
    elements: Tensor = storage._flat()
    return elements


def frombuffer(
    buffer: Any,
    *,
    dtype: DType,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool = False,
) -> Tensor:
    """Tensor of 1 dim over the memory of an object with the buffer protocol.

    Args:
        buffer: bytes, a bytearray, a memoryview, or the like.
        dtype: the dtype of the elements.
        count: how many elements; -1 for all.
        offset: bytes before the first.
        requires_grad: record gradients.

    Returns: a tensor of shape `(count,)`.

    Raises:
        ValueError: `buffer` has no buffer protocol, is empty, too small, or no whole number
            of elements; `count` is 0, or negative but not -1.

    Example:
        >>> gw.frombuffer(bytearray([1, 2, 3]), dtype=gw.uint8)
        tensor([1, 2, 3], dtype=graphwright.uint8)
    """
    try:
        array = np.frombuffer(memoryview(buffer), dtypes.uint8.numpy, -1, 0)
    except TypeError as error:
        raise ValueError("object does not implement Python buffer protocol.") from error
    end = len(array) if count < 0 else offset + count * dtype.itemsize
    inside = 0 <= offset < len(array) and end <= len(array)
    if not count or count < -1 or not inside or (end - offset) % dtype.itemsize:
        raise ValueError(
            f"frombuffer: {count} elements of {dtype.name} from byte {offset} do not lie in a "
            f"buffer of {len(array)} bytes"
        )
    found = from_numpy(array[offset:end].view(dtype.numpy))
    return found.requires_grad_() if requires_grad else found


def is_tensor(value: Any) -> bool:
    """Whether an object is a Tensor.

    Args:
        value: any object.

    Example:
        >>> gw.is_tensor(gw.ones(2)), gw.is_tensor(2)
        (True, False)
    """
    return isinstance(value, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Whether a tensor has a floating point dtype.

    Args:
        input: a tensor.

    Raises:
        TypeError: `input` is no tensor.

    Example:
        >>> gw.is_floating_point(gw.tensor(1.0))
        True
    """
    return _tensor_of("is_floating_point", input).dtype.is_floating_point


def is_complex(input: Tensor) -> bool:
    """Whether a tensor has a complex dtype.

    Args:
        input: a tensor.

    Raises:
        TypeError: `input` is no tensor.

    Example:
        >>> gw.is_complex(gw.tensor(1j))
        True
    """
    return _tensor_of("is_complex", input).dtype.is_complex


def _tensor_of(name: str, value: Any) -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}(): argument 'input' must be Tensor, not {type(value).__name__}")
    return value


def numel(input: Tensor) -> int:
    """Number of elements of a tensor.

    Args:
        input: a tensor.

    Returns: an int.

    Raises:
        TypeError: `input` is no tensor.

    Example:
        >>> gw.numel(gw.ones(2, 3))
        6
    """
    return _tensor_of("numel", input).numel()
