"""Locks that a forked child finds free, whatever the other threads were doing."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Mapping
from contextlib import AbstractContextManager
from importlib import _bootstrap, import_module
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


_IMPORTING: Mapping[str, object] = vars(_bootstrap).get("_module_locks", {})
"""The locks of what is being imported, by name: modules that are still looked for among them."""
_PACKAGE = __name__.partition(".")[0] + "."


def _wait_for_imports() -> None:
    """Before a fork: what other threads import of the package comes to its end. The child would
    find modules half made, and wait for ever for the threads that were at it.

    This thread's own imports are passed over, as are those that wait for this thread.
    """
    waited: set[str] = set()
    while begun := {name for name in list(_IMPORTING) if name.startswith(_PACKAGE)} - waited:
        name = begun.pop()
        waited.add(name)
        with contextlib.suppress(ImportError, RuntimeError):
            import_module(name)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_imports, after_in_child=_renew_all)
