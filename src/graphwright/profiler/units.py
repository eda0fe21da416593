"""Times and sizes as text."""

from __future__ import annotations


def format_time(microseconds: float, unit: str | None = None) -> str:
    """Such as "1.250ms"; in the unit "s", "ms" or "us" if one is given."""
    size = abs(microseconds)
    unit = unit or ("s" if size >= 1e6 else "ms" if size >= 1e3 else "us")
    factors = {"s": 1e6, "ms": 1e3, "us": 1.0}
    if unit not in factors:
        raise ValueError(f"time_unit must be 's', 'ms' or 'us', but is {unit!r}")
    return f"{microseconds / factors[unit]:.3f}{unit}"


def format_memory(nbytes: int) -> str:
    """Such as "1.50 KB"; negative where more was freed than allocated."""
    for unit, size in (("GB", 2**30), ("MB", 2**20), ("KB", 2**10)):
        if abs(nbytes) >= size:
            return f"{nbytes / size:.2f} {unit}"
    return f"{nbytes} B"
