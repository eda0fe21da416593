"""Write (or with `--check` compare) the names of all ops, by the modules that define them.

The table is imported without the rest of the package: the layers may name an op that is not listed
yet.
"""

from __future__ import annotations

import importlib
import sys
import textwrap
import types
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parent.parent / "src" / "graphwright"
OPS = SOURCE / "runtime" / "ops"
TEXT = '''"""The names of the ops, by the modules of this folder that define them.

Written by tools/op_names.py; do not edit.
"""

from __future__ import annotations

FAMILIES = {{
{families}}}

METHODS = """
{methods}
"""
"""The ops that are methods of Tensor."""

INTERNAL = """
{internal}
"""
"""The ops that are no public functions."""

NAMES = {{name: family for family, names in FAMILIES.items() for name in names.split()}}
"""The module that defines each op."""
'''


def defining_modules() -> list[str]:
    """The modules below `ops` that define ops, all of which are defined afterwards."""
    families = importlib.import_module("graphwright.runtime.ops.families")
    table = importlib.import_module("graphwright.runtime.ops.table")
    found = []
    for path in sorted(OPS.rglob("*.py")):
        name = ".".join(path.relative_to(OPS).with_suffix("").parts)
        if path.name != "__init__.py":
            module = importlib.import_module(f"graphwright.runtime.ops.{name}")
            if table.defines_ops(module):
                found.append(name)
    for name in found:
        families.load(name)
    return sorted(found)


def text() -> str:
    """The text of `op_names.py`."""
    modules = defining_modules()
    table = importlib.import_module("graphwright.runtime.ops.table")
    entries: list[Any] = [table.TABLE[name] for name in sorted(table.TABLE)]
    ops = [op for op in entries if table.is_defined(op) and op.schema.params]
    families = ""
    for module in modules:
        names = " ".join(op.name for op in ops if op.family == module)
        line = f'    "{module}": "{names}",\n'
        if len(line) > 100:
            line = f'    "{module}": """\n{_wrapped(names, 8)}\n    """,\n'
        families += line
    methods = _wrapped(" ".join(op.name for op in ops if op.method), 4)
    internal = _wrapped(" ".join(op.name for op in ops if "internal" in op.tags), 4)
    return TEXT.format(families=families, methods=methods, internal=internal)


def _wrapped(names: str, indent: int) -> str:
    return textwrap.fill(names, 99, initial_indent=" " * indent, subsequent_indent=" " * indent,
                         break_long_words=False, break_on_hyphens=False)


def main(argv: list[str]) -> int:
    """Write the file; 1 where `--check` finds it out of date."""
    package = types.ModuleType("graphwright")
    package.__path__ = [str(SOURCE)]
    sys.modules["graphwright"] = package
    path, made = OPS / "op_names.py", text()
    stale = not path.exists() or path.read_text() != made
    if stale and "--check" not in argv:
        path.write_text(made)
    print("out of date: op_names.py" if stale else "up to date")
    return 1 if stale and "--check" in argv else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
