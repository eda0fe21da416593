"""Gradients of functions of tensors: `grad`, `vjp`."""

from __future__ import annotations

from typing import Any

from graphwright import autograd
from graphwright.func.tracking import (
    Func,
    Transform,
    chosen_places,
    connected,
    detached,
    gradients_of,
    needs_graph,
    require_tensors,
    tracked,
    with_aux,
    without_history,
)
from graphwright.runtime.batching import boundary
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.trees import rebuilt, tensors_of
from graphwright.utils._pytree import tree_structure


def grad_and_value(
    func: Func, argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Func:
    """A function that computes the gradients of `func` and its value. It may be nested.

    Args:
        func: a function whose result is a tensor without dims.
        argnums: the index, or indices, of the arguments that gradients are taken of.
        has_aux: `func` returns `(value, more)`.

    Returns: a function with the arguments of `func` that returns `(gradients, value)`, where
    gradients have the structure of the arguments at `argnums`; `(gradients, (value, more))`
    with `has_aux`.

    Raises:
        RuntimeError: (by that function) the value is no tensor without dims.

    Example:
        >>> gw.func.grad_and_value(lambda x: x**3)(gw.tensor(2.0))
        (tensor(12.), tensor(8.))
    """

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        places = chosen_places(argnums, len(args))
        home = boundary.depth()
        outer = needs_graph(args, home)
        given = list(args)
        with Transform(home):
            for place in places:
                given[place] = tracked(args[place])
            out = func(*given, **kwargs)
            value, aux = with_aux(out, "grad_and_value(f)(*args)") if has_aux else (out, None)
            if not isinstance(value, Tensor):
                raise RuntimeError(
                    f"Expected the function to return a tensor, got {type(value).__name__}"
                )
            if value.ndim:
                raise RuntimeError(
                    "Expected the function to return a scalar tensor, got tensor with "
                    f"{value.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            inputs = tensors_of([given[place] for place in places])
            grads = iter(gradients_of([value], inputs, None, True))
        outer = outer or connected([value], inputs)
        shaped = tuple(rebuilt(args[place], grads) for place in places)
        if not outer:
            shaped, aux = detached(shaped), detached(aux)
            value = without_history(value)
        result = shaped[0] if isinstance(argnums, int) else shaped
        return result, ((value, aux) if has_aux else value)

    return wrapped


def grad(func: Func, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Func:
    """A function that computes the gradients of `func`.

    Args:
        func: a function whose result is a tensor without dims.
        argnums: the index, or indices, of the arguments that gradients are taken of.
        has_aux: `func` returns `(value, more)`.

    Returns: a function with the arguments of `func` that returns the gradients, in the
    structure of the arguments at `argnums`; `(gradients, more)` with `has_aux`.

    Raises:
        RuntimeError: (by that function) the value is no tensor without dims.

    Example:
        >>> gw.func.grad(lambda x: (x**2).sum())(gw.tensor([1.0, 2.0]))
        tensor([2., 4.])
    """
    both = grad_and_value(func, argnums, has_aux)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return wrapped


def vjp(func: Func, *primals: Any, has_aux: bool = False) -> Any:
    """Value of `func` and a function of its vector-Jacobian products (reverse mode).

    Args:
        func: a function of tensors, or of structures of them.
        primals: its arguments.
        has_aux: `func` returns `(output, more)`.

    Returns: `(output, f)`, or `(output, f, more)` with `has_aux`. `f(cotangents)`, whose
    argument has the structure of the output, returns the products: a tuple, one for each
    primal.

    Raises:
        RuntimeError: the output is no tensor, or cotangents do not have its structure.

    Example:
        >>> out, f = gw.func.vjp(gw.sin, gw.tensor([0.0]))
        >>> f(gw.tensor([2.0]))
        (tensor([2.]),)
    """
    home = boundary.depth()
    with Transform(home):
        inputs = tracked(primals)
        out = func(*inputs)
        value, aux = with_aux(out, "vjp(f, *primals)") if has_aux else (out, None)
    require_tensors(value, "vjp(f, *primals)")
    structure = tree_structure(value)

    reached = connected(tensors_of(value), tensors_of(inputs))

    def pull_back(cotangents: Any) -> Any:
        """The products. Raises RuntimeError unless cotangents are like the output."""
        if tree_structure(cotangents) != structure:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {tree_structure(cotangents)}, primal "
                f"output: {structure}"
            )
        outer = needs_graph((primals, cotangents), home)
        outer = outer or (reached and autograd.is_grad_enabled())
        with Transform(home):
            given = tensors_of(cotangents)
            grads = gradients_of(tensors_of(value), tensors_of(inputs), given, outer)
        shaped = rebuilt(primals, iter(grads))
        return shaped if outer else detached(shaped)

    if reached or needs_graph(primals, home):
        shown = value
    else:
        shown, aux = detached(value), detached(aux)
    return (shown, pull_back, aux) if has_aux else (shown, pull_back)


