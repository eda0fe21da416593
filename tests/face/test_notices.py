"""What the user sees: explain, logs and counters agree; one line per function that broke."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw
from graphwright.capture.frame.frontend import Frontend
from graphwright.face import native_backends, notices

PROGRAM = '''
import graphwright as gw
import graphwright.face.notices

graphwright.face.notices.PATIENCE = 600.0    # a busy machine compiles slowly

def helper(x):
    print(end="")
    return x * 3

def f(x, k):
    y = (x * k).sum(0)
    print("", end="")
    return helper(y) + 1

def clean(x):
    return x.exp() * 2

def calls():
    yield gw.ones(3, 2), 2
    yield gw.ones(4, 2), 2
    yield gw.ones(4, 2), 3
'''


def run(folder: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the program above and `code` in a process of its own."""
    path = folder / "program.py"
    path.write_text(PROGRAM + code)
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=120,
        env={**os.environ, **environment}, check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


COUNT = '''
from graphwright.face.api import compilation_of
from graphwright.face.explain import Explanation

compiled = gw.compile(f)
for args in calls():
    compiled(*args)
stats = gw.compiler.stats(compiled)
print(stats.graphs, stats.breaks, stats.fallbacks, stats.recompiles, stats.kernels)
print(Explanation.of(compilation_of(compiled).record))
'''


def test_logs_explain_and_counters_agree(tmp_path: Path) -> None:
    logs = "graph_breaks,recompiles,guards,graph,joint,loops,kernels,cache"
    done = run(tmp_path, COUNT, GRAPHWRIGHT_LOGS=logs)
    first, text = done.stdout.split("\n", 1)
    graphs, breaks, fallbacks, recompiles, kernels = map(int, first.split())
    assert graphs and breaks and recompiles and kernels and not fallbacks
    entries = re.findall(r"^\[graphwright\] (\w+): (.*)", done.stderr, re.MULTILINE)
    counts = {name: sum(entry[0] == name for entry in entries) for name in logs.split(",")}
    assert counts["graph"] == counts["joint"] == counts["loops"] == counts["cache"] == graphs
    assert counts["graph_breaks"] == breaks
    assert counts["recompiles"] == recompiles
    assert sum(int(e[1].split()[0]) for e in entries if e[0] == "kernels") == kernels
    assert text.startswith(
        f"{graphs} graphs, {breaks} graph breaks, 0 fallbacks, {recompiles} recompiles, "
        f"{kernels} kernels"
    )
    assert len(re.findall(r"─ graph: ", text)) == graphs
    assert len(re.findall(r"─ GB00\d\d graph break at ", text)) == breaks
    assert len(re.findall(r"─ GB01\d\d recompile: ", text)) == recompiles
    assert len(re.findall(r"─ guards: ", text)) == counts["guards"]
    assert sum(map(int, re.findall(r"─ graph: .*, (\d+) kernel", text))) == kernels


@pytest.mark.parametrize("environment", [{}, {"GRAPHWRIGHT_NOTICES": "0"}])
def test_one_line_per_function_that_broke(tmp_path: Path, environment: dict[str, str]) -> None:
    code = "\ncompiled = gw.compile(f)\nfor args in calls():\n    compiled(*args)\n"
    lines = run(tmp_path, code, **environment).stderr.splitlines()
    if environment:
        assert not lines
        return
    path = tmp_path / "program.py"
    assert [line.partition(", ")[0] for line in lines] == [
        f"[graphwright] f ({path}:13): GB0003 graph break",
        f"[graphwright] helper ({path}:8): GB0003 graph break",
    ]


def test_nothing_is_told_of_clean_captures(tmp_path: Path) -> None:
    code = "\ncompiled = gw.compile(clean)\nfor x, _ in calls():\n    compiled(x)\n"
    assert run(tmp_path, code).stderr == ""


SLOW_STAGES = {
    "capture": (Frontend, "_attempt"),
    "passes over a graph of 5 nodes": (native_backends, "lower_graph"),
    "code generation by llvm for the forward graph of 5 nodes": (native_backends, "compile_graph"),
}


@pytest.mark.parametrize("stage", SLOW_STAGES)
def test_a_compilation_that_takes_long_is_reported_meanwhile(
    stage: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    reports: list[Callable[[], None]] = []

    class Timer(threading.Timer):
        """Runs out in the midst of the stage."""

        def __init__(self, seconds: float, report: Callable[[], None]) -> None:
            assert seconds == 2.0
            super().__init__(600.0, report)
            reports.append(report)

    owner, name = SLOW_STAGES[stage]
    work = getattr(owner, name)

    def slow(*args: Any, **kwargs: Any) -> Any:
        (report,) = reports
        report()
        return work(*args, **kwargs)

    def f(x: gw.Tensor) -> gw.Tensor:
        return x.exp() * 2 + 1

    monkeypatch.setenv("GRAPHWRIGHT_GRAPH_CACHE", "0")
    monkeypatch.setattr(threading, "Timer", Timer)
    monkeypatch.setattr(owner, name, slow)
    threads = threading.active_count()
    gw.compile(f, backend="llvm")(gw.ones(3))
    assert threading.active_count() == threads
    place = f"{f.__qualname__} ({__file__}:{f.__code__.co_firstlineno})"
    assert re.sub(r"[\d.]+ s ", "N s ", capsys.readouterr().err) == (
        f"[graphwright] compiling {place} has taken N s so far; stage: {stage}\n")


def test_the_backward_is_reported_as_that_of_its_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    places: list[str] = []

    @contextlib.contextmanager
    def watched(what: str) -> Iterator[None]:
        places.append(what)
        yield

    monkeypatch.setattr(native_backends, "watched", watched)

    def f(x: gw.Tensor) -> gw.Tensor:
        return x.sin().sum()

    gw.compile(f, backend="llvm")(gw.ones(3, requires_grad=True)).backward()
    place = f"{f.__qualname__} ({__file__}:{f.__code__.co_firstlineno})"
    assert places == [f"the forward graph of {place}", f"the backward graph of {place}"]


def test_long_compilations_are_reported_unless_notices_are_off(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        return x.exp() * 2 + 1

    monkeypatch.setattr(notices, "PATIENCE", 0.0)
    for enabled in (True, False):
        monkeypatch.setattr(notices, "_enabled", [True])
        gw.compiler.set_notices(enabled)
        gw.compiler.reset()
        gw.compile(f, backend="llvm")(gw.ones(3))
        assert ("[graphwright] compiling " in capsys.readouterr().err) == enabled


def test_a_compilation_goes_on_where_no_thread_can_be_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    y = gw.compile(lambda x: x.exp() + 3, backend="llvm")(gw.ones(3))
    gw.testing.assert_close(y, gw.ones(3).exp() + 3)


def test_the_tree_has_frames_resume_functions_and_the_cost_of_guards() -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        y = x + 1
        print(end="")
        return y * 2

    explanation = gw.explain(f)(gw.ones(3))
    lines = explanation.text(guards=True).splitlines()
    line = f.__code__.co_firstlineno
    assert lines[0] == f"{f.__qualname__} ({__file__}:{line})"
    assert lines[1] == "2 graphs, 1 graph break, 0 fallbacks, 0 recompiles, 2 kernels"
    assert "├─ frame, from the start of the function" in lines
    assert 'print(end="")' in "\n".join(lines)
    assert any(text.startswith("└─ resume function, from line ") for text in lines)
    costs = [text for text in lines if re.search(r"\d+ ns  L\['x'\] is Tensor", text)]
    assert len(costs) == 1
    assert any(re.search(r"guards: \d+, \d+ ns together", text) for text in lines)
    assert not re.search(r"L\['x'\] is Tensor", str(explanation))
    assert re.search(r"guards: \d+, \d+ ns together \(.*\b1 tensor\b", str(explanation))


def test_notices_can_be_switched_off_and_on(capfd: pytest.CaptureFixture[str]) -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        print(end="")
        return x * 2

    def g(x: gw.Tensor) -> gw.Tensor:
        print(end="")
        return x * 3

    gw.compiler.set_notices(False)
    try:
        gw.compile(f)(gw.ones(2))
    finally:
        gw.compiler.set_notices(True)
    assert capfd.readouterr().err == ""
    gw.compile(g)(gw.ones(2))
    gw.compile(g)(gw.ones(2))
    assert capfd.readouterr().err.count("\n") == 1


def test_generator_functions_are_told_to_run_plainly() -> None:
    def numbers(x: gw.Tensor):  # type: ignore[no-untyped-def]
        yield x + 1

    compiled = gw.compile(numbers)
    assert next(compiled(gw.ones(1))).item() == 2
    stats = gw.compiler.stats(compiled)
    assert (stats.graphs, stats.breaks, stats.fallbacks) == (0, 0, 1)


def test_reasons_name_what_a_break_left_on_the_stack() -> None:
    def count(x: gw.Tensor, items: list[int]) -> gw.Tensor:
        return x + (len(items) + (print(end="") or 0))

    def f(x: gw.Tensor) -> gw.Tensor:
        return count(count(x, [1]), [1, 2])

    text = str(gw.explain(f)(gw.ones(2)))
    line = 'return x + (len(items) + (print(end="") or 0))'
    assert "held at line" in text and f": {line}>: expected 1, got 2" in text
