"""What type checkers and editors make of the package: programs of users, and eight errors."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import graphwright as gw

HERE = Path(__file__).parent
SOURCE = Path(gw.__file__).parents[1]
ERRORS = {number for number, line in enumerate((HERE / "bad.py").read_text().splitlines(), 1)
          if line.endswith("# error")}


def mypy(name: str) -> set[int]:
    """The lines that mypy finds errors in."""
    options = ["--strict", "--follow-imports=silent", str(HERE / name)]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options], capture_output=True, text=True, check=False,
        cwd=SOURCE.parent, env={**os.environ, "MYPYPATH": str(SOURCE)})
    assert done.returncode in (0, 1), done.stdout + done.stderr
    lines = [line.split(":") for line in done.stdout.splitlines() if ": error:" in line]
    assert all(Path(file).name == name for file, *_ in lines), done.stdout
    return {int(number) for _, number, *_ in lines}


def pyright(name: str, folder: Path) -> set[int]:
    """The lines that pyright finds errors in."""
    pytest.importorskip("pyright")
    shutil.copy(HERE / name, folder)
    settings = {"extraPaths": [str(SOURCE)], "include": [name]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run([sys.executable, "-m", "pyright", "--outputjson", "-p", str(folder)],
                          capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return {entry["range"]["start"]["line"] + 1 for entry in found
            if entry["severity"] == "error"}


def test_eight_errors_are_planted() -> None:
    assert len(ERRORS) == 8


def test_mypy_accepts_programs_and_finds_their_errors() -> None:
    assert mypy("good.py") == set()
    assert mypy("bad.py") == ERRORS


def test_pyright_accepts_programs_and_finds_their_errors(tmp_path: Path) -> None:
    assert pyright("good.py", tmp_path) == set()
    assert pyright("bad.py", tmp_path) == ERRORS


@pytest.mark.parametrize(("text", "names"), [
    ("gw.", ["randn", "compile", "nn", "Tensor", "float32"]),
    ("gw.randn(3).", ["sum", "reshape", "backward", "shape"]),
    ("gw.nn.", ["Linear", "Module", "functional"]),
    ("gw.nn.functional.", ["relu", "cross_entropy"]),
])
def test_editors_complete(text: str, names: list[str]) -> None:
    jedi = pytest.importorskip("jedi")
    project = jedi.Project(HERE, added_sys_path=[str(SOURCE)])
    script = jedi.Script(f"import graphwright as gw\n{text}", project=project)
    assert {*names} <= {completion.name for completion in script.complete()}


def test_dir_lists_every_public_name() -> None:
    names = dir(gw)
    assert {"compile", "explain", "load", "fft", "func", "vmap", "FloatStorage", "nn"} <= {*names}
    assert all(hasattr(gw, name) for name in names)
