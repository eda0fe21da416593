"""Decorators for custom autograd functions under autocast: `custom_fwd` and `custom_bwd`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from graphwright.amp.autocast import autocast, get_autocast_dtype, is_autocast_enabled
from graphwright.runtime.tensor.tensor import Tensor


def _cast(value: Any, device_type: str, dtype: Any) -> Any:
    """Floating point tensors of the device, also in containers, as `dtype`; float64 stays."""
    if isinstance(value, Tensor):
        eligible = value.is_floating_point() and value.itemsize < 8
        return value.to(dtype) if eligible and value.device.type == device_type else value
    if isinstance(value, dict):
        return {key: _cast(item, device_type, dtype) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_cast(item, device_type, dtype) for item in value])
    return value


def _require_name(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: Any = None
) -> Callable[..., Any]:
    """A decorator of `forward` of an `autograd.Function`, whose `backward` has `custom_bwd`.

    Without `cast_inputs`, forward and backward run under the autocast that the call is under.
    With a dtype, its floating point tensors are cast to it there, and both run without autocast.
    Raises ValueError for a `device_type` that is no str.
    """
    _require_name(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        enabled = is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = enabled and cast_inputs is None
        if cast_inputs is None or not enabled:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            given = _cast(args, device_type, cast_inputs)
            return fwd(ctx, *given, **_cast(kwargs, device_type, cast_inputs))

    return decorated


def custom_bwd(
    bwd: Callable[..., Any] | None = None, *, device_type: str
) -> Callable[..., Any]:
    """A decorator of `backward`, which runs under the autocast that `forward` ran under.

    Raises ValueError for a `device_type` that is no str.
    """
    _require_name(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *args, **kwargs)

    return decorated
