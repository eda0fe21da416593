"""Switches that scripts set; results do not depend on them.

Products of float32 are always summed in float32 or wider, and every op gives the same numbers in
every run and for any number of threads.
"""

from __future__ import annotations

from typing import Any

from graphwright.runtime.device import PLACE, device

_PRECISIONS = ("highest", "high", "medium")
_STATE: dict[str, Any] = {"precision": "highest", "deterministic": False}


def set_float32_matmul_precision(precision: str) -> None:
    """Allow less precise float32 products: "highest", "high" or "medium"; none is less precise.

    Raises RuntimeError for another text.
    """
    if precision not in _PRECISIONS:
        raise RuntimeError(
            f"set_float32_matmul_precision: expected one of {_PRECISIONS}, got {precision!r}"
        )
    _STATE["precision"] = precision


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was given last; "highest" at first."""
    return str(_STATE["precision"])


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Demand results that are the same in every run; they are so in either mode."""
    _STATE["deterministic"] = bool(mode)


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` was given last; False at first."""
    return bool(_STATE["deterministic"])


def get_default_device() -> device:
    """Where tensors are made unless told otherwise: the CPU at first."""
    return PLACE[0] or device("cpu")


def set_default_device(place: device | str | None) -> None:
    """Make tensors on this device unless told otherwise; None is the CPU.

    `with device("meta"):` does it for a block.
    """
    PLACE[0] = None if place is None or device(place).type == "cpu" else device(place)
