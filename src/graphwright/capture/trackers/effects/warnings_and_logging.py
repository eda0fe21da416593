"""Warnings and log records: they wait until the graph has run, and then name the user's line.

The graph ends before the call instead where a handler could see what the frame writes after it, or
where a filter makes the warning an error. A logger that is not enabled for a level does nothing,
which is guarded.
"""

from __future__ import annotations

import inspect
import logging
import warnings
from typing import TYPE_CHECKING, Any

from graphwright.capture import _eval_frame
from graphwright.capture.effects.side_effects import DeferredCall
from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import AttrSource, ConstSource, ItemSource
from graphwright.capture.trackers.base import Clock, VariableTracker
from graphwright.capture.trackers.classes.classes import BuiltinVariable, ClassVariable
from graphwright.capture.trackers.containers.sequences import TupleVariable
from graphwright.capture.trackers.effects.deferred_calls import refuse_handlers
from graphwright.capture.trackers.effects.warning_filters import WARNING_FILTERS, warn_in_block
from graphwright.capture.trackers.numbers.symint import SymIntVariable
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.tensors.tensor_item import NumberRead
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.exceptions import ExceptionVariable
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.capture.vm import polyfills
from graphwright.runtime import _core

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
}


def _defer(
    tx: Translator, owner: VariableTracker, name: str | None, args: Args, line: int
) -> VariableTracker:
    """Make the call after the graph; its tensors, and the arguments, are not written till then."""
    tensors = [value for arg in args for value in _tensors(arg)]
    seen = [value.fake for value in tensors]
    seen += [node.meta["val"] for node in tx.output.real_inputs()]
    versions = tuple([(fake, fake._storage._version) for fake in seen])
    call = DeferredCall(
        owner, name, tuple(args), False, _core.grad_enabled(), line, Clock.step, versions
    )
    tx.side_effects.calls.append(call)
    return tx.constant(None)


def _tensors(value: VariableTracker) -> list[TensorVariable]:
    value = value.realize()
    if isinstance(value, TupleVariable):
        return [tensor for item in value.items for tensor in _tensors(item)]
    return [value] if isinstance(value, TensorVariable) else []


def _stays(value: VariableTracker) -> bool:
    """Whether a value says the same after the graph."""
    value = value.realize()
    if isinstance(value, TupleVariable):
        return all(map(_stays, value.items))
    return isinstance(value, (ConstantVariable, SymIntVariable, TensorVariable, NumberRead))


# logging


def get_logger(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`logging.getLogger(name)`, of loggers that exist."""
    given = [*args, *kwargs.values()]
    name = given[0].realize().as_constant() if given else None
    if not name or name == logging.root.name:
        return tx.output.wrap(logging.root, AttrSource(ConstSource(logging, "logging"), "root"))
    loggers = logging.Logger.manager.loggerDict
    source = ItemSource(ConstSource(loggers, "logging.Logger.manager.loggerDict"), name)
    found = loggers.get(name)
    if found is None:
        tx.guards.missing(source)
    elif isinstance(found, logging.Logger):
        return tx.output.wrap(found, source)
    else:
        tx.guards.type_match(source, type(found))
    unsupported("GB0004", f"getLogger({name!r}), which makes the logger")


def logging_method(name: str) -> Any:
    """A method of `logging.Logger`; that of a level that is on only in the captured function.

    Called by another function, the record would name the wrong one.
    """

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        owner, *values = [arg.realize() for arg in args]
        if not isinstance(owner, ObjectVariable) or owner.cls is not logging.Logger:
            unsupported("GB0004", f"call of Logger.{name}")
        level = tx.constant(_LEVELS[name]) if name in _LEVELS else values[0]
        function: Any = polyfills.is_enabled_for
        if not tx.truth(tx.plain_function(function).call(tx, [owner, level], {})):
            return tx.constant(None)
        if owner.source is None or kwargs or tx.parent is not None:
            unsupported("GB0004", f"call of Logger.{name}")
        if not all(map(_stays, values)):
            unsupported("GB0004", f"Logger.{name} with other than texts, numbers and tensors")
        return _defer(tx, owner, name, values, tx.current.line)

    return handler


def logging_function(name: str) -> Any:
    """A function of the module `logging`, which writes to the root logger."""

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        values = [arg.realize() for arg in args]
        if kwargs or tx.parent is not None or not all(map(_stays, values)):
            unsupported("GB0004", f"call of logging.{name}")
        function = tx.plain_function(getattr(logging, name))
        return _defer(tx, function, None, values, tx.current.line)

    return handler


def is_enabled_for(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`Logger.isEnabledFor(self, level)`: the levels are guarded."""
    function: Any = polyfills.is_enabled_for
    return tx.plain_function(function).call(tx, args, kwargs)


# warnings

_WARN = ("message", "category", "stacklevel")


def _warner(file: str, line: int, scope: dict[str, Any]) -> Any:
    """`warnings.warn` as of a line of a function that was inlined, whose globals are `scope`."""

    def warn(message: str, category: type[Warning]) -> None:
        registry = scope.setdefault("__warningregistry__", {})
        module = scope.get("__name__") or "<string>"
        warnings.warn_explicit(message, category, file, line, module, registry)

    _eval_frame.skip_code(warn.__code__)
    warn.__qualname__ = "warn"
    return warn


def warn(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`warnings.warn(text, category, stacklevel)`."""
    given = {**dict(zip(_WARN, args, strict=False)), **kwargs}
    if len(args) > len(_WARN) or not given.keys() <= set(_WARN) or "message" not in given:
        unsupported("GB0004", "call of warnings.warn with more than text, category and stacklevel")
    level = given["stacklevel"].realize().as_constant() if "stacklevel" in given else 1
    category = _category(given.get("category"))
    if tx.side_effects.blocks:
        return _warn_in_block(tx, given["message"].realize(), level, category)
    message = given["message"].realize().as_constant()
    if type(message) is not str or type(level) is not int or level < 1 or category is None:
        unsupported("GB0004", "call of warnings.warn with other than a text")
    refuse_handlers(tx, "warnings.warn")
    frame, level = _frame_at(tx, level)
    values: Args = [tx.constant(message), ClassVariable(category)]
    function: Any = warnings.warn
    if frame.parent is None:
        values.append(tx.constant(level))
    else:
        function = _warner(frame.code.co_filename, frame.current.line, frame.globals_())
    root = frame
    while root.parent is not None:
        root = root.parent
    return _defer(tx, BuiltinVariable(function, None), None, values, root.current.line)


def _warn_in_block(
    tx: Translator, message: VariableTracker, level: Any, category: type[Warning] | None
) -> VariableTracker:
    if isinstance(message, ExceptionVariable) and issubclass(message.cls, Warning):
        category = message.cls
    if type(level) is not int or category is None:
        unsupported("GB0004", "call of warnings.warn with other than a text")

    def place() -> tuple[str, int, str]:
        frame, remaining = _frame_at(tx, max(level, 1))
        if remaining > 1:
            unsupported("GB0004", "warnings.warn of the caller of the captured function")
        module = frame.globals_().get("__name__") or "<string>"
        return frame.code.co_filename, frame.current.line, module

    return warn_in_block(tx, message, category, place)


def _category(value: VariableTracker | None) -> type[Warning] | None:
    if value is None or (value.realize().is_constant() and value.as_constant() is None):
        return UserWarning
    found = getattr(value.realize(), "value", None)
    return found if isinstance(found, type) and issubclass(found, Warning) else None


def _frame_at(tx: Translator, level: int) -> tuple[Translator, int]:
    """The frame that a stacklevel means, if it is inlined, and what remains of the level."""
    frame = _written_in_python(tx)
    while level > 1 and frame.parent is not None:
        if frame.code.co_flags & inspect.CO_GENERATOR:
            unsupported("GB0004", "warnings.warn of the caller of a generator")
        frame, level = _written_in_python(frame.parent), level - 1
    return frame, level


def _written_in_python(frame: Translator) -> Translator:
    """The frame, or its caller's where Python has C instead."""
    while frame.parent is not None and frame.code.co_filename == polyfills.__file__:
        frame = frame.parent
    return frame


MESSAGES: dict[Any, Any] = {
    warnings.warn: warn,
    **WARNING_FILTERS,
    logging.getLogger: get_logger,
    logging.Logger.isEnabledFor: is_enabled_for,
    **{getattr(logging.Logger, name): logging_method(name) for name in (*_LEVELS, "log")},
    **{getattr(logging, name): logging_function(name) for name in (*_LEVELS, "log")},
}
