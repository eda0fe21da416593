"""Values whose end a program can see: generators, what has `__del__`, what weakrefs refer to.

The frame that was captured may hold the last reference to a value that it was given: what a
native instruction before a graph break made comes as an argument. Where the frame lets go of such
a value, the graph is broken: the rest of the function runs when that frame, and the value with it,
is gone.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.source import CellSource, LocalSource
from graphwright.capture.variables.classes import OpaqueVariable
from graphwright.capture.variables.lazy import LazyVariable
from graphwright.capture.variables.objects import ObjectVariable
from graphwright.runtime import _core

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator
    from graphwright.capture.variables.base import VariableTracker

_PLAIN: tuple[Iterable[Any], ...] = (
    (), [], {}, {}.keys(), {}.values(), {}.items(), set(), "", b"", range(0),
)  # fmt: skip
_HOLD_PLAIN_VALUES = frozenset(type(iter(values)) for values in _PLAIN)


def check_let_go(tx: Translator, value: VariableTracker | None) -> None:
    """A break where the frame lets go of an argument whose end can be seen."""
    source = value.source if value is not None else None
    if value is None or not isinstance(source, (LocalSource, CellSource)) or tx.lets_go:
        return
    kind = _kind(tx, value)
    if _ends_visibly(kind) or _is_watched(kind, value):
        what = value.describe() if kind is None else f"a {kind.__name__}"
        unsupported("GB0013", f"{what} may end here")


def arguments_that_end(tx: Translator) -> list[str]:
    """The arguments of the captured frame whose end can be seen."""
    held = [value for value in tx.locals.values() if isinstance(value.source, LocalSource)]
    return [
        value.source.local for value in held
        if isinstance(value.source, LocalSource) and _ends_visibly(_kind(tx, value))
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
    if issubclass(kind, Iterator):
        return kind not in _HOLD_PLAIN_VALUES
    return hasattr(kind, "__del__")


def _is_watched(kind: type | None, value: VariableTracker) -> bool:
    """Whether the program has a weakref of it."""
    if kind is None or not kind.__weakrefoffset__ or issubclass(kind, (type, _core.TensorBase)):
        return False
    if isinstance(value, LazyVariable):
        value = value.realized() or value
    held = getattr(value, "value", None)
    return type(held) is kind and weakref.getweakrefcount(held) > 0


def handed_over(stack: Iterable[VariableTracker]) -> set[VariableTracker]:
    """The objects that the frame made and that a native instruction may keep a weakref of."""
    found: set[VariableTracker] = set()
    waiting = [value for value in stack if value.source is None]
    while waiting:
        value = waiting.pop()
        if value not in found:
            waiting += [part for part in value.parts() if part.source is None]
            found.add(value)
    return {value for value in found if isinstance(value, ObjectVariable)}
