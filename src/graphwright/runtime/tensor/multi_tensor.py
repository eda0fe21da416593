"""Functions that take any number of tensors, or of shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.runtime._core import TensorBase
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
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
    """Shape to which all given shapes broadcast.

    Args:
        shapes: tuples or lists of ints; an int is a shape of one dim.

    Returns: a Size.

    Raises:
        RuntimeError: the shapes are not broadcastable, or are no ints.
        ValueError: a size is negative.

    Example:
        >>> gw.broadcast_shapes((2, 1), (3,))
        graphwright.Size([2, 3])
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
    """Views of all tensors in the shape to which they broadcast.

    Args:
        tensors: tensors whose shapes are broadcastable.

    Returns: a tuple of views, which repeat elements.

    Raises:
        RuntimeError: the shapes are not broadcastable.

    Example:
        >>> a, b = gw.broadcast_tensors(gw.tensor([1, 2]), gw.tensor([[3], [4]]))
        >>> a
        tensor([[1, 2],
                [1, 2]])
    """
    return ops.broadcast_tensors(tensors)


def block_diag(*tensors: Any) -> Any:
    """Matrix of zeros with the given matrices along its diagonal.

    Args:
        tensors: matrices; a tensor of 0 or 1 dims is a row. Dtypes are promoted.

    Returns: a tensor of 2 dims.

    Raises:
        RuntimeError: a tensor has more than 2 dims.

    Example:
        >>> gw.block_diag(gw.tensor([[1, 2]]), gw.tensor(3))
        tensor([[1, 2, 0],
                [0, 0, 3]])
    """
    return ops.block_diag(tensors)


def cartesian_prod(*tensors: Any) -> Any:
    """All combinations of one element of each tensor, a row for each.

    Args:
        tensors: tensors of 1 dim and one dtype.

    Returns: a tensor of shape `(n * m * ..., number of tensors)`; a single tensor as it is.

    Raises:
        RuntimeError: a tensor has not 1 dim.

    Example:
        >>> gw.cartesian_prod(gw.tensor([1, 2]), gw.tensor([3, 4]))
        tensor([[1, 3],
                [1, 4],
                [2, 3],
                [2, 4]])
    """
    return ops.cartesian_prod(tensors)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Any, ...]:
    """Grids of coordinates: each tensor expanded along the dims of the others.

    Args:
        tensors: tensors of 0 or 1 dims and one dtype, or a list of them.
        indexing: "ij" (also if None), or "xy", where the first two dims are swapped.

    Returns: a tuple of views, one for each tensor.

    Raises:
        RuntimeError: a tensor has more than 1 dim, dtypes differ, or `indexing` is unknown.

    Example:
        >>> x, y = gw.meshgrid(gw.tensor([1, 2]), gw.tensor([3, 4]), indexing="ij")
        >>> x
        tensor([[1, 1],
                [2, 2]])
    """
    return ops.meshgrid(_list_of(tensors), indexing=indexing)


def _at_least(name: str, tensors: tuple[Any, ...]) -> Any:
    function = getattr(ops, name)
    if len(tensors) == 1 and not isinstance(tensors[0], list | tuple):
        return function(tensors[0])
    return tuple(function(t) for t in _list_of(tensors))


def atleast_1d(*tensors: Any) -> Any:
    """Tensors with at least 1 dim: one without dims gets a dim of size 1.

    Args:
        tensors: a tensor, several, or a list of them.

    Returns: the tensor, or a tuple of tensors.

    Example:
        >>> gw.atleast_1d(gw.tensor(3))
        tensor([3])
    """
    return _at_least("atleast_1d", tensors)


def atleast_2d(*tensors: Any) -> Any:
    """Tensors with at least 2 dims: missing dims of size 1 are put in front.

    Args:
        tensors: a tensor, several, or a list of them.

    Returns: the tensor, or a tuple of tensors.

    Example:
        >>> gw.atleast_2d(gw.tensor([1, 2]))
        tensor([[1, 2]])
    """
    return _at_least("atleast_2d", tensors)


def atleast_3d(*tensors: Any) -> Any:
    """Tensors with at least 3 dims: `(n,)` becomes `(1, n, 1)`, `(n, m)` becomes `(n, m, 1)`.

    Args:
        tensors: a tensor, several, or a list of them.

    Returns: the tensor, or a tuple of tensors.

    Example:
        >>> gw.atleast_3d(gw.ones(2)).shape
        graphwright.Size([1, 2, 1])
    """
    return _at_least("atleast_3d", tensors)


def unravel_index(indices: Any, shape: int | Sequence[int]) -> tuple[Any, ...]:
    """Coordinates of flat positions in a row-major array.

    Args:
        indices: flat positions, a tensor of integers; they wrap around.
        shape: the array's shape, ints.

    Returns: a tuple of int64 tensors of the shape of `indices`, one for each dim.

    Raises:
        TypeError: `indices` or `shape` are no integers.
        ValueError: a size is negative.

    Example:
        >>> gw.unravel_index(gw.tensor([1, 5]), (2, 3))
        (tensor([0, 1]), tensor([1, 2]))
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
