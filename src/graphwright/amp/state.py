"""Autocast's state, which is part of the thread's mode bits, and the casts that it keeps."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from graphwright.runtime import _core
from graphwright.runtime.dispatch import AUTOCAST
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType


class DeviceBits(NamedTuple):
    """What the mode bits say about a kind of device.

    on: ops on it are cast. other: to `other_dtype`, and not to `usual_dtype`. covered: a change of
    autocast's state is about it; never set in a thread's modes.
    """

    on: int
    other: int
    covered: int
    usual_dtype: DType
    other_dtype: DType


DEVICES = {
    "cpu": DeviceBits(1 << 9, 1 << 4, 1 << 20, dtypes.bfloat16, dtypes.float16),
    "cuda": DeviceBits(1 << 10, 1 << 11, 1 << 21, dtypes.float16, dtypes.bfloat16),
}
"""Kinds of devices whose ops autocast knows. The bit AUTOCAST is set where one of them is on."""
UNCACHED = 1 << 5
"""Casts of weights are not kept."""
_ON = sum(bits.on for bits in DEVICES.values())
_COVERED = sum(bits.covered for bits in DEVICES.values())
_STORED = sum(bits.on | bits.other for bits in DEVICES.values()) | UNCACHED


class _Kept(threading.local):
    """Casts of leaves by the leaf's id: (leaf, its version, the cast)."""

    def __init__(self) -> None:
        self.casts: dict[int, tuple[Any, int, Any]] = {}


_kept = _Kept()


def current() -> int:
    """Autocast's state on this thread, about all devices, for `set_autocast`."""
    modes = _core.modes()
    return modes & (_STORED if modes & AUTOCAST else _STORED & ~_ON) | _COVERED


def set_autocast(bits: int) -> None:
    """Set the state of the devices that the bits are about. Where autocast is off on all devices
    afterwards, the casts that it kept are dropped."""
    about = UNCACHED
    for device in DEVICES.values():
        about |= device.on | device.other if bits & device.covered else 0
    state = current() & _STORED & ~about | bits & about
    state |= AUTOCAST if state & _ON else 0
    _core.set_modes(_core.modes() & ~(_STORED | AUTOCAST) | state)
    if not state & AUTOCAST:
        _kept.casts.clear()


def lower_dtype(bits: int, kind: str) -> Any:
    """What products on a kind of device run in: float16 or bfloat16."""
    device = DEVICES[kind]
    return device.other_dtype if bits & device.other else device.usual_dtype


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
