"""What libraries take from `torch._C._functorch` and `torch._functorch.vmap`: where tensors come
into a level of `vmap` and leave it, by PyTorch's names."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.batching import boundary
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.utils._pytree import tree_flatten, tree_unflatten

__all__ = [
    "Tensor", "get_unwrapped", "is_batchedtensor", "maybe_current_level", "maybe_get_bdim",
    "maybe_get_level", "tree_flatten", "tree_unflatten",
]  # fmt: skip


def is_batchedtensor(tensor: Any) -> bool:
    """Whether a tensor stands for one example of a batch, in some level."""
    return boundary.is_example(tensor) and bool(tensor.batched)


def get_unwrapped(tensor: Any) -> Any:
    """The tensor of the level below, whose first dim counts examples; itself for a plain one."""
    return tensor.value if boundary.is_example(tensor) else tensor


def maybe_get_level(tensor: Any) -> int:
    """The number of the tensor's level, from 1; -1 for a plain one."""
    return tensor.level.depth + 1 if boundary.is_example(tensor) else -1


def maybe_get_bdim(tensor: Any) -> int:
    """The dim that counts examples in `get_unwrapped`: 0; -1 where there is none."""
    return 0 if is_batchedtensor(tensor) else -1


def maybe_current_level() -> int | None:
    """The number of the innermost level; None outside of all."""
    return boundary.depth() or None
