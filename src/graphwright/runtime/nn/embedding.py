"""Lookup tables."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.autograd.modes import no_grad
from graphwright.runtime.nn import functional as F
from graphwright.runtime.nn import init
from graphwright.runtime.nn.module import Module
from graphwright.runtime.nn.parameter import Parameter
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.tensor import Tensor


class Embedding(Module):
    """Rows of `weight` [num_embeddings, embedding_dim] by index: [*] -> [*, embedding_dim].

    The row `padding_idx` starts as zeros and gets no gradient. IndexError for an index out of
    range.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise ValueError("Padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        self.weight = Parameter(
            ops.empty((num_embeddings, embedding_dim), device=device, dtype=dtype)
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values: standard normal."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None
    ) -> Embedding:
        """A table over given rows [num_embeddings, embedding_dim], frozen by default."""
        rows, columns = embeddings.shape
        module = cls(rows, columns, padding_idx)
        module.weight = Parameter(embeddings, requires_grad=not freeze)
        return module

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        return text if self.padding_idx is None else f"{text}, padding_idx={self.padding_idx}"
