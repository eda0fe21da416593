"""What can be seen of a value, in comparable form."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

import graphwright as gw
from graphwright.runtime.ops.strides import dense_order

ATOMS = (int, float, complex, bool, str, bytes, type(None), range, slice, type(Ellipsis))


ROUNDING = {gw.float64: 1e-7, gw.float32: 1e-3, gw.float16: 0.05, gw.bfloat16: 0.2}


class Near:
    """Numbers of which those of the same computation in another order are equal.

    Two of them are equal where they differ by no more than `ROUNDING` says, of the largest.
    """

    def __init__(self, value: Any, share: float) -> None:
        self.numbers = np.asarray(value, dtype=np.float64)
        self.share = share

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Near) or self.numbers.shape != other.numbers.shape:
            return False
        sizes = np.abs(self.numbers[np.isfinite(self.numbers)])
        room = self.share * max(sizes.max(initial=0.0), 1e-3)
        return np.allclose(self.numbers, other.numbers, rtol=self.share, atol=room, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return str(self.numbers.tolist())


class Strides:
    """Strides of a tensor; those with gaps or repeats equal any others."""

    def __init__(self, value: gw.Tensor) -> None:
        self.strides = value.stride()
        self.dense = dense_order(value.shape, value.stride()) is not None

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Strides)
        return self.strides == other.strides or not (self.dense and other.dense)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return str(self.strides)


def picture(value: Any, rounded: bool = False, narrow: bool = False) -> Any:
    """Types, structure, values, memory, and which parts are one object (of tuples: equal).

    rounded: floats are pictured as `Near`; narrow: float64, too, by what float32 can tell apart.
    """
    return _Painter(rounded, narrow).paint(value)


class _Painter:
    """Numbers objects and memories in the order in which they are met."""

    def __init__(self, rounded: bool, narrow: bool) -> None:
        self.rounded = rounded
        self.shares = {**ROUNDING, gw.float64: ROUNDING[gw.float32]} if narrow else ROUNDING
        self.seen: dict[int, int] = {}
        self.memories: dict[int, int] = {}
        self.kept: list[Any] = []

    def paint(self, value: Any) -> Any:
        kind = type(value)
        if self.rounded and kind in (float, np.float64):
            return kind.__name__, Near(value, ROUNDING[gw.float32])
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
            "tensor", str(value.dtype), tuple(value.shape), *self._layout(value),
            self.memories.setdefault(id(memory), len(self.memories)),
            self._numbers(value), self._history(value),
        )

    def _layout(self, value: gw.Tensor) -> tuple[Any, ...]:
        """Strides and offset; compiled code's results are not laid out with gaps or repeats."""
        if not self.rounded:
            return value.stride(), value.storage_offset()
        return (Strides(value),)

    def _numbers(self, value: gw.Tensor) -> Any:
        with gw.no_grad():
            numbers = value.tolist()
        if self.rounded and value.dtype in self.shares:
            return Near(numbers, self.shares[value.dtype])
        return repr(numbers)

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
