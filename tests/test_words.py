"""The project's prose uses the terms of its field, one for each thing.

What goes in: the comments and strings of `src` (Python and C; docstrings and messages are strings)
and the pages that people read. What comes out: no phrase of `PHRASES`. A failure gives the file,
the line, the phrase found and the words to write instead.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "graphwright"
# `tools/op_names.py` writes these from the op table, whose entries are read here.
GENERATED = {"op_names.py"}
# Stands for code, so that no phrase is found across it.
CODE = "\0"


class Phrase(NamedTuple):
    """A phrase to avoid, as a regular expression whose spaces match any white space."""

    pattern: str
    say: str

    def expression(self) -> re.Pattern[str]:
        return re.compile(r"\b(?:" + self.pattern.replace(" ", r"\s+") + r")\b", re.IGNORECASE)


PHRASES = (
    Phrase(r"that (?:vary|varies|varied)", "a dynamic or symbolic size or number"),
    Phrase(r"comput(?:e|es|ed|ing) (?:it |them |that |this )?again", "recompute"),
    Phrase(r"compil(?:e|es|ed|ing) (?:it |them |that |this )?again", "recompile"),
    Phrase(r"(?:take|takes|took|taken|taking) (?:it |them )?apart", "decompose, unpack"),
    Phrase(r"(?:run|runs|running) (?:by )?(?:its|their) parts", "decompose, inline"),
    Phrase(r"(?:let|lets|letting) (?:\w+ )?go", "release; its lifetime ends"),
    Phrase(r"(?:tell|tells|told|telling) (?:\w+ ){0,3}apart", "distinguish"),
    Phrase(r"tell|tells|told|telling", "report, log; say, state"),
    Phrase(r"what (?:it|they) gives?", "its output, its result"),
    Phrase(r"(?:that|what) (?:a )?gradients? (?:go|goes) to", "tangent, cotangent, gradient of"),
    Phrase(r"kept for (?:the )?backward", "saved for backward"),
    Phrase(r"(?:the )?same memory", "a view or alias of it; its storage; shares memory"),
    Phrase(r"(?:that|those) which", "the noun"),
)
EXPRESSIONS = [(phrase.expression(), phrase.say) for phrase in PHRASES]
# Finds the phrases with any marks between the words, in code too: most files have none of them.
BETWEEN = r"(?:\W|\b[rRfF]{1,2}(?=[\"']))+"
ROUGHLY = re.compile("|".join(p.pattern.replace(" ", BETWEEN) for p in PHRASES), re.IGNORECASE)

STRING_TOKENS = {
    tokenize.STRING,
    # The text between the braces of an f-string, which is a part of a STRING before Python 3.12.
    *(getattr(tokenize, name) for name in ("FSTRING_MIDDLE",) if hasattr(tokenize, name)),
}
C_PROSE = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<string>"(?:\\.|[^"\\\n])*")|'(?:\\.|[^'\\\n])'""", re.S
)
C_MARKS = re.compile(r"/\*+|\*+/|//+|^[ \t]*\*(?!/)", re.M)
FIELD = re.compile(r"\{[^{}]*\}")
PYTHON_MARKS = re.compile(r"^\s*#+|^[a-zA-Z]{0,2}(?:\"\"\"|'''|\"|')|(?:\"\"\"|'''|\"|')$")


def blanked(match: re.Match[str]) -> str:
    return " " * len(match.group())


def only_prose(text: str, spans: list[tuple[int, int, str]]) -> str:
    """`text` with each span replaced by its prose of equal length, and everything else by CODE;
    white space stays, and with it the number of each line."""
    pieces, end = [], 0
    for start, stop, prose in spans:
        pieces += [re.sub(r"\S", CODE, text[end:start]), prose]
        end = stop
    return "".join((*pieces, re.sub(r"\S", CODE, text[end:])))


def python_prose(text: str) -> str:
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    spans = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or token.type in STRING_TOKENS:
            start = lines[token.start[0] - 1] + token.start[1]
            stop = lines[token.end[0] - 1] + token.end[1]
            written = text[start:stop]
            if re.match("[rR]?[fF]", written):      # before Python 3.12 with the code in braces
                written = FIELD.sub(lambda match: CODE * len(match.group()), written)
            spans.append((start, stop, PYTHON_MARKS.sub(blanked, written)))
    return only_prose(text, spans)


def c_prose(text: str) -> str:
    spans = []
    for match in C_PROSE.finditer(text):
        if match.group("comment"):
            spans.append((*match.span(), C_MARKS.sub(blanked, match.group())))
        elif match.group("string"):
            spans.append((*match.span(), f" {match.group()[1:-1]} "))
    return only_prose(text, spans)


def prose(path: Path) -> str:
    """What people read of a file, at the lines where it stands; "" if it has no such phrase."""
    text = path.read_text(encoding="utf-8")
    if not ROUGHLY.search(text):
        return ""
    if path.suffix == ".py":
        return python_prose(text)
    return text if path.suffix == ".md" else c_prose(text)


def found(text: str) -> Iterator[tuple[int, str, str]]:
    """The line of each phrase to avoid, the phrase, and what to say instead."""
    taken: set[int] = set()
    for expression, say in EXPRESSIONS:
        for match in expression.finditer(text):
            if match.start() not in taken:
                taken.add(match.start())
                line = text.count("\n", 0, match.start()) + 1
                yield line, " ".join(match.group().split()), say


def files(*suffixes: str) -> list[Path]:
    return sorted(
        path for path in SOURCE.rglob("*")
        if path.suffix in suffixes and path.name not in GENERATED
    )


@pytest.mark.parametrize(
    "paths",
    [
        pytest.param(files(".py"), id="python"),
        pytest.param(files(".c", ".h"), id="c"),
        pytest.param(
            [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))],
            id="pages",
        ),
    ],
)
def test_prose_uses_the_terms_of_the_field(paths: list[Path]) -> None:
    assert paths
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {phrase!r}; say: {say}"
        for path in paths
        for line, phrase, say in sorted(found(prose(path)))
    ]
    if wrong:
        pytest.fail("\n".join((f"{len(wrong)} phrases", *wrong)), pytrace=False)


def test_titles_name_the_error() -> None:
    titles = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"#+ .*\b(?:is|are) refused\b", line)
    ]
    assert not titles, "name the error or the refusal with its exception type: " + str(titles)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('x = 1  # sizes that\n# vary\n', [(1, "that vary")]),
        ('"""One\n\nis computed\nagain."""\n', [(3, "computed again")]),
        ('error("taken "\n      "apart")\n', [(1, "taken apart")]),
        ('say(f"{value} is told")\n', [(1, "told")]),
        ('say(f"got {told}")\n', []),
        ('that = vary = tell  # of code\n', []),
        ('x = "that"\nvary = "vary"\n', []),
        ('# as foretold, telltale\n', []),
    ],
)
def test_phrases_are_found_in_prose_of_python_alone(
    source: str, expected: list[tuple[int, str]]
) -> None:
    assert [(line, phrase) for line, phrase, _ in found(python_prose(source))] == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("int a; /* sizes that\n * vary */\n", [(1, "that vary")]),
        ("f(); // let it go\n", [(1, "let it go")]),
        ('fail("is told \\"so\\"", 1);\n', [(1, "told")]),
        ("told = that(vary); /* of code */\n", []),
    ],
)
def test_phrases_are_found_in_prose_of_c_alone(
    source: str, expected: list[tuple[int, str]]
) -> None:
    assert [(line, phrase) for line, phrase, _ in found(c_prose(source))] == expected
