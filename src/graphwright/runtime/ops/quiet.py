"""Silencing NumPy's floating-point warnings around eager kernels.

`np.errstate` costs 1.0 us a use, twice a small kernel; setting the context variable behind it
costs 0.25 us. Where a NumPy hides that variable, `np.errstate` itself is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from numpy._core._ufunc_config import _extobj_contextvar  # type: ignore[attr-defined]
    from numpy._core.umath import _make_extobj

    _IGNORE = _make_extobj(all="ignore")

    def enter(_set: Any = _extobj_contextvar.set) -> Any:
        """Silence from here on this thread; give the result to `leave`."""
        return _set(_IGNORE)

    leave = _extobj_contextvar.reset
except ImportError:

    def enter(_set: Any = np.errstate) -> Any:
        """Silence from here on this thread; give the result to `leave`."""
        state = _set(all="ignore")
        state.__enter__()
        return state

    def leave(token: Any) -> None:
        """Undo `enter`."""
        token.__exit__(None, None, None)


class Quiet:
    """`with Quiet():` around longer kernels."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = enter()

    def __exit__(self, *exc: object) -> None:
        leave(self._token)
