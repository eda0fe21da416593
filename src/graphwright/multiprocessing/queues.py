"""Queues between processes that carry tensors in shared memory.

What is put is packed by who puts it, not by the thread that sends it later: what happens to a
tensor after `put` cannot come between.
"""

from __future__ import annotations

import itertools
import pickle
from functools import partial
from multiprocessing import queues
from typing import Any

from graphwright.multiprocessing.channel import Channel, Frame, Pipe
from graphwright.multiprocessing.reductions import Parcel, pack, unpack


class _Carrying:
    """A queue of `multiprocessing` over channels. Its own buffer has numbers for parcels."""

    _reader: Any
    _writer: Any

    def __init__(self, maxsize: int = 0, *, ctx: Any) -> None:
        super().__init__(maxsize, ctx=ctx)  # type: ignore[call-arg]
        _replace_pipe(self)
        self._reset()

    def _reset(self, after_fork: bool = False) -> None:
        super()._reset(after_fork)  # type: ignore[misc]
        self._numbers = itertools.count()
        self._outgoing: dict[int, Parcel] = {}
        self._incoming: dict[int, Frame] = {}
        if isinstance(self._reader, Channel):
            self._send_bytes = partial(_send_numbered, self._writer, self._outgoing)
            self._recv_bytes = self._receive_numbered

    def put(self, obj: Any, block: bool = True, timeout: float | None = None) -> None:
        """Put an object into the queue. Raises as `pack`, `queue.Full`, ValueError once closed."""
        number = next(self._numbers)
        self._outgoing[number] = pack(obj, True)
        try:
            super().put(number, block, timeout)  # type: ignore[misc]
        except BaseException:
            del self._outgoing[number]
            raise

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Take the next object. Raises `queue.Empty`, ValueError once closed."""
        number = super().get(block, timeout)  # type: ignore[misc]
        return unpack(*self._incoming.pop(number))

    def _receive_numbered(self) -> bytes:
        number = next(self._numbers)
        self._incoming[number] = self._reader.recv_frame()
        return pickle.dumps(number)


def _send_numbered(writer: Channel, outgoing: dict[int, Parcel], number: Any) -> None:
    writer.send_parcel(outgoing.pop(pickle.loads(number)))


def _replace_pipe(queue: Any) -> None:
    queue._reader.close()
    queue._writer.close()
    queue._reader, queue._writer = Pipe(duplex=False)


class Queue(_Carrying, queues.Queue):
    """`multiprocessing.Queue`; tensors travel in shared memory, which both ends have then."""


class JoinableQueue(_Carrying, queues.JoinableQueue):
    """`multiprocessing.JoinableQueue`; tensors travel in shared memory."""


class SimpleQueue(queues.SimpleQueue):
    """`multiprocessing.SimpleQueue`; tensors travel in shared memory."""

    _reader: Any
    _writer: Any

    def __init__(self, *, ctx: Any) -> None:
        super().__init__(ctx=ctx)
        _replace_pipe(self)
        self._poll = self._reader.poll

    def put(self, obj: Any) -> None:
        """Put an object into the queue. Raises as `pack`."""
        parcel = pack(obj, True)
        with self._wlock:  # type: ignore[attr-defined]
            self._writer.send_parcel(parcel)

    def get(self) -> Any:
        """Take the next object; waits until there is one."""
        with self._rlock:  # type: ignore[attr-defined]
            frame = self._reader.recv_frame()
        return unpack(*frame)
