"""Values that are known while translating."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from graphwright.capture.exc import AttributeMissing, unsupported
from graphwright.capture.guards.source import CodeSource, LocalSource, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.iterators import SequenceIterator
from graphwright.capture.trackers.values.exceptions import raise_in_frame

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator

SCALARS = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented))
_KNOWN_ERRORS = (
    TypeError,
    ValueError,
    KeyError,
    IndexError,
    OverflowError,
    ZeroDivisionError,
)
_FOLDED_ERRORS = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError)


_LEAST, _ABOVE = -(1 << 63), 1 << 64
"""The ints that tensors may hold."""


class ConstantVariable(VariableTracker):
    """An immutable value: number, string, None, dtype, device, frozenset, enum member, ..."""

    __slots__ = ("source", "value")

    def __init__(self, value: Any, source: Source | None = None) -> None:
        self.value = value
        self.source = source

    def describe(self) -> str:
        return repr(self.value)

    def python_type(self) -> type:
        return type(self.value)

    def is_constant(self) -> bool:
        return True

    def as_constant(self) -> Any:
        return self.value

    def as_node(self, tx: Translator) -> Any:
        value = super().as_node(tx)
        if type(value) is int and not _LEAST <= value < _ABOVE:
            unsupported("GB0007", f"OverflowError: {value} has more than 64 bits")
        return value

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if not hasattr(type(self.value), name) and not hasattr(self.value, name):
            if type(self.value) in SCALARS:
                raise AttributeMissing.of(type(self.value), name)
            raise AttributeMissing(
                "GB0007", f"{type(self.value).__name__!r} object has no attribute {name!r}"
            )
        found = fold(getattr, self.value, name)
        if isinstance(found, (types.BuiltinMethodType, types.MethodWrapperType)):
            return ConstantMethod(self, name)
        return tx.constant(found)

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        return tx.constant(fold(lambda value, k: value[k], self.value, key.as_constant()))

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        return bool(fold(lambda value, k: k in value, self.value, item.as_key(tx)))

    def length(self, tx: Translator) -> VariableTracker:
        return tx.constant(fold(len, self.value))

    def truth(self, tx: Translator) -> bool:
        return bool(fold(bool, self.value))     # NotImplemented warns

    def call(
        self, tx: Translator, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
    ) -> VariableTracker:
        if type(self.value) in SCALARS:
            text = f"{type(self.value).__name__!r} object is not callable"
            raise_in_frame(TypeError, [ConstantVariable(text)])
        return super().call(tx, args, kwargs)

    def iterate(self, tx: Translator) -> VariableTracker:
        of_set = isinstance(self.value, frozenset)
        items = tx.frozen_items(self) if of_set else fold(list, self.value)
        return SequenceIterator([tx.constant(item) for item in items], self)

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.load_const(self.value)

    def prefers_source(self) -> bool:
        """Whether to reload the value, which keeps its identity, instead of a constant."""
        return isinstance(self.source, (LocalSource, CodeSource))


class ConstantMethod(VariableTracker):
    """A bound builtin method of a constant, such as `"a".join`."""

    def __init__(self, owner: ConstantVariable, name: str) -> None:
        self.owner = owner
        self.method = name

    def python_type(self) -> type:
        return types.BuiltinMethodType

    def describe(self) -> str:
        return f"{type(self.owner.value).__name__}.{self.method}"

    def parts(self) -> list[VariableTracker]:
        return [self.owner]

    def call(
        self, tx: Translator, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
    ) -> VariableTracker:
        values = [arg.realize() for arg in args]
        if self.method in ("join", "format") and self.owner.python_type() is str:
            if self.method == "join":
                values = [tx.tuple_of(value.unpack_iterator(tx)) for value in values]
            text = tx.text_method(self.owner, self.method, values, kwargs)
            if text is not None:
                return text
        if isinstance(self.owner.value, frozenset) and not kwargs:
            return tx.frozen_method(self.owner, self.method, values)
        keywords = {key: value.as_constant() for key, value in kwargs.items()}
        table = self.method == "translate"
        constants = [tx.plain_value(v) if table else v.as_constant() for v in values]
        found = fold(getattr(self.owner.value, self.method), *constants, **keywords)
        if hasattr(type(found), "__next__"):    # a new one in each call, as finditer() gives
            unsupported("GB0004", f"call of {self.describe()}")
        return tx.constant(found)

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.push(self.owner)
        cg.builder.load_attr(self.method)


def fold(function: Any, *args: Any, **kwargs: Any) -> Any:
    """`function(*args, **kwargs)` on constants, which raises in the frame what Python raises.

    A call that warns is a break, before the warning: each run of it is to warn, of the
    user's line.
    """
    try:
        return function(*args, **kwargs)
    except Warning:
        unsupported("GB0003", "a call that warns")
    except _FOLDED_ERRORS as error:
        if _NO_REGISTRY in error.args:
            unsupported("GB0003", "a call that warns")
        raise_known(error)


__warningregistry__ = ()
"""Which no warning of a line of this module can be entered in, whatever the filters do with it."""
_NO_REGISTRY = "'registry' must be a dict or None"


def formatted(value: Any, convert: Callable[[Any], str], spec: str | None) -> str:
    """`f"{value!convert:spec}"`; without a format, what `convert` gives."""
    return convert(value) if spec is None else format(value, spec)


def raise_known(error: Exception) -> NoReturn:
    """Raise in the frame what Python raised for the same values."""
    args: list[VariableTracker] | None = None
    if all(type(arg) in SCALARS for arg in error.args) and type(error) in _KNOWN_ERRORS:
        args = [ConstantVariable(arg) for arg in error.args]
    raise_in_frame(type(error), args)
