"""What a worker process of a `DataLoader` does."""

from __future__ import annotations

import contextlib
import os
import random
import select
import signal
import struct
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphwright.multiprocessing.channel import Channel
from graphwright.multiprocessing.reductions import Parcel, pack
from graphwright.runtime import _core
from graphwright.runtime.tensor.generator import default_generator
from graphwright.utils import CAPTURE
from graphwright.utils.data.fetching import Fetcher
from graphwright.utils.data.worker_info import CURRENT, WorkerInfo

_WATCH = 5000
"""Milliseconds after which a worker without work looks whether its loader's process lives."""
ANSWER = struct.Struct("!qB")
"""What comes before an answer's bytes: the number of the request, and the kind of answer."""
BATCH, END, FAILURE = range(3)


@dataclass
class Job:
    """The arguments of all workers of a loader. `seed` and `number` give each its own seeds."""

    dataset: Any
    fetcher: Fetcher
    worker_init_fn: Callable[[int], None] | None
    count: int
    seed: int

    def __post_init__(self) -> None:
        self._parcel: Parcel | None = None

    def __reduce__(self) -> Any:
        """Where a worker is not forked, tensors of the dataset are memory that all share."""
        parts = self.dataset, self.fetcher, self.worker_init_fn, self.count, self.seed
        self._parcel = pack(parts, True)    # its files are open until the worker has started
        return _unpacked, (self._parcel,)


def _unpacked(parts: tuple[Any, ...]) -> Job:
    return Job(*parts)


def serve(channel: Channel, job: Job, number: int) -> None:
    """Answer requests until the loader closes the channel, or is interrupted.

    A worker that is forked within a compiled function captures nothing.
    """
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError, ConnectionResetError):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        CAPTURE.run_outside(_serve, channel, job, number)


def _serve(channel: Channel, job: Job, number: int) -> None:
    _core.set_num_threads(1)
    _seed(job.seed, number)
    CURRENT.info = WorkerInfo(number, job.count, job.seed + number, job.dataset)
    unready = None
    if job.worker_init_fn is not None:
        try:
            job.worker_init_fn(number)
        except Exception as error:
            unready = _failure(error, number)
    fetch: Callable[[Any], Any] | None = None
    ended = False
    for request, indices in _requests(channel):
        if request is None:
            fetch, ended = None, False
            continue
        kind, parcel = END, pack(None, False)
        try:
            if unready is not None:
                kind, parcel = FAILURE, unready
            elif not ended:
                fetch = fetch or job.fetcher.begin(job.dataset)
                kind, parcel = BATCH, pack(fetch(indices), False)
        except Exception as error:
            ended = isinstance(error, StopIteration) and not job.fetcher.by_index
            if not ended:
                kind, parcel = FAILURE, _failure(error, number)
        channel.send_parcel(
            Parcel(ANSWER.pack(request, kind) + parcel.data, parcel.files, ())
        )
        parcel.close()


def _seed(base: int, number: int) -> None:
    """Seed Python's, NumPy's and our generators, as PyTorch does: NumPy's with other bits."""
    random.seed(base + number)
    default_generator.manual_seed(base + number)
    entropy = [number, base & 0xFFFFFFFF, base >> 32, 0]
    np.random.seed(np.random.SeedSequence(entropy).generate_state(4))


def _requests(channel: Channel) -> Iterator[Any]:
    """What the loader sends, until it closes the channel or its process is gone."""
    parent, waiting = os.getppid(), select.poll()
    waiting.register(channel.fileno(), select.POLLIN)
    while True:
        while not waiting.poll(_WATCH):
            if os.getppid() != parent:
                return
        try:
            yield channel.recv()
        except EOFError:
            return


def _failure(error: Exception, number: int) -> Parcel:
    """An exception's type, and what to say about it; the type is left out if it has no name."""
    kind, where = type(error), "".join(traceback.format_exception(error))
    text = (
        f"Caught {kind.__name__} in DataLoader worker process {number}.\nOriginal {where}"
    )
    try:
        return pack((kind, text), False)
    except Exception:
        return pack((RuntimeError, text), False)
