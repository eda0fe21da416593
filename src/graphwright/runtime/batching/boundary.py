"""Where tensors come into a level and leave it: what `vmap` and `func` are made of.

Each function that `vmap` and `func` call is one step of a captured graph, but for `way_out`, which
capture knows, as it asks `is_example` of results. None of them imports the machinery before a
level has begun.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphwright.runtime import _core
from graphwright.runtime.batching import levels
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.runtime.batching.tensor import BatchedTensor


def enter(size: Any, randomness: str) -> None:
    """Begin a level of `size` examples."""
    import_module("graphwright.runtime.batching.engine")
    levels.enter(size, randomness)


def leave(depth: int) -> None:
    """End all levels but the first `depth`: the step of a captured graph."""
    levels.leave(depth)


def way_out() -> Callable[[], None]:
    """What ends the levels that begin from now on.

    It is written in C: a signal's exception cannot come between its call and what it does. In a
    captured graph it is the step `leave`.
    """
    return partial(_core.set_levels, _core.levels())


def depth() -> int:
    """How many levels there are."""
    return len(_core.levels())


def _machinery() -> Any:
    return import_module("graphwright.runtime.batching.tensor")


def _number(tensor: Any) -> int:
    """The level that a tensor belongs to, from 1; 0 for plain ones."""
    level = getattr(tensor, "level", None)
    return 0 if level is None else level.depth + 1


def is_example(tensor: Any) -> bool:
    """Whether a tensor belongs to a level, and means nothing outside of it."""
    return _number(tensor) > 0


def into_batch(tensor: Tensor, dim: int) -> BatchedTensor:
    """One example of a tensor, of which `dim` counts them, in the innermost level."""
    level = levels.innermost()
    assert level is not None
    value = levels.below(level, ops.movedim, tensor, dim, 0)
    made: BatchedTensor = _machinery().wrap(value, level)
    return made


def differs(tensor: Any) -> bool:
    """Whether a tensor is different for the examples of the innermost level."""
    return _number(tensor) == depth() and bool(tensor.batched)


def out_of_batch(tensor: Tensor, dim: int | None) -> Tensor:
    """All examples of a tensor, which `dim` counts; None for one that does not differ.

    Raises IndexError for a dim out of range.
    """
    level = levels.innermost()
    assert level is not None
    if _number(tensor) <= level.depth:
        tensor = _machinery().wrap(tensor, level, batched=False)
    example: Any = tensor
    if dim is None:
        value: Tensor = example.value
        return value
    found: Tensor = levels.below(level, _moved, example, dim)
    return found


def _moved(example: BatchedTensor, dim: int) -> Tensor:
    return ops.movedim(_machinery().whole(example), 0, dim)


def begin_transform(home: int) -> None:
    """See `levels.begin_transform`."""
    levels.begin_transform(home)


def end_transform(home: int) -> None:
    """See `levels.end_transform`."""
    levels.end_transform(home)


def own(tensor: Tensor) -> Tensor:
    """A tensor as one of the innermost level, in which gradients of it may be taken."""
    level = levels.innermost()
    if level is None or _number(tensor) == level.depth + 1:
        return tensor
    made: Tensor = _machinery().wrap(tensor, level, batched=False)
    return made


def without_history(tensor: Tensor) -> Tensor:
    """The same values without their history in the innermost level; that of others stays."""
    level = levels.innermost()
    if level is None:
        return tensor.detach()
    if _number(tensor) == level.depth + 1:
        return tensor._alias()
    return tensor


def is_recorded(tensor: Any, home: int) -> bool:
    """Whether a gradient of `tensor` is recorded in the level `home` or one within it."""
    number = _number(tensor)
    while number >= home:
        if tensor.requires_grad:
            return True
        if number == 0:
            return False
        tensor = tensor.value
        number = _number(tensor)
    return False
