"""Singular values of matrices of low rank, by random projections, and extreme eigenvalues.

Halko, Martinsson and Tropp, "Finding structure with randomness", 2009, algorithms 4.4 and 5.1;
Knyazev, "Toward the optimal preconditioned eigensolver: LOBPCG", 2001.
"""

from __future__ import annotations

from typing import Any

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.tensor import Tensor


def get_approximate_basis(A: Tensor, q: int, niter: int = 2, M: Tensor | None = None) -> Tensor:
    """Q [*, m, q] with orthonormal columns whose span is about that of A - M [*, m, n]."""
    centred = A if M is None else A - M
    R = ops.randn((centred.shape[-1], q), dtype=A.dtype, device=A.device)
    Q = ops.linalg_qr(ops.matmul(centred, R))[0]
    for _ in range(niter):
        Q = ops.linalg_qr(ops.matmul(centred.mH, Q))[0]
        Q = ops.linalg_qr(ops.matmul(centred, Q))[0]
    return Q


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Largest singular values, by a random projection: `A - M` is about `U diag(S) V^H`.

    Halko et al., "Finding structure with randomness" (2011). `manual_seed` decides the
    projection.

    Args:
        A: floating point or complex, `(*, m, n)`.
        q: the number of singular values, somewhat more than the rank; 6 if None.
        niter: the steps that sharpen the projection; 2 if None.
        M: the mean, of the shape of `A` or `(*, 1, n)`; 0 if None.

    Returns: `(U, S, V)` of shapes `(*, m, q)`, `(*, q)` and `(*, n, q)`.

    Raises:
        LinAlgError: `A` is not finite.

    Example:
        >>> U, S, V = gw.svd_lowrank(gw.ones(4, 3), q=1)
        >>> S.shape
        graphwright.Size([1])
    """
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    wide = A.shape[-2] < A.shape[-1]
    centred = A if M is None else A - M
    if wide:
        centred = centred.mH
    Q = get_approximate_basis(centred, q, niter)
    U, S, Vh = ops.linalg_svd(ops.matmul(Q.mH, centred), full_matrices=False)
    U, V = ops.matmul(Q, U), Vh.mH
    return (V, S, U) if wide else (U, S, V)


def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components of rows, by randomised singular values (Halko et al., 2011).

    Args:
        A: `(*, m, n)`, rows of n features.
        q: the number of components, at most min(m, n); 6 if None and that many are possible.
        center: subtract the mean of the rows first.
        niter: the steps that sharpen the random projection.

    Returns: `(U, S, V)` of shapes `(*, m, q)`, `(*, q)` and `(*, n, q)`; the columns of V are
    the principal directions.

    Raises:
        ValueError: `q` or `niter` is out of range.

    Example:
        >>> U, S, V = gw.pca_lowrank(gw.randn(10, 4), q=2)
        >>> V.shape
        graphwright.Size([4, 2])
    """
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if center:
        A = A - ops.mean(A, -2, keepdim=True)
    return svd_lowrank(A, q, niter)


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: Any = None,
    ortho_fparams: Any = None,
    ortho_bparams: Any = None,
) -> tuple[Tensor, Tensor]:
    """Largest or smallest eigenvalues and eigenvectors of `A x = lambda B x` (Knyazev, 2001).

    Small matrices (m < 3 n, where the iteration is not defined), and all that need gradients,
    are decomposed as a whole.

    Args:
        A: symmetric, `(*, m, m)`.
        k: how many; the columns of `X`, or 1, if None.
        B: symmetric positive definite, `(*, m, m)`; the unit matrix if None.
        X: the first approximation, `(*, m, n)`; random if None.
        n: the columns of `X` where that is not given.
        iK: a preconditioner, `(*, m, m)`.
        niter: the greatest number of steps; 1000 if None.
        tol: stop where the residual is smaller, relative to `A` and the vectors.
        largest: the largest eigenvalues (True, also if None) or the smallest.
        method, tracker, ortho_iparams, ortho_fparams, ortho_bparams: have no effect:
            PyTorch's choices of how to orthogonalise.

    Returns: `(eigenvalues, eigenvectors)` of shapes `(*, k)` and `(*, m, k)`.

    Raises:
        ValueError: `A` is not square, or `k` is out of range.

    Example:
        >>> gw.lobpcg(gw.tensor([[2.0, 0.0], [0.0, 1.0]]), k=1)[0]
        tensor([2.])
    """
    m = A.shape[-1]
    if A.ndim < 2 or A.shape[-2] != m:
        raise ValueError(f"lobpcg: A must be square matrices, got shape {list(A.shape)}")
    width = (n or k or 1) if X is None else X.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    if not 0 < k <= m:
        raise ValueError(f"lobpcg: k must be between 1 and {m}, got {k}")
    largest = True if largest is None else largest
    if m < 3 * width or A.requires_grad or (B is not None and B.requires_grad):
        return _dense(A, B, k, largest)
    if A.ndim == 2:
        return _Iteration(A, B, X, width, iK, largest, tol).run(k, niter or 1000)
    batch = A.shape[:-2]
    parts = [
        _Iteration(*given, width, iK, largest, tol).run(k, niter or 1000)
        for given in zip(_matrices(A, A), _matrices(B, A), _matrices(X, A), strict=True)
    ]
    values, vectors = (ops.stack([part[i] for part in parts]) for i in (0, 1))
    return values.reshape(*batch, k), vectors.reshape(*batch, m, k)


def _matrices(batch: Tensor | None, like: Tensor) -> list[Any]:
    """The matrices of a batch one by one, as many as `like` has; None for each without one."""
    count = 1
    for size in like.shape[:-2]:
        count *= size
    if batch is None:
        return [None] * count
    return list(batch.expand(*like.shape[:-2], *batch.shape[-2:]).reshape(-1, *batch.shape[-2:]))


def _dense(A: Tensor, B: Tensor | None, k: int, largest: bool) -> tuple[Tensor, Tensor]:
    """By the whole decomposition, of L^-1 A L^-H where B = L L^H."""
    if B is not None:
        L = ops.linalg_cholesky(B)
        inner = ops.linalg_solve_triangular(L, A, upper=False)
        A = ops.linalg_solve_triangular(L, inner.mH, upper=False).mH
    values, vectors = ops.linalg_eigh(A)
    if B is not None:
        vectors = ops.linalg_solve_triangular(L.mH, vectors, upper=True)
    if largest:
        values, vectors = ops.flip(values, (-1,)), ops.flip(vectors, (-1,))
    return values[..., :k], vectors[..., :k]


class _Iteration:
    """LOBPCG for one matrix: the best of span(X, residuals, last directions), again and again."""

    def __init__(
        self,
        A: Tensor,
        B: Tensor | None,
        X: Tensor | None,
        width: int,
        iK: Tensor | None,
        largest: bool,
        tol: float | None,
    ) -> None:
        self.A, self.B, self.iK, self.largest = A, B, iK, largest
        start = ops.randn((A.shape[-1], width), dtype=A.dtype, device=A.device)
        self.X = start if X is None else X
        # PyTorch's own: the square root of the dtype's precision.
        self.tol = _precision(A) ** 0.5 if tol is None else tol

    def run(self, k: int, niter: int) -> tuple[Tensor, Tensor]:
        """The first k values and vectors once their residuals are small enough."""
        values, X = self._best(self.X)
        width, P = X.shape[-1], None
        scale = float(ops.linalg_norm(self.A))
        for _ in range(niter):
            R = ops.matmul(self.A, X) - self._weighted(X) * values
            if bool((ops.linalg_norm(R[:, :k], dim=0) <= self.tol * scale).all()):
                break
            W = R if self.iK is None else ops.matmul(self.iK, R)
            basis = [X, W] if P is None else [X, W, P]
            values, new = self._best(ops.cat(basis, 1), width)
            P, X = new - ops.matmul(X, ops.matmul(X.mH, self._weighted(new))), new
        return values[:k], X[:, :k]

    def _weighted(self, X: Tensor) -> Tensor:
        return X if self.B is None else ops.matmul(self.B, X)

    def _best(self, S: Tensor, width: int | None = None) -> tuple[Tensor, Tensor]:
        """Rayleigh and Ritz: the extreme eigenpairs of A on the span of S."""
        S = S / ops.linalg_norm(S, dim=0).clamp_min(_precision(S))
        gram = ops.matmul(S.mH, self._weighted(S))
        sizes, turn = ops.linalg_eigh(gram)
        kept = sizes > sizes[-1] * _precision(S) * 10 * len(sizes)
        Q = ops.matmul(S, turn[:, kept] / ops.sqrt(sizes[kept]))
        values, vectors = ops.linalg_eigh(ops.matmul(Q.mH, ops.matmul(self.A, Q)))
        if self.largest:
            values, vectors = ops.flip(values, (-1,)), ops.flip(vectors, (-1,))
        return values[:width], ops.matmul(Q, vectors[:, :width])


def _precision(tensor: Tensor) -> float:
    return finfo(tensor.dtype).eps
