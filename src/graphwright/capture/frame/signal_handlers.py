"""Exceptions that handlers of signals raise amid a capture: the program's, not the compiler's."""

from __future__ import annotations

import functools
import signal
import types

from graphwright.capture.trackers.values.namespaces import lookup


def raised_by_handler(error: BaseException) -> bool:
    """Whether a handler of some signal is in the traceback of an exception."""
    codes = {_code_of(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code in codes:
            return True
        traceback = traceback.tb_next
    return False


def _code_of(handler: object) -> types.CodeType | None:
    """The code of a handler that is written in Python."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    if not isinstance(handler, types.FunctionType | types.MethodType):
        handler = lookup(type(handler), "__call__")
    code = getattr(handler, "__code__", None)
    return code if isinstance(code, types.CodeType) else None
