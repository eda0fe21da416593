"""`graphwright explain`, and `gw.explain`, whose text is the same."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw
from graphwright.cli.main import main

MODEL = '''import graphwright as gw
from graphwright import nn


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x)
        print("in the part")
        return y * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.Sequential(Part(), nn.ReLU(), Part())

    def forward(self, x):
        return {"y": self.parts(x) + 1, "n": 3}


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 2)

    def forward(self, x):
        return self.linear(x).relu()


net = Plain()


def several(x):
    y = x + 1
    print("one")
    y = y * 2
    print("two")
    return y.sin()


def inner(z):
    return z @ gw.ones(7)


def midway(x):
    y = x + 1
    print("before")
    return inner(y * 2)


@gw.compiler.disable
def disabled(x):
    return x + 1


def nothing(x):
    return len("abc")


def ends(x):
    raise SystemExit(3)


def stops(x):
    raise KeyboardInterrupt


def example_inputs():
    return (gw.ones(2, 4),)
'''


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "explained.py"
    path.write_text(MODEL)
    return str(path)


Explain = Callable[..., tuple[int, str, str]]


@pytest.fixture
def explain(model: str, capsys: pytest.CaptureFixture[str]) -> Explain:
    """The exit code and the two outputs of `explain` of a name in the file."""

    def call(name: str, *options: str, command: str = "explain") -> tuple[int, str, str]:
        code = 0
        try:
            main([command, f"{model}:{name}", *options])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def line_of(text: str) -> int:
    return MODEL.partition(text)[0].count("\n") + 1


@pytest.mark.parametrize(("name", "head"), [
    ("several", "several"), ("Plain", "Plain.forward"), ("net", "Plain.forward"),
    ("Net", "Net.forward"), ("net.forward", "Plain.forward"),
])
def test_the_heading_is_the_users_function_or_module(
    explain: Explain, model: str, name: str, head: str
) -> None:
    _, out, _ = explain(name)
    shown = next(line for line in out.splitlines() if not line.startswith(("one", "two", "in ")))
    defined = "def several" if name == "several" else \
        "    def forward(self, x):\n        return " + ("{" if name == "Net" else "self.linear")
    assert shown == f"{head} ({model}:{line_of(defined)})"


def test_an_object_that_a_library_defines_is_headed_by_the_line_that_makes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "makes.py"
    path.write_text("import graphwright as gw\nmodel = gw.nn.Sequential(gw.nn.ReLU())\n"
                    "relu: object = gw.relu\n")
    for name, head in (("model", "model: Sequential"), ("relu", "relu")):
        main(["explain", f"{path}:{name}", "--input", "f32[2]"])
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == f"{head} ({path}:{2 + (name == 'relu')})"
        assert lines[2] == "└─ frame, from the start of the function"


def test_what_a_module_became_stands_below_it(explain: Explain) -> None:
    code, out, err = explain("Plain")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[1].startswith("1 graph, 0 graph breaks, 0 fallbacks, 0 recompiles, ")
    assert lines[2] == "└─ frame, from the start of the function"
    assert len(lines) == 5


def test_guards_are_a_count_by_kind_or_all(explain: Explain) -> None:
    _, folded, _ = explain("Plain")
    found = re.search(r"guards: (\d+), \d+ ns together \((.*)\)", folded)
    assert found is not None
    assert sum(int(part.split()[0]) for part in found[2].split(", ")) == int(found[1]) > 5
    _, shown, _ = explain("Plain", "--guards")
    assert len(re.findall(r"^ +[├└]─ +\d+ ns  ", shown, re.MULTILINE)) == int(found[1])


def test_each_break_has_its_line_reason_and_advice(explain: Explain, model: str) -> None:
    _, out, err = explain("several")
    assert "3 graphs, 2 graph breaks" in out and err == ""
    for text in ("one", "two"):
        line = line_of(f'print("{text}")')
        assert f'GB0003 graph break at {model}:{line}: print("{text}")\n' in out
    assert out.count("Move the print") == 2


def test_a_break_within_several_frames_is_explained_once(explain: Explain) -> None:
    _, out, _ = explain("Net")
    assert out.count('print("in the part") (see above)') > 1
    reason = "a builtin with an effect outside of the program"
    assert out.count(reason) == 1


def test_frames_of_libraries_are_one_line(explain: Explain) -> None:
    _, folded, _ = explain("Net")
    summary = r"^\d+ frames of libraries, folded \(graphwright \d+\): .*graph break"
    assert re.search(summary, folded, re.MULTILINE)
    assert "Sequential.forward" not in folded
    _, shown, _ = explain("Net", "--libraries")
    assert "Sequential.forward (" in shown and "of libraries, folded" not in shown


def test_an_exception_leaves_the_tree_and_shows_the_users_frames(
    explain: Explain, model: str
) -> None:
    code, out, err = explain("midway")
    assert code == 1
    assert "The call raised RuntimeError; this is what was found until then." in out
    assert 'graph break at' in out and "resume function, from line" in out
    assert err.startswith("Traceback (most recent call last):\n  File")
    files = re.findall(r'File "(.*)", line (\d+), in (\w+)', err)
    assert [(file, name) for file, _, name in files] == [(model, "midway"), (model, "inner")]
    assert "RuntimeError: matmul: shapes cannot be multiplied" in err


def test_debug_shows_all_frames(model: str) -> None:
    with pytest.raises(RuntimeError, match="matmul"):
        main(["--debug", "explain", f"{model}:midway"])


@pytest.mark.parametrize(("name", "reason"), [
    ("nothing", "no tensor operation in the frame"),
    ("disabled", "it is disabled"),
])
def test_a_target_of_which_nothing_was_compiled(
    explain: Explain, name: str, reason: str
) -> None:
    code, out, err = explain(name)
    assert code == 3
    assert err.startswith(f"graphwright: no frame of {name} was compiled\n")
    sentence = f"No frame of {name} was compiled, probably because: "
    assert sentence in out and reason in out.partition(sentence)[2].splitlines()[0]
    assert explain(name, command="dump")[0] == 3


def test_a_target_that_ends_the_process_or_is_interrupted(explain: Explain) -> None:
    code, out, err = explain("ends")
    assert code == 1 and "ended the process (SystemExit: 3)" in err and "ends (" in out
    code, out, err = explain("stops")
    assert (code, err) == (130, "graphwright: interrupted\n") and "stops (" in out


def test_json_is_alone_on_standard_output(explain: Explain, model: str, tmp_path: Path) -> None:
    code, out, err = explain("several", "--json")
    document = json.loads(out)
    assert code == 0 and err == "one\ntwo\n"
    assert document["subject"] == {"function": "several", "file": model,
                                   "line": line_of("def several")}
    assert document["stats"]["graphs"] == 3 == len(document["frames"])
    assert [entry["line"] for entry in document["breaks"]] == [
        line_of('print("one")'), line_of('print("two")')]
    assert document["frames"][0]["break"] == document["breaks"][0]
    assert "all" not in document["frames"][0]["guards"]
    file = tmp_path / "out.json"
    explain("several", "--guards", "--json", str(file))
    guards = json.loads(file.read_text())["frames"][0]["guards"]
    assert len(guards["all"]) == guards["count"] == sum(guards["kinds"].values())


def test_json_of_a_call_that_raised(explain: Explain) -> None:
    code, out, _ = explain("midway", "--json")
    document = json.loads(out)
    assert code == 1 and document["error"]["type"] == "RuntimeError" and document["breaks"]


def test_an_option_before_the_target_does_not_take_it(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["explain", "--json", f"{model}:net"])
    assert json.loads(capsys.readouterr().out)["target"] == f"{model}:net"


def test_the_text_of_the_function_is_that_of_the_command(
    explain: Explain, model: str, tmp_path: Path
) -> None:
    def counted(text: str) -> str:
        return re.sub(r"\d+ ns together", "N ns together", text)

    _, out, _ = explain("Net")
    namespace: dict[str, Any] = {"__name__": "explained"}
    exec(compile(MODEL, model, "exec"), namespace)
    printed = "in the part\n" * 2
    text = str(gw.explain(namespace["Net"]())(gw.ones(2, 4)))
    assert counted(printed + text + "\n") == counted(out)


def test_the_subject_of_other_callables() -> None:
    def f(x: gw.Tensor, k: int) -> gw.Tensor:
        return x * k

    class Scale:
        def __call__(self, x: gw.Tensor) -> gw.Tensor:
            return x * 2

        def by(self, x: gw.Tensor) -> gw.Tensor:
            return x * 3

    x = gw.ones(2)
    for function, name in (
        (functools.partial(f, k=2), f.__qualname__), (gw.compile(lambda x: x + 1), "<lambda>"),
        (Scale(), "Scale.__call__"), (Scale().by, "Scale.by"), (gw.relu, "relu"),
        (gw.compile(gw.nn.ReLU()), "ReLU.forward"),
    ):
        explanation = gw.explain(function)(x)
        assert explanation.subject is not None
        assert explanation.subject.function.endswith(name)
        assert explanation.stats.graphs == 1
        assert [frame.location for frame in explanation.frames] == [explanation.subject] or \
            isinstance(function, functools.partial)
