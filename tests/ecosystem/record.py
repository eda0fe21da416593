"""Record what PyTorch's own results are: `python -m tests.ecosystem.record [NAME ...]`.

Run with real PyTorch and the libraries of tools/ecosystem.txt. Each model's numbers go into
recorded/KIND/NAME.json; without names, those of all.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
from pathlib import Path
from typing import Any

from .case import Model
from .outcome import differences
from .uses import Use

FOLDER = Path(__file__).resolve().parent / "recorded"


def path_of(case: Model | Use) -> Path:
    """The file of recorded results of a model or use."""
    kind = "uses" if isinstance(case, Use) else case.kind.replace(" ", "_").replace("-", "_")
    return FOLDER / kind / f"{case.name}.json"


def recorded(case: Model | Use) -> dict[str, Any]:
    """What was recorded of a model or use: its outcome, and the versions that gave it."""
    found: dict[str, Any] = json.loads(path_of(case).read_text())
    return found


def recorded_versions() -> dict[str, str]:
    """The versions that gave the recorded results, of all files together."""
    found: dict[str, str] = {}
    for path in FOLDER.rglob("*.json"):
        found |= json.loads(path.read_text())["versions"]
    return found


def written(value: Any, indent: str = "") -> str:
    """JSON with a line for each name, and lists on one line."""
    if not isinstance(value, dict):
        return json.dumps(value)
    inner = indent + " "
    lines = [f"{inner}{json.dumps(key)}: {written(part, inner)}" for key, part in value.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}" if lines else "{}"


def main(names: list[str]) -> None:
    """Run the models and uses, and write their files.

    A model whose results change by more than the rule of comparison allows when its weights change
    in their last places is no measure of a library: that is an error.
    """
    os.environ["HF_HUB_OFFLINE"] = "1"
    from .measure import eager, used
    from .tables import MODELS
    from .uses import USES

    if "graphwright" in sys.modules:
        raise SystemExit("recorded results are PyTorch's: run this without graphwright")
    for name in names or (*MODELS, *USES):
        case = MODELS.get(name) or USES[name]
        if isinstance(case, Model):
            outcome = eager(case)
            changed = differences(eager(case, moved=True), {**outcome, "tokens": None})
            if changed:
                raise ValueError(f"{name} depends on the last places of weights: {changed[0]}")
        else:
            outcome = used(case)
        versions = {package: importlib.metadata.version(package)
                    for package in ("torch", "numpy", case.package)}
        path = path_of(case)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(written({"versions": versions, **outcome}) + "\n")
        print(f"{name}: {path.stat().st_size} bytes", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
