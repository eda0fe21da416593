"""conv2d and its gradients, as im2col and matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.nn_support import (
    Array,
    compute,
    finish,
    internal,
    output,
    quietly,
    spec,
)
from graphwright.runtime.ops.nn_windows import (
    add_windows,
    padded,
    window_count,
    window_view,
)
from graphwright.runtime.ops.normalise import as_pair
from graphwright.runtime.ops.strides import product
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import Tensor

Pair = tuple[Any, Any]


def _padding(weight: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """Padding as two numbers per dimension, before and after, ("same" may need them unequal)."""
    if padding == "valid":
        return 0, 0
    if padding == "same":
        if stride != (1, 1):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        total = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:], strict=True)]
        if any(t % 2 for t in total):
            raise RuntimeError("padding='same' needs dilation * (kernel_size - 1) to be even")
        return total[0] // 2, total[1] // 2
    if isinstance(padding, str):
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    return as_pair(padding)


def _check(input: Any, weight: Any, bias: Any, groups: int) -> None:
    if len(weight.shape) != 4 or len(input.shape) not in (3, 4):
        raise RuntimeError(
            f"Expected 3D (unbatched) or 4D (batched) input to conv2d, and a 4D weight, but got "
            f"input {describe(input)} and weight {describe(weight)}"
        )
    if input.shape[-3] != weight.shape[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected input "
            f"{list(input.shape)} to have {weight.shape[1] * groups} channels, but got "
            f"{input.shape[-3]} channels instead"
        )
    if weight.shape[0] % groups != 0:
        raise RuntimeError(
            f"conv2d: {weight.shape[0]} output channels are not divisible by groups={groups}"
        )
    if bias is not None and tuple(bias.shape) != (weight.shape[0],):
        raise RuntimeError(
            f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with "
            f"{weight.shape[0]} elements, but got bias of size {list(bias.shape)} instead"
        )
    for other in (weight, bias):
        if other is not None and other.dtype is not input.dtype:
            raise RuntimeError(
                f"conv2d: input {describe(input)} and {describe(other)} should have one dtype"
            )


def _windows(size: Any, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair) -> Pair:
    counts = tuple(
        window_count(size[-2 + i], kernel[i], stride[i], padding[i], dilation[i]) for i in (0, 1)
    )
    for i in (0, 1):
        if counts[i] < 1:
            raise RuntimeError(
                f"conv2d: kernel {list(kernel)} with dilation {list(dilation)} does not fit in "
                f"input of size {list(size[-2:])} with padding {list(padding)}"
            )
    return counts[0], counts[1]


def _conv2d_meta(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    _check(input, weight, bias, groups)
    padding = _padding(weight, stride, padding, dilation)
    counts = _windows(input.shape, tuple(weight.shape[2:]), stride, padding, dilation)
    return spec((*input.shape[:-3], weight.shape[0], *counts), input)


def _columns(
    x: Array, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair, channels_first: bool
) -> Array:
    """Windows as a contiguous [C*kh*kw, N*L] matrix, or per image [N, C*kh*kw, L]."""
    windows = window_view(padded(x, padding, 0), kernel, stride, dilation)
    order = (1, 4, 5, 0, 2, 3) if channels_first else (0, 1, 4, 5, 2, 3)
    ordered = np.ascontiguousarray(windows.transpose(order))
    size = x.shape[1] * kernel[0] * kernel[1]
    length = windows.shape[2] * windows.shape[3]
    return ordered.reshape((size, len(x) * length) if channels_first else (len(x), size, length))


def _channel_rows(grad: Array) -> Array:
    """[N, C, H, W] as a contiguous [C, N*H*W] matrix."""
    n, c, h, w = grad.shape
    return np.ascontiguousarray(grad.transpose(1, 0, 2, 3)).reshape(c, n * h * w)


def _gemm(a: Array, b: Array, out: Array, transa: bool = False, transb: bool = False) -> None:
    if out.size and a.size and out.dtype in (np.float32, np.float64):
        _core.gemm(a, b, out, transa, transb)
    else:
        np.matmul(a.T if transa else a, b.T if transb else b, out=out)


def _conv2d_eager(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    shape = _conv2d_meta(input, weight, bias, stride, padding, dilation, groups).shape
    pad = _padding(weight, stride, padding, dilation)
    result, out = output(shape, input.dtype)
    x, w = compute(input), compute(weight)
    x = x.reshape(-1, *x.shape[-3:])
    kernel = w.shape[2:]
    batch, channels_out = len(x), w.shape[0]
    y = out.reshape(batch, channels_out, shape[-2] * shape[-1])
    per_group_in, per_group_out = w.shape[1], channels_out // groups
    for group in range(groups):
        part = x if groups == 1 else x[:, group * per_group_in : (group + 1) * per_group_in]
        rows = slice(group * per_group_out, (group + 1) * per_group_out)
        columns = _columns(part, kernel, stride, pad, dilation, batch != 1)
        matrix = np.ascontiguousarray(w[rows].reshape(per_group_out, -1))
        if batch == 1:
            product_out = y[0, rows]
            _gemm(matrix, columns[0], product_out)
            continue
        product_out = np.empty((per_group_out, columns.shape[1]), y.dtype)
        _gemm(matrix, columns, product_out)
        y[:, rows] = product_out.reshape(per_group_out, batch, y.shape[2]).transpose(1, 0, 2)
    if bias is not None:
        y += compute(bias)[:, None]
    return finish(result, out)


def _conv2d_decompose(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    shape = _conv2d_meta(input, weight, bias, stride, padding, dilation, groups).shape
    if len(input.shape) == 3:
        batched = ops.unsqueeze(input, 0)
        return ops.squeeze(ops.conv2d(batched, weight, bias, stride, padding, dilation, groups), 0)
    pad = _padding(weight, stride, padding, dilation)
    columns = ops.im2col(input, tuple(weight.shape[2:]), dilation, pad, stride)
    batch, out_channels = input.shape[0], weight.shape[0]
    length = shape[2] * shape[3]
    size = product(weight.shape[1:])
    if groups == 1:
        matrix = ops.expand(ops.reshape(weight, (1, out_channels, size)), (batch, -1, -1))
        out = ops.bmm(matrix, columns)
    else:
        matrix = ops.expand(
            ops.reshape(weight, (1, groups, out_channels // groups, size)), (batch, -1, -1, -1)
        )
        matrix = ops.reshape(matrix, (batch * groups, out_channels // groups, size))
        out = ops.bmm(matrix, ops.reshape(columns, (batch * groups, size, length)))
    out = ops.view(out, shape)
    return out if bias is None else ops.add(out, ops.view(bias, (1, out_channels, 1, 1)))


def _conv2d_vjp(ctx: Any, grad: Any) -> Any:
    pad = _padding(ctx.weight, ctx.stride, ctx.padding, ctx.dilation)
    options = (ctx.stride, pad, ctx.dilation, ctx.groups)
    to_input = to_weight = to_bias = None
    batched = len(ctx.input.shape) == 4
    if ctx.needs["bias"]:
        to_bias = ops.sum(grad, (0, 2, 3) if batched else (1, 2))
    if not batched:
        grad = ops.unsqueeze(grad, 0)
    if ctx.needs["input"]:
        size = ctx.input.shape if batched else (1, *ctx.input.shape)
        to_input = ops.conv2d_input_grad(grad, ctx.weight, size, *options)
        to_input = to_input if batched else ops.squeeze(to_input, 0)
    if ctx.needs["weight"]:
        input = ctx.input if batched else ops.unsqueeze(ctx.input, 0)
        to_weight = ops.conv2d_weight_grad(grad, input, ctx.weight.shape, *options)
    return to_input, to_weight, to_bias


# Gradient with regard to the input: col2im(W^T @ grad)


def _input_grad_meta(grad: Any, weight: Any, input_size: Any, *options: Any) -> Any:
    return spec(input_size, grad)


def _input_grad_eager(
    grad: Tensor,
    weight: Tensor,
    input_size: Any,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
) -> Tensor:
    g, w = compute(grad), compute(weight)
    result, out = output(input_size, grad.dtype)
    kernel, batch = w.shape[2:], len(g)
    per_in, per_out = w.shape[1], w.shape[0] // groups
    height, width = g.shape[2:]
    for group in range(groups):
        rows = slice(group * per_out, (group + 1) * per_out)
        flat = _channel_rows(g[:, rows])
        matrix = np.ascontiguousarray(w[rows].reshape(per_out, -1))
        columns = np.empty((matrix.shape[1], flat.shape[1]), flat.dtype)
        _gemm(matrix, flat, columns, transa=True)
        windows = columns.reshape(per_in, *kernel, batch, height, width)
        target = out[:, group * per_in : (group + 1) * per_in]
        add_windows(windows.transpose(3, 0, 1, 2, 4, 5), target, stride, padding, dilation)
    return finish(result, out)


def _input_grad_decompose(
    grad: Any,
    weight: Any,
    input_size: Any,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
) -> Any:
    batch, channels_out, height, width = grad.shape
    size, length = product(weight.shape[1:]), height * width
    matrix = ops.expand(
        ops.reshape(weight, (1, groups, channels_out // groups, size)), (batch, -1, -1, -1)
    )
    matrix = ops.reshape(matrix, (batch * groups, channels_out // groups, size))
    if groups == 1:
        matrix = ops.expand(ops.reshape(weight, (1, channels_out, size)), (batch, -1, -1))
    flat = ops.reshape(grad, (batch * groups, channels_out // groups, length))
    columns = ops.bmm(ops.transpose(matrix, 1, 2), flat)
    columns = ops.reshape(columns, (batch, groups * size, length))
    kernel = tuple(weight.shape[2:])
    return ops.col2im(columns, tuple(input_size[2:]), kernel, dilation, padding, stride)


# Gradient with regard to the weight: grad @ columns^T over the whole batch


def _weight_grad_meta(grad: Any, input: Any, weight_size: Any, *options: Any) -> Any:
    return spec(weight_size, grad)


def _weight_grad_eager(
    grad: Tensor,
    input: Tensor,
    weight_size: Any,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
) -> Tensor:
    g, x = compute(grad), compute(input)
    result, out = output(weight_size, grad.dtype)
    per_in, per_out = weight_size[1], weight_size[0] // groups
    y = out.reshape(weight_size[0], -1)
    for group in range(groups):
        rows = slice(group * per_out, (group + 1) * per_out)
        part = x[:, group * per_in : (group + 1) * per_in]
        columns = _columns(part, tuple(weight_size[2:]), stride, padding, dilation, True)
        flat = _channel_rows(g[:, rows])
        if flat.size:
            _gemm(flat, columns, y[rows], transb=True)
        else:
            y[rows] = 0
    return finish(result, out)


def _weight_grad_decompose(
    grad: Any,
    input: Any,
    weight_size: Any,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
) -> Any:
    batch, channels_out, height, width = grad.shape
    size, length = product(weight_size[1:]), height * width
    columns = ops.im2col(input, tuple(weight_size[2:]), dilation, padding, stride)
    per_out = channels_out // groups
    flat = ops.reshape(grad, (batch, groups, per_out, length))
    flat = ops.reshape(ops.permute(flat, (1, 2, 0, 3)), (groups, per_out, batch * length))
    columns = ops.reshape(columns, (batch, groups, size, length))
    columns = ops.reshape(ops.permute(columns, (1, 2, 0, 3)), (groups, size, batch * length))
    if groups == 1:
        flat, columns = ops.select(flat, 0, 0), ops.select(columns, 0, 0)
        return ops.view(ops.mm(flat, ops.transpose(columns, 0, 1)), tuple(weight_size))
    return ops.view(ops.bmm(flat, ops.transpose(columns, 1, 2)), tuple(weight_size))


define(
    "conv2d(Tensor input, Tensor weight, Tensor? bias=None, IntPair stride=1, "
    "object padding=0, IntPair dilation=1, int groups=1)",
    Kind.COMPOSITE,
    meta=_conv2d_meta,
    vjp=_conv2d_vjp,
    saves=("input", "weight"),
    decompose=_conv2d_decompose,
    eager=quietly(_conv2d_eager),
    method=False,
)
internal(
    "conv2d_input_grad(Tensor grad, Tensor weight, Size input_size, IntPair stride, "
    "IntPair padding, IntPair dilation, int groups)",
    Kind.COMPOSITE,
    meta=_input_grad_meta,
    decompose=_input_grad_decompose,
    eager=quietly(_input_grad_eager),
)
internal(
    "conv2d_weight_grad(Tensor grad, Tensor input, Size weight_size, IntPair stride, "
    "IntPair padding, IntPair dilation, int groups)",
    Kind.COMPOSITE,
    meta=_weight_grad_meta,
    decompose=_weight_grad_decompose,
    eager=quietly(_weight_grad_eager),
)
