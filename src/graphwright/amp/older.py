"""What the older names of `graphwright.amp` for one kind of device have in common."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from graphwright.amp.autocast import autocast
from graphwright.amp.grad_scaler import GradScaler
from graphwright.runtime.tensor.dtypes import dtype as DType


def deprecated(kind: str, name: str) -> None:
    """Warn (FutureWarning), of the line that calls the caller, where the name has gone."""
    warnings.warn(
        f"`graphwright.{kind}.amp.{name}(args...)` is deprecated. "
        f"Please use `graphwright.amp.{name}('{kind}', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )


class OlderAutocast(autocast):
    """`amp.autocast` of a kind of device, with the dtype that is usual there."""

    of: ClassVar[str]
    usual: ClassVar[DType]

    def __init__(
        self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True
    ) -> None:
        deprecated(self.of, "autocast")
        chosen = self.usual if dtype is None else dtype
        super().__init__(self.of, dtype=chosen, enabled=enabled, cache_enabled=cache_enabled)


class OlderGradScaler(GradScaler):
    """`amp.GradScaler` of a kind of device."""

    of: ClassVar[str]

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        deprecated(self.of, "GradScaler")
        super().__init__(
            self.of, init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )
