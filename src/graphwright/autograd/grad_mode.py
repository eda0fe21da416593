"""Thread-local switches: no_grad, enable_grad, set_grad_enabled, inference_mode.

Each is a context manager and a decorator, as in PyTorch; the state itself lives in the core.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import TracebackType
from typing import Any, ClassVar, Self, TypeVar

from graphwright.runtime import _core

F = TypeVar("F", bound=Callable[..., Any])

INFERENCE = 4


class ThreadMode:
    """Sets a mode of the thread on entry, restores it on exit; nests and decorates."""

    __slots__ = ("_mode", "_previous")

    def __init__(self, mode: Any) -> None:
        self._mode = mode
        self._previous: list[Any] = []

    def _present(self) -> Any:
        """The thread's mode as it is now."""
        raise NotImplementedError

    def _change(self, mode: Any) -> None:
        """Make `mode` the thread's mode."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        self._previous.append(self._present())
        self._change(self._mode)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._change(self._previous.pop())

    def _fresh(self) -> ThreadMode:
        """A manager of the same mode that was not entered."""
        made = object.__new__(type(self))
        ThreadMode.__init__(made, self._mode)
        return made

    def __call__(self, function: F) -> F:
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)  # type: ignore[return-value]

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with self._fresh():
                return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]

    def _wrap_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The mode holds while the generator runs, not while it is suspended."""

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            generator = function(*args, **kwargs)
            value: Any = None
            while True:
                with self._fresh():
                    try:
                        item = generator.send(value)
                    except StopIteration as stop:
                        return stop.value
                value = yield item

        return wrapper


class _GradMode(ThreadMode):
    """Sets grad mode."""

    __slots__ = ()

    def _present(self) -> bool:
        return _core.grad_enabled()

    def _change(self, mode: bool) -> None:
        _core.set_grad_enabled(mode)

    def _fresh(self) -> _GradMode:
        return _GradMode(self._mode)


class _NamedGradMode(_GradMode):
    """The grad mode of its class: `with mode():`, `@mode()` or `@mode`."""

    __slots__ = ()
    _enabled: ClassVar[bool]

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        self = super().__new__(cls)
        if function is None:
            return self
        _GradMode.__init__(self, cls._enabled)
        return self(function)

    def __init__(self) -> None:
        super().__init__(self._enabled)


class no_grad(_NamedGradMode):
    """No op is recorded inside: `with no_grad():`, `@no_grad()` or `@no_grad`."""

    __slots__ = ()
    _enabled = False


class enable_grad(_NamedGradMode):
    """Ops are recorded inside, also under an outer `no_grad`."""

    __slots__ = ()
    _enabled = True


class set_grad_enabled(_GradMode):
    """Sets grad mode at once; as a context manager it restores the mode on exit."""

    __slots__ = ()

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)
        self._previous.append(_core.grad_enabled())
        _core.set_grad_enabled(mode)

    def __enter__(self) -> None:
        _core.set_grad_enabled(self._mode)

    def __call__(self, function: F) -> F:
        _core.set_grad_enabled(self._previous.pop())
        return super().__call__(function)


class inference_mode(_GradMode):
    """Like `no_grad`, and marks the thread as doing inference."""

    __slots__ = ("_bits",)

    def __init__(self, mode: bool = True) -> None:
        super().__init__(not mode)
        self._bits: list[int] = []

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        self = super().__new__(cls)
        if isinstance(mode, bool):
            return self
        self.__init__()  # type: ignore[misc]
        return self(mode)

    def _fresh(self) -> Self:
        return type(self)(not self._mode)

    def __enter__(self) -> None:
        super().__enter__()
        bits = _core.modes()
        self._bits.append(bits)
        _core.set_modes(bits & ~INFERENCE if self._mode else bits | INFERENCE)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _core.set_modes(self._bits.pop())
        super().__exit__(kind, value, traceback)


class set_multithreading_enabled(ThreadMode):
    """Accepted: backward runs on the thread that calls it, whatever `mode` says."""

    __slots__ = ()

    def _present(self) -> Any:
        return True

    def _change(self, mode: Any) -> None:
        """There is nothing to change."""


def is_grad_enabled() -> bool:
    """Whether ops are recorded for gradients on this thread now.

    Example:
        >>> gw.is_grad_enabled()
        True
    """
    return _core.grad_enabled()


def is_inference_mode_enabled() -> bool:
    """Whether `inference_mode` is on for this thread.

    Example:
        >>> gw.is_inference_mode_enabled()
        False
    """
    return bool(_core.modes() & INFERENCE)
