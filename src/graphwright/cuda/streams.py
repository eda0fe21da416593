"""Streams, events, graphs and devices of a GPU: objects, and `with` blocks that use them.

None can be made without a GPU; blocks that ask for no stream or device do nothing.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, NoReturn, Self

from graphwright.compat import absent_devices
from graphwright.compat.absent_devices import Block
from graphwright.cuda.presence import LackingObject, require
from graphwright.cuda.queries import device_of_tensor
from graphwright.runtime import _core
from graphwright.runtime.cuda.devices import index_of, is_available
from graphwright.runtime.tensor.device import device as Device


class Stream(absent_devices.Stream):
    """A queue of a GPU's work: what is put there runs in order, beside that of other queues.

    As in PyTorch a device has 32 of them for each priority, which are handed out in turn.

    Args:
        device: the GPU, as a device or its index; the current one if None.
        priority: work of negative priority goes first, as far as the GPU knows that.

    Raises:
        RuntimeError: there is no GPU, or none of that index.
    """

    of = "CUDA"
    stream_id: int
    _blocks: list[StreamContext]

    def __new__(cls, device: Any = None, priority: int = 0, **known: Any) -> Any:
        """`known`: `stream_id`, of a stream that exists."""
        if not is_available():
            return super().__new__(cls)
        made = object.__new__(cls)
        made._blocks = []
        made.stream_id = known["stream_id"] if "stream_id" in known else _core.cuda_stream(
            index_of(device), priority)
        return made

    @property
    def _facts(self) -> tuple[int, int, int]:
        return _core.cuda_stream_facts(self.stream_id)

    @property
    def device(self) -> Device:
        """The GPU whose work it is."""
        return Device("cuda", self._facts[0])

    @property
    def device_index(self) -> int:
        """The index of the GPU."""
        return self._facts[0]

    @property
    def priority(self) -> int:
        """Its priority: 0, or below for what goes first."""
        return self._facts[1]

    @property
    def cuda_stream(self) -> int:
        """The driver's stream, for other libraries."""
        return self._facts[2]

    _as_parameter_ = native_handle = cuda_stream

    def is_capturing(self) -> bool:
        """Whether a CUDA graph is being recorded from it."""
        return _core.cuda_stream_is_capturing(self.stream_id)

    def __enter__(self) -> Self:
        """Use it, and its GPU, inside of a `with` block; as `cuda.stream`."""
        self._blocks.append(StreamContext(self).__enter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Use what was in use before."""
        self._blocks.pop().__exit__(kind, error, trace)

    def query(self) -> bool:
        """Whether all that was put there is done. Raises RuntimeError where that has failed."""
        return _core.cuda_stream_query(self.stream_id)

    def synchronize(self) -> None:
        """Wait for what was put there. Raises RuntimeError where that has failed."""
        _core.cuda_stream_synchronize(self.stream_id)

    def wait_event(self, event: Event) -> None:
        """Run what is put here later after what an event marks."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Run what is put here later after what another stream has now."""
        self.wait_event(stream.record_event())

    def record_event(self, event: Event | None = None) -> Event:
        """Mark what was put here until now; returns the event, a new one if None."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.stream_id == other.stream_id

    def __hash__(self) -> int:
        return hash(self.stream_id)

    def __repr__(self) -> str:
        return f"<graphwright.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


def _known_stream(number: int) -> Stream:
    made: Stream = Stream(stream_id=number)
    return made


class ExternalStream(Stream):
    """A queue that another library made.

    Args:
        stream_ptr: the driver's stream.
        device: the GPU, as a device or its index; the current one if None.

    Raises RuntimeError: there is no GPU.
    """

    def __new__(cls, stream_ptr: int = 0, device: Any = None, **known: Any) -> Any:
        if is_available():
            known["stream_id"] = _core.cuda_external_stream(index_of(device), stream_ptr)
        return super().__new__(cls, **known)


class Event(absent_devices.Event):
    """A mark in a queue of a GPU's work.

    Args:
        enable_timing: take the time, for `elapsed_time`.
        blocking: let the processor sleep in `synchronize`.
        interprocess: must be False.

    Raises:
        RuntimeError: there is no GPU.
        NotImplementedError: `interprocess`.
    """

    of = "CUDA"
    _core_event: _core.CudaEvent

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> Any:
        if not is_available():
            return super().__new__(cls)
        if interprocess:
            raise NotImplementedError("cuda.Event: events are not shared with other processes")
        made = object.__new__(cls)
        made._core_event = _core.CudaEvent(enable_timing, blocking)
        return made

    def record(self, stream: Stream | None = None) -> None:
        """Mark what a stream has until now; the current one if None."""
        self._core_event.record((current_stream() if stream is None else stream).stream_id)

    def wait(self, stream: Stream | None = None) -> None:
        """Have a stream, the current one if None, run what is put there later after the mark."""
        self._core_event.wait((current_stream() if stream is None else stream).stream_id)

    def query(self) -> bool:
        """Whether what was marked is done. Raises RuntimeError where that has failed."""
        return self._core_event.query()

    def synchronize(self) -> None:
        """Wait for what was marked. Raises RuntimeError where that has failed."""
        self._core_event.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to another.

        Raises RuntimeError unless both were made with `enable_timing`, recorded, and are done.
        """
        return self._core_event.elapsed_time(end_event._core_event)

    @classmethod
    def from_ipc_handle(cls, device: Any, handle: Any) -> NoReturn:
        """Raises NotImplementedError: events are not shared with other processes."""
        raise NotImplementedError("cuda.Event: events are not shared with other processes")

    def ipc_handle(self) -> NoReturn:
        """Raises NotImplementedError: events are not shared with other processes."""
        raise NotImplementedError("cuda.Event: events are not shared with other processes")

    @property
    def cuda_event(self) -> int:
        """The driver's event, for other libraries; 0 before it is recorded."""
        return self._core_event.handle

    _as_parameter_ = cuda_event

    @property
    def device(self) -> Device | None:
        """The GPU on which it was recorded; None before."""
        index = self._core_event.device
        return None if index < 0 else Device("cuda", index)

    def __repr__(self) -> str:
        return f"<graphwright.cuda.Event {self.cuda_event:#x}>"


class CUDAGraph(LackingObject):
    """Work of a GPU that is recorded once and run again."""


class graph(LackingObject):
    """A `with` block that records into a `CUDAGraph`."""


class GreenContext(LackingObject):
    """A share of a GPU's processors."""


class MemPool(LackingObject):
    """Memory of a GPU that is kept for some purpose."""


class CUDAPluggableAllocator(LackingObject):
    """An allocator of a GPU's memory from another library."""


class StreamContext(Block):
    """What `stream(s)` gives: the queue in use inside of the block, and its GPU."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self.before: list[tuple[int, int]] = []

    def __enter__(self) -> Self:
        if not is_available() or self.chosen is None:
            return super().__enter__()
        device = self.chosen.device_index
        self.before.append((_core.cuda_current_stream(device), _core.cuda_set_device(device)))
        _core.cuda_set_stream(self.chosen.stream_id)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Use what was in use before."""
        if self.before:
            stream, device = self.before.pop()
            _core.cuda_set_stream(stream)
            _core.cuda_set_device(device)


class device(Block):
    """The GPU in use inside of a `with` block: a device or index; None or -1 for no change.

    Entering the block raises RuntimeError for one that is not there.
    """

    def __init__(self, device: Any) -> None:
        super().__init__(device)
        self.before: list[int] = []

    def __enter__(self) -> Self:
        chosen = self.chosen
        none = chosen is None or (isinstance(chosen, int) and chosen < 0)
        if none or not is_available():
            return super().__enter__()
        self.before.append(_core.cuda_set_device(index_of(chosen)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Use the GPU that was in use before."""
        if self.before:
            _core.cuda_set_device(self.before.pop())


class device_of(device):
    """The same of a tensor's device: no change for one that is not on a GPU."""

    def __init__(self, obj: Any) -> None:
        super().__init__(device_of_tensor(obj))


def stream(stream: Any) -> StreamContext:
    """A `with` block in which a queue is in use; None changes nothing."""
    return StreamContext(stream)


def set_stream(stream: Any) -> None:
    """Use a queue from now on, and its GPU; None changes nothing.

    Raises RuntimeError where there is no GPU.
    """
    StreamContext(stream).__enter__()


def current_stream(device: Any = None) -> Stream:
    """The queue that this thread uses on a GPU.

    Args:
        device: the GPU, as a device or its index; the current one if None.

    Raises AssertionError where there is no GPU.
    """
    require()
    return _known_stream(_core.cuda_current_stream(index_of(device)))


def default_stream(device: Any = None) -> Stream:
    """The queue that is in use where no other is chosen; as `current_stream`."""
    require()
    return _known_stream(_core.cuda_default_stream(index_of(device)))


def get_stream_from_external(data_ptr: int, device: Any = None) -> Stream:
    """The queue of another library; as `ExternalStream`. AssertionError without a GPU."""
    require()
    made: Stream = ExternalStream(data_ptr, device)
    return made


def is_current_stream_capturing() -> bool:
    """Whether a CUDA graph is being recorded from the current stream; False without a GPU."""
    return is_available() and _core.cuda_is_initialized() and _core.cuda_stream_is_capturing(
        current_stream().stream_id)
