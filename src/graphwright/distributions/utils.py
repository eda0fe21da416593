"""Helpers of distributions under the names of `torch.distributions.utils`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.distributions.continuous import EULER as euler_constant
from graphwright.distributions.distribution import broadcast_all
from graphwright.distributions.distribution import clamped as clamp_probs
from graphwright.distributions.distribution import lazy as lazy_property
from graphwright.distributions.distribution import sum_rightmost as _sum_rightmost
from graphwright.distributions.distribution import to_logits as probs_to_logits
from graphwright.distributions.distribution import to_probs as logits_to_probs
from graphwright.distributions.triangles import tril_matrix_to_vec, vec_to_tril_matrix
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor

__all__ = [
    "_standard_normal",
    "_sum_rightmost",
    "broadcast_all",
    "clamp_probs",
    "euler_constant",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]


def _standard_normal(shape: Sequence[int], dtype: Any, device: Any) -> Tensor:
    """Standard normal numbers; distributions of other libraries take it from here."""
    return ops.randn(tuple(shape), dtype=dtype, device=device)
