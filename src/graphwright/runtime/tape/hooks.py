"""Hooks on tensors, and what `Tensor`'s autograd methods call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tape.engine import RETAINING, backward
from graphwright.runtime.tape.node import HOOKED, RemovableHandle, gradient_edge
from graphwright.runtime.tensor.tensor import BACKWARD

Hook = Callable[[Any], Any]


def register_hook(tensor: Any, hook: Hook) -> RemovableHandle:
    """Call `hook(grad)` when the gradient of `tensor` is known; a result replaces it."""
    edge = gradient_edge(tensor)
    if edge is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    node, number = edge
    if node is tensor:
        return RemovableHandle(_of_leaf(tensor).hooks, hook)
    if node.output_hooks is None:
        node.output_hooks = {}
    return RemovableHandle(node.output_hooks.setdefault(number, {}), hook)


def register_accumulate_hook(tensor: Any, hook: Hook) -> RemovableHandle:
    """Call `hook(tensor)` after a gradient was accumulated. Leaves only."""
    if tensor.grad_fn is not None or not tensor.requires_grad:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return RemovableHandle(_of_leaf(tensor).accumulate_hooks, hook)


def _of_leaf(tensor: Any) -> Any:
    """The place of a leaf's hooks, which passes look for from now on."""
    extra = tensor._autograd_extra()
    HOOKED.add(extra)
    return extra


def retain_grad(tensor: Any) -> None:
    """Let backward fill `.grad` of a tensor that is no leaf."""
    if not tensor.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if gradient_edge(tensor)[0] is tensor:  # type: ignore[index]
        return
    extra = tensor._autograd_extra()
    if extra.retains_grad:
        return
    extra.retains_grad = True
    target = ref(tensor)

    def keep(grad: Any) -> None:
        alive = target()
        if alive is None:
            return
        if alive.grad is None:
            alive.grad = grad if _core.grad_enabled() else ops.clone(grad)
        else:
            alive.grad = ops.add(alive.grad, grad)

    node = tensor.grad_fn
    if node.output_hooks is None:
        node.output_hooks = {}
    RemovableHandle(node.output_hooks.setdefault(RETAINING - tensor.output_nr, {}), keep)


def run_backward(
    tensor: Any, gradient: Any, retain_graph: bool | None, create_graph: bool, inputs: Any
) -> None:
    """`Tensor.backward`."""
    grads = None if gradient is None else (gradient,)
    backward((tensor,), grads, retain_graph, create_graph, inputs=inputs)


BACKWARD.run = run_backward
BACKWARD.register_hook = register_hook
BACKWARD.register_accumulate_hook = register_accumulate_hook
BACKWARD.retain_grad = retain_grad
