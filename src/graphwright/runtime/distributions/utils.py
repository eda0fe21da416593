"""Helpers of distributions under the names of `torch.distributions.utils`."""

from __future__ import annotations

from graphwright.runtime.distributions.continuous import EULER as euler_constant
from graphwright.runtime.distributions.distribution import broadcast_all
from graphwright.runtime.distributions.distribution import clamped as clamp_probs
from graphwright.runtime.distributions.distribution import lazy as lazy_property
from graphwright.runtime.distributions.distribution import to_logits as probs_to_logits
from graphwright.runtime.distributions.distribution import to_probs as logits_to_probs
from graphwright.runtime.distributions.triangles import tril_matrix_to_vec, vec_to_tril_matrix

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "euler_constant",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]
