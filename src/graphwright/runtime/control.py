"""Control flow that depends on values, as functions: `cond` and `while_loop`.

They run one branch, or the body as often as needed. In compiled code a graph ends where Python
has to know the value, and what comes behind is captured again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime.pytree import tree_leaves
from graphwright.runtime.tensor import Tensor


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


def cond(
    pred: bool | Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...] | list[Any] = (),
) -> Any:
    """`true_fn(*operands)` where `pred` holds, else `false_fn(*operands)`.

    `pred` is a bool, or a tensor of one element. Raises RuntimeError for other arguments.
    """
    _check_truth("cond", pred)
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("cond: expect both branches to be callable")
    _check_operands("cond", operands)
    return true_fn(*operands) if pred else false_fn(*operands)


def while_loop(
    cond_fn: Callable[..., Any],
    body_fn: Callable[..., Any],
    carried_inputs: tuple[Any, ...] | list[Any],
) -> tuple[Any, ...]:
    """What `carried = body_fn(*carried)` ends with, repeated while `cond_fn(*carried)` holds.

    Raises RuntimeError for other arguments, and where the body gives another number of values.
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("while_loop: expect cond_fn and body_fn to be callable")
    _check_operands("while_loop", carried_inputs)
    carried = tuple(carried_inputs)
    while True:
        goes_on = cond_fn(*carried)
        _check_truth("while_loop", goes_on)
        if not goes_on:
            return carried
        found = body_fn(*carried)
        results = tuple(found) if isinstance(found, tuple | list) else (found,)
        if len(results) != len(carried):
            raise RuntimeError(
                f"while_loop: the body gives {len(results)} values for {len(carried)} carried ones"
            )
        carried = results
