"""What the pages promise, done with typed commands as a reader would."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.docs.blocks import ROOT, run

OWN = """
import graphwright as gw


def gelu(x):
    return x * 0.5 * (1 + (x * 0.7978845608 * (1 + 0.044715 * x * x)).tanh())


def example_inputs():
    return (gw.rand(64, 64),)
"""


def test_compile_a_function_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    explained = run("graphwright explain own.py:gelu", tmp_path)
    assert explained.returncode == 0
    assert re.match(r"gelu \(.*own.py:5\)\n1 graph, 0 graph breaks", explained.stdout)
    timed = run("graphwright bench own.py:gelu --seconds 0.1 --starts 0 --peers none", tmp_path)
    assert timed.returncode == 0 and "results agree" in timed.stdout


@pytest.mark.oracle
def test_compare_it_with_torch(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN.replace("graphwright", "torch").replace("gw", "torch"))
    timed = run("graphwright bench own.py:gelu --seconds 0.1 --starts 0 --peers torch", tmp_path)
    if "torch is not installed" in timed.stdout:
        pytest.skip("PyTorch is not installed")
    assert timed.returncode == 0 and re.search(r"torch \S+: results agree", timed.stdout)


def test_the_planted_slow_op_is_found(tmp_path: Path) -> None:
    """Both tables of docs/profiling.md begin with the line of examples/slow_step.py."""
    (tmp_path / "slow_step.py").write_text((ROOT / "examples" / "slow_step.py").read_text())
    ran = run("graphwright profile --rows 3 slow_step.py", tmp_path)
    assert ran.returncode == 0, ran.stderr
    ops, lines = ran.stdout.split("Time by the lines of the program")
    first_op = re.search(r"^ *(\w+::\w+) ", ops, re.MULTILINE)
    assert first_op is not None and first_op[1] == "aten::singular_factors"
    assert "gw.linalg.svdvals(" in lines.splitlines()[2]


def test_an_unchanged_script_runs(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(
        "import sys\nimport torch\nprint(torch.arange(int(sys.argv[1])).sum().item())\n")
    for command in ("run", "run --compile", "profile --rows 1"):
        ran = run(f"graphwright {command} plain.py 5", tmp_path)
        assert ran.returncode == 0 and ran.stdout.startswith("10\n"), ran.stderr


def test_write_an_op(tmp_path: Path) -> None:
    (tmp_path / "op.py").write_text("""
import numpy as np
import graphwright as gw


@gw.library.custom_op("own::ndtr", mutates_args=())
def ndtr(x: gw.Tensor) -> gw.Tensor:
    return gw.from_numpy(np.tanh(x.numpy()))


@ndtr.register_fake
def _(x):
    return gw.empty_like(x)


def f(x):
    return ndtr(x * 2) + 1


def example_inputs():
    return (gw.rand(8),)
""")
    explained = run("graphwright explain op.py:f", tmp_path)
    assert "\n1 graph, 0 graph breaks" in explained.stdout, explained.stdout + explained.stderr
    timed = run("graphwright bench op.py:f --seconds 0.05 --starts 0 --peers none", tmp_path)
    assert timed.returncode == 0 and "results agree" in timed.stdout
