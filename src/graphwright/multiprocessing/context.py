"""The contexts of `multiprocessing`, with queues, pipes and processes that carry tensors."""

from __future__ import annotations

import multiprocessing
from multiprocessing import context
from multiprocessing.context import BaseContext
from typing import Any

from graphwright.multiprocessing import channel, queues
from graphwright.multiprocessing.reductions import Parcel, pack


class _Packed:
    """A process whose target and arguments, if it is given them in a pickle, are packed."""

    _parcel: Parcel | None = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        made: Any = super().__reduce_ex__(protocol)
        self._parcel = pack(made[2], True)      # its files are open until the process has started
        return *made[:2], self._parcel, *made[3:]

    def start(self) -> None:
        """Start the process."""
        try:
            super().start()  # type: ignore[misc]
        finally:
            self.__dict__.pop("_parcel", None)


class Process(_Packed, context.Process):
    """`multiprocessing.Process`; tensors among the arguments share their memory."""


class _Carrying(BaseContext):
    def get_context(self, method: str | None = None) -> Any:
        """The context of a start method. Raises ValueError for one that there is not."""
        return self if method is None else get_context(method)

    def Pipe(self, duplex: bool = True) -> Any:
        """Both ends of a connection that carries tensors in shared memory."""
        return channel.Pipe(duplex)

    def Queue(self, maxsize: int = 0) -> Any:
        """A queue that carries tensors in shared memory."""
        return queues.Queue(maxsize, ctx=self.get_context())

    def JoinableQueue(self, maxsize: int = 0) -> Any:
        """A queue that carries tensors in shared memory, with `task_done` and `join`."""
        return queues.JoinableQueue(maxsize, ctx=self.get_context())

    def SimpleQueue(self) -> Any:
        """A queue without a thread that carries tensors in shared memory."""
        return queues.SimpleQueue(ctx=self.get_context())


def _context_of(method: str) -> BaseContext:
    """The context of a start method, after that of `multiprocessing`."""
    plain: Any = type(multiprocessing.get_context(method))
    process = plain.Process
    kind = type(process.__name__, (_Packed, process), {"__module__": __name__})
    globals()[process.__name__] = kind      # where a pickle looks for it
    made: BaseContext = type(plain.__name__, (_Carrying, plain), {"Process": kind})()
    return made


_CONTEXTS = {method: _context_of(method) for method in multiprocessing.get_all_start_methods()}


def get_context(method: str | None = None) -> Any:
    """The context of a start method; None is the one of `set_start_method`, or the default.

    Raises ValueError for one that there is not.
    """
    name = multiprocessing.get_start_method() if method is None else method
    if name not in _CONTEXTS:
        raise ValueError(f"cannot find context for {name!r}")
    return _CONTEXTS[name]


class DefaultContext(_Carrying):
    """What the functions of `graphwright.multiprocessing` belong to."""

    Process = Process

    def get_context(self, method: str | None = None) -> Any:
        """The context of a start method; None is the one of `set_start_method`, or the default."""
        return get_context(method)
