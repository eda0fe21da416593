"""`Size`: the sizes of a tensor as a tuple that knows its product.

`Tensor.shape` is a plain tuple, which the C core caches; `Size(x.shape)` makes one of these.
"""

from __future__ import annotations

import math
from typing import Any


class Size(tuple[int, ...]):
    """A tuple of sizes, as PyTorch's: slices and sums are Sizes too."""

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements of a tensor of these sizes; 1 without dims."""
        return math.prod(self)

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Any:
        return Size(super().__add__(other))

    def __mul__(self, count: Any) -> Any:
        return Size(super().__mul__(count))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"graphwright.Size({list(self)})"
