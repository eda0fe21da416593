"""Prints docstrings and comments of src, drawn by a seed, with the names that they belong to.

Usage: python tools/draw_comments.py [--seed N] [--count N] [FOLDER ...]

Whoever cannot understand one without the code beside it rewrites it.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "graphwright"
GENERATED = {"op_names.py"}
OWN_LINES = re.compile(r"(?:^[ \t]*#.*\n)+", re.M)


def texts(code: str) -> Iterator[tuple[int, str, str]]:
    """The line, the name and the text of each docstring, and of each comment on its own lines."""
    for node in ast.walk(ast.parse(code)):
        name = getattr(node, "name", "")
        statements = getattr(node, "body", ())
        for statement in statements if isinstance(statements, list) else ():
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.lineno, name, value.value
            name = ast.unparse(statement).partition(" = ")[0]
    for match in OWN_LINES.finditer(code):
        yield code.count("\n", 0, match.start()) + 1, "", match.group()


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw docstrings and comments by a seed.")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("folders", nargs="*", default=["."], help="folders of src/graphwright")
    given = parser.parse_args()
    paths = [path for folder in given.folders for path in sorted((SOURCE / folder).rglob("*.py"))]
    found = [
        (path, *text)
        for path in paths if path.name not in GENERATED
        for text in texts(path.read_text(encoding="utf-8"))
    ]
    print(f"seed {given.seed}: {given.count} of {len(found)}")
    for path, line, name, text in random.Random(given.seed).sample(found, given.count):
        print(f"\n{path.relative_to(SOURCE.parent.parent)}:{line} {name}\n    {text.strip()}")


if __name__ == "__main__":
    main()
