"""Elements replaced one by one by what a Python function gives, as a mixin of Tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.errors import require_tensor


def _replace(name: str, tensor: Any, function: Any, others: tuple[Any, ...]) -> Any:
    """Set each element to `function` of it and of those of `others` at its place."""
    if not callable(function):
        raise TypeError(f"{name}(): the argument must be callable, got {type(function).__name__}")
    for number, other in enumerate(others):
        require_tensor(name, f"tensor{number + 1}", other)
        if other.dtype is not tensor.dtype:
            raise TypeError(
                f"{name}: expected a {tensor.dtype.name} tensor (got {other.dtype.name})"
            )
    if any(each.requires_grad for each in (tensor, *others)):
        raise RuntimeError(f"Can't call {name}() on a tensor that requires grad. Use detach()")
    rows = [other.expand(tensor.shape).flatten().tolist() for other in others]
    values = [function(*each) for each in zip(tensor.flatten().tolist(), *rows, strict=True)]
    plain = _core.unversioned(type(tensor), tensor)
    plain.copy_(tensor.new_tensor(values).reshape(tensor.shape))
    return tensor


class Elementwise:
    """`apply_`, `map_`, `map2_`: slow, and unknown to gradients and version checks."""

    __slots__ = ()

    def apply_(self: Any, callable: Callable[[Any], Any]) -> Any:
        """Replace every element by a function's value, in place and one by one.

        Args:
            callable: `callable(number)` returns a number.

        Returns: the tensor.

        Raises:
            TypeError: it cannot be called.
            RuntimeError: the tensor requires a gradient.

        Example:
            >>> gw.tensor([1, 2]).apply_(lambda number: number + 1)
            tensor([2, 3])
        """
        return _replace("apply_", self, callable, ())

    def map_(self: Any, tensor: Any, callable: Callable[[Any, Any], Any]) -> Any:
        """Replace every element by a function's value for it and one of `tensor`, in place.

        Args:
            tensor: a tensor of the same dtype, which is broadcast to this one's shape.
            callable: `callable(number, other)` returns a number.

        Returns: the tensor.

        Raises:
            TypeError: `tensor` has another dtype, or `callable` cannot be called.
            RuntimeError: a gradient is required of one of both.

        Example:
            >>> gw.tensor([1, 2]).map_(gw.tensor([3, 4]), lambda a, b: a * b)
            tensor([3, 8])
        """
        return _replace("map_", self, callable, (tensor,))

    def map2_(self: Any, x: Any, y: Any, callable: Callable[[Any, Any, Any], Any]) -> Any:
        """Replace every element by a function's value for it, one of `x` and one of `y`, in place.

        Args:
            x: a tensor of the same dtype, which is broadcast to this one's shape.
            y: another one.
            callable: `callable(number, of_x, of_y)` returns a number.

        Returns: the tensor.

        Raises:
            TypeError: `x` or `y` has another dtype, or `callable` cannot be called.
            RuntimeError: a gradient is required of one of the three.

        Example:
            >>> gw.tensor([1, 2]).map2_(gw.tensor(3), gw.tensor(4), lambda a, b, c: a * b + c)
            tensor([ 7, 10])
        """
        return _replace("map2_", self, callable, (x, y))
