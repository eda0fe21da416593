"""Switches that scripts set; results do not depend on them.

Products of float32 are always summed in float32 or wider, and every op gives the same numbers in
every run and for any number of threads.
"""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.tensor.device import device

_PRECISIONS = ("highest", "high", "medium")
_STATE: dict[str, Any] = {"precision": "highest", "deterministic": False, "warn_only": False}
_DEBUG_MODES = ("default", "warn", "error")


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
    _STATE["warn_only"] = bool(mode and warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` was given last; False at first."""
    return bool(_STATE["deterministic"])


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether `use_deterministic_algorithms` was told to warn only; False at first."""
    return bool(_STATE["warn_only"])


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """`use_deterministic_algorithms` by 0 ("default"), 1 ("warn") or 2 ("error").

    Raises TypeError for other types, RuntimeError for other modes.
    """
    if not isinstance(debug_mode, int | str):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if debug_mode in _DEBUG_MODES:
        debug_mode = _DEBUG_MODES.index(str(debug_mode))
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1 or 2, got {debug_mode!r}")
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2: see `set_deterministic_debug_mode`."""
    return int(_STATE["deterministic"]) * (1 if _STATE["warn_only"] else 2)


def set_flush_denormal(mode: bool) -> bool:
    """Whether denormal numbers can be made zero: False, they are kept."""
    return False


def get_num_interop_threads() -> int:
    """How many ops run at once: 1."""
    return 1


def set_num_interop_threads(threads: int) -> None:
    """Without effect: one op runs at a time. Raises RuntimeError for less than 1."""
    if threads < 1:
        raise RuntimeError(f"Expected threads >= 1, got {threads}")


def get_default_device() -> device:
    """Where tensors are made unless told otherwise: the CPU at first."""
    place: device | None = _core.place()
    return place or device("cpu")


def set_default_device(place: device | str | None) -> None:
    """Make this thread's tensors on this device unless told otherwise; None is the CPU.

    `with device("meta"):` does it for a block.
    """
    _core.set_place(None if place is None or device(place).type == "cpu" else device(place))
