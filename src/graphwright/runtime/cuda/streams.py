"""Streams, events, graphs and devices of a GPU: names that annotations and `with` blocks use.

None can be made without a GPU; blocks that ask for no stream or device do nothing.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, NoReturn, Self


class _Absent:
    """A class whose instances belong to a GPU; making one raises RuntimeError, as in PyTorch."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"graphwright.cuda.{cls.__name__} requires a CUDA device")


class Stream(_Absent):
    """A queue of a GPU's work."""


class ExternalStream(Stream):
    """A queue that another library made."""


class Event(_Absent):
    """A mark in a queue of a GPU's work."""


class CUDAGraph(_Absent):
    """Work of a GPU that is recorded once and run again."""


class _Block:
    """A `with` block that chooses something of the GPU's; None and numbers below 0 are nothing."""

    def __init__(self, chosen: Any) -> None:
        self.chosen = chosen

    def __enter__(self) -> Self:
        if self.chosen is not None and not (isinstance(self.chosen, int) and self.chosen < 0):
            raise RuntimeError(f"graphwright has no CUDA devices: {self.chosen!r} is none")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing was chosen."""


class StreamContext(_Block):
    """What `stream(s)` gives: the queue in use inside of the block."""


class device(_Block):
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
