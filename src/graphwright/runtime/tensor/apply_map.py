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
        """Replace every element by what `callable` gives for it as a Python number.

        Raises RuntimeError where gradients are required.
        """
        return _replace("apply_", self, callable, ())

    def map_(self: Any, tensor: Any, callable: Callable[[Any, Any], Any]) -> Any:
        """Replace every element a by `callable(a, b)` with b of `tensor`, broadcast.

        Raises TypeError for a tensor of another dtype, RuntimeError where gradients are required.
        """
        return _replace("map_", self, callable, (tensor,))

    def map2_(self: Any, x: Any, y: Any, callable: Callable[[Any, Any, Any], Any]) -> Any:
        """Replace every element a by `callable(a, b, c)` with b and c of `x` and `y`, broadcast.

        Raises TypeError for tensors of another dtype, RuntimeError where gradients are required.
        """
        return _replace("map2_", self, callable, (x, y))
