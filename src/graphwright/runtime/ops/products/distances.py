"""Distances between rows: pairwise_distance, cosine_similarity, pdist."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.dtype_rules import require_dtype
from graphwright.runtime.ops.nn_support import cast
from graphwright.runtime.ops.strides import broadcast_shapes
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor.dtypes import float64, int64


def _pairwise_distance(x1: Any, x2: Any, p: float, eps: float, keepdim: bool) -> Any:
    """||x1 - x2 + eps||_p along the last dimension."""
    difference = ops.add(ops.sub(x1, x2), eps * 1.0)
    return ops.norm(difference, p, max(difference.ndim - 1, 0), keepdim)


def _cosine_similarity(x1: Any, x2: Any, dim: int, eps: float) -> Any:
    """The dot product along `dim` of both vectors divided by their length, at least eps."""
    shape = broadcast_shapes("cosine_similarity", (x1.shape, x2.shape))
    probe = ops.add(x1, x2).dtype if x1.dtype is not x2.dtype else x1.dtype
    if not probe.is_floating_point:
        raise RuntimeError(
            "expected common dtype to be floating point, yet common dtype is "
            f"{probe.name} for {describe(x1)} and {describe(x2)}"
        )
    if not eps >= 0:
        raise RuntimeError(f"cosine_similarity: eps must be non-negative, got: {eps}")
    at = wrap_dim(dim, len(shape))
    units = []
    for x in (x1, x2):
        wide = ops.expand(cast(x, probe), shape)
        units.append(ops.div(wide, ops.clamp_min(ops.norm(wide, 2, at, True), eps)))
    return ops.sum(ops.mul(*units), at)


def _pairs(count: Any, device: Any) -> tuple[Any, Any]:
    """Rows (i, j), i < j, of all pairs in order: the inverse of k = i*n - i*(i+1)/2 + j-i-1."""
    total = count * (count - 1) // 2
    k = ops.arange(0, total, 1, dtype=float64, device=device)
    root = ops.sqrt(ops.sub(4.0 * count * (count - 1) - 7.0, ops.mul(k, 8.0)))
    i = ops.sub(count - 2.0, ops.floor(ops.sub(ops.div(root, 2.0), 0.5)))
    rest = ops.sub(float(count), i)
    j = ops.add(ops.add(k, i), 1.0 - total)
    j = ops.add(j, ops.div(ops.mul(rest, ops.sub(rest, 1.0)), 2.0))
    return ops.to_dtype(i, int64), ops.to_dtype(j, int64)


def _pdist(input: Any, p: float) -> Any:
    """The distances of all pairs of rows of [N, M]: [N * (N - 1) / 2]."""
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if not input.dtype.is_floating_point:
        raise RuntimeError(f"pdist only supports floating-point dtypes, got {describe(input)}")
    require_dtype("pdist", input.dtype, halves=False)
    if not p >= 0:
        raise RuntimeError("pdist only supports non-negative p values")
    i, j = _pairs(input.shape[0], input.device)
    difference = ops.sub(ops.index_select(input, 0, i), ops.index_select(input, 0, j))
    return ops.norm(difference, p, 1)


define(
    "pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False)",
    Kind.COMPOSITE,
    decompose=_pairwise_distance,
    method=False,
    doc="""Distances between the vectors of two tensors, one by one: `||x1 - x2 + eps||_p`.

    Args:
        x1: `(*, k)`.
        x2: `(*, k)`; shapes are broadcast, dtypes promoted.
        p: order of the norm along the last dim.
        eps: added to each difference.
        keepdim: keep the last dim with size 1.

    Returns: a tensor of the broadcast shape without its last dim.

    Raises:
        RuntimeError: the shapes are not broadcastable.

    Example:
        >>> gw.pairwise_distance(gw.zeros(2), gw.tensor([3.0, 4.0]), eps=0.0)
        tensor(5.)
    """,
)
define(
    "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08)",
    Kind.COMPOSITE,
    decompose=_cosine_similarity,
    method=False,
    doc="""Cosine of the angle between vectors: `x1 . x2 / (max(||x1||, eps) * max(||x2||, eps))`.

    Args:
        x1: floating point.
        x2: floating point; shapes are broadcast, dtypes promoted.
        dim: the dim of the vectors in the broadcast shape.
        eps: least length that is divided by.

    Returns: a tensor of the broadcast shape without `dim`.

    Raises:
        IndexError: there is no such dim.
        RuntimeError: the common dtype is not floating point, or `eps` is negative.

    Example:
        >>> gw.cosine_similarity(gw.tensor([[1.0, 0.0]]), gw.tensor([[0.0, 2.0], [3.0, 0.0]]))
        tensor([0., 1.])
    """,
)
define(
    "pdist(Tensor input, float p=2.0)",
    Kind.COMPOSITE,
    decompose=_pdist,
    method=False,
    doc="""Distances between all pairs of rows: `||input[i] - input[j]||_p` for i < j.

    Args:
        input: float32 or float64, `(n, k)`.
        p: order of the norm, not negative.

    Returns: a tensor of shape `(n * (n - 1) / 2,)`, in the order (0, 1), (0, 2), ..., (1, 2),
    ...

    Raises:
        RuntimeError: `input` has not 2 dims, is not floating point, or `p` is negative.

    Example:
        >>> gw.pdist(gw.tensor([[0.0], [1.0], [3.0]]))
        tensor([1., 3., 2.])
    """,
)
