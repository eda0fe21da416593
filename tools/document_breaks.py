"""Writes docs/graph_breaks.md from the registry of codes and its examples.

The site has a page for each code besides (`pages`), which `tools/build_site.py` writes.

Usage: python tools/document_breaks.py [--check]
"""

from __future__ import annotations

import contextlib
import io
import linecache
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import graphwright as gw
from graphwright.capture.break_examples import EXAMPLES, Example
from graphwright.capture.breaks import BREAKS, BreakKind
from graphwright.capture.frame.budget import MOST_WITHOUT_TENSORS
from graphwright.face import notices
from graphwright.face.api import compilation_of

PAGE = Path(__file__).parent.parent / "docs" / "graph_breaks.md"
HEAD = f"""# Graph breaks and recompilations

Generated from the registry by `make docs`; do not edit. Tests run every example.

`gw.explain(f)(*args)` and `graphwright explain FILE.py:f` show what happened as a tree,
`GRAPHWRIGHT_LOGS=graph_breaks,recompiles` as it happens, `gw.compiler.stats(f)` counts it. The
first break of each function is reported in one line on standard error; `GRAPHWRIGHT_NOTICES=0` or
`gw.compiler.set_notices(False)` silences that.

A function in which no tensor operation is found runs as plain Python, at its speed:

- Without tensors it is looked at in its first call only. It is looked at again once an argument,
  or a variable that the function or one that it calls reads (a global, one of an enclosing
  function, an attribute of a class of the program), is or holds a value of a type that no call had
  before; or, of functions and generators, one with other code. Other numbers and texts are not
  looked at, nor what is beyond 16 levels (an instance and its dict are two), 64 members of one
  container (16 of them no numbers or texts) or 128 values in all.
- A call is without tensors where neither these values, however deep, nor the functions and classes
  that are named use a tensor, a module or anything of graphwright. With more than 1,000 values
  that are no numbers or texts it counts as one with tensors.
- At most 64 types are known at a time: with one more they are forgotten and learned anew, and when
  that has happened 64 times the function is left to Python for good.
- Tensors that come only from a call that capture does not know (`pickle.loads`, `queue.get`),
  before any operation, are not found: compile a function that is given them.
- None of this holds for `fullgraph=True`: there guards decide, as where there are tensors, so that
  a later call reports its graph breaks.
- With tensors, or where graphwright is named, it is looked at again when a guard fails: when what
  the absence of operations depended on is another.
- The search ends {MOST_WITHOUT_TENSORS:,} instructions after the last tensor operation (GB0018).
"""
PARTS = (
    ("Graph breaks and fallbacks", "The graph ends before the instruction, which runs as plain "
     "Python; the rest of the function is captured again. Where a function cannot be cut there, "
     "all of it runs as plain Python. The result is the same.",
     lambda code: code < "GB0100"),
    ("Recompilations", "A guard did not hold, so the function was captured once more for what it "
     "now sees.",
     lambda code: code >= "GB0100"),
)


def main(arguments: list[str]) -> int:
    """Write the page, or with --check say whether it is up to date."""
    text = document()
    if "--check" not in arguments:
        PAGE.write_text(text)
        return 0
    if PAGE.exists() and PAGE.read_text() == text:
        return 0
    print(f"{PAGE} is not what the registry says: run `make docs`", file=sys.stderr)
    return 1


def document() -> str:
    """The whole page."""
    lines = [HEAD]
    for title, text, belongs in PARTS:
        lines += [f"## {title}", "", text, ""]
        for code, kind in BREAKS.items():
            if belongs(code):
                lines += section(kind)
    return "\n".join(lines).rstrip() + "\n"


def pages() -> dict[str, str]:
    """A page for each code by file name: what happens, its cause, an example, the remedy."""
    texts = {}
    for title, text, belongs in PARTS:
        for code, kind in filter(lambda item: belongs(item[0]), BREAKS.items()):
            lines = [f"# {code}: {kind.title}", "", f"*{title}.* {text}", "",
                     f"**Cause**: {kind.title}.", "", *cause(code),
                     "**Remedy**:", *remedy(kind)]
            texts[f"{code}.md"] = "\n".join(lines).rstrip() + "\n"
    entries = "\n".join(BREAKS)
    texts["index.md"] = ("# Each code on a page\n\n[All on one page](../graph_breaks.md), with "
                         "what holds for all of them.\n\n```{toctree}\n:maxdepth: 1\n\n"
                         f"{entries}\n```\n")
    return texts


def cause(code: str) -> list[str]:
    """What is reported of the program "before", which is run here."""
    example = EXAMPLES.get(code)
    found = reported(code, example) if example else ""
    return ["Of the first program below, `explain` says:", "", "```text", found, "```", ""
            ] if found else []


def reported(code: str, example: Example) -> str:
    """The line of a program at which the code comes up, and what is said of it."""
    space: dict[str, Any] = {"gw": gw, "__name__": "example"}
    source = example.before.strip("\n") + "\n"
    notices.set_notices(False)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), \
            contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "example.py")
        path.write_text(source)
        exec(compile(source, str(path), "exec"), space)
        space["f"] = gw.compile(space["f"], **({"backend": "eager"} | example.options))
        for call in example.calls:
            # What a call raises is what it raises without compilation.
            with contextlib.suppress(Exception):
                exec(call, space)
        record = compilation_of(space["f"]).record
        linecache.checkcache(str(path))
    notices.set_notices(True)
    for entry in record.breaks:
        if entry.code == code:
            return f"{entry.location.source}\n    {entry.title}: {entry.detail}".lstrip()
    for change in record.recompiles:
        if change.code == code:
            reasons = "".join(f"\n    {reason}" for reason in change.reasons)
            return f"{change.location.source}\n    {change.title}{reasons}"
    return ""


def section(kind: BreakKind) -> list[str]:
    """One code: what it means, what to do, a program before and after."""
    return [f"### {kind.code}: {kind.title}", "", *remedy(kind)]


def remedy(kind: BreakKind) -> list[str]:
    """What to do, and a program before and after."""
    lines = [kind.advice, ""]
    example = EXAMPLES.get(kind.code)
    if example is None:
        return [*lines, "No program is known that has it.", ""]
    after = example.after if example.after != example.before else ""
    return [
        *lines,
        "Before:", "", *block(example.before, example.calls, example.options),
        "After:", "",
        *block(after, example.calls_after or example.calls,
               example.options_after or example.options),
    ]


def block(source: str, calls: tuple[str, ...], options: dict[str, Any]) -> list[str]:
    """A program as Python code: definitions, the compilation, the calls."""
    words = "".join(f", {name}={value!r}" for name, value in options.items())
    made = f"f = gw.compile(f{words})".replace("'", '"')
    parts = [source.strip("\n"), "", made, *calls] if source else [made, *calls]
    return ["```python", *parts, "```", ""]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
