"""Threads that allocate, copy, free and pass tensors on, each in a stream of its own."""

from __future__ import annotations

import queue
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

pytestmark = pytest.mark.usefixtures("gpu")
THREADS, ROUNDS = 32, 12


def run(work: Callable[[int], None]) -> list[BaseException]:
    """What goes wrong in threads that work at the same time."""
    errors: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            with gw.cuda.device(number % 2), gw.cuda.stream(gw.cuda.Stream(number % 2)):
                work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_threads_allocate_copy_and_free() -> None:
    before = gw.cuda.memory_allocated(0), gw.cuda.memory_allocated(1)

    def work(number: int) -> None:
        draw = random.Random(number)
        for _ in range(ROUNDS):
            size = draw.choice((1, 700, 9_000, 40_000))
            x = gw.full((size,), number, dtype=gw.int32, device="cuda")
            y = x.clone()
            del x
            z = gw.full((size,), number).pin_memory().to("cuda", non_blocking=True)
            moved = y.cuda(1 - number % 2)
            assert y[-1].item() == z[0].item() == moved.cpu()[size // 2].item() == number

    assert run(work) == []
    gw.cuda.synchronize(0)
    gw.cuda.synchronize(1)
    assert (gw.cuda.memory_allocated(0), gw.cuda.memory_allocated(1)) == before


def test_threads_pass_tensors_on() -> None:
    """Each gives tensors to the next but one, on the same GPU, which reads them in its own stream
    after the event that came along, and frees them there."""
    lines: list[queue.Queue[Any]] = [queue.Queue() for _ in range(THREADS)]

    def work(number: int) -> None:
        own, following = lines[number], lines[(number + 2) % THREADS]
        for i in range(ROUNDS):
            x = gw.full((3_000 + i,), 100 * number + i, dtype=gw.int32, device="cuda")
            following.put((x, gw.cuda.current_stream().record_event(), 100 * number + i))
            del x
            given, mark, value = own.get()
            mark.wait()
            given.record_stream(gw.cuda.current_stream())
            copied = given.clone()
            del given           # its stream may have it again when the clone is made
            assert copied[0].item() == copied[-1].item() == value

    assert run(work) == []


def test_a_stream_and_a_device_are_a_thread_s_own() -> None:
    chosen = gw.cuda.Stream()
    seen: list[Any] = []
    with gw.cuda.device(1), gw.cuda.stream(chosen):
        thread = threading.Thread(target=lambda: seen.extend(
            (gw.cuda.current_device(), gw.cuda.current_stream(0))))
        thread.start()
        thread.join()
    assert seen == [0, gw.cuda.default_stream(0)] and chosen != seen[1]
