"""Attributes of instances of builtin types that are modelled: methods, and a few values."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

from graphwright.capture.exc import AttributeMissing, unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.values.namespaces import ABSENT, lookup

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

_METHODS = (
    types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType,
    types.BuiltinFunctionType,
)  # fmt: skip


def builtin_member(
    tx: Translator, kind: type, name: str, method: VariableTracker
) -> VariableTracker:
    """`value.name` of an instance of `kind`, which is `method` if the type has such a method."""
    found = lookup(kind, name)
    if found is ABSENT:
        raise AttributeMissing.of(kind, name)
    if isinstance(found, _METHODS):
        return method
    if found is None or type(found) is str:
        return tx.constant(found)
    unsupported("GB0008", f"attribute {name!r} of a {kind.__name__}")
