"""Autocast's state, which is part of the thread's mode bits, and the casts that it keeps."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.dispatch import AUTOCAST
from graphwright.runtime.tensor import dtypes

FLOAT16, UNCACHED = 16, 32
BITS = AUTOCAST | FLOAT16 | UNCACHED
"""Autocast is on; it casts to float16 instead of bfloat16; casts of weights are not kept."""


class _Kept(threading.local):
    """Casts of leaves by the leaf's id: (leaf, its version, the cast)."""

    def __init__(self) -> None:
        self.casts: dict[int, tuple[Any, int, Any]] = {}


_kept = _Kept()


def current() -> int:
    """The bits of `BITS` that are set on this thread."""
    return _core.modes() & BITS


def set_autocast(bits: int) -> None:
    """Set the bits of `BITS`. Where autocast is off afterwards, the casts it kept are dropped."""
    _core.set_modes(_core.modes() & ~BITS | bits)
    if not bits & AUTOCAST:
        _kept.casts.clear()


def lower_dtype(bits: int) -> Any:
    """What products run in: float16 or bfloat16."""
    return dtypes.float16 if bits & FLOAT16 else dtypes.bfloat16


def forget_casts() -> None:
    """Drop the casts that this thread keeps."""
    _kept.casts.clear()


@contextmanager
def own_casts() -> Iterator[None]:
    """Within the block no casts of outside are known, and none are left behind."""
    outside, _kept.casts = _kept.casts, {}
    try:
        yield
    finally:
        _kept.casts = outside


def kept_cast(leaf: Any) -> Any:
    """The cast of a leaf that is kept, or None; it is not used once the leaf was written."""
    leaf_of, version, cast = _kept.casts.get(id(leaf), (None, 0, None))
    return cast if leaf_of is leaf and version == leaf._storage._version else None


def keep_cast(leaf: Any, cast: Any) -> None:
    """Keep the cast of a leaf until autocast is switched off."""
    _kept.casts[id(leaf)] = leaf, leaf._storage._version, cast
