"""Extrema: the greatest and least elements, their positions, and whether any or all are true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.dtype_rules import require_ordered, wide_array
from graphwright.runtime.ops.kernels import as_contiguous, compute_type
from graphwright.runtime.ops.reductions.folds import reduced_shape, reduced_spec, restore_dims
from graphwright.runtime.ops.table import Kind, define, not_differentiable, op
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.tensor import Tensor


def check_nonempty(name: str, shape: tuple[Any, ...], dim: tuple[int, ...] | None) -> None:
    """Raise unless there is something to compare.

    Raises RuntimeError for all dims (None) of an empty tensor, IndexError for an empty dim.
    """
    if dim is None:
        if 0 in shape:
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                f"Specify the reduction dim with the 'dim' argument. Input has shape {list(shape)}"
            )
        return
    for d in dim:
        if shape and shape[d] == 0:
            raise IndexError(
                f"{name}(): Expected reduction dim {d} to have non-zero size, "
                f"input has shape {list(shape)}"
            )


def _all_dims(input: Any, dim: tuple[int, ...] | None) -> tuple[int, ...]:
    return tuple(range(len(input.shape))) if dim is None else dim


def _extremum_kernel(name: str, ufunc: Any) -> Callable[..., Tensor]:
    def eager(input: Any, dim: tuple[int, ...] | None, keepdim: bool) -> Tensor:
        check_nonempty(name, input.shape, dim)
        require_ordered(name, input)
        dims = _all_dims(input, dim)
        out = _core.empty(Tensor, reduced_shape(input.shape, dims, keepdim), input.dtype)
        ufunc.reduce(input._nd, dims, None, out._nd, keepdim)
        return out

    return eager


def _extremum_meta(name: str) -> Callable[..., TensorSpec]:
    def meta(input: Any, dim: tuple[int, ...] | None, keepdim: bool) -> TensorSpec:
        check_nonempty(name, input.shape, dim)
        require_ordered(name, input)
        return reduced_spec(input, _all_dims(input, dim), keepdim, input.dtype)

    return meta


def _extremum_vjp(ctx: Any, grad: Any) -> Any:
    """Ties share the gradient evenly, as in PyTorch."""
    shape = ctx.input.shape
    dim = _all_dims(ctx.input, ctx.dim)
    grad = restore_dims(grad, shape, dim, ctx.keepdim)
    out = restore_dims(ctx.out, shape, dim, ctx.keepdim)
    ties = ops.eq(ctx.input, out)
    nans = ops.logical_and(ops.isnan(ctx.input), ops.isnan(out))
    ties = ops.to_dtype(ops.logical_or(ties, nans), grad.dtype)
    return ops.mul(ties, ops.div(grad, ops.sum(ties, dim, True)))


_EXTREMA: dict[str, Any] = {"amax": np.maximum, "amin": np.minimum}
_EXTREMA_DOCS = {
    "amax": """Greatest of the elements, of all or along some dims; NaN if one is NaN.

    Elements that share the maximum share its gradient evenly.

    Args:
        input: a real or bool tensor of any shape.
        dim: the dim or dims to compare along; all if None or empty.
        keepdim: keep each of these dims with size 1.

    Returns: a tensor of the dtype of `input`, of its shape without `dim`.

    Raises:
        NotImplementedError: `input` is complex.
        IndexError: `input` has no such dim, or a dim is empty.
        RuntimeError: `input` has no elements and no dim is given.

    Example:
        >>> gw.amax(gw.tensor([[1, 5], [7, 2]]), 1)
        tensor([5, 7])
    """,
    "amin": """Least of the elements, of all or along some dims; NaN if one is NaN.

    Elements that share the minimum share its gradient evenly.

    Args:
        input: a real or bool tensor of any shape.
        dim: the dim or dims to compare along; all if None or empty.
        keepdim: keep each of these dims with size 1.

    Returns: a tensor of the dtype of `input`, of its shape without `dim`.

    Raises:
        NotImplementedError: `input` is complex.
        IndexError: `input` has no such dim, or a dim is empty.
        RuntimeError: `input` has no elements and no dim is given.

    Example:
        >>> gw.amin(gw.tensor([[1, 5], [7, 2]]), 1)
        tensor([1, 2])
    """,
}
for _name, _ufunc in _EXTREMA.items():
    define(
        f"{_name}(Tensor input, Dims? dim=None, bool keepdim=False)",
        Kind.REDUCTION,
        meta=_extremum_meta(_name),
        vjp=_extremum_vjp,
        saves=("input", "out"),
        eager=_extremum_kernel(_name, _ufunc),
        doc=_EXTREMA_DOCS[_name],
    )


def _test_dtype(input: Any) -> DType:
    """uint8 answers in uint8, as in PyTorch."""
    return dtypes.uint8 if input.dtype is dtypes.uint8 else dtypes.bool


def _test_kernel(ufunc: Any) -> Callable[..., Tensor]:
    def eager(input: Any, dim: tuple[int, ...], keepdim: bool) -> Tensor:
        array = input._nd if input.dtype is dtypes.bool else input._nd != 0
        out = _core.empty(Tensor, reduced_shape(input.shape, dim, keepdim), _test_dtype(input))
        ufunc.reduce(array, dim, None, out._nd, keepdim)
        return out

    return eager


_TESTS: dict[str, Any] = {"any": np.logical_or, "all": np.logical_and}
_TEST_DOCS = {
    "any": """Whether any element is not zero, of all or along some dims. NaN is not zero.

    Args:
        input: a tensor of any shape and dtype.
        dim: the dim or dims to look along; all if None, none if empty.
        keepdim: keep each of these dims with size 1.

    Returns: a bool tensor (uint8 for uint8) of the shape of `input` without `dim`; False where
        there are no elements.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> gw.any(gw.tensor([[0, 0], [0, 3]]), 1)
        tensor([False,  True])
    """,
    "all": """Whether all elements are not zero, of all or along some dims. NaN is not zero.

    Args:
        input: a tensor of any shape and dtype.
        dim: the dim or dims to look along; all if None, none if empty.
        keepdim: keep each of these dims with size 1.

    Returns: a bool tensor (uint8 for uint8) of the shape of `input` without `dim`; True where
        there are no elements.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> gw.all(gw.tensor([[1, 1], [0, 3]]), 1)
        tensor([ True, False])
    """,
}
for _name, _ufunc in _TESTS.items():
    define(
        f"{_name}(Tensor input, DimsExact dim=None, bool keepdim=False)",
        Kind.REDUCTION,
        meta=lambda input, dim, keepdim: reduced_spec(input, dim, keepdim, _test_dtype(input)),
        vjp=not_differentiable,
        eager=_test_kernel(_ufunc),
        doc=_TEST_DOCS[_name],
    )


def _check_position(name: str, input: Any, dim: int | None) -> tuple[int, ...]:
    """The dims to search. Raises IndexError where they are empty."""
    if input.dtype is dtypes.bool or input.dtype.is_complex:
        raise RuntimeError(f"{name}(): does not support {input.dtype.name} input")
    if dim is None and 0 in input.shape:
        raise IndexError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0, "
            f"input has shape {list(input.shape)}"
        )
    dims = _all_dims(input, None if dim is None else (dim,)[: len(input.shape)])
    check_nonempty(name, input.shape, dims)
    return dims


def _position_meta(name: str) -> Callable[..., TensorSpec]:
    def meta(input: Any, dim: int | None, keepdim: bool) -> TensorSpec:
        return reduced_spec(input, _check_position(name, input, dim), keepdim, dtypes.int64)

    return meta


def _position_kernel(name: str) -> Callable[..., Tensor]:
    def eager(input: Any, dim: int | None, keepdim: bool) -> Tensor:
        dims = _check_position(name, input, dim)
        if dim is None:
            input = as_contiguous(input, compute_type(input.dtype))
        array = wide_array(input)
        out = _core.empty(Tensor, reduced_shape(input.shape, dims, keepdim), dtypes.int64)
        if array.ndim:
            getattr(array, name)(dim, out._nd, keepdims=keepdim)
        else:
            out._nd[...] = 0
        return out

    return eager


_POSITION_DOCS = {
    "argmax": """Position of the greatest element, of all or along one dim: the first of several.

    NaN counts as the greatest.

    Args:
        input: a real tensor of any shape.
        dim: the dim to search; None searches all elements in row-major order.
        keepdim: keep that dim with size 1.

    Returns: an int64 tensor of the shape of `input` without `dim`.

    Raises:
        RuntimeError: `input` is bool or complex.
        IndexError: `input` has no such dim, or there are no elements to search.

    Example:
        >>> gw.argmax(gw.tensor([[1, 5], [7, 2]]), 1)
        tensor([1, 0])
    """,
    "argmin": """Position of the least element, of all or along one dim: the first of several.

    NaN counts as the least.

    Args:
        input: a real tensor of any shape.
        dim: the dim to search; None searches all elements in row-major order.
        keepdim: keep that dim with size 1.

    Returns: an int64 tensor of the shape of `input` without `dim`.

    Raises:
        RuntimeError: `input` is bool or complex.
        IndexError: `input` has no such dim, or there are no elements to search.

    Example:
        >>> gw.argmin(gw.tensor([[1, 5], [7, 2]]), 1)
        tensor([0, 1])
    """,
}
for _name in ("argmax", "argmin"):
    define(
        f"{_name}(Tensor input, Dim? dim=None, bool keepdim=False)",
        Kind.REDUCTION,
        meta=_position_meta(_name),
        vjp=not_differentiable,
        eager=_position_kernel(_name),
        doc=_POSITION_DOCS[_name],
    )


def _extremum(pointwise: str, full: str, position: str) -> Any:
    name = "max" if full == "amax" else "min"

    def decompose(input: Any, dim: Any, keepdim: bool) -> Any:
        if not isinstance(input, Tensor):
            raise TypeError(
                f"{name}(): argument 'input' must be Tensor, not {type(input).__name__}"
            )
        if dim is None:
            check_nonempty(name, input.shape, None)
            require_ordered(name, input)
            return getattr(ops, full)(input)
        if isinstance(dim, Tensor) and not keepdim:
            return getattr(ops, pointwise)(input, dim)
        at = wrap_dim(dim, input.ndim)
        check_nonempty(name, input.shape, (at,))
        require_ordered(name, input)
        searched = ops.to_dtype(input, dtypes.uint8) if input.dtype is dtypes.bool else input
        indices = getattr(ops, position)(searched, at, True)
        values = ops.gather(input, at, indices)
        if not keepdim:
            values, indices = ops.squeeze(values, at), ops.squeeze(indices, at)
        return getattr(return_types, name)(values, indices)

    return decompose


def _extremum_along(extremum: str, position: str, decompose: Any) -> Any:
    """Without a gradient, the extremum along one dim in two passes and no gather."""
    name = position.removeprefix("arg")

    def eager(input: Any, dim: Any, keepdim: bool) -> Any:
        if dim.__class__ is not int or not isinstance(input, Tensor):
            return decompose(input, dim, keepdim)
        dtype, array = input.dtype, input._nd
        at = dim + array.ndim if dim < 0 else dim
        if dtype.itemsize < 4 or dtype.is_complex or not 0 <= at < array.ndim or not array.size:
            return decompose(input, dim, keepdim)
        shape = reduced_shape(array.shape, (at,), keepdim)
        values = getattr(ops, extremum)(input, (at,), keepdim)
        indices = _core.empty(Tensor, shape, dtypes.int64)
        getattr(array, position)(at, indices._nd, keepdims=keepdim)
        return getattr(return_types, name)(values, indices)

    return eager


_MAX = _extremum("maximum", "amax", "argmax")
_MIN = _extremum("minimum", "amin", "argmin")
define(
    "max(Tensor input, object dim=None, bool keepdim=False)",
    Kind.COMPOSITE,
    decompose=_MAX,
    eager=_extremum_along("amax", "argmax", _MAX),
    doc="""Greatest element of all, along one dim with its position, or elementwise of two tensors.

    NaN counts as the greatest. Of all elements the gradient is shared evenly among those that
    are the maximum; along a dim the element at the position gets it.

    Args:
        input: a real or bool tensor of any shape.
        dim: the dim to compare along; None compares all elements; a tensor is the other
            operand of `maximum`.
        keepdim: keep that dim with size 1.

    Returns: a tensor without dims where `dim` is None; the named tuple `(values, indices)`
        where it is an int, with int64 indices; the elementwise maximum where it is a tensor.

    Raises:
        NotImplementedError: `input` is complex.
        IndexError: `input` has no such dim, or that dim is empty.
        RuntimeError: `input` has no elements and `dim` is None.

    Example:
        >>> gw.max(gw.tensor([[1, 5], [7, 2]]), 1)
        graphwright.return_types.max(
        values=tensor([5, 7]),
        indices=tensor([1, 0]))
    """,
)
define(
    "min(Tensor input, object dim=None, bool keepdim=False)",
    Kind.COMPOSITE,
    decompose=_MIN,
    eager=_extremum_along("amin", "argmin", _MIN),
    doc="""Least element of all, along one dim with its position, or elementwise of two tensors.

    NaN counts as the least. Of all elements the gradient is shared evenly among those that are
    the minimum; along a dim the element at the position gets it.

    Args:
        input: a real or bool tensor of any shape.
        dim: the dim to compare along; None compares all elements; a tensor is the other
            operand of `minimum`.
        keepdim: keep that dim with size 1.

    Returns: a tensor without dims where `dim` is None; the named tuple `(values, indices)`
        where it is an int, with int64 indices; the elementwise minimum where it is a tensor.

    Raises:
        NotImplementedError: `input` is complex.
        IndexError: `input` has no such dim, or that dim is empty.
        RuntimeError: `input` has no elements and `dim` is None.

    Example:
        >>> gw.min(gw.tensor([[1, 5], [7, 2]]), 1)
        graphwright.return_types.min(
        values=tensor([1, 2]),
        indices=tensor([0, 1]))
    """,
)


_AMIN, _AMAX = op("amin"), op("amax")


def _aminmax(input: Any, dim: int | None, keepdim: bool) -> Any:
    if dim is None and 0 in input.shape:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
            f"identity, input has shape {list(input.shape)}"
        )
    args = input, None if dim is None or not input.shape else (dim,), keepdim
    return return_types.aminmax(dispatch(_AMIN, args), dispatch(_AMAX, args))


define(
    "aminmax(Tensor input, *, Dim? dim=None, bool keepdim=False)",
    Kind.COMPOSITE,
    decompose=_aminmax,
    doc="""Least and greatest of the elements, of all or along one dim; NaN if one is NaN.

    Args:
        input: a real or bool tensor of any shape.
        dim: the dim to compare along; all if None.
        keepdim: keep that dim with size 1.

    Returns: the named tuple `(min, max)` of tensors of the dtype of `input`.

    Raises:
        NotImplementedError: `input` is complex.
        IndexError: `input` has no such dim, or that dim is empty.
        RuntimeError: `input` has no elements and no dim is given.

    Example:
        >>> gw.aminmax(gw.tensor([[1, 5], [7, 2]]), dim=1)
        graphwright.return_types.aminmax(
        min=tensor([1, 2]),
        max=tensor([5, 7]))
    """,
)
