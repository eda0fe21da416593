"""The older names of `graphwright.amp` for GPUs: deprecated, and switched off without one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from graphwright.runtime import amp, dtypes

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`graphwright.cuda.amp.{name}(args...)` is deprecated. "
        f"Please use `graphwright.amp.{name}('cuda', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )


class autocast(amp.autocast):
    """`amp.autocast("cuda", ...)`, which warns (UserWarning) and does nothing without a GPU."""

    def __init__(
        self, enabled: bool = True, dtype: Any = dtypes.float16, cache_enabled: bool = True
    ) -> None:
        _deprecated("autocast")
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """`amp.GradScaler("cuda", ...)`: without a GPU it warns (UserWarning) and scales nothing."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _deprecated("GradScaler")
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )


def custom_fwd(fwd: Callable[..., Any] | None = None, *, cast_inputs: Any = None) -> Any:
    """`amp.custom_fwd(..., device_type="cuda")`, also as `@custom_fwd(cast_inputs=...)`."""
    _deprecated("custom_fwd")
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable[..., Any]) -> Any:
    """`amp.custom_bwd(..., device_type="cuda")`."""
    _deprecated("custom_bwd")
    return amp.custom_bwd(bwd, device_type="cuda")
