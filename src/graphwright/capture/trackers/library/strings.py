"""`str`, `repr` and `format` of constants, of symbolic numbers, and of tensors."""

from __future__ import annotations

import enum
import types
from collections.abc import Callable, Iterable
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import Unsupported, unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.class_guards import guard_member
from graphwright.capture.trackers.classes.classes import BuiltinVariable, ClassVariable
from graphwright.capture.trackers.classes.enums import EnumVariable
from graphwright.capture.trackers.classes.named_tuples import (
    NamedTupleVariable,
    is_generated,
    shown_names,
)
from graphwright.capture.trackers.containers.mappings import DictVariable
from graphwright.capture.trackers.containers.sequences import (
    ListVariable,
    SizeVariable,
    TupleVariable,
)
from graphwright.capture.trackers.numbers.scalar_subclasses import ScalarObjectVariable
from graphwright.capture.trackers.numbers.size_quotients import QuotientVariable
from graphwright.capture.trackers.numbers.symbolic_floats import FloatVariable
from graphwright.capture.trackers.numbers.symint import SymIntVariable
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.tensors.tensor_item import NumberRead
from graphwright.capture.trackers.values.constant import ConstantVariable, fold, formatted
from graphwright.capture.trackers.values.exceptions import ExceptionVariable
from graphwright.capture.trackers.values.namespaces import lookup
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.runtime.naming import NAMING
from graphwright.runtime.tensor import dtypes

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator

Convert = Callable[[Any], str]
Piece = str | tuple[VariableTracker, Convert, str | None]
"""Text, or a symbolic number or a tensor and how it is shown: converted, or formatted by a
spec."""
_CONTAINERS = (ListVariable, TupleVariable, DictVariable, NamedTupleVariable, SizeVariable)


class Shown(VariableTracker):
    """A tensor, or a number read from one, as a text shows it once the graph has run.

    What the tensor holds by then is what it held when the text was made, or the graph ends there.
    """

    def __init__(self, owner: VariableTracker) -> None:
        self.owner = owner
        self.version = self._written()

    def _written(self) -> int:
        """How often the tensor was written to; the numbers are copies of the graph's own."""
        fake = getattr(self.owner, "fake", None)
        return 0 if fake is None else fake._storage._version

    def describe(self) -> str:
        return self.owner.describe()

    def as_constant(self) -> Any:
        unsupported("GB0008", f"formatting of {self.describe()}")

    def parts(self) -> Iterable[VariableTracker]:
        return [self.owner]

    def reconstruct(self, cg: Reconstructor) -> None:
        if self._written() != self.version:
            reason = Unsupported("GB0008", f"formatting of {self.describe()}, written afterwards")
            reason.blame(self.born)
            raise reason
        cg.push(self.owner)


class TextVariable(ConstantVariable):
    """A text that shows numbers which vary, as the messages of checks do, or tensors.

    It is a constant to whoever looks at it: then the graph holds for these numbers only, and ends
    where there are tensors.
    """

    __slots__ = ("pieces",)

    def __init__(self, pieces: list[Piece]) -> None:
        self.pieces = pieces
        self.source = None

    @property
    def value(self) -> Any:
        """The text of this capture, which the graph is thereby specialised to."""
        return "".join(
            piece if isinstance(piece, str) else formatted(piece[0].as_constant(), *piece[1:])
            for piece in self.pieces
        )

    def describe(self) -> str:
        return "a text that shows what varies"

    def parts(self) -> Iterable[VariableTracker]:
        return [piece[0] for piece in self.pieces if not isinstance(piece, str)]

    def has_tensor(self) -> bool:
        return False

    def python_type(self) -> type:
        return str

    def reconstruct(self, cg: Reconstructor) -> None:
        shown = [piece for piece in self.pieces if not isinstance(piece, str)]
        cg.builder.begin_call(_filled)
        cg.builder.load_const(tuple([p if isinstance(p, str) else p[1:] for p in self.pieces]))
        for number, _, _ in shown:
            cg.push(number)
        cg.builder.end_call(1 + len(shown))

    def prefers_source(self) -> bool:
        return True


def _filled(pieces: tuple[Any, ...], *numbers: Any) -> str:
    """The text of pieces, with `numbers` in place of those that say how one is shown."""
    left = iter(numbers)
    return "".join([p if isinstance(p, str) else formatted(next(left), *p) for p in pieces])


def joined(tx: Translator, parts: list[VariableTracker]) -> VariableTracker:
    """The texts one after another."""
    pieces: list[Piece] = []
    for part in parts:
        value = part.realize()
        pieces += value.pieces if isinstance(value, TextVariable) else [value.as_constant()]
    return _text(tx, pieces)


def _text(tx: Translator, pieces: list[Piece]) -> VariableTracker:
    texts = [piece for piece in pieces if isinstance(piece, str)]
    if len(texts) == len(pieces):
        return tx.constant("".join(filter(None, texts)))    # a single one stays that object
    return TextVariable(pieces)


def text_of(
    tx: Translator, value: VariableTracker, convert: Convert, spec: str | None
) -> VariableTracker:
    """`convert(value)`, or `format(value, spec)` where a spec is given."""
    if isinstance(value, TextVariable) and convert is str and not spec:
        return value
    special = _special(tx, value, convert, spec)
    if special is not None:
        return special
    if isinstance(value, (EnumVariable, ExceptionVariable)):
        own = _own(tx, value, convert, spec)
        if own is not None:
            return own
    if isinstance(value, ExceptionVariable) and convert is str and not spec:
        return value.text(tx)
    if isinstance(value, ExceptionVariable) and convert is repr and spec is None:
        return value.representation(tx)
    if type(value) in _CONTAINERS:
        if spec:
            fold(format, value.python_type()(), spec)
        return _text(tx, _contents(tx, value, ascii if convert is ascii else repr))
    if isinstance(value, (FloatVariable, QuotientVariable, SymIntVariable)):
        fold(formatted, _seen(value), convert, spec)
        return TextVariable([(value, convert, spec)])
    if isinstance(value, (TensorVariable, NumberRead)):
        return _shown_later(tx, value, convert, spec)
    if isinstance(value, (ClassVariable, BuiltinVariable)):
        known = _class(value)
    elif value.is_constant():
        known = value.as_constant()
    else:
        unsupported("GB0008", f"formatting of {value.describe()}")
    return tx.constant(fold(formatted, known, convert, spec))


def _shown_later(
    tx: Translator, value: TensorVariable | NumberRead, convert: Convert, spec: str | None
) -> VariableTracker:
    """The text of a tensor; the frame's error where a tensor of one element has no such form."""
    if spec or convert not in _WHOLE:
        if isinstance(value, TensorVariable) and value.fake.ndim:
            unsupported("GB0007", f"TypeError: a format of {value.describe()}")
        fold(formatted, kind_of(value)(), convert, spec)
    return TextVariable([(Shown(value), convert, spec)])


_WHOLE: tuple[Convert, ...] = (str, repr, ascii)


def kind_of(value: TensorVariable | NumberRead) -> type:
    """The type of the number that a tensor without dims holds."""
    if isinstance(value, NumberRead):
        return value.kind
    dtype = value.fake.dtype
    if dtype.is_complex:
        return complex
    return float if dtype.is_floating_point else bool if dtype is dtypes.bool else int


def _seen(value: FloatVariable | QuotientVariable | SymIntVariable) -> int | float:
    """The value of a symbolic number in this call; adds no guard."""
    return value.value.hint if isinstance(value, SymIntVariable) else value.seen


def _class(value: VariableTracker) -> Any:
    known = value.as_constant()
    if not isinstance(known, type) or type(known).__repr__ is not type.__repr__:
        unsupported("GB0008", f"formatting of {value.describe()}")
    return known


def _own(
    tx: Translator, value: EnumVariable | ExceptionVariable, convert: Convert, spec: str | None
) -> VariableTracker | None:
    """What the class of a member or of an exception says in Python."""
    if spec is None:
        return value.own(tx, f"__{convert.__name__}__") if convert is not ascii else None
    own = value.own(tx, "__format__", tx.constant(spec))
    if own is None and lookup(value.python_type(), "__format__") is enum.Enum.__format__:
        shown = value.own(tx, "__str__")
        return None if shown is None else text_of(tx, shown, str, spec)
    return own


def _special(
    tx: Translator, value: VariableTracker, convert: Convert, spec: str | None
) -> VariableTracker | None:
    """By the value's own Python method."""
    if not isinstance(value, ObjectVariable):
        return None
    name = "__format__" if spec is not None else f"__{convert.__name__}__"
    if convert is ascii:
        unsupported("GB0008", f"ascii() of {value.describe()}")
    static = _member(tx, value, name)
    of_scalar = isinstance(value, ScalarObjectVariable) and value.is_builtin(static)
    if (static is object.__format__ or of_scalar) and name == "__format__" and not spec:
        name, static = "__str__", _member(tx, value, "__str__")
    if static is object.__str__:
        name, static = "__repr__", _member(tx, value, "__repr__")
    if not value.has_method(name):
        unsupported("GB0008", f"{name} of {value.describe()}")
    args = [tx.constant(spec)] if name == "__format__" else []
    return value.call_special(tx, name, *args)


def _member(tx: Translator, value: ObjectVariable, name: str) -> Any:
    """What the class has under a name that is looked up there."""
    guard_member(tx, value.cls, name)
    return lookup(value.cls, name)


def _contents(tx: Translator, value: VariableTracker, convert: Convert) -> list[Piece]:
    """The repr of a value, by `convert`: `repr` or `ascii`."""
    value = value.realize()
    if isinstance(value, ListVariable):
        return ["[", *_listed(tx, value.items, convert), "]"]
    if type(value) is SizeVariable:
        return [f"{NAMING.root}.Size([", *_listed(tx, value.items, convert), "])"]
    if type(value) is TupleVariable:
        return ["(", *_listed(tx, value.items, convert), ",)" if len(value.items) == 1 else ")"]
    if type(value) is NamedTupleVariable:
        guard_member(tx, value.kind, "__repr__")
        if not _is_generated(lookup(value.kind, "__repr__")):
            unsupported("GB0008", f"repr() of {value.describe()}")
        labels: list[list[Piece]] = [[f"{name}="] for name in shown_names(value.kind)]
        fields = _listed(tx, value.items, convert, labels)
        name = ClassVariable(value.kind).getattr(tx, "__name__").as_constant()
        return [f"{name}(", *fields, ")"]
    if type(value) is DictVariable and value.kind is dict:
        pairs = list(value.entries.values())
        labels = [[*_contents(tx, key, convert), ": "] for key, _ in pairs]
        return ["{", *_listed(tx, [item for _, item in pairs], convert, labels), "}"]
    text = text_of(tx, value, convert, None)
    return text.pieces if isinstance(text, TextVariable) else [text.as_constant()]


def _is_generated(function: object) -> bool:
    return isinstance(function, types.FunctionType) and is_generated(function)


def _listed(
    tx: Translator,
    items: Iterable[VariableTracker],
    convert: Convert,
    labels: Iterable[list[Piece]] = (),
) -> list[Piece]:
    """The contents of items, each behind its label, with commas between."""
    pieces: list[Piece] = []
    for item, label in zip(items, chain(labels, repeat([])), strict=False):
        pieces += [*([", "] if pieces else []), *label, *_contents(tx, item, convert)]
    return pieces
