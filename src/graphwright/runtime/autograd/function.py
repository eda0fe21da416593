"""User-defined differentiable functions: `class Exp(Function)` with forward and backward."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.autograd.node import Edge, Node, gradient_edge
from graphwright.runtime.autograd.saved import FREED, SavedTensor
from graphwright.runtime.ops import _face as ops


class FunctionContext:
    """The `ctx` of forward and backward; attributes may be set freely."""

    def __init__(self) -> None:
        self.needs_input_grad: tuple[bool, ...] = ()
        self._to_save: tuple[Any, ...] = ()
        self._dirty: tuple[Any, ...] = ()
        self._non_differentiable: tuple[Any, ...] = ()
        self._materialize = True
        self._node: FunctionNode | None = None

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep inputs or outputs for backward, version-checked."""
        self._to_save = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Declare inputs that forward changed in place."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Declare outputs that carry no gradient."""
        self._non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether undefined gradients arrive as zeros (the default) or None."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept. Raises RuntimeError where changed or freed."""
        assert self._node is not None
        return self._node.unpack()


class FunctionNode(Node):
    """The tape's node of one call of a Function."""

    __slots__ = ("context", "function", "saved")

    def __init__(
        self, function: type[Function], context: FunctionContext, edges: Sequence[Edge]
    ) -> None:
        super().__init__(f"{function.__name__}Backward", edges)
        self.function, self.context = function, context
        self.saved: list[tuple[SavedTensor | None, int]] | None = []

    def unpack(self) -> tuple[Any, ...]:
        if self.saved is None:
            raise RuntimeError(FREED)
        return tuple(None if s is None else s.unpack(self, number) for s, number in self.saved)

    def release(self) -> None:
        self.saved = None

    def compute(self, grads: list[Any]) -> list[Any]:
        if self.saved is None:
            raise RuntimeError(FREED)
        if self.context._materialize:
            grads = [
                ops.zeros(shape, dtype=dtype, device=device) if g is None and dtype else g
                for g, (shape, dtype, device) in zip(grads, self.outputs, strict=True)
            ]
        result = self.function.backward(self.context, *grads)
        result = result if isinstance(result, tuple) else (result,)
        if len(result) < len(self.edges) or any(g is not None for g in result[len(self.edges) :]):
            raise RuntimeError(
                f"function {self.name} returned an incorrect number of gradients "
                f"(expected {len(self.edges)}, got {len(result)})"
            )
        return list(result[: len(self.edges)])


class Function:
    """Subclass with static methods `forward(ctx, *args)` and `backward(ctx, *grads)`.

    `backward` returns one gradient (or None) per argument of forward. Call through `apply`.
    """

    @staticmethod
    def forward(ctx: FunctionContext, *args: Any) -> Any:
        raise NotImplementedError("implement forward(ctx, *args)")

    @staticmethod
    def backward(ctx: FunctionContext, *grads: Any) -> Any:
        raise NotImplementedError("implement backward(ctx, *grads)")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run forward, and record backward where grad mode is on and an input needs it."""
        ctx = FunctionContext()
        tracked = _core.grad_enabled() and any(
            isinstance(a, TensorBase) and a.requires_grad for a in args
        )
        ctx.needs_input_grad = tuple(
            tracked and isinstance(a, TensorBase) and a.requires_grad for a in args
        )
        edges = [
            gradient_edge(a) if tracked and isinstance(a, TensorBase) else None for a in args
        ]
        previous = _core.grad_enabled()
        _core.set_grad_enabled(False)
        try:
            out = cls.forward(ctx, *args)
        finally:
            _core.set_grad_enabled(previous)
        if not tracked:
            ctx._node = FunctionNode(cls, ctx, ())
            return out
        return _record(cls, ctx, args, edges, out)


def _record(
    cls: type[Function],
    ctx: FunctionContext,
    args: tuple[Any, ...],
    edges: list[Edge],
    out: Any,
) -> Any:
    node = FunctionNode(cls, ctx, edges)
    ctx._node = node
    single = isinstance(out, TensorBase)
    outputs = [out] if single else list(out)
    inputs = {id(a) for a in args}
    dirty = {id(t) for t in ctx._dirty}
    for i, tensor in enumerate(outputs):
        if isinstance(tensor, TensorBase) and id(tensor) in inputs and id(tensor) not in dirty:
            outputs[i] = _core.detach(type(tensor), tensor)
    constant = {id(t) for t in ctx._non_differentiable}
    numbers = {}
    for number, tensor in enumerate(outputs):
        if not isinstance(tensor, TensorBase):
            node.outputs.append(((), None, None))
            continue
        node.outputs.append((tensor.shape, tensor.dtype, tensor.device))
        if tensor.dtype.is_floating_point and id(tensor) not in constant:
            numbers[id(tensor)] = number
    for tensor in ctx._to_save:
        node.saved.append(_saved(tensor, numbers))  # type: ignore[union-attr]
    for tensor in outputs:
        if id(tensor) in numbers:
            tensor.grad_fn, tensor.output_nr = node, numbers[id(tensor)]
    return outputs[0] if single else tuple(outputs)


def _saved(tensor: Any, numbers: dict[int, int]) -> tuple[SavedTensor | None, int]:
    if tensor is None:
        return None, 0
    number = numbers.get(id(tensor))
    if number is None:
        return SavedTensor(tensor), 0
    return SavedTensor(_core.detach(type(tensor), tensor), True), number


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a backward that cannot itself be differentiated; it runs without grad mode."""

    @functools.wraps(backward)
    def wrapper(ctx: FunctionContext, *grads: Any) -> Any:
        previous = _core.grad_enabled()
        _core.set_grad_enabled(False)
        try:
            return backward(ctx, *grads)
        finally:
            _core.set_grad_enabled(previous)

    return wrapper
