"""Convolutions of one to three dimensions, transposed ones, and their gradients.

The kernels are compiled (`_core.convolve`): half precision is computed in float32, integers in
int64 (wrapping around), complex numbers as three real convolutions. Compiled graphs run them as
steps of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core, blas
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.nn_support import (
    Array,
    finish,
    internal,
    is_half,
    output,
    spec,
)
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.windows.unfold import for_dims, spread_over, window_count
from graphwright.runtime.tensor.tensor import Tensor

blas.prepare()

Sizes = tuple[Any, ...]

_FORWARD, _INPUT_GRADIENT, _WEIGHT_GRADIENT = 0, 1, 2


# -- arguments


def _require_one_dtype(name: str, input: Any, weight: Any, bias: Any) -> None:
    if input.dtype.name == "bool":
        raise NotImplementedError(f"{name}: not implemented for input {describe(input)}")
    for other in (weight, bias):
        if other is not None and other.dtype is not input.dtype:
            raise RuntimeError(
                f"{name}: input {describe(input)} and {describe(other)} should have one dtype"
            )


def _check(
    input: Any,
    weight: Any,
    bias: Any,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> None:
    """Whether the arguments of a batched convolution fit together; RuntimeError where not."""
    name = "convolution"
    if len(input.shape) != len(weight.shape) or not 3 <= len(input.shape) <= 5:
        raise RuntimeError(
            f"{name}: input {describe(input)} and weight {describe(weight)} must have one rank, "
            "from 3 to 5"
        )
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    for what, values, least in (
        ("stride", stride, 1),
        ("dilation", dilation, 1),
        ("padding", padding, 0),
        ("output_padding", output_padding, 0),
    ):
        if len(values) != len(input.shape) - 2:
            raise RuntimeError(f"{name}: {what}={list(values)} for input {describe(input)}")
        if any(value < least for value in values):
            kind = "non-positive" if least else "negative"
            raise RuntimeError(f"{name}: {kind} {what} is not supported, got {list(values)}")
    channels = weight.shape[0] if transposed else weight.shape[1] * groups
    if input.shape[1] != channels:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected input "
            f"{list(input.shape)} to have {channels} channels, but got {input.shape[1]} "
            "channels instead"
        )
    if any(size < 1 for size in weight.shape[2:]):
        raise RuntimeError(
            f"{name}: kernel size should be greater than zero, but got {list(weight.shape[2:])}"
        )
    if weight.shape[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but "
            f"got weight of size {list(weight.shape)} instead"
        )
    if weight.shape[0] % groups != 0:
        raise RuntimeError(
            f"{name}: {weight.shape[0]} channels of weight {describe(weight)} are not divisible "
            f"by groups={groups}"
        )
    outs = weight.shape[1] * groups if transposed else weight.shape[0]
    if bias is not None and tuple(bias.shape) != (outs,):
        raise RuntimeError(
            f"Given transposed={transposed}, weight of size {list(weight.shape)}, expected bias "
            f"to be 1-dimensional with {outs} elements, but got bias of size "
            f"{list(bias.shape)} instead"
        )
    _require_one_dtype(name, input, weight, bias)


def _output_size(
    input: Any,
    weight: Any,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Sizes:
    sizes, kernel = input.shape[2:], weight.shape[2:]
    if transposed:
        counts = tuple(
            (size - 1) * s - 2 * p + d * (k - 1) + extra + 1
            for size, k, s, p, d, extra in zip(
                sizes, kernel, stride, padding, dilation, output_padding, strict=True
            )
        )
        for extra, s, d in zip(output_padding, stride, dilation, strict=True):
            if extra >= s and extra >= d:
                raise RuntimeError(
                    "output padding must be smaller than either stride or dilation, but got "
                    f"output_padding={list(output_padding)}, stride={list(stride)}, "
                    f"dilation={list(dilation)}"
                )
    else:
        counts = tuple(
            window_count(*each)
            for each in zip(sizes, kernel, stride, padding, dilation, strict=True)
        )
    if any(count < 1 for count in counts):
        raise RuntimeError(
            f"convolution: kernel {list(kernel)} with dilation {list(dilation)} does not fit in "
            f"input of size {list(sizes)} with padding {list(padding)}: output size "
            f"{list(counts)}"
        )
    outs = weight.shape[1] * groups if transposed else weight.shape[0]
    return (input.shape[0], outs, *counts)


# -- kernels


def _volume(array: Array, dtype: np.dtype[Any]) -> Array:
    """[N, C, *] as a contiguous array [N, C, D, H, W] of `dtype`."""
    whole = np.ascontiguousarray(array, dtype)
    return whole.reshape(*whole.shape[:2], *(1,) * (5 - whole.ndim), *whole.shape[2:])


def _geometry(stride: Sizes, padding: Sizes, dilation: Sizes, groups: int) -> Sizes:
    ones, zeros = (1,) * (3 - len(stride)), (0,) * (3 - len(stride))
    return (*ones, *stride, *zeros, *padding, *ones, *dilation, groups)


def _convolve(
    part: int, a: Array, b: Array, bias: Array | None, out: Array, geometry: Sizes
) -> None:
    kind = out.dtype.kind
    if kind == "c":
        _convolve_complex(part, a, b, bias, out, geometry)
        return
    work = out.dtype if kind == "f" else np.dtype(np.int64)
    direct = work == out.dtype and out.flags.c_contiguous
    target = _volume(out, work) if direct else _volume(np.empty(out.shape, work), work)
    start = None if bias is None else np.ascontiguousarray(bias, work)
    _core.convolve(part, _volume(a, work), _volume(b, work), start, target, geometry)
    if not direct:
        out[...] = target.reshape(out.shape)


def _convolve_complex(
    part: int, a: Array, b: Array, bias: Array | None, out: Array, geometry: Sizes
) -> None:
    """(ar + i ai)(br + i bi) with three products: ar br, ai bi and (ar + ai)(br + bi)."""
    parts = [np.empty(out.shape, out.real.dtype) for _ in range(3)]
    left, right = (a.real, a.imag, a.real + a.imag), (b.real, b.imag, b.real + b.imag)
    for x, y, result in zip(left, right, parts, strict=True):
        _convolve(part, x, y, None, result, geometry)
    out.real = parts[0] - parts[1]
    out.imag = parts[2] - parts[0] - parts[1]
    if bias is not None:
        out += bias.reshape(-1, *(1,) * (out.ndim - 2))


def _values(tensor: Tensor) -> Array:
    """For the kernels, which take half precision as float32."""
    array: Array = tensor._nd
    return array.astype(np.float32) if is_half(tensor.dtype) else array


def _convolution_eager(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Tensor:
    options = (stride, padding, dilation, transposed, output_padding, groups)
    _check(input, weight, bias, *options)
    result, out = output(_output_size(input, weight, *options), input.dtype)
    part = _INPUT_GRADIENT if transposed else _FORWARD
    geometry = _geometry(stride, padding, dilation, groups)
    start = None if bias is None else _values(bias)
    _convolve(part, _values(input), _values(weight), start, out, geometry)
    return finish(result, out)


def _convolution_meta(input: Any, weight: Any, bias: Any, *options: Any) -> Any:
    _check(input, weight, bias, *options)
    return spec(_output_size(input, weight, *options), input)


def _gradient_eager(part: int) -> Any:
    def eager(
        grad: Tensor,
        other: Tensor,
        size: Sizes,
        stride: Sizes,
        padding: Sizes,
        dilation: Sizes,
        groups: int,
    ) -> Tensor:
        result, out = output(size, grad.dtype)
        geometry = _geometry(stride, padding, dilation, groups)
        _convolve(part, _values(grad), _values(other), None, out, geometry)
        return finish(result, out)

    return eager


def _gradient_meta(grad: Any, other: Any, size: Any, *options: Any) -> Any:
    return spec(size, grad)


# -- gradients


def _conjugate(tensor: Any) -> Any:
    return ops.conj(tensor) if tensor.dtype.is_complex else tensor


def _bias_gradient(grad: Any) -> Any:
    return ops.sum(grad, (0, *range(2, len(grad.shape))))


def _convolution_vjp(ctx: Any, grad: Any) -> Any:
    options = (ctx.stride, ctx.padding, ctx.dilation)
    to_input = to_weight = to_bias = None
    if ctx.needs["bias"]:
        to_bias = _bias_gradient(grad)
    if ctx.needs["input"]:
        weight = _conjugate(ctx.weight)
        if ctx.transposed:
            to_input = _cropped(_forward(grad, weight, *options, ctx.groups), ctx.input)
        else:
            to_input = ops.conv_input_grad(grad, weight, ctx.input.shape, *options, ctx.groups)
    if ctx.needs["weight"]:
        input = _conjugate(ctx.input)
        pair = (input, grad) if ctx.transposed else (grad, input)
        to_weight = ops.conv_weight_grad(*pair, ctx.weight.shape, *options, ctx.groups)
    return to_input, to_weight, to_bias


def _forward(
    input: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int
) -> Any:
    zeros = (0,) * len(stride)
    return ops.convolution(
        input, weight, None, stride, padding, dilation, False, zeros, groups
    )


def _cropped(value: Any, like: Any) -> Any:
    """Without what lies beyond `like`, which an output padding of a whole stride adds."""
    for dim in range(2, len(like.shape)):
        if value.shape[dim] != like.shape[dim]:
            value = ops.narrow(value, dim, 0, like.shape[dim])
    return value


def _input_grad_vjp(ctx: Any, grad: Any) -> Any:
    """It is linear in the output's gradient and in the weight."""
    options = (ctx.stride, ctx.padding, ctx.dilation)
    to_grad = to_weight = None
    if ctx.needs["grad"]:
        to_grad = _forward(grad, _conjugate(ctx.weight), *options, ctx.groups)
    if ctx.needs["weight"]:
        to_weight = ops.conv_weight_grad(
            _conjugate(ctx.grad), grad, ctx.weight.shape, *options, ctx.groups
        )
    return to_grad, to_weight


def _weight_grad_vjp(ctx: Any, grad: Any) -> Any:
    """It is linear in the output's gradient and in the input."""
    options = (ctx.stride, ctx.padding, ctx.dilation)
    to_grad = to_input = None
    if ctx.needs["grad"]:
        to_grad = _cropped(
            _forward(_conjugate(ctx.input), grad, *options, ctx.groups), ctx.grad
        )
    if ctx.needs["input"]:
        to_input = ops.conv_input_grad(
            _conjugate(ctx.grad), grad, ctx.input.shape, *options, ctx.groups
        )
    return to_grad, to_input


# -- the functions of one rank


def _batched(name: str, ndim: int, input: Any, weight: Any) -> bool:
    """Whether there is a batch dimension. Raises RuntimeError for another rank."""
    rank = len(input.shape)
    if rank not in (ndim + 1, ndim + 2) or len(weight.shape) != ndim + 2:
        raise RuntimeError(
            f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to {name}, and a "
            f"{ndim + 2}D weight, but got input {describe(input)} and weight {describe(weight)}"
        )
    return bool(rank == ndim + 2)


def _same_padding(
    name: str, input: Any, weight: Any, stride: Sizes, dilation: Sizes
) -> tuple[Any, Sizes]:
    """The input, padded by one after the end where both sides differ, and the padding."""
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:], strict=True)]
    if any(t % 2 for t in total):
        after = [side for t in reversed(total) for side in (0, t % 2)]
        input = ops.constant_pad(input, tuple(after), 0)
    return input, tuple(t // 2 for t in total)


def _convolution_of(ndim: int) -> Any:
    name = f"conv{ndim}d"

    def decompose(
        input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
    ) -> Any:
        batched = _batched(name, ndim, input, weight)
        stride = spread_over(ndim, name, "stride", stride)
        dilation = spread_over(ndim, name, "dilation", dilation)
        if padding == "valid":
            padding = (0,) * ndim
        elif padding == "same":
            input, padding = _same_padding(name, input, weight, stride, dilation)
        elif isinstance(padding, str):
            raise RuntimeError(f"Invalid padding string: '{padding}'")
        else:
            padding = spread_over(ndim, name, "padding", padding)
        x = input if batched else ops.unsqueeze(input, 0)
        zeros = (0,) * ndim
        if _sees_all(x, weight, bias, (stride, padding, dilation, False, zeros, groups)):
            out = _one_place(x, weight, bias)
        else:
            out = ops.convolution(x, weight, bias, stride, padding, dilation, False, zeros, groups)
        return out if batched else ops.squeeze(out, 0)

    return decompose


def _sees_all(x: Any, weight: Any, bias: Any, options: tuple[Any, ...]) -> bool:
    """Whether the weight covers the whole input, so that the output has one place."""
    _, padding, dilation, _, _, groups = options
    sizes, own = tuple(x.shape[2:]), tuple(weight.shape[2:])
    if groups != 1 or any(padding) or not all(type(size) is int and size for size in sizes):
        return False
    if sizes != own:
        return False
    _check(x, weight, bias, *options)
    return all(step == 1 or size == 1 for step, size in zip(dilation, sizes, strict=True))


def _one_place(x: Any, weight: Any, bias: Any) -> Any:
    """The output at the one place that there is: a matrix product with the weight."""
    out = ops.linear(ops.flatten(x, 1), ops.flatten(weight, 1), bias)
    return ops.reshape(out, (*out.shape, *(1,) * (len(x.shape) - 2)))


def _transposed_convolution_of(ndim: int) -> Any:
    name = f"conv_transpose{ndim}d"

    def decompose(
        input: Any,
        weight: Any,
        bias: Any,
        stride: Any,
        padding: Any,
        output_padding: Any,
        groups: int,
        dilation: Any,
    ) -> Any:
        batched = _batched(name, ndim, input, weight)
        stride, padding, output_padding, dilation = (
            spread_over(ndim, name, what, value)
            for what, value in (
                ("stride", stride),
                ("padding", padding),
                ("output_padding", output_padding),
                ("dilation", dilation),
            )
        )
        x = input if batched else ops.unsqueeze(input, 0)
        out = ops.convolution(
            x, weight, bias, stride, padding, dilation, True, output_padding, groups
        )
        return out if batched else ops.squeeze(out, 0)

    return decompose


define(
    "convolution(Tensor input, Tensor weight, Tensor? bias, Size stride, Size padding, "
    "Size dilation, bool transposed, Size output_padding, SymInt groups)",
    Kind.OTHER,
    meta=_convolution_meta,
    vjp=_convolution_vjp,
    saves=("input?weight", "weight?input"),
    eager=_convolution_eager,
    method=False,
    doc="""Cross-correlation of signals with kernels, or its transpose, of 1 to 3 dims.

    It is `conv1d`, `conv2d` and `conv3d`, and their transposes, with all arguments given.

    Args:
        input: `(N, C, *)`, of 3 to 5 dims.
        weight: kernels of the dtype of `input`: `(K, C / groups, *)`, or `(C, K / groups, *)`
            where `transposed`.
        bias: `(K,)`; none if None.
        stride: the step between windows, one int for each dim.
        padding: zeros at both ends of each dim; what is cut off the output where
            `transposed`.
        dilation: the step between the elements of a window, for each dim.
        transposed: compute the transpose.
        output_padding: what is added at the end of each dim of the output where `transposed`.
        groups: the number of groups that channels are split into.

    Returns: a tensor `(N, K, *)`.

    Raises:
        RuntimeError: shapes, dtypes or groups do not match, or a kernel does not fit.

    Example:
        >>> args = (1,), (0,), (1,), False, (0,), 1
        >>> gw.convolution(gw.ones(1, 2, 5), gw.ones(4, 2, 3), None, *args).shape
        graphwright.Size([1, 4, 3])
    """,
)
_GRADIENT_OPTIONS = "Size size, Size stride, Size padding, Size dilation, int groups"
internal(
    f"conv_input_grad(Tensor grad, Tensor weight, {_GRADIENT_OPTIONS})",
    Kind.OTHER,
    meta=_gradient_meta,
    vjp=_input_grad_vjp,
    saves=("grad?weight", "weight?grad"),
    eager=_gradient_eager(_INPUT_GRADIENT),
)
internal(
    f"conv_weight_grad(Tensor grad, Tensor input, {_GRADIENT_OPTIONS})",
    Kind.OTHER,
    meta=_gradient_meta,
    vjp=_weight_grad_vjp,
    saves=("grad?input", "input?grad"),
    eager=_gradient_eager(_WEIGHT_GRADIENT),
)
_CONV_DOC = """Cross-correlation of {n}D signals with kernels, summed over input channels.

    Args:
        input: `(N, C, {sizes})`, or `(C, {sizes})`.
        weight: kernels of the dtype of `input`: the output channels K, C / groups, and the
            kernel's sizes.
        bias: `(K,)`; none if None.
        stride: the step between windows, an int or one per dim.
        padding: zeros at both ends of each dim, an int or one per dim; "valid": none; "same": as
            many as keep the sizes, for stride 1.
        dilation: the step between the elements of a window, an int or one per dim.
        groups: the number of groups that channels are split into; outputs of a group see its
            inputs only.

    Returns: `(N, K, ...)` with `(size + 2 * padding - dilation * (kernel - 1) - 1) // stride
    + 1` elements in each dim.

    Raises:
        RuntimeError: shapes, dtypes or groups do not match, a kernel does not fit into the
            padded input, or a stride or dilation is less than 1.

    Example:
        >>> gw.conv{n}d(gw.ones(1, 2{fives}), gw.ones(4, 2{threes})).shape
        graphwright.Size([1, 4{threes}])
    """
_TRANSPOSED_DOC = """Transposed {n}D convolution: the gradient of `conv{n}d` by its input.

    Each element of `input` adds its kernel, times its value, to a window of the output.

    Args:
        input: `(N, C, {sizes})`, or `(C, {sizes})`.
        weight: kernels of the dtype of `input`: the input channels C, K / groups for K output
            channels, and the kernel's sizes.
        bias: `(K,)`; none if None.
        stride: the step between windows of the output, an int or one per dim.
        padding: what is cut off at both ends of each dim of the output, an int or one per dim.
        output_padding: what is added at the end of each dim of the output; less than the
            stride or the dilation.
        groups: the number of groups that channels are split into.
        dilation: the step between the elements of a window, an int or one per dim.

    Returns: `(N, K, ...)` with `(size - 1) * stride - 2 * padding + dilation * (kernel - 1) +
    output_padding + 1` elements in each dim.

    Raises:
        RuntimeError: shapes, dtypes or groups do not match, or `output_padding` is too great.

    Example:
        >>> gw.conv_transpose{n}d(gw.ones(1, 2{threes}), gw.ones(2, 4{threes})).shape
        graphwright.Size([1, 4{fives}])
    """
for _ndim in (1, 2, 3):
    define(
        f"conv{_ndim}d(Tensor input, Tensor weight, Tensor? bias=None, Ints stride=1, "
        "Ints|str padding=0, Ints dilation=1, SymInt groups=1)",
        Kind.COMPOSITE,
        decompose=_convolution_of(_ndim),
        method=False,
        doc=for_dims(_CONV_DOC, _ndim),
    )
    define(
        f"conv_transpose{_ndim}d(Tensor input, Tensor weight, Tensor? bias=None, "
        "Ints stride=1, Ints padding=0, Ints output_padding=0, SymInt groups=1, "
        "Ints dilation=1)",
        Kind.COMPOSITE,
        decompose=_transposed_convolution_of(_ndim),
        method=False,
        doc=for_dims(_TRANSPOSED_DOC, _ndim),
    )
