"""Locks that a forked child finds free, whatever the other threads were doing."""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import AbstractContextManager
from typing import Any


class Lock:
    """Use it as `with lock.now:`. The child of a fork has none of the threads that might release
    it, and gets another one.

    now: a lock of Python's own. Entering it runs no Python code, in which Ctrl-C could raise when
    the lock is taken and the block not yet entered.
    """

    __slots__ = ("__weakref__", "now")

    def __init__(self) -> None:
        self.now = threading.Lock()
        _ALIVE.add(self)


_ALIVE: weakref.WeakSet[Lock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in list(_ALIVE):
        lock.now = threading.Lock()


def held_while_forking() -> AbstractContextManager[Any]:
    """A lock that no other thread holds at a fork, which waits for it: the child finds whole what
    it guards, a library with locks of its own."""
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release,
                            after_in_child=lock.release)
    return lock


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
