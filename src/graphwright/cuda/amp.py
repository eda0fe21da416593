"""The older names of `graphwright.amp` for GPUs: deprecated, and switched off without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright import amp
from graphwright.amp.older import OlderAutocast, OlderGradScaler, deprecated
from graphwright.runtime.tensor import dtypes

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(OlderAutocast):
    """`amp.autocast("cuda", ...)`, which warns (UserWarning) and does nothing without a GPU.

    float16 by default.
    """

    of, usual = "cuda", dtypes.float16


class GradScaler(OlderGradScaler):
    """`amp.GradScaler("cuda", ...)`: without a GPU it warns (UserWarning) and scales nothing."""

    of = "cuda"


def custom_fwd(fwd: Callable[..., Any] | None = None, *, cast_inputs: Any = None) -> Any:
    """`amp.custom_fwd(..., device_type="cuda")`, also as `@custom_fwd(cast_inputs=...)`."""
    deprecated("cuda", "custom_fwd")
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable[..., Any]) -> Any:
    """`amp.custom_bwd(..., device_type="cuda")`."""
    deprecated("cuda", "custom_bwd")
    return amp.custom_bwd(bwd, device_type="cuda")
