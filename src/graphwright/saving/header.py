"""The header of a safetensors file, read entry by entry.

Each entry has to look as the format has it before its JSON is parsed, so that a header of another
shape costs what it takes to reach the first place where it differs, however long it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from graphwright.runtime.collecting import collector_at_rest

_QUOTED = 60
"""Characters of a file's text that a message repeats."""


class InvalidFile(ValueError):
    """A file that is not well-formed; the message says in what."""


_WS = r"[ \t\n\r]*+"
_STRING = r'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+"'
_NUMBERS = rf"\[{_WS}(?:[0-9]++(?:{_WS},{_WS}[0-9]++){{0,63}}+)?+{_WS}\]"


def _pairs(value: str, more: str) -> str:
    pair = rf"{_WS}{_STRING}{_WS}:{_WS}(?:{value}){_WS}"
    return rf"\{{{pair}(?:,{pair}){more}\}}"


_NAME = re.compile(rf"{_WS}({_STRING}){_WS}:{_WS}")
_ENTRY = re.compile(_pairs(rf"{_STRING}|{_NUMBERS}", "{2}"))
_METADATA = re.compile(rf"\{{{_WS}\}}|{_pairs(_STRING, '*+')}")
_NEXT = re.compile(rf"{_WS}([,}}])")
_EMPTY = re.compile(rf"\{{{_WS}\}}")
_REST = re.compile(_WS)


def entries(data: bytes) -> Iterator[tuple[str, Any]]:
    """The names and parsed entries of a header, `__metadata__` among them.

    Raises InvalidFile where the text is no UTF-8, no JSON or of another shape, or repeats a name.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidFile(f"not a safetensors file: the header is not UTF-8 ({error})") from None
    if not text.startswith("{"):
        raise InvalidFile(f"not a safetensors file: the header is not a map: {quoted(text)}")
    found, end = _EMPTY.match(text), 1
    names: set[str] = set()
    while found is None:
        name, end = _name(text, end)
        if name in names:
            raise InvalidFile(f"the header names the key {quoted(name)} twice")
        names.add(name)
        shape = _METADATA if name == "__metadata__" else _ENTRY
        value = shape.match(text, end)
        if value is None:
            wanted = (
                "a map of strings" if shape is _METADATA
                else "a map of dtype, shape and data_offsets"
            )  # fmt: skip
            raise InvalidFile(f"the header's entry {quoted(name)} is not {wanted}")
        empty = _EMPTY.fullmatch(value[0])
        yield name, {} if empty else parse_json(value[0], f"the header's entry {quoted(name)}")
        found, end = _NEXT.match(text, value.end()), value.end()
        if found is None:
            raise _malformed(text, end)
        end = found.end()
        found = found if found[1] == "}" else None
    if _REST.fullmatch(text, found.end()) is None:
        raise _malformed(text, found.end())


def _name(text: str, begin: int) -> tuple[str, int]:
    found = _NAME.match(text, begin)
    if found is None:
        raise _malformed(text, begin)
    name = json.loads(found[1])
    return name, found.end()


def _malformed(text: str, place: int) -> InvalidFile:
    return InvalidFile(
        f"not a safetensors file: the header is not JSON at character {place}: "
        f"{quoted(text[place : place + _QUOTED + 1])}"
    )


def quoted(text: str) -> str:
    """The text as a message shows it: not all of a long one."""
    return repr(text if len(text) <= _QUOTED else f"{text[:_QUOTED]}...")


def parse_json(text: str, what: str) -> Any:
    """JSON without repeated keys or empty maps, which nothing here writes. Raises InvalidFile."""
    try:
        with collector_at_rest():
            return json.loads(text, object_pairs_hook=_no_duplicates)
    except InvalidFile:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidFile(f"{what} is not JSON ({error})") from None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if not pairs:
        raise InvalidFile("a map is empty")
    if len(result) != len(pairs):
        raise InvalidFile("the header names a key twice")
    return result
