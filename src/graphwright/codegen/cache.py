"""Compiled kernels on disk: private to the user, named by their content's key, verified.

An entry is the object file followed by the SHA-256 of its key and itself. It is written to a
temporary file and renamed, so that readers see all of it or nothing. A damaged entry is dropped
and built again. Where the folder cannot be used or trusted, kernels stay in memory, with one
warning.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable, Iterator

from graphwright.runtime.record import Record
from graphwright.runtime.stderr_notices import warn
from graphwright.runtime.temporary import new_file, remove_stale, remove_stale_once

_DIGEST = hashlib.sha256().digest_size
_LARGEST = 1 << 28
"""Bytes of an entry. What is larger was not written here: it is damage, and not read."""

_NEW = r"\.new-[0-9]+-"
"""How the names of entries begin that are being written, and then have the writer's number."""


class CacheWarning(UserWarning):
    """The kernel cache on disk cannot be used; kernels are compiled anew in each process."""


class CacheCounts(Record, frozen=False):
    """What happened since the process started."""

    disk_hits: int = 0
    memory_hits: int = 0
    misses: int = 0
    rebuilt: int = 0


class KernelCache:
    """Object files by key, in `folder` and in memory.

    Args:
        folder: where entries live; made on the first write. None keeps everything in memory.
        warns: whether to say that the folder cannot be used.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, warns: bool = True) -> None:
        self.folder = None if folder is None else os.fspath(folder)
        self.counts = CacheCounts()
        self._memory: dict[str, bytes] = {}
        self._warned = not warns

    def get(
        self, key: str, is_current: Callable[[bytes], bool] | None = None,
    ) -> bytes | None:
        """The object stored under `key`, or None. `is_current` says whether one on disk counts."""
        if key in self._memory:
            self.counts.memory_hits += 1
            return self._memory[key]
        found = self._read(key)
        if found is None or not (is_current is None or is_current(found)):
            self.counts.misses += 1
            found = None
        else:
            self.counts.disk_hits += 1
            self._memory[key] = found
        return found

    def known(self, key: str) -> bytes | None:
        """What memory has by now of an object that was missing."""
        return self._memory.get(key)

    def put(self, key: str, payload: bytes) -> None:
        """Store `payload` under `key`; on a disk that refuses, in memory only."""
        self._memory[key] = payload
        folder = self._usable_folder(create=True)
        if folder is None:
            return
        remove_stale_once(folder, _NEW)
        try:
            _publish(folder, key, payload)
        except OSError as error:
            self._warn(f"cannot write to {folder}: {error.strerror}")

    def entries(self) -> Iterator[tuple[str, int]]:
        """(key, bytes) of each entry on disk."""
        folder = self._usable_folder(create=False)
        if folder is None:
            return
        try:
            found = os.listdir(folder)
        except OSError as error:
            self._warn(f"cannot read {folder}: {error.strerror}")
            return
        for name in found:
            with contextlib.suppress(FileNotFoundError):    # another process has dropped it
                status = os.lstat(os.path.join(folder, name))
                if stat.S_ISREG(status.st_mode) and not name.startswith("."):
                    yield name, status.st_size

    def clear(self) -> int:
        """Delete all entries; how many there were on disk."""
        self._memory.clear()
        if self.folder is not None:
            remove_stale(self.folder, _NEW)
        names = [name for name, _ in self.entries()]
        for name in names:
            assert self.folder is not None
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self.folder, name))
        return len(names)

    def _read(self, key: str) -> bytes | None:
        folder = self._usable_folder(create=False)
        if folder is None:
            return None
        path = os.path.join(folder, key)
        try:
            content, mine = _content(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._warn(f"cannot read {path}: {error.strerror}")
            return None
        payload, digest = content[:-_DIGEST], content[-_DIGEST:]
        if mine and _digest(key, payload) == digest:
            return payload
        self.counts.rebuilt += 1
        with contextlib.suppress(OSError):
            os.unlink(path)
        return None

    def _usable_folder(self, *, create: bool) -> str | None:
        """The folder if it is there and only this user can write to it."""
        folder = self.folder
        if folder is None:
            return None
        try:
            if create:
                _make_folder(folder)
            status = os.lstat(folder)
        except OSError as error:
            if isinstance(error, FileNotFoundError) and not create:
                return None
            self._warn(f"cannot use {folder}: {error.strerror}")
            return None
        if not stat.S_ISDIR(status.st_mode):
            self._warn(f"{folder} is not a folder")
        elif status.st_uid != os.getuid():
            self._warn(f"{folder} belongs to another user")
        elif status.st_mode & 0o022:
            self._warn(f"others may write to {folder} (chmod 700 it)")
        else:
            return folder
        return None

    def _warn(self, reason: str) -> None:
        if not self._warned:
            self._warned = True
            warn(f"graphwright keeps compiled kernels in memory only: {reason}", CacheWarning, 2)


def _digest(key: str, payload: bytes) -> bytes:
    """The digest of an entry and its key: an entry under the wrong key counts as damaged."""
    return hashlib.sha256(key.encode() + b"\0" + payload).digest()


def _publish(folder: str, key: str, payload: bytes) -> None:
    """Put an entry where readers see it, all at once; on any failure nothing is left."""
    handle, temporary = new_file(folder, f".new-{os.getpid()}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(payload)
            file.write(_digest(key, payload))
            file.flush()
            os.replace(temporary, os.path.join(folder, key))
    finally:
        with contextlib.suppress(OSError):  # that it is gone is the usual case
            os.unlink(temporary)


def _make_folder(folder: str) -> None:
    """Make a folder and those above it that are missing, all of them for this user alone."""
    missing = []
    while not _is_there(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for path in reversed(missing):
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)


def _is_there(path: str) -> bool:
    """Whether a file of that name exists. Raises: OSError where the system cannot say."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    return True


def _content(path: str) -> tuple[bytes, bool]:
    """What a file holds, nothing if it is another kind of thing; and whether it is this user's."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return b"", False
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(), status.st_uid == os.getuid()
    finally:
        os.close(handle)


def cache_folder(kind: str = "kernels") -> str | None:
    """GRAPHWRIGHT_CACHE_DIR, else XDG_CACHE_HOME or ~/.cache, then graphwright/KIND.

    None where that is not an absolute path: kernels never come from the working directory.
    """
    named = os.environ.get("GRAPHWRIGHT_CACHE_DIR")
    if named is None:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        named = os.path.join(base, "graphwright")
    return os.path.join(named, kind) if os.path.isabs(named) else None


_CACHES: dict[str | None, KernelCache] = {}
_GRAPHS: dict[str | None, KernelCache] = {}


def kernel_cache() -> KernelCache:
    """The cache of the folder that the environment names now."""
    folder = cache_folder()
    if folder not in _CACHES:
        _CACHES[folder] = KernelCache(folder)
    return _CACHES[folder]


def graph_cache() -> KernelCache | None:
    """The cache of what graphs became, beside that of kernels, which warns for both. None where
    GRAPHWRIGHT_GRAPH_CACHE is 0."""
    if os.environ.get("GRAPHWRIGHT_GRAPH_CACHE") == "0":
        return None
    folder = cache_folder("graphs")
    if folder not in _GRAPHS:
        _GRAPHS[folder] = KernelCache(folder, warns=False)
    return _GRAPHS[folder]
