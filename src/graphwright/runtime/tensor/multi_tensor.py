"""Functions that take any number of tensors, or of shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.runtime._core import TensorBase
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.strides import broadcast_shapes as _broadcast
from graphwright.runtime.ops.strides import product
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.from_data import tensor
from graphwright.runtime.tensor.size import Size

Ints = tuple[int, ...]


def _list_of(tensors: tuple[Any, ...]) -> tuple[Any, ...]:
    """`f(a, b)` and `f([a, b])` alike."""
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        return tuple(tensors[0])
    return tensors


def broadcast_shapes(*shapes: int | Sequence[int]) -> Ints:
    """The shape to which all broadcast; an int is a shape of one dim.

    Raises RuntimeError where they do not, or are no ints, ValueError where a size is negative.
    """
    for shape in shapes:
        if not isinstance(shape, int | SymInt | list | tuple):
            raise RuntimeError(
                "broadcast_shapes(): expected shapes to be ints, tuples or lists of ints, got "
                f"{describe(shape)}"
            )
    sizes = [tuple(s) if isinstance(s, list | tuple) else (s,) for s in shapes]
    for shape in sizes:
        if any(n < 0 for n in shape):
            raise ValueError(f"broadcast_shapes: a size is negative in {list(shape)}")
    return Size(_broadcast("broadcast_shapes", sizes) if sizes else ())


def broadcast_tensors(*tensors: Any) -> tuple[Any, ...]:
    """Views of all tensors in the shape to which they broadcast."""
    return ops.broadcast_tensors(tensors)


def block_diag(*tensors: Any) -> Any:
    """A matrix of zeros with the given matrices (0-d to 2-d) along its diagonal."""
    return ops.block_diag(tensors)


def cartesian_prod(*tensors: Any) -> Any:
    """All combinations of one element of each 1-d tensor, a row for each."""
    return ops.cartesian_prod(tensors)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Any, ...]:
    """Grids of coordinates of 0-d or 1-d tensors: expanded views, one for each.

    `indexing`: "ij" (the default) or "xy", where the first two dims are swapped.
    """
    return ops.meshgrid(_list_of(tensors), indexing=indexing)


def _at_least(name: str, tensors: tuple[Any, ...]) -> Any:
    function = getattr(ops, name)
    if len(tensors) == 1 and not isinstance(tensors[0], list | tuple):
        return function(tensors[0])
    return tuple(function(t) for t in _list_of(tensors))


def atleast_1d(*tensors: Any) -> Any:
    """The tensor, or all of them as a tuple, with at least one dim."""
    return _at_least("atleast_1d", tensors)


def atleast_2d(*tensors: Any) -> Any:
    """The tensor, or all of them as a tuple, with at least two dims."""
    return _at_least("atleast_2d", tensors)


def atleast_3d(*tensors: Any) -> Any:
    """The tensor, or all of them as a tuple, with at least three dims."""
    return _at_least("atleast_3d", tensors)


def unravel_index(indices: Any, shape: int | Sequence[int]) -> tuple[Any, ...]:
    """Coordinates in a row-major array of `shape` of flat positions, a tensor for each dim.

    Positions wrap around. Raises TypeError unless they are integers, ValueError for a shape
    with a negative size.
    """
    if not hasattr(indices, "dtype") or indices.dtype.is_floating_point \
            or indices.dtype is dtypes.bool or indices.dtype.is_complex:
        raise TypeError(
            f"unravel_index(): expected 'indices' to be integer dtype, but got {describe(indices)}"
        )
    if isinstance(shape, TensorBase):
        raise TypeError(f"unravel_index(): expected 'shape' to be ints, but got {describe(shape)}")
    if hasattr(shape, "tolist"):
        shape = shape.tolist()
    sizes = tuple(shape) if isinstance(shape, list | tuple) else (shape,)
    if not all(hasattr(n, "__index__") for n in sizes):
        raise TypeError(f"unravel_index(): expected 'shape' to be ints, but got {shape}")
    if any(n < 0 for n in sizes):
        raise ValueError(f"unravel_index(): 'shape' cannot have negative values, but got {shape}")
    steps = [product(sizes[d + 1 :]) for d in range(len(sizes))]
    if not sizes:
        return ()
    flat = ops.unsqueeze(indices, -1)
    like = {"dtype": dtypes.int64, "device": indices.device}
    places = ops.div(flat, tensor(steps, **like), rounding_mode="floor")
    return ops.unbind(ops.remainder(places, tensor(list(sizes), **like)), -1)
