"""Count the lines of src, without docstrings and generated stubs, and the files of each folder.

    python tools/count_lines.py [FOLDER]
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def docstring_lines(source: str) -> int:
    """The lines of all docstrings, also those below assignments and those given as `doc=`."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword) and node.arg == "doc":
            lines.update(range(node.value.lineno, (node.value.end_lineno or 0) + 1))
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else []:
            value = getattr(statement, "value", None)
            if (isinstance(statement, ast.Expr) and isinstance(value, ast.Constant)
                    and isinstance(value.value, str)):
                lines.update(range(statement.lineno, (statement.end_lineno or 0) + 1))
    return len(lines)


def main() -> None:
    """Print the lines by language, and the folders with most files."""
    top = ROOT / (sys.argv[1] if len(sys.argv) > 1 else "src")
    lines: Counter[str] = Counter()
    files: Counter[Path] = Counter()
    for path in sorted(top.rglob("*")):
        if path.suffix not in (".py", ".c", ".h"):
            continue
        text = path.read_text()
        files[path.parent] += 1
        lines["Python" if path.suffix == ".py" else "C"] += text.count("\n")
        if path.suffix == ".py":
            lines["docstrings"] += docstring_lines(text)
    print(f"Python {lines['Python'] - lines['docstrings']} (and {lines['docstrings']} of "
          f"docstrings), C {lines['C']}: {lines['Python'] - lines['docstrings'] + lines['C']}")
    for folder, count in files.most_common(8):
        print(f"{count:4} files in {folder.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
