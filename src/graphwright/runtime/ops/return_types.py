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


class HistogramOfPoints(NamedTuple):
    """What `histogramdd` returns: counts, and a tensor of edges for each dim."""

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


class FactorsAndPivots(NamedTuple):
    """What `linalg.lu_factor` returns: L and U in one matrix, and which rows were exchanged."""

    LU: Any
    pivots: Any


class FactorsPivotsAndInfo(NamedTuple):
    """What `linalg.lu_factor_ex` returns; info: which diagonal element of U is zero, or 0."""

    LU: Any
    pivots: Any
    info: Any


class LDLFactors(NamedTuple):
    """What `linalg.ldl_factor` returns: L and D in one matrix, and which rows were exchanged."""

    LD: Any
    pivots: Any


class LDLFactorsAndInfo(NamedTuple):
    """What `linalg.ldl_factor_ex` returns; info: which diagonal element of D is zero, or 0."""

    LD: Any
    pivots: Any
    info: Any


class PermutationLowerUpper(NamedTuple):
    """What `linalg.lu` returns: `P @ L @ U`."""

    P: Any
    L: Any
    U: Any


class FactorAndInfo(NamedTuple):
    """What `linalg.cholesky_ex` returns; info: the least minor that is not positive, or 0."""

    L: Any
    info: Any


class InverseAndInfo(NamedTuple):
    """What `linalg.inv_ex` returns; info: which diagonal element of U is zero, or 0."""

    inverse: Any
    info: Any


class ResultAndInfo(NamedTuple):
    """What `linalg.solve_ex` returns; info: which diagonal element of U is zero, or 0."""

    result: Any
    info: Any


class ReflectorsAndFactors(NamedTuple):
    """What `geqrf` returns: R above Householder vectors, and their factors."""

    a: Any
    tau: Any


class TriangularSolution(NamedTuple):
    """What `triangular_solve` returns: the solution and the coefficients."""

    solution: Any
    cloned_coefficient: Any
