"""`graphwright completion`: the scripts complete what the parser takes, under the shells."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from graphwright.cli.completion import grammar
from graphwright.cli.main import main, parser

NAMES = [command.name for command in grammar(parser()) if command.name]
MODEL = """
class Net:
    def forward(self):
        pass

async def late(): pass
def loss(): pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "notes.txt").write_text("")
    return tmp_path


def script(shell: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    main(["completion", shell])
    path = folder / f"completion.{shell}"
    path.write_text(capsys.readouterr().out)
    return path


def output(folder: Path, *command: str) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(("words", "found"), [
    ([""], NAMES), (["ex"], ["explain", "export"]), (["--ver"], ["--version"]),
    (["dump", "--sta"], ["--stage"]), (["dump", "--stage", "lo"], ["loops"]),
    (["bench", "mo"], ["model.py"]), (["bench", "model.py", ":"], ["Net", "late", "loss"]),
    (["bench", "model.py", ":", "l"], ["late", "loss"]), (["run", "no"], ["notes.txt"]),
    (["completion", ""], ["bash", "zsh", "fish"]), (["dump", "--out", "no"], ["notes.txt"]),
    (["profile", "--trace", "no"], ["notes.txt"]), (["dump", "--input", ""], []),
    (["bench", "--seconds", ""], []),
])
def test_bash(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], found: list[str]
) -> None:
    path = script("bash", folder, capsys)
    program = ('source "$1"; shift; COMP_WORDS=(graphwright "$@"); COMP_CWORD=$#; _graphwright; '
               'printf "%s\\n" "${COMPREPLY[@]}"')
    reply = output(folder, "bash", "-c", program, "bash", str(path), *words)
    assert [word for word in reply if not word.startswith("-") or words == ["--ver"]
            or words[-1].startswith("--sta")] == found


@pytest.mark.parametrize(("line", "found"), [
    ("graphwright ", NAMES), ("graphwright dump --sta", ["--stage"]),
    ("graphwright dump --stage lo", ["loops"]),
    ("graphwright bench model.py:l", ["model.py:late", "model.py:loss"]),
    ("graphwright completion ", ["bash", "zsh", "fish"]),
])
def test_fish(
    folder: Path, capsys: pytest.CaptureFixture[str], line: str, found: list[str]
) -> None:
    path = script("fish", folder, capsys)
    reply = subprocess.run(
        ["fish", "--no-config", "-c", f"source {path}; complete -C '{line}'"],
        capture_output=True, text=True, cwd=folder, check=True).stdout
    words = [text.partition("\t")[0] for text in reply.splitlines()]
    assert sorted(words) == sorted(found)


def test_zsh_takes_its_script(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script("zsh", folder, capsys)
    program = f"autoload -U compinit; compinit -D; source {path}; print $_comps[graphwright]"
    assert output(folder, "zsh", "-fc", program) == ["_graphwright"]


def test_an_unknown_shell(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["completion", "csh"])
    assert stopped.value.code == 2 and "'csh'" in capsys.readouterr().err
