"""What counts as an int among arguments: as in PyTorch, which differs by the parameter's kind.

A bool never counts where one int is wanted, nor as the first of several; further ones count, as
PyTorch looks only at the first to recognise a sequence of ints. Integers of NumPy and integer
tensors of one element count everywhere. Other objects with `__index__` count as sizes and in
sequences, but not as a dim.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes

_UNREAD = 4 | 8 | 64        # fake, of another device, batched: dispatch.py names them


def _named(value: Any) -> str:
    if isinstance(value, TensorBase):
        return f"{type(value).__name__} {value.dtype.name}{list(value.shape)}"
    return type(value).__name__


def _is_whole(tensor: TensorBase) -> bool:
    dtype = tensor.dtype
    return not (dtype.is_floating_point or dtype.is_complex or dtype is dtypes.bool)


def _read(tensor: Any) -> Any:
    """The int that a tensor holds; itself in graphs that are made, or where it stands for many."""
    traced = _core.tracer() is not None
    return tensor if traced or _core.dispatch_flags((tensor,)) & _UNREAD else int(tensor.item())


def as_int(name: str, value: Any, wanted: str = "int") -> Any:
    """`value` as an int: an int, a NumPy integer, an integer tensor without dims.

    A SymInt stays what it is, and so does a tensor that cannot be read. Raises TypeError for
    anything else, in which `name` is the argument and `wanted` what it takes.
    """
    if value.__class__ is int or value.__class__ is SymInt:
        return value
    if isinstance(value, int | np.integer) and value.__class__ is not bool:
        return int(value)
    if isinstance(value, TensorBase) and not value.ndim and _is_whole(value):
        return _read(value)
    raise TypeError(f"{name} must be {wanted}, not {_named(value)}")


def as_index(name: str, value: Any) -> Any:
    """As `as_int`, and what any other object's `__index__` gives, except a bool's."""
    if value.__class__ is bool:
        raise TypeError(f"{name} must be int, not bool")
    return as_listed(name, value)


def as_listed(name: str, value: Any) -> Any:
    """As `as_index`, also of a bool."""
    if value.__class__ is int or value.__class__ is SymInt:
        return value
    if isinstance(value, TensorBase):
        if _is_whole(value) and value.numel() == 1:
            return _read(value)
    elif hasattr(value, "__index__"):
        return int(index(value))
    raise TypeError(f"{name} must be int, not {_named(value)}")


def as_ints(name: str, values: Any) -> tuple[Any, ...]:
    """A sequence of ints as a tuple. Raises TypeError for an item that counts as none, or one int.
    """
    if not isinstance(values, list | tuple):
        raise TypeError(f"{name} must be tuple of ints, not {_named(values)}")
    for value in values:
        if value.__class__ is not int:
            break
    else:
        return values if isinstance(values, tuple) else tuple(values)
    one, rest = f"{name} must be tuple of ints: an item of it", values[1:]
    return (as_index(one, values[0]), *[as_listed(one, value) for value in rest])


def _ints_or_one(name: str, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return as_ints(name, value)
    return as_int(name, value, "int or tuple of ints")


def _ints_or_nones(name: str, value: Any) -> Any:
    if isinstance(value, list | tuple):
        as_ints(name, [item for item in value if item is not None])
        return value
    if isinstance(value, TensorBase):
        raise TypeError(f"{name} must be int or tuple of ints, not {_named(value)}")
    return _ints_or_one(name, value)


def _ints_or_str(name: str, value: Any) -> Any:
    return value if isinstance(value, str) else _ints_or_one(name, value)


def _ints_or_tensor(name: str, value: Any) -> Any:
    return value if isinstance(value, TensorBase) else _ints_or_one(name, value)


def _index_or_tensor(name: str, value: Any) -> Any:
    return value if isinstance(value, TensorBase) else as_index(name, value)


CONVERSIONS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("int", "Dim", "NewDim"), as_int),
    **dict.fromkeys(("Size", "Size*", "IntPair"), as_ints),
    "SymInt": as_index,
    "SymInt|Tensor": _index_or_tensor,
    **dict.fromkeys(("Ints", "Ints*"), _ints_or_one),
    "Ints|None": _ints_or_nones,
    "Ints|Tensor": _ints_or_tensor,
    "Ints|str": _ints_or_str,
}
"""How an argument becomes one int or several, by the parameter's type; `?` at its end aside."""


def plain_integers(op: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """`args` with ints for the objects that count as such; the same tuple where none does.

    Raises TypeError for what counts as none. An argument that is not given stays as it is.
    """
    values: list[Any] | None = None
    for slot in op.kinds[0]:
        value, param = args[slot], op.schema.params[slot]
        if value is param.default or value is ...:
            continue
        if value.__class__ is int and param.type not in ("Size", "Size*"):
            continue
        if value is None and param.type.endswith("?"):
            continue
        name = f"{op.name}(): argument '{param.name}'"
        plain = CONVERSIONS[param.type.rstrip("?")](name, value)
        if plain is not value:
            values = values or list(args)
            values[slot] = plain
    return args if values is None else tuple(values)


def plain_number(value: Any) -> Any:
    """The number that an instance of a derived class is, whatever its own methods say."""
    if isinstance(value, int):
        return int.__int__(value)
    return float.__float__(value) if isinstance(value, float) else complex.__pos__(value)
