"""Norms of vectors and matrices, logsumexp, and what is made of norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import wrap_dim, wrap_dims
from graphwright.runtime.ops.dtype_rules import (
    contiguous_spec,
    is_inexact,
    real_dtype,
    wide_array,
)
from graphwright.runtime.ops.errstate import quietly
from graphwright.runtime.ops.kernels import HALVES, wrap
from graphwright.runtime.ops.reductions.folds import reduced_shape, restore_dims
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

_INF = float("inf")
_LARGEST = float(np.finfo(np.float32).max)


# -- vector norms


def _check_vector_norm(input: Any, ord: float, dim: tuple[int, ...], dtype: Any) -> Any:
    """The dtype to compute in. Raises RuntimeError for dtypes and for empty extrema."""
    if not is_inexact(input.dtype):
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. "
            f"Got {describe(input)}"
        )
    if dtype is not None and (not is_inexact(dtype) or input.dtype.is_complex != dtype.is_complex):
        raise RuntimeError(
            f"linalg.vector_norm: dtype {dtype.name} does not suit the input {describe(input)}"
        )
    if ord < 0 or ord == _INF:
        for d in dim:
            if input.shape[d] == 0:
                raise RuntimeError(
                    f"linalg.vector_norm cannot compute the {ord} norm on an empty dimension: "
                    f"dim {d} of {describe(input)}"
                )
    return dtype or input.dtype


def _vector_norm_meta(input: Any, ord: float, dim: Any, keepdim: bool, dtype: Any) -> Any:
    work = _check_vector_norm(input, ord, dim, dtype)
    return contiguous_spec(input, reduced_shape(input.shape, dim, keepdim), real_dtype(work))


def _powers(
    size: Any, ord: float, dim: tuple[int, ...], keepdim: bool, single: bool
) -> Any:
    if ord == _INF:
        return np.amax(size, dim, keepdims=keepdim)
    if ord == -_INF:
        return np.amin(size, dim, keepdims=keepdim)
    if ord == 0:
        return _total((size != 0).astype(size.dtype), dim, keepdim)
    if ord == 1:
        return _total(size, dim, keepdim)
    if ord == 2:
        return np.sqrt(_total(np.square(size), dim, keepdim))
    power = _rounded(ord, single)
    return _total(size**power, dim, keepdim) ** (1 / power)


def _total(terms: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """Their sum, whose error does not grow with their number as NumPy's does along outer dims."""
    return ops.sum(wrap(terms, dtypes.from_numpy_dtype(terms.dtype)), dim, keepdim)._nd


@quietly
def _rounded(ord: float, single: bool) -> float:
    """The order as the dtype has it: beyond its range an infinity."""
    return float(np.float32(ord)) if single else ord


def _vector_norm_eager(input: Any, ord: float, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
    work = _check_vector_norm(input, ord, dim, dtype)
    if ord == 2 and work is input.dtype:
        quick: Tensor | None = _core.two_norm(Tensor, input, dim, keepdim)
        if quick is None and work in HALVES:
            quick = _core.two_norm(Tensor, ops.to_dtype(input, dtypes.float32), dim, keepdim)
        if quick is not None:
            return ops.to_dtype(quick, work) if work in HALVES else quick
    array = wide_array(input)
    if work is not input.dtype and work not in HALVES:
        array = array.astype(work.numpy)
    if ord == 2 and array.dtype.kind == "f":
        return wrap(np.sqrt(_total(np.square(array), dim, keepdim)), work)
    result = real_dtype(work)
    single = result is not dtypes.float64
    return wrap(_powers(np.abs(array), ord, dim, keepdim, single), result)


def _powers_dtype(work: Any, ord: float) -> Any:
    """The dtype that holds what is summed: powers of float32 may lie beyond its range."""
    if work.is_complex or ord in (0, 1, _INF, -_INF):
        return dtypes.float32 if work in HALVES else work
    return dtypes.float64


def _vector_norm(input: Any, ord: float, dim: Any, keepdim: bool, dtype: Any) -> Any:
    work = _check_vector_norm(input, ord, dim, dtype)
    wide = _powers_dtype(work, ord)
    input = input if input.dtype is wide else ops.to_dtype(input, wide)
    size = input if ord == 2 and not work.is_complex else ops.abs(input)
    if ord == _INF:
        result = ops.amax(size, dim, keepdim)
    elif ord == -_INF:
        result = ops.amin(size, dim, keepdim)
    elif ord == 0:
        result = ops.to_dtype(ops.sum(ops.ne(size, 0), dim, keepdim), size.dtype)
    elif ord == 1:
        result = ops.sum(size, dim, keepdim)
    elif ord == 2:
        result = ops.sqrt(ops.sum(ops.mul(size, size), dim, keepdim))
    else:
        single = real_dtype(work) is not dtypes.float64
        power = _rounded(ord, single) if abs(ord) > _LARGEST else ord
        result = ops.pow(ops.sum(ops.pow(size, power), dim, keepdim), 1.0 / power)
    return result if wide is work else ops.to_dtype(result, real_dtype(work))


def _direction(x: Any) -> Any:
    """The derivative of |x|: its sign, or x / |x|."""
    return ops.sgn(x) if x.dtype.is_complex else ops.sign(x)


def _vector_norm_vjp(ctx: Any, grad: Any) -> Any:
    """d|x|_p / dx = sign(x) |x|^(p-1) |x|_p^(1-p); 0 where the norm is 0, even among ties."""
    x, ord = ctx.input, ctx.ord
    if ord == 0:
        return None
    work = ctx.dtype or x.dtype
    if x.dtype is not work:
        x = ops.to_dtype(x, work)
    norm = restore_dims(ctx.out, x.shape, ctx.dim, ctx.keepdim)
    grad = restore_dims(grad, x.shape, ctx.dim, ctx.keepdim)
    if ord == 1:
        return ops.mul(_direction(x), grad)
    if ord == 2:
        return ops.mul(ops.where(ops.eq(norm, 0), 0.0, ops.div(x, norm)), grad)
    size = ops.abs(x)
    if abs(ord) == _INF:
        ties = ops.eq(size, norm)
        ties = ops.logical_or(ties, ops.logical_and(ops.isnan(size), ops.isnan(norm)))
        ties = ops.to_dtype(ties, norm.dtype)
        share = ops.div(grad, ops.sum(ties, ctx.dim, True))
        return ops.mul(_direction(x), ops.mul(ties, share))
    outer = ops.where(ops.eq(norm, 0), 0.0, ops.pow(norm, 1.0 - ord))
    if ord > 2:
        inner = ops.mul(x, ops.pow(size, ord - 2.0))
        return ops.mul(inner, ops.mul(grad, outer))
    powers = ops.pow(size, ord - 1.0)
    if ord < 1:
        powers = ops.where(ops.eq(size, 0), 0.0, powers)
    return ops.mul(ops.mul(_direction(x), powers), ops.mul(grad, outer))


define(
    "p_norm(Tensor input, float ord, Dims dim=None, bool keepdim=False, dtype? dtype=None)",
    Kind.REDUCTION,
    meta=_vector_norm_meta,
    vjp=_vector_norm_vjp,
    saves=("input", "out"),
    decompose=_vector_norm,
    eager=_vector_norm_eager,
    method=False,
    public=False,
)


def _linalg_vector_norm(input: Any, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    if isinstance(ord, str):
        raise TypeError("linalg.vector_norm: argument 'ord' must be Number, not str")
    return ops.p_norm(input, float(ord), wrap_dims(dim, input.ndim), keepdim, dtype)


define(
    "linalg_vector_norm(Tensor x, Scalar ord=2, Ints? dim=None, bool keepdim=False, *, "
    "dtype? dtype=None)",
    Kind.COMPOSITE,
    decompose=_linalg_vector_norm,
    method=False,
    public=False,
    doc="""Norm of vectors: `sum(|x|^ord)^(1 / ord)`.

    Args:
        x: floating point or complex.
        ord: the order: any number; inf: the greatest modulus; -inf: the least; 0: the number
            of elements other than 0.
        dim: the dim or dims of the vectors; all if None.
        keepdim: keep each of these dims with size 1.
        dtype: the dtype that is computed in; that of `x` if None.

    Returns: a real tensor of the shape of `x` without `dim`.

    Raises:
        IndexError: `x` has no such dim.
        RuntimeError: `x` holds integers.

    Example:
        >>> gw.linalg.vector_norm(gw.tensor([3.0, 4.0]))
        tensor(5.)
    """,
)


# -- matrix norms


def _two_dims(name: str, input: Any, dim: Any) -> tuple[int, int]:
    if not isinstance(dim, list | tuple) or len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {dim}")
    first, second = (wrap_dim(d, input.ndim) for d in dim)
    if first == second:
        raise RuntimeError(f"{name}: dims must be different. Got ({first}, {second})")
    return first, second


def _greatest(values: Any, dim: int, keepdim: bool) -> Any:
    """The greatest of numbers that are not negative: 0 of none, as in PyTorch."""
    if values.shape[dim].__class__ is int and values.shape[dim] == 0:
        return ops.sum(values, (dim,), keepdim)
    return ops.amax(values, (dim,), keepdim)


def _spectral(name: str, input: Any, ord: Any, dims: tuple[int, int], keepdim: bool) -> Any:
    """Norms of the singular values: their sum, greatest or least."""
    rest = tuple(d for d in range(input.ndim) if d not in dims)
    values = ops.linalg_svdvals(ops.permute(input, (*rest, *dims)))
    if ord == "nuc":
        result = ops.sum(values, (-1,))
    else:
        result = _greatest(values, -1, False) if ord == 2 else ops.amin(values, (-1,))
    return ops.reshape(result, reduced_shape(input.shape, dims, True)) if keepdim else result


def _matrix_norm(input: Any, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    name = "linalg.matrix_norm"
    if not is_inexact(input.dtype):
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {describe(input)}"
        )
    if input.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor must have at least 2 dimensions, "
                           f"got {describe(input)}")
    rows, columns = _two_dims(name, input, dim)
    if dtype is not None:
        input = ops.to_dtype(input, dtype)
    if ord == "fro":
        return ops.p_norm(input, 2.0, tuple(sorted((rows, columns))), keepdim)
    if ord == "nuc" or (not isinstance(ord, str) and abs(ord) == 2):
        return _spectral(name, input, ord, (rows, columns), keepdim)
    if isinstance(ord, str) or abs(ord) not in (1, _INF):
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    summed, compared = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = ops.p_norm(input, 1.0, (summed,), True)
    result = _greatest(sums, compared, True) if ord > 0 else ops.amin(sums, (compared,), True)
    if keepdim:
        return result
    return ops.reshape(result, reduced_shape(input.shape, (rows, columns), False))


define(
    'linalg_matrix_norm(Tensor A, Scalar|str ord="fro", Ints dim=(-2, -1), bool keepdim=False, '
    "*, dtype? dtype=None)",
    Kind.COMPOSITE,
    decompose=_matrix_norm,
    method=False,
    public=False,
    doc="""Norm of matrices.

    Args:
        A: floating point or complex, of at least 2 dims.
        ord: "fro": root of the sum of squares; "nuc": sum of the singular values; 2, -2: the
            greatest, the least singular value; 1, -1: the greatest, the least sum of a
            column's moduli; inf, -inf: of a row's.
        dim: the two dims of the matrices.
        keepdim: keep each of these dims with size 1.
        dtype: the dtype that is computed in; that of `A` if None.

    Returns: a real tensor of the shape of `A` without `dim`.

    Raises:
        IndexError: `A` has no such dim.
        RuntimeError: `A` has less than 2 dims or holds integers, or `ord` is unknown.

    Example:
        >>> gw.linalg.matrix_norm(gw.tensor([[1.0, -2.0], [3.0, 4.0]]), ord=1)
        tensor(6.)
    """,
)


def _linalg_norm(input: Any, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    if isinstance(dim, list | tuple) and len(dim) not in (1, 2):
        raise RuntimeError(
            "linalg.norm: If dim is specified, it must be of length 1 or 2. "
            f"Got {list(dim)}"
        )
    if ord is None:
        return _linalg_vector_norm(input, 2, dim, keepdim, dtype)
    if dim is None:
        if input.ndim not in (1, 2):
            raise RuntimeError(
                "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. "
                f"Got {describe(input)}"
            )
        dim = tuple(range(input.ndim))
    pair = isinstance(dim, list | tuple) and len(dim) == 2
    if isinstance(ord, str) or pair:
        if ord not in ("fro", "nuc") and isinstance(ord, str):
            raise RuntimeError(f"linalg.norm: order {ord} not supported")
        if not pair:
            raise RuntimeError(f"linalg.norm: order {ord} needs two dims, got {dim}")
        return _matrix_norm(input, ord, dim, keepdim, dtype)
    return _linalg_vector_norm(input, ord, dim, keepdim, dtype)


define(
    "linalg_norm(Tensor A, Scalar|str? ord=None, Ints? dim=None, bool keepdim=False, *, "
    "dtype? dtype=None)",
    Kind.COMPOSITE,
    decompose=_linalg_norm,
    method=False,
    public=False,
    doc="""Norm of vectors or of matrices: `linalg.vector_norm` or `linalg.matrix_norm`.

    Args:
        A: floating point or complex.
        ord: the order; if None, the 2-norm of all elements (of those along `dim`).
        dim: one dim for vectors, two for matrices; if None, `A` itself is the vector or
            matrix where `ord` is given.
        keepdim: keep each of these dims with size 1.
        dtype: the dtype that is computed in; that of `A` if None.

    Returns: a real tensor of the shape of `A` without `dim`.

    Raises:
        IndexError: `A` has no such dim.
        RuntimeError: `A` holds integers, `ord` is unknown, or `A` is neither vector nor
            matrix where `ord` is given without `dim`.

    Example:
        >>> gw.linalg.norm(gw.tensor([[3.0, 0.0], [0.0, 4.0]]))
        tensor(5.)
    """,
)


def _norm(input: Any, p: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    if p == "nuc":
        pair = dim if dim is not None else tuple(range(input.ndim))
        return _matrix_norm(input, "nuc", pair, keepdim, dtype)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"norm: order {p} is not supported, only 'fro', 'nuc' and numbers are")
    order = 2.0 if p in ("fro", None) else float(p)
    return ops.p_norm(input, order, wrap_dims(dim, input.ndim), keepdim, dtype)


define(
    'norm(Tensor input, Scalar|str? p="fro", Ints? dim=None, bool keepdim=False, '
    "dtype? dtype=None)",
    Kind.COMPOSITE,
    decompose=_norm,
    doc="""Norm of the elements, of all or along some dims: `(sum |x|^p)^(1/p)`.

    Args:
        input: a floating point or complex tensor of any shape.
        p: the order: a number, of which inf and -inf are the greatest and least size and 0
            counts what is not zero; "fro", None: as 2; "nuc": the sum of a matrix's singular
            values.
        dim: the dim or dims; all if None. "nuc" takes two.
        keepdim: keep each of these dims with size 1.
        dtype: what `input` is converted to first; nothing if None.

    Returns: a real tensor of the shape of `input` without `dim`.

    Raises:
        RuntimeError: `input` has integers or bools, `p` is another word, or "nuc" is not given
            two dims.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.norm(gw.tensor([[3.0, 4.0], [0.0, -2.0]]), dim=1)
        tensor([5., 2.])
    """,
)


def _dist(input: Any, other: Any, p: Any) -> Any:
    for name, tensor in (("input", input), ("other", other)):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"dist(): argument '{name}' must be Tensor, not {type(tensor).__name__}"
            )
        if tensor.dtype is dtypes.bool:
            raise RuntimeError(f"dist(): bool tensors have no distance: {describe(tensor)}")
    if isinstance(p, str):
        raise TypeError("dist(): argument 'p' must be Number, not str")
    return _norm(ops.sub(input, other), p, None, False, None)


define(
    "dist(Tensor input, Tensor other, Scalar p=2)",
    Kind.COMPOSITE,
    decompose=_dist,
    doc="""Norm of the difference of two tensors: `(sum |input - other|^p)^(1/p)`.

    Args:
        input: a floating point or complex tensor.
        other: a tensor that broadcasts with it.
        p: the order of the norm, as of `norm`.

    Returns: a real tensor without dims.

    Raises:
        RuntimeError: the difference has integers, or one is bool.
        TypeError: `p` is a word.

    Example:
        >>> gw.dist(gw.tensor([1.0, 2.0]), gw.tensor([4.0, 6.0]))
        tensor(5.)
    """,
)


def _renorm(input: Any, p: Any, dim: Any, maxnorm: Any) -> Any:
    if not is_inexact(input.dtype):
        raise RuntimeError(f"renorm: expected a floating point input, got {describe(input)}")
    if p <= 0:
        raise RuntimeError(f"renorm: non-positive norm not supported, got p={p}")
    if not maxnorm >= 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if input.ndim < 2:
        raise RuntimeError(
            f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions"
        )
    kept = wrap_dim(dim, input.ndim)
    others = tuple(d for d in range(input.ndim) if d != kept)
    norm = ops.p_norm(input, float(p), others, True)
    scale = ops.div(maxnorm, ops.add(norm, 1e-7))
    result = ops.mul(input, ops.where(ops.gt(norm, maxnorm), scale, 1.0))
    return ops.contiguous(result)


define(
    "renorm(Tensor input, Scalar p, int dim, Scalar maxnorm)",
    Kind.COMPOSITE,
    decompose=_renorm,
    doc="""Copy in which each slice along a dim whose norm exceeds `maxnorm` is scaled down to it.

    Args:
        input: a floating point or complex tensor of at least two dims.
        p: the order of the norm, above 0.
        dim: the dim whose slices `input.select(dim, i)` are measured.
        maxnorm: the greatest norm that is allowed, at least 0.

    Returns: a contiguous tensor of the shape and dtype of `input`.

    Raises:
        RuntimeError: `input` has integers, bools or fewer than two dims, `p` is not positive,
            or `maxnorm` is negative.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.renorm(gw.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0)
        tensor([[0.6000, 0.8000],
                [0.3000, 0.4000]])
    """,
)
define(
    "renorm_(Tensor input, Scalar p, int dim, Scalar maxnorm)",
    Kind.INPLACE,
    functional="renorm",
    public=False,
)


# -- logsumexp


def _logsumexp(input: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    if not is_inexact(input.dtype):
        input = ops.to_dtype(input, dtypes.get_default_dtype())
    if input.dtype in HALVES:           # which do not hold the sum of many exponentials
        wide = ops.to_dtype(input, dtypes.float32)
        return ops.to_dtype(_logsumexp(wide, dim, keepdim), input.dtype)
    if 0 in [input.shape[d] for d in dim]:
        return ops.log(ops.sum(ops.exp(input), dim, keepdim))
    real = ops.real(input) if input.dtype.is_complex else input
    top = ops.amax(real, dim, True)
    top = ops.where(ops.isinf(top), 0.0, top).detach()
    total = ops.sum(ops.exp(ops.sub(input, top)), dim, keepdim)
    shift = top if keepdim else ops.reshape(top, total.shape)
    return ops.add(ops.log(total), shift)


define(
    "logsumexp(Tensor input, DimsGiven dim, bool keepdim=False)",
    Kind.COMPOSITE,
    decompose=_logsumexp,
    doc="""Logarithm of the sum of exponentials along some dims: `log(sum exp(x))`.

    The maximum is taken out first, so that nothing overflows.

    Args:
        input: a tensor of any shape; integers and bool are converted to the default dtype.
        dim: the dim or dims to sum along, at least one.
        keepdim: keep each of these dims with size 1.

    Returns: a tensor of the shape of `input` without `dim`.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `dim` is empty, or names a dim twice.

    Example:
        >>> gw.logsumexp(gw.zeros(2, 2), 1)
        tensor([0.6931, 0.6931])
    """,
)
