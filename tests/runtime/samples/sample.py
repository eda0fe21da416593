"""What a sample is: descriptions of arrays that a test turns into tensors of some layout."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Arr:
    """An array argument. Values are distinct and lie strictly between low and high.

    kind: "float" (the test chooses the width), "int", "bool", or "index" (ints, repeats
    allowed, low <= value < high).
    """

    shape: tuple[int, ...]
    low: float = -2.0
    high: float = 2.0
    kind: str = "float"
    grad: bool = True

    def values(self, salt: str) -> np.ndarray[Any, Any]:
        """Float64, int64 or bool values, the same in every run."""
        seed = zlib.crc32(f"{salt}{self}".encode())
        rng = np.random.default_rng(seed)
        count = int(np.prod(self.shape, dtype=np.int64))
        if self.kind == "bool":
            return np.asarray(rng.random(self.shape) < 0.5)
        if self.kind == "index":
            return np.asarray(rng.integers(int(self.low), int(self.high), self.shape))
        if self.kind == "int":
            return np.asarray(rng.integers(int(self.low), int(self.high) + 1, self.shape))
        step = (self.high - self.low) / (count + 1)
        places = self.low + step * (1.0 + np.arange(count) + 0.3 * rng.random(count))
        return rng.permutation(places).reshape(self.shape).astype(np.float32).astype(np.float64)


@dataclass(frozen=True)
class Sample:
    """Positional and keyword arguments; Arr stands for a tensor."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class OpSamples:
    """Samples of one op. `reference` computes the result from float64 arrays."""

    name: str
    samples: tuple[Sample, ...]
    reference: Callable[..., Any] | None
    grad: bool = True
    double_grad: bool = True
    torch: str | None = None
    halves: bool = False
    layouts: bool = True
    strides: bool = True


def S(*args: Any, **kwargs: Any) -> Sample:
    """A sample of these arguments."""
    return Sample(args, kwargs)


EMPTY, SCALAR = (0, 3), ()
