"""The protocol `__torch_function__`: a class says what functions do with its instances.

A function that is given an instance of such a class, wherever among its arguments or one level
deep in a list or tuple, calls `cls.__torch_function__(func, types, args, kwargs)` and returns what
that returns: `func` is the public function or method, `types` the classes with a say, of which
subclasses are asked before their bases and others from left to right. One that answers
NotImplemented leaves it to the next; TypeError is raised where all do. A `TorchFunctionMode` is
asked before them, about every function.

Subclasses of `Tensor` have the protocol from their base: results become instances of the subclass.
`disabled_torch_function_impl` as a class's `__torch_function__` makes it one of no say.

Operations come here from `dispatch`, as `func(*required, **others)`; methods of subclasses of
`Tensor` as they were called, by `subclasses`. Functions that are written in Python out of others,
as some of `nn.functional`, are seen as those others, which is of no matter to subclasses.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.dispatch import HOOKS, dispatch
from graphwright.runtime.ops import functions
from graphwright.runtime.ops.schema import REQUIRED
from graphwright.runtime.ops.table import Op

FUNCTIONS = 128
"""The mode bit of a thread that is in a `TorchFunctionMode`."""

PLAIN: list[type] = []
"""Filled by `tensor`: the class that has the protocol only for its subclasses."""


class _Modes(threading.local):
    """The modes for functions that the thread is in, outermost first."""

    def __init__(self) -> None:
        self.stack: list[Any] = []


MODES = _Modes()


def _disabled(
    func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
) -> Any:
    """`func` itself. As a class's `__torch_function__`, it says that the class has no say."""
    return without_overrides(func, *args, **(kwargs or {}))


disabled_torch_function_impl: Any = _disabled


def without_overrides(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`function(*args, **kwargs)`, in which the classes of arguments are not asked."""
    return _core.keeping_modes(_switched_off, function, args, kwargs)


def _switched_off(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    _core.set_overrides_enabled(False)
    return function(*args, **kwargs)


def _is_foreign(cls: type) -> bool:
    """Whether instances are tensors of PyTorch itself, whose functions are others."""
    base = getattr(sys.modules.get("torch._C"), "TensorBase", None)
    return base is not None and base in cls.__mro__


def has_say(cls: type) -> bool:
    """Whether functions ask a class what to do with its instances."""
    method = getattr(cls, "__torch_function__", None)
    if method is None or method is disabled_torch_function_impl or _is_foreign(cls):
        return False
    return cls not in PLAIN


def overriding(values: Iterable[Any]) -> list[Any]:
    """One instance of each class with a say, in the order in which they are asked."""
    found: list[Any] = []
    seen: set[type] = set()
    for value in values:
        cls = type(value)
        if cls in seen or not hasattr(cls, "__torch_function__"):
            continue
        seen.add(cls)
        if has_say(cls):
            place = [i for i, other in enumerate(found) if issubclass(cls, type(other))]
            found.insert(place[0] if place else len(found), value)
    return found


def each(values: Iterable[Any]) -> Iterator[Any]:
    """The values, and what stands in lists and tuples of them."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from value
        else:
            yield value


def decide(func: Callable[..., Any], asked: list[Any], args: Any, kwargs: Any) -> Any:
    """What the innermost mode, or the first instance with an answer, makes of the call."""
    types = tuple(getattr(type(value), "_behaves_as", type(value)) for value in asked)
    if MODES.stack:
        answer = _in_outer_modes(func, types, args, kwargs)
        if answer is not NotImplemented:
            return answer
    for value in asked:
        answer = value.__torch_function__(func, types, args, kwargs)
        if answer is not NotImplemented:
            return answer
    declined = [cls.__name__ for cls in types]
    if MODES.stack:
        declined.insert(0, f"the mode {type(MODES.stack[-1]).__name__}")
    raise TypeError(
        f"no implementation found for '{name_of(func)}' on types that implement "
        f"__torch_function__: [{', '.join(declined)}]"
    )


def _in_outer_modes(func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
    """The innermost mode's answer; in it, functions ask the modes around it."""
    mode = MODES.stack.pop()
    if not MODES.stack:
        _core.set_modes(_core.modes() & ~FUNCTIONS)
    try:
        return mode.__torch_function__(func, types, args, kwargs)
    finally:
        MODES.stack.append(mode)
        _core.set_modes(_core.modes() | FUNCTIONS)


def name_of(func: Any) -> str:
    """A function's name for messages, with its module."""
    module = getattr(func, "__module__", None) or ""
    name = getattr(func, "__qualname__", None) or repr(func)
    if module.startswith("graphwright.runtime") or not module:
        _, dot, last = name.rpartition(".")
        return f"graphwright.Tensor.{last}" if dot else f"graphwright.{last}"
    return f"{module}.{name}"


@functools.lru_cache(maxsize=4096)
def _public(op: Op) -> Callable[..., Any]:
    """The function, or the method where there is no such function, that users know `op` by."""
    if op.is_inplace or not hasattr(functions, op.name):
        return getattr(PLAIN[0], op.name, None) or getattr(functions, op.name)
    function: Callable[..., Any] = getattr(functions, op.name)
    return function


def _as_called(op: Op, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Bound arguments as a call: those without a default; by name, those that differ from it."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for param, value in zip(op.schema.params, args, strict=False):
        if param.type == "LoneDim" and isinstance(value, tuple):
            value = value[0] if len(value) == 1 else None       # all of them
        if param.type in ("object*", "Operands*"):
            positional += value
        elif param.default is REQUIRED and not param.kwonly and not named:
            positional.append(value)
        elif not _is_default(value, param.default):
            named[param.name] = value
    return tuple(positional), named


def _is_default(value: Any, default: Any) -> bool:
    if value is default:
        return True
    return type(value) is type(default) and isinstance(value, int | float | str | tuple) and (
        value == default)


def _overridden(op: Op, args: tuple[Any, ...], **others: Any) -> Any:
    """What a class or mode makes of an operation; NotImplemented where none has a say.

    `others`, such as `out`, are arguments of the function that the operation does not have.
    """
    asked = overriding(each((*args, *others.values()))) if _core.overrides_enabled() else []
    if not asked and not MODES.stack:
        return NotImplemented
    positional, named = _as_called(op, args)
    named |= others
    return decide(_public(op), asked, positional, named)


def _override(op: Op, args: tuple[Any, ...]) -> Any:
    """What dispatch gives where a class or mode may have a say."""
    answer = _overridden(op, args)
    return without_overrides(dispatch, op, args) if answer is NotImplemented else answer


HOOKS.overridden = _overridden
_core.set_override_hook(_override)
