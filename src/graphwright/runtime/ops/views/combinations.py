"""Grids, products and choices of elements of vectors."""

from __future__ import annotations

import math
from itertools import chain, combinations_with_replacement
from itertools import combinations as index_combinations
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.creation.fill import check_size
from graphwright.runtime.ops.kernels import on_device
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor


def _meshgrid(tensors: tuple[Any, ...], indexing: str | None) -> tuple[Any, ...]:
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(
            f"meshgrid: indexing must be one of 'xy' or 'ij', but received: {indexing}"
        )
    for tensor in tensors:
        if tensor.ndim > 1:
            raise RuntimeError(
                "meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                f"{describe(tensor)}"
            )
        if tensor.dtype is not tensors[0].dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    swapped = indexing == "xy" and len(tensors) > 1
    given = (tensors[1], tensors[0], *tensors[2:]) if swapped else tensors
    shape = tuple(t.shape[0] if t.ndim else 1 for t in given)
    grids = []
    for i, tensor in enumerate(given):
        lined = (*(1,) * i, shape[i], *(1,) * (len(shape) - i - 1))
        grids.append(ops.expand(ops.view(tensor, lined) if tensor.ndim else
                                ops.reshape(tensor, lined), shape))
    if swapped:
        grids[:2] = reversed(grids[:2])
    return tuple(grids)


define(
    "meshgrid(Tensor[] tensors, *, str? indexing=None)",
    Kind.COMPOSITE,
    decompose=_meshgrid,
    method=False,
    doc="""The coordinates of a grid: for each vector its values at all points.

    Args:
        tensors: vectors of one dtype, or tensors without dims, one argument each or in a
            sequence.
        indexing: "ij": dim i of the grid belongs to vector i; "xy": the first two dims are
            swapped. "ij" if None.

    Returns: a tuple with an expanded view of each vector, all of the shape of the grid.

    Raises:
        RuntimeError: there are no tensors, one has more dims, dtypes differ, or `indexing` is
            unknown.

    Example:
        >>> gw.meshgrid(gw.tensor([1, 2]), gw.tensor([3, 4]), indexing="ij")
        (tensor([[1, 1],
                [2, 2]]), tensor([[3, 4],
                [3, 4]]))
    """,
)


def _cartesian_prod(tensors: tuple[Any, ...]) -> Any:
    for tensor in tensors:
        if tensor.ndim != 1:
            raise RuntimeError(
                f"cartesian_prod: Expect a 1D vector, but got shape {list(tensor.shape)}"
            )
    if len(tensors) == 1:
        return tensors[0]
    grids = ops.meshgrid(tensors, indexing="ij")
    return ops.reshape(ops.stack(grids, -1), (-1, len(tensors)))


define(
    "cartesian_prod(Tensor[] tensors)",
    Kind.COMPOSITE,
    decompose=_cartesian_prod,
    method=False,
    doc="""All ways to take one element of each vector, as the rows of a matrix.

    Args:
        tensors: vectors of one dtype, one argument each.

    Returns: a matrix with a column for each vector; a single vector as it is.

    Raises:
        RuntimeError: a tensor is no vector, or the dtypes differ.

    Example:
        >>> gw.cartesian_prod(gw.tensor([1, 2]), gw.tensor([3, 4]))
        tensor([[1, 3],
                [1, 4],
                [2, 3],
                [2, 4]])
    """,
)


def _choices(many: int, r: int) -> int:
    """The binomial coefficient; where that has more than 63 bits, a number of as many."""
    least = min(r, many - r)
    return math.comb(many, r) if least < 64 else 1 << 64    # it is at least 2**least


def _combinations(input: Any, r: int, with_replacement: bool) -> Any:
    if input.ndim != 1:
        raise RuntimeError(f"combinations: Expect a 1D vector, but got {describe(input)}")
    if r < 0:
        raise RuntimeError(f"combinations: Expect a non-negative number, but got {r}")
    if r == 0:
        return ops.zeros((0,), dtype=input.dtype, device=input.device)
    choose = combinations_with_replacement if with_replacement else index_combinations
    many = int(input.shape[0])
    count = _choices(many + r - 1 if with_replacement and many else many, r)
    check_size("combinations", (count, r))
    chosen = chain.from_iterable(choose(range(many), r) if count else ())
    places = np.fromiter(chosen, np.int64, count * r).reshape(count, r)
    index = on_device(_core.from_ndarray(Tensor, places.reshape(-1), dtypes.int64), input.device)
    return ops.reshape(ops.index_select(input, 0, index), places.shape)


define(
    "combinations(Tensor input, int r=2, bool with_replacement=False)",
    Kind.COMPOSITE,
    decompose=_combinations,
    method=False,
    doc="""All ways to choose `r` elements of a vector, in their order, as the rows of a matrix.

    Args:
        input: a vector.
        r: how many are chosen, at least 0.
        with_replacement: an element may be chosen more than once.

    Returns: a matrix of `r` columns; an empty vector for `r = 0`.

    Raises:
        RuntimeError: `input` is no vector, or `r` is negative.

    Example:
        >>> gw.combinations(gw.tensor([1, 2, 3]))
        tensor([[1, 2],
                [1, 3],
                [2, 3]])
    """,
)
