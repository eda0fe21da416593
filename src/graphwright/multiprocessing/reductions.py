"""Objects for another process: a pickle, in which tensors are places in shared memory.

A pickled object has two parts. The pickle refers to the tensors' storages by number; a table
before it says in which file each lies. So the files are chosen when all storages are known.
"""

from __future__ import annotations

import io
import pickle
import threading
from collections.abc import Sequence
from multiprocessing.reduction import DupFd, ForkingPickler
from typing import Any

from graphwright.multiprocessing import sharing
from graphwright.multiprocessing.sharing import share
from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.storage import TypedStorage, UntypedStorage
from graphwright.runtime.tensor.tensor import Tensor, as_it_was

_GRAIN = 16
"""Parts of storages begin at multiples of this many bytes, the size of the largest element."""

_Part = tuple[int, int, int, int]
"""Bytes `start` to `end` of a storage, and the file and the offset there that they lie at."""


class Parcel:
    """An object as bytes and descriptors of files.

    data: what `unpack` reads.
    files: descriptors, in the order that `data` refers to them.
    """

    def __init__(self, data: bytes, files: list[int], held: Sequence[Any]) -> None:
        self.data, self.files = data, files
        self._held = held       # the memory that the files are of; nothing where they are its own

    def close(self) -> None:
        """Close the files, once they have been sent."""
        if not self._held:
            sharing.close_all(self.files)
        self.files = []

    def __reduce__(self) -> Any:
        """For the pickles of `multiprocessing`: unpickled in another process it is the object."""
        return _unpack_sent, (self.data, [DupFd(fd) for fd in self.files])


class _Packer(ForkingPickler):
    """Writes tensors as references to `storages`, of which it keeps one tensor each."""

    def __init__(self, file: io.BytesIO, move: bool) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.move = move
        self.numbers: dict[int, int] = {}
        self.storages: list[Any] = []
        self.extents: list[list[tuple[int, int]]] = []

    def reducer_override(self, obj: Any) -> Any:
        """How tensors and storages are written; NotImplemented for all else."""
        if isinstance(obj, UntypedStorage | TypedStorage):
            return _storage_over, (type(obj), sharing.whole(obj._holder), obj.dtype)
        if isinstance(obj, Tensor) and type(obj).__reduce_ex__ is Tensor.__reduce_ex__:
            return self._reduced(obj)
        return NotImplemented

    def _reduced(self, tensor: Any) -> Any:
        if tensor.is_fake or tensor.device.type != "cpu":
            return NotImplemented
        if tensor.requires_grad and not tensor.is_leaf:
            raise RuntimeError(
                "a tensor that requires gradients and is no leaf cannot be sent to another "
                "process, since gradients do not cross processes: send tensor.detach()"
            )
        _, (_, dtype, requires_grad, cls), state = tensor.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
        source, item = tensor, dtype.itemsize
        if not self.move and _reach(tensor) > tensor.numel():
            source = ops.contiguous(tensor.detach())
        start = source.storage_offset() * item
        number = self._number(source, start, start + _reach(source) * item)
        layout = tuple(source.shape), source.stride(), start
        return _tensor_over, (number, layout, dtype, requires_grad, cls), state

    def _number(self, tensor: Any, start: int, end: int) -> int:
        """The number of a tensor's storage, of which the given bytes are needed."""
        key = tensor._storage._address() if self.move else id(tensor._storage)
        number = self.numbers.setdefault(key, len(self.storages))
        if number == len(self.storages):
            self.storages.append(tensor)
            self.extents.append([])
        self.extents[number].append((start // _GRAIN * _GRAIN, end))
        return number


def _reach(tensor: Any) -> int:
    """How many elements lie from the first to the last, those between them included."""
    if 0 in tensor.shape:
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))


def pack(obj: Any, move: bool) -> Parcel:
    """An object for another process.

    With `move` the memory of its tensors is moved into shared memory, and both processes have it
    from then on; without, the other process gets a copy of what the tensors show, and their views
    of one memory are views of one there.

    Raises what pickling raises, RuntimeError for tensors with a history, and OSError where memory
    does not suffice.
    """
    body = io.BytesIO()
    packer = _Packer(body, move)
    packer.dump(obj)
    if move:
        table, sizes, memories = _moved(packer.storages)
        files = [memory.fd for memory in memories]
    else:
        table, sizes, files = _copied(packer.storages, packer.extents)
        memories = []
    head = pickle.dumps((table, sizes, move), pickle.HIGHEST_PROTOCOL)
    return Parcel(head + body.getvalue(), files, memories)


def _moved(storages: list[Any]) -> tuple[list[list[_Part]], list[int], list[Any]]:
    sharing.share(storages)
    memories: dict[int, Any] = {}
    table = []
    for tensor in storages:
        found = sharing.memory_of(tensor)
        assert found is not None
        memory, offset = found
        file = list(memories).index(memory.fd) if memory.fd in memories else len(memories)
        memories[memory.fd] = memory
        table.append([(0, tensor._storage.nbytes, file, offset)])
    return table, [memory.nbytes for memory in memories.values()], list(memories.values())


def _copied(
    storages: list[Any], extents: list[list[tuple[int, int]]]
) -> tuple[list[list[_Part]], list[int], list[int]]:
    merged = [_merged(found) for found in extents]
    parts = [
        sharing.whole(tensor)._nd[start:end]
        for tensor, found in zip(storages, merged, strict=True)
        for start, end in found
    ]
    places, sizes = sharing.place([len(part) for part in parts])
    rest = iter(places)
    table = [[(start, end, *next(rest)) for start, end in found] for found in merged]
    return table, sizes, sharing.write_files(places, sizes, parts)


def _merged(extents: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges of bytes, those that overlap as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(extents):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


class _Current(threading.local):
    """The storages of what this thread unpacks: where each part begins, and its bytes."""

    storages: Sequence[Sequence[tuple[int, Any]]] = ()


_CURRENT = _Current()


class Opened:
    """A packed object whose memory is mapped, and which is not yet unpickled.

    The descriptors are taken over, also where this fails.
    """

    def __init__(self, data: Any, files: Sequence[int]) -> None:
        self._stream = io.BytesIO(data)
        table, sizes, keep = pickle.load(self._stream)
        memories = sharing.map_all(files, sizes, keep)
        self._storages = [
            [
                (start, _core.shared_tensor(Tensor, memories[file], offset, end - start))
                for start, end, file, offset in parts
            ]
            for parts in table
        ]

    def load(self) -> Any:
        """The object; once. Raises what unpickling raises."""
        before = _CURRENT.storages
        _CURRENT.storages = self._storages
        try:
            return pickle.load(self._stream)
        finally:
            _CURRENT.storages = before


def unpack(data: Any, files: Sequence[int]) -> Any:
    """The object that was packed. The descriptors are taken over, also where this fails."""
    return Opened(data, files).load()


def _unpack_sent(data: bytes, files: list[Any]) -> Any:
    return unpack(data, [file.detach() for file in files])


def _tensor_over(
    number: int,
    layout: tuple[tuple[int, ...], tuple[int, ...], int],
    dtype: DType,
    requires_grad: bool,
    cls: Any,
) -> Tensor:
    """A tensor of what is being unpacked."""
    shape, strides, start = layout
    begin, memory = next(part for part in reversed(_CURRENT.storages[number]) if part[0] <= start)
    offset = (start - begin) // dtype.itemsize
    view = _core.as_view(Tensor, memory, shape, strides, offset, dtype)
    return as_it_was(_core.detach(Tensor, view), requires_grad, cls)


def _storage_over(kind: Any, memory: Tensor, dtype: DType) -> Any:
    return kind._of(memory, dtype)


def _reduce_shared(tensor: Tensor) -> Any:
    """For pickles of `multiprocessing` that know nothing of parcels: shared memory stays one."""
    if tensor.device.type == "cpu" and not tensor.is_fake and sharing.memory_of(tensor):
        return pack(tensor, True).__reduce__()
    return tensor.__reduce_ex__(pickle.HIGHEST_PROTOCOL)


ForkingPickler.register(Tensor, _reduce_shared)

__all__ = ["Opened", "Parcel", "pack", "share", "unpack"]
