"""What transforms share: inputs that are tracked, and the gradients that are taken of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright import autograd
from graphwright.autograd.forward_ad import reaches_others
from graphwright.runtime.batching import boundary
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.trees import leaves_of, rebuilt, tensors_of

Func = Callable[..., Any]


def tracked(value: Any) -> Any:
    """The same structure with tensors that gradients can be taken of.

    Where the outer computation differentiates too, they stay connected to it. Raises ValueError
    for what is no tensor.
    """
    for leaf in leaves_of(value):
        if not isinstance(leaf, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")

    def track(tensor: Tensor) -> Tensor:
        own = boundary.own(tensor) if boundary.depth() else tensor
        if own.requires_grad:
            return own.view_as(own)
        return without_history(own).requires_grad_()

    return rebuilt(value, iter([track(t) for t in tensors_of(value)]))


def with_aux(out: Any, of: str) -> tuple[Any, Any]:
    """The output and what was returned beside it. Raises RuntimeError for anything but a pair."""
    if not isinstance(out, tuple) or len(out) != 2:
        raise RuntimeError(
            f"{of}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return out


def require_tensors(out: Any, of: str) -> None:
    """Raise RuntimeError where a function gives anything but tensors."""
    for leaf in leaves_of(out):
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{of}: expected f(*primals) to return only tensors, got unsupported type "
                f"{type(leaf)}"
            )


def without_history(tensor: Tensor) -> Tensor:
    """The same values as a leaf. Under vmap, that of the innermost level alone."""
    return boundary.without_history(tensor) if boundary.depth() else tensor.detach()


class Transform:
    """Within it gradients are recorded, whatever the levels of vmap below `home` do."""

    def __init__(self, home: int) -> None:
        self.home = home
        self.mode = autograd.enable_grad()

    def __enter__(self) -> None:
        if self.home:
            boundary.begin_transform(self.home)
        self.mode.__enter__()

    def __exit__(self, *exc: Any) -> None:
        self.mode.__exit__(*exc)
        if self.home:
            boundary.end_transform(self.home)


def gradients_of(outputs: list[Tensor], inputs: list[Tensor], cotangents: Any, outer: bool) -> Any:
    kept = [i for i, out in enumerate(outputs) if out.requires_grad]
    if not kept:
        return [ops.zeros_like(without_history(t)) for t in inputs]
    grads = autograd.grad(
        [outputs[i] for i in kept],
        inputs,
        None if cotangents is None else [cotangents[i] for i in kept],
        create_graph=outer,
        retain_graph=True,
        allow_unused=True,
    )
    return [ops.zeros_like(t) if g is None else g for g, t in zip(grads, inputs, strict=True)]


def connected(outputs: list[Tensor], inputs: list[Tensor]) -> bool:
    """Whether what is computed from tensors of the outside, such as parameters, is recorded."""
    return autograd.is_grad_enabled() and any(reaches_others(out, inputs) for out in outputs)


def needs_graph(value: Any, home: int) -> bool:
    """Whether a gradient of it is recorded at the level `home` of vmap, or further within."""
    if not autograd.is_grad_enabled():
        return False
    if not home and not boundary.depth():
        return any(t.requires_grad for t in tensors_of(value))
    return any(boundary.is_recorded(t, home) for t in tensors_of(value))


def detached(value: Any) -> Any:
    return rebuilt(value, iter([without_history(t) for t in tensors_of(value)]))


def chosen_places(argnums: int | tuple[int, ...], count: int) -> tuple[int, ...]:
    """The arguments that `argnums` names, of `count`, each once. Raises RuntimeError otherwise."""
    places = (argnums,) if isinstance(argnums, int) else argnums
    if not isinstance(places, tuple) or not all(isinstance(place, int) for place in places):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    for place in places:
        if not -count <= place < count:
            raise RuntimeError(f"Got argnum={place}, but only {count} positional inputs")
    found = tuple(place % count for place in places)
    if not found or len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique and not none, got {argnums}")
    return found
