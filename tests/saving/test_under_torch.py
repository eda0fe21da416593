"""What is saved and loaded where `import torch` is graphwright: `under_torch.py`, in a process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def test_files_in_a_program_that_imports_torch() -> None:
    pytest.importorskip("safetensors")
    tests = Path(__file__).with_name("under_torch.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "graphwright.as_torch", str(tests)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr
