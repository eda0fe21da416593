"""Connections that carry tensors: sockets between processes, which take descriptors along.

A message is its size, how many files belong to it, then these, then its bytes. A file that is
under way belongs to nobody but the kernel: neither end has to live on for the other.
"""

from __future__ import annotations

import array
import errno
import io
import select
import socket
import struct
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.reduction import DupFd, ForkingPickler
from typing import Any

from graphwright.multiprocessing import sharing
from graphwright.multiprocessing.reductions import Parcel, pack, unpack

_HEAD = struct.Struct("!QI")
_FILES_AT_ONCE = 128
"""Fewer than the 253 that Linux lets one message have."""
_FILE = array.array("i").itemsize
_PAUSE = 0.002
"""Seconds until a file is offered again where too many are under way."""

Frame = tuple[bytes, list[int]]
"""The bytes and the descriptors of a message."""


def _wait_to_write(fd: int) -> None:
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    poll.poll()


class Channel(Connection):
    """One end of a connection: `multiprocessing.connection.Connection` over a socket.

    The memory of tensors that are sent is moved into shared memory, and both ends have it.
    """

    def __init__(self, handle: int, readable: bool = True, writable: bool = True) -> None:
        super().__init__(handle, readable, writable)
        self._socket = socket.socket(fileno=handle)
        self._socket.settimeout(None)

    def _close(self) -> None:
        self._socket.close()        # which has the descriptor, and closes it once

    def send(self, obj: Any) -> None:
        """Send an object. Raises as `pack`, OSError where the other end is closed."""
        parcel = pack(obj, True)
        try:
            self.send_parcel(parcel)
        finally:
            parcel.close()

    def recv(self) -> Any:
        """Receive an object. Raises EOFError where the other end is closed."""
        return unpack(*self.recv_frame())

    def send_parcel(
        self, parcel: Parcel, when_full: Callable[[int], None] = _wait_to_write
    ) -> None:
        """Send what was packed; `when_full(fd)` is called, until it can be, with this socket."""
        self._check_closed()  # type: ignore[attr-defined]
        self._check_writable()  # type: ignore[attr-defined]
        files, head = parcel.files, _HEAD.pack(len(parcel.data), len(parcel.files))
        self._send_all(head if files else head + parcel.data, when_full)
        for start in range(0, len(files), _FILES_AT_ONCE):
            self._send_files(files[start : start + _FILES_AT_ONCE], when_full)
        if files:
            self._send_all(parcel.data, when_full)

    def recv_frame(self) -> Frame:
        """The next message, not yet unpacked. Raises EOFError where the other end is closed."""
        self._check_closed()  # type: ignore[attr-defined]
        self._check_readable()  # type: ignore[attr-defined]
        size, count = _HEAD.unpack(self._recv_all(_HEAD.size, at_end=EOFError))
        files: list[int] = []
        try:
            while len(files) < count:
                files += self._recv_files(min(count - len(files), _FILES_AT_ONCE))
            return self._recv_all(size), files
        except BaseException:
            sharing.close_all(files)
            raise

    # -- what `send_bytes`, `recv_bytes` and the like are made of

    def _send_bytes(self, buf: Any) -> None:
        self.send_parcel(Parcel(bytes(buf), [], ()))

    def _recv_bytes(self, maxsize: int | None = None) -> io.BytesIO | None:
        data, files = self.recv_frame()
        sharing.close_all(files)
        if maxsize is not None and len(data) > maxsize:
            return None
        buffer = io.BytesIO()
        buffer.write(data)
        return buffer

    # -- the socket

    def _send_all(self, data: bytes, when_full: Callable[[int], None]) -> None:
        rest = memoryview(data)
        while rest.nbytes:
            try:
                rest = rest[self._socket.send(rest, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL) :]
            except BlockingIOError:
                when_full(self.fileno())

    def _send_files(self, files: list[int], when_full: Callable[[int], None]) -> None:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))]
        flags = socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL
        while True:
            try:
                self._socket.sendmsg([b"f"], rights, flags)
                return
            except BlockingIOError:
                when_full(self.fileno())
            except OSError as error:
                if error.errno != errno.ETOOMANYREFS:
                    raise
                time.sleep(_PAUSE)

    def _recv_all(self, size: int, at_end: type[Exception] = ConnectionResetError) -> bytes:
        data = bytearray(size)
        rest = memoryview(data)
        while rest.nbytes:
            got = self._socket.recv_into(rest)
            if not got:
                raise at_end("the other process closed the connection")
            rest = rest[got:]
        return bytes(data)

    def _recv_files(self, count: int) -> list[int]:
        space = socket.CMSG_SPACE(count * _FILE)
        data, rights, flags, _ = self._socket.recvmsg(1, space, socket.MSG_CMSG_CLOEXEC)
        if not data:
            raise ConnectionResetError("the other process closed the connection")
        files = array.array("i")
        for _, _, given in rights:
            files.frombytes(given[: len(given) // _FILE * _FILE])
        if flags & socket.MSG_CTRUNC or len(files) != count:
            sharing.close_all(files)
            raise OSError(
                f"{count} tensors came from another process, but this one may not open so many "
                "files: raise the limit (`ulimit -n`), or keep fewer shared tensors"
            )
        return list(files)


def Pipe(duplex: bool = True) -> tuple[Channel, Channel]:
    """Both ends of a connection; of one that is not `duplex` the first receives, the other sends.
    """
    one, other = socket.socketpair()
    return Channel(one.detach(), True, duplex), Channel(other.detach(), duplex, True)


def _reduce(channel: Channel) -> Any:
    return _rebuilt, (DupFd(channel.fileno()), channel.readable, channel.writable)


def _rebuilt(descriptor: Any, readable: bool, writable: bool) -> Channel:
    return Channel(descriptor.detach(), readable, writable)


ForkingPickler.register(Channel, _reduce)
