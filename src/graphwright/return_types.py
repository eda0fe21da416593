"""The named tuples that ops with several results return: `max(dim)` gives a `return_types.max`."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.ops import return_types as _made


def __getattr__(name: str) -> Any:
    return getattr(_made, name)


def __dir__() -> list[str]:
    return sorted(_made.FIELDS)
