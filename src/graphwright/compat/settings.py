"""Switches that scripts set; results do not depend on them: every op gives the same numbers in
every run and for any number of threads."""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.tensor.device import device

_STATE: dict[str, Any] = {"deterministic": False, "warn_only": False}
_DEBUG_MODES = ("default", "warn", "error")


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Demand results that are the same in every run; they are so in either mode.

    Args:
        mode: what `are_deterministic_algorithms_enabled` returns from now on.
        warn_only: warn of other ops, of which there are none, instead of an error.

    Example:
        >>> gw.use_deterministic_algorithms(False)
    """
    _STATE["deterministic"] = bool(mode)
    _STATE["warn_only"] = bool(mode and warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Whether `use_deterministic_algorithms` was last given True; False at first.

    Example:
        >>> gw.are_deterministic_algorithms_enabled()
        False
    """
    return bool(_STATE["deterministic"])


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether `use_deterministic_algorithms` was called with `warn_only`; False at first.

    Example:
        >>> gw.is_deterministic_algorithms_warn_only_enabled()
        False
    """
    return bool(_STATE["warn_only"])


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """`use_deterministic_algorithms` by a number or a name.

    Args:
        debug_mode: 0 or "default", 1 or "warn", 2 or "error".

    Raises:
        RuntimeError: there is no such mode.
        TypeError: `debug_mode` is no int or str.

    Example:
        >>> gw.set_deterministic_debug_mode("default")
    """
    if not isinstance(debug_mode, int | str):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if debug_mode in _DEBUG_MODES:
        debug_mode = _DEBUG_MODES.index(str(debug_mode))
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1 or 2, got {debug_mode!r}")
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode() -> int:
    """Mode of `set_deterministic_debug_mode`: 0, 1 or 2.

    Example:
        >>> gw.get_deterministic_debug_mode()
        0
    """
    return int(_STATE["deterministic"]) * (1 if _STATE["warn_only"] else 2)


def set_flush_denormal(mode: bool) -> bool:
    """Whether denormal numbers can be flushed to zero: they cannot.

    Args:
        mode: has no effect.

    Returns: False.

    Example:
        >>> gw.set_flush_denormal(True)
        False
    """
    return False


def get_num_interop_threads() -> int:
    """Number of ops that run at once: 1.

    Example:
        >>> gw.get_num_interop_threads()
        1
    """
    return 1


def set_num_interop_threads(threads: int) -> None:
    """Number of ops that may run at once; without effect, as one op runs at a time.

    Args:
        threads: at least 1.

    Raises:
        RuntimeError: `threads` is less than 1.

    Example:
        >>> gw.set_num_interop_threads(1)
    """
    if threads < 1:
        raise RuntimeError(f"Expected threads >= 1, got {threads}")


def get_default_device() -> device:
    """Device that tensors are made on by default: the CPU at first.

    Example:
        >>> gw.get_default_device()
        device(type='cpu')
    """
    place: device | None = _core.place()
    return place or device("cpu")


def set_default_device(place: device | str | None) -> None:
    """Set the device that this thread's tensors are made on by default.

    `with device("meta"):` does it for a block.

    Args:
        place: a device or its name; None is the CPU.

    Raises:
        RuntimeError: there is no such device.

    Example:
        >>> gw.set_default_device(None)
        >>> gw.ones(1).device
        device(type='cpu')
    """
    _core.set_place(None if place is None or device(place).type == "cpu" else device(place))
