"""One model of somebody else's library: how it is made, what it is given, what is asked of it.

Everything random is drawn by NumPy from the names of the model and of the array, so that
graphwright and PyTorch are given the same numbers. `import torch` is whichever runs the process.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]


class Draw:
    """Random arrays of one model: the same for the same name."""

    def __init__(self, model: str) -> None:
        self.model = model

    def generator(self, name: str) -> np.random.Generator:
        """NumPy's generator of one array."""
        return np.random.default_rng(zlib.crc32(f"{self.model}/{name}".encode()))

    def normal(self, name: str, *shape: int) -> np.ndarray:
        """float32, mean 0, deviation 1."""
        return self.generator(name).standard_normal(shape, dtype=np.float32)

    def integers(self, name: str, below: int, *shape: int, start: int = 0) -> np.ndarray:
        """int64 of start .. below - 1."""
        return self.generator(name).integers(start, below, shape)


@dataclass(frozen=True)
class Model:
    """A model to run.

    name: of the row, and of the file of recorded results; kind: of the architecture, or the
    library; build: makes the module; inputs: the keyword arguments of a call ("" is the first
    positional one); prompt: those of `generate()`, where there is one; training: whether it runs
    in training mode, where batch norm takes its statistics from the batch; compilations: how many
    its forward may need in `generate()`; decides: whether Python decides by numbers that tensors
    hold (how many experts were chosen, how many labels there are), so that graphs end there.
    """

    name: str
    kind: str
    package: str
    build: Callable[[], Any]
    inputs: Callable[[Draw], Arrays]
    prompt: Callable[[Draw], Arrays] | None = None
    generation: Mapping[str, Any] | None = None
    training: bool = False
    compilations: int = 3
    decides: bool = False
