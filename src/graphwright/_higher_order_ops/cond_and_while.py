"""Control flow that depends on values, as functions: `cond` and `while_loop`.

They run one branch, or the body as often as needed. In compiled code both are part of the graph,
which has a graph of its own for each function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.utils._pytree import tree_flatten, tree_leaves, tree_map


def _check_operands(name: str, operands: Any) -> None:
    """Raise RuntimeError unless it is a tuple or list with tensors and numbers inside."""
    if not isinstance(operands, tuple | list) or not all(
        isinstance(leaf, Tensor | int | float) for leaf in tree_leaves(operands)
    ):
        raise RuntimeError(
            f"{name}: expect operands to be a tuple of possibly nested dict/list/tuple that only "
            f"consists of tensor leaves, but got {operands}"
        )


def _check_truth(name: str, value: Any) -> None:
    """Raise RuntimeError unless it is a bool or a tensor of one element."""
    if not isinstance(value, bool | Tensor):
        raise RuntimeError(f"{name}: expected pred to be bool or tensor, but got {value}")
    if isinstance(value, Tensor) and value.numel() != 1:
        raise RuntimeError(
            f"{name}: expected pred to be bool or single-element tensor, but got a tensor of "
            f"{value.numel()} elements"
        )


def versions(operands: Any) -> list[int]:
    """How often each tensor of a container was written."""
    return [leaf._version for leaf in tree_leaves(operands) if isinstance(leaf, Tensor)]


def _check_unwritten(name: str, operands: Any, before: list[int]) -> None:
    """Raise RuntimeError where a tensor of the operands was written since."""
    if versions(operands) != before:
        raise RuntimeError(
            f"{name}: a function changes a tensor in place that it is given; let it return a new "
            "one"
        )


def cond(
    pred: bool | Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...] | list[Any] = (),
) -> Any:
    """`true_fn(*operands)` where `pred` holds, else `false_fn(*operands)`.

    In compiled code with a tensor as `pred` both become graphs within the graph, where they
    only compute tensors and return new ones; results lie in row-major order if the two would
    lay them out differently, or with gaps.

    Args:
        pred: a bool, or a tensor of one element.
        true_fn, false_fn: functions of the operands that return tensors, or containers of
            them.
        operands: tensors, in containers too; the functions may also use others from around
            them.

    Returns: what the function returns.

    Raises:
        RuntimeError: for other arguments, for a function that changes an operand in place,
            and in compiled code for functions whose results differ in structure, shape or
            dtype.

    Example:
        >>> gw.cond(gw.tensor(True), gw.sin, gw.cos, (gw.tensor(0.0),))
        tensor(0.)
    """
    _check_truth("cond", pred)
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("cond: expect both branches to be callable")
    _check_operands("cond", operands)
    before = versions(operands)
    result = true_fn(*operands) if pred else false_fn(*operands)
    _check_unwritten("cond", operands, before)
    return result


def while_loop(
    cond_fn: Callable[..., Any],
    body_fn: Callable[..., Any],
    carried_inputs: tuple[Any, ...] | list[Any],
) -> Any:
    """Last `carried` of `carried = body_fn(*carried)`, repeated while `cond_fn(*carried)` holds.

    In compiled code that carries tensors only both functions become graphs within the graph.
    What is returned is never one of the tensors that were given.

    Args:
        cond_fn: a function that returns a bool, or a tensor of one element.
        body_fn: a function that returns values of the types that it is given, as a tuple (or
            one alone).
        carried_inputs: tensors and numbers at the start, in containers too.

    Returns: the values, in the structure of `carried_inputs`.

    Raises:
        RuntimeError: for other arguments, for a body that returns another structure, shapes
            or dtypes, and for a function that changes what it is given in place.

    Example:
        >>> gw.while_loop(lambda x: x < 10, lambda x: (x * 2,), (gw.tensor(3),))
        (tensor(12),)
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("while_loop: expect cond_fn and body_fn to be callable")
    _check_operands("while_loop", carried_inputs)
    carried = tuple(carried_inputs)
    while True:
        before = versions(carried)
        goes_on = cond_fn(*carried)
        _check_truth("while_loop", goes_on)
        if not goes_on:
            return _without(carried, carried_inputs)
        found = body_fn(*carried)
        _check_unwritten("while_loop", carried, before)
        results = tuple(found) if isinstance(found, tuple | list) else (found,)
        _check_carried(carried, results)
        carried = results


def while_loop_with(
    cond_fn: Callable[..., Any],
    body_fn: Callable[..., Any],
    carried_inputs: tuple[Any, ...] | list[Any],
    additional_inputs: tuple[Any, ...] | list[Any] = (),
) -> Any:
    """`while_loop` whose functions get `additional_inputs` behind what is carried."""
    return while_loop(
        lambda *carried: cond_fn(*carried, *additional_inputs),
        lambda *carried: body_fn(*carried, *additional_inputs),
        carried_inputs,
    )


def _check_carried(carried: tuple[Any, ...], results: tuple[Any, ...]) -> None:
    """Raise RuntimeError unless the results can be carried on."""
    if len(results) != len(carried):
        raise RuntimeError(
            f"while_loop: the body gives {len(results)} values for {len(carried)} carried ones"
        )
    given, structure = tree_flatten(carried)
    found, other = tree_flatten(results)
    if structure != other:
        raise RuntimeError(f"while_loop: the body is given {structure} and gives {other}")
    for one, two in zip(given, found, strict=True):
        if isinstance(one, Tensor) and isinstance(two, Tensor):
            if one.shape == two.shape and one.dtype is two.dtype:
                continue
            raise RuntimeError(
                f"while_loop: the body is given {describe(one)} and gives {describe(two)}")
        if isinstance(one, Tensor) or type(one) is not type(two):
            raise RuntimeError(
                f"while_loop: the body is given a {type(one).__name__} and gives a "
                f"{type(two).__name__}")


def _without(carried: tuple[Any, ...], given: Any) -> tuple[Any, ...]:
    """The carried values, with copies of the tensors among them that were given."""
    inputs = tree_leaves(given)

    def own(leaf: Any) -> Any:
        known = isinstance(leaf, Tensor) and any(leaf is one for one in inputs)
        return leaf.clone() if known else leaf

    result: tuple[Any, ...] = tree_map(own, carried)
    return result
