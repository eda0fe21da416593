"""Memory of GPUs that is shared with other libraries, by DLPack and `__cuda_array_interface__`.

Whoever takes memory over uses it in a stream, which is to run after the stream that writes to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops.strides import contiguous_strides
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

LEGACY, PER_THREAD = 1, 2
"""Handles of the default streams of CUDA's runtime, as the driver and both protocols have them."""


def dlpack_device(tensor: Any) -> tuple[int, int]:
    """(2, n) of a tensor on the GPU that the driver numbers n."""
    return 2, _core.cuda_ordinals()[tensor.get_device()]


def current_handle(index: int) -> int:
    """The driver's stream that is current on the GPU of an index."""
    return _core.cuda_stream_facts(_core.cuda_current_stream(index))[2]


def _order(first: int, then: int) -> None:
    """What comes to a stream from now on runs after what another has now."""
    if first != then:
        mark = _core.CudaEvent()
        mark.record(first)
        mark.wait(then)


def ready_for(tensor: Any, stream: Any) -> None:
    """Have a consumer's stream wait for the current stream of a tensor's GPU.

    Args:
        tensor: on a GPU.
        stream: the driver's handle; None is the legacy default stream, -1 is no stream at all.

    Raises:
        BufferError: the per-thread default stream, and 0, which is ambiguous.
        TypeError: `stream` is no int.
    """
    if stream is None:
        stream = LEGACY
    if not isinstance(stream, int):
        raise TypeError(f"__dlpack__: stream must be an int or None, not {type(stream).__name__}")
    if stream in (0, PER_THREAD):
        raise BufferError(f"__dlpack__: stream {stream} is not supported: pass 1 for the legacy "
                          "default stream, or a stream's handle")
    if stream != -1:
        index = tensor.get_device()
        _order(_core.cuda_current_stream(index), _core.cuda_external_stream(index, stream))


# -- __cuda_array_interface__


def interface(tensor: Any) -> dict[str, Any]:
    """Version 3 of the interface, with the current stream, in which the elements are written.

    Raises:
        AttributeError: the tensor is not on a GPU, or of a float8 dtype, unknown to NumPy.
        RuntimeError: the tensor requires a gradient.
    """
    if not _core.has_cuda_memory(tensor):
        raise AttributeError(
            f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {describe(tensor)} on "
            f"{tensor.device}. If CUDA data is required use tensor.cuda() to copy tensor to "
            "device memory.")
    if tensor.dtype in dtypes.FLOAT8:
        raise AttributeError(f"__cuda_array_interface__: no array type for {tensor.dtype}")
    if tensor.requires_grad:
        raise RuntimeError(
            "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients "
            "aren't required, use var.detach() to get Variable that doesn't require grad.")
    strides = tuple(step * tensor.dtype.itemsize for step in tensor.stride())
    return {
        "typestr": tensor.dtype.numpy.str,
        "shape": tuple(tensor.shape),
        "strides": None if tensor.is_contiguous() else strides,
        "data": (tensor.data_ptr() if tensor.numel() else 0, False),
        "version": 3,
        "stream": current_handle(tensor.get_device()),
    }


def from_interface(data: Any) -> Any:
    """A tensor over the memory of an object that has the interface, which it keeps.

    Raises:
        RuntimeError: there is no GPU.
        TypeError: no dtype is like the elements' type.
        ValueError: strides are no multiples of an element's size; the memory is no GPU's.
    """
    known = data.__cuda_array_interface__
    kind = known["typestr"]
    dtype = dtypes.bfloat16 if kind == "<V2" else dtypes.from_numpy_dtype(np.dtype(kind))
    shape, strides = tuple(known["shape"]), known.get("strides")
    if strides is None:
        steps = contiguous_strides(shape)
    elif any(step < 0 or step % dtype.itemsize for step in strides):
        raise ValueError(
            f"__cuda_array_interface__: strides of {tuple(strides)} bytes, where they have to be "
            f"multiples of {dtype.itemsize}, the size of an element")
    else:
        steps = tuple(step // dtype.itemsize for step in strides)
    address, readonly = known["data"]
    made: Any = _core.cuda_borrow(Tensor, shape, steps, dtype, address, data, bool(readonly))
    writing = known.get("stream") if known.get("version", 0) >= 3 else LEGACY
    if writing is not None and made.numel():
        index = made.get_device()
        _order(_core.cuda_external_stream(index, writing), _core.cuda_current_stream(index))
    return made
