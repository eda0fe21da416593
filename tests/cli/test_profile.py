"""`graphwright profile`: a program, and where its time goes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphwright.cli.main import main

PROGRAM = """\
import sys
import torch
model = torch.nn.Linear(30, 30)
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    loss = model(torch.ones(5, 30)).relu().sum()
    loss.backward()
    optimizer.step()
print("arguments", sys.argv[1:], __name__)
sys.exit(5)
"""


def run(folder: Path, *words: str) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, "-m", "graphwright", "profile", *words], cwd=folder,
                          capture_output=True, text=True,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(PROGRAM)
    return tmp_path


def test_ops_lines_and_files_are_reported_and_the_status_is_the_programs(folder: Path) -> None:
    status, out, errors = run(folder, "--trace", "t.json", "--memory", "m.html", "train.py", "-x")
    assert (status, errors) == (5, "")
    lines = out.splitlines()
    assert lines[0] == "arguments ['-x'] __main__"
    assert lines[2].split()[:4] == ["Name", "Self", "CPU", "%"]
    assert any("Optimizer.step#Adam.step" in line and line.split()[-1] == "3" for line in lines)
    places = {line.split()[3]: line for line in lines if "train.py:" in line}
    assert set(places) == {f"train.py:{number}" for number in (3, 6, 7, 8)}
    assert places["train.py:7"].endswith("loss.backward()")
    assert lines[-1].endswith("(Python)")
    names = {event["name"] for event in json.loads((folder / "t.json").read_text())["traceEvents"]}
    assert {"program", "aten::linear", "[memory]"} <= names
    assert "<polyline" in (folder / "m.html").read_text()


def test_tables_have_the_rows_that_are_asked_for_and_no_stacks_are_a_choice(folder: Path) -> None:
    _, out, _ = run(folder, "--rows", "2", "--no-stack", "train.py")
    rules = [number for number, line in enumerate(out.splitlines()) if line.startswith("---")]
    assert rules[2] - rules[1] == 1 + 2
    assert "Time by the lines" not in out


def test_words_of_a_program_and_odd_folders_are_left_alone(tmp_path: Path) -> None:
    """`--json` before a target is an option of other commands, "(12)" a part of a path."""
    folder = tmp_path / "of mine (12)"
    folder.mkdir()
    (folder / "train.py").write_text(PROGRAM)
    for words in (["profile"], ["--debug", "run"]):
        done = subprocess.run(
            [sys.executable, "-m", "graphwright", *words, str(folder / "train.py"), "--json",
             "x.py:f"], capture_output=True, text=True, cwd=tmp_path)
        assert done.stdout.startswith("arguments ['--json', 'x.py:f'] __main__"), done.stderr
        assert done.returncode == 5
    status, out, _ = run(tmp_path, str(folder / "train.py"))
    assert status == 5 and "of mine (12)/train.py:7  loss.backward()" in out


def test_a_library_is_not_taken_for_the_program(folder: Path) -> None:
    """Nor is what started it, nor a label that happens to be called as the tool's own."""
    (folder / "label.py").write_text(
        "import torch\n"
        "with torch.profiler.record_function('program'):\n    torch.ones(100, 100)\n")
    _, out, _ = run(folder, "label.py")
    assert "label.py:2" in out and "graphwright/cli" not in out and "__main__.py" not in out


def test_a_program_that_raises_is_reported_too(folder: Path) -> None:
    (folder / "bad.py").write_text("import torch\ntorch.ones(2).relu()\ntorch.ones(2) @ 3\n")
    status, out, errors = run(folder, "bad.py")
    assert status == 1 and "aten::relu" in out
    assert errors.startswith("Traceback") and "cli/profile.py" not in errors


def test_modules_are_run_by_name(folder: Path) -> None:
    status, out, _ = run(folder, "-m", "train", "a")
    assert status == 5 and out.startswith("arguments ['a'] __main__")


def test_a_program_that_is_not_there(folder: Path) -> None:
    status, out, errors = run(folder, "nothing.py")
    assert (status, out) == (2, "")
    assert errors.startswith("graphwright: cannot open nothing.py: No such file or directory")


@pytest.mark.parametrize(("words", "text"), [
    ((), "graphwright: profile: no program was given"),
    (("--trace", "t.txt", "train.py"), "graphwright: --trace t.txt: the name must end with .json"),
    (("--memory", "m.png", "train.py"), "graphwright: the name of a timeline of memory, 'm.png'"),
    (("--trace", "no/t.json", "train.py"), "graphwright: cannot write to no/t.json: there is no"),
    (("--rows", "0", "train.py"), "graphwright: --rows 0 is less than 1"),
])  # fmt: skip
def test_mistakes_are_one_line_and_status_two(
    folder: Path, words: tuple[str, ...], text: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", sys.argv[:])
    with pytest.raises(SystemExit) as ended:
        main(["profile", *words])
    assert ended.value.code == 2
    out, errors = capsys.readouterr()
    assert out == ""
    assert errors.startswith(text) and "Traceback" not in errors
