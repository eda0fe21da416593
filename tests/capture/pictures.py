"""What can be seen of a value, in comparable form."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

import graphwright as gw

ATOMS = (int, float, complex, bool, str, bytes, type(None), range, slice, type(Ellipsis))


def picture(value: Any) -> Any:
    """Types, structure, values, memory, and which parts are one object (of tuples: equal)."""
    return _Painter().paint(value)


class _Painter:
    """Numbers objects and memories in the order in which they are met."""

    def __init__(self) -> None:
        self.seen: dict[int, int] = {}
        self.memories: dict[int, int] = {}
        self.kept: list[Any] = []

    def paint(self, value: Any) -> Any:
        kind = type(value)
        if kind in ATOMS or isinstance(value, np.generic):
            return kind.__name__, repr(value)
        if id(value) in self.seen:
            return "again", self.seen[id(value)]
        self.kept.append(value)
        if not isinstance(value, tuple):
            self.seen[id(value)] = len(self.seen)
        if isinstance(value, gw.Tensor):
            return self._tensor(value)
        if isinstance(value, type):
            return "class", value.__qualname__
        if isinstance(value, BaseException):
            return kind.__qualname__, *self._exception(value)
        return kind.__qualname__, self._content(value), self._state(value)

    def _content(self, value: Any) -> Any:
        if isinstance(value, dict):
            return tuple((self.paint(key), self.paint(item)) for key, item in value.items())
        if isinstance(value, (set, frozenset, list, tuple)):
            return tuple(self.paint(item) for item in value)
        if isinstance(value, collections.deque):
            return value.maxlen, tuple(self.paint(item) for item in value)
        return None

    def _tensor(self, value: gw.Tensor) -> Any:
        memory = value._storage
        self.kept.append(memory)
        return (
            "tensor", str(value.dtype), tuple(value.shape), value.stride(),
            value.storage_offset(), self.memories.setdefault(id(memory), len(self.memories)),
            repr(self._values(value)), self._history(value),
        )

    def _values(self, value: gw.Tensor) -> Any:
        with gw.no_grad():
            return value.tolist()

    def _history(self, value: gw.Tensor) -> Any:
        """What autograd knows; why nothing can be read where views were changed forbiddenly."""
        try:
            found = value.requires_grad, value.grad_fn is not None
        except RuntimeError as error:
            return str(error)
        return *found, self.paint(value.grad) if value.is_leaf else None

    def _exception(self, value: BaseException) -> Any:
        return (
            self.paint(value.args), str(value), self._state(value), self.paint(value.__cause__),
            self.paint(value.__context__), value.__suppress_context__,
        )

    def _state(self, value: Any) -> Any:
        """What lies in the instance: its dictionary and its slots."""
        state = dict(getattr(value, "__dict__", None) or {})
        for name in getattr(type(value), "__slots__", ()):
            if isinstance(name, str) and hasattr(value, name):
                state[name] = getattr(value, name)
        return tuple((name, self._attribute(name, item)) for name, item in state.items())

    def _attribute(self, name: str, value: Any) -> Any:
        """Tables of hooks without their keys, which count up over the whole process."""
        if "_hooks" in name and isinstance(value, dict):
            return tuple(self.paint(item) for item in value.values())
        return self.paint(value)
