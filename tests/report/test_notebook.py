"""What notebooks show: escaped, short, and for every kind of tensor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.report import pages

import graphwright as gw
from graphwright import nn
from graphwright.ir.graph.module import GraphModule
from graphwright.report.drawing import kind_of
from graphwright.report.notebook import LARGEST_GRAPH
from graphwright.runtime.fake.fake_tensor import fake_like

ROOT = Path(__file__).resolve().parents[2]


def shown(value: Any) -> str:
    """The text of what a notebook shows, its elements being balanced."""
    parsed = pages.Parsed(value._repr_html_())
    assert "script" not in parsed.tags
    return "\n".join(parsed.text)


def test_a_tensor_is_shown_by_its_ends() -> None:
    x = gw.arange(10_000).reshape(100, 100).float().requires_grad_()
    text = shown(x)
    assert "Tensor: float32[100, 100], cpu, requires_grad" in text
    assert "9999" in text and "5050" not in text
    assert len(x._repr_html_()) < 12_000


def test_a_result_names_how_it_was_computed() -> None:
    assert "grad_fn MulBackward0" in shown(gw.ones(2, requires_grad=True) * 2)


@pytest.mark.parametrize("value", [
    gw.tensor(1.5), gw.zeros(0, 3), gw.ones(3, dtype=gw.bfloat16), gw.tensor([True, False]),
    gw.tensor([1 + 2j]), gw.ones(2, 3, 4, 5), gw.ones(3, dtype=gw.float8_e4m3fn),
    gw.ones(3, 4).t()[1:], nn.Parameter(gw.ones(2)),
], ids=lambda value: f"{value.dtype} {tuple(value.shape)}")
def test_tensors_of_all_dtypes_and_shapes_are_shown(value: gw.Tensor) -> None:
    sizes = ", ".join(map(str, value.shape))
    assert f"{value.dtype.name}[{sizes}]" in shown(value)


def test_tensors_without_values_say_so() -> None:
    assert "It has no values" in shown(gw.empty(2, device="meta"))
    assert "It has no values" in shown(fake_like(gw.ones(2)))
    assert "It has no elements" in shown(gw.empty(0))
    assert "not initialised" in shown(nn.parameter.UninitializedParameter())


def test_a_subclass_is_not_asked_about_what_it_overrides() -> None:
    class Refusing(gw.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
                               ) -> Any:
            raise AssertionError(f"{func} was called")

    assert "Refusing: float32[2]" in shown(gw.ones(2).as_subclass(Refusing))


def test_a_graph_is_drawn_and_printed() -> None:
    explanation = gw.explain(lambda x: x.sin() + 1)(gw.ones(2))
    module = explanation.graphs[0].graph
    assert isinstance(module, GraphModule)
    for value in (module, module.graph, explanation):
        assert pages.Parsed(value._repr_html_()).tags.count("g") > 4
        assert "sin" in shown(value)
    assert "def forward" in shown(module)


def test_an_explanation_shows_its_counts_unfolded() -> None:
    text = gw.explain(lambda x: x.sin() + 1)(gw.ones(2))._repr_html_()
    assert "1 graph, 0 graph breaks" in text.partition("<details>")[0]


def test_an_explanation_lists_its_breaks_escaped() -> None:
    text = shown(pages.with_breaks())
    assert "GB0003 graph break" in text and "<script>alert(" in text


def test_a_large_graph_is_not_drawn() -> None:
    module = pages.of_large_graph().graphs[0].graph
    assert f"more than {LARGEST_GRAPH} nodes are not drawn" in shown(module.graph)


def test_a_module_is_a_tree_with_the_numbers_of_its_parameters() -> None:
    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(2, 3)
            self.again = self.first
            self.missing = None
            self.lazy = nn.LazyLinear(4)

        def extra_repr(self) -> str:
            return "<script>\nx"

    text = shown(Named())
    assert "Named: 9 parameters" in text
    assert "Named(<script> x)" in text
    assert "weight: (3, 2) graphwright.float32" in text


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.ipynb")), ids=lambda p: p.name)
def test_the_example_runs(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") for cell in notebook.cells)
    client = nbclient.NotebookClient(
        notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    drawn = [output for output in outputs if "text/html" in output.get("data", {})]
    assert len(drawn) >= 4
    assert (tmp_path / "look_inside.html").stat().st_size > 10_000


def test_what_nodes_are_drawn_as() -> None:
    def f(x: Any) -> Any:
        y = nn.functional.conv_transpose1d(x.unbind(0)[0].reshape(1, 3, 4), gw.ones(3, 2, 2))
        return gw.outer(y.flatten(), y.flatten()).exp()

    graph = gw.explain(f)(gw.ones(2, 12)).graphs[0].graph.graph
    kinds = {node.name: kind_of(node) for node in graph.nodes}
    assert kinds["unbind"] == kinds["reshape"] == kinds["flatten"] == "view"
    assert kinds["conv_transpose1d"] == kinds["outer"] == "product" and kinds["exp"] == "op"
    assert kinds["x"] == "input" and "output" in kinds.values()
