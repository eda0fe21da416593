"""Files of weights, after `torch.serialization`: what may be in them, and their format."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, BinaryIO, NoReturn

from graphwright.runtime.tensor.device import device
from graphwright.runtime.tensor.storage import TypedStorage, UntypedStorage
from graphwright.saving import InvalidFile, load, save
from graphwright.saving.allowed import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from graphwright.saving.archive import InvalidArchive
from graphwright.saving.checkpoint import is_checkpoint, names_not_allowed
from graphwright.saving.files import Path, content_of
from graphwright.saving.formats import FORMATS
from graphwright.saving.placing import restored
from graphwright.saving.unpickling import RefusedObject

__all__ = [
    "DEFAULT_PROTOCOL",
    "FORMATS",
    "MAP_LOCATION",
    "InvalidArchive",
    "InvalidFile",
    "LoadEndianness",
    "RefusedObject",
    "add_safe_globals",
    "clear_safe_globals",
    "default_restore_location",
    "get_default_load_endianness",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "location_tag",
    "register_package",
    "safe_globals",
    "save",
    "set_default_load_endianness",
    "skip_data",
]

DEFAULT_PROTOCOL = 2
"""The version of pickle's format in the files that `save` writes."""
MAP_LOCATION = Callable[[Any, str], Any] | device | str | dict[str, str] | None
"""What `load` takes as `map_location`."""


class LoadEndianness(Enum):
    """The order of bytes in files that do not say theirs."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


_ENDIANNESS: list[LoadEndianness | None] = [None]


def get_default_load_endianness() -> LoadEndianness | None:
    """What `set_default_load_endianness` was given; None: the machine's."""
    return _ENDIANNESS[0]


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Say how files that do not say their order of bytes are read, which is as this machine's.

    Raises TypeError for what is no LoadEndianness or None, NotImplementedError for BIG.
    """
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    if endianness is LoadEndianness.BIG:
        raise NotImplementedError("graphwright reads files in little-endian order alone")
    _ENDIANNESS[0] = endianness


def register_package(
    priority: int, tagger: Callable[..., Any], deserializer: Callable[..., Any]
) -> NoReturn:
    """Raises NotImplementedError: it is for devices of third parties, of which there are none."""
    raise NotImplementedError(
        "serialization.register_package: graphwright has no devices of third parties, whose "
        "storages a package would save and restore"
    )


class skip_data:
    """A `with` block in which files have no data; entering it raises NotImplementedError."""

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(
            "serialization.skip_data: graphwright saves and loads files with their data; "
            "load(mmap=True) reads data only where it is used"
        )

    def __exit__(self, *error: Any) -> None:
        """Never reached: it is not entered."""


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
