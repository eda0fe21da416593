"""Arguments that may be one number or one per dimension."""

from __future__ import annotations

from typing import Any


def pair(value: Any) -> tuple[Any, Any]:
    """(v, v) for one number, the pair itself for two; ValueError for another length."""
    if isinstance(value, (tuple, list)):
        if len(value) == 1:
            return value[0], value[0]
        first, second = value
        return first, second
    return value, value
