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

    kind: "float" (the test chooses the width), "complex" (likewise), "int", "bool", "index"
    (ints, repeats allowed, low <= value < high), or "pivots" (likewise, of 32 bits).
    """

    shape: tuple[int, ...]
    low: float = -2.0
    high: float = 2.0
    kind: str = "float"
    grad: bool = True

    def values(self, salt: str) -> np.ndarray[Any, Any]:
        """Float64, complex128, int64 or bool values, the same in every run."""
        seed = zlib.crc32(f"{salt}{self}".encode())
        rng = np.random.default_rng(seed)
        count = int(np.prod(self.shape, dtype=np.int64))
        if self.kind == "bool":
            return np.asarray(rng.random(self.shape) < 0.5)
        if self.kind in ("index", "pivots"):
            width = np.int64 if self.kind == "index" else np.int32
            return np.asarray(rng.integers(int(self.low), int(self.high), self.shape, width))
        if self.kind == "int":
            return np.asarray(rng.integers(int(self.low), int(self.high) + 1, self.shape))
        if self.kind == "complex":
            parts = rng.uniform(self.low, self.high, (2, *self.shape)).astype(np.float32)
            return np.asarray(parts[0] + 1j * parts[1].astype(np.float64))
        step = (self.high - self.low) / (count + 1)
        places = self.low + step * (1.0 + np.arange(count) + 0.3 * rng.random(count))
        return rng.permutation(places).reshape(self.shape).astype(np.float32).astype(np.float64)


@dataclass(frozen=True)
class Sample:
    """Positional and keyword arguments; Arr stands for a tensor."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Bad:
    """Arguments that must be refused with `error`, whose message matches `match`.

    `sample`: S(...), or the tuple of positional arguments. `names_op`: the message is to name the
    op. `torch`: PyTorch raises that type too (its NotImplementedError counts as RuntimeError).
    """

    sample: Any
    error: type[Exception]
    match: str = ""
    names_op: bool = False
    torch: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.sample, tuple):
            object.__setattr__(self, "sample", Sample(self.sample))


@dataclass(frozen=True)
class OpErrors:
    """Bad arguments of one op; may stand beside its OpSamples in a family's list."""

    name: str
    errors: tuple[Bad, ...]


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
    errors: tuple[Bad, ...] = ()


def S(*args: Any, **kwargs: Any) -> Sample:
    """A sample of these arguments."""
    return Sample(args, kwargs)


EMPTY, SCALAR = (0, 3), ()
