"""Zip archives as `torch.save` writes them: records of plain bytes below one folder.

No record is compressed, so each is a range of the file, and what an archive says of itself can be
checked whole before any of it is used.

Format: PKWARE's APPNOTE, sections 4.3 to 4.5 (zip64 included).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from graphwright.saving.files import Array
from graphwright.saving.header import InvalidFile, quoted

BEGINNING = b"PK\x03\x04"
ALIGNMENT = 64
"""Bytes of which the place of each record's data is a multiple."""

_LOCAL = struct.Struct("<4s5H3I2H")
_ENTRY = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_LOCATOR = struct.Struct("<4sIQI")
_END64 = struct.Struct("<4sQ2H2I4Q")
_EXTRA = struct.Struct("<2H")

_DESCRIPTOR, _UTF8 = 0x0008, 0x0800
"""Flags: sizes may stand behind the data; the name is UTF-8."""
_ZIP64, _PADDING = 0x0001, 0x4246
"""Kinds of extra fields: sizes of 64 bits; nothing, of a length."""
_MANY, _LARGE = 0xFFFF, 0xFFFFFFFF
"""Counts and sizes from which on zip64 has them."""
_LARGE_FROM = _LARGE
"""Sizes and places from which on zip64 has them in what is written."""
_VERSION, _DAY = 45, 0x21


class InvalidArchive(InvalidFile, RuntimeError):
    """A file of `torch.save` that is cut short, damaged or not well-formed."""


class Archive:
    """A checked archive: `records` by name below the folder, as ranges of the file.

    Raises InvalidArchive where records are compressed, encrypted, overlap, lie outside of the
    file or occur twice, where names lead out of the folder, or where sizes do not agree; and for
    archives of TorchScript, which have a record `constants.pkl`.
    """

    def __init__(self, content: Array) -> None:
        self._content = content
        self._text = memoryview(content)  # type: ignore[arg-type]
        self.records: dict[str, tuple[int, int]] = {}
        self._sums: dict[str, int] = {}
        begin, end, count = self._directory()
        entries = list(self._entries(begin, end, count))
        folder = entries[0][0].partition("/")[0] if entries else ""
        if any(entry[0] == f"{folder}/constants.pkl" for entry in entries):
            raise InvalidArchive(
                "the file is a TorchScript archive, a program with its weights, and graphwright "
                "runs no TorchScript: in PyTorch, load it with torch.jit.load and save its "
                "state_dict() with torch.save"
            )
        places = []
        for name, offset, size, packed, method, flags, checksum in entries:
            _check_name(name, folder)
            record = name.removeprefix(f"{folder}/")
            if method or size != packed:
                raise InvalidArchive(
                    f"the record {quoted(name)} is compressed, as torch.save does not: extract "
                    "the archive and zip it without compression"
                )
            if flags & ~(_DESCRIPTOR | _UTF8):
                raise InvalidArchive(f"the record {quoted(name)} is encrypted or patched")
            if record in self.records:
                raise InvalidArchive(f"the archive has the record {quoted(name)} twice")
            data = self._data(name, offset, size, flags)
            if data + size > begin:
                raise InvalidArchive(f"the record {quoted(name)} lies outside of the archive")
            self.records[record], self._sums[record] = (data, data + size), checksum
            places.append((offset, data + size))
        places.sort()
        for (_, behind), (start, _) in pairwise(places):
            if start < behind:
                raise InvalidArchive("records of the archive overlap")

    def array(self, name: str) -> Array:
        """The bytes of a record, which has to be there, in the file's memory."""
        begin, end = self.records[name]
        return self._content[begin:end]

    def text(self, name: str) -> bytes:
        """The bytes of a record. InvalidArchive where it is not there."""
        if name not in self.records:
            raise InvalidArchive(f"the archive has no record {quoted(name)}")
        self.check(name)
        return self.array(name).tobytes()

    def check(self, name: str) -> None:
        """Raises InvalidArchive where a record's bytes are not those that were written.

        A checksum of 0 is none: PyTorch writes it where checksums are switched off.
        """
        content, checksum = self._text[slice(*self.records[name])], self._sums[name]
        if checksum and zlib.crc32(content) != checksum:
            raise InvalidArchive(f"the record {quoted(name)} is damaged: its checksum is another")

    def _unpack(self, form: struct.Struct, place: int, mark: bytes, what: str) -> tuple[Any, ...]:
        """The fields of a structure that begins with `mark`."""
        if not 0 <= place <= len(self._text) - form.size:
            raise InvalidArchive(f"the archive is cut short: {what} is missing")
        fields = form.unpack_from(self._text, place)
        if fields[0] != mark:
            raise InvalidArchive(f"the archive is damaged or cut short: {what} is missing")
        return fields[1:]

    def _directory(self) -> tuple[int, int, int]:
        """Where the directory begins and ends, and of how many entries it is."""
        end = len(self._text) - _END.size
        *disks, count, size, begin, comment = self._unpack(
            _END, end, b"PK\x05\x06", "the end of the directory"
        )
        if comment or disks not in ([0, 0, count], [0, 0, _MANY]):
            raise InvalidArchive("the archive has several parts or a comment")
        locator = end - _LOCATOR.size
        if bytes(self._text[max(locator, 0) :][:4]) == b"PK\x06\x07":
            first, end, parts = self._unpack(_LOCATOR, locator, b"PK\x06\x07", "a locator")
            if first or parts not in (0, 1) or end + _END64.size != locator:
                raise InvalidArchive("the archive's directory is malformed")
            length, _, _, *disks, own, count, size, begin = self._unpack(
                _END64, end, b"PK\x06\x06", "the end of the directory"
            )
            if length != _END64.size - 12 or any(disks) or own != count:
                raise InvalidArchive("the archive's directory is malformed")
        if begin + size != end or count * _ENTRY.size > size:
            raise InvalidArchive("the archive's directory is malformed")
        return begin, end, count

    def _entries(
        self, place: int, end: int, count: int
    ) -> Iterator[tuple[str, int, int, int, int, int, int]]:
        """Name, place, size, stored size, method, flags and checksum of each entry."""
        for _ in range(count):
            fields = self._unpack(_ENTRY, place, b"PK\x01\x02", "an entry of the directory")
            _, _, flags, method, _, _, checksum, packed, size, *lengths, _, _, _, offset = fields
            long, more, comment = lengths
            place += _ENTRY.size
            if place + long + more + comment > end:
                raise InvalidArchive("the archive's directory is malformed")
            raw = bytes(self._text[place : place + long])
            try:
                name = raw.decode("utf-8")
            except UnicodeDecodeError:
                raise InvalidArchive(f"the record {raw[:60]!r} has a name not in UTF-8") from None
            extra = self._text[place + long : place + long + more]
            size, packed, offset = _wide([size, packed, offset], extra, name)
            yield name, offset, size, packed, method, flags, checksum
            place += long + more + comment
        if place != end:
            raise InvalidArchive("the archive's directory is malformed")

    def _data(self, name: str, offset: int, size: int, flags: int) -> int:
        """Where the data of the record begins whose own header is at `offset`."""
        _, own, method, _, _, _, packed, real, long, more = self._unpack(
            _LOCAL, offset, BEGINNING, f"the record {quoted(name)}"
        )
        place = offset + _LOCAL.size
        if bytes(self._text[place : place + long]) != name.encode():
            raise InvalidArchive(f"the record {quoted(name)} has another name at its place")
        extra = self._text[place + long : place + long + more]
        real, packed = _wide([real, packed], extra, name)
        later = flags & _DESCRIPTOR and real == packed == 0
        if method or own != flags or not (later or real == packed == size):
            raise InvalidArchive(f"the record {quoted(name)} is described in two ways")
        return place + long + more


def _check_name(name: str, folder: str) -> None:
    parts = name.split("/")
    if not folder or parts[0] != folder or len(parts) < 2:
        raise InvalidArchive(f"the record {quoted(name)} is not in the archive's folder")
    if ".." in parts or "." in parts or "\\" in name or "\0" in name:
        raise InvalidArchive(f"the record {quoted(name)} has a name that leads elsewhere")


def _wide(values: list[int], extra: memoryview, name: str) -> list[int]:
    """Sizes and places, those of 64 bits from the extra fields where they are."""
    while len(extra) >= _EXTRA.size:
        kind, length = _EXTRA.unpack_from(extra)
        body, extra = extra[_EXTRA.size :][:length], extra[_EXTRA.size + length :]
        if kind == _ZIP64:
            for index, value in enumerate(values):
                if value == _LARGE and len(body) >= 8:
                    values[index] = int.from_bytes(body[:8], "little")
                    body = body[8:]
    if _LARGE in values:
        raise InvalidArchive(f"the record {quoted(name)} does not say how large it is")
    return values


def archived(records: Iterable[tuple[str, Any]]) -> Iterator[Any]:
    """The parts of an archive of the records, which are bytes or contiguous arrays of them.

    Each record's data is at a multiple of `ALIGNMENT`. The last record, `.data/serialization_id`,
    is a number that depends on all names and contents.
    """
    place, count, names, sums = 0, 0, 0, 0
    directory: list[bytes] = []

    def record(name: str, data: Any) -> Iterator[Any]:
        nonlocal place, count, names, sums
        path, size, check = f"archive/{name}".encode(), memoryview(data).nbytes, zlib.crc32(data)
        names, sums = zlib.crc32(path, names), zlib.crc32(check.to_bytes(4, "little"), sums)
        large = [size, size] if size >= _LARGE_FROM else []
        extra = _extra64(large)
        padding = -(place + _LOCAL.size + len(path) + len(extra) + _EXTRA.size) % ALIGNMENT
        extra += _EXTRA.pack(_PADDING, padding) + b"Z" * padding
        short = _LARGE if large else size
        common = (_UTF8, 0, 0, _DAY, check, short, short, len(path))
        header = _LOCAL.pack(BEGINNING, _VERSION, *common, len(extra)) + path + extra
        far = place >= _LARGE_FROM
        wide = _extra64([*large, place] if far else large)
        entry = (b"PK\x01\x02", _VERSION, _VERSION, *common, len(wide), 0, 0, 0, 0)
        directory.append(_ENTRY.pack(*entry, _LARGE if far else place) + path + wide)
        place, count = place + len(header) + size, count + 1
        yield header
        yield data

    for name, data in records:
        yield from record(name, data)
    yield from record(".data/serialization_id", f"{names:020d}{sums:020d}".encode())
    entries = b"".join(directory)
    yield entries
    size, begin = len(entries), place
    if count >= _MANY or max(size, begin) >= _LARGE_FROM:
        length = _END64.size - 12
        counts = (0, 0, count, count, size, begin)
        yield _END64.pack(b"PK\x06\x06", length, _VERSION, _VERSION, *counts)
        yield _LOCATOR.pack(b"PK\x06\x07", 0, begin + size, 1)
    short = min(count, _MANY)
    yield _END.pack(
        b"PK\x05\x06", 0, 0, short, short, min(size, _LARGE), min(begin, _LARGE), 0
    )


def _extra64(values: list[int]) -> bytes:
    """The extra field of values that take 64 bits."""
    if not values:
        return b""
    return _EXTRA.pack(_ZIP64, 8 * len(values)) + struct.pack(f"<{len(values)}Q", *values)
