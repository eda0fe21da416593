"""HTML of tensors, graphs, explanations and modules for notebooks.

The methods `_repr_html_` import this module when a notebook calls them. It imports nothing that
they are defined by, so that it may be named from any layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from graphwright.report.drawing import boxes, draw, legend
from graphwright.report.page import table, template

EDGE = 4
"""Rows and columns of a tensor that are shown at each end."""
LARGEST_GRAPH = 400
"""Nodes of a graph that is drawn; a larger one is shown as text."""
DEEPEST = 30
"""Levels of modules within modules that are shown."""


def _framed(head: str, *parts: str) -> str:
    """A box with a heading, in the colours of the notebook."""
    style = template("style.css").split("/* == pages == */")[0]
    return (f"<style>{style}</style><div class='gw gw-box'><p class='gw-head'>{escape(head)}</p>"
            f"{''.join(parts)}</div>")


def tensor_html(tensor: Any, values: Any) -> str:
    """Shape, dtype and gradient of a tensor, and its ends.

    Args:
        values: its elements as a NumPy array; None where it has none, as a fake tensor. Only the
            ends are read.
    """
    if _is_lazy(tensor):
        return _framed(type(tensor).__name__, "<p class='gw-muted'>not initialised</p>")
    shape = f"[{', '.join(map(str, tensor.shape))}]"
    facts = [f"{tensor.dtype.name}{shape}", str(tensor.device)]
    if tensor.requires_grad:
        facts.append("requires_grad")
    if tensor.grad_fn is not None:
        facts.append(f"grad_fn {tensor.grad_fn.name()}")
    head = f"{type(tensor).__name__}: {', '.join(facts)}"
    if values is None:
        return _framed(head, "<p class='gw-muted'>It has no values.</p>")
    if not values.size:
        return _framed(head, "<p class='gw-muted'>It has no elements.</p>")
    if not values.ndim:
        return _framed(head, f"<code>{escape(_number(values.item()))}</code>")
    first = values[(0,) * (values.ndim - 2)] if values.ndim > 2 else values
    note = (f"<p class='gw-muted'>At [{', '.join(['0'] * (values.ndim - 2))}]:</p>"
            if values.ndim > 2 else "")
    return _framed(head, note, _matrix(first))


def _matrix(values: Any) -> str:
    """The ends of a vector or matrix as a table with the positions as headings."""
    if values.ndim == 1:
        columns = _shown(values.shape[0])
        return table(["", *map(_place, columns)],
                     [["", *(_cell(values, (column,)) for column in columns)]])
    rows, columns = _shown(values.shape[0]), _shown(values.shape[1])
    return table(
        ["", *map(_place, columns)],
        [[_place(row), *(_cell(values, (row, column)) for column in columns)] for row in rows])


def _shown(size: int) -> list[int | None]:
    """Positions, with None for those that are left out."""
    if size <= 2 * EDGE + 1:
        return list(range(size))
    return [*range(EDGE), None, *range(size - EDGE, size)]


def _place(position: int | None) -> str:
    return "…" if position is None else str(position)


def _cell(values: Any, position: tuple[int | None, ...]) -> str:
    return "…" if None in position else _number(values[position].item())


def _number(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float | complex) else str(value)


def graph_html(graph: Any, describe: Any, text: str, head: str = "Graph") -> str:
    """A graph as a drawing and as text.

    Args:
        describe: writes the dtype and shape of a value.
        text: the graph as source.
    """
    nodes = list(graph.nodes)
    title = f"{head}: {len(nodes)} nodes"
    folded = (f"<details><summary>As text</summary><pre class='gw-scroll'>{escape(text)}</pre>"
              "</details>")
    return _framed(title, _drawn(nodes, describe, title), folded)


def _drawn(nodes: Sequence[Any], describe: Any, title: str) -> str:
    if len(nodes) > LARGEST_GRAPH:
        return (f"<p class='gw-muted'>Graphs of more than {LARGEST_GRAPH} nodes are not drawn "
                "here.</p>")
    return (f"<div class='gw-scroll' tabindex='0'>{draw(boxes(nodes, describe), title=title)}"
            f"</div>{legend()}")


def explanation_html(explanation: Any, describe: Any) -> str:
    """The function, counts, the first graph, breaks, and folded the tree of frames.

    Args:
        describe: writes the dtype and shape of a value.
    """
    head, counts, *rest = explanation.text(guards=True).splitlines()
    parts = [f"<p>{escape(counts)}</p>"]
    if explanation.graphs:
        first = explanation.graphs[0]
        parts.append(_drawn(list(first.graph.graph.nodes), describe, "The first captured graph"))
    broken = [f"{place.code} {place.what}, line {place.location.line}: {place.title}. "
              f"{place.advice}" for place in explanation.breaks]
    if broken:
        items = "".join(f"<li>{escape(line)}</li>" for line in broken)
        parts.append(f"<p>Breaks</p><ul>{items}</ul>")
    tree = "\n".join(rest)
    parts.append("<details><summary>Frames, guards, breaks and recompiles</summary>"
                 f"<pre class='gw-scroll'>{escape(tree)}</pre></details>"
                 "<p class='gw-muted'>save(\"page.html\") writes a page that shows all.</p>")
    return _framed(head, *parts)


def module_html(module: Any) -> str:
    """A module and those in it as a tree, with the numbers of their parameters."""
    return _framed(f"{module._get_name()}: {_count(module)} parameters", _branch(module, "", 0))


def _branch(module: Any, name: str, depth: int) -> str:
    extra = module.extra_repr().replace("\n", " ")
    title = f"{f'{name}: ' if name else ''}{module._get_name()}({extra})"
    line = (f"<code>{escape(title)}</code> "
            f"<span class='gw-muted'>{_count(module)} parameters</span>")
    children = [item for item in module._modules.items() if item[1] is not None]
    own: Iterable[str] = (
        f"<li><code>{escape(f'{key}: {_described(value)}')}</code></li>"
        for key, value in module._parameters.items() if value is not None)
    below = [*own, *(f"<li>{_branch(child, key, depth + 1)}</li>" for key, child in children)]
    if not below or depth >= DEEPEST:
        return line
    return (f"<details {'open' if depth < 1 else ''}><summary>{line}</summary>"
            f"<ul>{''.join(below)}</ul></details>")


def _is_lazy(parameter: Any) -> bool:
    """Whether its shape is not known before the first call."""
    return hasattr(parameter, "materialize")


def _described(parameter: Any) -> str:
    return ("not initialised" if _is_lazy(parameter) else
            f"{tuple(parameter.shape)} {parameter.dtype}")


def _count(module: Any) -> str:
    """How many elements the parameters have, each once; lazy ones count as none."""
    sizes = (parameter.numel() for parameter in module.parameters()
             if not _is_lazy(parameter))
    return f"{sum(sizes):,}"
