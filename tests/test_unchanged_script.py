"""A PyTorch training script, unchanged: graphwright prints the losses that PyTorch printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "examples" / "unchanged" / "train.py"
LOSSES = [1.8784, 1.6752]
"""PyTorch 2.13.0, with 512 samples: the first epoch alone, and the second after a resume."""


def losses(*options: str) -> list[float]:
    command = [sys.executable, "-m", "graphwright", "run", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=250)
    return [float(found) for found in re.findall(r"loss ([\d.]+)", done.stdout)]


@pytest.mark.parametrize("options", [(), ("--compile",)], ids=["eager", "compiled"])
def test_losses_are_pytorch_s_after_a_resume_too(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    size = ("--samples", "512", "--out", str(tmp_path))
    first = losses(*options, str(SCRIPT), "--epochs", "1", *size)
    second = losses(*options, str(SCRIPT), "--epochs", "2", "--resume", *size)
    assert first + second == pytest.approx(LOSSES, rel=0.01)
    assert (tmp_path / "last.pt").exists()
