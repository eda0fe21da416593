"""Values whose end a program can see: generators, what has `__del__`, what weakrefs refer to.

The frame that was captured may hold the last reference to a value that it was given: what a
native instruction before a graph break made comes as an argument. Where the frame releases such a
value, the graph is broken: the rest of the function runs when that frame, and the value with it,
is gone.

A traceback holds the frames that its exception went through, with their locals. So the graph is
broken where the last reference to an exception that has one goes, and where an exception leaves a
frame, what may end lies in its locals.

Containers, attributes and globals that the frame changes keep what they held until the graph has
run. Where that ends visibly, the graph is broken before the first change. What a container or an
object holds in its turn is looked at when the frame is captured: up to `_MOST` values.
"""

from __future__ import annotations

import collections
import enum
import sys
import types
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import Unsupported, unsupported
from graphwright.capture.guards.source import AttrSource, CellSource, LocalSource
from graphwright.capture.guards.text import module_name
from graphwright.capture.trackers.base import NULL
from graphwright.capture.trackers.callables.functions import CellVariable, UserFunctionVariable
from graphwright.capture.trackers.classes.classes import OpaqueVariable
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.lazy import LazyVariable
from graphwright.capture.trackers.values.namespaces import (
    ABSENT,
    dictoffset_of,
    flags_of,
    instance_dict,
    lookup,
    weakrefoffset_of,
)
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.runtime import _core

if TYPE_CHECKING:
    from graphwright.capture.trackers.base import VariableTracker
    from graphwright.capture.vm.translator import Translator

_PLAIN: tuple[Iterable[Any], ...] = (
    (), [], {}, {}.keys(), {}.values(), {}.items(), set(), "", b"", range(0),
)  # fmt: skip
_SEQUENCES: tuple[Any, ...] = (list, tuple, set, frozenset, collections.deque)
_STAY = (type, enum.Enum, _core.TensorBase)
"""Whose weakrefs do not count: members stay with their class, and guards refer to them."""
_FUNCTIONS = (types.FunctionType, _core.OpFunction)
_MOST = 64
_HEAP_TYPE = 1 << 9
_HOLD_PLAIN_VALUES = frozenset(type(iter(values)) for values in _PLAIN)
_HOLD_FRAMES = (
    types.TracebackType, types.FrameType, types.CoroutineType, types.AsyncGeneratorType,
)


def check_let_go(tx: Translator, value: VariableTracker | None) -> None:
    """A break where the frame releases an argument whose end the program can see."""
    if value is None or tx.lets_go or not (
        isinstance(value.source, (LocalSource, CellSource)) or id(known(value)) in tx.given
    ):
        return
    held = known(value)
    if held is tx.output.handling is not None or _is_loaded(held):
        return
    kind = _kind(tx, value)
    if _ends_visibly(kind) or _is_watched(kind, value) or _holds_an_end(value) or (
        kind is not None and issubclass(kind, BaseException) and _has_traceback(tx, value)
    ):
        what = value.describe() if kind is None else f"a {kind.__name__}"
        unsupported("GB0013", f"the lifetime of {what} may end here")


def _is_loaded(value: Any) -> bool:
    """Whether a value is a module that an import statement would find."""
    return issubclass(type(value), types.ModuleType) and (
        sys.modules.get(module_name(value)) is value
    )


def check_handled(tx: Translator) -> None:
    """A break where nobody but the thread, which is done with it, holds the handled exception."""
    error = tx.output.handling
    if error is None or tx.lets_go:
        return
    if not any(known(value) is error for value in (*tx.stack, *tx.locals.values())):
        held = f"a value in a {type(error).__name__} or its frames"
        unsupported("GB0013", f"the lifetime of {held} may end here")


def known(value: VariableTracker | None) -> Any:
    """The object of a Python class that the tracker stands for, None where there is none."""
    return value.value if isinstance(value, (LazyVariable, ObjectVariable)) else None


def _has_traceback(tx: Translator, value: VariableTracker) -> bool:
    """Whether an exception that the frame was given holds frames."""
    if value.source is None or _kept(known(value), "__traceback__") is not None:
        return True
    tx.guards.equals(AttrSource(value.source, "__traceback__"), None)
    return False


def check_places(tx: Translator) -> None:
    """A break before the first change of a place that holds something whose end can be seen."""
    effects = tx.side_effects
    for container, before in effects.before.items():
        present = {_identity(part) for part in container.parts()}
        gone = [part for part in before if _identity(part) not in present]
        if any(_may_end(part) for part in gone):
            _refuse(container.describe(), effects.mutated[container])
    for (owner, name), step in effects.stored.items():
        held = tx.globals_() if owner is None else _attributes(owner)
        if name in held and _value_ends(held[name], [_MOST]):
            _refuse(f"{name!r} of {owner.describe()}" if owner is not None else name, step)


def _refuse(what: str, step: int) -> None:
    reason = Unsupported("GB0013", f"the lifetime of a value that {what} held may end")
    reason.blame(step)
    raise reason


def _identity(part: VariableTracker) -> int:
    """Of the tracker that a lazy one has become."""
    return id(part.realized() or part) if isinstance(part, LazyVariable) else id(part)


def _attributes(owner: VariableTracker) -> dict[str, Any]:
    """What lies in the instance; nothing where it is another kind of thing."""
    value = getattr(owner, "value", None)
    if not isinstance(owner, ObjectVariable) or not dictoffset_of(type(value)):
        return {}
    return instance_dict(value)


def _may_end(part: VariableTracker) -> bool:
    """Whether the end of what a changed container held can be seen."""
    if isinstance(part, ConstantVariable):
        return False
    value = getattr(part, "value", None)
    if value is None:
        return _holds_an_end(part)
    return _value_ends(value, [_MOST])


def _holds_an_end(value: VariableTracker) -> bool:
    """Whether something that the value holds ends visibly with it."""
    if isinstance(value, ConstantVariable):     # to read a symbolic number would guard it
        return False
    held = getattr(value, "value", None)
    if held is not None:
        return any(_value_ends(part, [_MOST]) for part in _held(held))
    if isinstance(value, LazyVariable):
        return False
    return any(part.source is not None and _may_end(part) for part in value.parts())


def _value_ends(value: object, left: list[int]) -> bool:
    """Whether a value, or what it holds, ends visibly; `left` counts those still looked at."""
    left[0] -= 1
    kind = type(value)
    if left[0] < 0 or issubclass(kind, (*_STAY, *_FUNCTIONS, types.ModuleType)):
        return False
    if issubclass(kind, BaseException) and _kept(value, "__traceback__") is not None:
        return True
    if issubclass(kind, types.BuiltinFunctionType) and _is_of_module(value):
        return False
    if _ends_visibly(kind) or (weakrefoffset_of(kind) and weakref.getweakrefcount(value)):
        return True
    return any(_value_ends(part, left) for part in _held(value))


def _is_of_module(function: Any) -> bool:
    """Whether a function of C stays with its module; others are bound methods."""
    return issubclass(type(function.__self__), types.ModuleType)


def _kept(error: Any, name: str) -> Any:
    """An attribute of BaseException, read past a class that overrides its name."""
    return vars(BaseException)[name].__get__(error)


def _held(value: Any) -> Iterable[Any]:
    """The items of a builtin container, and the attributes of an instance."""
    kind = type(value)
    if issubclass(kind, dict):
        found = [*dict.keys(value), *dict.values(value)]
    elif issubclass(kind, _SEQUENCES):
        base = next(base for base in _SEQUENCES if issubclass(kind, base))
        found = list(base.__iter__(value))
    elif issubclass(kind, BaseException):
        found = [*_kept(value, "args"), _kept(value, "__cause__"), _kept(value, "__context__")]
    else:
        found = []
    if flags_of(kind) & _HEAP_TYPE and dictoffset_of(kind):
        found += instance_dict(value).values()
    return found


def may_end(value: VariableTracker) -> bool:
    """Whether the program may see when an object goes that nobody reads any more.

    Locals hold their objects to the end of the function: generators then run `finally` blocks,
    and weakrefs lose what they refer to. Numbers, texts and tensors may go earlier.
    """
    if value.source is None:
        return False
    real = value.realized() if isinstance(value, LazyVariable) else value
    return real is None or not isinstance(real, (TensorVariable, ConstantVariable))


def ends_with_frame(value: VariableTracker | None) -> bool:
    """Whether the end of a local, or of what it holds, may be seen when its frame goes."""
    if isinstance(value, CellVariable):
        value = value.contents
    if value is None or value is NULL:
        return False
    return may_end(value) or (value.source is None and _holds_an_end(value))


def arguments_that_end(tx: Translator) -> list[str]:
    """The arguments of the captured frame whose end may be seen."""
    return [
        value.source.local for value in tx.locals.values()
        if isinstance(value.source, LocalSource) and may_end(value)
    ]


def _kind(tx: Translator, value: VariableTracker) -> type | None:
    """The type of the value, of which nothing else is guarded if nobody has looked at it.

    None where it is not known.
    """
    if isinstance(value, LazyVariable) and value.realized() is None:
        kind = type(value.value)
        if issubclass(kind, _core.TensorBase):
            return kind
        assert value.source is not None
        if not tx.output.state.leaves_alone(value.source):
            tx.guards.type_match(value.source, kind)
            return kind
    real = value.realize()
    return None if isinstance(real, OpaqueVariable) else real.python_type()


def _ends_visibly(kind: type | None) -> bool:
    if kind is None:
        return True
    if lookup(kind, "__next__") is not ABSENT:
        return kind not in _HOLD_PLAIN_VALUES
    if issubclass(kind, _HOLD_FRAMES):
        return True
    return lookup(kind, "__del__") is not ABSENT


def _is_watched(kind: type | None, value: VariableTracker) -> bool:
    """Whether the program has a weakref of it."""
    if kind is None or not weakrefoffset_of(kind) or issubclass(kind, _STAY):
        return False
    if isinstance(value, LazyVariable):
        value = value.realized() or value
    if isinstance(value, UserFunctionVariable):     # those of modules stay
        held: Any = value.function if "<locals>" in value.code.co_qualname else None
    else:
        held = getattr(value, "value", None)
    return type(held) is kind and weakref.getweakrefcount(held) > 0


def handed_over(stack: Iterable[VariableTracker]) -> set[VariableTracker]:
    """Objects made by the frame to which a native instruction may create weak references."""
    found = {value for first in stack for value in _made(first)}
    return {value for value in found if value.has_identity()}


def holds_any(value: VariableTracker, wanted: set[VariableTracker]) -> bool:
    """Whether a value that the frame made is one of those wanted, or holds one."""
    return bool(wanted) and any(part in wanted for part in _made(value))


def _made(value: VariableTracker) -> set[VariableTracker]:
    """The values made by the frame in a value and all that it holds; tensors are the graph's."""
    found: set[VariableTracker] = set()
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if part.source is None and part not in found and not isinstance(part, TensorVariable):
            found.add(part)
            waiting += part.parts()
    return found
