"""`inspect.signature` of functions and methods: made once, guarded by all that it shows."""

from __future__ import annotations

import inspect
import types
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import (
    AttrSource,
    ConstSource,
    DefaultsSource,
    ItemSource,
    KwDefaultsSource,
    Source,
)
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.callables.functions import (
    BoundMethodVariable,
    FunctionVariable,
    NestedFunctionVariable,
    UserFunctionVariable,
)
from graphwright.capture.trackers.containers.mappings import DictVariable
from graphwright.capture.vm.bytecode import PYTHON

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

_PARTIAL = "__partialmethod__" if PYTHON >= (3, 13) else "_partialmethod"
Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_SHOWN_INSTEAD = ("__signature__", "__text_signature__", _PARTIAL)
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def signature_of(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`inspect.signature(function)`, of Python functions and of what wraps them."""
    subject = args[0].realize() if len(args) == 1 and not kwargs else None
    bound = isinstance(subject, BoundMethodVariable)
    shown = subject.function.realize() if isinstance(subject, BoundMethodVariable) else subject
    made, source = _own_signature(tx, _wrapped_by(tx, shown))
    if bound:
        first, *rest = made.parameters.values()
        if first.kind not in _POSITIONAL:
            unsupported("GB0004", "call of inspect.signature on a method without an argument")
        made = made.replace(parameters=rest)
    return tx.output.wrap(made, ConstSource(made, f"inspect.signature({source})"))


def _wrapped_by(tx: Translator, function: VariableTracker | None) -> FunctionVariable:
    """The function at the end of the `__wrapped__`, whose parameters `inspect` shows."""
    passed: set[int] = set()
    while isinstance(function, (UserFunctionVariable, NestedFunctionVariable)):
        held = _attributes(function)
        for name in (*_SHOWN_INSTEAD, "__wrapped__"):
            if name not in held:
                if function.source is not None:
                    tx.guards.missing(AttrSource(function.source, name))
            elif name != "__wrapped__":
                unsupported("GB0004", f"call of inspect.signature on a function with {name}")
        if "__wrapped__" not in held:
            return function
        if id(held) in passed:
            break
        passed.add(id(held))
        function = function.getattr(tx, "__wrapped__").realize()
    unsupported("GB0004", "call of inspect.signature")


def _attributes(function: UserFunctionVariable | NestedFunctionVariable) -> dict[str, Any]:
    if isinstance(function, NestedFunctionVariable):
        return function.attributes
    return function.function.__dict__


def _own_signature(tx: Translator, function: FunctionVariable) -> tuple[inspect.Signature, str]:
    """The signature and the function's name; guarded unless the function is the frame's own."""
    if isinstance(function, NestedFunctionVariable):
        return inspect.signature(_likeness(function)), function.describe()
    assert isinstance(function, UserFunctionVariable) and function.source is not None
    _guard_shown(tx, function, function.source)
    return inspect.signature(function.function), str(function.source)


def _likeness(function: NestedFunctionVariable) -> types.FunctionType:
    """A function with the parameters of one that the frame made.

    A graph break unless their defaults and annotations are constants or classes.
    """
    cells = tuple([types.CellType() for _ in function.closure])
    defaults = tuple([value.realize().as_constant() for value in function.defaults])
    made = types.FunctionType(function.code, {}, None, defaults or None, cells)
    made.__kwdefaults__ = {
        name: value.realize().as_constant() for name, value in function.kwdefaults.items()}
    notes = function.attributes.get("__annotations__")
    if isinstance(notes, DictVariable):
        made.__annotations__ = {
            name: value.realize().as_constant() for name, (_, value) in notes.entries.items()}
    return made


def _guard_shown(tx: Translator, function: UserFunctionVariable, source: Source) -> None:
    """Defaults and annotations, each by what object it is."""
    real = function.function
    defaults = real.__defaults__
    if defaults is None:
        tx.guards.equals(AttrSource(source, "__defaults__"), None)
    else:
        tx.guards.length(AttrSource(source, "__defaults__"), len(defaults))
        for index, value in enumerate(defaults):
            tx.guards.id_match(DefaultsSource(source, index), value)
    keywords = real.__kwdefaults__
    if keywords is None:
        tx.guards.equals(AttrSource(source, "__kwdefaults__"), None)
    else:
        tx.guards.dict_keys(AttrSource(source, "__kwdefaults__"), keywords)
        for name, value in keywords.items():
            tx.guards.id_match(KwDefaultsSource(source, name), value)
    place, notes = AttrSource(source, "__annotations__"), real.__annotations__
    tx.guards.dict_keys(place, notes)
    for name, value in notes.items():
        tx.guards.id_match(ItemSource(place, name), value)
