"""Docstrings as reStructuredText: paragraphs, lists, code, and the sections Args to Example.

The docstrings are plain text with backticks around code; nothing else in them is markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises", "Example", "Examples")
TITLES = {"Args": "Arguments"}
NAMED = {"Args", "Attributes", "Raises"}
"""Sections whose lines are `name: text`."""
_HEAD = re.compile(rf"({'|'.join(SECTIONS)})::?(?:\s+(.*))?$")
_ENTRY = re.compile(r"(\*{0,2}\w[^:`]*?):(?:\s+(.*))?$")
_CODE = re.compile(r"(`+)(.+?)\1", re.S)
_ITEM = re.compile(r"([-*] |\d+\. )")


def inline(text: str) -> str:
    """A run of text: code between backticks, all else as it is written."""
    pieces, end = [], 0
    for match in _CODE.finditer(text):
        pieces.append(escaped(text[end:match.start()]))
        code = " ".join(match[2].split())
        pieces.append(rf"\ ``{code}``\ " if code else "")
        end = match.end()
    return "".join((*pieces, escaped(text[end:]))).strip()


def escaped(text: str) -> str:
    """Text in which no character is markup."""
    return re.sub(r"([\\*_|`])", r"\\\1", text)


def sections(doc: str) -> list[tuple[str, list[str]]]:
    """The parts of a docstring in order, by title; "" is what stands before the first one."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in doc.splitlines():
        head = _HEAD.match(line)
        if head:
            found.append((head[1], [head[2]] if head[2] else []))
        elif found[-1][0] and line and not line[0].isspace() and not continues(found[-1]):
            found.append(("", [line]))
        else:
            found[-1][1].append(line)
    return found


def continues(section: tuple[str, list[str]]) -> bool:
    """Whether a line at the margin goes on with a section, whose text began beside its title."""
    title, lines = section
    return title not in NAMED and bool(lines) and bool(lines[-1].strip())


def dedented(lines: list[str]) -> list[str]:
    """Lines without the indentation that all but the first have in common."""
    rest = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    if rest and rest[0] == 0 and len(rest) > 1 and min(rest[1:]) > 0:
        cut = min(rest[1:])
        return [lines[0], *(line[cut:] for line in lines[1:])]
    cut = min(rest, default=0)
    return [line[cut:] for line in lines]


def blocks(lines: list[str]) -> Iterator[list[str]]:
    """Lines grouped by the blank lines between them; code keeps its own blank lines."""
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line.rstrip())
        elif block:
            yield block
            block = []


def body(lines: list[str]) -> list[str]:
    """Paragraphs, lists and code."""
    out: list[str] = []
    for block in blocks(dedented(lines)):
        if block[0].lstrip().startswith(">>>"):
            out += code("pycon", dedented(block))
        elif all(line.startswith("    ") for line in block):
            out += code("python", dedented(block))
        elif _ITEM.match(block[0]):
            out += items(block)
        else:
            out += paragraph(block)
    return out


def shown(block: list[str]) -> list[str]:
    """A block of an example: a session, code, or the text between."""
    if all(line.startswith("    ") for line in block):
        lines = dedented(block)
        return code("pycon" if lines[0].startswith(">>>") else "python", lines)
    return body(block)


def paragraph(block: list[str]) -> list[str]:
    """Text; and a list or code that follows it without a blank line."""
    for at, line in enumerate(block[1:], 1):
        if _ITEM.match(line) or line.startswith("    "):
            rest = items(block[at:]) if _ITEM.match(line) else code("python", dedented(block[at:]))
            return [inline(" ".join(block[:at])), "", *rest]
    return [inline(" ".join(line.strip() for line in block)), ""]


def items(block: list[str]) -> list[str]:
    """A list, one item a line."""
    texts: list[str] = []
    for line in block:
        match = _ITEM.match(line)
        if match:
            texts.append(line[match.end():])
        else:
            texts[-1] += " " + line.strip()
    return [*(f"- {inline(text)}" for text in texts), ""]


def code(language: str, lines: list[str]) -> list[str]:
    """A block of code."""
    return [f".. code-block:: {language}", "", *("   " + line for line in lines), ""]


def named(lines: list[str]) -> list[str]:
    """The entries `name: text` of a section as a list; paragraphs, where it has none."""
    lines = dedented(lines)
    entries: list[tuple[str, list[str]]] = []
    for line in lines:
        match = _ENTRY.match(line)
        if match:
            entries.append((match[1], [match[2] or ""]))
        elif not entries:
            return body(lines)
        else:
            entries[-1][1].append(line.strip())
    listed = [f"- ``{name.strip()}``: {inline(' '.join(filter(None, text)))}"
              for name, text in entries]
    return [*listed, ""]


def to_rst(doc: str) -> list[str]:
    """The lines of a cleaned docstring (`inspect.getdoc`) as reStructuredText."""
    out: list[str] = []
    for title, lines in sections(doc):
        if not title:
            out += body(lines)
        elif title.startswith("Example"):
            out += ["**Example**", "", *(line for block in blocks(lines)
                                                 for line in shown(block))]
        else:
            out += [f"**{TITLES.get(title, title)}**", ""]
            out += named(lines) if title in NAMED else body(lines)
    return out


def summary(doc: str) -> str:
    """The first paragraph, as one run of text."""
    return inline(" ".join(line.strip() for line in next(iter(blocks(doc.splitlines())), [""])))
