"""Files and folders under names that nobody guesses, which the next process removes if this one
is killed.

Who makes one holds a lock on it while it is in use. What is there and not locked has been left by
a process that has ended: `remove_stale` takes it away, and cannot meet one that is being written.
On file systems without locks nothing is removed.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
from contextlib import suppress

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OPENED = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def new_file(folder: str, prefix: str, mode: int = 0o600) -> tuple[int, str]:
    """Make a file in `folder`: its descriptor, for writing, and its path.

    The lock goes with the descriptor: rename or remove the file before closing it.
    """
    while True:
        path = os.path.join(folder, prefix + os.urandom(8).hex())
        handle = os.open(path, _FLAGS, mode)
        if _hold(handle, path):
            return handle, path
        os.close(handle)


def new_folder(place: str, prefix: str) -> tuple[int, str]:
    """Make a folder for this user alone: the descriptor that locks it, and its path."""
    while True:
        path = os.path.abspath(os.path.join(place, prefix + os.urandom(8).hex()))
        os.mkdir(path, 0o700)
        with suppress(FileNotFoundError):
            handle = os.open(path, _OPENED | os.O_DIRECTORY)
            if _hold(handle, path):
                return handle, path
            os.close(handle)


def _hold(handle: int, path: str) -> bool:
    """Lock what was just made; False where another process took it for stale before."""
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        return os.lstat(path).st_ino == os.fstat(handle).st_ino
    except FileNotFoundError:
        return False


_SWEPT: set[tuple[str, str]] = set()


def remove_stale_once(folder: str, prefix: str) -> None:
    """`remove_stale`, in the first call of this process for a folder: it lists all that is there.
    """
    if (folder, prefix) not in _SWEPT:
        _SWEPT.add((folder, prefix))
        remove_stale(folder, prefix)


def remove_stale(folder: str, prefix: str) -> None:
    """Remove what ended processes of this user left: the prefix, and 16 hexadecimal digits."""
    ours = re.compile(prefix + "[0-9a-f]{16}")
    with suppress(OSError):
        for name in os.listdir(folder):
            if ours.fullmatch(name):
                _remove_if_stale(os.path.join(folder, name))


def _remove_if_stale(path: str) -> None:
    with suppress(OSError):     # it is locked, or gone
        handle = os.open(path, _OPENED)
        try:
            status = os.fstat(handle)
            if status.st_uid == os.getuid():
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if stat.S_ISDIR(status.st_mode):
                    import shutil

                    shutil.rmtree(path)
                else:
                    os.unlink(path)
        finally:
            os.close(handle)
