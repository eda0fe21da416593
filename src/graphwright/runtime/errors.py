"""Exceptions of the runtime, and how operands are named in messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphwright.runtime._core import (
    AcceleratorError,
    OutOfMemoryError,
    OutOfRange,
    TensorBase,
)


class DataDependent(RuntimeError):
    """The values of a tensor were asked for where only its metadata is known."""


class LinAlgError(RuntimeError):
    """A matrix is singular, not positive definite, or an iteration did not converge."""


def describe(value: Any) -> str:
    """`float32[3, 4]` for a tensor, the type's name for anything else."""
    shape = getattr(value, "shape", None)
    dtype = getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return f"{getattr(dtype, 'name', dtype)}[{', '.join(map(str, shape))}]"
    return type(value).__name__


def require_tensor(name: str, argument: str, value: Any) -> None:
    """Raise TypeError, naming the function and the argument, for anything but a tensor."""
    if not isinstance(value, TensorBase):
        raise TypeError(
            f"{name}(): argument '{argument}' must be Tensor, not {type(value).__name__}"
        )


def require_kind(name: str, argument: str, value: Any, kind: type) -> None:
    """The same for anything but an instance of a class: a bool, a str."""
    if not isinstance(value, kind):
        raise TypeError(
            f"{name}(): argument '{argument}' must be {kind.__name__}, not {type(value).__name__}"
        )


def tensors_of(name: str, argument: str, value: Any) -> list[Any]:
    """A tensor, or the tensors of an iterable, as a list. Raises TypeError for anything else."""
    if isinstance(value, TensorBase):
        return [value]
    listed = list(value) if isinstance(value, Iterable) else [value]
    wrong = [type(item).__name__ for item in listed if not isinstance(item, TensorBase)]
    if wrong:
        came = type(value).__name__ + (f" of {wrong[0]}" if isinstance(value, Iterable) else "")
        raise TypeError(
            f"{name}(): argument '{argument}' must be Tensor or an iterable of Tensors, not {came}"
        )
    return listed


__all__ = [
    "AcceleratorError",
    "DataDependent",
    "LinAlgError",
    "OutOfMemoryError",
    "OutOfRange",
    "describe",
    "require_kind",
    "require_tensor",
    "tensors_of",
]
