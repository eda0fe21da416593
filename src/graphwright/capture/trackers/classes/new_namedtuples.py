"""Classes of named tuples that the frame makes."""

from __future__ import annotations

import collections
import typing
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.new_classes import Stand, made_class, standing
from graphwright.capture.trackers.containers.mappings import DictVariable

if TYPE_CHECKING:
    from graphwright.capture.trackers.classes.classes import Handler
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


def make_tuple_class(
    tx: Translator, name: str, members: dict[str, VariableTracker], keywords: Kwargs
) -> VariableTracker:
    """`class name(typing.NamedTuple)`."""
    if keywords or "__classcell__" in members:
        unsupported("GB0004", f"NamedTuple {name} with keywords or super()")
    namespace = {key: standing(tx, value) for key, value in members.items()}
    noted = members.get("__annotations__")
    if isinstance(noted, DictVariable):
        notes = {key: standing(tx, entry[1]) for key, entry in noted.entries.items()}
        if any(isinstance(note, Stand) for note in notes.values()):
            unsupported("GB0004", f"NamedTuple {name}, whose fields' types are made in the frame")
        namespace["__annotations__"] = notes
    maker: Any = typing
    try:
        template = maker.NamedTupleMeta(name, (maker._NamedTuple,), namespace)
    except (TypeError, ValueError, AttributeError) as error:
        unsupported("GB0007", f"{type(error).__name__}: {error}")
    return made_class(tx, template)


def _namedtuple(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`collections.namedtuple(name, fields, ...)`."""
    values = [_listed(tx, arg) for arg in args]
    options = {key: _listed(tx, value) for key, value in kwargs.items()}
    if options.get("module") is None:
        options["module"] = tx.load_global("__name__").realize().as_constant()
    maker: Any = collections.namedtuple
    try:
        template = maker(*values, **options)
    except (TypeError, ValueError) as error:
        unsupported("GB0007", f"{type(error).__name__}: {error}")
    return made_class(tx, template)


def _listed(tx: Translator, value: VariableTracker) -> Any:
    """A constant, or what a list or tuple of such holds."""
    value = value.realize()
    if value.is_constant():
        return value.as_constant()
    return [item.realize().as_constant() for item in value.unpack(tx)]


MADE_TUPLES: dict[Any, Handler] = {collections.namedtuple: _namedtuple}
