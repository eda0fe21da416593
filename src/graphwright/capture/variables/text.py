"""`str`, `repr` and `format` of values that are known, or of numbers that vary."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.classes import BuiltinVariable, ClassVariable
from graphwright.capture.variables.constant import ConstantVariable, fold
from graphwright.capture.variables.exceptions import ExceptionVariable
from graphwright.capture.variables.floats import FloatVariable
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


class TextVariable(ConstantVariable):
    """A text that shows numbers which vary, as the messages of checks do.

    It is a constant to whoever looks at it: then the graph holds for these numbers only.
    """

    __slots__ = ("numbers", "seen")

    def __init__(self, seen: str, numbers: tuple[VariableTracker, ...]) -> None:
        self.seen = seen
        self.numbers = numbers
        self.source = None

    @property
    def value(self) -> Any:
        """The text of this capture, which the graph is thereby specialised to."""
        for number in self.numbers:
            number.as_constant()
        return self.seen

    def describe(self) -> str:
        return "a text with numbers that vary"

    def python_type(self) -> type:
        return str


def _known_text(tx: Translator, seen: str, numbers: list[VariableTracker]) -> VariableTracker:
    return TextVariable(seen, tuple(numbers)) if numbers else tx.constant(seen)


def joined(tx: Translator, parts: list[VariableTracker]) -> VariableTracker:
    """The texts one after another."""
    numbers: list[VariableTracker] = []
    texts = [_seen(part.realize(), numbers) for part in parts]
    return _known_text(tx, "".join(texts), numbers)


def _seen(value: VariableTracker, numbers: list[VariableTracker]) -> Any:
    """A constant's value, or what a number or text that varies is now, noted in `numbers`."""
    if isinstance(value, TextVariable):
        numbers += value.numbers
        return value.seen
    if isinstance(value, FloatVariable):
        numbers.append(value)
        return value.seen
    if isinstance(value, SymIntVariable):
        numbers.append(value)
        return value.value.hint
    return value.as_constant()


def text_of(
    tx: Translator, value: VariableTracker, convert: Convert, spec: str | None
) -> VariableTracker:
    """`convert(value)`, or `format(value, spec)` where a spec is given."""
    special = _special(tx, value, convert, spec)
    if special is not None:
        return special
    numbers: list[VariableTracker] = []
    if isinstance(value, ExceptionVariable) and convert is str and not spec:
        return value.text(tx)
    if type(value) in _CONTAINERS:
        known = _literal(tx, value, numbers)
    elif isinstance(value, (ClassVariable, BuiltinVariable)):
        known = _class(value)
    elif value.is_constant() or isinstance(value, SymIntVariable):
        known = _seen(value, numbers)
    else:
        unsupported("GB0008", f"formatting of {value.describe()}")
    return _known_text(tx, fold(_formatted, known, convert, spec), numbers)


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


def _literal(tx: Translator, value: VariableTracker, numbers: list[VariableTracker]) -> Any:
    """A container whose repr is that of the tracked one; `numbers` gets those that vary."""

    def inner(items: Iterable[VariableTracker]) -> list[Any]:
        return [_literal(tx, item, numbers) for item in items]

    value = value.realize()
    if type(value) is ListVariable:
        return inner(value.items)
    if type(value) is SizeVariable:
        return _Repr(f"graphwright.Size({inner(value.items)!r})")
    if type(value) is TupleVariable:
        return tuple(inner(value.items))
    if type(value) is NamedTupleVariable and "__repr__" in vars(value.kind):
        names = getattr(value.kind, "_fields", ())
        parts = zip(names, inner(value.items), strict=True)
        fields = ", ".join(f"{name}={item!r}" for name, item in parts)
        return _Repr(f"{value.kind.__name__}({fields})")
    if type(value) is DictVariable and value.kind is dict:
        pairs = [inner(pair) for pair in value.entries.values()]
        return _Repr("{" + ", ".join(f"{key!r}: {item!r}" for key, item in pairs) + "}")
    if isinstance(value, (ConstantVariable, SymIntVariable)):
        return _seen(value, numbers)
    text = text_of(tx, value, repr, None)
    return _Repr(_seen(text, numbers))
