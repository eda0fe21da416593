"""Tensors that belong to a module: what `Module.parameters()` finds and optimisers change."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.naming import missing
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.torch_function import disabled_torch_function_impl, has_say

_LAZY = (
    *("UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy"),
)


class Parameter(Tensor):
    """A tensor that registers itself when it is assigned to an attribute of a `Module`.

    It shares the memory of `data` (None: no elements) and is a leaf of the autograd graph.
    Shapes and dtypes are those of `data`; only floating point data may require gradients. Results
    of operations are plain tensors.
    """

    __torch_function__ = disabled_torch_function_impl

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = ops.empty((0,))
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter data must be a Tensor, got {type(data).__name__}")
        given: Any = type(data)
        kind = _of_subclass(given) if cls is Parameter and has_say(given) else cls
        parameter: Parameter = _core.detach(kind, data)
        parameter.requires_grad = requires_grad
        return _core.mark_overriding(parameter) if has_say(kind) else parameter

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        pass

    def __repr__(self, **kwargs: Any) -> str:
        return f"Parameter containing:\n{super().__repr__()}"

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        known = memo.get(id(self))
        if known is None:
            known = memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return known

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        kind = Parameter if hasattr(type(self), "_behaves_as") else type(self)
        return kind, (self.detach(), self.requires_grad)


def _of_subclass(cls: Any) -> Any:
    """The class of parameters that are tensors of the subclass `cls`, and behave as these do.

    The class itself holds it, so that both end together.
    """
    known = vars(cls).get("_as_parameter")
    if known is None:
        body = {"__torch_function__": cls.__torch_function__,
                "_behaves_as": cls, "__module__": cls.__module__}  # fmt: skip
        known = cls._as_parameter = type(cls.__name__, (cls, Parameter), body)
    return known


class Buffer(Tensor):
    """A tensor that registers itself as a buffer when it is assigned to a `Module`.

    It shares the memory of `data` (None: no elements); `persistent` says whether it is part of
    the module's `state_dict`.
    """

    __torch_function__ = disabled_torch_function_impl

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        buffer: Buffer = _core.detach(cls, ops.empty((0,)) if data is None else data)
        buffer.requires_grad = data is not None and data.requires_grad
        buffer.persistent = persistent
        return buffer

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        self.persistent = persistent


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise missing(__name__, name)
    return getattr(import_module("graphwright.nn.lazy"), name)
