"""`Variable`: the constructor of tensors in old programs; every tensor is an instance of it."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


class _Kind(type):
    """Makes `Variable(...)` a tensor, and every tensor a Variable."""

    def __call__(
        cls, data: Any = None, requires_grad: bool = False, volatile: bool = False
    ) -> Tensor:
        if data is None:
            return ops.empty((0,))
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor)


class Variable(metaclass=_Kind):
    """A view of `data` that is a leaf without history: `Variable(data, requires_grad=False)`.

    `volatile` is without effect. Raises TypeError for what is no tensor, RuntimeError for
    integers that are to require gradients.
    """
