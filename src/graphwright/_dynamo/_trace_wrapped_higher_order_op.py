"""A block that mask functions are mapped in by `vmap`."""

from __future__ import annotations

from types import TracebackType


class TransformGetItemToIndex:
    """A `with` block in which `tensor[index]` can be mapped; here it can everywhere."""

    def __enter__(self) -> None:
        """Nothing is to be changed."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing was changed."""
