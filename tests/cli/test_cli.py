"""The command line, as a user types it; mistakes give one clear line and no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphwright.cli.main import main

MODEL = '''
import graphwright as gw
import numpy as np
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


def lone(x):
    return x


def lone_inputs():
    return gw.ones(3)


def listed(x):
    return x


listed_inputs = (3,)


def calls_so_far():
    calls_so_far.calls = getattr(calls_so_far, "calls", 0) + 1
    return calls_so_far.calls


def growing(x):
    return [x] * calls_so_far()


def counting(x):
    return {"x": x, "calls": calls_so_far()}


def drifting(x):
    return x, float(calls_so_far())


def renamed(x):
    return {f"call {calls_so_far()}": x}


def retyped(x):
    return (x, None) if calls_so_far() == 1 else (x, 0)


def far(x):
    return 1e300 * calls_so_far()


def named(x):
    return np.array(["a", str(calls_so_far())])


def mixed(x):
    return {"x": x, "name": np.array(["a"]), "n": (1, 2.5, None), "opaque": object()}


def talkative(x):
    for line in range(20_000):
        print("line", line)
    return x


def cut_off(x):
    raise BrokenPipeError("of my own socket")
'''


QUICK = ("--seconds", "0.01", "--starts", "0", "--peers", "none")


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "user_model.py"
    path.write_text(MODEL)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(arguments)
    return capsys.readouterr().out


def mistake(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 2) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == status
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
    assert f"{model}:13" in text and 'print("between")' in text
    assert "├─ frame, from the start" in text and "└─ resume function, from line" in text


def test_bench_compares_and_writes_reports(
    capsys: pytest.CaptureFixture[str], model: str, tmp_path: Path
) -> None:
    out = tmp_path / "bench"
    text = run(capsys, "bench", f"{model}:f", "--out", str(out), *QUICK)
    assert "eager" in text and "compiled: 1 graph, 0 graph breaks" in text
    assert sorted(p.name for p in out.iterdir()) == ["report.html", "results.json", "results.md"]


def test_bench_says_what_it_compared(capsys: pytest.CaptureFixture[str], model: str) -> None:
    text = run(capsys, "bench", f"{model}:mixed", "--input", "f32[2]", *QUICK)
    assert "results agree: 1 Tensor, 1 ndarray, 1 int, 1 float, 1 NoneType; " in text
    assert "not compared: 1 object" in text


def test_python_literals_are_inputs(capsys: pytest.CaptureFixture[str], model: str) -> None:
    text = run(capsys, "dump", f"{model}:scalar", "--input", "f32[2]", "--input", "3",
               "--stage", "graph")
    assert "graph" in text


def test_doctor_says_what_will_be_used(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "doctor")
    for name in ("Python", "frame hook", "threads", "BLAS", "GPU", "llvm backend", "c backend",
                 "backend 'auto'", "kernel cache"):
        assert any(line.startswith(name) for line in text.splitlines()), name


@pytest.mark.parametrize(("arguments", "problem", "way_out"), [
    (["dump", "missing.py:f"], "there is no file missing.py", "name a Python file"),
    (["dump", "f"], "not of the form FILE.py:FUNCTION", "for example:"),
    (["explain", "{model}:nothing"], "has no 'nothing'", "it defines: f, broken"),
    (["explain", "{model}:number"], "not callable", "name a function"),
    (["dump", "{model}:f", "--input", "f32[2]"], "cannot be called: missing", "--input"),
    (["dump", "{model}:f", "--input", "q7[2]", "--input", "1"], "unknown dtype 'q7'", "float32"),
    (["dump", "{model}:f", "--input", "f32(2)"], "is not an input", "float32[4,8]"),
    (["dump", "{model}:f", "--input", "f32[2 3]"], "is not an input", "float32[4,8]"),
    (["dump", "{model}:f", "--input", "f32[,3]"], "is not an input", "float32[4,8]"),
    (["dump", "{model}:f", "--input", "f32[-1]"], "is not an input", "float32[4,8]"),
    (["dump", "{model}:f", "--input", "{{[]: 1}}"], "is not an input", "float32[4,8]"),
    (["dump", "{model}:f", "--input", "(" + "-" * 20_000 + "1)"], "is not an input",
     "float32[4,8]"),
    (["dump", "{model}:f", "--input", "f32[99999999999999]"], "cannot allocate", "smaller"),
    (["dump", "{model}:f", "--input", "i64[" + "9" * 30 + "]"], "cannot be made", "smaller"),
    (["dump", "{model}:f", "--input", "f32[" + "9" * 5000 + "]"], "cannot be made", "smaller"),
    (["dump", "{model}:lone"], "lone_inputs() returned Tensor, not a tuple", "(argument,)"),
    (["dump", "{model}:listed"], "listed_inputs is not a function", "(argument,)"),
    (["dump", "x" * 5000 + ".py:f"], "there is no file", "name a Python file"),
    (["dump", "{model}:f", "--out", "{model}"], "cannot write to", "--out"),
    (["bench", "{model}:f", *QUICK, "--out", "{model}/x"], "cannot write to", "--out"),
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


@pytest.mark.parametrize(("name", "problem"), [
    ("growing", "1 values ([2]), compiled 2"),
    ("counting", "leaf 1 (int): 1 and 2"),
    ("drifting", "leaf 1 (float): by 1.00e+00"),
    ("far", "leaf 0 (float): by 1.00e+300"),
    ("named", "leaf 0 (ndarray): array(['a', '1']"),
    ("renamed", "containers differ"),
    ("retyped", "types differ"),
])
def test_results_that_differ_end_a_benchmark(
    capsys: pytest.CaptureFixture[str], model: str, name: str, problem: str
) -> None:
    error = mistake(capsys, "bench", f"{model}:{name}", "--input", "f32[2]", status=1)
    assert error.startswith("graphwright: ") and problem in error and "report" in error


def test_a_file_with_a_syntax_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "bad_syntax.py"
    path.write_text("def f(:\n")
    assert f"{path}:1" in mistake(capsys, "dump", f"{path}:f")


def test_the_file_with_the_syntax_error_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    imported = tmp_path / "bad_part.py"
    imported.write_text("x = 1\ny = (\n")
    path = tmp_path / "whole.py"
    path.write_text("import bad_part\n")
    assert f"{imported}:2" in mistake(capsys, "dump", f"{path}:f")
    path.write_text("\0")
    assert f"{path}: " in mistake(capsys, "dump", f"{path}:f").replace(":1: ", ": ")


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_times_that_do_not_pass(
    capsys: pytest.CaptureFixture[str], model: str, seconds: str
) -> None:
    assert "is not a positive number of seconds" in mistake(
        capsys, "bench", f"{model}:f", "--seconds", seconds)


COMMANDS = [["--help"], ["dump", "--help"], ["doctor"], ["dump", "{model}:f"],
            ["explain", "{model}:talkative", "--input", "1"]]


def started(
    model: str, command: list[str], stdout: Any, **environment: str
) -> subprocess.Popen[str]:
    """The command in a process of its own, which writes as much at once as programs do."""
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    return subprocess.Popen(
        [sys.executable, "-m", "graphwright", *(word.format(model=model) for word in command)],
        stdout=stdout, stderr=subprocess.PIPE, text=True, env={**inherited, **environment})


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_reader_that_goes_ends_the_command_quietly(model: str, command: list[str]) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    process = started(model, command, theirs, GRAPHWRIGHT_NOTICES="0")
    os.close(theirs)
    assert (process.communicate()[1], process.returncode) == ("", 0)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("command", COMMANDS[2:4], ids=" ".join)
def test_output_that_cannot_be_written_is_told(model: str, command: list[str]) -> None:
    with open("/dev/full", "w") as full:
        process = started(model, command, full)
        error = process.communicate()[1]
    assert process.returncode == 2
    assert error.startswith("graphwright: cannot write to standard output: No space left")
    assert "Traceback" not in error and "Exception ignored" not in error


def test_a_broken_pipe_of_the_users_own_is_an_error(
    capsys: pytest.CaptureFixture[str], model: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["explain", f"{model}:cut_off", "--input", "1"])
    assert stopped.value.code == 1
    assert capsys.readouterr().err.endswith("\nBrokenPipeError: of my own socket\n")


def test_a_tree_has_marks_that_the_encoding_has(model: str) -> None:
    process = started(model, ["explain", "{model}:f"], subprocess.PIPE, LC_ALL="C", PYTHONUTF8="0",
                      PYTHONCOERCECLOCALE="0")
    output, error = process.communicate()
    assert (process.returncode, error) == (0, "")
    assert "`- frame, from the start" in output


def test_doctor_counts_entries_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir(0o700)
    (folder / "dangling").symlink_to(tmp_path / "nowhere")
    (folder / "entry").write_bytes(b"12")
    monkeypatch.setenv("GRAPHWRIGHT_CACHE_DIR", str(tmp_path))
    assert f"{folder}: 1 entries" in run(capsys, "doctor")


def test_a_stage_whose_library_is_missing(
    capsys: pytest.CaptureFixture[str], model: str, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    monkeypatch.setenv("GRAPHWRIGHT_CACHE_DIR", str(tmp_path))
    error = mistake(capsys, "dump", f"{model}:f", "--stage", "ptx")
    assert "Triton, which" in error and "pip install graphwright[cuda]" in error


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
