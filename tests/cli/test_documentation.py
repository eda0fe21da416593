"""docs/cli.md: its commands print what it shows, and it names every option and exit code."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from graphwright.cli.completion import grammar
from graphwright.cli.errors import EXIT_CODES
from graphwright.cli.main import main, parser

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text()


def commands() -> Iterator[tuple[str, str]]:
    """Each command of the page with what it prints."""
    for block in re.findall(r"^```\n(\$ .*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def pattern(shown: str) -> str:
    """What output must be like: `...` is any text, and runs of spaces are alike."""
    parts = [re.escape(re.sub(r" +", " ", part)) for part in shown.split("...")]
    return ".*?".join(parts)


def test_commands_print_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = re.search(r"`model.py`:\n\n```python\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    (tmp_path / "model.py").write_text(found[1])
    monkeypatch.chdir(tmp_path)
    status, run = 0, 0
    for command, output in commands():
        if command == "echo $?":
            assert output == f"{status}\n", command
            continue
        words = shlex.split(command)
        assert words[0] == "graphwright"
        if words[1] == "warm" and find_spec("triton") is None:
            continue
        status = 0
        try:
            main(words[1:])
        except SystemExit as ended:
            assert ended.code is None or isinstance(ended.code, int)
            status = ended.code or 0
        captured = capsys.readouterr()
        printed = re.sub(r" +", " ", captured.out + captured.err)
        assert re.fullmatch(pattern(output), printed, re.DOTALL), (command, printed)
        run += 1
    assert run >= 11


def test_every_option_is_on_the_page() -> None:
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
    for command in grammar(parser()):
        text = sections[command.name] if command.name else PAGE
        for option in command.options:
            shown = [name for name in option.names if name not in ("-h", "--help")]
            assert all(f"`{name}" in text for name in shown), (command.name, shown)


def test_every_exit_code_is_on_the_page_and_in_the_help(
    capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    for code, meaning in EXIT_CODES.items():
        assert f"| {code} | " in PAGE and f"  {code:<4} {meaning}" in text
