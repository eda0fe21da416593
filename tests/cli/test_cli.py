"""The command line, as a user types it; mistakes give one clear line and no traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from graphwright.cli.main import main

MODEL = '''
import graphwright as gw
from graphwright import nn


def f(x, y):
    return gw.relu(x + y) * 2


def broken(x):
    y = x + 1
    print("between")
    return y * 2


def example_inputs():
    return (gw.ones(4, 8),)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        return gw.softmax(self.fc(x), dim=-1)


def f_inputs():
    return gw.ones(3), gw.ones(3)


def scalar(x, k: int):
    return x * k


number = 3
'''


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "user_model.py"
    path.write_text(MODEL)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(arguments)
    return capsys.readouterr().out


def mistake(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return captured.err


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_dump_prints_the_stages_in_order(
    capsys: pytest.CaptureFixture[str], model: str, backend: str
) -> None:
    text = run(capsys, "dump", f"{model}:f", "--backend", backend)
    stages = [line.split()[1] for line in text.splitlines() if line.startswith("==== ")]
    assert stages == ["bytecode", "graph", "joint", "loops", backend, "asm"]
    assert "relu" in text and "return gw.relu(x + y) * 2" in text


def test_dump_of_one_stage_with_inputs_from_the_command_line(
    capsys: pytest.CaptureFixture[str], model: str
) -> None:
    text = run(capsys, "dump", f"{model}:Net", "--input", "f32[5, 8]", "--stage", "graph")
    assert text.startswith("==== graph ====") and "softmax" in text


def test_dump_of_a_training_graph_has_a_backward(
    capsys: pytest.CaptureFixture[str], model: str
) -> None:
    text = run(capsys, "dump", f"{model}:Net", "--train", "--stage", "joint")
    assert "# forward" in text and "# backward" in text


def test_dump_writes_files(
    capsys: pytest.CaptureFixture[str], model: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run(capsys, "dump", f"{model}:f", "--out", str(out), "--stage", "loops", "--stage", "llvm")
    assert sorted(path.name for path in out.iterdir()) == ["llvm.txt", "loops.txt"]


def test_explain_tells_where_and_why_the_graph_breaks(
    capsys: pytest.CaptureFixture[str], model: str
) -> None:
    text = run(capsys, "explain", f"{model}:broken")
    assert "2 graphs, 1 graph break" in text
    assert f"{model}:12" in text and 'print("between")' in text
    assert "├─ frame, from the start" in text and "└─ resume function, from line" in text


def test_bench_compares_and_writes_reports(
    capsys: pytest.CaptureFixture[str], model: str, tmp_path: Path
) -> None:
    out = tmp_path / "bench"
    text = run(capsys, "bench", f"{model}:f", "--seconds", "0.02", "--out", str(out))
    assert "eager" in text and "compiled" in text and "1 graphs, 0 breaks" in text
    assert sorted(p.name for p in out.iterdir()) == ["report.html", "results.json", "results.md"]


def test_python_literals_are_inputs(capsys: pytest.CaptureFixture[str], model: str) -> None:
    text = run(capsys, "dump", f"{model}:scalar", "--input", "f32[2]", "--input", "3",
               "--stage", "graph")
    assert "graph" in text


def test_doctor_says_what_will_be_used(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "doctor")
    for name in ("Python", "frame hook", "threads", "BLAS", "llvm backend", "c backend",
                 "backend 'auto'", "kernel cache"):
        assert any(line.startswith(name) for line in text.splitlines()), name


@pytest.mark.parametrize(("arguments", "problem", "way_out"), [
    (["dump", "missing.py:f"], "there is no file missing.py", "name a Python file"),
    (["dump", "f"], "not of the form FILE.py:FUNCTION", "for example:"),
    (["explain", "{model}:nothing"], "has no 'nothing'", "it defines: f, broken"),
    (["explain", "{model}:number"], "not callable", "name a function"),
    (["dump", "{model}:f", "--input", "f32[2]"], "cannot be called: missing", "--input"),
    (["dump", "{model}:f", "--input", "q7[2]", "--input", "1"], "unknown dtype 'q7'", "float32"),
    (["dump", "{model}:f", "--input", "f32(2)"], "is no input", "float32[4,8]"),
    (["dump", "{model}:f", "--stage", "c", "--stage", "llvm"], "different backends",
     "ask for one"),
])
def test_mistakes_are_told_in_one_line_with_a_way_out(
    capsys: pytest.CaptureFixture[str], model: str, arguments: list[str], problem: str,
    way_out: str,
) -> None:
    error = mistake(capsys, *(argument.format(model=model) for argument in arguments))
    assert error.startswith("graphwright: ")
    assert problem in error and way_out in error


def test_a_file_with_a_syntax_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "bad_syntax.py"
    path.write_text("def f(:\n")
    assert f"{path}:1" in mistake(capsys, "dump", f"{path}:f")


def test_a_stage_whose_library_is_missing(
    capsys: pytest.CaptureFixture[str], model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    error = mistake(capsys, "dump", f"{model}:f", "--stage", "ptx")
    assert "needs triton" in error and "pip install triton" in error


def test_help_has_examples() -> None:
    done = subprocess.run([sys.executable, "-m", "graphwright", "--help"], capture_output=True,
                          text=True, check=True)
    assert "graphwright dump model.py:forward" in done.stdout


def test_errors_of_the_users_function_are_shown_with_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "raises.py"
    path.write_text("import graphwright as gw\ndef f(x):\n    return x @ gw.ones(5)\n")
    done = subprocess.run(
        [sys.executable, "-m", "graphwright", "dump", f"{path}:f", "--input", "f32[2,3]"],
        capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "return x @ gw.ones(5)" in done.stderr
