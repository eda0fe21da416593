"""SparseAdam, which PyTorch has for gradients that are sparse tensors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphwright.optim.optimizer import Group, Optimizer, require, require_betas, require_rate


class SparseAdam(Optimizer):
    """Takes PyTorch's options, and refuses to step.

    It changes only the rows that a sparse gradient names. Gradients are dense here, also those of
    embeddings with `sparse=True`: rows that were not looked up have zeros, as rows whose
    gradient is zero. PyTorch refuses dense gradients too; `Adam` takes them.

    ValueError for options out of range; RuntimeError from `step` where there is a gradient.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        require_rate(lr)
        require(eps > 0, "epsilon value", eps)
        require_betas(betas)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, maximize=maximize))

    def _update(self, group: Group) -> None:
        if any(param.grad is not None for param in group["params"]):
            raise RuntimeError(
                "SparseAdam does not support dense gradients, please consider Adam instead: "
                "gradients are never sparse here, also not those of embeddings with sparse=True"
            )
