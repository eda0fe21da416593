"""`SobolEngine`: points that fill the unit cube evenly, after `torch.quasirandom`.

Joe and Kuo (2008), Constructing Sobol sequences with better two-dimensional projections, whose
direction numbers are read from SciPy. Scrambled by random lower triangular matrices of bits and a
random shift: Matousek (1998), On the L2-discrepancy for anchored boxes.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.from_data import from_numpy
from graphwright.runtime.tensor.generator import Generator
from graphwright.runtime.tensor.tensor import Tensor

__all__ = ["SobolEngine"]


class SobolEngine:
    """A Sobol sequence, of which each draw gives the next points.

    Args:
        dimension: of the points, 1 to 21201.
        scramble: whether the sequence is randomised; its points stay as even.
        seed: of that; None: from the default generator. Scrambled points differ from PyTorch's.

    Raises:
        ValueError: another dimension.
        ImportError: SciPy, which has the direction numbers, is not installed.
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]"
            )
        try:
            sequences = import_module("scipy.stats.qmc")
        except ImportError:
            raise ImportError(
                "SobolEngine: the direction numbers of Sobol sequences are SciPy's, which is not "
                "installed: pip install scipy"
            ) from None
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self.num_generated = 0
        self._sequence = sequences.Sobol(dimension, scramble=False, bits=self.MAXBIT)
        if scramble:
            self._randomise()

    def _randomise(self) -> None:
        generator = None if self.seed is None else Generator().manual_seed(self.seed)
        bits = self.MAXBIT
        matrix = ops.randint(0, 2, (self.dimension, bits, bits), generator=generator).numpy()
        self._matrix = np.tril(matrix, -1) + np.eye(bits, dtype=np.int64)
        self._shift = ops.randint(0, 2, (self.dimension, bits), generator=generator).numpy()

    def draw(
        self, n: int = 1, out: Tensor | None = None, dtype: dtypes.dtype | None = None
    ) -> Tensor:
        """The next `n` points, (n, dimension), in [0, 1).

        Of `dtype`, by default the default dtype; written to `out` where that is given.
        """
        first = 1 if self.num_generated == 0 < n else 0  # alone: SciPy warns of other first draws
        parts = [self._sequence.random(count) for count in (first, n - first)]
        points = np.concatenate(parts)
        self.num_generated += n
        if self.scramble:
            places = np.arange(self.MAXBIT - 1, -1, -1)
            whole = (points * 2**self.MAXBIT).astype(np.int64)
            digits = (whole[..., None] >> places) & 1
            mixed = np.einsum("dkj,ndj->ndk", self._matrix, digits) + self._shift
            points = ((mixed & 1) << places).sum(-1) / 2.0**self.MAXBIT
        found = from_numpy(points).to(dtype or dtypes.get_default_dtype())
        if out is None:
            return found
        return out.resize_(found.shape).copy_(found)

    def draw_base2(
        self, m: int, out: Tensor | None = None, dtype: dtypes.dtype | None = None
    ) -> Tensor:
        """The next 2 ** m points. Raises ValueError unless there are a power of 2 in all then."""
        total = self.num_generated + 2**m
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead."
            )
        return self.draw(2**m, out, dtype)

    def reset(self) -> SobolEngine:
        """Begin again."""
        self._sequence.reset()
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out the next `n` points."""
        self._sequence.fast_forward(n)
        self.num_generated += n
        return self

    def __repr__(self) -> str:
        parts = [f"dimension={self.dimension}"]
        if self.scramble:
            parts.append("scramble=True")
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return f"SobolEngine({', '.join(parts)})"
