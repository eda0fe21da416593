"""Write (or with `--check` compare) what is generated from the op table.

The table is imported without the rest of the package: the layers may name an op whose wrapper
this is about to write.
"""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src" / "graphwright"


def main(argv: list[str]) -> int:
    """Run the generator; 1 where `--check` finds a file out of date."""
    package = types.ModuleType("graphwright")
    package.__path__ = [str(SOURCE)]
    sys.modules["graphwright"] = package
    result: int = importlib.import_module("graphwright.runtime.ops.generate").main(argv)
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
