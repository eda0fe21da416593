"""Silencing NumPy's floating-point warnings: inf and nan are values like others.

Every eager kernel runs so (`families.complete`). `np.errstate` costs 1.0 us a use, twice a small
kernel; setting the context variable behind it costs 0.25 us in Python and 0.1 us in C. Where a
NumPy hides that variable, `np.errstate` itself is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime import _core

try:
    from numpy._core._ufunc_config import _extobj_contextvar  # type: ignore[attr-defined]
    from numpy._core.umath import _make_extobj

    _IGNORE = _make_extobj(all="ignore")

    def enter(_set: Any = _extobj_contextvar.set) -> Any:
        """Silence from here on this thread; give the result to `leave`."""
        return _set(_IGNORE)

    leave = _extobj_contextvar.reset

    def quietly(function: Callable[..., Any]) -> Callable[..., Any]:
        """`function` without the warnings."""
        wrapped: Callable[..., Any] = _core.Quiet(function, _extobj_contextvar, _IGNORE)
        return wrapped
except ImportError:

    def enter(_set: Any = np.errstate) -> Any:
        """Silence from here on this thread; give the result to `leave`."""
        state = _set(all="ignore")
        state.__enter__()
        return state

    def leave(token: Any) -> None:
        """Undo `enter`."""
        token.__exit__(None, None, None)

    def quietly(function: Callable[..., Any]) -> Callable[..., Any]:
        """`function` without the warnings."""
        wrapped: Callable[..., Any] = np.errstate(all="ignore")(function)
        return wrapped


class Quiet:
    """`with Quiet():` around longer kernels."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = enter()

    def __exit__(self, *exc: object) -> None:
        leave(self._token)
