"""Functional writes through views: `slice_scatter` and its relatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.indexing.gather_layouts import fresh_copy
from graphwright.runtime.ops.kernels import copy_into
from graphwright.runtime.ops.strides import preserved_strides
from graphwright.runtime.ops.table import Kind, define, op
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor.tensor import Tensor


def _view_rule(name: str) -> Callable[..., Any]:
    def rule(like: Any, *args: Any) -> Any:
        meta = op(name).meta
        assert meta is not None
        return meta(like, *args)

    return rule


def _kept_strides(input: Any) -> tuple[Any, ...]:
    """Those of the input, gaps included, unless its elements overlap."""
    strides = input.stride()
    none = [s.__class__ is int and s == 0 for s in strides]
    if any(n != 1 for n, s in zip(input.shape, none, strict=True) if s):
        return preserved_strides(input.shape, strides)
    return tuple(strides)


def _define_scatter(
    name: str, parameters: str, backward: Callable[..., Any], *, doc: str
) -> None:
    """`NAME_scatter`: a copy of the input whose view `NAME` holds `src`."""
    view = _view_rule(name)
    full = f"{name}_scatter"

    def check(input: Any, src: Any, args: tuple[Any, ...]) -> Any:
        spec = view(input, *args)
        if tuple(src.shape) != tuple(spec.shape):
            raise RuntimeError(
                f"{full}: expected src to have a size equal to the {name} of the input: src is "
                f"{describe(src)}, the view has shape {list(spec.shape)}"
            )
        return spec

    def meta(input: Any, src: Any, *args: Any) -> TensorSpec:
        check(input, src, args)
        return TensorSpec(input.shape, _kept_strides(input), input.dtype, input.device)

    def eager(input: Any, src: Any, *args: Any) -> Tensor:
        check(input, src, args)
        out = fresh_copy(input, _kept_strides(input))
        spec = view(out, *args)
        target = _core.as_view(Tensor, out, spec.shape, spec.strides, spec.offset)
        copy_into(target, src)
        return out

    def decompose(input: Any, src: Any, *args: Any) -> Any:
        check(input, src, args)
        flat = ops.reshape(input, (-1,))
        places = ops.reshape(ops.arange(input.numel(), device=input.device), input.shape)
        shown = ops.reshape(getattr(ops, name)(places, *args), (-1,))
        if src.dtype is not input.dtype:
            src = ops.to_dtype(src, input.dtype)
        written = ops.index_put(flat, (shown,), ops.reshape(src, (-1,)))
        return ops.reshape(written, input.shape)

    def vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
        args = backward(ctx)
        kept = None
        if ctx.needs["input"]:
            zeros = ops.zeros(ctx.src.shape, dtype=grad.dtype, device=grad.device)
            kept = op(full)(grad, zeros, *args)
        return kept, getattr(ops, name)(grad, *args) if ctx.needs["src"] else None

    define(
        f"{full}(Tensor input, Tensor src, {parameters})",
        Kind.INDEXING,
        meta=meta,
        vjp=vjp,
        eager=eager,
        decompose=decompose,
        doc=doc,
    )


_define_scatter(
    "slice",
    "Dim dim=0, SymInt? start=None, SymInt? end=None, SymInt? step=1",
    lambda ctx: (ctx.dim, ctx.start, ctx.end, ctx.step),
    doc="""Copy in which every `step`-th position of one dim holds other values.

    Args:
        input: a tensor of at least one dim.
        src: the values, of the shape of `input[start:end:step]` along `dim`; converted to the
            dtype of `input`.
        dim: the dim.
        start: the first position; 0 if None. Negative ones count from the end.
        end: the position behind the last one; the size of the dim if None.
        step: the distance of positions, above 0; 1 if None.

    Returns: a new tensor of the shape and dtype of `input`.

    Raises:
        RuntimeError: `src` has another shape than the slice.
        IndexError: `input` has no such dim.
        ValueError: `step` is not positive.

    Example:
        >>> gw.slice_scatter(gw.zeros(4), gw.ones(2), 0, 1, 3)
        tensor([0., 1., 1., 0.])
    """,
)
_define_scatter(
    "select",
    "Dim dim, SymInt index",
    lambda ctx: (ctx.dim, ctx.index),
    doc="""Copy in which the slice at one position of a dim holds other values.

    Args:
        input: a tensor of at least one dim.
        src: the values, of the shape of `input` without `dim`; converted to its dtype.
        dim: the dim.
        index: the position; negative ones count from the end.

    Returns: a new tensor of the shape and dtype of `input`.

    Raises:
        RuntimeError: `src` has another shape than the slice.
        IndexError: `input` has no such dim, or the dim no such position.

    Example:
        >>> gw.select_scatter(gw.zeros(2, 2), gw.ones(2), 0, 1)
        tensor([[0., 0.],
                [1., 1.]])
    """,
)
_define_scatter(
    "diagonal",
    "int offset=0, Dim dim1=0, Dim dim2=1",
    lambda ctx: (ctx.offset, ctx.dim1, ctx.dim2),
    doc="""Copy in which a diagonal of the matrices that two dims span holds other values.

    Args:
        input: a tensor of at least two dims.
        src: the values, of the shape of `diagonal`; converted to the dtype of `input`.
        offset: which diagonal: 0 is the main one, positive ones lie above it.
        dim1, dim2: the dims of the rows and of the columns.

    Returns: a new tensor of the shape and dtype of `input`.

    Raises:
        RuntimeError: `src` has another shape than the diagonal, or `dim1` and `dim2` are one
            dim.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.diagonal_scatter(gw.zeros(2, 2), gw.ones(2))
        tensor([[1., 0.],
                [0., 1.]])
    """,
)


# -- as_strided_scatter counts in the input's memory, dense or not


def _strided_spec(input: Any, src: Any, size: Any, stride: Any) -> TensorSpec:
    if tuple(src.shape) != tuple(size):
        raise RuntimeError(
            f"as_strided_scatter: expected src to have a size equal to the view: src is "
            f"{describe(src)}, the view has shape {list(size)}"
        )
    return TensorSpec(input.shape, _kept_strides(input), input.dtype, input.device)


def _strided_eager(
    input: Any, src: Any, size: Any, stride: Any, storage_offset: Any
) -> Tensor:
    """In a copy of all of the input's storage: the offset counts from its start."""
    _strided_spec(input, src, size, stride)
    own = input.storage_offset()
    count = input._storage.nbytes // input.dtype.itemsize
    storage = fresh_copy(_core.as_view(Tensor, input, (count,), (1,), 0))
    out = _core.as_view(Tensor, storage, input.shape, input.stride(), own)
    start = own if storage_offset is None else storage_offset
    view = _core.as_view(Tensor, storage, tuple(size), tuple(stride), start)
    copy_into(view, src)
    return _core.detach(Tensor, out)


def _strided_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    args = (ctx.size, ctx.stride, ctx.storage_offset)
    grad = ops.contiguous(grad)
    kept = None
    if ctx.needs["input"]:
        zeros = ops.zeros(ctx.src.shape, dtype=grad.dtype, device=grad.device)
        kept = ops.as_strided_scatter(grad, zeros, *args)
    return kept, ops.as_strided(grad, *args) if ctx.needs["src"] else None


define(
    "as_strided_scatter(Tensor input, Tensor src, Size size, Size stride, "
    "SymInt? storage_offset=None)",
    Kind.INDEXING,
    meta=lambda input, src, size, stride, offset: _strided_spec(input, src, size, stride),
    vjp=_strided_vjp,
    eager=_strided_eager,
    doc="""Copy in which the view `as_strided` holds other values.

    Args:
        input: a tensor of any shape.
        src: the values, of shape `size`.
        size: the sizes of the view.
        stride: its strides, counted in elements.
        storage_offset: the position of its first element in the storage; that of `input` if
            None.

    Returns: a new tensor of the shape and dtype of `input`.

    Raises:
        RuntimeError: the shape of `src` is not `size`, or the view reaches out of the storage.

    Example:
        >>> gw.as_strided_scatter(gw.zeros(4), gw.ones(2), (2,), (2,))
        tensor([1., 0., 1., 0.])
    """,
)


# -- view_scatter writes through any chain of views that rename elements


def viewed(input: Any, views: Any) -> Any:
    """The view of `input` through `views`: steps `(name, *args)`. `view` may copy."""
    for name, *args in views:
        step = ops.reshape if name == "view" else getattr(ops, name)
        input = step(input, *args)
    return input


def _scattered_meta(input: Any, src: Any, views: Any) -> TensorSpec:
    return TensorSpec(input.shape, _kept_strides(input), input.dtype, input.device)


def _scattered(input: Any, src: Any, views: Any) -> Any:
    """The values by way of a dense copy, of which every view is one."""
    out = fresh_copy(input)
    copy_into(viewed(out, views), src)
    return fresh_copy(out, _kept_strides(input))


def _scattered_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    kept = None
    if ctx.needs["input"]:
        zeros = ops.zeros(ctx.src.shape, dtype=grad.dtype, device=grad.device)
        kept = ops.view_scatter(grad, zeros, ctx.views)
    return kept, viewed(grad, ctx.views) if ctx.needs["src"] else None


define(
    "view_scatter(Tensor input, Tensor src, object views)",
    Kind.INDEXING,
    meta=_scattered_meta,
    vjp=_scattered_vjp,
    eager=_scattered,
    method=False,
    public=False,
)
"""A copy of the input whose view through `views` holds `src`, of the same shape and dtype."""
