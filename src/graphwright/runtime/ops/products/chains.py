"""Products of chains of matrices, in the cheapest order, and powers of one matrix."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.products.vectors import require_one_dtype, require_tensors
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import dtypes


@lru_cache(maxsize=256)
def _best_splits(sizes: tuple[int, ...]) -> dict[tuple[int, int], int]:
    """Where to split each run of matrices (Cormen et al., matrix-chain multiplication)."""
    count = len(sizes) - 1
    cost: dict[tuple[int, int], Any] = {(i, i): 0 for i in range(count)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            options = [
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            ]
            cost[i, j], split[i, j] = min(options)
    return split


def _chain(matrices: list[Any]) -> Any:
    heights = [int(m.shape[0]) for m in matrices]
    split = _best_splits((*heights, int(matrices[-1].shape[1])))

    def run(i: int, j: int) -> Any:
        if i == j:
            return matrices[i]
        k = split[i, j]
        return ops.mm(run(i, k), run(k + 1, j))

    return run(0, len(matrices) - 1)


def _multi_dot(tensors: tuple[Any, ...]) -> Any:
    if len(tensors) < 2:
        raise RuntimeError(
            f"multi_dot(): expected at least 2 tensors but got {len(tensors)}"
        )
    require_one_dtype("multi_dot", *tensors)
    chain = list(tensors)
    if any(t.ndim != 2 for t in chain[1:-1]) or any(t.ndim not in (1, 2) for t in chain):
        raise RuntimeError(
            "multi_dot(): the first and last tensors must be 1D or 2D, all others 2D, "
            f"got {', '.join(map(describe, tensors))}"
        )
    first, last = chain[0].ndim == 1, chain[-1].ndim == 1
    if first:
        chain[0] = ops.unsqueeze(chain[0], 0)
    if last:
        chain[-1] = ops.unsqueeze(chain[-1], 1)
    for a, b in pairwise(chain):
        if a.shape[1] != b.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {describe(a)} and {describe(b)} cannot be multiplied"
            )
    result = _chain(chain)
    if last:
        result = ops.squeeze(result, 1)
    return ops.squeeze(result, 0) if first else result


define(
    "linalg_multi_dot(Tensor[] tensors)",
    Kind.COMPOSITE,
    decompose=_multi_dot,
    method=False,
    public=False,
    doc="""Product of a chain of matrices, in the order that takes the fewest multiplications.

    The order is found by dynamic programming (Cormen et al., matrix-chain multiplication).

    Args:
        tensors: two or more matrices of one dtype; the first and the last may be vectors.

    Returns: the product; a vector at an end leaves its dim out.

    Raises:
        RuntimeError: there are less than 2 tensors, or shapes or dtypes do not match.

    Example:
        >>> gw.linalg.multi_dot([gw.ones(2, 3), gw.ones(3, 4), gw.ones(4)])
        tensor([12., 12.])
    """,
)


def _chain_matmul(matrices: tuple[Any, ...]) -> Any:
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    require_tensors("chain_matmul", matrices)
    for matrix in matrices:
        if matrix.ndim != 2:
            raise RuntimeError(f"chain_matmul(): expected matrices, got {describe(matrix)}")
    return matrices[0] if len(matrices) == 1 else _multi_dot(matrices)


define(
    "chain_matmul(object* matrices)",
    Kind.COMPOSITE,
    decompose=_chain_matmul,
    method=False,
    doc="""Product of a chain of matrices: `linalg.multi_dot` of matrices given one by one.

    Args:
        matrices: one or more tensors of 2 dims and one dtype.

    Returns: the product.

    Raises:
        RuntimeError: there is none, one is no matrix, or shapes or dtypes do not match.
        TypeError: an argument is no tensor.

    Example:
        >>> gw.chain_matmul(gw.ones(2, 3), gw.ones(3, 4), gw.ones(4, 1)).shape
        graphwright.Size([2, 1])
    """,
)


def _matrix_power(input: Any, n: int) -> Any:
    if input.ndim < 2 or input.shape[-1] != input.shape[-2]:
        raise RuntimeError(
            f"linalg.matrix_power: A must be batches of square matrices, got {describe(input)}"
        )
    if n == 0:
        unit = ops.eye(input.shape[-1], dtype=input.dtype, device=input.device)
        never = ops.zeros((), dtype=dtypes.bool, device=input.device)
        return ops.where(never, input, unit)
    if n < 0:
        input, n = ops.linalg_inv(input), -n
    result = None
    while True:
        if n & 1:
            result = input if result is None else ops.matmul(result, input)
        n >>= 1
        if not n:
            return ops.clone(result) if result is input else result
        input = ops.matmul(input, input)


define(
    "matrix_power(Tensor input, int n)",
    Kind.COMPOSITE,
    decompose=_matrix_power,
    doc="""Square matrices multiplied n times by themselves, by repeated squaring.

    Args:
        input: `(*, k, k)`.
        n: the power; 0 gives the unit matrix, a negative one the power of the inverse.

    Returns: a tensor of the shape of `input`.

    Raises:
        LinAlgError: `n` is negative and a matrix is singular.
        RuntimeError: the matrices are not square, or hold integers while `n` is negative.

    Example:
        >>> gw.matrix_power(gw.tensor([[1, 1], [0, 1]]), 5)
        tensor([[1, 5],
                [0, 1]])
    """,
)
