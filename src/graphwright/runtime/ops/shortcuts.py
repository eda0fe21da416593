"""Gradients of composites that one kernel in C computes.

A composite has no vjp: its parts are recorded. Where its kernel in C takes an eager call, one node
is recorded instead, whose rule is here; all other calls, complex ones and compiled code keep to
the parts. A rule has the form of a vjp (table.py) and is written with `ops`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from graphwright.runtime.ops import _face as ops


class Shortcut(NamedTuple):
    """A rule, and what it needs kept, in the words of `define`."""

    rule: Callable[..., Any]
    saves: tuple[str, ...] = ()


# -- rearranged elements


def _reshaped(ctx: Any, grad: Any) -> Any:
    return ops.reshape(grad, ctx.input.shape)


def _reshaped_as(ctx: Any, grad: Any) -> Any:
    return ops.reshape(grad, ctx.input.shape), None


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


def _chunks(ctx: Any, size: int) -> list[int]:
    return _even(size, (size + ctx.chunks - 1) // ctx.chunks)


def _unstacked(ctx: Any, grad: Any) -> Any:
    return (list(ops.unbind(grad, ctx.dim)),)


def _pixels(inverse: str, factor: str) -> Callable[..., Any]:
    return lambda ctx, grad: getattr(ops, inverse)(grad, getattr(ctx, factor))


def _unshuffled(ctx: Any, grad: Any) -> Any:
    return ops.channel_shuffle(grad, grad.shape[1] // ctx.groups)


def _cropped(ctx: Any, grad: Any) -> Any:
    return ops.constant_pad(grad, tuple(-p for p in ctx.pad), 0.0)


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


def _heaviside(ctx: Any, grad: Any) -> Any:
    return None, ops.where(ops.eq(ctx.input, 0), grad, 0.0)


def _nan_to_num(ctx: Any, grad: Any) -> Any:
    return ops.where(ops.isfinite(ctx.input), grad, 0.0)


def _logit(ctx: Any, grad: Any) -> Any:
    z, eps = ctx.input, ctx.eps
    if eps is None:
        return ops.div(grad, ops.mul(z, ops.rsub(z, 1)))
    inside = ops.logical_and(ops.ge(z, eps), ops.le(z, 1 - eps))
    z = ops.clamp(z, eps, 1 - eps)
    return ops.where(inside, ops.div(grad, ops.mul(z, ops.rsub(z, 1))), 0.0)


def _scaled(grad: Any, value: Any) -> Any:
    return grad if value == 1 else ops.mul(grad, value)


def _addcmul(ctx: Any, grad: Any) -> Any:
    needs, scaled = ctx.needs, _scaled(grad, ctx.value)
    return (
        grad,
        ops.mul(scaled, ctx.tensor2) if needs["tensor1"] else None,
        ops.mul(scaled, ctx.tensor1) if needs["tensor2"] else None,
    )


def _addcdiv(ctx: Any, grad: Any) -> Any:
    needs, scaled = ctx.needs, ops.div(_scaled(grad, ctx.value), ctx.tensor2)
    down = None
    if needs["tensor2"]:
        down = ops.neg(ops.mul(scaled, ops.div(ctx.tensor1, ctx.tensor2)))
    return grad, scaled if needs["tensor1"] else None, down


SHORTCUTS = {
    "addcdiv": Shortcut(_addcdiv, ("tensor1?tensor2", "tensor2")),
    "addcmul": Shortcut(_addcmul, ("tensor1?tensor2", "tensor2?tensor1")),
    "channel_shuffle": Shortcut(_unshuffled),
    "chunk": Shortcut(_joined(_chunks)),
    "constant_pad_nd": Shortcut(_cropped),
    "flatten": Shortcut(_reshaped),
    "heaviside": Shortcut(_heaviside, ("input?values",)),
    "lerp": Shortcut(_lerp, ("input?weight", "end?weight", "weight")),
    "logit": Shortcut(_logit, ("input",)),
    "mT": Shortcut(_transposed),
    "movedim": Shortcut(_moved_back),
    "nan_to_num": Shortcut(_nan_to_num, ("input",)),
    "narrow": Shortcut(_padded),
    "numpy_T": Shortcut(_reversed),
    "pad": Shortcut(_cropped),
    "pixel_shuffle": Shortcut(_pixels("pixel_unshuffle", "upscale_factor")),
    "pixel_unshuffle": Shortcut(_pixels("pixel_shuffle", "downscale_factor")),
    "ravel": Shortcut(_reshaped),
    "reshape": Shortcut(_reshaped),
    "reshape_as": Shortcut(_reshaped_as),
    "split": Shortcut(_joined(lambda ctx, size: _even(size, ctx.split_size))),
    "stack": Shortcut(_unstacked),
    "t": Shortcut(_transposed),
    "unbind": Shortcut(_stacked),
    "view_as": Shortcut(_reshaped_as),
}

NAMES = {
    "chunk": "split",
    "flatten": "view",
    "mT": "transpose",
    "movedim": "permute",
    "narrow": "slice",
    "numpy_T": "permute",
    "pad": "constant_pad_nd",
    "ravel": "view",
    "reshape": "view",
    "reshape_as": "view",
    "view_as": "view",
}
"""What a node is called where not by its op: as the part that PyTorch records."""
