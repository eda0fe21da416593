"""The page about a compilation: what is on it, that it is safe, small and self-contained."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.report import pages

import graphwright as gw
from graphwright.face.stage_dumps import artifacts_of
from graphwright.ir.pipeline import PASSES
from graphwright.report import viewer
from graphwright.report.page import template
from graphwright.report.stages import by_kernel, halves
from graphwright.report.viewer_graph import diff, ranges

DIGITS = 300
"""More bytes than two pages of one compilation differ by: the times of passes, run once more."""


@pytest.fixture(scope="module")
def block() -> tuple[Any, str]:
    """The explanation of a transformer block, and its page."""
    explanation = pages.block()
    return explanation, viewer.page(explanation)


def test_a_page_has_all_views_of_each_graph(block: tuple[Any, str]) -> None:
    text = "".join(pages.Parsed(block[1]).text)
    assert re.search(r'<span data-k="k\w+"[^>]*>define internal void @k', block[1])
    for view in ("Source, graph, kernels", "IR passes", "Generated code", "Memory plan",
                 "Breaks and guards", "Time", "forward graph of primitives",
                 "joint graph of primitives",
                 "backward graph of primitives", "LLVM IR", "assembly"):
        assert view in text
    assert "q, k, v = parts.permute(2, 0, 3, 1, 4)" in text


def test_links_lead_to_elements_of_the_page(block: tuple[Any, str]) -> None:
    parsed = pages.Parsed(block[1])
    keys = set(parsed.all("data-k"))
    links = {key for value in parsed.all("data-l") for key in value.split()}
    assert links and links <= keys
    assert {key[0] for key in keys} == {"L", "n", "k", "m"}


def test_each_node_that_computes_is_in_a_kernel_and_has_a_line(block: tuple[Any, str]) -> None:
    found = artifacts_of(block[0].graphs[0].graph)
    assert found is not None
    forward = halves(found)[0]
    fused = {name for part in forward.parts for step in part.steps for name in step.nodes}
    views = {"view", "transpose", "_unsafe_view", "permute", "select", "unsqueeze"}
    computing = {
        node.name for node in forward.module.graph.nodes
        if node.op == "call_function" and node.target.name not in views}
    assert computing <= fused
    assert all(step.nodes for part in forward.parts for step in part.steps)


def test_steps_that_splice_the_same_node_both_have_it() -> None:
    def f(x: gw.Tensor) -> tuple[gw.Tensor, gw.Tensor]:
        y = x + 1
        return (y * 2).sum(0), (y * 3).sum(1)

    found = artifacts_of(gw.explain(f)(gw.ones(40, 50)).graphs[0].graph)
    assert found is not None
    (part,) = halves(found)[0].parts
    for step in part.steps:
        assert ("sum" in step.loops) == any(name.startswith("sum") for name in step.nodes)
        assert ("* 2" in step.loops) == ("mul" in step.nodes)


def test_nodes_of_a_branch_are_not_taken_for_those_around_it() -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        y = x.sin() + 1
        (z,) = gw.cond(y.sum() > 0, lambda v: (v.sin() + 2,), lambda v: (v.cos() + 3,), (y,))
        return z * 2

    found = artifacts_of(gw.explain(f)(gw.ones(3)).graphs[0].graph)
    assert found is not None
    steps = [step for part in halves(found)[0].parts for step in part.steps]
    assert sum("sin" in step.loops for step in steps) == 2
    assert sum("sin" in step.nodes for step in steps) == 1


def test_a_backward_graph_that_has_not_run_is_shown_and_stays_uncompiled() -> None:
    explanation = gw.explain(lambda x: (x.exp() * x).sum())(gw.ones(3, requires_grad=True))
    found = artifacts_of(explanation.graphs[0].graph)
    assert found is not None
    assert [half.compiled for half in halves(found)] == [True, False]
    assert "backward: 1 kernels and matrix products; not run yet" in viewer.page(explanation)
    assert list(found.programs) == ["forward"]


def test_every_pass_is_listed_in_order(block: tuple[Any, str]) -> None:
    titles = re.findall(r"<summary>(\w+)(?:, \w+)?: \d+ lines added|>(\w+)(?:, \w+)?: no change",
                        block[1])
    names = list(dict.fromkeys(first or second for first, second in titles))
    assert names == [step.name for step in PASSES]


def test_text_of_the_program_is_escaped(tmp_path: Path) -> None:
    namespace: dict[str, Any] = {"gw": gw}
    source = tmp_path / "a<img src=x>.py"
    source.write_text("def f(x):\n    return x + len('<script>alert(1)</script><img>')\n")
    exec(compile(source.read_text(), str(source), "exec"), namespace)
    for explanation in (pages.with_breaks(), gw.explain(namespace["f"])(gw.ones(3))):
        parsed = pages.Parsed(viewer.page(explanation))
        assert parsed.tags.count("script") == 1
        assert "img" not in parsed.tags
        assert not [name for element in parsed.elements for name in element
                    if name.startswith("on")]
        assert "<script>alert(" in "".join(parsed.text)


def test_a_page_loads_nothing(block: tuple[Any, str]) -> None:
    parsed = pages.Parsed(block[1])
    for attribute in ("src", "href", "xlink:href", "srcset", "action", "data"):
        assert all(value.startswith("#") for value in parsed.all(attribute))
    assert not {"link", "iframe", "img", "object", "base"} & set(parsed.tags)
    assert "default-src 'none'" in "".join(parsed.all("content"))
    assert "@import" not in block[1] and "url(" not in template("style.css")


def test_a_page_that_would_be_too_large_leaves_out_details_and_says_so(
    block: tuple[Any, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    explanation, whole = block
    monkeypatch.setattr(viewer, "LARGEST", len(whole.encode()) - DIGITS)
    smaller = viewer.page(explanation)
    assert "the page leaves out assembly;" in smaller
    assert len(smaller.encode()) < len(whole.encode())
    several = pages.with_breaks()
    least = viewer.page(several)
    monkeypatch.setattr(viewer, "DETAILS", ())
    monkeypatch.setattr(viewer, "LARGEST", len(viewer.page(several).encode()) - DIGITS)
    fewer = viewer.page(several)
    assert "all graphs but the first 1;" in fewer
    assert ">Graph 1</button>" in fewer and ">Graph 2</button>" not in fewer
    assert ">Graph 3</button>" in least
    monkeypatch.setattr(viewer, "LARGEST", 1000)
    with pytest.raises(ValueError, match="explain a part of the program"):
        viewer.page(explanation)


def test_pages_of_what_has_no_native_code_say_why() -> None:
    x = gw.ones(3)
    own = viewer.page(gw.explain(lambda x: x + 1, backend=lambda graph, _: graph.forward)(x))
    assert "compiled by a backend of the program&#x27;s own" in own
    eager = viewer.page(gw.explain(lambda x: x + 1, backend="eager")(x))
    assert "It runs as it was captured" in eager
    assert "no tensor operation in the frame" in viewer.page(gw.explain(lambda x: x + 1)(1))


def test_save_writes_the_page(tmp_path: Path) -> None:
    explanation = gw.explain(lambda x: x + 1)(gw.ones(3))
    explanation.save(tmp_path / "page.html")
    explanation.save(str(tmp_path / "again.html"))
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text == (tmp_path / "again.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")


def test_spans_of_stages_lie_within_the_capture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHWRIGHT_GRAPH_CACHE", "0")
    explanation = gw.explain(lambda x: (x + 1).sum())(gw.ones(7))
    capture, guards = explanation.spans
    assert capture.name.startswith("compile::capture ")
    assert guards.name.startswith("compile::guards ")
    found = artifacts_of(explanation.graphs[0].graph)
    assert found is not None
    assert [span.name.removeprefix("compile::") for span in found.spans] == [
        *(f"pass {step.name}" for step in PASSES), "passes",
        "lowering", "schedule", "memory_plan", "codegen llvm", f"native forward {found.function}"]
    for span in found.spans:
        assert capture.start <= span.start <= span.end <= capture.end <= guards.end


def test_explaining_imports_nothing_of_the_viewer() -> None:
    code = ("import graphwright as gw, sys; gw.explain(lambda x: x + 1)(gw.ones(3)); "
            "print([name for name in sys.modules if name.startswith('graphwright.report')])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_diff_shows_long_unchanged_runs_by_their_ends() -> None:
    same = [f"line {number}" for number in range(20)]
    assert list(diff([*same, "old"], [*same, "new"])) == [
        ("same", "line 0"), ("same", "line 1"), ("cut", "… 16 unchanged lines"),
        ("same", "line 18"), ("same", "line 19"), ("del", "old"), ("add", "new")]


def test_source_lines_near_each_other_are_shown_together() -> None:
    assert list(ranges([40, 10, 13])) == [(8, 15), (38, 42)]
    assert list(ranges([1])) == [(1, 3)]
    assert list(ranges([])) == []


@pytest.mark.parametrize(("stage", "text"), [
    ("llvm", "x\ndefine internal void @k0_a_1(ptr %c) #0 {\nbody\n}\nrest"),
    ("c", "x\nstatic void k0_a_body(void *c) {\nbody\n}\nrest"),
    ("asm", "x\nk0_a:\nbody\n.Lfunc_end0:\nrest"),
])
def test_generated_code_is_cut_at_the_functions_of_kernels(stage: str, text: str) -> None:
    pieces = list(by_kernel(stage, text, frozenset({"k0_a"})))
    assert [owner for owner, _ in pieces] == ["", "k0_a", ""]
    assert "\n".join(piece for _, piece in pieces) == text


# -- colours

def colours() -> dict[str, tuple[str, str]]:
    """Each variable's colours in light and in dark."""
    found = re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\);", template("style.css"))
    return {name: (light, dark) for name, light, dark in found}


def luminance(colour: str) -> float:
    """Relative luminance, after WCAG 2.2."""
    parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


TEXT = [
    *(("ink", back) for back in
      ("bg", "surface", "raised", "mark", "pin", "added", "removed")),
    ("muted", "bg"), ("muted", "surface"), ("accent", "bg"), ("accent", "surface"),
    ("bg", "c0"), ("bg", "c1"), ("bg", "c2"), ("bg", "c3"), ("bg", "c4"), ("bg", "c5"),
    ("bg", "c6"),
]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("front", "back"), TEXT)
def test_text_has_enough_contrast(front: str, back: str, theme: int) -> None:
    known = colours()
    assert contrast(known[front][theme], known[back][theme]) >= 4.5


def seen(colour: str, matrix: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    """A colour as linear RGB, as someone with a colour vision deficiency sees it."""
    parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    mixed = [max(sum(m * p for m, p in zip(row, linear, strict=True)), 0.0) for row in matrix]
    return tuple(value ** (1 / 2.2) for value in mixed)


DEFICIENCIES = {  # Machado, Oliveira and Fernandes (2009), severity 1
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
}


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_the_first_series_differ_for_colour_blind_readers(deficiency: str, theme: int) -> None:
    shown = [seen(colours()[f"c{n}"][theme], DEFICIENCIES[deficiency]) for n in range(4)]
    for number, one in enumerate(shown):
        for other in shown[:number]:
            distance = sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5
            assert distance > 0.1
