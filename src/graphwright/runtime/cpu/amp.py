"""The older names of `graphwright.amp` for the CPU: deprecated."""

from __future__ import annotations

import warnings
from typing import Any

from graphwright.runtime import amp, dtypes

__all__ = ["GradScaler", "autocast"]


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`graphwright.cpu.amp.{name}(args...)` is deprecated. "
        f"Please use `graphwright.amp.{name}('cpu', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )


class autocast(amp.autocast):
    """`amp.autocast("cpu", ...)`."""

    def __init__(
        self, enabled: bool = True, dtype: Any = dtypes.bfloat16, cache_enabled: bool = True
    ) -> None:
        _deprecated("autocast")
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """`amp.GradScaler("cpu", ...)`."""

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
            "cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )
