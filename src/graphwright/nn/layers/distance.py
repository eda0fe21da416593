"""Distances between vectors as modules."""

from __future__ import annotations

from graphwright.nn import functional as F
from graphwright.nn.module import Module
from graphwright.runtime.tensor.tensor import Tensor


class PairwiseDistance(Module):
    """||x1 - x2 + eps||_p along the last dimension: [*, D] -> [*], or [*, 1] with `keepdim`."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along `dim`; lengths count as at least eps."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
