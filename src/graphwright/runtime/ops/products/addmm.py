"""Matrix products with a term added: beta * input + alpha * product."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.creation.fill import calculated, check_held
from graphwright.runtime.ops.dtype_rules import is_inexact
from graphwright.runtime.ops.products.vectors import outer_product, require_ndim
from graphwright.runtime.ops.strides import broadcast_shapes
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.promotion import promote_types


def _scaled(name: str, value: Any, by: Any, like: Any) -> Any:
    """value * by; integers take whole numbers only, cut as PyTorch does."""
    check_held(name, calculated(like.dtype), by)
    if not is_inexact(like.dtype):
        by = bool(by) if like.dtype is dtypes.bool else int(by)
    return value if by == 1 else ops.mul(value, by)


def _plus(name: str, input: Any, result: Any, beta: Any, alpha: Any) -> Any:
    """beta * input + alpha * result, in the shape of the result; input unread for beta 0."""
    if input.dtype is not result.dtype:
        raise RuntimeError(
            f"{name}: expected input and the matrices to have the same dtype, "
            f"got {describe(input)} and {describe(result)}"
        )
    if broadcast_shapes(name, (input.shape, result.shape)) != result.shape:
        raise RuntimeError(
            f"{name}: input {describe(input)} cannot be expanded to the result "
            f"{describe(result)}"
        )
    result = _scaled(name, result, alpha, result)
    return result if beta == 0 else ops.add(result, _scaled(name, input, beta, result))


def _addmm(input: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    return _plus("addmm", input, ops.mm(mat1, mat2), beta, alpha)


def _addmv(input: Any, mat: Any, vec: Any, beta: Any, alpha: Any) -> Any:
    require_ndim("addmv", (mat, vec), (2, 1))
    check_held("addmv", input.dtype, beta, alpha)
    return _plus("addmv", input, ops.mv(mat, vec), beta, alpha)


def _addr(input: Any, vec1: Any, vec2: Any, beta: Any, alpha: Any) -> Any:
    require_ndim("addr", (vec1, vec2), (1, 1))
    common = promote_types(input.dtype, promote_types(vec1.dtype, vec2.dtype))
    for number in (beta, alpha):
        if isinstance(number, float) and not is_inexact(common):
            raise RuntimeError(
                f"addr: for {describe(input)}, beta and alpha must not be floating point numbers, "
                f"got {beta} and {alpha}"
            )
    check_held("addr", common, beta, alpha)
    result = outer_product(vec1, vec2)
    if input.dtype is not result.dtype:
        input, result = ops.to_dtype(input, common), ops.to_dtype(result, common)
    return _plus("addr", input, result, beta, alpha)


def _baddbmm(input: Any, batch1: Any, batch2: Any, beta: Any, alpha: Any) -> Any:
    return _plus("baddbmm", input, ops.bmm(batch1, batch2), beta, alpha)


def _addbmm(input: Any, batch1: Any, batch2: Any, beta: Any, alpha: Any) -> Any:
    """The sum over the batch as one product of long rows with long columns."""
    require_ndim("addbmm", (batch1, batch2), (3, 3))
    b, n, k = batch1.shape
    if batch2.shape[0] != b or batch2.shape[1] != k:
        raise RuntimeError(
            f"addbmm: {describe(batch1)} and {describe(batch2)} cannot be multiplied"
        )
    rows = ops.reshape(ops.transpose(batch1, 0, 1), (n, b * k))
    total = ops.mm(rows, ops.reshape(batch2, (b * k, batch2.shape[2])))
    return _plus("addbmm", input, total, beta, alpha)


def _define(name: str, factors: str, rule: Any, doc: str) -> None:
    parameters = f"(Tensor input, {factors}, *, Scalar beta=1, Scalar alpha=1)"
    define(name + parameters, Kind.COMPOSITE, decompose=rule, doc=doc)
    define(f"{name}_{parameters}", Kind.INPLACE, functional=name, public=False)


_define(
    "addmm",
    "Tensor mat1, Tensor mat2",
    _addmm,
    doc="""Product of matrices with a term added: `beta * input + alpha * (mat1 @ mat2)`.

    Args:
        input: the term, broadcast to `(n, m)`; not read if `beta` is 0.
        mat1: `(n, k)`, of the dtype of `input`.
        mat2: `(k, m)`, of the dtype of `input`.
        beta: factor of the term; cut to an int for integers.
        alpha: factor of the product; cut to an int for integers.

    Returns: a tensor of shape `(n, m)`.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> gw.addmm(gw.ones(2), gw.eye(2), gw.eye(2), alpha=3)
        tensor([[4., 1.],
                [1., 4.]])
    """,
)
_define(
    "addmv",
    "Tensor mat, Tensor vec",
    _addmv,
    doc="""Matrix times vector with a term added: `beta * input + alpha * (mat @ vec)`.

    Args:
        input: the term, broadcast to `(n,)`; not read if `beta` is 0.
        mat: `(n, k)`, of the dtype of `input`.
        vec: `(k,)`, of the dtype of `input`.
        beta: factor of the term; cut to an int for integers.
        alpha: factor of the product; cut to an int for integers.

    Returns: a tensor of shape `(n,)`.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> gw.addmv(gw.ones(2), gw.eye(2), gw.ones(2))
        tensor([2., 2.])
    """,
)
_define(
    "addr",
    "Tensor vec1, Tensor vec2",
    _addr,
    doc="""Outer product with a term added: `beta * input + alpha * outer(vec1, vec2)`.

    Args:
        input: the term, broadcast to `(n, m)`; not read if `beta` is 0. Dtypes are promoted.
        vec1: `(n,)`.
        vec2: `(m,)`.
        beta: factor of the term; an int for integers.
        alpha: factor of the product; an int for integers.

    Returns: a tensor of shape `(n, m)`.

    Raises:
        RuntimeError: shapes do not match, or a factor is float for integers.

    Example:
        >>> gw.addr(gw.zeros(2, 2), gw.tensor([1.0, 2.0]), gw.tensor([3.0, 4.0]))
        tensor([[3., 4.],
                [6., 8.]])
    """,
)
_define(
    "baddbmm",
    "Tensor batch1, Tensor batch2",
    _baddbmm,
    doc="""Products of a batch with a term added: `beta * input + alpha * bmm(batch1, batch2)`.

    Args:
        input: the term, broadcast to `(b, n, m)`; not read if `beta` is 0.
        batch1: `(b, n, k)`, of the dtype of `input`.
        batch2: `(b, k, m)`, of the dtype of `input`.
        beta: factor of the term; cut to an int for integers.
        alpha: factor of the products; cut to an int for integers.

    Returns: a tensor of shape `(b, n, m)`.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> gw.baddbmm(gw.zeros(1), gw.ones(5, 2, 3), gw.ones(5, 3, 4)).shape
        graphwright.Size([5, 2, 4])
    """,
)
_define(
    "addbmm",
    "Tensor batch1, Tensor batch2",
    _addbmm,
    doc="""Summed products and a term: `beta * input + alpha * sum(bmm(batch1, batch2), 0)`.

    Args:
        input: the term, broadcast to `(n, m)`; not read if `beta` is 0.
        batch1: `(b, n, k)`, of the dtype of `input`.
        batch2: `(b, k, m)`, of the dtype of `input`.
        beta: factor of the term; cut to an int for integers.
        alpha: factor of the sum; cut to an int for integers.

    Returns: a tensor of shape `(n, m)`.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> gw.addbmm(gw.zeros(1, 1), gw.ones(5, 2, 3), gw.ones(5, 3, 1))
        tensor([[15.],
                [15.]])
    """,
)
