"""Two tensors change places: each object becomes what the other was."""

from __future__ import annotations

import weakref
from typing import Any

from graphwright.runtime.tape.node import HOOKED
from graphwright.runtime.tensor.tensor import Tensor


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange what two leaf tensors are: values, dtype, class, attributes, gradients, hooks.

    Raises RuntimeError for tensors that a weak reference leads to, that were computed, or that
    are views, and for classes with slots.
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
        if tensor.grad_fn is not None or tensor._is_view():
            raise RuntimeError(f"Cannot swap {name} because it is no leaf, or a view")
        if any(kind.__dict__.get("__slots__") for kind in type(tensor).__mro__):
            raise RuntimeError(f"Cannot swap {name} because its class has slots")
    first, second = _content(t1), _content(t2)
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    _become(t1, second)
    _become(t2, first)
    mine, other = t1._autograd_extra(), t2._autograd_extra()
    mine.hooks, other.hooks = other.hooks, mine.hooks
    HOOKED.update((mine, other))
    mine.accumulate_hooks, other.accumulate_hooks = other.accumulate_hooks, mine.accumulate_hooks


def _content(tensor: Tensor) -> tuple[Tensor, bool, Tensor | None, dict[str, Any]]:
    return tensor.detach(), tensor.requires_grad, tensor.grad, dict(vars(tensor))


def _become(tensor: Tensor, content: tuple[Tensor, bool, Tensor | None, dict[str, Any]]) -> None:
    data, requires_grad, grad, attributes = content
    tensor.grad = None
    tensor.requires_grad = False
    tensor.data = data
    tensor.requires_grad = requires_grad
    tensor.grad = grad
    vars(tensor).clear()
    vars(tensor).update(attributes)
