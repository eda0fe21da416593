"""Locks that a forked child finds free, whatever the other threads were doing."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Mapping
from contextlib import AbstractContextManager
from importlib import _bootstrap
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
    forking: set[int] = set()

    def take() -> None:
        lock.acquire()
        forking.add(threading.get_ident())

    def give_back() -> None:
        # a fork that had begun when the lock was made has not taken it
        if threading.get_ident() in forking:
            forking.discard(threading.get_ident())
            lock.release()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=take, after_in_parent=give_back, after_in_child=give_back)
    return lock


_IMPORTING: Mapping[str, Any] = vars(_bootstrap).get("_module_locks", {})
"""Weak references to the locks of what is being imported, by name."""
_PACKAGE = __name__.partition(".")[0] + "."
_PATIENCE = 2.0
"""Seconds."""


def _imports_elsewhere() -> bool:
    """Whether another thread imports a module of the package."""
    own = threading.get_ident()
    locks = [lock() for name, lock in list(_IMPORTING.items()) if name.startswith(_PACKAGE)]
    return any(getattr(lock, "owner", None) not in (None, own) for lock in locks)


def _wait_for_imports() -> None:
    """Before a fork: what other threads import of the package comes to its end. The child would
    find modules half made, and wait for ever for the threads that were at it.

    Not for long: what they import may wait for a lock that this thread holds.
    """
    end = time.monotonic() + _PATIENCE
    while _imports_elsewhere() and time.monotonic() < end:
        time.sleep(0.001)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_imports, after_in_child=_renew_all)
