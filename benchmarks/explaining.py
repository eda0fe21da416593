"""What `graphwright explain` adds to a script that compiles and calls the same model.

    python -m benchmarks.explaining [--rounds 7]

Both are fresh processes with a filled kernel cache, in turns; the model is a transformer of six
blocks. The script's result must be that of eager execution, and explain must report the script's
number of graphs without a graph break.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

MODEL = """
import graphwright as gw
from graphwright import nn

gw.manual_seed(0)
block = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
model = nn.TransformerEncoder(block, 6, enable_nested_tensor=False).eval()


def example_inputs():
    return (gw.rand(2, 16, 64),)
"""
SCRIPT = MODEL + """
inputs = example_inputs()
compiled = gw.compile(model)
found, expected = compiled(*inputs), model(*inputs)
if not gw.allclose(found, expected, atol=1e-5):
    raise SystemExit("the compiled result differs from the eager one")
stats = gw.compiler.stats(compiled)
print(stats.graphs, stats.breaks)
"""


def seconds_of(words: list[str], folder: Path) -> tuple[float, str]:
    """User and system time of a process, and what it printed."""
    environment = {**os.environ, "GRAPHWRIGHT_CACHE_DIR": str(folder / "cache")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *words], cwd=folder, env=environment, check=True,
                          capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, done.stdout


def main() -> None:
    """Measure and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=7, help="processes of each (7)")
    rounds = parser.parse_args().rounds
    script, explain = ["script.py"], ["-m", "graphwright", "explain", "model.py:model"]
    ratios, times = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.py").write_text(MODEL)
        (folder / "script.py").write_text(SCRIPT)
        for words in (script, explain):
            seconds_of(words, folder)
        for _ in range(rounds):
            plain, counts = seconds_of(script, folder)
            explained, text = seconds_of(explain, folder)
            graphs, breaks = counts.split()
            if re.search(rf"^{graphs} graphs?, {breaks} graph breaks", text, re.MULTILINE) is None:
                raise SystemExit(f"explain reports other counts than {counts}: {text}")
            ratios.append(explained / plain)
            times.append((plain, explained))
    plain, explained = (median(column) for column in zip(*times, strict=True))
    print(f"script {plain:.2f} s, explain {explained:.2f} s of processor time: "
          f"{median(ratios):.2f}x (target: at most 1.20)")


if __name__ == "__main__":
    main()
