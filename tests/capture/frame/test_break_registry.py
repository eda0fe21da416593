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
from graphwright.capture.break_examples import EXAMPLES, INJECTED
from graphwright.capture.breaks import BREAKS
from graphwright.capture.emit.frame import FrameCompiler
from graphwright.capture.guards import guards
from graphwright.face import notices
from graphwright.face.api import compilation_of

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


class Failing:
    """A backend whose graphs fail while the program itself does not."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def __call__(self, graph: Any, examples: Any) -> Any:
        def run(*inputs: Any) -> Any:
            raise self.error("no memory for 8 bytes")

        run.writes_last = True  # type: ignore[attr-defined]
        return run


WITH_A_SIDE_EFFECT = textwrap.dedent("""
    seen = {}

    def f(x):
        seen["shape"] = x.shape
        return x + 1
""")


@pytest.mark.parametrize("program", [PLAIN, WITH_A_SIDE_EFFECT], ids=["direct", "translated"])
def test_a_graph_fails_where_python_does_not(program: str, tmp_path: Path) -> None:
    options = {"backend": Failing(RuntimeError)}
    codes = ran(tmp_path, program, ["f(gw.ones(3))"] * 3, options)
    assert [code for code in codes if code < "GB0100"] == ["GB0022"]


def test_the_failure_of_a_graph_is_told_of(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        return x + 1

    notices.forget()
    told = gw.compile(f, backend=Failing(RuntimeError))
    assert told(gw.ones(2)).tolist() == [2.0, 2.0]
    (failed,) = compilation_of(told).record.breaks
    assert (failed.code, failed.detail) == ("GB0022", "RuntimeError: no memory for 8 bytes")
    assert capsys.readouterr().err.count("GB0022") == 1
    explained = gw.explain(f, backend=Failing(RuntimeError))(gw.ones(2))
    assert explained.stats.fallbacks == 1
    assert "GB0022" in str(explained)


def test_an_error_that_python_raises_too_is_not_told_of() -> None:
    def f(x: Any, places: Any) -> Any:
        return x[places] * 2

    compiled = gw.compile(f)
    compiled(gw.ones(3), gw.tensor([1]))
    with pytest.raises(IndexError):
        compiled(gw.ones(3), gw.tensor([7]))
    assert not compilation_of(compiled).record.breaks


def test_an_interrupt_is_no_failure() -> None:
    def f(x: Any) -> Any:
        return x + 1

    with pytest.raises(KeyboardInterrupt):
        gw.compile(f, backend=Failing(KeyboardInterrupt))(gw.ones(2))
