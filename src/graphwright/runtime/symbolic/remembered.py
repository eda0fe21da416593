"""`remembered`: functions of expressions whose values are kept.

A network of equal layers asks for the same strides, domains and indices once for each of them.
Expressions are interned, so that to look an answer up costs less than to work it out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])

_MOST = 1 << 14
"""Answers that are kept of each function, the latest asked for."""


def remembered(function: F) -> F:
    """A decorator for functions of hashable arguments whose value depends on nothing else, and
    which nobody changes."""
    kept: F = lru_cache(maxsize=_MOST)(function)  # type: ignore[assignment]
    return kept
