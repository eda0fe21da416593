"""Lookup tables."""

from __future__ import annotations

from typing import Any

from graphwright.autograd.grad_mode import no_grad
from graphwright.nn import functional as F
from graphwright.nn import init
from graphwright.nn.functions.embeddings import padding_row
from graphwright.nn.module import Module
from graphwright.nn.parameter import Parameter
from graphwright.runtime.errors import describe, require_tensor
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


def _check_table(name: str, embeddings: Tensor) -> None:
    require_tensor(name, "embeddings", embeddings)
    if embeddings.ndim != 2:
        raise ValueError(
            f"{name}: embeddings must have 2 dims, rows and columns, but are "
            f"{describe(embeddings)}"
        )


class _Table(Module):
    """`weight` [num_embeddings, embedding_dim], standard normal, zeros in the padding row."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None

    def _make_weight(self, given: Tensor | None, freeze: bool, device: Any, dtype: Any) -> None:
        shape = (self.num_embeddings, self.embedding_dim)
        if given is None:
            weight = ops.empty(shape, device=device, dtype=dtype)
            self.weight = Parameter(weight, requires_grad=not freeze)
            self.reset_parameters()
            return
        require_tensor(type(self).__name__, "_weight", given)
        if tuple(given.shape) != shape:
            raise ValueError(
                f"{type(self).__name__}: the shape of _weight does not match num_embeddings and "
                f"embedding_dim: expected {list(shape)}, got {list(given.shape)}"
            )
        self.weight = Parameter(given, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Draw new initial values: standard normal."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


class Embedding(_Table):
    """Rows of `weight` [num_embeddings, embedding_dim] by index: [*] -> [*, embedding_dim].

    The row `padding_idx` starts as zeros and gets no gradient. With `max_norm` rows that are
    looked up and whose norm of type `norm_type` exceeds it are first scaled down, in place;
    `scale_grad_by_freq` divides gradients by how often a row was looked up. IndexError for an
    index out of range.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_row(type(self).__name__, padding_idx, num_embeddings)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._make_weight(_weight, _freeze, device, dtype)
        self.sparse = sparse

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """A table over given rows [num_embeddings, embedding_dim], frozen by default."""
        _check_table(cls.__name__, embeddings)
        rows, columns = embeddings.shape
        return cls(
            rows,
            columns,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight=embeddings,
            _freeze=freeze,
        )

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq is not False:
            parts.append(f"scale_grad_by_freq={self.scale_grad_by_freq}")
        if self.sparse is not False:
            parts.append("sparse=True")
        return ", ".join(parts)


class EmbeddingBag(_Table):
    """Sums, means or maxima of bags of rows of `weight`: see `nn.functional.embedding_bag`."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = padding_row(type(self).__name__, padding_idx, num_embeddings)
        self._make_weight(_weight, False, device, dtype)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """Bags over given rows [num_embeddings, embedding_dim], frozen by default."""
        _check_table(cls.__name__, embeddings)
        rows, columns = embeddings.shape
        bag = cls(
            rows,
            columns,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            embeddings,
            include_last_offset,
            padding_idx,
        )
        bag.weight.requires_grad = not freeze
        return bag

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq is not False:
            parts.append(f"scale_grad_by_freq={self.scale_grad_by_freq}")
        parts.append(f"mode={self.mode!r}")
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        return ", ".join(parts)
