"""`graphwright bench`: what it measures, how it reads other libraries, what it calls a change."""

from __future__ import annotations

import copy
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.cli import bench, bench_process
from graphwright.cli.main import main
from graphwright.cli.peers import disagreement
from graphwright.cli.verdicts import NONE, verdict, verdicts
from graphwright.report.measure import Timing

MODEL = '''
import graphwright as gw
from graphwright import nn
import graphwright.nn.functional as F

scale = gw.rand(3)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x, more):
        y = F.relu(self.norm(self.linear(x))) * scale
        return {"y": y, "rest": (more["k"] + 1, None, "text", y.sum(dim=0))}


def example_inputs():
    return gw.rand(5, 4), {"k": 2, "t": gw.arange(3).bool()}


def only_here(x):
    return gw.compiler.stats(x) if gw.__name__ == "torch" else x + 1
'''
QUICK = ("--seconds", "0.01", "--starts", "1")
STAND_IN = '''
import sys
del sys.modules["torch"]
import graphwright.as_torch
import torch
'''


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "benched.py"
    path.write_text(MODEL)
    return str(path)


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library of the name torch, which other processes find."""
    folder = tmp_path / "library" / "torch"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(STAND_IN)
    places = [str(folder.parent), *(place for place in sys.path if place)]
    monkeypatch.setenv("PYTHONPATH", ":".join(places))


def test_cases_have_first_calls_and_memory_of_fresh_processes(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], library: None
) -> None:
    out = tmp_path / "result.json"
    main(["bench", f"{model}:Net", *QUICK, "--peers", "torch", "--json", str(out)])
    text = capsys.readouterr().out
    document = json.loads(out.read_text())
    assert document["format"] == 1 and document["compiled"]["graphs"] == 1
    assert "results agree: 2 Tensor, 1 int, 1 NoneType, 1 str" in text
    assert list(document["cases"]) == ["eager", "compiled", "torch"]
    for name, case in document["cases"].items():
        assert case["problem"] is None and case.get("starts_problem") is None
        assert case["call_s"]["low"] <= case["call_s"]["median"] <= case["call_s"]["high"]
        assert case["first_cold_s"]["median"] > 0
        assert (case["first_warm_s"] is not None) == (name == "compiled")
        assert 0 <= case["call_bytes"]["median"] < case["peak_bytes"]["median"]
    assert document["cases"]["torch"]["differs"] is None
    assert "torch 2.13.0+graphwright: results agree" in text


def test_a_library_that_cannot_run_the_file_is_a_line(
    model: str, capsys: pytest.CaptureFixture[str], library: None
) -> None:
    if importlib.util.find_spec("jax") is not None:
        pytest.skip("JAX is installed")
    main(["bench", f"{model}:only_here", "--seconds", "0.01", "--starts", "0", "--input", "f32[2]",
          "--peers", "torch,jax.jit"])
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("torch: not run: TypeError: ") for line in lines)
    assert f"jax.jit: not run: jax is not installed in {sys.executable}" in lines


def test_a_python_without_a_library_or_no_python_at_all(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["bench", f"{model}:Net", *QUICK, "--peer-python", "/nowhere/python"])
    assert stopped.value.code == 2
    assert "/nowhere/python is no Python that runs" in capsys.readouterr().err


@pytest.mark.oracle
def test_pytorch_runs_a_file_that_was_written_for_graphwright(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    main(["bench", f"{model}:Net", *QUICK, "--peers", "torch"])
    assert capsys.readouterr().out.splitlines()[-1].endswith(": results agree")


# values between processes

VALUES = [
    gw.arange(6).reshape(2, 3), gw.tensor([1.5, 2.5], dtype=gw.bfloat16), gw.tensor(True),
    np.array([[1, 2]], dtype=np.int16), 3, -2.5, None, "text", 1 + 2j, False,
    {"a": [gw.zeros(2), (1,)], 3: {}}, [], (),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_are_the_same_in_another_process(value: Any) -> None:
    def make(array: np.ndarray, dtype: str, grad: bool) -> gw.Tensor:
        return gw.tensor(array, dtype=getattr(gw, dtype), requires_grad=grad)

    arrays: dict[str, np.ndarray] = {}
    document = json.loads(json.dumps(bench_process.encoded(value, arrays)))
    found = bench_process.decoded(document, arrays, make)
    assert type(found) is type(value)
    assert disagreement(value, results(found)) is None


def test_a_gradient_that_is_asked_for_is_asked_for_there() -> None:
    arrays: dict[str, np.ndarray] = {}
    entry = bench_process.encoded(gw.ones(2, requires_grad=True), arrays)
    assert entry["grad"] is True


def test_objects_do_not_leave_the_process() -> None:
    with pytest.raises(bench_process.CannotRunError, match="inputs have a object"):
        bench_process.encoded([object()], {})


def results(value: Any) -> dict[str, Any]:
    """What another process hands back."""
    arrays: dict[str, np.ndarray] = {}
    packed = [[path, bench_process.packed(leaf, arrays)]
              for path, leaf in bench_process.leaves(value)]
    return {"leaves": json.loads(json.dumps(packed)), "arrays": arrays}


@pytest.mark.parametrize(("ours", "theirs", "problem"), [
    ({"y": gw.ones(2)}, {"y": gw.ones(2) + 1}, "result['y']: by 1.00e+00"),
    (gw.ones(2), gw.ones(2, dtype=gw.float64), "result: float32 and float64"),
    (gw.ones(2), gw.ones(3), "result: float32 [2] and [3]"),
    ([gw.ones(2), 1], [gw.ones(2), 2], "result[1]: 1 and 2"),
    ([1], [1, 2], "1 values, and 2 of the other library, or in other places"),
    (gw.ones(2), 1.0, "result: float32 and 1.0"),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, None), ({"a": 1}, {"b": 1},
     "1 values, and 1 of the other library, or in other places"),
    (2, gw.tensor(2), None), (2, gw.tensor(3), "result: 2 and 3"),
])
def test_results_that_differ_are_named(ours: Any, theirs: Any, problem: str | None) -> None:
    assert disagreement(ours, results(theirs)) == problem


# an earlier result

def number(median: float, low: float, high: float, samples: int = 9) -> dict[str, Any]:
    return {"median": median, "low": low, "high": high, "samples": samples, "between": [low, high]}


@pytest.mark.parametrize(("new", "said"), [
    (number(2.0, 1.95, 2.05), "worse"), (number(0.5, 0.45, 0.55), "better"),
    (number(1.3, 0.9, 1.9), NONE),      # so wide that it may be the same
    (number(1.04, 1.04, 1.04), NONE),   # too little to speak of
    (number(1.0, 0.95, 1.05), NONE),
])
def test_verdicts_know_the_spread(new: dict[str, Any], said: str) -> None:
    assert verdict(number(1.0, 0.95, 1.05), new) == said


def test_numbers_without_a_spread_have_no_verdict() -> None:
    def results_of(cold: dict[str, Any] | None) -> dict[str, Any]:
        return {"cases": {"compiled": {"call_s": number(1, 1, 1), "first_cold_s": cold},
                          "torch": {"problem": "not installed"}}}

    old, new = results_of(number(1, 1, 1, samples=1)), results_of(number(9, 9, 9, samples=1))
    assert [row[1] for row in verdicts(old, new)] == ["call"]
    assert [row[1] for row in verdicts(results_of(None), new)] == ["call"]


def test_comparing_with_an_earlier_result(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    timing = Timing(1.0, 0.9, 1.1, 9)
    monkeypatch.setattr(bench, "in_turns", lambda cases, seconds: dict.fromkeys(cases, timing))
    command = ["bench", f"{model}:Net", "--starts", "0", "--peers", "none"]
    out = tmp_path / "old.json"
    main([*command, "--json", str(out)])
    old = json.loads(out.read_text())
    slow, fast = copy.deepcopy(old), copy.deepcopy(old)
    slow["cases"]["compiled"]["call_s"] = number(1e3, 1e3, 1e3)
    fast["cases"]["compiled"]["call_s"] = number(0.5, 0.45, 0.55)
    out.write_text(json.dumps(slow))
    capsys.readouterr()
    main([*command, "--compare", str(out)])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert next(row for row in rows if row[:2] == ["compiled", "call"])[-1] == "better"
    out.write_text(json.dumps(fast))
    with pytest.raises(SystemExit) as stopped:
        main([*command, "--compare", str(out)])
    assert stopped.value.code == 1
    assert "graphwright: worse than before: call of compiled\n" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "problem"), [
    (None, "cannot read"), ("{", "is no JSON document"), ("[]", "is no result of"),
])
def test_an_earlier_result_that_is_none(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, problem: str
) -> None:
    old = tmp_path / "old.json"
    if text is not None:
        old.write_text(text)
    with pytest.raises(SystemExit) as stopped:
        main(["bench", f"{model}:Net", "--compare", str(old)])
    assert stopped.value.code == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize("option", [("--peers", "tensorflow"), ("--starts", "-1"),
                                    ("--starts", "many")])
def test_options_with_other_values(
    model: str, capsys: pytest.CaptureFixture[str], option: tuple[str, str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["bench", f"{model}:Net", *option])
    assert stopped.value.code == 2 and f"'{option[1]}'" in capsys.readouterr().err
