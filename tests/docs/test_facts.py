"""What the pages state as facts is what the source, the figures and the files say."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks import ratios, reporting
from benchmarks.measured import RESULTS, Measured
from tests.docs.blocks import ROOT, blocks, run

import graphwright as gw
from graphwright.face.logs import LOGS

SOURCE = ROOT / "src" / "graphwright"


# -- environment variables


def variables_in_source() -> set[str]:
    """The names that the source asks the environment for; include guards of C are none."""
    found: set[str] = set()
    for path in (*SOURCE.rglob("*.py"), *SOURCE.rglob("*.c")):
        found |= set(re.findall(r"""["'](GRAPHWRIGHT_[A-Z_]+)["']""", path.read_text()))
    return found


def test_the_page_of_environment_variables_has_those_of_the_source() -> None:
    page = (ROOT / "docs" / "environment.md").read_text()
    listed = set(re.findall(r"^\| `(GRAPHWRIGHT_[A-Z_]+)`", page, re.M))
    assert listed == variables_in_source()
    assert "GRAPHWRIGHT_NUM_THREADS" in listed


@pytest.mark.parametrize("page", ["environment", "debugging"])
def test_the_names_of_logs_are_all_listed(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text()
    assert [name for name in LOGS if f"`{name}`" not in text] == []


# -- figures


def test_published_figures_are_those_of_the_committed_results() -> None:
    wrong = [str(path.relative_to(ROOT)) for path, text in reporting.documents(ROOT).items()
             if path.read_text() != text]
    assert wrong == [], "run `python -m benchmarks --render`"


@pytest.mark.parametrize("name", [path.stem for path in sorted(RESULTS.glob("*.json"))])
def test_results_say_how_they_were_measured(name: str) -> None:
    measured = Measured.read(name)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", measured.conditions.date)
    assert measured.conditions.threads > 0 and "Python" in measured.conditions.versions
    assert json.loads(measured.text()) == json.loads((RESULTS / f"{name}.json").read_text())


def test_what_is_not_known_is_named() -> None:
    known = replace(Measured.read("suite").conditions, commit="abc", cpu="Z80", load=[0.5, 1.0])
    assert "Not recorded" not in known.sentences() and "load 0.50 to 1.00" in known.sentences()
    assert "Not recorded: load." in replace(known, load=None).sentences()


def test_the_chart_has_ten_rows_with_named_peers() -> None:
    measured = Measured.read("suite")
    results = ratios.chosen(measured)
    assert len(results) == 10 and all(ratios.ratios(result) for result in results)
    with pytest.raises(ValueError, match="not measured: softmax"):
        rest = [result for result in measured.results if not result.name.startswith("softmax")]
        ratios.chosen(replace(measured, results=rest))


def test_numbers_of_the_readme_are_those_of_its_pages() -> None:
    readme = (ROOT / "README.md").read_text()
    operations = re.search(r"\*\*(\d+) operations\*\*", (ROOT / "docs" / "ops.md").read_text())
    models = re.search(r"^(\d+) of \1 match", (ROOT / "docs" / "ecosystem.md").read_text(), re.M)
    assert operations and f"{operations[1]} [operations]" in readme
    assert models and f"{models[1]}\n  [models" in readme
    assert f"lists {models[1]} models" in (ROOT / "docs" / "coming_from_pytorch.md").read_text()


# -- pictures


def test_the_picture_is_what_the_compiler_dumps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import draw_picture

    assert draw_picture.PICTURE.read_text() == draw_picture.picture()


# -- the paths of a new user


def test_the_planted_break_is_found_and_fixed(tmp_path: Path) -> None:
    """docs/debugging.md shows examples/broken.py; explain finds the break, the remedy helps."""
    source = (ROOT / "examples" / "broken.py").read_text()
    page = (ROOT / "docs" / "debugging.md").read_text()
    code = [block.text for block in blocks(page) if block.language == "python"]
    shown = code[0].removeprefix("# broken.py\n")
    assert shown.rstrip() in source
    found = run(f"graphwright explain {ROOT}/examples/broken.py:step", tmp_path).stdout
    assert "GB0001" in found and "if largest > 1:" in found and "1 graph break" in found

    broken = source[source.index("def clipped"):source.index("\n\ndef step")]
    remedy = code[2][code[2].index("def clipped"):code[2].index("\n\nprint")]
    (tmp_path / "fixed.py").write_text(source.replace(broken, remedy + "\n"))
    fixed = run("graphwright explain fixed.py:step", tmp_path).stdout
    assert "\n1 graph, 0 graph breaks" in fixed, fixed


def test_the_fix_computes_the_same() -> None:
    def before(x: gw.Tensor) -> gw.Tensor:
        largest = x.abs().max()
        return x / largest if largest > 1 else x

    for scale in (0.1, 1.0, 10.0):
        x = gw.randn(8) * scale
        assert gw.allclose(x / x.abs().max().clamp(min=1), before(x))


def test_the_code_of_a_kernel_is_shown(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("import graphwright as gw\n\ndef f(x):\n"
                                     "    return (x.exp() + 1).sum()\n")
    for stage, text in (("loops", "kernel k0"), ("llvm", "define"), ("graph", "def forward")):
        shown = run(f"graphwright dump own.py:f --input float32[64] --stage {stage}", tmp_path)
        assert shown.returncode == 0 and text in shown.stdout


# -- files beside the pages


def test_the_citation_has_the_keys_of_its_format() -> None:
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    keys = dict(line.split(": ", 1) for line in lines if re.match(r"[a-z-]+: ", line))
    lists = {line[:-1] for line in lines if re.fullmatch(r"[a-z-]+:", line)}
    assert {"cff-version", "message", "title", "authors"} <= set(keys) | lists
    assert set(keys) | lists <= {
        "abstract", "authors", "cff-version", "commit", "contact", "date-released", "doi",
        "identifiers", "keywords", "license", "license-url", "message", "preferred-citation",
        "references", "repository", "repository-artifact", "repository-code", "title", "type",
        "url", "version"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert keys["version"] == project["version"] and keys["license"] == project["license"]
    assert keys["type"] in ("software", "dataset") and keys["cff-version"] == "1.2.0"
    assert '  - name: "The graphwright developers"' in lines


def test_the_workflows_run_what_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text()
    files: list[str] = []
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = path.read_text()
        for target in re.findall(r"run: make (\w+)", text):
            assert f"\n{target}:" in makefile
        files += re.findall(r"run: (\.\S+)", text)
        pins = re.findall(r"uses: \S+@(\S+)", text)
        assert pins and all(re.fullmatch(r"v\d+\.\d+\.\d+|[0-9a-f]{40}", pin) for pin in pins)
    assert ".ci/run" in files and all((ROOT / file).exists() for file in files)
