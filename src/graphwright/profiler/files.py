"""Files that are compressed where their names say so."""

from __future__ import annotations

import gzip
import os
from typing import IO


def open_text(path: str | os.PathLike[str]) -> IO[str]:
    """The file to write, compressed where its name ends with .gz."""
    if str(path).endswith(".gz"):
        return gzip.open(path, "wt", encoding="utf-8")
    return open(path, "w", encoding="utf-8")
