"""softmax, log_softmax and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.nn_support import (
    Array,
    as_float32,
    cast,
    compute,
    finish,
    is_half,
    output,
    require_floating,
    rounded,
    same,
    spec,
    widened,
)
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor.tensor import Tensor


def _converted(name: str, input: Any, dtype: Any) -> Any:
    """The dtype to compute in; RuntimeError if that is not floating point."""
    if dtype is not None:
        return dtype
    require_floating(name, input)
    return input.dtype


def _along_rows(kernel: Any, inputs: tuple[Array, ...], out: Array, axis: int) -> None:
    """kernel(*inputs, out) on matrices whose rows run along `axis`."""
    if out.ndim == 0:
        kernel(*(x.reshape(1, 1) for x in inputs), out.reshape(1, 1))
        return
    columns = out.shape[axis]
    if axis == out.ndim - 1:
        rows = (np.ascontiguousarray(x).reshape(-1, columns) for x in inputs)
        kernel(*rows, out.reshape(-1, columns))
        return
    moved = [np.ascontiguousarray(np.moveaxis(x, axis, -1)) for x in inputs]
    result = np.empty(moved[0].shape, out.dtype)
    kernel(*(x.reshape(-1, columns) for x in moved), result.reshape(-1, columns))
    out[...] = np.moveaxis(result, -1, axis)


def _normalised(name: str, rows: Any, input: Tensor, dim: int, dtype: Any) -> Tensor:
    kind = _converted(name, input, dtype)
    if is_half(kind) and kind is input.dtype and input.ndim:
        return rounded(_normalised(name, rows, as_float32(input), dim, None), kind)
    if kind is input.dtype and dim != input.ndim - 1:
        quick: Tensor | None = _core.softmax_columns(Tensor, input, dim, name == "log_softmax")
        if quick is not None:
            return quick
    result, out = output(input.shape, kind)
    if out.size:
        x = compute(input)
        _along_rows(rows, (x.astype(out.dtype, copy=False),), out, dim)
    return finish(result, out)


def _softmax_eager(input: Tensor, dim: int, dtype: Any) -> Tensor:
    return _normalised("softmax", _core.softmax_rows, input, dim, dtype)


def _log_softmax_eager(input: Tensor, dim: int, dtype: Any) -> Tensor:
    return _normalised("log_softmax", _core.log_softmax_rows, input, dim, dtype)


def _softmax_meta(input: Any, dim: int, dtype: Any) -> Any:
    return spec(input.shape, input, _converted("softmax", input, dtype))


def _log_softmax_meta(input: Any, dim: int, dtype: Any) -> Any:
    return spec(input.shape, input, _converted("log_softmax", input, dtype))


def _softmax_decompose(input: Any, dim: int, dtype: Any) -> Any:
    kind = _converted("softmax", input, dtype)
    x = widened(cast(input, kind))
    if x.ndim == 0 or x.shape[dim] == 0:
        return cast(ops.exp(ops.sub(x, x)), kind)
    e = ops.exp(ops.sub(x, ops.amax(x, dim, True)))
    return cast(ops.div(e, ops.sum(e, dim, True)), kind)


def _log_softmax_decompose(input: Any, dim: int, dtype: Any) -> Any:
    kind = _converted("log_softmax", input, dtype)
    x = widened(cast(input, kind))
    if x.ndim == 0 or x.shape[dim] == 0:
        return cast(ops.sub(x, x), kind)
    shifted = ops.sub(x, ops.amax(x, dim, True))
    return cast(ops.sub(shifted, ops.log(ops.sum(ops.exp(shifted), dim, True))), kind)


def _softmax_vjp(ctx: Any, grad: Any) -> Any:
    return cast(ops.softmax_backward(grad, ctx.out, ctx.dim), ctx.input.dtype)


def _log_softmax_vjp(ctx: Any, grad: Any) -> Any:
    return cast(ops.log_softmax_backward(grad, ctx.out, ctx.dim), ctx.input.dtype)


def _backward(rows: Any, grad: Tensor, out: Tensor, dim: int) -> Tensor:
    if is_half(out.dtype) and out.ndim:
        wide = _backward(rows, as_float32(grad), as_float32(out), dim)
        return rounded(wide, out.dtype)
    if dim != out.ndim - 1 and out.ndim:
        logarithm = rows is _core.log_softmax_backward_rows
        quick: Tensor | None = _core.softmax_columns_backward(Tensor, grad, out, dim, logarithm)
        if quick is not None:
            return quick
    result, values = output(out.shape, out.dtype)
    if values.size:
        _along_rows(rows, (compute(grad), compute(out)), values, dim)
    return finish(result, values)


def _softmax_backward_eager(grad: Tensor, out: Tensor, dim: int) -> Tensor:
    return _backward(_core.softmax_backward_rows, grad, out, dim)


def _log_softmax_backward_eager(grad: Tensor, out: Tensor, dim: int) -> Tensor:
    return _backward(_core.log_softmax_backward_rows, grad, out, dim)


def _softmax_backward_decompose(grad: Any, out: Any, dim: int) -> Any:
    if out.ndim == 0:
        return ops.mul(ops.sub(grad, grad), out)
    y = widened(out)
    weighted = ops.mul(widened(grad), y)
    return cast(ops.sub(weighted, ops.mul(y, ops.sum(weighted, dim, True))), out.dtype)


def _log_softmax_backward_decompose(grad: Any, out: Any, dim: int) -> Any:
    g = widened(grad)
    total = g if out.ndim == 0 else ops.sum(g, dim, True)
    return cast(ops.sub(g, ops.mul(ops.exp(widened(out)), total)), out.dtype)


def _like_out(grad: Any, out: Any, dim: int) -> Any:
    return same(out)


define(
    "softmax(Tensor input, Dim dim, dtype dtype=None)",
    Kind.COMPOSITE,
    meta=_softmax_meta,
    vjp=_softmax_vjp,
    saves=("out",),
    decompose=_softmax_decompose,
    eager=_softmax_eager,
    doc="""Exponentials divided by their sum along a dim: `exp(x_i) / sum_j exp(x_j)`.

    The maximum is subtracted first, so that no exponential overflows.

    Args:
        input: floating point.
        dim: the dim whose elements sum up to 1.
        dtype: what `input` is converted to first; nothing if None.

    Returns: a tensor of the shape of `input`.

    Raises:
        IndexError: `input` has no such dim.
        NotImplementedError: `input` holds integers and `dtype` is None.

    Example:
        >>> gw.softmax(gw.tensor([1.0, 1.0, 1.0, 1.0]), 0)
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """,
)
define(
    "log_softmax(Tensor input, Dim dim, dtype dtype=None)",
    Kind.COMPOSITE,
    meta=_log_softmax_meta,
    vjp=_log_softmax_vjp,
    saves=("out",),
    decompose=_log_softmax_decompose,
    eager=_log_softmax_eager,
    doc="""Logarithm of softmax along a dim: `x_i - log(sum_j exp(x_j))`, without forming softmax.

    Args:
        input: floating point.
        dim: the dim whose exponentials sum up to 1.
        dtype: what `input` is converted to first; nothing if None.

    Returns: a tensor of the shape of `input`.

    Raises:
        IndexError: `input` has no such dim.
        NotImplementedError: `input` holds integers and `dtype` is None.

    Example:
        >>> gw.log_softmax(gw.tensor([0.0, 0.0]), 0)
        tensor([-0.6931, -0.6931])
    """,
)
define(
    "softmax_backward(Tensor grad, Tensor out, int dim)",
    Kind.COMPOSITE,
    meta=_like_out,
    decompose=_softmax_backward_decompose,
    eager=_softmax_backward_eager,
    method=False,
    public=False,
)
define(
    "log_softmax_backward(Tensor grad, Tensor out, int dim)",
    Kind.COMPOSITE,
    meta=_like_out,
    decompose=_log_softmax_backward_decompose,
    eager=_log_softmax_backward_eager,
    method=False,
    public=False,
)
