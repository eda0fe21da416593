"""Tensors that belong to a module: what `Module.parameters()` finds and optimisers change."""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.tensor import Tensor


class Parameter(Tensor):
    """A tensor that registers itself when it is assigned to an attribute of a `Module`.

    It shares the memory of `data` and is a leaf of the autograd graph. Shapes and dtypes are
    those of `data`; only floating point data may require gradients.
    """

    def __new__(cls, data: Tensor, requires_grad: bool = True) -> Parameter:
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter data must be a Tensor, got {type(data).__name__}")
        parameter: Parameter = _core.detach(cls, data)
        parameter.requires_grad = requires_grad
        return parameter

    def __init__(self, data: Tensor, requires_grad: bool = True) -> None:
        pass

    def __repr__(self, **kwargs: Any) -> str:
        return f"Parameter containing:\n{super().__repr__()}"

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        known = memo.get(id(self))
        if known is None:
            known = memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return known

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.detach(), self.requires_grad)
