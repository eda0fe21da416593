"""Published architectures, unchanged, through `import torch` that means graphwright.

Runs `case.py` by `graphwright run` and, where PyTorch is installed, by Python; each case
in a process of its own with an empty kernel cache. Needs the libraries of `tools/ecosystem.txt`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.result import Result, Wrong

SCRIPT = Path(__file__).with_name("case.py")
TITLES = {
    "bert": "BERT base, 128 tokens", "gpt2": "GPT-2, 128 tokens",
    "llama": "Llama of 30 layers, d 576, 64 tokens, forward and backward",
    "t5": "T5 small, 32 decoded tokens", "vit": "ViT base, one image",
    "resnet18": "ResNet-18, one image", "mobilenetv3": "MobileNetV3 large, one image",
}
TOLERANCE = 2e-3
"""Of values, relative to the largest."""


def _run(command: list[str], name: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "GRAPHWRIGHT_CACHE_DIR": cache,
                       "TORCHINDUCTOR_CACHE_DIR": cache, "HF_HUB_OFFLINE": "1"}
        done = subprocess.run([sys.executable, *command, str(SCRIPT), name], env=environment,
                              capture_output=True, text=True, check=False)
    if done.returncode:
        raise Wrong(f"{name}: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _check(name: str, found: list[float], expected: list[float]) -> None:
    largest = max(map(abs, expected))
    if len(found) != len(expected) or any(
            not abs(x - y) <= TOLERANCE * largest for x, y in zip(found, expected, strict=True)):
        raise Wrong(f"{name}: results differ")


def _rows(name: str, title: str) -> list[Result]:
    ours = _run(["-m", "graphwright", "run"], name)
    _check(name, ours["compiled values"], ours["values"])
    peers: dict[str, dict[str, float]] = {"first": {}, "steady": {"eager": ours["eager"] * 1e3}}
    if importlib.util.find_spec("torch") is not None:
        theirs = _run([], name)
        _check(name, ours["values"], theirs["values"])
        peers["first"]["torch.compile"] = theirs["first"]
        peers["steady"].update({"torch eager": theirs["eager"] * 1e3,
                                "torch.compile": theirs["compiled"] * 1e3})
    return [
        Result("ecosystem", f"{title}: first compiled call", "s", None, ours["first"],
               peers["first"]),
        Result("ecosystem", f"{title}: compiled", "ms", None, ours["compiled"] * 1e3,
               peers["steady"]),
    ]


def run() -> list[Result]:
    """All cases. Raises Wrong where a library of them is not installed."""
    for library in ("transformers", "timm"):
        if importlib.util.find_spec(library) is None:
            raise Wrong(f"{library} is not installed: see tools/ecosystem.txt")
    results = []
    for name, title in TITLES.items():
        print(f"  {name} ...", flush=True)
        try:
            results += _rows(name, title)
        except Wrong as wrong:
            results.append(Result("ecosystem", title, "", None, None, note=str(wrong)))
    return results
