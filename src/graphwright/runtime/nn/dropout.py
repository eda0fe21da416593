"""Dropout."""

from __future__ import annotations

from graphwright.runtime.nn import functional as F
from graphwright.runtime.nn.module import Module
from graphwright.runtime.tensor import Tensor


class Dropout(Module):
    """In training, zero each element with probability `p` and scale the others by 1/(1-p).

    Hinton et al. (2012). Raises ValueError unless 0 <= p <= 1.
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"
