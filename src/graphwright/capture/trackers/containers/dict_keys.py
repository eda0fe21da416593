"""The keys of dicts that captured code reads: how each is found again, and guarded."""

from __future__ import annotations

import enum
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture import _eval_frame
from graphwright.capture.guards.source import KeySource, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.dataclass_keys import is_known_record, wrap_record_key
from graphwright.runtime._core import OpFunction
from graphwright.runtime.tensor.dtypes import AbsentDtype
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.size import Size

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph

_MOST_OBJECTS = 256
_FIXED = (type, types.FunctionType, OpFunction, DType, AbsentDtype, enum.Enum)
_FIXED_HASHES = tuple([kind.__hash__ for kind in (object, type, int, str, enum.Enum)])


def _is_fixed(key: Any) -> bool:
    """Whether a key is a class, function, dtype, Size or member of an enumeration, or a tuple."""
    kind = type(key)
    if kind is Size:
        return True
    if kind is tuple:
        return all(_eval_frame.is_constant(part) or _is_fixed(part) for part in key)
    return issubclass(kind, _FIXED) and kind.__hash__ in _FIXED_HASHES


class DictKeys:
    """The keys of a dict: those that others find by their value, and those that are objects.

    all: the keys as they are, past what a user's class makes of iteration.
    by_identity: whether an object is found by being that object.
    """

    def __init__(
        self, value: dict[Any, Any], keys: list[Any], by_identity: Callable[[Any], bool]
    ) -> None:
        self.value = value
        self.all = keys
        self.by_identity = by_identity
        self.constant = [_eval_frame.is_constant(key) for key in self.all]
        self.known = [
            constant or _is_fixed(key)
            for key, constant in zip(self.all, self.constant, strict=True)
        ]
        pairs = zip(self.all, self.known, strict=True)
        self.objects = [key for key, known in pairs if not known]

    def are_modelled(self) -> bool:
        """Whether all objects among the keys are found again in captured code."""
        few = len(self.objects) <= _MOST_OBJECTS
        return few and all(map(self._is_modelled, self.objects))

    def _is_modelled(self, key: Any) -> bool:
        """A record that has changed since it became a key is no longer found."""
        if is_known_record(key):
            return dict.__contains__(self.value, key)
        return self.by_identity(key)

    def guarded(self) -> list[Any]:
        """What the guard on the keys compares with: objects have guards of their own."""
        pairs = zip(self.all, self.known, strict=True)
        return [key if known else _eval_frame.MISSING for key, known in pairs]

    def tracked(
        self, output: OutputGraph, position: int, source: Source
    ) -> tuple[Any, VariableTracker]:
        """What finds the key, and its tracker."""
        key = self.all[position]
        if self.constant[position]:
            return key, output.constant(key)
        place = KeySource(source, position)
        if self.known[position]:
            return key, output.wrap_lazily(key, place)
        if is_known_record(key):
            return wrap_record_key(output, key, place), output.wrap_lazily(key, place)
        tracker = output.wrap(key, place)
        output.hashed[tracker] = None
        return tracker, tracker
