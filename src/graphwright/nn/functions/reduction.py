"""The `reduction` argument of losses, and the two older arguments that it replaced."""

from __future__ import annotations

import warnings
from typing import Any

from graphwright.runtime.errors import require_tensor
from graphwright.runtime.ops import functions as ops


def reduction_of(
    reduction: str, size_average: bool | None = None, reduce: bool | None = None
) -> str:
    """One of "none", "mean" or "sum". ValueError for anything else.

    `size_average` and `reduce`, where given, decide instead, with a warning.
    """
    if size_average is not None or reduce is not None:
        average, reduced = size_average is None or size_average, reduce is None or reduce
        found = "mean" if average and reduced else "sum" if reduced else "none"
        warnings.warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction='{found}' instead.",
            stacklevel=3,
        )
        return found
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def paired(input: Any, target: Any) -> tuple[Any, Any]:
    """What an elementwise loss compares, with a warning where one of them is to be broadcast.

    A 0-d tensor counts for the dtype of the result as any other. TypeError for no tensors.
    """
    require_tensor("loss", "input", input)
    require_tensor("loss", "target", target)
    if tuple(target.shape) != tuple(input.shape):
        warnings.warn(
            f"Using a target size ({tuple(target.shape)}) that is different to the input size "
            f"({tuple(input.shape)}). This will likely lead to incorrect results due to "
            "broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )
        if input.dtype is not target.dtype:
            input, target = ops.broadcast_tensors((input, target))
    return input, target
