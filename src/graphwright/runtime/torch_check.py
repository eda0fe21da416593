"""Conditions that programs check: `_assert`, and the `_check` family, each with an exception.

A message is a function without arguments, which is called only where the condition fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime.tensor import dtypes

Message = Callable[[], str] | None


def _assert(condition: Any, message: str) -> None:
    """`assert condition, message` as a function. Raises AssertionError, but not with `-O`."""
    assert condition, message


def _check_with(error_type: type[Exception], cond: Any, message: Message = None) -> None:
    """Raise `error_type` unless `cond` is true. Raises TypeError for what is no bool."""
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is not None and not callable(message):
        raise TypeError("message must be a callable")
    raise error_type("Expected cond to be True, but got False." if message is None else message())


def _check(cond: Any, message: Message = None) -> None:
    """Raise RuntimeError unless `cond` is true."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Message = None) -> None:
    """Raise IndexError unless `cond` is true."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Message = None) -> None:
    """Raise ValueError unless `cond` is true."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Message = None) -> None:
    """Raise TypeError unless `cond` is true."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Message = None) -> None:
    """Raise NotImplementedError unless `cond` is true."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: Any, message: Message = None) -> None:
    """Raise RuntimeError unless `i` is at least 0."""
    _check(bool(i >= 0), message)


def _check_tensor_all(cond: Any, message: Message = None) -> None:
    """Raise RuntimeError unless all elements of the bool tensor `cond` are true."""
    _check(bool(cond.all().item()), message)


def _check_tensor_all_with(
    error_type: type[Exception], cond: Any, message: Message = None
) -> None:
    """Raise `error_type` unless all elements of the bool tensor `cond` are true.

    Raises TypeError for what is no tensor of bools.
    """
    if getattr(cond, "dtype", None) is not dtypes.bool:
        raise TypeError(f"cond must be a tensor of bools, but got {cond!r}")
    _check_with(error_type, bool(cond.all().item()), message)


def _assert_async(input: Any, assert_msg: str | None = None) -> None:
    """Raise RuntimeError unless the one element of a tensor is non-zero."""
    _check(bool(input), lambda: assert_msg or "Expected Tensor with single nonzero value, but "
                                              "got zero")
