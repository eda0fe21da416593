"""How CPython 3.11 to 3.13 write instructions, lines and exception handlers as bytes.

Positions and lengths are counted in units of two bytes. The formats are those of
`Objects/locations.md` and `Objects/exception_handling_notes.txt` in CPython's source.
"""

from __future__ import annotations

import dis
import itertools
import opcode
from collections.abc import Iterable
from typing import Any

Place = tuple[int, tuple[int, int, int] | None]
_EXTENDED = dis.opmap["EXTENDED_ARG"]
_CACHES: Any = opcode._inline_cache_entries  # type: ignore[attr-defined]
_LINE_ONLY, _LONG, _NOWHERE, _LONGEST = 13, 14, 15, 8
_MORE, _FIRST = 0x40, 0x80


def instruction(name: str, arg: int) -> bytes:
    """One instruction with the prefixes that its argument needs."""
    if arg < 256:
        return bytes((dis.opmap[name], arg))
    parts = arg.to_bytes((arg.bit_length() + 7) // 8, "big")
    opcodes = [_EXTENDED] * (len(parts) - 1) + [dis.opmap[name]]
    return bytes(byte for pair in zip(opcodes, parts, strict=True) for byte in pair)


def caches_of(name: str) -> int:
    """How many units of the interpreter's own follow an instruction."""
    by_name = isinstance(_CACHES, dict)
    return int(_CACHES.get(name, 0) if by_name else _CACHES[dis.opmap[name]])


def line_table(places: Iterable[tuple[int, Place | None]], first: int) -> bytes:
    """The line table of code that begins at line `first`.

    places: numbers of units, each with what they stand for: the line and, where known, the last
    line, first and last column; None for nothing of the source.
    """
    result: list[bytes] = []
    line = first
    for place, run in itertools.groupby(places, key=lambda entry: entry[1]):
        units = sum(entry[0] for entry in run)
        if place is None:
            result.append(_entries(units, _NOWHERE, b"", b""))
        else:
            result.append(line_entries(units, place[0] - line, place))
            line = place[0]
    return b"".join(result)


def line_entries(units: int, delta: int, place: Place | None = None) -> bytes:
    """So many units, on a line so many further on than what stands before; columns if known."""
    first = _varint(-delta << 1 | 1 if delta < 0 else delta << 1)
    line, columns = place or (0, None)
    if columns is None:
        return _entries(units, _LINE_ONLY, first, bytes(1))
    last, start, end = columns
    ends = _varint(last - line) + _varint(start + 1) + _varint(end + 1)
    return _entries(units, _LONG, first + ends, bytes(1) + ends)


def _entries(units: int, kind: int, first: bytes, further: bytes) -> bytes:
    """Entries of a kind for so many units; the first one has other data than those behind it."""
    result = bytearray()
    for done in range(0, units, _LONGEST):
        result.append(_FIRST | kind << 3 | min(_LONGEST, units - done) - 1)
        result += further if done else first
    return bytes(result)


def _varint(number: int) -> bytes:
    """A number in groups of six bits, the lowest first; all but the last are marked."""
    groups = []
    while number > 63:
        groups.append(number & 63 | _MORE)
        number >>= 6
    return bytes([*groups, number])


def handler_table(handlers: Iterable[tuple[int, int, int, int, bool]]) -> bytes:
    """The exception table: start, end, target, depth of the stack, whether it wants the place.

    Numbers are in groups of six bits, the highest first; all but the last are marked, and the
    first group of an entry.
    """
    result = bytearray()
    for start, end, target, depth, lasti in handlers:
        entry: list[int] = []
        for field in (start, end - start, target, depth << 1 | lasti):
            groups = [field & 63]
            while field := field >> 6:
                groups.append(field & 63 | _MORE)
            entry += reversed(groups)
        result += bytes([entry[0] | _FIRST, *entry[1:]])
    return bytes(result)
