"""Where tensors lie: `device("cpu")`, `device("cuda", 0)`, `device("meta")`."""

from __future__ import annotations

import threading
from typing import Any

from graphwright.runtime import _core

_CODES = {"cpu": 0, "cuda": 1, "meta": 2}
_INTERNED: dict[tuple[str, int | None], device] = {}
"""All devices, for good: `_core` counts on that."""


def absence(type: str) -> str:
    """What to say of a device that no tensor can be on: why, and what there is instead."""
    why = _core.cuda_absence() if type in ("cuda", "accelerator") else ""
    if why is None:
        return f"graphwright does not do this on {type} yet"
    return (
        f"graphwright has no {type.upper()} devices: {f'{why}; ' if why else ''}tensors are on "
        "the CPU (device='cpu'), or on 'meta' without data"
    )


class _Outer(threading.local):
    """Where the blocks that a thread is in will have it make tensors again, innermost last."""

    def __init__(self) -> None:
        self.places: list[device | None] = []


_OUTER = _Outer()


class device:
    """A device; equal ones are one object.

    Args:
        type: "cpu", "cuda" or "meta", or with an index as in "cuda:1", or a device.
        index: which of them; None is the current one.

    Raises:
        RuntimeError: for a type that does not exist.
    """

    __slots__ = ("code", "index", "type")

    type: str
    index: int | None
    code: int

    def __new__(cls, type: str | device, index: int | None = None) -> device:
        if isinstance(type, device):
            return type
        if not isinstance(type, str):
            raise TypeError(f"a device is named by a str, not {type!r}")
        name, _, number = type.partition(":")
        if number:
            if index is not None or not number.isdecimal():
                raise RuntimeError(f"invalid device string: {type!r}")
            index = int(number)
        key = (name, index)
        found = _INTERNED.get(key)
        if found is None:
            if name not in _CODES:
                raise RuntimeError(f"device({type!r}): {absence(name)}")
            if index is not None and not 0 <= index < 16:
                raise RuntimeError(f"invalid device index {index}; expected 0 to 15")
            found = object.__new__(cls)
            found.type, found.index, found.code = name, index, _CODES[name]
            _INTERNED[key] = found
        return found

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __enter__(self) -> device:
        """Make this thread's tensors here by default, until the block ends."""
        _OUTER.places.append(_core.place())
        _core.set_place(None if self.type == "cpu" else self)
        return self

    def __exit__(self, *exc: object) -> None:
        _core.set_place(_OUTER.places.pop())

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type, self.index)

    def __copy__(self) -> device:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> device:
        return self


_core.register_device_class(device)
cpu = device("cpu")
meta = device("meta")
