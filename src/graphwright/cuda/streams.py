"""Streams, events, graphs and devices of a GPU: names that annotations and `with` blocks use.

None can be made without a GPU; blocks that ask for no stream or device do nothing.
"""

from __future__ import annotations

from typing import Any

from graphwright.compat import absent_devices
from graphwright.compat.absent_devices import AbsentObject, Block


class Stream(absent_devices.Stream):
    """A queue of a GPU's work."""

    of = "CUDA"


class ExternalStream(Stream):
    """A queue that another library made."""


class Event(absent_devices.Event):
    """A mark in a queue of a GPU's work."""

    of = "CUDA"


class CUDAGraph(AbsentObject):
    """Work of a GPU that is recorded once and run again."""


class graph(AbsentObject):
    """A `with` block that records into a `CUDAGraph`."""


class MemPool(AbsentObject):
    """Memory of a GPU that is kept for some purpose."""


class CUDAPluggableAllocator(AbsentObject):
    """An allocator of a GPU's memory from another library."""


class StreamContext(Block):
    """What `stream(s)` gives: the queue in use inside of the block."""


class device(Block):
    """The GPU in use inside of a `with` block: an index, or None or -1 for no change.

    Entering the block raises RuntimeError for any other.
    """


class device_of(device):
    """The same of a tensor's device: no change, as tensors lie on the CPU."""

    def __init__(self, obj: Any) -> None:
        super().__init__(None)


def stream(stream: Any) -> StreamContext:
    """A `with` block in which a queue is in use; None changes nothing."""
    return StreamContext(stream)


def set_stream(stream: Any) -> None:
    """Use a queue from now on; None changes nothing, others raise RuntimeError."""
    StreamContext(stream).__enter__()
