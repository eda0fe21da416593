"""docs/ecosystem.md: what each model and use did, a row each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path

from .outcome import FLOOR, TOLERANCE
from .rows import Row, Rows
from .uses import USES

LIBRARIES = (
    *("transformers", "timm", "captum", "einops", "lion-pytorch", "pytorch-lightning", "skorch"),
    *("torchdiffeq", "torchmetrics", "x-transformers"),
)
HEAD = """# Libraries for PyTorch, run by graphwright

`make ecosystem` writes this page. It installs the libraries that tools/ecosystem.txt pins, without
PyTorch, and runs tiny models of them, in which `import torch` means graphwright: forward, loss,
gradients and `generate()`, eagerly and compiled. The results are compared with those that PyTorch
{torch} gave of the same weights, which come from a safetensors file of seeded numbers.

Rule of comparison: a number matches where it differs by at most {tolerance:g} of itself and of the
root mean square of its tensor together; a gradient counts as at least {floor:g} of the model's
largest. Shapes and tokens are equal.

- **eager**, **compiled**: whether outputs, loss, gradients, running statistics and tokens match.
- **gradients**: of how many parameters.
- **graphs**, **nodes**, **breaks**: of the compiled forward. Graphs end where Python decides by
  numbers that tensors hold: how many tokens an expert gets, how many labels there are.
- **decoding**: how often the forward was compiled while `generate()` made ten tokens.

## Your own libraries

    pip install --no-deps LIBRARY       # pip would install PyTorch with it otherwise
    pip show LIBRARY                    # "Requires": install those that you need, but torch
    graphwright run PROGRAM.py          # or `import graphwright.as_torch` before all else

`pip install --no-deps -r tools/ecosystem.txt` installs what is run here.
"""


def write(path: Path, found: Rows) -> None:
    """Write the page."""
    path.write_text("\n".join(lines(list(found.rows.values()))) + "\n")


def lines(rows: list[Row]) -> Iterator[str]:
    """The page, line by line."""
    from .record import recorded_versions

    yield HEAD.format(torch=recorded_versions()["torch"], tolerance=TOLERANCE, floor=FLOOR)
    models = [row for row in rows if row.name not in USES]
    broken = sum(len(row.breaks) for row in rows)
    nodes = sum(row.nodes for row in rows)
    whole = sum(not row.breaks for row in rows if row.compiled is not None)
    yield "## In all"
    yield ""
    yield (f"{sum(map(matches, rows))} of {len(rows)} match, {whole} without a graph break; "
           f"{broken} breaks in {nodes} nodes, {1000 * broken / max(nodes, 1):.1f} per thousand.")
    yield ""
    yield "Run with " + ", ".join(f"{name} {version(name)}" for name in LIBRARIES) + "."
    for kind in dict.fromkeys(row.kind for row in models):
        yield ""
        yield f"## {kind if kind == 'timm' else f'transformers: {kind}'}"
        yield ""
        yield from table("model", [row for row in models if row.kind == kind])
    yield ""
    yield "## Uses of other libraries"
    yield ""
    yield from table("use", [row for row in rows if row.name in USES])


def matches(row: Row) -> bool:
    """Whether a row is as PyTorch, eagerly and compiled."""
    return not row.error and row.eager == row.compiled == []


def table(title: str, rows: Iterable[Row]) -> Iterator[str]:
    """The rows of one kind."""
    yield f"| {title} | eager | compiled | gradients | graphs | breaks | nodes | decoding |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for row in rows:
        name = row.name.removeprefix("timm_")
        if row.name in USES:
            name = f"{USES[row.name].package}: {USES[row.name].title}"
        cells = (name, verdict(row.eager), verdict(row.compiled), row.gradients or "",
                 row.graphs, len(row.breaks), row.nodes, row.decoding.get("graphs", ""))
        yield "| " + " | ".join(map(str, cells)) + " |"


def verdict(differences: list[str] | None) -> str:
    """A cell: "ok", or how much differs."""
    if differences is None:
        return "fails"
    return "ok" if not differences else f"{len(differences)} differ"
