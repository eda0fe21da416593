"""Every code is registered, reachable, and shown by an example that does what it says."""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw
from graphwright.api import compilation_of
from graphwright.capture import guards
from graphwright.capture.break_examples import EXAMPLES, INJECTED
from graphwright.capture.breaks import BREAKS
from graphwright.capture.emit.frame import FrameCompiler

SOURCES = Path(gw.__file__).parent
_numbers = itertools.count()


def outcome(space: dict[str, Any], statement: str) -> Any:
    """The statement's value, or the type and text of the exception it raised."""
    try:
        body = ast.parse(statement).body[0]
        if isinstance(body, ast.Expr):
            return eval(statement, space)
        exec(statement, space)
    except Exception as error:
        return type(error), str(error)
    return None


def same(a: Any, b: Any) -> bool:
    if isinstance(a, gw.Tensor):
        return type(a) is type(b) and gw.equal(a, b)
    if isinstance(a, list):
        return len(a) == len(b) and all(x is a or same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def ran(folder: Path, source: str, calls: Sequence[str], options: dict[str, Any]) -> list[str]:
    """Run an example compiled and plainly; the codes that were recorded."""
    path = folder / f"example{next(_numbers)}.py"
    path.write_text(source)
    spaces = []
    for _ in range(2):
        space: dict[str, Any] = {"gw": gw, "__name__": "example", "__file__": str(path)}
        exec(compile(source, str(path), "exec"), space)
        spaces.append(space)
    plain, captured = spaces
    compiled = gw.compile(captured["f"], **({"backend": "eager"} | options))
    captured["f"] = compiled
    for call in calls:
        found = outcome(captured, call)
        assert same(outcome(plain, call), found), call
    record = compilation_of(compiled).record
    for entry in record.breaks:
        assert entry.location.file == str(path), entry
        assert entry.location.source == source.splitlines()[entry.location.line - 1].strip()
    return [entry.code for entry in (*record.breaks, *record.recompiles)]


def test_every_code_has_an_example() -> None:
    assert set(EXAMPLES) | INJECTED == set(BREAKS)
    assert not set(EXAMPLES) & INJECTED


def test_codes_in_the_sources_are_registered() -> None:
    used = {
        code
        for path in SOURCES.rglob("*.py")
        if path.name not in ("breaks.py", "break_examples.py")
        for code in re.findall(r'"(GB\d{4})"', path.read_text())
    }
    assert used == set(BREAKS)


@pytest.mark.filterwarnings("ignore:graphwright")
@pytest.mark.parametrize("code", EXAMPLES)
def test_the_first_program_has_the_code(code: str, tmp_path: Path) -> None:
    example = EXAMPLES[code]
    assert code in ran(tmp_path, example.before, example.calls, example.options)


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_second_program_has_none(code: str, tmp_path: Path) -> None:
    example = EXAMPLES[code]
    options = example.options_after or example.options
    assert not ran(tmp_path, example.after, example.calls_after or example.calls, options)


PLAIN = textwrap.dedent("""
    def f(x):
        return x + 1
""")


def test_an_unstable_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = guards.GuardFailure(guards.Guard(guards.GuardKind.MODES, (), 0), "x", "1", "2")
    monkeypatch.setattr(guards, "explain_failure", lambda *_: failure)
    assert ran(tmp_path, PLAIN, ["f(gw.ones(3))"], {}) == ["GB0019"]


def test_a_bug_of_capture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: FrameCompiler) -> None:
        raise KeyError("bug")

    monkeypatch.setattr(FrameCompiler, "finish_return", broken)
    assert ran(tmp_path, PLAIN, ["f(gw.ones(3))"], {}) == ["GB0021"]
