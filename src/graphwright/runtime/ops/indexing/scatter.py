"""Ops that write by position: the scatter and the index_add families.

Where positions repeat, writes happen in the index's row-major order whatever the number of
threads. Half types are accumulated in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.creation.fill import check_held
from graphwright.runtime.ops.indexing.gather_layouts import (
    ADD,
    MAX,
    MIN,
    MUL,
    STORE,
    along,
    apart,
    check_same_dtype,
    fresh_copy,
    layout,
    pick,
    require_places,
    scalar_tensor,
)
from graphwright.runtime.ops.indexing.select import check_covers, check_ranks
from graphwright.runtime.ops.kernels import HALVES, copy_into
from graphwright.runtime.ops.strides import contiguous_strides, same_shape
from graphwright.runtime.ops.table import Kind, define, no_derivative
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor


def _spec(input: Any) -> TensorSpec:
    return TensorSpec(
        input.shape, contiguous_strides(input.shape), input.dtype, input.device
    )


# -- kernels


def _scatter_into(
    name: str, kind: int, target: Tensor, dim: int, index: Any, src: Any
) -> None:
    """Combine `src` (a tensor, or a number for all) into a tensor of its dtype."""
    if 0 in index.shape:
        return
    domain, strides = layout(index)
    memory, entries = along(target, dim, index, strides)
    if isinstance(src, Tensor):
        values, value_strides = src, layout(src)[1]
    else:
        values, value_strides = scalar_tensor(src, target.dtype), (0,) * len(domain)
    pick(name, kind, domain, target, memory, values, value_strides, entries)


def _widened(tensor: Any) -> Any:
    if isinstance(tensor, Tensor) and tensor.dtype in HALVES:
        return fresh_copy(tensor, tensor.stride() if tensor.is_contiguous() else None,
                          dtypes.float32)
    return tensor


def _scattered(name: str, kind: int, input: Any, dim: int, index: Any, src: Any) -> Tensor:
    """A contiguous copy of `input` with `src` scattered into it."""
    if src is None:
        raise TypeError(f"{name}(): nothing to scatter")
    if kind == STORE or input.dtype not in HALVES:
        out = fresh_copy(input)
        _scatter_into(name, kind, out, dim, index, src)
        return out
    wide = fresh_copy(input, None, dtypes.float32)
    _scatter_into(name, kind, wide, dim, index, _widened(src))
    return fresh_copy(wide, None, input.dtype)


def _scatter_inplace(name: str, kind: int, check: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of an in-place form: no copy but for half types that accumulate."""

    def eager(input: Any, dim: int, index: Any, src: Any) -> Any:
        check(input, dim, index, src)
        index, values = apart(index, input), apart(src, input)
        if kind == STORE or input.dtype not in HALVES:
            _scatter_into(name, kind, input, dim, index, values)
        else:
            copy_into(input, _scattered(name, kind, input, dim, index, values))
        _core.bump_version(input)
        return input

    return eager


# -- scatter of a tensor, of a number, and sums


def _scatter_meta(name: str) -> Callable[..., TensorSpec]:
    def meta(input: Any, dim: int, index: Any, src: Any) -> TensorSpec:
        check_held(name, input.dtype, src)
        if 0 in index.shape:
            return _spec(input)
        check_ranks(name, input, index)
        check_covers(name, "input", index, input, dim)
        require_places(name, input, dim, index.shape)
        if hasattr(src, "dtype"):
            if (len(src.shape) or 1) != (len(index.shape) or 1):
                raise RuntimeError(
                    f"{name}(): the index must have as many dims as src, got {describe(index)} "
                    f"and {describe(src)}"
                )
            check_covers(name, "src", index, src)
            check_same_dtype(name, "src", input, src)
        return _spec(input)

    return meta


def _picked(ctx: Any, grad: Any) -> Any:
    """The gradient of `src`: what its elements became, zeros where they went nowhere."""
    if not ctx.needs["src"]:
        return None
    picked = ops.gather(grad, ctx.dim, ctx.index)
    if same_shape(picked.shape, ctx.src.shape):
        return picked
    if len(picked.shape) != len(ctx.src.shape):
        return ops.reshape(picked, ctx.src.shape)
    pads: list[Any] = []
    for have, want in zip(reversed(picked.shape), reversed(ctx.src.shape), strict=True):
        pads += [0, want - have]
    return ops.constant_pad(picked, tuple(pads), 0.0)


def _overwritten(ctx: Any, grad: Any) -> Any:
    """The gradient of the input: none where it was overwritten."""
    if not ctx.needs["input"]:
        return None
    return ops.scatter_value(grad, ctx.dim, ctx.index, 0)


_src_meta, _value_meta = _scatter_meta("scatter"), _scatter_meta("scatter")
_add_meta = _scatter_meta("scatter_add")


def _kernel(name: str, kind: int, meta: Callable[..., TensorSpec]) -> Callable[..., Tensor]:
    def eager(input: Any, dim: int, index: Any, src: Any) -> Tensor:
        meta(input, dim, index, src)
        return _scattered(name, kind, input, dim, index, src)

    return eager


define(
    "scatter_src(Tensor input, Dim dim, Tensor index, Tensor src)",
    Kind.INDEXING,
    meta=_src_meta,
    vjp=lambda ctx, grad: (_overwritten(ctx, grad), None, _picked(ctx, grad)),
    saves=("index",),
    eager=_kernel("scatter", STORE, _src_meta),
    method=False,
    public=False,
)
define(
    "scatter_value(Tensor input, Dim dim, Tensor index, Scalar value)",
    Kind.INDEXING,
    meta=_value_meta,
    vjp=lambda ctx, grad: (_overwritten(ctx, grad), None),
    saves=("index",),
    eager=_kernel("scatter", STORE, _value_meta),
    method=False,
    public=False,
)
define(
    "scatter_add(Tensor input, Dim dim, Tensor index, Tensor src)",
    Kind.INDEXING,
    meta=_add_meta,
    vjp=lambda ctx, grad: (grad, None, _picked(ctx, grad)),
    saves=("index",),
    eager=_kernel("scatter_add", ADD, _add_meta),
    doc="""Copy to whose elements others are added: along `dim`, `out[index[i]] += src[i]`.

    Args:
        input: a tensor of any shape.
        dim: the dim that positions are along; in other dims, each element stays in its place.
        index: an int32 or int64 tensor of positions, which may repeat; none negative. It has
            as many dims as `input`, and no greater sizes but along `dim`.
        src: the values: a tensor of the dtype of `input`, no smaller than `index`.

    Returns: a new tensor of the shape of `input`.

    Raises:
        IndexError: a position is out of range, or `input` has no such dim.
        RuntimeError: the shapes or dtypes do not match.

    Example:
        >>> gw.scatter_add(gw.zeros(3), 0, gw.tensor([0, 2, 0]), gw.ones(3))
        tensor([2., 0., 1.])
    """,
)
define(
    "scatter_add_(Tensor input, Dim dim, Tensor index, Tensor src)",
    Kind.INPLACE,
    functional="scatter_add",
    eager=_scatter_inplace("scatter_add_", ADD, _add_meta),
    public=False,
)
define(
    "scatter_src_(Tensor input, Dim dim, Tensor index, Tensor src)",
    Kind.INPLACE,
    functional="scatter_src",
    eager=_scatter_inplace("scatter_", STORE, _src_meta),
    method=False,
    public=False,
)
define(
    "scatter_value_(Tensor input, Dim dim, Tensor index, Scalar value)",
    Kind.INPLACE,
    functional="scatter_value",
    eager=_scatter_inplace("scatter_", STORE, _value_meta),
    method=False,
    public=False,
)


def _one_source(src: Any, value: Any) -> Any:
    """The tensor or number that PyTorch's overloads call `src` or `value`."""
    if (src is None) == (value is None):
        raise TypeError("scatter(): exactly one of 'src' and 'value' must be given")
    return value if src is None else src


def _scatter(
    input: Any, dim: int, index: Any, src: Any, value: Any, reduce: str | None
) -> Any:
    given = _one_source(src, value)
    if reduce is None:
        write = ops.scatter_src if isinstance(given, Tensor) else ops.scatter_value
        return write(input, dim, index, given)
    if reduce not in ("add", "multiply"):
        raise RuntimeError(
            f"scatter(): reduce argument must be either add or multiply, got {reduce!r}"
        )
    if not isinstance(given, Tensor):
        given = ops.full(index.shape, given, dtype=input.dtype, device=input.device)
    return ops.scatter_combined(input, dim, index, given, reduce)


def _scatter_combined(input: Any, dim: int, index: Any, src: Any, reduce: str) -> Any:
    if reduce == "add":
        return ops.scatter_add(input, dim, index, src)
    return ops.scatter_reduce(input, dim, index, src, "prod")


def _scatter_(
    input: Any, dim: int, index: Any, src: Any, value: Any, reduce: str | None
) -> Any:
    given = _one_source(src, value)
    if reduce is not None:
        return ops.copy_(input, _scatter(input, dim, index, src, value, reduce))
    write = ops.scatter_src_ if isinstance(given, Tensor) else ops.scatter_value_
    return write(input, dim, index, given)


_OVERLOADS = (
    "Tensor input, Dim dim, Tensor index, Operand? src=None, Operand? value=None, *, "
    "str? reduce=None"
)
define(
    "scatter_combined(Tensor input, Dim dim, Tensor index, Tensor src, str reduce)",
    Kind.COMPOSITE,
    meta=lambda input, dim, index, src, reduce: _src_meta(input, dim, index, src),
    vjp=no_derivative("scatter"),
    decompose=_scatter_combined,
    method=False,
    public=False,
)
define(
    f"scatter({_OVERLOADS})",
    Kind.COMPOSITE,
    decompose=_scatter,
    doc="""Copy in which elements are replaced by others: along `dim`, `out[index[i]] = src[i]`.

    Args:
        input: a tensor of any shape.
        dim: the dim that positions are along; in other dims, each element stays in its place.
        index: an int32 or int64 tensor of positions, none negative. It has as many dims as
            `input`, and no greater sizes but along `dim`. Of several values for one position
            the last counts.
        src: the values: a tensor of the dtype of `input`, no smaller than `index`, or a
            number.
        value: a number, in place of `src`.
        reduce: "add" or "multiply": combine with the elements, not replace them; such a result
            has no gradient.

    Returns: a new tensor of the shape of `input`.

    Raises:
        IndexError: a position is out of range, or `input` has no such dim.
        RuntimeError: the shapes or dtypes do not match, or `reduce` is another word.
        TypeError: both `src` and `value` are given, or neither.

    Example:
        >>> gw.scatter(gw.zeros(3), 0, gw.tensor([0, 2]), gw.tensor([1.0, 2.0]))
        tensor([1., 0., 2.])
    """,
)
define(
    f"scatter_({_OVERLOADS})",
    Kind.COMPOSITE,
    decompose=_scatter_,
    public=False,
    doc="""Replace elements by others, in place: along `dim`, `input[index[i]] = src[i]`.

    Args:
        input: a tensor of any shape.
        dim: the dim that positions are along; in other dims, each element stays in its place.
        index: an int32 or int64 tensor of positions, as of `scatter`.
        src: the values: a tensor of the dtype of `input`, no smaller than `index`, or a
            number.
        value: a number, in place of `src`.
        reduce: "add" or "multiply": combine with the elements, not replace them.

    Returns: `input`.

    Raises:
        IndexError: a position is out of range, or `input` has no such dim.
        RuntimeError: the shapes or dtypes do not match, or `reduce` is another word.
        TypeError: both `src` and `value` are given, or neither.

    Example:
        >>> gw.zeros(3).scatter_(0, gw.tensor([0, 2]), 5)
        tensor([5., 0., 5.])
    """,
)


# -- scatter_reduce


_EXTREMES = {"prod": MUL, "amax": MAX, "amin": MIN}


def _extreme_meta(
    input: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool
) -> TensorSpec:
    spec: TensorSpec = _scatter_meta("scatter_reduce")(input, dim, index, src)
    if reduce != "prod" and input.dtype.is_complex:
        raise RuntimeError(f"scatter_reduce(): {reduce} is not defined for {describe(input)}")
    return spec


def neutral(reduce: str, dtype: Any) -> Any:
    """The number that the reduction leaves as it is."""
    if reduce == "prod":
        return 1
    if dtype is dtypes.bool:
        return reduce == "amin"
    if dtype.is_floating_point:
        return float("-inf") if reduce == "amax" else float("inf")
    bits = 8 * dtype.itemsize
    if dtype.name.startswith("u"):
        return 0 if reduce == "amax" else 2**bits - 1
    return -(2 ** (bits - 1)) if reduce == "amax" else 2 ** (bits - 1) - 1


def _extreme_eager(
    input: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool
) -> Tensor:
    _extreme_meta(input, dim, index, src, reduce, include_self)
    if not include_self:
        input = _scattered(
            "scatter_reduce", STORE, input, dim, index, neutral(reduce, input.dtype)
        )
    return _scattered("scatter_reduce", _EXTREMES[reduce], input, dim, index, src)


def _extreme_vjp(ctx: Any, grad: Any) -> tuple[Any, Any, Any]:
    back = _product_vjp if ctx.reduce == "prod" else _equal_share_vjp
    into_input, into_src = back(ctx, grad)
    if not ctx.include_self:
        into_input = ops.scatter_value(into_input, ctx.dim, ctx.index, 0)
    return into_input, None, into_src


def _equal_share_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    """amax, amin: all elements that equal the result share its gradient."""
    picked = ops.gather(ctx.out, ctx.dim, ctx.index)
    src = _head(ctx.src, ctx.index)
    own = ops.to_dtype(ops.eq(ctx.input, ctx.out), grad.dtype)
    if not ctx.include_self:
        own = ops.scatter_value(own, ctx.dim, ctx.index, 0)
    hit = ops.to_dtype(ops.eq(src, picked), grad.dtype)
    count = ops.scatter_add(own, ctx.dim, ctx.index, hit)
    share = ops.div(grad, ops.where(ops.eq(count, 0), ops.ones_like(count), count))
    into_src = ops.mul(hit, ops.gather(share, ctx.dim, ctx.index))
    return ops.mul(own, share), _whole(into_src, ctx.src)


def _product_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    """The product of all others: exact also where one or more factors are zero."""
    src = _head(ctx.src, ctx.index)
    zero = ops.eq(src, 0)
    own_zero = ops.eq(ctx.input, 0)
    if not ctx.include_self:
        own_zero = ops.zeros_like(own_zero)
    counts = ops.scatter_add(
        ops.to_dtype(own_zero, grad.dtype), ctx.dim, ctx.index, ops.to_dtype(zero, grad.dtype)
    )
    nonzero = ops.scatter_reduce(
        ops.where(own_zero, ops.ones_like(ctx.input), ctx.input),
        ctx.dim, ctx.index, ops.where(zero, ops.ones_like(src), src), "prod",
        include_self=ctx.include_self,
    )
    into_input = ops.mul(grad, _others(own_zero, counts, nonzero, ctx.input))
    there = (ops.gather(t, ctx.dim, ctx.index) for t in (grad, counts, nonzero))
    picked, count, product = there
    into_src = ops.mul(picked, _others(zero, count, product, src))
    return into_input, _whole(into_src, ctx.src)


def _others(zero: Any, count: Any, product: Any, factor: Any) -> Any:
    """The product without one factor: of the factors' nonzero `product` and `count` of zeros."""
    nothing = ops.zeros_like(product)
    divided = ops.div(product, ops.where(zero, ops.ones_like(factor), factor))
    alone = ops.where(ops.eq(count, 1), product, nothing)
    return ops.where(zero, alone, ops.where(ops.eq(count, 0), divided, nothing))


def _head(src: Any, index: Any) -> Any:
    """The part of `src` that the index reaches."""
    for dim, size in enumerate(index.shape):
        if src.shape[dim] != size:
            src = ops.slice(src, dim, 0, size)
    return src


def _whole(part: Any, src: Any) -> Any:
    if same_shape(part.shape, src.shape):
        return part
    pads: list[Any] = []
    for have, want in zip(reversed(part.shape), reversed(src.shape), strict=True):
        pads += [0, want - have]
    return ops.constant_pad(part, tuple(pads), 0.0)


define(
    "scatter_extreme(Tensor input, Dim dim, Tensor index, Tensor src, str reduce, "
    "bool include_self=True)",
    Kind.INDEXING,
    meta=_extreme_meta,
    vjp=_extreme_vjp,
    saves=("input", "index", "src", "out"),
    eager=_extreme_eager,
    method=False,
    public=False,
)


def _scatter_reduce(
    input: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool
) -> Any:
    reduce = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(
            "scatter_reduce(): reduce argument must be either sum, prod, mean, amax or amin, "
            f"got {reduce}"
        )
    if reduce in _EXTREMES:
        return ops.scatter_extreme(input, dim, index, src, reduce, include_self)
    if not include_self:
        input = ops.scatter_value(input, dim, index, 0)
    total = ops.scatter_add(input, dim, index, src)
    return total if reduce == "sum" else _mean(total, dim, index, src, include_self)


def _mean(total: Any, dim: int, index: Any, src: Any, include_self: bool) -> Any:
    """The sums by how many elements went into each; integers are rounded down."""
    start = ops.full(total.shape, 1 if include_self else 0, dtype=dtypes.int64,
                     device=total.device)
    ones = ops.expand(ops.full((), 1, dtype=dtypes.int64, device=total.device), index.shape)
    count = ops.clamp(ops.scatter_add(start, dim, index, ones), 1)
    if total.dtype.is_floating_point or total.dtype.is_complex:
        return ops.div(total, ops.to_dtype(count, total.dtype))
    return ops.to_dtype(ops.div(total, count, rounding_mode="floor"), total.dtype)


_REDUCE = (
    "Tensor input, Dim dim, Tensor index, Tensor src, str reduce, *, bool include_self=True"
)
define(
    f"scatter_reduce({_REDUCE})",
    Kind.COMPOSITE,
    decompose=_scatter_reduce,
    doc="""Copy with elements reduced with others: along `dim`, `out[index[i]]` with `src[i]`.

    Args:
        input: a tensor of any shape.
        dim: the dim that positions are along; in other dims, each element stays in its place.
        index: an int32 or int64 tensor of positions, which may repeat; none negative. It has
            as many dims as `input`, and no greater sizes but along `dim`.
        src: the values: a tensor of the dtype of `input`, no smaller than `index`.
        reduce: "sum", "prod", "mean", "amax" or "amin"; the mean of integers is rounded down.
        include_self: the elements of `input` take part.

    Returns: a new tensor of the shape of `input`.

    Raises:
        IndexError: a position is out of range, or `input` has no such dim.
        RuntimeError: the shapes or dtypes do not match, or `reduce` is another word.

    Example:
        >>> gw.scatter_reduce(gw.ones(2), 0, gw.tensor([0, 0]), gw.tensor([2.0, 3.0]), "sum")
        tensor([6., 1.])
    """,
)
define(
    f"scatter_reduce_({_REDUCE})", Kind.INPLACE, functional="scatter_reduce", public=False
)
