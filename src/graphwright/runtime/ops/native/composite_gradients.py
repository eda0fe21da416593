"""Gradients of composites that one kernel in C computes.

A composite has no vjp: its parts are recorded. Where its kernel in C takes an eager call, one node
is recorded instead, whose rule is here; all other calls, complex ones and compiled code keep to
the parts. A rule has the form of a vjp (table.py) and is written with `ops`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.native.composite_gradients_products import PRODUCTS
from graphwright.runtime.ops.native.composite_gradients_rows import ROWS
from graphwright.runtime.ops.native.recompute_gradient import differentiated
from graphwright.runtime.ops.reductions.moments import scaled_gaps
from graphwright.runtime.ops.strides import broadcast_shapes
from graphwright.runtime.ops.table import Op, op, set_rule
from graphwright.runtime.tensor.tensor import Tensor

COPIED = (
    "alias", "diagonal", "expand", "narrow", "permute", "select", "slice", "split",
    "split_with_sizes", "squeeze", "t", "transpose", "unbind", "unfold", "unsqueeze", "view",
)  # fmt: skip
"""Views whose copies are ops, and have kernels in C."""


class Shortcut(NamedTuple):
    """A rule, and what it needs kept, in the words of `define`."""

    rule: Callable[..., Any]
    saves: tuple[str, ...] = ()


# -- rearranged elements


def _reshaped(ctx: Any, grad: Any) -> Any:
    return ops.reshape(grad, ctx.input.shape)


def _moved_back(ctx: Any, grad: Any) -> Any:
    return ops.movedim(grad, ctx.destination, ctx.source)


def _reversed(ctx: Any, grad: Any) -> Any:
    return ops.numpy_T(grad)


def _transposed(ctx: Any, grad: Any) -> Any:
    return ops.transpose(grad, -2, -1) if len(grad.shape) > 1 else grad


def _padded(ctx: Any, grad: Any) -> Any:
    size = ctx.input.shape[ctx.dim]
    start = ctx.start if ctx.start >= 0 else ctx.start + size
    zeros = ops.zeros(ctx.input.shape, dtype=grad.dtype, device=grad.device)
    return ops.slice_scatter(zeros, grad, ctx.dim, start, start + ctx.length)


def _stacked(ctx: Any, *grads: Any) -> Any:
    shape = ctx.input.shape
    return ops.stack(_filled(grads, [(*shape[: ctx.dim], *shape[ctx.dim + 1 :])]), ctx.dim)


def _joined(lengths: Callable[[Any, int], list[int]]) -> Callable[..., Any]:
    """The rule of parts along `dim`, whose lengths that function gives."""

    def rule(ctx: Any, *grads: Any) -> Any:
        shape, dim = ctx.input.shape, ctx.dim
        shapes = [(*shape[:dim], n, *shape[dim + 1 :]) for n in lengths(ctx, shape[dim])]
        return ops.cat(_filled(grads, shapes), dim)

    return rule


def _filled(grads: tuple[Any, ...], shapes: list[Any]) -> tuple[Any, ...]:
    """Zeros in place of absent gradients; one shape stands for all."""
    if None not in grads:
        return grads
    known = next(g for g in grads if g is not None)
    shapes = shapes * len(grads) if len(shapes) == 1 else shapes
    return tuple(
        ops.zeros(shape, dtype=known.dtype, device=known.device) if g is None else g
        for g, shape in zip(grads, shapes, strict=True)
    )


def _even(size: int, length: int) -> list[int]:
    return [min(length, size - at) for at in range(0, size, length)]


def _pieces(ctx: Any, size: int) -> list[int]:
    return _even(size, ctx.split_size)


def _chunks(ctx: Any, size: int) -> list[int]:
    return _even(size, (size + ctx.chunks - 1) // ctx.chunks)


def _copied(view: str) -> Shortcut:
    """The rule of a copy of a view is the view's, which needs nothing kept."""
    entry = op(view)

    def rule(ctx: Any, *grads: Any) -> Any:
        vjp: Any = SHORTCUTS[view].rule if view in SHORTCUTS else entry.vjp
        return vjp(ctx, *grads)

    return Shortcut(rule)


def _rolled_back(ctx: Any, grad: Any) -> Any:
    shifts = ctx.shifts
    back = tuple(-s for s in shifts) if isinstance(shifts, list | tuple) else -shifts
    return ops.roll(grad, back, ctx.dims)


def _taken(ctx: Any, grad: Any) -> Any:
    zeros = ops.zeros(ctx.input.shape, dtype=grad.dtype, device=grad.device)
    return ops.put(zeros, ctx.index, grad, True), None


def _of_diagonal(ctx: Any, grad: Any) -> Any:
    if len(ctx.input.shape) == 1:
        return ops.diagonal(grad, ctx.diagonal, 0, 1)
    return ops.diagonal_backward(grad, ctx.input.shape, ctx.diagonal, 0, 1)


def _inner(ctx: Any, grad: Any) -> Any:
    needs, left, right = ctx.needs, ctx.input.ndim - 1, ctx.other.ndim - 1
    along = list(range(left))
    return (
        ops.tensordot(grad, ctx.other, right) if needs["input"] else None,
        ops.tensordot(grad, ctx.input, (along, along)) if needs["other"] else None,
    )


def _cross(ctx: Any, grad: Any) -> Any:
    needs, dim = ctx.needs, ctx.dim
    if dim is None:
        dim = next(i for i, size in enumerate(grad.shape) if size == 3)
    return (
        ops.cross(ctx.other, grad, dim) if needs["input"] else None,
        ops.cross(grad, ctx.input, dim) if needs["other"] else None,
    )


def _unstacked(ctx: Any, grad: Any) -> Any:
    return (list(ops.unbind(grad, ctx.dim)),)


def _pixels(inverse: str, factor: str) -> Callable[..., Any]:
    return lambda ctx, grad: getattr(ops, inverse)(grad, getattr(ctx, factor))


def _unshuffled(ctx: Any, grad: Any) -> Any:
    return ops.channel_shuffle(grad, grad.shape[1] // ctx.groups)


def _cropped(ctx: Any, grad: Any) -> Any:
    return ops.constant_pad(grad, tuple(-p for p in ctx.pad), 0.0)


def _along_dim(ctx: Any, grad: Any) -> Any:
    """Added where the elements were taken; the kernel takes indices that need not broadcast."""
    shape, indices, dim = tuple(ctx.input.shape), ctx.indices, ctx.dim
    if dim is None:
        shape, indices, dim = (math.prod(shape),), ops.reshape(indices, (-1,)), 0
    sizes = list(grad.shape)
    if shape:
        dim %= len(shape)
        sizes[dim] = shape[dim]
        from_end = ops.add(indices, shape[dim])
        indices = ops.where(ops.lt(indices, 0), from_end, indices)
    zeros = ops.zeros(sizes, dtype=grad.dtype, device=grad.device)
    added = ops.scatter_add(zeros, dim, indices, grad)
    return ops.reshape(added, ctx.input.shape) if ctx.dim is None else added, None


def _filled_at(ctx: Any, grad: Any) -> Any:
    """None comes from where the value was written, once however often the index names it."""
    to_value = None
    if ctx.needs["value"]:
        to_value = ops.sum(ops.index_select(grad, ctx.dim, ops.unique(ctx.index)))
    return ops.index_fill(grad, ctx.dim, ctx.index, 0), None, to_value


def _repeated(ctx: Any, grad: Any) -> Any:
    """The sums over what each element, or each slice, became; the kernel takes a number."""
    shape = tuple(ctx.input.shape)
    flat = (math.prod(shape),) if ctx.dim is None else shape
    dim = 0 if ctx.dim is None else ctx.dim % len(flat)
    split = (*flat[: dim + 1], ctx.repeats, *flat[dim + 1 :])
    return ops.reshape(ops.sum(ops.reshape(grad, split), (dim + 1,)), shape)


# -- reductions


def _trace(ctx: Any, grad: Any) -> Any:
    return ops.mul(ops.eye(*ctx.input.shape, dtype=grad.dtype, device=grad.device), grad)


def _nansum(ctx: Any, grad: Any) -> Any:
    spread = ops.to_dtype(_kept(ctx, grad), ctx.input.dtype)
    return ops.where(ops.isnan(ctx.input), 0.0, spread)


def _nanmean(ctx: Any, grad: Any) -> Any:
    missing = ops.isnan(ctx.input)
    known = ops.sum(ops.logical_not(missing), _dims(ctx), True)
    spread = ops.to_dtype(ops.div(_kept(ctx, grad), known), ctx.input.dtype)
    return ops.where(missing, 0.0, spread)


def _dims(ctx: Any) -> tuple[int, ...]:
    ndim, dim = len(ctx.input.shape), ctx.dim
    if dim is None:
        return tuple(range(ndim))
    return tuple(d % ndim for d in (dim if isinstance(dim, list | tuple) else (dim,)))


def _kept(ctx: Any, grad: Any) -> Any:
    """The gradient of a reduced tensor with its reduced dims back as size 1."""
    dims, shape = _dims(ctx), ctx.input.shape
    if ctx.keepdim:
        return grad
    return ops.reshape(grad, tuple(1 if d in dims else n for d, n in enumerate(shape)))


def _of_moments(ctx: Any, to_variance: Any, to_mean: Any) -> Any:
    """sum (x - mean)^2 / (n - correction) has the derivative 2 (x - mean) / (n - correction)."""
    x, dims = ctx.input, _dims(ctx)
    n = math.prod(x.shape[d] for d in dims)
    total = None if to_mean is None else ops.expand(ops.div(_kept(ctx, to_mean), n), x.shape)
    if to_variance is None:
        return total
    correction = ctx.correction
    if correction is None:
        correction = 0 if ctx.unbiased is False else 1
    scale = ops.mul(_kept(ctx, to_variance), 2 / (n - correction) if n > correction else math.nan)
    part = scaled_gaps(x, dims, scale)
    return part if total is None else ops.add(part, total)


def _to_variance(deviation: Any, grad: Any) -> Any:
    """Of the square root, 0 where that is 0."""
    if grad is None:
        return None
    return ops.where(ops.eq(deviation, 0), 0.0, ops.div(grad, ops.mul(deviation, 2)))


def _var(ctx: Any, grad: Any, to_mean: Any = None) -> Any:
    return _of_moments(ctx, grad, to_mean)


def _std(ctx: Any, grad: Any, to_mean: Any = None) -> Any:
    return _of_moments(ctx, _to_variance(ctx.out, grad), to_mean)


def _selected(ctx: Any, grad: Any) -> Any:
    shape = broadcast_shapes("masked_select", [ctx.input.shape, ctx.mask.shape])
    zeros = ops.zeros(shape, dtype=grad.dtype, device=grad.device)
    return ops.sum_to_size(ops.masked_scatter(zeros, ctx.mask, grad), ctx.input.shape), None


def _group_norm(ctx: Any, grad: Any) -> Any:
    to_input, to_weight, to_bias = ops.group_norm_backward(
        grad, ctx.input, ctx.num_groups, ctx.weight, ctx.eps
    )
    needs = ctx.needs
    return to_input, to_weight if needs["weight"] else None, to_bias if needs["bias"] else None


# -- elementwise


def _lerp(ctx: Any, grad: Any) -> Any:
    weight = ctx.weight
    to_weight = None
    if ctx.needs["weight"]:
        to_weight = ops.mul(grad, ops.sub(ctx.end, ctx.input))
    return ops.mul(grad, ops.rsub(weight, 1)) if _is_tensor(weight) else ops.mul(
        grad, 1 - weight), ops.mul(grad, weight), to_weight


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "shape")


def _prelu(ctx: Any, grad: Any) -> Any:
    x, weight = ctx.input, ctx.weight
    wide = weight
    if weight.numel() != 1:
        wide = ops.reshape(weight, (-1,) + (1,) * (x.ndim - 2))
    elif weight.ndim:
        wide = ops.reshape(weight, (1,) * x.ndim)
    to_input = to_weight = None
    if ctx.needs["input"]:
        to_input = ops.sloped_backward(grad, x, wide)
    if ctx.needs["weight"]:
        each = ops.where(ops.gt(x, 0), 0.0, ops.mul(grad, x))
        to_weight = ops.reshape(ops.sum_to_size(each, wide.shape), weight.shape)
    return to_input, to_weight


def _smooth_l1(ctx: Any, grad: Any) -> Any:
    beta = max(ctx.beta, 1e-30)         # nn_losses.LEAST_BETA
    slope = ops.clamp(ops.div(ops.sub(ctx.input, ctx.target), beta), -1, 1)
    count = ctx.input.numel() if ctx.reduction == "mean" else 1
    to_input = ops.mul(slope, ops.div(grad, count))
    return to_input, ops.neg(to_input) if ctx.needs["target"] else None


def _nan_to_num(ctx: Any, grad: Any) -> Any:
    return ops.where(ops.isfinite(ctx.input), grad, 0.0)


def _scaled(grad: Any, value: Any) -> Any:
    return grad if value == 1 else ops.mul(grad, value)


def _addcmul(ctx: Any, grad: Any) -> Any:
    """Multiplied in the order of the parts' rules, so that both overflow alike."""
    needs, value = ctx.needs, ctx.value
    return (
        grad,
        _scaled(ops.mul(grad, ctx.tensor2), value) if needs["tensor1"] else None,
        ops.mul(grad, _scaled(ctx.tensor1, value)) if needs["tensor2"] else None,
    )


def _addcdiv(ctx: Any, grad: Any) -> Any:
    """In the order of the parts' rules, as above."""
    needs, value = ctx.needs, ctx.value
    up = down = None
    if needs["tensor1"]:
        up = _scaled(ops.div(grad, ctx.tensor2), value)
    if needs["tensor2"]:
        quotient = ops.div(_scaled(ctx.tensor1, value), ctx.tensor2)
        down = ops.neg(ops.mul(grad, ops.div(quotient, ctx.tensor2)))
    return grad, up, down


# -- pools


def _mean_of_cells(ndim: int) -> Shortcut:
    return Shortcut(
        lambda ctx, grad: ops.adaptive_avg_pool_backward(grad, tuple(ctx.input.shape), ndim)
    )


def _largest_of_cells(ndim: int) -> Shortcut:
    def rule(ctx: Any, grad: Any, grad_indices: Any) -> Any:
        return ops.scatter_planes(grad, ctx.out1, tuple(ctx.input.shape), ndim)

    return Shortcut(rule, ("out1",))


# -- convolutions


def _of_axes(value: Any, ndim: int) -> tuple[int, ...]:
    values = tuple(value) if isinstance(value, list | tuple) else (value,)
    return values * ndim if len(values) == 1 else values


def _conv_options(ctx: Any, kernel: Any) -> tuple[Any, ...]:
    """Stride, padding and dilation of each axis; the kernel in C takes even paddings by name."""
    stride, dilation = _of_axes(ctx.stride, len(kernel)), _of_axes(ctx.dilation, len(kernel))
    if ctx.padding == "same":
        padding = tuple(d * (k - 1) // 2 for d, k in zip(dilation, kernel, strict=True))
    else:
        padding = _of_axes(0 if ctx.padding == "valid" else ctx.padding, len(kernel))
    return stride, padding, dilation


def _convolved(ctx: Any, grad: Any) -> Any:
    """Of a convolution of a batch, or of one image."""
    needs, weight, shape = ctx.needs, ctx.weight, tuple(ctx.input.shape)
    options = *_conv_options(ctx, weight.shape[2:]), ctx.groups
    single = len(shape) < len(weight.shape)
    grad = ops.unsqueeze(grad, 0) if single else grad
    to_input = to_weight = to_bias = None
    if needs["input"]:
        to_input = ops.conv_input_grad(grad, weight, (1, *shape) if single else shape, *options)
        to_input = ops.squeeze(to_input, 0) if single else to_input
    if needs["weight"]:
        input = ops.unsqueeze(ctx.input, 0) if single else ctx.input
        to_weight = ops.conv_weight_grad(grad, input, weight.shape, *options)
    if needs["bias"]:
        to_bias = ops.sum(grad, (0, *range(2, len(grad.shape))))
    return to_input, to_weight, to_bias


def _conv_transposed(ctx: Any, grad: Any) -> Any:
    """Of a transposed convolution; an output padding adds places that the input's lacks."""
    needs, weight, shape = ctx.needs, ctx.weight, tuple(ctx.input.shape)
    stride, padding, dilation = _conv_options(ctx, weight.shape[2:])
    single = len(shape) < len(weight.shape)
    grad = ops.unsqueeze(grad, 0) if single else grad
    to_input = to_weight = to_bias = None
    if needs["input"]:
        none = (0,) * len(stride)
        to_input = ops.convolution(
            grad, weight, None, stride, padding, dilation, False, none, ctx.groups
        )
        to_input = ops.squeeze(to_input, 0) if single else to_input
        for dim, size in enumerate(shape):
            if to_input.shape[dim] != size:
                to_input = ops.narrow(to_input, dim, 0, size)
    if needs["weight"]:
        input = ops.unsqueeze(ctx.input, 0) if single else ctx.input
        to_weight = ops.conv_weight_grad(
            input, grad, weight.shape, stride, padding, dilation, ctx.groups
        )
    if needs["bias"]:
        to_bias = ops.sum(grad, (0, *range(2, len(grad.shape))))
    return to_input, to_weight, to_bias


# -- bounded norms


class _OfNorm(NamedTuple):
    """What the rule of `p_norm` reads."""

    input: Any
    ord: float
    dim: tuple[int, ...]
    keepdim: bool
    dtype: Any
    out: Any


def _renormed(ctx: Any, grad: Any) -> Any:
    """x s(n), where s = maxnorm / (n + 1e-7) of norms above, whose slope is -s / (n + 1e-7)."""
    x, order = ctx.input, float(ctx.p)
    kept = wrap_dim(ctx.dim, len(x.shape))
    others = tuple(d for d in range(len(x.shape)) if d != kept)
    norm = ops.p_norm(x, order, others, True)
    padded, above = ops.add(norm, 1e-7), ops.gt(norm, ctx.maxnorm)
    scale = ops.where(above, ops.div(ctx.maxnorm, padded), 1.0)
    total = ops.sum(ops.mul(grad, x), others, True)
    slope = ops.where(above, ops.neg(ops.div(ops.mul(total, scale), padded)), 0.0)
    rule: Any = op("p_norm").vjp
    to_norm = rule(_OfNorm(x, order, others, True, None, norm), slope)
    return ops.add(ops.mul(grad, scale), to_norm)


_CONVOLUTION = Shortcut(_convolved, ("input?weight", "weight?input"))
_TRANSPOSED = Shortcut(_conv_transposed, ("input?weight", "weight?input"))


# -- sampled images


def _sampled(name: str, mode: str) -> Shortcut:
    """The gradients in C; those that are to be differentiated again by the parts."""
    entry = op(name)

    def rule(ctx: Any, grad: Any) -> Any:
        args = ctx.input, ctx.grid, getattr(ctx, mode), ctx.padding_mode, ctx.align_corners
        needs = ctx.needs["input"], ctx.needs["grid"]
        if _core.grad_enabled():
            return differentiated(entry, args, needs, grad)
        grad = grad if grad.is_contiguous() else ops.contiguous(grad)
        return _core.sampling_gradients(Tensor, grad, *args, *needs)

    return Shortcut(rule, ("input", "grid"))


def _affine(ctx: Any, grad: Any) -> Any:
    """theta @ (x, y, .., 1) at each place, so that the sum over places of gradient and place."""
    batch, _, *sizes = ctx.size
    ndim = len(sizes)
    one = ops.unsqueeze(ops.eye(ndim, ndim + 1, dtype=grad.dtype, device=grad.device), 0)
    places = ops.affine_grid_generator(one, (1, 1, *sizes), ctx.align_corners)
    base = ops.constant_pad(ops.reshape(places, (-1, ndim)), (0, 1), 1.0)
    flat = ops.reshape(grad, (batch, -1, ndim))
    return ops.matmul(ops.transpose(flat, 1, 2), base)


SHORTCUTS = {
    "addcdiv": Shortcut(_addcdiv, ("tensor1?tensor2", "tensor2")),
    "addcmul": Shortcut(_addcmul, ("tensor1?tensor2", "tensor2?tensor1")),
    **{f"adaptive_avg_pool{ndim}d": _mean_of_cells(ndim) for ndim in (1, 2, 3)},
    **{f"adaptive_max_pool{ndim}d": _largest_of_cells(ndim) for ndim in (1, 2, 3)},
    "affine_grid_generator": Shortcut(_affine),
    "angle": Shortcut(lambda ctx, grad: ops.zeros_like(grad)),
    **dict.fromkeys(
        ("conj", "conj_physical", "positive", "real", "resolve_conj", "resolve_neg"),
        Shortcut(lambda ctx, grad: grad),
    ),
    "channel_shuffle": Shortcut(_unshuffled),
    "chunk": Shortcut(_joined(_chunks)),
    "constant_pad_nd": Shortcut(_cropped),
    **{f"conv{ndim}d": _CONVOLUTION for ndim in (1, 2, 3)},
    **{f"conv_transpose{ndim}d": _TRANSPOSED for ndim in (1, 2, 3)},
    "cross": Shortcut(_cross, ("input?other", "other?input")),
    "diag": Shortcut(_of_diagonal),
    "diag_embed": Shortcut(
        lambda ctx, grad: ops.diagonal(grad, ctx.offset, ctx.dim1, ctx.dim2)
    ),
    "flatten": Shortcut(_reshaped),
    "fliplr": Shortcut(lambda ctx, grad: ops.fliplr(grad)),
    "flipud": Shortcut(lambda ctx, grad: ops.flipud(grad)),
    "grid_sample": _sampled("grid_sample", "mode"),
    "grid_sampler": _sampled("grid_sampler", "interpolation_mode"),
    "grid_sampler_2d": _sampled("grid_sampler_2d", "interpolation_mode"),
    "grid_sampler_3d": _sampled("grid_sampler_3d", "interpolation_mode"),
    "group_norm": Shortcut(_group_norm, ("input", "weight")),
    "index_fill": Shortcut(_filled_at, ("index",)),
    "inner": Shortcut(_inner, ("input?other", "other?input")),
    "lerp": Shortcut(_lerp, ("input?weight", "end?weight", "weight")),
    "masked_select": Shortcut(_selected, ("mask",)),
    "mT": Shortcut(_transposed),
    "movedim": Shortcut(_moved_back),
    "ldexp": Shortcut(lambda ctx, grad: (ops.ldexp(grad, ctx.other), None), ("other",)),
    "nan_to_num": Shortcut(_nan_to_num, ("input",)),
    "nanmean": Shortcut(_nanmean, ("input",)),
    "nansum": Shortcut(_nansum, ("input",)),
    "narrow": Shortcut(_padded),
    "numpy_T": Shortcut(_reversed),
    "pad": Shortcut(_cropped),
    "pixel_shuffle": Shortcut(_pixels("pixel_unshuffle", "upscale_factor")),
    "pixel_unshuffle": Shortcut(_pixels("pixel_shuffle", "downscale_factor")),
    "prelu": Shortcut(_prelu, ("input", "weight")),
    "ravel": Shortcut(_reshaped),
    "renorm": Shortcut(_renormed, ("input",)),
    "repeat_interleave": Shortcut(_repeated),
    "reshape": Shortcut(_reshaped),
    "roll": Shortcut(_rolled_back),
    "rot90": Shortcut(lambda ctx, grad: ops.rot90(grad, -ctx.k, ctx.dims)),
    "smooth_l1_loss": Shortcut(_smooth_l1, ("input", "target")),
    "split": Shortcut(_joined(_pieces)),
    "split_with_sizes": Shortcut(_joined(lambda ctx, size: list(ctx.split_sizes))),
    "stack": Shortcut(_unstacked),
    "std": Shortcut(_std, ("input", "out")),
    "std_mean": Shortcut(_std, ("input", "out0")),
    "t": Shortcut(_transposed),
    "take": Shortcut(_taken, ("index",)),
    "take_along_dim": Shortcut(_along_dim, ("indices",)),
    "trace": Shortcut(_trace),
    "unbind": Shortcut(_stacked),
    "unflatten": Shortcut(_reshaped),
    "var": Shortcut(_var, ("input",)),
    "var_mean": Shortcut(_var, ("input",)),
}
SHORTCUTS |= {name: Shortcut(*entry) for name, entry in (PRODUCTS | ROWS).items()}
SHORTCUTS |= {f"{view}_copy": _copied(view) for view in COPIED}


def attach(entry: Op) -> None:
    """Give a composite that has a shortcut its rule, before its kernel first runs."""
    if entry.vjp is None and entry.name in SHORTCUTS:
        shortcut = SHORTCUTS[entry.name]
        set_rule(entry, entry.names, shortcut.rule, shortcut.saves)


NAMES = {
    "batch_norm": "native_batch_norm",
    "broadcast_matmul": "unsafe_view",
    "chunk": "split",
    "group_norm": "native_group_norm",
    **{f"conv{ndim}d": "convolution" for ndim in (1, 2, 3)},
    **{f"conv_transpose{ndim}d": "convolution" for ndim in (1, 2, 3)},
    "flatten": "view",
    "ldexp": "mul",
    "mT": "transpose",
    "movedim": "permute",
    "narrow": "slice",
    "numpy_T": "permute",
    "pad": "constant_pad_nd",
    "ravel": "view",
    "unflatten": "view",
    "reshape": "view",
}
"""What a node is called where not by its op: as the part that PyTorch records."""
