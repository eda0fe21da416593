"""User-defined differentiable functions: `class Exp(Function)` with forward and backward."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.dispatch import MAPPED
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tape.node import Edge, Node, gradient_edge
from graphwright.runtime.tape.saved import FREED, SavedTensor, alias_of

if TYPE_CHECKING:
    from graphwright.runtime.tensor.tensor import Tensor


class _Mapping:
    """Filled by `batching`: how a Function runs on tensors that stand for a batch."""

    __slots__ = ("forward",)

    def __init__(self) -> None:
        self.forward: Callable[[type[Function], FunctionContext, tuple[Any, ...]], Any]


MAPPING = _Mapping()


class _Pushing(threading.local):
    """`rows(node, grads)`, which stands for `backward` where there is a `jvp`.

    Set by `pushing` while gradients are computed for the sake of tangents.
    """

    rows: Callable[[FunctionNode, list[Any]], list[Any]] | None = None


PUSHING = _Pushing()


class FunctionContext:
    """The `ctx` of forward and backward; attributes may be set freely."""

    def __init__(self) -> None:
        self.needs_input_grad: tuple[bool, ...] = ()
        self._to_save: tuple[Any, ...] = ()
        self._dirty: tuple[Any, ...] = ()
        self._non_differentiable: tuple[Any, ...] = ()
        self._materialize = True
        self._ahead: tuple[Any, ...] = ()
        self._saved: list[tuple[SavedTensor | None, int]] | None = []
        self._node: Callable[[], FunctionNode | None] = _no_node

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep inputs or outputs for backward, version-checked. TypeError for other objects."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, TensorBase):
                raise TypeError(
                    "save_for_backward can only save variables, but argument is of type "
                    f"{type(tensor).__name__}"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep inputs or outputs for `jvp`, which finds them as `saved_tensors`."""
        self._ahead = tensors

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
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """What `save_for_backward` kept. Raises RuntimeError where changed or freed."""
        if self._saved is None:
            raise RuntimeError(FREED)
        node = self._node()
        values: list[Any] = [None if s is None else s.unpack(node, n) for s, n in self._saved]
        return tuple(values)


FunctionCtx = FunctionContext
"""The name that programs annotate their `ctx` with."""


def _no_node() -> None:
    return None


def _of_context(node: FunctionNode, name: str) -> Any:
    if name.startswith("_") or name == "context":
        raise AttributeError(f"{type(node).__name__!r} object has no attribute {name!r}")
    context = node.context
    if name != "saved_tensors":
        return getattr(context, name)
    previous, context._node = context._node, lambda: node
    try:
        return context.saved_tensors
    finally:
        context._node = previous


class FunctionNode(Node):
    """The tape's node of one call of a Function."""

    __slots__ = ("context", "function", "inputs")

    def __init__(
        self,
        function: type[Function],
        context: FunctionContext,
        edges: Sequence[Edge],
        inputs: Sequence[Any],
    ) -> None:
        super().__init__(type(self).__name__, edges)
        self.function, self.context, self.inputs = function, context, inputs

    def __getattr__(self, name: str) -> Any:
        """What forward left on its `ctx`, which in PyTorch is the node itself."""
        return _of_context(self, name)

    def release(self) -> None:
        if self.context._saved:
            self.context._saved = None
        self.context._ahead = ()

    def compute(self, grads: list[Any]) -> list[Any]:
        rows = PUSHING.rows
        if rows is not None and self.function.jvp is not Function.jvp:
            return rows(self, grads)
        context = self.context
        if context._materialize:
            grads = [
                ops.zeros(shape, dtype=dtype, device=device) if g is None and dtype else g
                for g, (shape, dtype, device) in zip(grads, self.outputs, strict=True)
            ]
        context._node = lambda: self
        try:
            result = pull_back(self.function)(context, *grads)
        finally:
            context._node = _no_node
        result = tuple(result) if isinstance(result, tuple | list) else (result,)
        count = len(self.edges)
        if len(result) < count or any(g is not None for g in result[count:]):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients "
                f"(expected {count}, got {len(result)})"
            )
        return [self._fitted(i, grad) for i, grad in enumerate(result[:count])]

    def _fitted(self, index: int, grad: Any) -> Any:
        """A gradient with the shape and dtype of its input, or None where none is needed."""
        if grad is None or self.edges[index] is None:
            return None
        if not isinstance(grad, TensorBase):
            raise RuntimeError(
                f"{self.name()}: expected Variable or None as gradient {index} "
                f"(got {type(grad).__name__})"
            )
        shape, dtype = self.inputs[index]
        if grad.shape != shape:
            if not reduces(grad.shape, shape):
                raise RuntimeError(
                    f"Function {self.name()} returned an invalid gradient at index {index} - "
                    f"got {list(grad.shape)} but expected shape compatible with {list(shape)}"
                )
            return self._cast(ops.sum_to_size(grad, shape), dtype)  # type: ignore[arg-type]
        return self._cast(grad, dtype)

    @staticmethod
    def _cast(grad: Any, dtype: Any) -> Any:
        return grad if grad.dtype is dtype else ops.to_dtype(grad, dtype)


def reduces(shape: Sequence[Any], to: Sequence[Any]) -> bool:
    """Whether tensors of `to` broadcast to `shape`."""
    if len(to) > len(shape):
        return False
    pairs = zip(shape[len(shape) - len(to) :], to, strict=True)
    return all(small in (1, large) for large, small in pairs)


class Function:
    """Subclass with static methods `forward(ctx, *args)` and `backward(ctx, *grads)`.

    Or with `forward(*args)` and `setup_context(ctx, inputs, output)`. `backward` returns one
    gradient (or None) per argument of forward. Call through `apply`.

    Under vmap the second form is asked for, and either `generate_vmap_rule = True`, where forward
    and backward are made of ops, or a static method `vmap(info, in_dims, *args)` that gives the
    results of the whole batch, and the dims of them that count examples.

    Forward mode calls `jvp(ctx, *tangents)`, with a tangent (or None) per argument of forward,
    for the tangents of the results; without one, it differentiates `backward`.
    """

    generate_vmap_rule = False

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: FunctionContext, inputs: tuple[Any, ...], output: Any) -> None:
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        raise NotImplementedError("vmap is not implemented.")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raises RuntimeError: functions have no instances."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is not supported. Call "
            f"{type(self).__name__}.apply."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward, and record backward where grad mode is on and an input needs it."""
        ctx = FunctionContext()
        if cls.setup_context is not Function.setup_context:
            args = _positional(cls.forward, args, kwargs)
        elif kwargs:
            args = _positional(cls.forward, (ctx, *args), kwargs)[1:]
        tracked = _core.grad_enabled() and any(
            isinstance(a, TensorBase) and a.requires_grad for a in args
        )
        ctx.needs_input_grad = tuple(
            isinstance(a, TensorBase) and a.requires_grad for a in args
        )
        edges = [
            gradient_edge(a) if tracked and isinstance(a, TensorBase) else None for a in args
        ]
        leaves = {id(a) for a in args if isinstance(a, TensorBase) and a.grad_fn is None}
        mapped = _core.modes() & MAPPED
        run = MAPPING.forward if mapped else _run_forward
        mode = None if mapped and _core.grad_enabled() else False
        out = _core.with_grad_mode(mode, run, cls, ctx, args)
        if not tracked or not isinstance(out, tuple | TensorBase):
            return out
        returned = (out,) if isinstance(out, TensorBase) else out
        if any(all(tensor is not other for other in returned) for tensor in ctx._dirty):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as "
                "output. The inputs that are modified inplace must all be outputs of the Function."
            )
        for tensor in ctx._dirty:
            if id(tensor) in leaves and tensor.requires_grad:
                raise RuntimeError(
                    "a leaf Variable that requires grad is being used in an in-place operation."
                )
            _core.bump_version(tensor)
        return _record(cls, ctx, args, edges, out)

    @classmethod
    def _run_forward(cls, ctx: FunctionContext, args: tuple[Any, ...]) -> Any:
        if cls.setup_context is Function.setup_context:
            return cls.forward(ctx, *args)
        out = cls.forward(*args)
        cls.setup_context(ctx, args, out)
        return out


def _run_forward(cls: type[Function], ctx: FunctionContext, args: tuple[Any, ...]) -> Any:
    return cls._run_forward(ctx, args)


def _node_class(function: type[Function]) -> type[FunctionNode]:
    """The class of the nodes of a Function: `ExpBackward` for `Exp`."""
    made: type[FunctionNode] | None = function.__dict__.get("_backward_cls")
    if made is None:
        about = {"__slots__": (), "__module__": function.__module__}
        made = type(f"{function.__name__}Backward", (FunctionNode,), about)
        function._backward_cls = made  # type: ignore[attr-defined]
    return made


def pull_back(function: type[Function]) -> Callable[..., Any]:
    """`backward`, or `vjp`, which is another name for it."""
    own, vjp = function.backward is not Function.backward, function.vjp is not Function.vjp
    if own and vjp:
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
            "should only implement one of them."
        )
    return function.vjp if vjp else function.backward


def _positional(function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Any, ...]:
    """All arguments of a call by position, with the defaults of those not given."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(f"{function.__qualname__} must not have keyword-only parameters")
    return bound.args


def _differentiable(tensor: Any) -> bool:
    return tensor.dtype.is_floating_point or tensor.dtype.is_complex


def _record(
    cls: type[Function],
    ctx: FunctionContext,
    args: tuple[Any, ...],
    edges: list[Edge],
    out: Any,
) -> Any:
    inputs = [(a.shape, a.dtype) if isinstance(a, TensorBase) else None for a in args]
    node = _node_class(cls)(cls, ctx, edges, inputs)
    single = isinstance(out, TensorBase)
    outputs = [out] if single else list(out)
    given = {id(a) for a in args}
    dirty = {id(t) for t in ctx._dirty}
    aliases = {}
    for i, tensor in enumerate(outputs):
        if isinstance(tensor, TensorBase) and id(tensor) in given and id(tensor) not in dirty:
            outputs[i] = aliases[id(tensor)] = alias_of(tensor)
    constant = {id(aliases.get(id(t), t)) for t in ctx._non_differentiable}
    numbers = {}
    for number, tensor in enumerate(outputs):
        if not isinstance(tensor, TensorBase):
            node.outputs.append(((), None, None))
            continue
        node.outputs.append((tensor.shape, tensor.dtype, tensor.device))
        if _differentiable(tensor) and id(tensor) not in constant:
            numbers[id(tensor)] = number
    ctx._saved = [_saved(tensor, numbers) for tensor in ctx._to_save]
    ahead = () if cls.jvp is Function.jvp else ctx._ahead
    ctx._ahead = tuple([_saved(tensor, numbers) for tensor in ahead])
    ctx._to_save = ctx._dirty = ctx._non_differentiable = ()
    for tensor in outputs:
        if id(tensor) in numbers:
            tensor.grad_fn, tensor.output_nr = node, numbers[id(tensor)]
        elif isinstance(tensor, TensorBase) and id(tensor) in constant:
            tensor.requires_grad = False
    return outputs[0] if single else tuple(outputs)


def _saved(tensor: Any, numbers: dict[int, int]) -> tuple[SavedTensor | None, int]:
    if tensor is None:
        return None, 0
    number = numbers.get(id(tensor))
    if number is None:
        return SavedTensor(tensor), 0
    return SavedTensor(alias_of(tensor), True), number


class _Once(Node):
    """Refuses a second derivative."""

    __slots__ = ()

    def compute(self, grads: list[Any]) -> Sequence[Any]:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with "
            "@once_differentiable"
        )


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a backward that cannot itself be differentiated; it runs without grad mode.

    Differentiating its results raises RuntimeError.
    """

    @functools.wraps(backward)
    def wrapper(ctx: FunctionContext, *grads: Any) -> Any:
        result = _core.with_grad_mode(False, backward, ctx, *grads)
        edges = [gradient_edge(g) for g in grads if isinstance(g, TensorBase)]
        if not _core.grad_enabled() or not any(edges):
            return result
        values = result if isinstance(result, tuple) else (result,)
        refused = tuple(
            _Once("DelayedErrorBackward", edges).attach(alias_of(v))
            if isinstance(v, TensorBase)
            else v
            for v in values
        )
        return refused if isinstance(result, tuple) else refused[0]

    return wrapper
