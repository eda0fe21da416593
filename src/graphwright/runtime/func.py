"""Functions of functions, after `torch.func`: gradients of plain functions of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime import autograd
from graphwright.runtime.nn.utils.stateless import functional_call
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.tensor import Tensor

Func = Callable[..., Any]

__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacrev", "vjp"]


def _leaves(value: Any) -> list[Tensor]:
    """The tensors of a tensor, list, tuple or dict, in order."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in _leaves(part)]
    if isinstance(value, list | tuple):
        return [leaf for part in value for leaf in _leaves(part)]
    return []


def _rebuilt(value: Any, leaves: Any) -> Any:
    """`value` with the next of `leaves` in place of each tensor."""
    if isinstance(value, Tensor):
        return next(leaves)
    if isinstance(value, dict):
        return {key: _rebuilt(part, leaves) for key, part in value.items()}
    if isinstance(value, list | tuple):
        parts = [_rebuilt(part, leaves) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def _tracked(value: Any) -> Any:
    """The same structure with tensors that gradients can be taken of.

    Where the outer computation differentiates too, they stay connected to it.
    """

    def track(tensor: Tensor) -> Tensor:
        if tensor.requires_grad:
            return tensor.view_as(tensor)
        return tensor.detach().requires_grad_()

    return _rebuilt(value, iter([track(t) for t in _leaves(value)]))


def _gradients(outputs: list[Tensor], inputs: list[Tensor], cotangents: Any, outer: bool) -> Any:
    grads = autograd.grad(
        outputs, inputs, cotangents, create_graph=outer, retain_graph=True, allow_unused=True
    )
    return [ops.zeros_like(t) if g is None else g for g, t in zip(grads, inputs, strict=True)]


def _needs_graph(value: Any) -> bool:
    return any(t.requires_grad for t in _leaves(value))


def grad_and_value(func: Func, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Func:
    """A function that gives (gradients, value) of `func`, whose result is a 0-d tensor.

    Gradients have the structure of the arguments at `argnums`. With `has_aux`, `func` returns
    (value, more) and the result is (gradients, (value, more)). May be nested.
    """
    places = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        outer = _needs_graph(args)
        given = list(args)
        with autograd.enable_grad():
            for place in places:
                given[place] = _tracked(args[place])
            out = func(*given, **kwargs)
            value, aux = out if has_aux else (out, None)
            if not isinstance(value, Tensor):
                raise RuntimeError(
                    f"Expected the function to return a tensor, got {type(value).__name__}"
                )
            if value.ndim:
                raise RuntimeError(
                    "Expected the function to return a scalar tensor, got tensor with "
                    f"{value.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            inputs = _leaves([given[place] for place in places])
            grads = iter(_gradients([value], inputs, None, True))
        shaped = tuple(_rebuilt(args[place], grads) for place in places)
        if not outer:
            shaped = _detached(shaped)
            value = value.detach()
        result = shaped[0] if isinstance(argnums, int) else shaped
        return result, ((value, aux) if has_aux else value)

    return wrapped


def _detached(value: Any) -> Any:
    return _rebuilt(value, iter([t.detach() for t in _leaves(value)]))


def grad(func: Func, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Func:
    """A function that gives the gradients of `func`; see `grad_and_value`.

    With `has_aux` it gives (gradients, more).
    """
    both = grad_and_value(func, argnums, has_aux)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return wrapped


def vjp(func: Func, *primals: Any, has_aux: bool = False) -> Any:
    """(func(*primals), f), where f(cotangents) are the vector-Jacobian products.

    Cotangents have the structure of the output; the products are a tuple, one per primal.
    """
    with autograd.enable_grad():
        inputs = _tracked(primals)
        out = func(*inputs)
        value, aux = out if has_aux else (out, None)

    def pull_back(cotangents: Any) -> Any:
        with autograd.enable_grad():
            grads = _gradients(_leaves(value), _leaves(inputs), _leaves(cotangents), True)
        outer = _needs_graph((primals, cotangents))
        shaped = _rebuilt(primals, iter(grads))
        return shaped if outer else _detached(shaped)

    shown = value if _needs_graph(primals) else _detached(value)
    return (shown, pull_back, aux) if has_aux else (shown, pull_back)


def jacrev(func: Func, argnums: int = 0) -> Func:
    """A function that gives the Jacobian of `func`: [*output shape, *argument shape]."""

    def wrapped(*args: Any) -> Tensor:
        def of_one(x: Tensor) -> Any:
            return func(*args[:argnums], x, *args[argnums + 1 :])

        jacobian: Tensor = autograd.functional.jacobian(
            of_one, args[argnums], create_graph=_needs_graph(args)
        )
        return jacobian

    return wrapped


def hessian(func: Func, argnums: int = 0) -> Func:
    """A function that gives the matrix of second derivatives of a scalar `func`."""

    def wrapped(*args: Any) -> Tensor:
        def of_one(x: Tensor) -> Any:
            return func(*args[:argnums], x, *args[argnums + 1 :])

        second: Tensor = autograd.functional.hessian(
            of_one, args[argnums], create_graph=_needs_graph(args)
        )
        return second

    return wrapped
