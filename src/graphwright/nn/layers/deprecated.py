"""Layers that PyTorch keeps for old models."""

from __future__ import annotations

import warnings
from typing import Any

from graphwright.nn.layers.loss import NLLLoss
from graphwright.nn.module import Module
from graphwright.runtime.tensor.tensor import Tensor


class CrossMapLRN2d(Module):
    """x / (k + alpha/size * s)**beta, s the sum of squares over neighbouring channels.

    `LocalResponseNorm` counts them otherwise: here s is a running sum over the channels up to
    (`size` - 1) // 2 behind, from which those as far before are taken again, but never the first.
    """

    def __init__(
        self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1
    ) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim != 4:
            raise ValueError(
                f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead."
            )
        reach, channels = (self.size - 1) // 2 + 1, input.shape[1]
        running = (input * input).cumsum(1)
        ends = [min(c + reach, channels) - 1 for c in range(channels)]
        starts = [max(c - reach, 0) for c in range(channels)]
        total = running[:, ends] - (running[:, starts] - running[:, :1])
        result: Tensor = input / (total * (self.alpha / self.size) + self.k) ** self.beta
        return result

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class NLLLoss2d(NLLLoss):
    """`NLLLoss`, which takes images too. Warns that it replaces this class."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            "NLLLoss2d has been deprecated. Please use NLLLoss instead as a drop-in replacement.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(*args, **kwargs)


class Container(Module):
    """A module with the given children. Warns that `Module` itself replaces this class."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        warnings.warn(
            "nn.Container is deprecated. All of it's functionality is now implemented in "
            "nn.Module. Subclass that instead.",
            FutureWarning,
            stacklevel=2,
        )
        for name, child in kwargs.items():
            self.add_module(name, child)
