"""What classes and instances hold, read without running code of the program's.

A metaclass may define `__dict__` or `__mro__` itself, and a class the `__dict__` of its instances.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from graphwright.capture import _eval_frame

ABSENT = object()
mro_of: Any = type.__dict__["__mro__"].__get__
_dict_of: Any = type.__dict__["__dict__"].__get__
flags_of: Any = type.__dict__["__flags__"].__get__
dictoffset_of: Any = type.__dict__["__dictoffset__"].__get__
weakrefoffset_of: Any = type.__dict__["__weakrefoffset__"].__get__
basicsize_of: Any = type.__dict__["__basicsize__"].__get__
bases_of: Any = type.__dict__["__bases__"].__get__
_IMMUTABLE_TYPE, _HEAP_TYPE = 1 << 8, 1 << 9


def namespace_of(cls: type) -> Mapping[str, Any]:
    """What a class itself defines."""
    held: Mapping[str, Any] = _dict_of(cls)
    return held


def lookup(cls: type, name: str, after: type | None = None, absent: Any = ABSENT) -> Any:
    """What the MRO of `cls` holds under `name`, unbound; `absent` if nothing."""
    mro = mro_of(cls)
    start = mro.index(after) + 1 if after is not None else 0
    for base in mro[start:]:
        namespace = _dict_of(base)
        if name in namespace:
            return namespace[name]
    return absent


def instance_dict(value: object) -> dict[str, Any]:
    """The instance's own `__dict__`, empty for one with slots only; of a class what it holds."""
    if issubclass(type(value), type):
        held: dict[str, Any] = _dict_of(value)
        return held
    static = lookup(type(value), "__dict__")
    try:
        if type(static) in (types.GetSetDescriptorType, types.MemberDescriptorType):
            found: dict[str, Any] = static.__get__(value)
            return found
        return _eval_frame.instance_dict(value)
    except AttributeError:
        return {}


def may_change(cls: type) -> bool:
    """Whether attributes and bases of the class can be assigned."""
    return flags_of(cls) & (_IMMUTABLE_TYPE | _HEAP_TYPE) == _HEAP_TYPE


def is_data_descriptor(static: Any) -> bool:
    """Whether the class attribute takes precedence over the instance's own dict."""
    if static is ABSENT:
        return False
    kind = type(static)
    return lookup(kind, "__set__") is not ABSENT or lookup(kind, "__delete__") is not ABSENT
