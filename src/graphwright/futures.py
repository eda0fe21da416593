"""`torch.futures`: results that are to come, of threads of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """A value that a thread sets once, and that others wait for.

    devices: for GPUs, which there are none of.
    """

    def __init__(self, *, devices: Sequence[Any] | None = None) -> None:
        self._settled = threading.Condition()
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Future[T]], Any]] = []

    def done(self) -> bool:
        """Whether there is a value or an exception."""
        return self._done

    def wait(self) -> T:
        """The value, once it is there. Raises what `set_exception` was given."""
        with self._settled:
            self._settled.wait_for(lambda: self._done)
        return self.value()

    def value(self) -> T:
        """The value. Raises RuntimeError where there is none yet, or what was set in its place."""
        if not self._done:
            raise RuntimeError("Future.value(): there is no value yet; wait() for it")
        if self._error is not None:
            raise self._error
        value: T = self._value
        return value

    def set_result(self, result: T) -> None:
        """Set the value, and call what waits for it. Raises RuntimeError the second time."""
        self._settle(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Set an exception that `wait` raises. Raises TypeError for another object."""
        if not isinstance(result, BaseException):
            raise TypeError(f"set_exception() takes an exception, not {type(result).__name__}")
        self._settle(None, result)

    def _settle(self, value: Any, error: BaseException | None) -> None:
        with self._settled:
            if self._done:
                raise RuntimeError("Future: the result is set already")
            self._value, self._error, self._done = value, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._settled.notify_all()
        for callback in callbacks:
            callback(self)

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Call a function with this future when it has its result, at once if it has."""
        with self._settled:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """The future of what a function of this one returns, or raises."""
        following: Future[S] = Future()

        def go_on(done: Future[T]) -> None:
            try:
                value = callback(done)
            except Exception as error:
                following.set_exception(error)
            else:
                following.set_result(value)

        self.add_done_callback(go_on)
        return following


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future of all of them, which is done when the last one is."""
    collected: Future[list[Future[Any]]] = Future()
    left = [len(futures)]
    lock = threading.Lock()

    def one_less(done: Future[Any]) -> None:
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            collected.set_result(futures)

    if not futures:
        collected.set_result(futures)
    for future in futures:
        future.add_done_callback(one_less)
    return collected


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """The values of all of them. Raises the exception of the first that has one."""
    return [future.wait() for future in futures]
