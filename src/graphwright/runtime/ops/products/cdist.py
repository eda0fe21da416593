"""`cdist`: distances between all pairs of rows of two batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.dtype_rules import contiguous_spec
from graphwright.runtime.ops.kernels import Array, wrap
from graphwright.runtime.ops.strides import broadcast_shapes
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.symbolic.symint import hint_of
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

_MODES = (
    None,
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)
_BLOCK = 1 << 22
"""Differences that are held at a time."""
_LONG = 8
"""Columns from which on sums of squares are work that a product saves."""
_MANY, _PER_ELEMENT = 1 << 18, 20
"""What a product costs besides, in differences: as such, and for an element of its operands."""


def _check(x1: Any, x2: Any, p: float, mode: Any) -> tuple[Any, ...]:
    """The shape of the result."""
    for name, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise RuntimeError(
                f"cdist only supports at least 2D tensors, {name} got: {describe(x)}"
            )
        if x.dtype not in (dtypes.float32, dtypes.float64):
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {describe(x)}"
            )
    if x1.dtype is not x2.dtype:
        raise RuntimeError(
            f"cdist: expected tensors of one dtype, got {describe(x1)} and {describe(x2)}"
        )
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            "X1 and X2 must have the same number of columns. "
            f"X1: {describe(x1)} X2: {describe(x2)}"
        )
    if not p >= 0:
        raise RuntimeError(f"cdist only supports non-negative p values, got {p}")
    if mode not in _MODES:
        raise ValueError(f"{mode} is not a valid value for compute_mode")
    batch = broadcast_shapes("cdist", (x1.shape[:-2], x2.shape[:-2]))
    return (*batch, x1.shape[-2], x2.shape[-2])


def _norms(differences: Array, p: float) -> Array:
    size = np.abs(differences)
    if p == 0:
        return np.asarray((size != 0).sum(-1, dtype=size.dtype))
    if p == 1:
        return np.asarray(size.sum(-1))
    if p == 2:
        return np.asarray(np.sqrt(np.square(size).sum(-1)))
    if p == float("inf"):
        return np.asarray(size.max(-1, initial=0))
    return np.asarray((size**p).sum(-1) ** (1.0 / p))


def _by_products(a: Array, b: Array, out: Array) -> bool:
    """Euclidean distances through one matrix product, centred so that little cancels.

    |a - b|^2 is (-2 a, |a|^2, 1) @ (b, 1, |b|^2). False, with nothing written, where a square is
    not finite: its products would spoil the distances of other rows.
    """
    middle = a.mean((-2, -1), keepdims=True) if a.size else 0
    a, b = a - middle, b - middle
    one = np.ones((1,), a.dtype)
    squares = [np.square(x).sum(-1, keepdims=True) for x in (a, b)]
    if not all(np.isfinite(x).all() for x in squares):
        return False
    ones = [np.broadcast_to(one, x.shape) for x in squares]
    left = np.concatenate((a * -2, squares[0], ones[0]), -1)
    right = np.concatenate((b, ones[1], squares[1]), -1).swapaxes(-1, -2)
    if out.ndim == 2 and out.dtype.kind == "f" and out.itemsize in (4, 8):
        _core.gemm(left, right, out)
    else:
        np.matmul(left, right, out)
    np.maximum(out, 0, out=out)
    np.sqrt(out, out=out)
    return True


def _by_differences(a: Array, b: Array, p: float, out: Array) -> None:
    """Distances of any order, from so many differences at a time as fit into a block.

    In float64 where powers of float32 are beyond its range, as compiled code has them.
    """
    rows = out.shape[-2]
    per_row = max(out.size // max(rows, 1) * max(a.shape[-1], 1), 1)
    step = max(_BLOCK // per_row, 1)
    for at in range(0, rows, step):
        some = a[..., at : at + step, None, :] - b[..., None, :, :]
        norms = _norms(some, p)
        if not np.isfinite(norms).all():
            norms = _norms(some.astype(np.float64), p)
        out[..., at : at + step, :] = norms


def _wants_product(rows: int, columns: int, p: float, mode: Any) -> bool:
    many = max(rows, columns) > 25
    return p == 2 and (mode == _MODES[2] or (mode in _MODES[:2] and many))


def pays_whole(x1: Any, x2: Any, p: float, mode: Any) -> bool:
    """Whether the kernel's matrix product takes less time than loops over all differences.

    The product's time goes with the pairs, that of its operands with the elements of both.
    """
    rows, columns, size = (hint_of(n) for n in (x1.shape[-2], x2.shape[-2], x1.shape[-1]))
    if size < _LONG or not _wants_product(rows, columns, p, mode):
        return False
    return rows * columns * size > _MANY + _PER_ELEMENT * (rows + columns) * size


def _eager(x1: Any, x2: Any, p: float, mode: Any) -> Tensor:
    shape = _check(x1, x2, p, mode)
    dtype, a, b = x1.dtype, x1._nd, x2._nd
    out = np.empty(shape, dtype.numpy)
    if not (_wants_product(shape[-2], shape[-1], p, mode) and _by_products(a, b, out)):
        _by_differences(a, b, p, out)
    return wrap(out, dtype)


def _decomposed(x1: Any, x2: Any, p: float, mode: Any) -> Any:
    _check(x1, x2, p, mode)
    differences = ops.sub(ops.unsqueeze(x1, -2), ops.unsqueeze(x2, -3))
    if p == float("inf") and differences.shape[-1] == 0:
        p = 2.0
    return ops.p_norm(differences, p, (differences.ndim - 1,))


def _vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    x1, x2, p = ctx.x1, ctx.x2, ctx.p
    if p != 2:
        return _general_vjp(ctx, grad)
    weights = ops.where(ops.eq(ctx.out, 0), 0.0, ops.div(grad, ctx.out))
    first = second = None
    if ctx.needs["x1"]:
        total = ops.sum(weights, (-1,), True)
        first = ops.sub(ops.mul(x1, total), ops.matmul(weights, x2))
        first = ops.sum_to_size(first, x1.shape)
    if ctx.needs["x2"]:
        turned = ops.transpose(weights, -2, -1)
        total = ops.sum(turned, (-1,), True)
        second = ops.sub(ops.mul(x2, total), ops.matmul(turned, x1))
        second = ops.sum_to_size(second, x2.shape)
    return first, second


def _general_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    """Through all differences: d|d|_p = sign(d) |d|^(p-1) |d|_p^(1-p)."""
    x1, x2, p = ctx.x1, ctx.x2, ctx.p
    differences = ops.sub(ops.unsqueeze(x1, -2), ops.unsqueeze(x2, -3))
    norm, grad = ops.unsqueeze(ctx.out, -1), ops.unsqueeze(grad, -1)
    size, sign = ops.abs(differences), ops.sign(differences)
    if p == 0:
        slopes = ops.mul(differences, 0.0)
    elif p == 1:
        slopes = ops.mul(sign, grad)
    elif p == float("inf"):
        slopes = ops.mul(ops.mul(sign, ops.to_dtype(ops.eq(size, norm), x1.dtype)), grad)
    else:
        powers = ops.where(ops.eq(size, 0), 0.0, ops.pow(size, p - 1.0))
        outer = ops.where(ops.eq(norm, 0), 0.0, ops.pow(norm, 1.0 - p))
        slopes = ops.mul(ops.mul(sign, powers), ops.mul(outer, grad))
    first = ops.sum_to_size(ops.sum(slopes, (slopes.ndim - 2,)), x1.shape)
    second = ops.sum_to_size(ops.neg(ops.sum(slopes, (slopes.ndim - 3,))), x2.shape)
    return first, second


define(
    "pair_distances(Tensor x1, Tensor x2, float p, str? compute_mode)",
    Kind.CONTRACTION,
    meta=lambda x1, x2, p, mode: contiguous_spec(x1, _check(x1, x2, p, mode)),
    vjp=_vjp,
    saves=("x1", "x2", "out"),
    decompose=_decomposed,
    eager=_eager,
    method=False,
    public=False,
)


def _cdist(x1: Any, x2: Any, p: Any, compute_mode: Any) -> Any:
    if isinstance(p, str):
        raise TypeError("cdist(): argument 'p' must be float, not str")
    return ops.pair_distances(x1, x2, float(p), compute_mode)


define(
    "cdist(Tensor x1, Tensor x2, float p=2.0, str? compute_mode=None)",
    Kind.COMPOSITE,
    decompose=_cdist,
    method=False,
    doc="""Distances between all pairs of rows of two batches: `out[i, j] = ||x1[i] - x2[j]||_p`.

    Args:
        x1: float32 or float64, `(*, n, k)`.
        x2: of the dtype of `x1`, `(*, m, k)`; the batch dims are broadcast.
        p: order of the norm, from 0 (the number of elements that differ) to inf.
        compute_mode: whether 2-norms may come from a matrix product, which rounds differently:
            "use_mm_for_euclid_dist_if_necessary" (with more than 25 rows; also if None),
            "use_mm_for_euclid_dist" or "donot_use_mm_for_euclid_dist".

    Returns: a tensor of shape `(*, n, m)`.

    Raises:
        RuntimeError: shapes or dtypes do not match, or `p` is negative.
        ValueError: `compute_mode` is unknown.

    Example:
        >>> gw.cdist(gw.tensor([[0.0, 0.0]]), gw.tensor([[3.0, 4.0], [0.0, 1.0]]))
        tensor([[5., 1.]])
    """,
)
