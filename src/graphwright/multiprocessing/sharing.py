"""Memory that several processes have: where tensors lie that all of them read and write.

Shared memory is a file without a name, which each process maps. Its bytes are written before it is
mapped, so that memory that does not suffice is an OSError. Whoever has the descriptor has the
file; the last one to close and unmap it frees it, however its process ends, and nothing can be
left behind.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Sequence
from typing import Any
from weakref import WeakValueDictionary

from graphwright.runtime import _core
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

_ALIGNMENT = 64
_OWN_FILE = 64 << 10
"""From so many bytes on a part has a file of its own, which ends with it."""
_OWN_FILES = 32
"""So many parts of a group have at most."""
_KNOWN: WeakValueDictionary[tuple[int, int], _core.SharedMemory] = WeakValueDictionary()
"""Kept memory by device and number of its file: what comes back is what was sent."""


def whole(tensor: Any) -> Any:
    """All bytes of the memory that a tensor lies in, as uint8 elements."""
    plain = _core.detach(Tensor, tensor)
    return _core.as_view(Tensor, plain, (tensor._storage.nbytes,), (1,), 0, dtypes.uint8)


def place(sizes: Sequence[int]) -> tuple[list[tuple[int, int]], list[int]]:
    """Where parts of the given sizes go: (file, offset) of each, and the size of each file.

    A large part has a file of its own, so that it is freed when it is no longer used; the others
    share one, since a process can have few files.
    """
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    alone = {i for i in order[:_OWN_FILES] if sizes[i] >= _OWN_FILE}
    places: list[tuple[int, int]] = [(0, 0)] * len(sizes)
    files = [sizes[i] for i in sorted(alone)]
    for file, i in enumerate(sorted(alone)):
        places[i] = file, 0
    common = 0
    for i in range(len(sizes)):
        if i not in alone:
            places[i] = len(files), common
            common += -(-sizes[i] // _ALIGNMENT) * _ALIGNMENT
    return places, [*files, max(common, 1)] if len(alone) < len(sizes) else files


def _new_file() -> int:
    """The descriptor of an empty file that has no name."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("graphwright", os.MFD_CLOEXEC)
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def write_files(
    places: Sequence[tuple[int, int]], files: Sequence[int], parts: Sequence[Any]
) -> list[int]:
    """Descriptors of new files of the given sizes that hold the bytes of the parts.

    Raises OSError where memory does not suffice, or a process may not have so many files.
    """
    made: list[int] = []
    try:
        for nbytes in files:
            made.append(_new_file())
            os.truncate(made[-1], nbytes)
        for (file, offset), part in zip(places, parts, strict=True):
            rest = memoryview(part)
            while rest.nbytes:
                written = os.pwrite(made[file], rest, offset)
                rest, offset = rest[written:], offset + written
    except BaseException:
        close_all(made)
        raise
    return made


def close_all(descriptors: Iterable[int]) -> None:
    """Close files that this process does not need."""
    for fd in descriptors:
        os.close(fd)


def mapped(fd: int, nbytes: int, keep: bool) -> _core.SharedMemory:
    """The memory of a file, which is taken over; that known already where it was kept."""
    try:
        if not keep:
            return _core.SharedMemory(fd, nbytes, False)
        file = os.fstat(fd)
        known = _KNOWN.get((file.st_dev, file.st_ino))
        if known is None:
            made = _core.SharedMemory(fd, nbytes, True)
            _KNOWN[file.st_dev, file.st_ino] = made
            return made
    except BaseException:
        os.close(fd)
        raise
    if known.fd != fd:      # a child may have got one descriptor twice
        os.close(fd)
    return known


def map_all(
    descriptors: Sequence[int], sizes: Sequence[int], keep: bool
) -> list[_core.SharedMemory]:
    """The memory of several files, all of which are taken over, also where one fails."""
    rest = list(descriptors)
    try:
        return [mapped(rest.pop(0), nbytes, keep) for nbytes in sizes]
    finally:
        close_all(rest)


def memory_of(tensor: Any) -> tuple[_core.SharedMemory, int] | None:
    """The shared memory that a tensor's storage lies in, and where there, if others can get it."""
    found = _core.shared_place(tensor._storage)
    return found if found is not None and found[0].fd >= 0 else None


def share(tensors: Iterable[Any]) -> None:
    """Move the memory of tensors that is not shared into shared memory.

    All tensors and views over that memory move with it. NumPy arrays made of them before, and
    memory that was another library's, stay where they are. Raises RuntimeError for tensors that
    are not on the CPU, OSError where memory does not suffice.
    """
    holders: dict[int, list[Any]] = {}      # tensors by the address of their memory
    for tensor in tensors:
        if tensor.is_fake:
            raise DataDependent("the memory of a tensor is shared while tracing")
        if tensor.device.type != "cpu":
            raise RuntimeError(f"only memory of the CPU can be shared, not of {tensor.device}")
        if memory_of(tensor) is None:
            holders.setdefault(tensor._storage._address(), [tensor])
    if not holders:
        return
    if not all(_core.owns_alone(tensor) for (tensor,) in holders.values()):
        _core.find_holders(gc.get_objects(), holders)
    parts = [whole(max(held, key=lambda t: t._storage.nbytes)) for held in holders.values()]
    places, files = place([part.numel() for part in parts])
    opened = write_files(places, files, [part._nd for part in parts])
    memories = map_all(opened, files, True)
    for held, (file, offset) in zip(holders.values(), places, strict=True):
        _core.relocate(tuple(held), memories[file], offset)
