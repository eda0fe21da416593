"""Exceptions that arrive while a graph runs, and are no business of it.

The handler of a signal raises some, and other threads, by `PyThreadState_SetAsyncExc`. Python
looks for both where a frame begins, where a loop goes back, and behind calls of functions in C.
"""

from __future__ import annotations

import functools
import opcode
import signal
import traceback
import types
from itertools import islice

_LOOKS = frozenset(
    number for name, number in opcode.opmap.items()
    if name == "RESUME" or ("JUMP_BACKWARD" in name and not name.endswith("NO_INTERRUPT"))
)
_CALLS = frozenset(opcode.opmap.get(name, -1)
                   for name in ("PRECALL", "CALL", "CALL_KW", "CALL_FUNCTION_EX"))
_WITHOUT_MESSAGE = (MemoryError, StopIteration, StopAsyncIteration)


def came_from_outside(error: BaseException) -> bool:
    """Whether a signal handler or another thread raised the exception, not the code itself."""
    return (not isinstance(error, Exception) or _came_by_signal(error)
            or _came_from_thread(error))


def _came_from_thread(error: BaseException) -> bool:
    """Whether another thread raised it: it began at an instruction that raises nothing itself.

    A call may raise an exception itself; then it has a message, which those of threads lack.
    """
    inner = error.__traceback__
    if inner is None:
        return False
    while inner.tb_next is not None:
        inner = inner.tb_next
    number = next(islice(inner.tb_frame.f_code.co_code, inner.tb_lasti, None), None)
    if number in _CALLS:
        return not error.args and not isinstance(error, _WITHOUT_MESSAGE)
    return number in _LOOKS


def _came_by_signal(error: BaseException) -> bool:
    """Whether an exception passed through a function that handles signals."""
    handlers = [_code_of(signal.getsignal(number)) for number in signal.valid_signals()]
    return any(
        frame.f_code is handler     # code with constants of any kind has no hash
        for frame, _ in traceback.walk_tb(error.__traceback__) for handler in handlers
    )


def _code_of(handler: object) -> types.CodeType | None:
    """What runs where a handler is called; None if that is not Python's."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    handler = getattr(handler, "__func__", handler)
    if isinstance(handler, types.FunctionType):
        return handler.__code__
    call = type(handler).__call__ if callable(handler) else None
    return call.__code__ if isinstance(call, types.FunctionType) else None
