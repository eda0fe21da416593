"""Memory shared with other libraries: DLPack and NumPy's protocols, as a mixin of Tensor."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.dispatch import on_cuda
from graphwright.runtime.tensor.dtypes import from_numpy_dtype

CPU, CUDA = (1, 0), 2
"""`__dlpack_device__` of the CPU: kDLCPU, device 0; and its first number of GPUs."""


_OPERATORS = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.power: operator.pow,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.bitwise_and: operator.and_,
    np.bitwise_or: operator.or_,
    np.bitwise_xor: operator.xor,
    np.left_shift: operator.lshift,
    np.right_shift: operator.rshift,
}


def _array_of(value: Any) -> Any:
    if not isinstance(value, _core.TensorBase):
        return value
    tensor: Any = value
    return tensor.numpy()


def _plain_scalar(value: Any) -> Any:
    """NumPy scalars, which may come as arrays without dims, as Python numbers."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    return value


class Exchange:
    """`__dlpack__`, `__cuda_array_interface__`, `__array__`, `__array_ufunc__`."""

    __slots__ = ()

    def __dlpack__(
        self: Any,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule over this tensor's memory, or over a copy where `copy` is true.

        Args:
            stream: of a GPU's tensor the driver's handle of the stream that is to use the memory,
                and then waits for the current one; None is the legacy default stream, -1 is no
                stream. On the CPU None or -1.
            max_version: consumers that give (1, 0) or later get a versioned capsule, with the
                read-only and copied flags.
            dl_device: where the memory is to be: (1, 0) copies a GPU's tensor to the CPU.
            copy: False refuses a copy.

        Raises BufferError where gradients are required, for another device or stream, and for
        read-only memory without a versioned capsule.
        """
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        place = self.__dlpack_device__()
        wanted = place if dl_device is None else tuple(dl_device)
        moves = wanted != place
        if moves and (wanted != CPU or copy is False):
            raise BufferError(f"__dlpack__: cannot export from device {place} to {wanted}")
        if place == CPU and stream not in (None, -1):
            raise BufferError("__dlpack__: stream must be None on the CPU")
        source = self.cpu() if moves else self.clone() if copy else self
        if not source.is_cpu:
            on_cuda().interop.ready_for(source, stream)
        versioned = max_version is not None and max_version[0] >= 1
        return _core.to_dlpack(source, versioned, moves or bool(copy))

    def __dlpack_device__(self: Any) -> tuple[int, int]:
        """(1, 0) of the CPU, (2, n) of GPU n. Raises BufferError for tensors without memory."""
        if not self.is_fake and self.device.type == "cpu":
            return CPU
        if not _core.has_cuda_memory(self):
            raise BufferError(f"a tensor on {self.device} cannot be exported")
        place: tuple[int, int] = on_cuda().interop.dlpack_device(self)
        return place

    @property
    def __cuda_array_interface__(self: Any) -> dict[str, Any]:
        """The memory of a GPU's tensor, for other libraries: version 3, with the current stream.

        Raises AttributeError for other tensors, so that `hasattr` is False, RuntimeError where
        gradients are required.
        """
        found: dict[str, Any] = on_cuda().interop.interface(self)
        return found

    def __array__(
        self: Any, dtype: Any = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        """The tensor as an array; shares memory unless `dtype` or `copy` asks otherwise.

        Raises RuntimeError where gradients are required, ValueError where `copy=False` cannot
        be met.
        """
        array: np.ndarray[Any, Any] = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(
                    f"__array__: a copy is needed to give {self.dtype} as {np.dtype(dtype)}"
                )
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_ufunc__(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """NumPy's ufuncs on tensors, with NumPy's promotion; results are tensors.

        Operators of tensors and NumPy scalars, such as `np.float64(2) * x`, are the tensor's.
        `out=` may be tensors, which are written to. Raises RuntimeError where gradients are
        required.
        """
        if method == "__call__" and not kwargs and ufunc in _OPERATORS:
            scalars = [_plain_scalar(value) for value in inputs]
            if all(isinstance(v, _core.TensorBase | int | float | complex) for v in scalars):
                return _OPERATORS[ufunc](*scalars)
        outs = kwargs.get("out", ())
        if outs:
            kwargs["out"] = tuple(_array_of(out) for out in outs)
        if "where" in kwargs:
            kwargs["where"] = _array_of(kwargs["where"])
        result = getattr(ufunc, method)(*[_array_of(value) for value in inputs], **kwargs)
        for out in outs:
            if isinstance(out, _core.TensorBase):
                _core.bump_version(out)
        if method == "at":
            if isinstance(inputs[0], _core.TensorBase):
                _core.bump_version(inputs[0])
            return None
        if isinstance(result, tuple):
            given = outs or (None,) * len(result)
            return tuple(_wrapped(self, r, o) for r, o in zip(result, given, strict=True))
        return _wrapped(self, result, outs[0] if outs else None)


def _wrapped(like: Any, result: Any, out: Any) -> Any:
    """What a ufunc computed as a tensor; what the caller gave as `out` as it is."""
    if out is not None:
        return out
    try:
        dtype = from_numpy_dtype(np.asarray(result).dtype)
    except TypeError:
        return result
    return _core.from_ndarray(type(like), np.ascontiguousarray(result).reshape(
        np.shape(result)), dtype)
