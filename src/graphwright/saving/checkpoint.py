"""Files of `torch.save`: a zip archive of one pickle, and of the bytes of each storage.

    data.pkl                the pickle
    byteorder               "little" or "big"
    data/0, data/1, ...     the storages
    version                 of the format
    .data/serialization_id  a number that depends on the contents
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from graphwright.saving.allowed import Allowed, Noting
from graphwright.saving.archive import BEGINNING, Archive, InvalidArchive, archived
from graphwright.saving.files import Array
from graphwright.saving.header import InvalidFile
from graphwright.saving.pickling import Pickler
from graphwright.saving.placing import Place, placing
from graphwright.saving.rebuilding import Storages
from graphwright.saving.unpickling import Interpreter

_VERSION = 3
_LAST_VERSION = 10


def is_checkpoint(content: Array) -> bool:
    """Whether a file begins as a zip archive, and not as a safetensors file may."""
    start = content[:9].tobytes()
    return start.startswith(BEGINNING) and not start.endswith(b"{")


def checkpoint_parts(obj: Any) -> Iterator[Any]:
    """The parts of a file that holds the state `obj`. Raises what `save` does."""
    pickler = Pickler()
    pickler.encode(obj, "obj", 0)
    records: list[tuple[str, Any]] = [
        ("data.pkl", pickler.pickle()),
        ("byteorder", sys.byteorder.encode()),
        *((f"data/{number}", s._array) for number, s in enumerate(pickler.storages)),
        ("version", f"{_VERSION}\n".encode()),
    ]
    return archived(records)


def read_checkpoint(content: Array, mapped: bool, place: Place, encoding: str) -> Any:
    """The state in a file, by the list of what makes weights. Raises InvalidFile."""
    pickle, storages = _opened(content, mapped, place)
    return Interpreter(pickle, Allowed(), storages, storages.persistent, encoding).run()


def names_not_allowed(content: Array) -> list[str]:
    """What a file names that is not on the list. Raises InvalidFile."""
    pickle, storages = _opened(content, True, placing("meta"))
    names = Noting()
    Interpreter(pickle, names, storages, storages.persistent, "bytes").run()
    return names.refused


def _opened(content: Array, mapped: bool, place: Place) -> tuple[bytes, Storages]:
    """The pickle of a file, and its storages."""
    archive = Archive(content)
    if "data.pkl" not in archive.records:
        raise InvalidArchive("the file is a zip archive without data.pkl, not one of torch.save")
    version = archive.text("version").strip()
    if not version.isdigit() or not 0 < int(version[:9]) <= _LAST_VERSION:
        raise InvalidArchive(
            f"the archive has version {version[:20]!r} of the format, not 1 to {_LAST_VERSION}"
        )
    order = archive.text("byteorder") if "byteorder" in archive.records else b"little"
    if order not in (b"little", b"big"):
        raise InvalidArchive(f"the archive has the byte order {order[:20]!r}, not little or big")
    storages = Storages(archive, mapped, order.decode() != sys.byteorder, place)
    return archive.text("data.pkl"), storages


_LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""The magic number with which files begin that are no archives, as a pickle."""


def refuse_legacy(content: Array) -> None:
    """InvalidFile for a file of `torch.save` before 1.6."""
    if content[: len(_LEGACY)].tobytes() == _LEGACY:
        raise InvalidFile(
            "the file is of torch.save before PyTorch 1.6, or with "
            "_use_new_zipfile_serialization=False, a format that graphwright does not read: load "
            "it with PyTorch and save it anew"
        )
