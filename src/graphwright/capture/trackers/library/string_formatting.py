"""Texts put together by `+`, `%`, `str.format` and `str.join`: numbers in them may vary."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.mappings import DictVariable
from graphwright.capture.trackers.containers.sequences import TupleVariable
from graphwright.capture.trackers.library.strings import TextVariable, joined
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.tensors.tensor_item import NumberRead
from graphwright.capture.trackers.values.constant import ConstantVariable

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}
_FIELD = re.compile(r"%(?:\((?P<key>\w+)\))?(?P<shape>[-#0 +]*\d*(?:\.\d+)?)(?P<kind>[a-zA-Z%])")
_NUMBERS = frozenset("diouxXeEfFgG")


def added(tx: Translator, left: VariableTracker, right: VariableTracker) -> VariableTracker | None:
    """`left + right` of texts, one of which shows symbolic numbers."""
    varies = isinstance(left, TextVariable) or isinstance(right, TextVariable)
    if not varies or {left.python_type(), right.python_type()} != {str}:
        return None
    return joined(tx, [left, right])


def joined_by(tx: Translator, separator: VariableTracker, items: Args) -> VariableTracker | None:
    """`separator.join(items)`, if all are texts and one shows symbolic numbers."""
    parts = [item.realize() for item in items]
    if not any(isinstance(part, TextVariable) for part in parts):
        return None
    if any(part.python_type() is not str for part in parts):
        return None
    between = [piece for part in parts for piece in (separator, part)]
    return joined(tx, between[1:])


def formatted(
    tx: Translator, template: str, args: Args, kwargs: Kwargs
) -> VariableTracker | None:
    """`template.format(*args, **kwargs)`; None where a field is more than a name or a place."""
    parts: list[VariableTracker] = []
    given: dict[str, VariableTracker] = {str(place): arg for place, arg in enumerate(args)}
    given.update(kwargs)
    try:
        fields = list(string.Formatter().parse(template))
    except ValueError:
        return None
    numbered = [name for _, name, _, _ in fields if name is not None and name.isdigit()]
    places = iter(range(len(args)))
    for literal, name, spec, conversion in fields:
        parts.append(tx.constant(literal))
        if name is None:
            continue
        if name == "" and not numbered:
            name = str(next(places, "missing"))
        if name not in given or "{" in (spec or "") or (conversion and spec):
            return None
        convert = _CONVERSIONS.get(conversion or "s")
        if convert is None:
            return None
        value = given[name]
        parts.append(tx.text(value, convert) if conversion else tx.text(value, spec=spec or ""))
    return joined(tx, parts)


def percented(tx: Translator, template: str, right: VariableTracker) -> VariableTracker | None:
    """`template % right`; None where Python is to be asked."""
    found = list(_FIELD.finditer(template))
    fields = [field for field in found if field["kind"] != "%"]
    if "%" in _FIELD.sub("", template) or any(f[0] != "%%" for f in found if f not in fields):
        return None
    values = _values(right, [field["key"] for field in fields])
    if values is None:
        return None
    parts: list[VariableTracker] = []
    end = 0
    shown = iter(values)
    for field in found:
        parts.append(tx.constant(template[end : field.start()]))
        end = field.end()
        part = tx.constant("%") if field["kind"] == "%" else _shown(tx, field, next(shown))
        if part is None:
            return None
        parts.append(part)
    return joined(tx, [*parts, tx.constant(template[end:])])


def _values(right: VariableTracker, keys: list[str | None]) -> Args | None:
    """What the fields show, in order."""
    if any(key is not None for key in keys):
        if not isinstance(right, DictVariable) or not all(key in right.entries for key in keys):
            return None
        return [right.entries[key][1].realize() for key in keys]
    plain = type(right) is TupleVariable
    items = [item.realize() for item in right.items] if isinstance(right, TupleVariable) else []
    found = items if plain else [right]
    several = issubclass(right.python_type(), tuple) or isinstance(right, DictVariable)
    alone = plain or not several
    return found if alone and len(found) == len(keys) else None


def _shown(
    tx: Translator, field: re.Match[str], value: VariableTracker
) -> VariableTracker | None:
    kind, shape = field["kind"], field["shape"]
    of_graph = isinstance(value, (TensorVariable, NumberRead))
    if kind in _CONVERSIONS and not shape:
        return tx.text(value, _CONVERSIONS[kind])
    if of_graph and kind in "diufFeEgG":
        return tx.text(value, f"%{shape}{kind}".__mod__)
    if of_graph:
        unsupported("GB0008", f"formatting of {value.describe()} by %{shape}{kind}")
    if kind not in _NUMBERS or value.python_type() not in (int, float, bool):
        return None
    return tx.text(value, f"%{shape}{kind}".__mod__)


def constant_text(value: VariableTracker) -> str | None:
    """The text of a constant; None for other values, and for texts that show symbolic numbers."""
    known = isinstance(value, ConstantVariable) and not isinstance(value, TextVariable)
    if not known or value.python_type() is not str:
        return None
    text: str = value.as_constant()
    return text
