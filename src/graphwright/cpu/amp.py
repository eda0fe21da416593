"""The older names of `graphwright.amp` for the CPU: deprecated."""

from __future__ import annotations

from graphwright.amp.older import OlderAutocast, OlderGradScaler
from graphwright.runtime.tensor import dtypes

__all__ = ["GradScaler", "autocast"]


class autocast(OlderAutocast):
    """`amp.autocast("cpu", ...)`; bfloat16 by default."""

    of, usual = "cpu", dtypes.bfloat16


class GradScaler(OlderGradScaler):
    """`amp.GradScaler("cpu", ...)`."""

    of = "cpu"
