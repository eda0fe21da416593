"""The process in which `import torch` means graphwright: it runs what it is asked to.

    python -m tests.ecosystem.worker

A line of standard input is the name of a model or a use; the answer is a line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import Any

import graphwright.as_torch  # noqa: F401 - before anything that imports torch

from .compiled import compiled, compiled_use
from .exported import exported
from .measure import eager, used
from .tables import MODELS
from .uses import USES


def answer(name: str) -> dict[str, Any]:
    """What a model or use did eagerly and compiled, and the counts; or the traceback."""
    found: dict[str, Any] = {}
    try:
        if name in MODELS:
            found["eager"] = eager(MODELS[name])
            found["compiled"], found["counts"] = compiled(MODELS[name])
            found["exported"] = exported(MODELS[name])
        else:
            found["eager"] = used(USES[name])
            found["compiled"], found["counts"] = compiled_use(USES[name])
    except Exception:
        found["error"] = traceback.format_exc()
    return found


def main() -> None:
    """Answer until standard input ends. What libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(answer(line.strip())), file=answers, flush=True)


if __name__ == "__main__":
    main()
