"""Writes docs/graph_breaks.md from the registry of codes and its examples.

Usage: python tools/document_breaks.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from graphwright.capture.break_examples import EXAMPLES
from graphwright.capture.breaks import BREAKS, BreakKind
from graphwright.capture.frame.budget import MOST_WITHOUT_TENSORS

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


def section(kind: BreakKind) -> list[str]:
    """One code: what it means, what to do, a program before and after."""
    lines = [f"### {kind.code}: {kind.title}", "", kind.advice, ""]
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
