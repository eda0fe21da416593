"""Iterators over objects that have no `__iter__`: the items are read by their index."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.length_hints import length_asked
from graphwright.capture.vm.polyfills import reversed_iterator, sequence_iterator

if TYPE_CHECKING:
    from graphwright.capture.trackers.values.objects import ObjectVariable
    from graphwright.capture.vm.translator import Translator


def forwards(tx: Translator, owner: ObjectVariable) -> VariableTracker:
    """`iter(owner)`, which has as many items left as the object then has behind those drawn."""

    def left(drawn: int) -> VariableTracker | None:
        current = _length(tx, owner)
        return current and tx.wrap_plain(max(current.as_example() - drawn, 0))

    function: Any = sequence_iterator
    made: Any = tx.plain_function(function).call(tx, [owner], {})
    made.left = left
    return made


def backwards(tx: Translator, owner: ObjectVariable) -> VariableTracker:
    """`reversed(owner)`, which counts down from the length at first, and then has no more items
    left than the object."""
    length = owner.call_special(tx, "__len__").realize()

    def left(drawn: int) -> VariableTracker | None:
        current = _length(tx, owner)
        if current is None:
            return None
        position = length.as_example() - drawn
        return tx.wrap_plain(0 if current.as_example() < position else position)

    function: Any = reversed_iterator
    made: Any = tx.plain_function(function).call(tx, [owner, length], {})
    made.kind, made.left = reversed, left
    return made


def _length(tx: Translator, owner: ObjectVariable) -> VariableTracker | None:
    return length_asked(tx, partial(owner.special, tx), ("__len__",))
