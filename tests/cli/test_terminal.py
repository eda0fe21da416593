"""What a terminal sees and what a pipe sees: colours, tables, a line of progress, JSON, files."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import graphwright as gw
from graphwright.cli.main import main

MODEL = '''
import graphwright as gw


def broken(x):
    print("between")
    return x + 1


def example_inputs():
    return (gw.ones(3),)
'''
SLOW = '''
import time
from graphwright.face import native_backends, notices

notices.PATIENCE = 0.05
compile_graph = native_backends.compile_graph


def slowly(*args, **kwargs):
    time.sleep(0.6)
    return compile_graph(*args, **kwargs)


native_backends.compile_graph = slowly
'''
FOR_TORCH = '''
import helper
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return helper.double(x)


def example_inputs():
    import torch
    return (torch.ones(2),)
'''


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "shown.py"
    path.write_text(MODEL)
    return str(path)


class Terminal(io.TextIOWrapper):
    """Standard output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


Shown = Callable[..., str]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """What a terminal gets of a command."""

    def call(*words: str, encoding: str = "utf-8", **environment: str) -> str:
        written = io.BytesIO()
        terminal = Terminal(written, encoding=encoding)
        with monkeypatch.context() as patch:
            for name, value in {"TERM": "xterm", "COLUMNS": "200", "NO_COLOR": "",
                                **environment}.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdout", terminal)
            main(words)
        terminal.flush()
        return written.getvalue().decode(encoding)

    return call


def without_colour(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


BENCH = ("bench", "--seconds", "0.01", "--starts", "0", "--peers", "none")


def test_a_tree_has_colours_on_a_terminal_alone(
    model: str, shown: Shown, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rich")
    text = shown("explain", f"{model}:broken")
    assert "\x1b[1;31mGB0003 graph break\x1b[0m at " in text
    main(["explain", f"{model}:broken"])
    numbers = re.compile(r"\d+ ns")
    assert numbers.sub("", without_colour(text)) == numbers.sub("", capsys.readouterr().out)


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_can_be_switched_off(
    model: str, shown: Shown, environment: dict[str, str]
) -> None:
    text = shown("explain", f"{model}:broken", **environment)
    assert "GB0003 graph break at " in text and "\x1b" not in text


def test_without_rich_a_terminal_gets_plain_text(
    model: str, shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec",
                        lambda name: None if name == "rich" else find(name))
    assert "\x1b" not in shown("explain", f"{model}:broken")


def test_a_table_has_rules_on_a_terminal(model: str, shown: Shown) -> None:
    pytest.importorskip("rich")
    text = shown(*BENCH, f"{model}:broken")
    assert "────" in text and re.search(r"^ +eager +[\d.]+ ", without_colour(text), re.MULTILINE)
    assert "between" not in text
    plain = shown(*BENCH, f"{model}:broken", NO_COLOR="1")
    assert "────" not in plain and re.search(r"^eager +[\d.]+ ", plain, re.MULTILINE)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_terminals_without_utf_8(model: str, shown: Shown, encoding: str) -> None:
    assert "`- " in shown("explain", f"{model}:broken", encoding=encoding)
    assert shown(*BENCH, f"{model}:broken", encoding=encoding).isascii()


def on_terminal(*words: str, **environment: str) -> str:
    """What a real terminal gets of a process, standard error included."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "graphwright", *words], stdout=theirs, stderr=theirs,
        env={**os.environ, "TERM": "xterm", **environment})
    os.close(theirs)
    parts = []
    with contextlib.suppress(OSError):      # the end, on Linux
        while part := os.read(ours, 65536):
            parts.append(part)
    os.close(ours)
    process.wait()
    return b"".join(parts).decode().replace("\r\n", "\n")


def test_a_long_compilation_has_one_line_that_goes_away(model: str) -> None:
    path = Path(model)
    path.write_text(SLOW + MODEL)
    text = on_terminal("explain", f"{model}:broken", GRAPHWRIGHT_CACHE_DIR=str(path.parent))
    lines = re.findall(r"\r\x1b\[2K(\[graphwright\] \d+\.\d s, [^\r\n]*)", text)
    assert len(lines) >= 2 and "code generation" in lines[-1]
    assert text.count("\n[graphwright]") == 0
    after = text.rpartition(lines[-1])[2]
    assert after.startswith("\r\x1b[2K")


def test_a_file_for_pytorch_is_a_target(tmp_path: Path) -> None:
    helper = "import torch\ndef double(x):\n    return torch.mul(x, 2)\n"
    (tmp_path / "helper.py").write_text(helper)
    path = tmp_path / "for_torch.py"
    path.write_text(FOR_TORCH)
    done = subprocess.run([sys.executable, "-m", "graphwright", "explain", f"{path}:Net"],
                          capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"Net.forward ({path}:7)\n1 graph, 0 graph breaks")


def test_a_function_of_an_installed_library_is_folded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "site-packages" / "some_library"
    library.mkdir(parents=True)
    (library / "__init__.py").write_text("def doubled(x):\n    y = x * 2\n    print(end='')\n"
                                         "    return y\n")
    monkeypatch.syspath_prepend(str(library.parent))
    path = tmp_path / "uses.py"
    path.write_text("import graphwright as gw, some_library\ndef f(x):\n"
                    "    return some_library.doubled(x) + 1\n")
    main(["explain", f"{path}:f", "--input", "f32[2]"])
    text = capsys.readouterr().out
    assert re.search(r"^\d frames? of libraries, folded \(some_library \d\): \d graph", text,
                     re.MULTILINE)
    assert "doubled (" not in text
    main(["explain", f"{path}:f", "--input", "f32[2]", "--libraries"])
    assert "doubled (" in capsys.readouterr().out


def test_json_of_the_other_commands(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["dump", f"{model}:broken", "--stage", "graph", "--stage", "loops", "--json"])
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert list(document["stages"]) == ["graph", "loops"] and captured.err == "between\n"
    main(["doctor", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["graphwright"] == gw.__version__ and found["optional"]["rich"] in (True, False)
    with pytest.raises(SystemExit) as stopped:
        main(["doctor", "--json", str(tmp_path / "none" / "x.json")])
    assert stopped.value.code == 2
    assert "cannot write to" in capsys.readouterr().err


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"graphwright {gw.__version__}\n"


@pytest.mark.parametrize(("text", "shown", "code"), [
    ("raise ValueError('here')", "ValueError: here", 1),
    ("import graphwright\ndef g():\n    import no_such_module\ng()",
     "No module named 'no_such_module'", 2),
    ("import sys\nsys.exit(4)", "ended the process (SystemExit: 4)", 1),
    ("raise KeyboardInterrupt", "graphwright: interrupted", 130),
])
def test_a_file_that_cannot_be_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, shown: str, code: int
) -> None:
    path = tmp_path / "fails.py"
    path.write_text(text + "\n")
    with pytest.raises(SystemExit) as stopped:
        main(["explain", f"{path}:f"])
    error = capsys.readouterr().err
    assert stopped.value.code == code and shown in error
    assert ("Traceback" in error) == (shown == "ValueError: here")
    assert "graphwright/cli" not in error
