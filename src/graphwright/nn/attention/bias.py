"""Causal masks of attention without memory: `scaled_dot_product_attention` knows what they say.

They stand for matrices of bool, of which True means that a query may look at a key.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from enum import IntEnum, auto
from typing import Any

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.subclasses import as_class
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.torch_function import without_overrides

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """Where the diagonal begins: at the first query and key, or so that it ends at the last."""

    UPPER_LEFT = auto()
    LOWER_RIGHT = auto()


class CausalBias(Tensor):
    """A causal mask for `seq_len_q` queries and `seq_len_kv` keys.

    It may only be given as `attn_mask` to `scaled_dot_product_attention`; other functions raise
    NotImplementedError. A lower right mask of more queries than keys warns: rows are empty.
    """

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> Any:
        """AssertionError for what is no variant."""
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {variant!r}")
        made = as_class(cls, ops.empty((1, seq_len_q, seq_len_kv), dtype=dtypes.bool))
        made.variant, made.seq_len_q, made.seq_len_kv = variant, seq_len_q, seq_len_kv
        return made

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        pass

    def _matrix(self, device: Any = None) -> Tensor:
        """The mask as a matrix of bool, on a device."""
        lower = self.variant is CausalVariant.LOWER_RIGHT
        shift = self.seq_len_kv - self.seq_len_q if lower else 0
        sizes = self.seq_len_q, self.seq_len_kv
        return ops.tril(ops.ones(sizes, dtype=dtypes.bool, device=device), diagonal=shift)

    def __repr__(self) -> str:
        return repr(self._matrix())

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Attention, with the mask as what it can be; NotImplementedError for other functions."""
        if func is not ops.scaled_dot_product_attention:
            raise NotImplementedError("CausalBias only supports scaled_dot_product_attention")
        return without_overrides(_attention, *args, **(kwargs or {}))


def _attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, **options: Any,
) -> Any:  # fmt: skip
    """Attention under a `CausalBias`. ValueError with `is_causal`, RuntimeError elsewhere."""
    if is_causal:
        raise ValueError("CausalBias should not be used with causal=True")
    if not isinstance(attn_mask, CausalBias):
        raise RuntimeError("a CausalBias can only be the mask of attention")
    upper = attn_mask.variant is CausalVariant.UPPER_LEFT
    if upper or attn_mask.seq_len_q == attn_mask.seq_len_kv:
        mask, is_causal = None, True
    else:
        mask = attn_mask._matrix(query.device)
    return ops.scaled_dot_product_attention(
        query, key, value, mask, dropout_p, is_causal, **options)


def causal_upper_left(*size: int) -> CausalBias:
    """The mask `tril(ones(size))`: query i may look at keys 0 to i. `size` is of two numbers."""
    return _of_size(CausalVariant.UPPER_LEFT, size)


def causal_lower_right(*size: int) -> CausalBias:
    """The mask whose last row is full: query i of L may look at keys 0 to S - L + i of S."""
    made = _of_size(CausalVariant.LOWER_RIGHT, size)
    if made.seq_len_q > made.seq_len_kv:
        warnings.warn(
            "a lower right mask of more queries than keys leaves queries without any key: their "
            "results are NaN",
            stacklevel=2,
        )
    return made


def _of_size(variant: CausalVariant, size: tuple[int, ...]) -> CausalBias:
    if len(size) != 2:
        raise AssertionError("causal masks only support 2D tensors")
    made: CausalBias = CausalBias(variant, *size)
    return made
