"""The named tuples that ops with several results return, with PyTorch's field names."""

from __future__ import annotations

from typing import Any, NamedTuple


class ValuesAndIndices(NamedTuple):
    """What `max(dim)`, `sort`, `topk`, `median(dim)`, `mode`, `cummax` and others return."""

    values: Any
    indices: Any


class MinAndMax(NamedTuple):
    """What `aminmax` returns."""

    min: Any
    max: Any


class Histogram(NamedTuple):
    """What `histogram` returns."""

    hist: Any
    bin_edges: Any


class SignAndLogDeterminant(NamedTuple):
    """What `linalg.slogdet` returns."""

    sign: Any
    logabsdet: Any


class QAndR(NamedTuple):
    """What `linalg.qr` returns."""

    Q: Any
    R: Any


class SingularValues(NamedTuple):
    """What `linalg.svd` returns: `U @ diag(S) @ Vh`."""

    U: Any
    S: Any
    Vh: Any


class SingularVectors(NamedTuple):
    """What `svd` returns: `U @ diag(S) @ V^H`."""

    U: Any
    S: Any
    V: Any


class Eigenvalues(NamedTuple):
    """What `linalg.eigh` returns."""

    eigenvalues: Any
    eigenvectors: Any


class LeastSquares(NamedTuple):
    """What `linalg.lstsq` returns."""

    solution: Any
    residuals: Any
    rank: Any
    singular_values: Any
