"""What can be saved, and the way through it: one for all formats.

A state is None, a bool, a number, a string, bytes, a dtype, device or layout, a tensor, or a
container of these: dict, OrderedDict, what `state_dict` gives, Counter, list, tuple, set, Size.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphwright.nn.state import StateDict
from graphwright.runtime import _core
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.memory_format import layout
from graphwright.runtime.tensor.size import Size
from graphwright.runtime.tensor.tensor import Tensor

MAX_DEPTH = 100

SCALARS = frozenset(
    {int, float, str, complex, bytes, bytearray, layout, dtypes.dtype, Device}
)

CONTAINERS: dict[type, str] = {
    dict: "dict",
    OrderedDict: "ordered",
    StateDict: "ordered",
    Counter: "counter",
    list: "list",
    tuple: "tuple",
    set: "set",
    Size: "size",
}


class Walk:
    """Goes through a state from `encode`; a format says what becomes of each part."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def constant(self, value: bool | None) -> Any:
        """None, True or False."""
        raise NotImplementedError

    def scalar(self, value: Any, path: str) -> Any:
        """A value whose type is one of `SCALARS`."""
        raise NotImplementedError

    def tensor(self, value: Tensor, path: str, depth: int) -> Any:
        """A tensor."""
        raise NotImplementedError

    def container(self, name: str, value: Any, path: str, depth: int) -> Any:
        """A container of `CONTAINERS`, by the name there."""
        raise NotImplementedError

    def encode(self, value: Any, path: str, depth: int) -> Any:
        """What the format makes of `value`, which stands at `path`."""
        if value is None or value is True or value is False:
            return self.constant(value)
        if depth > MAX_DEPTH:
            raise ValueError(f"{path} is nested more than {MAX_DEPTH} deep")
        if isinstance(value, Tensor):
            return self.tensor(value, path, depth)
        if isinstance(value, np.generic):
            value = value.item()
        if type(value) in SCALARS:
            return self.scalar(value, path)
        if id(value) in self._open:
            raise ValueError(f"{path} contains itself")
        self._open.add(id(value))
        name = CONTAINERS.get(type(value))
        if name is not None:
            found = self.container(name, value, path, depth)
        else:
            found = self.other(value, path, depth)
        self._open.discard(id(value))
        return found

    def other(self, value: Any, path: str, depth: int) -> Any:
        """An object of any other type: numbers and strings of subclasses are plain ones."""
        for kind in (int, float, str):
            if isinstance(value, kind):
                return self.scalar(kind(value), path)
        raise TypeError(f"{path} is {name_of(value)}, which cannot be saved: {_instead(value)}")

    def items(self, value: Any, path: str, depth: int) -> Iterator[Any]:
        """The encoded members of a sequence or set, in order."""
        for index, item in enumerate(value):
            yield self.encode(item, f"{path}[{index}]", depth + 1)

    def pairs(self, value: Any, path: str, depth: int) -> Iterator[list[Any]]:
        """The encoded keys and values of a dict, in order, each key before its value."""
        for key, item in value.items():
            if isinstance(key, Tensor):
                raise TypeError(f"{path} has a tensor as a key, which cannot be saved: use names")
            yield [
                self.encode(key, f"the key {key!r} of {path}", depth + 1),
                self.encode(item, f"{path}[{key!r}]", depth + 1),
            ]


def name_of(value: Any) -> str:
    """The full name of the class of an object."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _instead(value: Any) -> str:
    """What to save, and how to come back from it."""
    if hasattr(value, "state_dict"):
        return (
            "save its state_dict() and, to load it, make the object anew and call "
            "load_state_dict() on it"
        )
    if hasattr(value, "get_state"):
        return "save its get_state(), which set_state() takes"
    return "files hold tensors, numbers, strings and containers of these; of objects, save those"


def without_data(tensor: Tensor) -> bool:
    """Whether the values of a tensor are not in memory, so that no file can have them."""
    return tensor.is_fake or not (tensor.is_cpu or _core.has_cuda_memory(tensor))


def refuse_without_data(path: str) -> TypeError:
    """The error for such a tensor."""
    return TypeError(
        f"{path} is a tensor without data, which cannot be saved: its values are not known"
    )
