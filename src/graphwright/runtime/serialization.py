"""Files of weights, after `torch.serialization`: what may be in them, and their format."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.saving import InvalidFile, load, save
from graphwright.runtime.saving.allowed import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from graphwright.runtime.saving.archive import InvalidArchive
from graphwright.runtime.saving.formats import FORMATS
from graphwright.runtime.saving.placing import restored
from graphwright.runtime.saving.unpickling import RefusedObject
from graphwright.runtime.storage import TypedStorage, UntypedStorage

__all__ = [
    "FORMATS",
    "InvalidArchive",
    "InvalidFile",
    "RefusedObject",
    "add_safe_globals",
    "clear_safe_globals",
    "default_restore_location",
    "get_safe_globals",
    "load",
    "location_tag",
    "safe_globals",
    "save",
]


def location_tag(storage: UntypedStorage | TypedStorage) -> str:
    """Where a storage is, as files have it: "cpu" or "meta"."""
    return storage.device.type


def default_restore_location(storage: UntypedStorage, location: Any) -> UntypedStorage:
    """The storage where it was saved from. Raises RuntimeError for a device that is not there."""
    return restored(storage.nbytes(), lambda: storage, location)
