"""Operations that may fail when the graph runs, because of the values of tensors."""

from __future__ import annotations

from typing import Any

BY_INDEX = frozenset(
    [
        *("getitem", "setitem", "__getitem__", "__setitem__", "index_select", "gather"),
        *("scatter_src", "scatter_value", "scatter_reduce", "scatter_extreme", "index_reduce"),
        *("take", "put", "masked_scatter", "repeat_positions", "repeat_interleave"),
        *("embedding", "scatter", "scatter_add", "index_add", "index_put", "take_along_dim"),
        *("nll_loss", "cross_entropy", "one_hot", "index_copy", "index_fill", "index"),
    ]
)


def name_of(target: Any) -> str:
    """The name of an operation, without the underscore of in-place forms."""
    name = _own_name(target)
    return name if name.startswith("__") else name.rstrip("_")


def is_in_place(target: Any) -> bool:
    """Whether an operation writes to its first argument, as its name says."""
    name = _own_name(target)
    return name.endswith("_") and not name.endswith("__")


def _own_name(target: Any) -> str:
    name: str = getattr(target, "__name__", None) or getattr(target, "name", None) or str(target)
    return name
