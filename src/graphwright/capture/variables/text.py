"""`str`, `repr` and `format` of values that are known."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.classes import BuiltinVariable, ClassVariable
from graphwright.capture.variables.constant import ConstantVariable, fold
from graphwright.capture.variables.exceptions import ExceptionVariable
from graphwright.capture.variables.mappings import DictVariable
from graphwright.capture.variables.objects import ObjectVariable, lookup
from graphwright.capture.variables.sequences import (
    ListVariable,
    NamedTupleVariable,
    SizeVariable,
    TupleVariable,
)
from graphwright.capture.variables.symint import SymIntVariable

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator

Convert = Callable[[Any], str]
_CONTAINERS = (ListVariable, TupleVariable, DictVariable, NamedTupleVariable, SizeVariable)


def text_of(
    tx: Translator, value: VariableTracker, convert: Convert, spec: str | None
) -> VariableTracker:
    """`convert(value)`, or `format(value, spec)` where a spec is given."""
    special = _special(tx, value, convert, spec)
    if special is not None:
        return special
    if isinstance(value, SymIntVariable):
        known: Any = value.as_constant()
    elif isinstance(value, ExceptionVariable) and convert is str and not spec:
        return value.text(tx)
    elif type(value) in _CONTAINERS:
        return tx.constant(fold(_formatted, _literal(tx, value), convert, spec))
    elif isinstance(value, (ClassVariable, BuiltinVariable)):
        known = _class(value)
    elif value.is_constant():
        known = value.as_constant()
    else:
        unsupported("GB0008", f"formatting of {value.describe()}")
    return tx.constant(fold(_formatted, known, convert, spec))


def _formatted(value: Any, convert: Convert, spec: str | None) -> str:
    return convert(value) if spec is None else format(value, spec)


def _class(value: VariableTracker) -> Any:
    known = value.as_constant()
    if not isinstance(known, type) or type(known).__repr__ is not type.__repr__:
        unsupported("GB0008", f"formatting of {value.describe()}")
    return known


def _special(
    tx: Translator, value: VariableTracker, convert: Convert, spec: str | None
) -> VariableTracker | None:
    """By the value's own Python method."""
    if not isinstance(value, ObjectVariable):
        return None
    name = "__format__" if spec is not None else f"__{convert.__name__}__"
    if convert is ascii:
        unsupported("GB0008", f"ascii() of {value.describe()}")
    static = lookup(value.cls, name)
    if static is object.__format__ and not spec:
        name, static = "__str__", lookup(value.cls, "__str__")
    if static is object.__str__:
        name, static = "__repr__", lookup(value.cls, "__repr__")
    if not isinstance(static, types.FunctionType):
        unsupported("GB0008", f"{name} of {value.describe()}")
    args = [tx.constant(spec)] if name == "__format__" else []
    return value.call_special(tx, name, *args)


class _Repr:
    """Stands in a container for a value whose repr is known."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _literal(tx: Translator, value: VariableTracker) -> Any:
    """A container whose repr is that of the tracked one."""
    value = value.realize()
    if type(value) is ListVariable:
        return [_literal(tx, item) for item in value.items]
    if type(value) is SizeVariable:
        return _Repr(f"graphwright.Size({[_literal(tx, item) for item in value.items]!r})")
    if type(value) is TupleVariable:
        return tuple([_literal(tx, item) for item in value.items])
    if type(value) is NamedTupleVariable and "__repr__" in vars(value.kind):
        names = getattr(value.kind, "_fields", ())
        parts = zip(names, value.items, strict=True)
        inner = ", ".join(f"{name}={_literal(tx, item)!r}" for name, item in parts)
        return _Repr(f"{value.kind.__name__}({inner})")
    if type(value) is DictVariable and value.kind is dict:
        pairs = value.entries.values()
        inner = ", ".join(f"{_literal(tx, k)!r}: {_literal(tx, v)!r}" for k, v in pairs)
        return _Repr(f"{{{inner}}}")
    if isinstance(value, ConstantVariable):
        return value.value
    text = text_of(tx, value, repr, None).as_constant()
    return _Repr(text)
