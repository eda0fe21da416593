"""Files of weights, after `torch.serialization`: what may be in them, and their format."""

from __future__ import annotations

from typing import Any, BinaryIO

from graphwright.runtime.saving import InvalidFile, load, save
from graphwright.runtime.saving.allowed import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from graphwright.runtime.saving.archive import InvalidArchive
from graphwright.runtime.saving.checkpoint import is_checkpoint, names_not_allowed
from graphwright.runtime.saving.files import Path, content_of
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
    "get_unsafe_globals_in_checkpoint",
    "load",
    "location_tag",
    "safe_globals",
    "save",
]


def get_unsafe_globals_in_checkpoint(f: Path | BinaryIO) -> list[str]:
    """The functions and classes that a torch file names and that `load` refuses, by full name.

    Nothing of the file runs, and no storage is read. Raises ValueError for a file of another
    format, InvalidFile for one that is malformed, RefusedObject (one of these) where it holds
    what graphwright lacks.
    """
    content = content_of(f, True)
    if not is_checkpoint(content):
        raise ValueError("the file is no zip archive of torch.save")
    return names_not_allowed(content)


def location_tag(storage: UntypedStorage | TypedStorage) -> str:
    """Where a storage is, as files have it: "cpu" or "meta"."""
    return storage.device.type


def default_restore_location(storage: UntypedStorage, location: Any) -> UntypedStorage:
    """The storage where it was saved from. Raises RuntimeError for a device that is not there."""
    return restored(storage.nbytes(), lambda: storage, location)
