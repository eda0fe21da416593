"""The CPU as a device, after `torch.cpu`: there is always one, and its work is done at once."""

from __future__ import annotations

from types import TracebackType

from graphwright.cpu import amp as amp


class Stream:
    """The queue of the CPU's work, which is always empty."""

    def __init__(self, priority: int = -1) -> None:
        """The priority changes nothing."""

    def wait_stream(self, stream: Stream) -> None:
        """Without effect: what the other was given is done."""

    def record_event(self) -> None:
        """Without effect: there is nothing to come."""


class Event:
    """A mark in the queue of the CPU's work: always reached."""

    def query(self) -> bool:
        """Whether it is reached: True."""
        return True

    def record(self, stream: Stream | None = None) -> None:
        """Without effect."""

    wait = synchronize = record


class StreamContext:
    """What `stream(s)` gives: a `with` block."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        """Work is done at once, inside as outside."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing was chosen."""


stream = StreamContext
_CURRENT = Stream()


def current_stream(device: object = None) -> Stream:
    """The one queue that there is."""
    return _CURRENT


def is_available() -> bool:
    """Whether tensors can be on the CPU: True."""
    return True


def is_initialized() -> bool:
    """Whether the CPU is in use: True."""
    return True


def device_count() -> int:
    """How many CPUs tensors can be on: 1, however many cores it has."""
    return 1


def current_device() -> str:
    """The name of the device: "cpu"."""
    return "cpu"


def set_device(device: object) -> None:
    """Without effect: there is one CPU."""


def synchronize(device: object = None) -> None:
    """Without effect: the CPU's work is done when a function returns."""
