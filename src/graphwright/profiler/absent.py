"""Recorders for tools that do not know graphwright: making one raises NotImplementedError."""

from __future__ import annotations

from typing import Any


class _Absent:
    def __new__(cls, *args: Any, **kwargs: Any) -> _Absent:
        raise NotImplementedError(
            f"profiler.{cls.__name__}: graphwright does not record for this tool; "
            "profiler.profile records times, shapes and memory, and writes Chrome traces"
        )


class ExecutionTraceObserver(_Absent):
    """A recorder of ops and their arguments, to be replayed."""


class emit_nvtx(_Absent):
    """Marks of ops for a GPU's profiler."""


class emit_itt(_Absent):
    """Marks of ops for VTune."""
