"""Bounding gradients before an optimiser's step."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from types import GeneratorType
from typing import Any

from graphwright.autograd.grad_mode import no_grad
from graphwright.runtime.errors import tensors_of
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor

Tensors = Tensor | Iterable[Tensor]


def _norm(tensor: Tensor, norm_type: float) -> Tensor:
    flat = tensor.detach().reshape(-1)
    if math.isinf(norm_type):
        magnitudes = ops.abs(flat)
        norm: Tensor = ops.amax(magnitudes, 0) if norm_type > 0 else ops.amin(magnitudes, 0)
    else:
        norm = ops.norm(flat, norm_type)
    return norm


def get_total_norm(
    tensors: Tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The `norm_type`-norm (inf: largest magnitude) of all elements together, a 0-d tensor.

    Raises RuntimeError where it is nan or infinite and `error_if_nonfinite`. `foreach` is
    accepted for compatibility.
    """
    norm_type = float(norm_type)
    with no_grad():
        listed = tensors_of("get_total_norm", "tensors", tensors)
        norms = [_norm(tensor, norm_type) for tensor in listed]
        if not norms:
            return ops.zeros(())
        total = _norm(ops.stack([norm.to(norms[0].device) for norm in norms]), norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale the gradients in place by min(1, max_norm / (total_norm + 1e-6))."""
    listed = tensors_of("clip_grads_with_norm_", "parameters", parameters)
    with no_grad():
        factor = ops.clamp(max_norm / (total_norm + 1e-6), max=1.0)
        for parameter in listed:
            if parameter.grad is not None:
                parameter.grad.mul_(factor.to(parameter.grad))


def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients in place so that their common norm is at most `max_norm`.

    Returns the norm before scaling, a 0-d tensor. Parameters without gradient do not count. A
    generator that gives none, perhaps since it has been used already, is warned of.
    """
    listed = tensors_of("clip_grad_norm_", "parameters", parameters)
    if not listed and isinstance(parameters, GeneratorType):
        warnings.warn(
            "`parameters` is an empty generator, no gradient clipping will occur", stacklevel=2
        )
    grads = [p.grad for p in listed if p.grad is not None]
    total = get_total_norm(grads, norm_type, error_if_nonfinite)
    clip_grads_with_norm_(listed, float(max_norm), total)
    return total


def clip_grad_norm(*args: Any, **kwargs: Any) -> Tensor:
    """The older name of `clip_grad_norm_`."""
    warnings.warn(
        "`clip_grad_norm` is now deprecated in favor of `clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(*args, **kwargs)


def clip_grad_value_(
    parameters: Tensors, clip_value: float, foreach: bool | None = None
) -> None:
    """Clamp every element of every gradient in place to [-clip_value, clip_value]."""
    bound = float(clip_value)
    with no_grad():
        for parameter in tensors_of("clip_grad_value_", "parameters", parameters):
            if parameter.grad is not None:
                parameter.grad.clamp_(-bound, bound)
