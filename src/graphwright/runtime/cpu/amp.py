"""The older names of `graphwright.amp` for the CPU: deprecated."""

from __future__ import annotations

from graphwright.runtime import dtypes
from graphwright.runtime.amp.older import OlderAutocast, OlderGradScaler

__all__ = ["GradScaler", "autocast"]


class autocast(OlderAutocast):
    """`amp.autocast("cpu", ...)`; bfloat16 unless told otherwise."""

    of, usual = "cpu", dtypes.bfloat16


class GradScaler(OlderGradScaler):
    """`amp.GradScaler("cpu", ...)`."""

    of = "cpu"
