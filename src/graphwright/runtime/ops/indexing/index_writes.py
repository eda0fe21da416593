"""Ops that write whole slices by position: index_add, index_copy, index_fill, index_reduce."""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.creation.fill import check_held
from graphwright.runtime.ops.indexing.gather_layouts import (
    ADD,
    along,
    check_index,
    check_same_dtype,
    fresh_copy,
    layout,
    pick,
    require_places,
)
from graphwright.runtime.ops.kernels import HALVES, copy_into
from graphwright.runtime.ops.strides import contiguous_strides
from graphwright.runtime.ops.table import TABLE, Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.ops.value_checks import held
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor


def _check_vector(name: str, index: Any) -> None:
    check_index(name, index)
    if len(index.shape) > 1:
        raise IndexError(f"{name}(): the index must be a vector, got {describe(index)}")


def _check_slices(name: str, input: Any, dim: int, index: Any, source: Any) -> None:
    """Raise unless `source` has one slice along `dim` for every position.

    As in PyTorch, `index_copy` raises IndexError for another number, the others RuntimeError.
    """
    count = index.shape[0] if index.shape else 1
    have = source.shape[dim] if len(source.shape) > dim else 1
    if count != have:
        kind = IndexError if name == "index_copy" else RuntimeError
        raise kind(
            f"{name}(): the number of indices ({count}) should be equal to the source's size "
            f"along dim {dim} ({have}); got {describe(index)} and {describe(source)}"
        )
    if input.shape and source.shape:
        mine = (*input.shape[:dim], *input.shape[dim + 1 :])
        if len(mine) + 1 != len(source.shape) or mine != (
            *source.shape[:dim],
            *source.shape[dim + 1 :],
        ):
            raise RuntimeError(
                f"{name}(): the source {describe(source)} must match the input "
                f"{describe(input)} apart from dimension {dim}"
            )
    elif (len(input.shape) or 1) != (len(source.shape) or 1):
        raise RuntimeError(
            f"{name}(): the source {describe(source)} must have as many dims as the input "
            f"{describe(input)}"
        )


def _index_add_meta(input: Any, dim: int, index: Any, source: Any, alpha: Any) -> TensorSpec:
    _check_vector("index_add", index)
    check_same_dtype("index_add", "source", input, source)
    _check_slices("index_add", input, dim, index, source)
    require_places("index_add", input, dim, source.shape)
    _factor(alpha, input.dtype)
    return TensorSpec(
        input.shape, contiguous_strides(input.shape), input.dtype, input.device
    )


def _factor(alpha: Any, dtype: Any) -> Any:
    """What the source is multiplied by: a number that the dtype holds, for integers a whole one.
    """
    check_held("index_add", dtype, alpha)
    if dtype.is_floating_point or dtype.is_complex or hasattr(alpha, "expr"):
        return alpha
    return bool(alpha) if dtype is dtypes.bool else int(alpha)


def _add_slices(target: Tensor, dim: int, index: Any, source: Tensor) -> None:
    domain, strides = layout(source)
    step = index.stride()[0] if index.shape else 0
    spread = tuple(step if d == dim else 0 for d in range(len(domain)))
    memory, entries = along(target, dim, index, spread)
    pick("index_add", ADD, domain, target, memory, source, strides, entries)


def _index_add_eager(input: Any, dim: int, index: Any, source: Any, alpha: Any) -> Tensor:
    _index_add_meta(input, dim, index, source, alpha)
    half = input.dtype in HALVES
    work = dtypes.float32 if half else input.dtype
    result = fresh_copy(input, None, work)
    if half:
        source = fresh_copy(source, None, work)
    factor = _factor(alpha, input.dtype)
    if factor != 1:
        source = ops.mul(source.detach(), factor)
    _add_slices(result, dim, index, source)
    return fresh_copy(result, None, input.dtype) if half else result


def _index_add_into(input: Any, dim: int, index: Any, source: Any, alpha: Any) -> Any:
    if input.dtype in HALVES or input._storage in (index._storage, source._storage):
        copy_into(input, _index_add_eager(input, dim, index, source, alpha))
    else:
        _index_add_meta(input, dim, index, source, alpha)
        factor = _factor(alpha, input.dtype)
        scaled = source if factor == 1 else ops.mul(source.detach(), factor)
        _add_slices(input, dim, index, scaled)
    _core.bump_version(input)
    return input


def _index_add_vjp(ctx: Any, grad: Any) -> tuple[Any, Any, Any]:
    picked = None
    if ctx.needs["source"]:
        picked = ops.index_select(grad, ctx.dim, ctx.index)
        picked = ops.reshape(picked, ctx.source.shape)
        picked = picked if ctx.alpha == 1 else ops.mul(picked, ctx.alpha)
    return grad, None, picked


define(
    "index_add(Tensor input, Dim dim, Tensor index, Tensor source, *, Scalar alpha=1)",
    Kind.INDEXING,
    meta=_index_add_meta,
    vjp=_index_add_vjp,
    saves=("index?source",),
    eager=_index_add_eager,
    doc="""Copy to whose slices at given positions of one dim others are added, times `alpha`.

    Args:
        input: a tensor of any shape.
        dim: the dim.
        index: an int32 or int64 vector of positions, which may repeat; none negative.
        source: the slices, one along `dim` for each position, of the dtype of `input`.
        alpha: the factor.

    Returns: a new tensor of the shape of `input`.

    Raises:
        IndexError: a position is out of range, or `index` is no vector.
        RuntimeError: the shape or dtype of `source` does not match, or `index` has another
            dtype.

    Example:
        >>> gw.index_add(gw.zeros(3), 0, gw.tensor([0, 2, 0]), gw.ones(3), alpha=2)
        tensor([4., 0., 2.])
    """,
)
define(
    "index_add_(Tensor input, Dim dim, Tensor index, Tensor source, *, Scalar alpha=1)",
    Kind.INPLACE,
    functional="index_add",
    eager=_index_add_into,
    public=False,
)


# -- the others, as scatters of whole slices


def _spread(index: Any, dim: int, source: Any) -> Any:
    """The index seen once for every element of the source."""
    if not source.shape:
        return ops.reshape(index, ())
    ends = (1,) * (len(source.shape) - dim - 1)
    return ops.expand(ops.reshape(index, (*(1,) * dim, -1, *ends)), source.shape)


def _check_copy(input: Any, dim: int, index: Any, source: Any) -> None:
    _check_vector("index_copy", index)
    if index.dtype is not dtypes.int64:
        raise RuntimeError(f"index_copy(): expected an index of int64, got {describe(index)}")
    check_same_dtype("index_copy", "source", input, source)
    _check_slices("index_copy", input, dim, index, source)


def _index_copy(input: Any, dim: int, index: Any, source: Any) -> Any:
    _check_copy(input, dim, index, source)
    if 0 in source.shape:
        return ops.contiguous(input)
    return ops.scatter_src(input, dim, _spread(index, dim, source), source)


def _index_copy_into(input: Any, dim: int, index: Any, source: Any) -> Any:
    _check_copy(input, dim, index, source)
    if 0 in source.shape:
        _core.bump_version(input)
        return input
    return TABLE["scatter_src_"].run(input, dim, _spread(index, dim, source), source)


define(
    "index_copy(Tensor input, Dim dim, Tensor index, Tensor source)",
    Kind.COMPOSITE,
    decompose=_index_copy,
    doc="""Copy whose slices at given positions of one dim are other slices.

    Args:
        input: a tensor of any shape.
        dim: the dim.
        index: an int64 vector of positions, none negative; of several slices for one position
            the last counts.
        source: the slices, one along `dim` for each position, of the dtype of `input`.

    Returns: a new tensor of the shape of `input`.

    Raises:
        IndexError: a position is out of range, or `source` has another number of slices.
        RuntimeError: the other sizes or a dtype do not match.

    Example:
        >>> gw.index_copy(gw.zeros(3), 0, gw.tensor([0, 2]), gw.tensor([1.0, 2.0]))
        tensor([1., 0., 2.])
    """,
)
define(
    "index_copy_(Tensor input, Dim dim, Tensor index, Tensor source)",
    Kind.INPLACE,
    functional="index_copy",
    eager=_index_copy_into,
    public=False,
)


def _filling(input: Any, index: Any, value: Any) -> Any:
    """The value to fill with, as a tensor."""
    if index.dtype is not dtypes.int64:
        raise IndexError(f"index_fill(): expected an index of dtype int64, got {describe(index)}")
    _check_vector("index_fill", index)
    if isinstance(value, Tensor):
        if value.ndim:
            raise RuntimeError(
                "index_fill(): only a 0-dimensional value tensor is supported, got "
                f"{describe(value)}"
            )
        return held("index_fill", value, input.dtype)
    if value is None:
        raise TypeError("expected a tensor or a number")
    if isinstance(value, complex) and not input.dtype.is_complex:
        raise RuntimeError(
            f"index_fill(): a complex value cannot be written to {describe(input)}"
        )
    return ops.full((), value, dtype=input.dtype, device=input.device)


def _index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    is_tensor = isinstance(value, Tensor)
    value = _filling(input, index, value)
    if not input.shape:
        whole = ops.reshape(input, (1,))
        return ops.reshape(_index_fill(whole, 0, index, value), ())
    index = ops.reshape(index, (-1,))
    if not is_tensor:
        return ops.index_put(input, (*(None,) * dim, index), value)
    yes = ops.full((), True, dtype=dtypes.bool, device=input.device)
    nowhere = ops.full((input.shape[dim],), False, dtype=dtypes.bool, device=input.device)
    rows = ops.index_put(nowhere, (index,), yes)
    return ops.where(ops.reshape(rows, (-1, *(1,) * (input.ndim - dim - 1))), value, input)


define(
    "index_fill(Tensor input, Dim dim, Tensor index, Operand value)",
    Kind.COMPOSITE,
    decompose=_index_fill,
    doc="""Copy whose slices at given positions of one dim are filled with a number.

    Args:
        input: a tensor of any shape.
        dim: the dim.
        index: an int64 vector of positions; negative ones count from the end.
        value: a number, or a tensor without dims.

    Returns: a new tensor of the shape and dtype of `input`.

    Raises:
        IndexError: a position is out of range, or `index` has another dtype or more dims.
        RuntimeError: `value` has dims, or the dtype of `input` does not hold it.

    Example:
        >>> gw.index_fill(gw.zeros(3), 0, gw.tensor([0, 2]), 5)
        tensor([5., 0., 5.])
    """,
)


def _index_fill_into(input: Any, dim: int, index: Any, value: Any) -> Any:
    value = _filling(input, index, value)
    target = input if input.shape else ops.reshape(input, (1,))
    TABLE["index_put_"].run(target, (*(None,) * dim, ops.reshape(index, (-1,))), value, False)
    return input


define(
    "index_fill_(Tensor input, Dim dim, Tensor index, Operand value)",
    Kind.INPLACE,
    functional="index_fill",
    eager=_index_fill_into,
    public=False,
)


def _index_reduce(
    input: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool
) -> Any:
    _check_vector("index_reduce", index)
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            "index_reduce(): reduce argument must be either prod, mean, amax or amin, "
            f"got {reduce}"
        )
    check_same_dtype("index_reduce", "source", input, source)
    _check_slices("index_reduce", input, dim, index, source)
    spread = _spread(index, dim, source)
    return ops.scatter_reduce(input, dim, spread, source, reduce, include_self=include_self)


_REDUCE = (
    "Tensor input, Dim dim, Tensor index, Tensor source, str reduce, *, bool include_self=True"
)
define(
    f"index_reduce({_REDUCE})",
    Kind.COMPOSITE,
    decompose=_index_reduce,
    doc="""Copy whose slices at given positions of one dim are reduced with other slices.

    Args:
        input: a tensor of any shape.
        dim: the dim.
        index: an int32 or int64 vector of positions, which may repeat; none negative.
        source: the slices, one along `dim` for each position, of the dtype of `input`.
        reduce: "prod", "mean", "amax" or "amin".
        include_self: the slices of `input` take part.

    Returns: a new tensor of the shape of `input`.

    Raises:
        IndexError: a position is out of range, or `index` is no vector.
        RuntimeError: the shape or dtype of `source` does not match, or `reduce` is another
            word.

    Example:
        >>> gw.index_reduce(gw.ones(2), 0, gw.tensor([0, 0]), gw.tensor([2.0, 3.0]), "prod")
        tensor([6., 1.])
    """,
)
define(f"index_reduce_({_REDUCE})", Kind.INPLACE, functional="index_reduce", public=False)
