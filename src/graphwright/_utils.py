"""What libraries take from `torch._utils`."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

from graphwright.compat.absent_devices import refusal
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.device import device
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.tensor import Tensor

_get_all_device_indices = _get_available_device_type = _get_device_module = refusal("accelerator")


class ExceptionWrapper:
    """An exception as text, for another thread or process, which raises one of its type.

    Args:
        exc_info: (type, error, traceback); None: of the error that is being handled.
        where: where it came up, for the text.
    """

    exc_type: Any

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, error, trace = sys.exc_info() if exc_info is None else exc_info
        self.exc_type, self.where = kind, where
        self.exc_msg = "".join(traceback.format_exception(kind, error, trace))

    def reraise(self) -> NoReturn:
        """Raise an error of the type, with the text; RuntimeError where the type takes none."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        try:
            error = self.exc_type(text)
        except TypeError:
            error = RuntimeError(text)
        raise error


def _element_size(dtype: DType) -> int:
    """Bytes of an element. Raises TypeError for what is no dtype."""
    if not isinstance(dtype, DType):
        raise TypeError(f"expected a dtype, got {type(dtype).__name__}")
    return dtype.itemsize


def _get_device_index(
    device_: Any, optional: bool = False, allow_cpu: bool = False
) -> int:
    """The index of a device: of "cuda:1" and 1 it is 1, of the CPU, where allowed, -1.

    Raises ValueError for a CPU that is not allowed, and for a device without an index unless
    `optional`, in which case it is 0.
    """
    if isinstance(device_, int):
        return device_
    found = None if device_ is None else device(device_)
    if found is not None and found.type == "cpu":
        if not allow_cpu:
            raise ValueError(f"Expected a non cpu device, but got: {device_}")
        return -1
    if found is not None and found.index is not None:
        return found.index
    if not optional:
        raise ValueError(f"Expected a device with a specified index or an integer, got {device_}")
    return 0


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """All elements, one tensor behind the other, in one dim."""
    return ops.cat([tensor.reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of `flat` with the sizes of `tensors`."""
    parts = ops.split(flat, [tensor.numel() for tensor in tensors])
    return tuple(part.view(tensor.shape) for part, tensor in zip(parts, tensors, strict=True))
