"""The functions of `torch.functional`: those that PyTorch writes in Python."""

from __future__ import annotations

from graphwright._lowrank import pca_lowrank, svd_lowrank
from graphwright.runtime.ops.functions import (
    cdist,
    chain_matmul,
    einsum,
    istft,
    lu,
    norm,
    split,
    stft,
    tensordot,
    unique,
    unique_consecutive,
)
from graphwright.runtime.tensor.multi_tensor import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    broadcast_shapes,
    broadcast_tensors,
    cartesian_prod,
    meshgrid,
    unravel_index,
)

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "broadcast_tensors",
    "cartesian_prod",
    "cdist",
    "chain_matmul",
    "einsum",
    "istft",
    "lu",
    "meshgrid",
    "norm",
    "pca_lowrank",
    "split",
    "stft",
    "svd_lowrank",
    "tensordot",
    "unique",
    "unique_consecutive",
    "unravel_index",
]
