"""Archives of torch files that contradict themselves, are cut short or damaged."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest
from tests.saving.torch_files import (
    DATA,
    GOOD,
    SIXTEEN,
    archive,
    refused,
    zipped,
)

import graphwright as gw
from graphwright.saving import InvalidFile
from graphwright.serialization import InvalidArchive


def _entry(content: bytes, record: str) -> int:
    """Where the directory's entry of a record begins."""
    place = content.rindex(record.encode())
    return place - 46


def _patched(place: int, form: str, *values: int) -> Callable[[bytes, int], bytes]:
    """A change of a field of the directory's entry."""

    def patch(content: bytes, entry: int) -> bytes:
        raw = struct.pack(form, *values)
        return content[: entry + place] + raw + content[entry + place + len(raw) :]

    return patch


ENTRIES = {
    "compressed": _patched(10, "<H", 8), "encrypted": _patched(8, "<H", 1),
    "strongly encrypted": _patched(8, "<H", 0x41), "two sizes": _patched(24, "<I", 17),
    "larger than it is": _patched(20, "<2I", 17, 17),
    "smaller than it is": _patched(20, "<2I", 15, 15),
    "of 4 GB": _patched(20, "<2I", 2**32 - 2, 2**32 - 2), "of unknown size": _patched(
        20, "<2I", 2**32 - 1, 2**32 - 1), "at another's place": _patched(42, "<I", 0),
    "beyond the file": _patched(42, "<I", 2**31), "in the directory": _patched(42, "<I", 700),
    "with a long name": _patched(28, "<H", 65535),
    "with a long comment": _patched(32, "<H", 65535),
    "with no name": _patched(28, "<H", 0), "no entry": _patched(0, "<I", 0),
}  # fmt: skip


@pytest.mark.parametrize("case", ENTRIES)
def test_damaged_entries_are_refused(case: str) -> None:
    content = archive(GOOD, SIXTEEN)
    assert gw.load(io.BytesIO(content)).tolist() == [0] * 4
    refused(ENTRIES[case](content, _entry(content, "archive/data/0")), InvalidArchive)


def test_records_with_another_checksum_are_refused_where_they_are_read() -> None:
    content = archive(GOOD, SIXTEEN)
    place = content.index(bytes(16), content.index(b"archive/data/0"))
    damaged = content[:place] + b"\1" + content[place + 1 :]
    refused(damaged, InvalidArchive)
    without = _patched(16, "<I", 0)(damaged, _entry(damaged, "archive/data/0"))
    assert gw.load(io.BytesIO(without)).tolist() != [0] * 4     # PyTorch writes 0 on request


def _ends(count: int, size: int, begin: int) -> bytes:
    """A whole archive whose end says other things of the directory."""
    content = archive(GOOD, SIXTEEN)
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count & 0xFFFF, count & 0xFFFF, size, begin, 0)
    return content[:-22] + end


def _with(**records: bytes | None) -> bytes:
    return archive(GOOD, SIXTEEN, **records)


def _twice() -> bytes:
    content = zipped({"archive/data.pkl": GOOD, "archive/version": b"3",
                      "archive/data/0": b"x" * 16, "archive/data/1": b"y" * 16})  # fmt: skip
    return content.replace(b"archive/data/1", b"archive/data/0")


def _overlapping() -> bytes:
    """Two records of one place: the second one's header stands in the data of the first."""
    inner = zipped({"archive/data/1": b"z" * 16})
    body = inner[: inner.index(b"PK\1\2")]
    content = zipped({"archive/data.pkl": GOOD, "archive/version": b"3", "archive/data/0": body,
                      "archive/data/1": b"z" * 16})  # fmt: skip
    place = content.index(body)
    return _patched(42, "<I", place)(content, _entry(content, "archive/data/1"))


def _others(first: str) -> bytes:
    return zipped({"archive/data.pkl": GOOD, first: b"x", "archive/version": b"3",
                   "archive/data/0": b"\0" * 16})  # fmt: skip


def _bomb() -> bytes:
    records = {"archive/data.pkl": b"\0" * 10**7, "archive/version": b"3"}
    return zipped(records, zipfile.ZIP_DEFLATED)


ARCHIVES = {
    "a zip bomb": _bomb(), "no data.pkl": _with(**{"data.pkl": None}),
    "no version": _with(version=None), "version of text": _with(version=b"x"),
    "version 0": _with(version=b"0"), "a later version": _with(version=b"11"),
    "a long version": _with(version=b"1" * 10**5),
    "byte order of text": _with(byteorder=b"middle"), "empty byte order": _with(byteorder=b""),
    "a name with ..": _others("archive/../x"), "an absolute name": _others("/etc/passwd"),
    "another folder": _others("other/x"), "no folder": _others("x"),
    "a backslash": _others("archive/..\\x"), "a name with a zero": _others("archive/x").replace(
        b"archive/x", b"archive/\0"), "a name not in UTF-8": _others("archive/x").replace(
        b"archive/x", b"archive/\xff"), "one record twice": _twice(), "overlap": _overlapping(),
    "another name at its place": _others("archive/x").replace(b"archive/x", b"archive/y", 1),
    "more entries": _ends(9, 10, 0), "no entries": _ends(0, 0, 0),
    "a directory of 4 GB": _ends(4, 2**32 - 1, 0),
    "65535 entries": _ends(65535, 2**32 - 1, 2**32 - 1),
    "something behind": archive(GOOD, SIXTEEN) + b"x", "only a beginning": b"PK\3\4" + b"\0" * 100,
    "only an end": b"PK\3\4" + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 0, 0, 0, 4, 0),
}  # fmt: skip


@pytest.mark.parametrize("case", ARCHIVES)
def test_archives_that_contradict_themselves_are_refused(case: str) -> None:
    tracemalloc.start()
    try:
        refused(ARCHIVES[case], InvalidArchive)
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("fields", [
    (44, 0, 0, 9, 9, 100, 0), (44, 0, 0, 4, 5, 200, 0), (44, 1, 0, 4, 4, 200, 0),
    (2**63, 0, 0, 4, 4, 200, 0), (44, 0, 0, 2**63, 2**63, 200, 0), (44, 0, 0, 4, 4, 2**63, 2**63),
])  # fmt: skip
def test_ends_of_64_bits_that_contradict_are_refused(fields: tuple[int, ...]) -> None:
    content = archive(GOOD, SIXTEEN)[:-22]
    length, *rest = fields
    end = struct.pack("<4sQ2H2I4Q", b"PK\6\6", length, 45, 45, *rest)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, len(content), 1)
    last = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 65535, 65535, 2**32 - 1, 2**32 - 1, 0)
    refused(content + end + locator + last, InvalidArchive)


# -- damage


def _golden() -> list[bytes]:
    stems = ("state_dict", "optimizer", "tensors", "values_2", "values_4", "dtypes")
    return [(DATA / f"{stem}.pt").read_bytes() for stem in stems]


def _attempt(content: bytes) -> None:
    with suppress(InvalidFile):
        gw.load(io.BytesIO(content), "cpu")


def test_files_cut_short_anywhere_are_refused() -> None:
    for content in _golden():
        end = len(content)
        for place in {*range(0, end, 41), *range(end - 100, end), 1, 2, 3, 4}:
            with pytest.raises(InvalidFile):
                gw.load(io.BytesIO(content[:place]))


def _damaged(content: bytes, rng: np.random.Generator) -> bytes:
    data = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        kind, place = rng.integers(5), int(rng.integers(len(data)))
        if kind == 0:
            data[place] = int(rng.integers(256))
        elif kind == 1:
            data[place] ^= 1 << int(rng.integers(8))
        elif kind == 2:
            del data[place : place + int(rng.integers(1, 9))]
        elif kind == 3:
            data[place:place] = rng.bytes(int(rng.integers(1, 9)))
        else:
            end = place + int(rng.integers(1, 65))
            start = int(rng.integers(len(data)))
            data[place:end] = data[start : start + end - place]
        if not data:
            break
    return bytes(data)


def _damaged_pickle(content: bytes, rng: np.random.Generator) -> bytes:
    """The archive with damage in its pickle alone, so that the interpreter sees it."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        records = {name: file.read(name) for name in file.namelist()}
    (pickled,) = (name for name in records if name.endswith("data.pkl"))
    return zipped({**records, pickled: _damaged(records[pickled], rng)})


def _fuzz(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    for content in _golden():
        for _ in range(count):
            _attempt(_damaged(content, rng))
            _attempt(_damaged_pickle(content, rng))


def test_damaged_files_are_refused_or_read() -> None:
    _fuzz(0, 40)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 17))
def test_many_damaged_files_are_refused_or_read(seed: int) -> None:
    _fuzz(seed, 4000)
