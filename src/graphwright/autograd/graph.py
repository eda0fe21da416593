"""The recorded graph as a user sees it, and hooks on what it saves; after `torch.autograd.graph`.

    Node                    one recorded step: `name()`, `next_functions`, `metadata`, hooks
    saved_tensors_hooks     replace what is saved for backward
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.locks import Lock
from graphwright.runtime.tape.engine import GradientEdge, edge_of, endings
from graphwright.runtime.tape.hooks import register_hook
from graphwright.runtime.tape.node import Node, accumulator
from graphwright.runtime.tape.saved import ACTIVE, PACKING

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]

_lock = Lock()


class saved_tensors_hooks:
    """Within it, what is saved for backward is `pack_hook(tensor)`.

    When backward needs the tensor it is `unpack_hook` of that, and must have the same values.
    The innermost pair is used. Packing runs without grad mode.
    """

    def __init__(
        self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]
    ) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if PACKING.refusal is not None:
            raise RuntimeError(PACKING.refusal)
        PACKING.stack.append((self.pack_hook, self.unpack_hook))
        with _lock.now:
            ACTIVE.count += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        PACKING.stack.pop()
        with _lock.now:
            ACTIVE.count -= 1


class save_on_cpu(saved_tensors_hooks):
    """Keep what is saved for backward on the CPU."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Any) -> tuple[Any, Any]:
            return tensor.device, tensor.cpu()

        def unpack(packed: tuple[Any, Any]) -> Any:
            return packed[1].to(packed[0])

        super().__init__(pack, unpack)


class allow_mutation_on_saved_tensors(saved_tensors_hooks):
    """Within it, what is saved for backward is copied: it may be changed in place afterwards.

    Raises RuntimeError where it is entered within another one.
    """

    def __init__(self) -> None:
        super().__init__(_copied, lambda tensor: tensor)

    def __enter__(self) -> None:
        if any(pack is _copied for pack, _ in PACKING.stack):
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        super().__enter__()


def _copied(tensor: Any) -> Any:
    return tensor.detach().clone()


class disable_saved_tensors_hooks:
    """Within it, entering `saved_tensors_hooks` raises RuntimeError with `error_message`."""

    def __init__(self, error_message: str) -> None:
        self._message = error_message

    def __enter__(self) -> None:
        if PACKING.stack:
            raise RuntimeError(self._message)
        self._previous, PACKING.refusal = PACKING.refusal, self._message

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        PACKING.refusal = self._previous

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with disable_saved_tensors_hooks(self._message):
                return function(*args, **kwargs)

        return wrapper


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """Where the gradient of `tensor` goes: what `autograd.grad` takes as an input."""
    edge = edge_of(tensor)
    if edge is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does "
                           "not require gradients")  # fmt: skip
    target, number = edge
    return GradientEdge(target if isinstance(target, Node) else accumulator(target), number)


def increment_version(tensor: Any) -> None:
    """Count one more in-place change of a tensor, or of each of several."""
    for one in (tensor,) if isinstance(tensor, _core.TensorBase) else tensor:
        _core.bump_version(one)


class _Handles:
    """Several hooks that are removed together."""

    def __init__(self, handles: Sequence[Any]) -> None:
        self._handles = tuple(handles)

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()

    def __enter__(self) -> _Handles:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class _Together:
    """The hook of several tensors: called with the number and the gradient of each."""

    def __init__(self, count: int, fn: Callable[[Any], Any], first: bool) -> None:
        self._count, self._fn, self._first = count, fn, first

    def __call__(self, number: int, grad: Any) -> None:
        of_pass = endings()
        begun = of_pass.get(self)
        if begun is None:
            begun = of_pass[self] = _Found(self._count, self._fn, due=not self._first)
            if self._first:
                self._fn(grad)
        assert isinstance(begun, _Found)
        begun.take(number, grad)


class _Found:
    """The gradients of one pass. Called when it ends, hands over those that there are.

    due: whether that has not been done.
    """

    def __init__(self, count: int, fn: Callable[[Any], Any], due: bool) -> None:
        self._grads: list[Any] = [None] * count
        self._missing, self._fn, self._due = count, fn, due

    def take(self, number: int, grad: Any) -> None:
        self._missing -= self._grads[number] is None
        self._grads[number] = grad
        if not self._missing:
            self()

    def __call__(self) -> None:
        if self._due:
            self._due = False
            self._fn(self._grads)


def register_multi_grad_hook(
    tensors: Sequence[Any], fn: Callable[..., Any], *, mode: str = "all"
) -> _Handles:
    """Call `fn(grads)` once all gradients of `tensors` are known, or ("any") `fn(grad)` first.

    In mode "all", a pass that reaches only some of the tensors gives None for the others when it
    ends; one that reaches none calls nothing. Raises ValueError for another mode.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    together = _Together(len(tensors), fn, mode == "any")
    return _Handles(
        [register_hook(t, functools.partial(together, i)) for i, t in enumerate(tensors)]
    )
