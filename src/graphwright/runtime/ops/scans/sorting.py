"""Orders: sorting, the largest and smallest, order statistics."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.dtype_rules import (
    contiguous_spec,
    require_ordered,
    require_supported,
    wide_array,
)
from graphwright.runtime.ops.kernels import HALVES, as_contiguous, wrap
from graphwright.runtime.ops.reductions.extrema import check_nonempty
from graphwright.runtime.ops.strides import dense_order
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

# -- sort


def _along(dim: int, where: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * dim, where)


def order_of(array: Any, dim: int, descending: bool) -> Any:
    """The stable order along `dim`; NaN counts as the greatest."""
    if not descending:
        return np.argsort(array, axis=dim, kind="stable")
    backwards = _along(dim, slice(None, None, -1))
    reverse = np.argsort(array[backwards], axis=dim, kind="stable")
    return array.shape[dim] - 1 - reverse[backwards]


def _argsort_eager(input: Any, dim: int, descending: bool, stable: bool) -> Tensor:
    require_ordered("sort", input)
    array = wide_array(input)
    if array.ndim == 0:
        return wrap(np.zeros((), np.int64), dtypes.int64)
    return wrap(order_of(array, dim, descending), dtypes.int64)


def _argsort_meta(input: Any, dim: int, descending: bool, stable: bool) -> Any:
    require_ordered("sort", input)
    return contiguous_spec(input, input.shape, dtypes.int64)


define(
    "argsort(Tensor input, Dim dim=-1, bool descending=False, bool stable=False)",
    Kind.OTHER,
    meta=_argsort_meta,
    vjp=not_differentiable,
    eager=_argsort_eager,
    doc="""Positions that sort the elements along one dim; NaN counts as the greatest.

    Args:
        input: a real or bool tensor of any shape.
        dim: the dim to sort along.
        descending: from the greatest to the least.
        stable: keep the order of equal elements, which is kept in any case.

    Returns: an int64 tensor of the shape of `input`.

    Raises:
        IndexError: `input` has no such dim.
        NotImplementedError: `input` is complex.

    Example:
        >>> gw.argsort(gw.tensor([3.0, 1.0, 2.0]))
        tensor([1, 2, 0])
    """,
)


def _sort(input: Any, dim: int, descending: bool, stable: Any) -> Any:
    """Of a dense tensor in another order of dims, the results have that order too."""
    order = None if input.is_contiguous() else dense_order(tuple(input.shape), input.stride())
    if order is not None:
        order = order[::-1]
        input, dim = ops.permute(input, order), order.index(dim)
    indices = ops.argsort(input.detach(), dim, bool(descending), bool(stable))
    results = ops.gather(input, dim, indices), indices
    if order is not None:
        back = tuple(order.index(place) for place in range(len(order)))
        results = ops.permute(results[0], back), ops.permute(results[1], back)
    return return_types.sort(*results)


define(
    "sort(Tensor input, Dim dim=-1, bool descending=False, bool? stable=False)",
    Kind.COMPOSITE,
    decompose=_sort,
    doc="""The elements sorted along one dim, and where each came from; NaN counts as the greatest.

    Args:
        input: a real or bool tensor of any shape.
        dim: the dim to sort along.
        descending: from the greatest to the least.
        stable: keep the order of equal elements, which is kept in any case.

    Returns: the named tuple `(values, indices)` of tensors of the shape of `input`; the
        indices are int64.

    Raises:
        IndexError: `input` has no such dim.
        NotImplementedError: `input` is complex.

    Example:
        >>> gw.sort(gw.tensor([3.0, 1.0, 2.0]))
        graphwright.return_types.sort(
        values=tensor([1., 2., 3.]),
        indices=tensor([1, 2, 0]))
    """,
)
define(
    "msort(Tensor input)",
    Kind.COMPOSITE,
    decompose=lambda input: _sort(input, 0, False, True).values,
    doc="""The elements sorted along the first dim in ascending order: `sort(input, 0).values`.

    Args:
        input: a real or bool tensor of any shape.

    Returns: a tensor of the shape and dtype of `input`.

    Raises:
        NotImplementedError: `input` is complex.

    Example:
        >>> gw.msort(gw.tensor([[3, 1], [2, 4]]))
        tensor([[2, 1],
                [3, 4]])
    """,
)


# -- topk and single ranks


def _first_of_order(array: Any, k: int, dim: int, largest: bool) -> Any:
    """Positions of the k first in order, by partition where that is cheaper than sorting."""
    size = array.shape[dim]
    if k * 4 > size or size < 64:
        return order_of(array, dim, largest)[_along(dim, slice(0, k))]
    if largest:
        chosen = np.argpartition(array, size - k, dim)[_along(dim, slice(size - k, size))]
    else:
        chosen = np.argpartition(array, max(k - 1, 0), dim)[_along(dim, slice(0, k))]
    values = np.take_along_axis(array, chosen, dim)
    return np.take_along_axis(chosen, order_of(values, dim, largest), dim)


def _check_topk(input: Any, k: int, dim: int) -> None:
    require_ordered("topk", input)
    require_supported("topk", input, bool=False)
    if k < 0 or k > (input.shape[dim] if input.shape else 1):
        raise RuntimeError(
            f"selected index k out of range: k={k}, dim {dim} of {describe(input)}"
        )


def _topk_shape(input: Any, k: int, dim: int) -> tuple[Any, ...]:
    return (*input.shape[:dim], k, *input.shape[dim + 1 :]) if input.shape else ()


def _topk_meta(input: Any, k: int, dim: int, largest: bool) -> Any:
    _check_topk(input, k, dim)
    return contiguous_spec(input, _topk_shape(input, k, dim), dtypes.int64)


_TOPK = _core.Native(Tensor, "topk_positions", lambda *args: None)


def _topk_eager(input: Any, k: int, dim: int, largest: bool) -> Tensor:
    _check_topk(input, k, dim)
    if not input.shape:
        return wrap(np.zeros((), np.int64), dtypes.int64)
    if input.dtype in HALVES:
        found = _TOPK(as_contiguous(input, dtypes.float32), k, dim, largest)
        if found is not None:
            return found
    return wrap(_first_of_order(wide_array(input), k, dim, largest), dtypes.int64)


define(
    "topk_positions(Tensor input, int k, Dim dim, bool largest)",
    Kind.OTHER,
    meta=_topk_meta,
    vjp=not_differentiable,
    eager=_topk_eager,
    method=False,
    public=False,
)


def _topk(input: Any, k: Any, dim: int, largest: bool, sorted: bool) -> Any:
    count = int(k) if isinstance(k, Tensor) else k
    indices = ops.topk_positions(input.detach(), count, dim, largest)
    return return_types.topk(ops.gather(input, dim, indices), indices)


define(
    "topk(Tensor input, SymInt k, Dim dim=-1, bool largest=True, bool sorted=True)",
    Kind.COMPOSITE,
    decompose=_topk,
    doc="""The `k` greatest or least elements along one dim, in order, and where they are.

    Args:
        input: a real tensor of any shape; NaN counts as the greatest.
        k: how many, at most the size of the dim.
        dim: the dim to search.
        largest: the greatest in descending order; else the least in ascending order.
        sorted: return them in order, which is done in any case.

    Returns: the named tuple `(values, indices)`, of size `k` along `dim`; the indices are
        int64.

    Raises:
        RuntimeError: `k` is negative or exceeds the size of the dim.
        IndexError: `input` has no such dim.
        NotImplementedError: `input` is bool or complex.

    Example:
        >>> gw.topk(gw.tensor([3.0, 1.0, 2.0]), 2)
        graphwright.return_types.topk(
        values=tensor([3., 2.]),
        indices=tensor([0, 2]))
    """,
)


def _picked(made: Any, input: Any, dim: int, places: Any, keepdim: bool) -> Any:
    """Values at the places found with keepdim, as a `made`."""
    values = ops.gather(input, dim, places)
    if keepdim or not input.shape:
        return made(values, places)
    return made(ops.squeeze(values, dim), ops.squeeze(places, dim))


def _one_place(input: Any, dim: int) -> Any:
    return contiguous_spec(input, _topk_shape(input, 1, dim), dtypes.int64)


def _check_kth(input: Any, k: int, dim: int) -> None:
    require_ordered("kthvalue", input)
    require_supported("kthvalue", input, bool=False)
    check_nonempty("kthvalue", input.shape, (dim,))
    size = input.shape[dim] if input.shape else 1
    if k < 1 or k > size:
        raise RuntimeError(
            f"kthvalue(): selected number k out of range for dimension {dim}: k={k}, "
            f"{describe(input)}"
        )


def _kth_meta(input: Any, k: int, dim: int) -> Any:
    _check_kth(input, k, dim)
    return _one_place(input, dim)


def _kth_eager(input: Any, k: int, dim: int) -> Tensor:
    _check_kth(input, k, dim)
    if not input.shape:
        return wrap(np.zeros((), np.int64), dtypes.int64)
    places = np.argpartition(wide_array(input), k - 1, dim)
    return wrap(places[_along(dim, slice(k - 1, k))], dtypes.int64)


define(
    "kth_position(Tensor input, int k, Dim dim)",
    Kind.OTHER,
    meta=_kth_meta,
    vjp=not_differentiable,
    eager=_kth_eager,
    method=False,
    public=False,
)
define(
    "kthvalue(Tensor input, SymInt k, Dim dim=-1, bool keepdim=False)",
    Kind.COMPOSITE,
    decompose=lambda input, k, dim, keepdim: _picked(
        return_types.kthvalue, input, dim, ops.kth_position(input.detach(), k, dim), keepdim
    ),
    doc="""The `k`-th least element along one dim, counted from 1, and where it is.

    Args:
        input: a real tensor of any shape; NaN counts as the greatest.
        k: which one in ascending order: from 1 to the size of the dim.
        dim: the dim to search.
        keepdim: keep that dim with size 1.

    Returns: the named tuple `(values, indices)` of the shape of `input` without `dim`; the
        indices are int64.

    Raises:
        RuntimeError: `k` is out of range.
        IndexError: `input` has no such dim, or that dim is empty.
        NotImplementedError: `input` is bool or complex.

    Example:
        >>> gw.kthvalue(gw.tensor([3.0, 1.0, 2.0]), 2)
        graphwright.return_types.kthvalue(
        values=tensor(2.),
        indices=tensor(2))
    """,
)


# -- median


def _check_median(name: str, input: Any, dim: int) -> None:
    require_ordered(name, input)
    require_supported(name, input, bool=False)
    check_nonempty(name, input.shape, (dim,))


def _median_places(array: Any, dim: int, skip_nan: bool) -> Any:
    """The lower median; a NaN where there is one, unless those are skipped."""
    size = array.shape[dim]
    missing = np.isnan(array).sum(axis=dim, keepdims=True) if array.dtype.kind == "f" else None
    if size > 512 and (missing is None or not missing.any()):
        at = (size - 1) // 2
        return np.argpartition(array, at, dim)[_along(dim, slice(at, at + 1))]
    if missing is None:
        missing = np.zeros((*array.shape[:dim], 1, *array.shape[dim + 1 :]), np.int64)
    if skip_nan:
        rank = np.maximum(size - missing - 1, 0) // 2
    else:
        rank = np.where(missing > 0, size - missing, (size - 1) // 2)
    order = np.argsort(array, axis=dim, kind="stable")
    return np.take_along_axis(order, rank, dim)


def _median_eager(input: Any, dim: int, skip_nan: bool) -> Tensor:
    _check_median("nanmedian" if skip_nan else "median", input, dim)
    if not input.shape:
        return wrap(np.zeros((), np.int64), dtypes.int64)
    return wrap(_median_places(wide_array(input), dim, skip_nan), dtypes.int64)


def _median_meta(input: Any, dim: int, skip_nan: bool) -> Any:
    _check_median("nanmedian" if skip_nan else "median", input, dim)
    return _one_place(input, dim)


def _median_by_order(input: Any, dim: int, skip_nan: bool) -> Any:
    order = ops.argsort(input, dim)
    size = input.shape[dim] if input.shape else 1
    rank: Any = (size - 1) // 2
    if not input.dtype.is_floating_point or not input.shape:
        return ops.narrow(order, dim, rank, 1) if input.shape else order
    missing = ops.sum(ops.isnan(input), (dim,), True)
    if skip_nan:
        last = ops.clamp(ops.rsub(missing, size - 1), 0)
        return ops.gather(order, dim, ops.floor_divide(last, 2))
    behind = ops.clamp(ops.rsub(missing, size), None, size - 1)
    return ops.gather(order, dim, ops.where(ops.gt(missing, 0), behind, rank))


define(
    "median_position(Tensor input, Dim dim, bool skip_nan)",
    Kind.OTHER,
    meta=_median_meta,
    vjp=not_differentiable,
    decompose=_median_by_order,
    eager=_median_eager,
    tags=("whole",),
    method=False,
    public=False,
)


def _quick_median(input: Any) -> Tensor:
    """The lower median of all elements of a real tensor: NaNs come last in order."""
    flat = wide_array(input).reshape(-1)
    at = (flat.size - 1) // 2
    ordered = np.partition(flat, (at, flat.size - 1)) if flat.size > 512 else np.sort(flat)
    last = ordered[-1]
    return wrap(last if last != last else ordered[at], input.dtype)


def _median_value(input: Any, skip_nan: bool) -> Any:
    flat = ops.reshape(input, (-1,))
    place = ops.median_position(flat, 0, skip_nan)
    return ops.reshape(ops.gather(flat, 0, place), ())


def _median_value_vjp(ctx: Any, grad: Any) -> Any:
    """Ties share the gradient evenly, as in PyTorch."""
    ties = ops.eq(ctx.input, ctx.out)
    nans = ops.logical_and(ops.isnan(ctx.input), ops.isnan(ctx.out))
    ties = ops.to_dtype(ops.logical_or(ties, nans), grad.dtype)
    return ops.mul(ties, ops.div(grad, ops.sum(ties)))


define(
    "median_value(Tensor input, bool skip_nan)",
    Kind.COMPOSITE,
    meta=lambda input, skip_nan: contiguous_spec(input, ()),
    vjp=_median_value_vjp,
    saves=("input", "out"),
    decompose=_median_value,
    method=False,
    public=False,
)


def _median(name: str, skip_nan: bool) -> Any:
    def decompose(input: Any, dim: int | None, keepdim: bool) -> Any:
        if dim is not None:
            _check_median(name, input, dim)
            places = ops.median_position(input.detach(), dim, skip_nan)
            return _picked(getattr(return_types, name), input, dim, places, keepdim)
        require_ordered(name, input)
        if 0 in input.shape:
            empty = float("nan") if input.dtype.is_floating_point else np.iinfo(np.int64).min
            value = np.asarray(empty).astype(input.dtype.numpy).item()
            return ops.full((), value, dtype=input.dtype, device=input.device)
        require_supported(name, input, bool=False)
        if not skip_nan and _core.dispatch_flags((input,)) == 0:
            return _quick_median(input)
        return ops.median_value(input, skip_nan)

    return decompose


_MEDIAN_DOCS = {
    "median": """Median of all elements, or along one dim with its position; NaN if one is NaN.

    Of an even number of elements it is the lower one of the two in the middle.

    Args:
        input: a real tensor of any shape.
        dim: the dim to search; all elements if None.
        keepdim: keep that dim with size 1.

    Returns: a tensor without dims where `dim` is None, NaN of no elements (of integers, the
        least int64 converted); else the named tuple `(values, indices)` with int64 indices.

    Raises:
        IndexError: `input` has no such dim, or that dim is empty.
        NotImplementedError: `input` is bool or complex.

    Example:
        >>> gw.median(gw.tensor([4.0, 1.0, 3.0, 2.0]))
        tensor(2.)
    """,
    "nanmedian": """Median of all elements that are not NaN, or along one dim with its position.

    Of an even number of elements it is the lower one of the two in the middle; where all are
    NaN, so is the result.

    Args:
        input: a real tensor of any shape.
        dim: the dim to search; all elements if None.
        keepdim: keep that dim with size 1.

    Returns: a tensor without dims where `dim` is None; else the named tuple `(values,
        indices)` with int64 indices.

    Raises:
        IndexError: `input` has no such dim, or that dim is empty.
        NotImplementedError: `input` is bool or complex.

    Example:
        >>> gw.nanmedian(gw.tensor([3.0, 1.0, float("nan")]))
        tensor(1.)
    """,
}
for _name, _skip in (("median", False), ("nanmedian", True)):
    define(
        f"{_name}(Tensor input, Dim? dim=None, bool keepdim=False)",
        Kind.COMPOSITE,
        decompose=_median(_name, _skip),
        doc=_MEDIAN_DOCS[_name],
    )


# -- mode


def _mode_places(array: Any) -> Any:
    """Along the last dim: the least of the most frequent values, at its last occurrence."""
    order = np.argsort(array, axis=-1, kind="stable")
    ordered = np.take_along_axis(array, order, -1)
    steps = np.broadcast_to(np.arange(array.shape[-1]), array.shape)
    starts = np.ones(array.shape, bool)
    starts[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    lengths = steps - np.maximum.accumulate(np.where(starts, steps, 0), -1)
    best = np.argmax(lengths, -1, keepdims=True)
    return np.take_along_axis(order, best, -1)


def _check_mode(input: Any, dim: int) -> None:
    require_ordered("mode", input)
    check_nonempty("mode", input.shape, (dim,))


def _mode_eager(input: Any, dim: int) -> Tensor:
    _check_mode(input, dim)
    if not input.shape:
        return wrap(np.zeros((), np.int64), dtypes.int64)
    places = _mode_places(np.moveaxis(wide_array(input), dim, -1))
    return wrap(np.moveaxis(places, -1, dim), dtypes.int64)


def _mode_meta(input: Any, dim: int) -> Any:
    _check_mode(input, dim)
    return _one_place(input, dim)


def _mode_by_order(input: Any, dim: int) -> Any:
    """As `_mode_places`, by ops."""
    order = ops.argsort(input, dim)
    if not input.shape:
        return order
    size = input.shape[dim]
    ordered = ops.gather(input, dim, order)
    shape = [1] * input.ndim
    shape[dim] = size
    steps = ops.expand(ops.reshape(ops.arange(size, device=input.device), shape), input.shape)
    changed = ops.ne(ops.narrow(ordered, dim, 1, size - 1), ops.narrow(ordered, dim, 0, size - 1))
    first = ops.full((*input.shape[:dim], 1, *input.shape[dim + 1 :]), True, dtype=dtypes.bool,
                     device=input.device)
    starts = ops.cat([first, changed], dim)
    lengths = ops.sub(steps, ops.cummax(ops.where(starts, steps, 0), dim).values)
    return ops.gather(order, dim, ops.argmax(lengths, dim, True))


define(
    "mode_position(Tensor input, Dim dim)",
    Kind.OTHER,
    meta=_mode_meta,
    vjp=not_differentiable,
    decompose=_mode_by_order,
    eager=_mode_eager,
    tags=("whole",),
    method=False,
    public=False,
)
define(
    "mode(Tensor input, Dim dim=-1, bool keepdim=False)",
    Kind.COMPOSITE,
    decompose=lambda input, dim, keepdim: _picked(
        return_types.mode, input, dim, ops.mode_position(input.detach(), dim), keepdim
    ),
    doc="""The most frequent element along one dim, and its last position; of several the least.

    Args:
        input: a real or bool tensor of any shape.
        dim: the dim to search.
        keepdim: keep that dim with size 1.

    Returns: the named tuple `(values, indices)` of the shape of `input` without `dim`; the
        indices are int64.

    Raises:
        IndexError: `input` has no such dim, or that dim is empty.
        NotImplementedError: `input` is complex.

    Example:
        >>> gw.mode(gw.tensor([1, 3, 3, 2, 2]))
        graphwright.return_types.mode(
        values=tensor(2),
        indices=tensor(4))
    """,
)
