"""Bringing arguments of ops to their one form, where `_core/dispatch/argument_forms.c` meets none
that is plain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import index
from typing import Any

from graphwright.runtime.ops.int_arguments import as_int, as_ints
from graphwright.runtime.tensor.size import Size

_ALL = tuple(tuple(range(n)) for n in range(33))


def wrap_dim(dim: Any, ndim: int) -> int:
    """`dim` in 0..ndim-1. Raises IndexError out of range, TypeError where it is no int.

    A 0-d tensor counts as having one dimension, as in PyTorch.
    """
    if dim.__class__ is int:
        if 0 <= dim < ndim:
            return dim
    else:
        dim = index(as_int("dim", dim))
    return _within(dim, ndim)


def _within(dim: int, ndim: int) -> int:
    bound = ndim or 1
    if -bound <= dim < bound:
        return dim + bound if dim < 0 else dim
    raise IndexError(
        f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], "
        f"but got {dim})"
    )


def wrap_listed(dims: Sequence[Any], ndim: int) -> list[int]:
    """Each of a sequence of dims in 0..ndim-1; in a sequence more counts as an int."""
    for dim in dims:
        if dim.__class__ is not int or not 0 <= dim < ndim:
            return [_within(index(one), ndim) for one in as_ints("dim", dims)]
    return list(dims)


def wrap_dim_optional(dim: Any, ndim: int) -> int | None:
    """As `wrap_dim`; None stays None."""
    return None if dim is None else wrap_dim(dim, ndim)


def wrap_dims(dim: Any, ndim: int) -> tuple[int, ...]:
    """One dim, several, or None or () for all: a sorted tuple without repetition.

    Raises RuntimeError where a dim appears twice.
    """
    if dim is None:
        return _ALL[ndim]
    if dim.__class__ is not int and isinstance(dim, list | tuple):
        if not dim:
            return _ALL[ndim]
        return _several(dim, ndim)
    wrapped = wrap_dim(dim, ndim)
    return (wrapped,) if ndim else ()


def _several(given: Sequence[Any], ndim: int) -> tuple[int, ...]:
    dims = sorted(wrap_listed(given, ndim))
    for a, b in pairwise(dims):
        if a == b:
            raise RuntimeError(f"dim {a} appears multiple times in the list of dims")
    return tuple(dims) if ndim else ()


def wrap_dims_given(dim: Any, ndim: int) -> tuple[int, ...]:
    """As `wrap_dims`, but raises TypeError for None, RuntimeError for () unless there are none."""
    if dim is None:
        raise TypeError("dim must be int or tuple of ints, not None")
    if ndim and _names_none(dim):
        raise RuntimeError("dim must name a dimension, and is empty")
    return wrap_dims(dim, ndim)


def wrap_lone_dim(dim: Any, ndim: int) -> tuple[int, ...]:
    """As `wrap_dims`, but raises TypeError for a sequence."""
    if dim is None:
        return _ALL[ndim]
    wrapped = wrap_dim(dim, ndim)
    return (wrapped,) if ndim else ()


def wrap_dims_optional(dim: Any, ndim: int) -> tuple[int, ...] | None:
    """As `wrap_dims`; None and () stay None: "all" differs from naming every dim."""
    if dim is None or _names_none(dim):
        return None
    return wrap_dims(dim, ndim) or None


def wrap_dims_exact(dim: Any, ndim: int) -> tuple[int, ...]:
    """As `wrap_dims`; () means no dim at all."""
    return () if _names_none(dim) else wrap_dims(dim, ndim)


def _names_none(dim: Any) -> bool:
    return dim.__class__ is not int and isinstance(dim, list | tuple) and not dim


def wrap_permutation(dims: Sequence[Any], ndim: int) -> tuple[int, ...]:
    """Distinct dims in their given order.

    Raises RuntimeError where one appears twice or there are too few, TypeError where they are no
    sequence of ints.
    """
    if not isinstance(dims, list | tuple):
        raise TypeError(f"dims must be tuple of ints, not {type(dims).__name__}")
    if len(dims) != ndim:
        as_ints("dims", dims)
        raise RuntimeError(
            f"permute: number of dimensions in the tensor ({ndim}) is not equal to the length of "
            f"the desired ordering of dimensions ({len(dims)})"
        )
    wrapped = tuple(wrap_listed(dims, ndim))
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(f"dims {list(dims)} contain a dimension twice")
    return wrapped


def as_size(size: Any) -> tuple[Any, ...]:
    """A sequence of ints as a tuple; symbolic sizes pass. Raises TypeError for one int too."""
    if size.__class__ is tuple or size.__class__ is Size:
        return size
    if isinstance(size, list | tuple):
        return tuple(size)
    raise TypeError(f"a size must be tuple of ints, not {type(size).__name__}")


def as_size_optional(size: Any) -> tuple[Any, ...] | None:
    """As `as_size`; None stays None."""
    return None if size is None else as_size(size)


def as_pair(value: Any) -> tuple[Any, Any]:
    """(v, v) for one number, the pair itself for two. Raises TypeError for other lengths."""
    if isinstance(value, list | tuple):
        if len(value) == 1:
            return value[0], value[0]
        if len(value) != 2:
            raise TypeError(f"expected one number or two, got {tuple(value)}")
        return value[0], value[1]
    return value, value


def as_pair_optional(value: Any) -> tuple[Any, Any] | None:
    """As `as_pair`; None and () mean that none is given."""
    return None if value is None or value == () or value == [] else as_pair(value)


def varargs(sizes: tuple[Any, ...], named: Any = None) -> tuple[Any, ...]:
    """`f(2, 3)`, `f((2, 3))` and, by the parameter's name, `f(size=(2, 3))` alike.

    Raises TypeError for `f()` and `f(size=2)`.
    """
    if named is not None:
        return as_size(named)
    if not sizes:
        raise TypeError("missing 1 required positional argument, a size")
    if len(sizes) == 1 and isinstance(sizes[0], list | tuple):
        return sizes[0] if sizes[0].__class__ is Size else tuple(sizes[0])
    return sizes


def as_tensors(tensors: Any) -> tuple[Any, ...]:
    """A sequence of tensors as a tuple. Raises TypeError for anything else."""
    if tensors.__class__ is tuple:
        return tensors
    if isinstance(tensors, list | tuple):
        return tuple(tensors)
    raise TypeError(
        f"an argument must be a tuple or list of Tensors, not {type(tensors).__name__}"
    )


def given_dim(op: str, dim: Any) -> int:
    """The dim that stands beside `keepdim`. Raises TypeError for what is none, as an operand."""
    return index(as_int(f"{op}(): argument 'dim'", dim))


NORMALISERS: dict[str, tuple[Callable[..., Any], int | None]] = {
    **dict.fromkeys(("Tensor[]", "Tensor?[]"), (as_tensors, None)),
    "Dim": (wrap_dim, 0),
    "Dim?": (wrap_dim_optional, 0),
    "NewDim": (wrap_dim, 1),
    "Dims": (wrap_dims, 0),
    "Dims?": (wrap_dims_optional, 0),
    "DimsGiven": (wrap_dims_given, 0),
    "LoneDim": (wrap_lone_dim, 0),
    "DimsExact": (wrap_dims_exact, 0),
    **dict.fromkeys(("Perm", "Perm*"), (wrap_permutation, 0)),
    **dict.fromkeys(("Size", "Size*"), (as_size, None)),
    "Size?": (as_size_optional, None),
    "IntPair": (as_pair, None),
    "IntPair?": (as_pair_optional, None),
}
"""What brings arguments to that form, by the parameter's type: f(value), or f(value, ndim) with so
many more dims than the tensor has. Plain arguments are converted in C, to the same."""
