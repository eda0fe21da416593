"""Products made of mm and bmm: of vectors, with a term added, along named dims, of chains."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.creation.fill import calculated, check_held
from graphwright.runtime.ops.dtype_rules import is_inexact, require_inexact
from graphwright.runtime.ops.kernels import wrap
from graphwright.runtime.ops.products.contractions import GEMM_TYPES, conjugated
from graphwright.runtime.ops.strides import broadcast_shapes, product
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.promotion import promote_types
from graphwright.runtime.tensor.tensor import Tensor


def _requires_ndim(name: str, tensors: tuple[Any, ...], ndims: tuple[int, ...]) -> None:
    if tuple(len(t.shape) for t in tensors) != ndims:
        raise RuntimeError(
            f"{name}: expected tensors with {', '.join(map(str, ndims))} dimensions, "
            f"got {', '.join(map(describe, tensors))}"
        )


def require_tensors(name: str, values: Sequence[Any]) -> None:
    """Raise TypeError unless all values are tensors."""
    for position, value in enumerate(values):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name}(): expected Tensor as element {position}, but got {type(value).__name__}"
            )


def _requires_dtype(name: str, *tensors: Any) -> None:
    if any(t.dtype is not tensors[0].dtype for t in tensors):
        raise RuntimeError(
            f"{name}: expected tensors of the same dtype, "
            f"got {', '.join(map(describe, tensors))}"
        )


# -- vectors


def _mv(input: Any, vec: Any) -> Any:
    _requires_ndim("mv", (input, vec), (2, 1))
    return ops.squeeze(ops.mm(input, ops.unsqueeze(vec, 1)), 1)


def _mv_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    return (
        ops.outer(grad, conjugated(ctx.vec)) if ctx.needs["input"] else None,
        ops.mv(ops.transpose(conjugated(ctx.input), 0, 1), grad) if ctx.needs["vec"] else None,
    )


def _dot(input: Any, other: Any) -> Any:
    _requires_ndim("dot", (input, other), (1, 1))
    _requires_dtype("dot", input, other)
    if input.shape[0] != other.shape[0]:
        raise RuntimeError(
            "dot: inconsistent tensor size, expected the same number of elements, "
            f"got {describe(input)} and {describe(other)}"
        )
    return ops.reshape(ops.mm(ops.unsqueeze(input, 0), ops.unsqueeze(other, 1)), ())


def _dot_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    return (
        ops.mul(grad, conjugated(ctx.tensor)) if ctx.needs["input"] else None,
        ops.mul(grad, conjugated(ctx.input)) if ctx.needs["tensor"] else None,
    )


def _dot_eager(input: Any, other: Any) -> Any:
    dtype = input.dtype
    if dtype is not other.dtype or dtype not in GEMM_TYPES or input.ndim != 1:
        return _dot(input, other)
    if input.shape != other.shape:
        return _dot(input, other)
    return wrap(np.dot(input._nd, other._nd), dtype)


def _outer(input: Any, vec2: Any) -> Any:
    _requires_ndim("outer", (input, vec2), (1, 1))
    return ops.mul(ops.unsqueeze(input, 1), vec2)


def _inner(input: Any, other: Any) -> Any:
    if not input.shape or not other.shape:
        return ops.mul(input, other)
    _requires_dtype("inner", input, other)
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner(): the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    return _tensordot(input, other, ([input.ndim - 1], [other.ndim - 1]))


def _vecdot(x: Any, y: Any, dim: Any) -> Any:
    at = wrap_dim(dim, max(x.ndim, y.ndim))
    require_inexact("linalg.vecdot", x)
    _requires_dtype("linalg.vecdot", x, y)
    return ops.sum(ops.mul(conjugated(x), y), (at,))


define(
    "mv(Tensor input, Tensor vec)",
    Kind.COMPOSITE,
    vjp=_mv_vjp,
    saves=("input?vec", "vec?input"),
    decompose=_mv,
)
define(
    "dot(Tensor input, Tensor tensor)",
    Kind.COMPOSITE,
    vjp=_dot_vjp,
    saves=("input?tensor", "tensor?input"),
    decompose=_dot,
    eager=_dot_eager,
)
define(
    "vdot(Tensor input, Tensor other)",
    Kind.COMPOSITE,
    decompose=lambda input, other: ops.dot(conjugated(input), other),
)
define("outer(Tensor input, Tensor vec2)", Kind.COMPOSITE, decompose=_outer)
define("inner(Tensor input, Tensor other)", Kind.COMPOSITE, decompose=_inner)
define(
    "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1)",
    Kind.COMPOSITE,
    decompose=_vecdot,
    method=False,
    public=False,
)


# -- products with a term added


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
    _requires_ndim("addmv", (mat, vec), (2, 1))
    check_held("addmv", input.dtype, beta, alpha)
    return _plus("addmv", input, ops.mv(mat, vec), beta, alpha)


def _addr(input: Any, vec1: Any, vec2: Any, beta: Any, alpha: Any) -> Any:
    _requires_ndim("addr", (vec1, vec2), (1, 1))
    common = promote_types(input.dtype, promote_types(vec1.dtype, vec2.dtype))
    for number in (beta, alpha):
        if isinstance(number, float) and not is_inexact(common):
            raise RuntimeError(
                f"addr: for {describe(input)}, beta and alpha must not be floating point numbers, "
                f"got {beta} and {alpha}"
            )
    check_held("addr", common, beta, alpha)
    result = _outer(vec1, vec2)
    if input.dtype is not result.dtype:
        input, result = ops.to_dtype(input, common), ops.to_dtype(result, common)
    return _plus("addr", input, result, beta, alpha)


def _baddbmm(input: Any, batch1: Any, batch2: Any, beta: Any, alpha: Any) -> Any:
    return _plus("baddbmm", input, ops.bmm(batch1, batch2), beta, alpha)


def _addbmm(input: Any, batch1: Any, batch2: Any, beta: Any, alpha: Any) -> Any:
    """The sum over the batch as one product of long rows with long columns."""
    _requires_ndim("addbmm", (batch1, batch2), (3, 3))
    b, n, k = batch1.shape
    if batch2.shape[0] != b or batch2.shape[1] != k:
        raise RuntimeError(
            f"addbmm: {describe(batch1)} and {describe(batch2)} cannot be multiplied"
        )
    rows = ops.reshape(ops.transpose(batch1, 0, 1), (n, b * k))
    total = ops.mm(rows, ops.reshape(batch2, (b * k, batch2.shape[2])))
    return _plus("addbmm", input, total, beta, alpha)


_WITH_TERM: dict[str, tuple[str, Any]] = {
    "addmm": ("Tensor mat1, Tensor mat2", _addmm),
    "addmv": ("Tensor mat, Tensor vec", _addmv),
    "addr": ("Tensor vec1, Tensor vec2", _addr),
    "baddbmm": ("Tensor batch1, Tensor batch2", _baddbmm),
    "addbmm": ("Tensor batch1, Tensor batch2", _addbmm),
}
for _name, (_factors, _rule) in _WITH_TERM.items():
    _parameters = f"(Tensor input, {_factors}, *, Scalar beta=1, Scalar alpha=1)"
    define(_name + _parameters, Kind.COMPOSITE, decompose=_rule)
    define(f"{_name}_{_parameters}", Kind.INPLACE, functional=_name, public=False)


# -- along named dims


def _tensordot_dims(a: Any, b: Any, dims: Any) -> tuple[list[int], list[int]]:
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, list | tuple):
        if len(dims) != 2:
            raise ValueError(
                f"tensordot(): dims must be two tuples of ints, but there are {len(dims)} of them"
            )
        first, second = dims
        for one in (first, second):
            if not isinstance(one, list | tuple):
                raise TypeError(
                    "tensordot(): dims must be int or two tuples of ints, but one is "
                    f"{type(one).__name__}"
                )
        first, second = list(first), list(second)
    else:
        if not isinstance(dims, int):
            raise RuntimeError(
                "tensordot expects dims to be int or a pair of lists of ints, "
                f"got {type(dims).__name__}"
            )
        if dims < 0 or dims > min(a.ndim, b.ndim):
            raise RuntimeError(
                "tensordot expects dims >= 0 and dims < ndim_a or ndim_b, "
                f"but got dims={dims} for {describe(a)} and {describe(b)}"
            )
        first, second = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    if len(first) != len(second):
        raise RuntimeError(f"tensordot: both dimension lists should have same length, got "
                           f"{first} and {second}")
    return [wrap_dim(d, a.ndim) for d in first], [wrap_dim(d, b.ndim) for d in second]


def _tensordot(a: Any, b: Any, dims: Any) -> Any:
    _requires_dtype("tensordot", a, b)
    first, second = _tensordot_dims(a, b, dims)
    if len(set(first)) != len(first) or len(set(second)) != len(second):
        raise RuntimeError(f"tensordot: a dim appears twice in {first} or {second}")
    for i, j in zip(first, second, strict=True):
        n, m = a.shape[i], b.shape[j]
        if n == m:
            continue
        if n == 1:
            b = ops.sum(b, (j,), True, dtype=b.dtype)
        elif m == 1:
            a = ops.sum(a, (i,), True, dtype=a.dtype)
        else:
            raise RuntimeError(
                f"tensordot: contracted dimensions need to match, but first has size {n} in dim "
                f"{i} and second has size {m} in dim {j}"
            )
    rows = [d for d in range(a.ndim) if d not in first]
    columns = [d for d in range(b.ndim) if d not in second]
    shape = (*(a.shape[d] for d in rows), *(b.shape[d] for d in columns))
    inner = product([a.shape[d] for d in first])
    left = ops.permute(a, (*rows, *first)) if a.ndim else a
    right = ops.permute(b, (*second, *columns)) if b.ndim else b
    left = ops.reshape(left, (product([a.shape[d] for d in rows]), inner))
    right = ops.reshape(right, (inner, product([b.shape[d] for d in columns])))
    return ops.reshape(ops.mm(left, right), shape)


define(
    "tensordot(Tensor a, Tensor b, object dims=2)",
    Kind.COMPOSITE,
    decompose=_tensordot,
    method=False,
)


def _apart(input: Any, other: Any) -> tuple[Any, Any, tuple[Any, ...]]:
    """[a, 1, b, 1, ..] and [1, c, 1, d, ..], and the shape [a * c, b * d, ..] of the result."""
    ndim = max(input.ndim, other.ndim)
    a = (*(1,) * (ndim - input.ndim), *input.shape)
    b = (*(1,) * (ndim - other.ndim), *other.shape)
    left = ops.reshape(input, tuple(n for size in a for n in (size, 1)))
    right = ops.reshape(other, tuple(n for size in b for n in (1, size)))
    return left, right, tuple(n * m for n, m in zip(a, b, strict=True))


def _kron(input: Any, other: Any) -> Any:
    left, right, shape = _apart(input, other)
    return ops.reshape(ops.mul(left, right), shape)


_LARGE = 1 << 16    # elements from which the copies of factors are small beside the result


def _kron_eager(input: Tensor, other: Tensor) -> Tensor:
    """Factors of large matrices are first written out along the rows: these are long then."""
    left, right, shape = _apart(input, other)
    plain = input.is_contiguous() and other.is_contiguous()
    if plain and len(shape) > 1 and product(shape) > _LARGE:
        last = (left.shape[-2], right.shape[-1])
        left, right = (
            ops.reshape(ops.expand(t, (*t.shape[:-2], *last)), (*t.shape[:-2], shape[-1]))
            for t in (left, right)
        )
    return ops.reshape(ops.mul(left, right), shape)


define("kron(Tensor input, Tensor other)", Kind.COMPOSITE, decompose=_kron, eager=_kron_eager)


# -- cross products


def _linalg_cross(input: Any, other: Any, dim: Any) -> Any:
    if input.ndim != other.ndim:
        raise RuntimeError(
            "linalg.cross: inputs must have the same number of dimensions, "
            f"got {describe(input)} and {describe(other)}"
        )
    at = wrap_dim(dim, input.ndim)
    _requires_dtype("linalg.cross", input, other)
    if input.dtype is dtypes.bool:
        raise NotImplementedError(f"linalg.cross: not implemented for {describe(input)}")
    if not input.ndim or input.shape[at] != 3 or other.shape[at] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. "
            f"Got {describe(input)} and {describe(other)}"
        )
    shape = broadcast_shapes("linalg.cross", (input.shape, other.shape))
    a = ops.unbind(ops.expand(input, shape), at)
    b = ops.unbind(ops.expand(other, shape), at)
    turns = ((1, 2), (2, 0), (0, 1))
    parts = tuple(ops.sub(ops.mul(a[i], b[j]), ops.mul(a[j], b[i])) for i, j in turns)
    return ops.stack(parts, at)


def _cross(input: Any, other: Any, dim: Any) -> Any:
    if dim is None:
        threes = [d for d, n in enumerate(input.shape) if n == 3]
        if not threes:
            raise RuntimeError(f"no dimension of size 3 in input {describe(input)}")
        dim = threes[0]
    return _linalg_cross(input, other, dim)


define(
    "linalg_cross(Tensor input, Tensor other, *, int dim=-1)",
    Kind.COMPOSITE,
    decompose=_linalg_cross,
    method=False,
    public=False,
)
define("cross(Tensor input, Tensor other, int? dim=None)", Kind.COMPOSITE, decompose=_cross)


# -- chains and powers


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
    _requires_dtype("multi_dot", *tensors)
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
    "chain_matmul(object* matrices)", Kind.COMPOSITE, decompose=_chain_matmul, method=False
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


define("matrix_power(Tensor input, int n)", Kind.COMPOSITE, decompose=_matrix_power)
define(
    "linalg_diagonal(Tensor A, *, int offset=0, Dim dim1=-2, Dim dim2=-1)",
    Kind.COMPOSITE,
    decompose=lambda A, offset, dim1, dim2: ops.diagonal(A, offset, dim1, dim2),
    method=False,
    public=False,
)
