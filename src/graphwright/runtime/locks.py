"""Locks that a forked child finds free, whatever the other threads were doing."""

from __future__ import annotations

import os
import threading
import weakref


class Lock:
    """Use it with `with`. The child of a fork has none of the threads that might release it."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _ALIVE.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *exc: object) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Be free, and forget who holds it."""
        self._lock = threading.Lock()


_ALIVE: weakref.WeakSet[Lock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in list(_ALIVE):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
