"""Convolutions and their gradients as products of matrices, for programs that have no kernel for
them: windows are copied side by side, which makes each of them one batched product.

    convolution(x, weight, ...)  ->  matmul(reshape(weight), reshape(stack(slices of x)))

Chellapilla, Puri and Simard (2006), "High performance convolutional neural networks for document
processing", section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.trace import trace
from graphwright.runtime.ops import functions as ops

Sizes = Sequence[Any]


def _columns(x: Any, kernel: Sizes, out: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes,
             groups: int) -> Any:
    """`(N, groups, C / groups * prod(kernel), prod(out))`: what each element of a kernel meets."""
    pads = [pad for one in reversed(padding) for pad in (one, one)]
    x = ops.constant_pad(x, tuple(pads)) if any(padding) else x
    parts = []
    for offsets in product(*map(range, kernel)):
        part = x
        for axis, (offset, step, gap, size) in enumerate(
                zip(offsets, stride, dilation, out, strict=True)):
            begin = offset * gap
            part = ops.slice(part, axis + 2, begin, begin + (size - 1) * step + 1, step)
        parts.append(part)
    n, channels = x.shape[0], x.shape[1]
    stacked = ops.stack(parts, 2)
    return ops.reshape(
        stacked, (n, groups, channels // groups * prod(kernel), prod(out, start=1)))


def _matrix(weight: Any, groups: int) -> Any:
    """`(groups, O / groups, C / groups * prod(kernel))` of `(O, C / groups, *kernel)`."""
    outer, rest = weight.shape[0], prod(weight.shape[1:])
    return ops.reshape(weight, (groups, outer // groups, rest))


def convolution(
    x: Any, weight: Any, bias: Any, stride: Sizes, padding: Sizes, dilation: Sizes,
    transposed: bool, output_padding: Sizes, groups: int,
) -> Any:
    """As the op of that name."""
    kernel = weight.shape[2:]
    if transposed:
        windows = zip(x.shape[2:], stride, padding, dilation, kernel, output_padding, strict=True)
        size = [(n - 1) * step - 2 * pad + gap * (k - 1) + more + 1
                for n, step, pad, gap, k, more in windows]
        shape = (x.shape[0], weight.shape[1] * groups, *size)
        y = input_gradient(x, weight, shape, stride, padding, dilation, groups)
    else:
        out = [(n + 2 * pad - gap * (k - 1) - 1) // step + 1 for n, step, pad, gap, k in zip(
            x.shape[2:], stride, padding, dilation, kernel, strict=True)]
        columns = _columns(x, kernel, out, stride, padding, dilation, groups)
        y = ops.matmul(ops.unsqueeze(_matrix(weight, groups), 0), columns)
        y = ops.reshape(y, (x.shape[0], weight.shape[0], *out))
    if bias is None:
        return y
    return ops.add(y, ops.reshape(bias, (1, bias.shape[0], *(1,) * len(kernel))))


def weight_gradient(
    grad: Any, x: Any, size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
) -> Any:
    """As `conv_weight_grad`."""
    out = grad.shape[2:]
    columns = _columns(x, size[2:], out, stride, padding, dilation, groups)
    rows = ops.reshape(grad, (grad.shape[0], groups, size[0] // groups, prod(out)))
    products = ops.matmul(rows, ops.transpose(columns, 2, 3))
    return ops.reshape(ops.sum(products, 0), tuple(size))


def input_gradient(
    grad: Any, weight: Any, size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes,
    groups: int,
) -> Any:
    """As `conv_input_grad`: each window's share is added where the window lay."""
    kernel, out = weight.shape[2:], grad.shape[2:]
    rows = ops.reshape(grad, (grad.shape[0], groups, weight.shape[0] // groups, prod(out)))
    turned = ops.transpose(_matrix(weight, groups), 1, 2)
    shares = ops.matmul(ops.unsqueeze(turned, 0), rows)
    shares = ops.reshape(shares, (size[0], size[1], prod(kernel), *out))
    whole = [n + 2 * pad for n, pad in zip(size[2:], padding, strict=True)]
    total: Any = None
    for number, offsets in enumerate(product(*map(range, kernel))):
        part = ops.select(shares, 2, number)
        for axis, (offset, step, gap, wide) in enumerate(
                zip(offsets, stride, dilation, whole, strict=True)):
            part = _placed(part, axis + 2, offset * gap, step, wide)
        total = part if total is None else ops.add(total, part)
    for axis, (pad, n) in enumerate(zip(padding, size[2:], strict=True)):
        total = ops.slice(total, axis + 2, pad, pad + n, 1) if pad else total
    return total


def _placed(part: Any, dim: int, begin: Any, step: int, size: Any) -> Any:
    """The elements along a dim at `begin`, `begin + step`, ... of `size`, zeros elsewhere."""
    behind = part.ndim - 1 - dim
    length = part.shape[dim]
    if step > 1:
        shape = list(part.shape)
        part = ops.reshape(part, (*shape[: dim + 1], 1, *shape[dim + 1:]))
        part = ops.constant_pad(part, (*(0,) * (2 * behind), 0, step - 1))
        part = ops.reshape(part, (*shape[:dim], length * step, *shape[dim + 1:]))
        length = (length - 1) * step + 1
        part = ops.slice(part, dim, 0, length, 1)
    return ops.constant_pad(part, (*(0,) * (2 * behind), begin, size - begin - length))


REWRITES: dict[str, Callable[..., Any]] = {
    "convolution": lambda tracer, args: convolution(*args),
    "conv_weight_grad": lambda tracer, args: weight_gradient(*args),
    "conv_input_grad": lambda tracer, args: input_gradient(*args),
}
"""For `ir.trace.trace`: what runs in the place of each op."""


def without_convolutions(module: GraphModule) -> GraphModule:
    """The same graph of primitives, with products in the place of convolutions."""
    if not any(getattr(node.target, "name", "") in REWRITES for node in module.graph.nodes):
        return module
    examples = [node.meta["val"] for node in module.graph.placeholders]
    return trace(module, examples, keep=lambda op: op.name not in REWRITES, rewrites=REWRITES)
