"""A captured graph, or one of primitives, as an SVG drawing. Styled by `template/style.css`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from graphwright.report.layout import Layout, Point, layered
from graphwright.runtime.record import Record

HEIGHT = 36.0
LETTER, LEAST, MOST = 6.7, 56.0, 190.0
LONGEST = 26
"""Letters of a name or a type that fit into the widest box."""
KINDS = {
    "input": "input", "constant": "constant or parameter", "op": "operation",
    "view": "view of other memory", "product": "product or convolution", "output": "result",
}
"""The classes of boxes, and what a legend says of them."""
PRODUCTS = frozenset({
    "mm", "bmm", "matmul", "broadcast_matmul", "linear", "bilinear", "addmm", "baddbmm", "einsum",
    "dot", "mv", "outer", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "convolution", "conv_input_grad", "conv_weight_grad", "fused_attention",
    "scaled_dot_product_attention", "attention_backward",
})
VIEWS = frozenset({
    "view", "reshape", "flatten", "transpose", "permute", "unbind", "getitem", "expand", "select",
})
"""Methods and functions that mostly return views; ops that always do say so themselves."""


class Box(Record):
    """A node as it is drawn: its name, its type in short, its kind, its inputs' numbers."""

    name: str
    detail: str
    kind: str
    target: str
    inputs: tuple[int, ...]


def boxes(nodes: Iterable[Any], describe: Callable[[Any], str]) -> list[Box]:
    """The boxes of a graph's nodes. `describe` writes a value's dtype and shape."""
    numbers: dict[Any, int] = {}
    found: list[Box] = []
    for number, node in enumerate(nodes):
        numbers[node] = number
        detail = describe(node.meta["val"]) if "val" in node.meta else ""
        found.append(Box(node.name, detail, kind_of(node), target_text(node),
                         tuple(numbers[source] for source in node.all_input_nodes)))
    return found


def target_text(node: Any) -> str:
    """What a node calls, in short."""
    if isinstance(node.target, str):
        return node.target
    name = getattr(node.target, "name", None) or getattr(node.target, "__name__", None)
    return name if isinstance(name, str) else type(node.target).__name__


def kind_of(node: Any) -> str:
    """A key of `KINDS`."""
    if node.op == "placeholder":
        found = str(node.meta.get("source", ""))
        return "constant" if "_parameters" in found or "_buffers" in found else "input"
    if node.op in ("get_attr", "output"):
        return "constant" if node.op == "get_attr" else "output"
    name = target_text(node)
    if name in PRODUCTS:
        return "product"
    return "view" if getattr(node.target, "is_view", False) or name in VIEWS else "op"


def shortened(text: str, letters: int = LONGEST) -> str:
    """At most so many letters."""
    return text if len(text) <= letters else text[:letters - 1] + "…"


def width_of(box: Box) -> float:
    """The width of a box, by its text."""
    letters = max(len(shortened(box.name)), 0.86 * len(shortened(box.detail)))
    return min(max(LETTER * letters + 18, LEAST), MOST)


def draw(
    drawn: Sequence[Box], *, title: str, keys: str = "", attributes: Sequence[str] = (),
    badges: Sequence[str] = (),
) -> str:
    """The drawing, an <svg> element.

    Args:
        drawn: the boxes, each after its inputs.
        title: what it shows, for those who cannot see it.
        keys: what the keys of its nodes begin with, for links; see `template/page.js`.
        attributes: for each box further attributes of its element, escaped, after a space.
        badges: for each box a short text in its corner, "" for none.
    """
    layout = layered([width_of(box) for box in drawn], [box.inputs for box in drawn])
    parts = [
        f'<svg class="gw-graph" role="group" aria-label="{escape(title)}" data-keys="{keys}" '
        f'viewBox="0 0 {layout.width:.0f} {layout.height:.0f}" '
        f'width="{layout.width:.0f}" height="{layout.height:.0f}">'
        '<g class="gw-zoom"><g class="gw-edges">']
    parts += [f'<path data-e="{source} {target}" d="{path(points)}"/>'
              for source, target, points in layout.edges]
    parts.append("</g>")
    for number, box in enumerate(drawn):
        more = attributes[number] if attributes else ""
        badge = badges[number] if badges else ""
        parts.append(_node(box, layout, number, more, badge))
    return "".join([*parts, "</g></svg>"])


def _node(box: Box, layout: Layout, number: int, more: str, badge: str) -> str:
    x, y = layout.nodes[number]
    width = width_of(box)
    rounded = HEIGHT / 2 if box.kind in ("input", "constant") else 5
    call = f" = {box.target}" if box.target != box.name else ""
    label = f"{box.name}{call}: " + (box.detail or KINDS[box.kind])
    texts = f'<text y="{-3 if box.detail else 4}">{escape(shortened(box.name))}</text>'
    if box.detail:
        texts += f'<text class="gw-type" y="11">{escape(shortened(box.detail))}</text>'
    mark = f'<text class="gw-badge" x="{width / 2 - 4:.0f}" y="-{HEIGHT / 2 + 3:.0f}">' \
           f"{escape(badge)}</text>" if badge else ""
    return (
        f'<g class="gw-node gw-{box.kind}" transform="translate({x:.0f} {y:.0f})"{more}>'
        f"<title>{escape(label)}</title>"
        f'<rect x="{-width / 2:.1f}" y="{-HEIGHT / 2:.0f}" width="{width:.1f}" '
        f'height="{HEIGHT:.0f}" rx="{rounded:.0f}"/>{texts}{mark}</g>')


def path(points: Sequence[Point]) -> str:
    """A smooth line from the bottom of one box through the bends to the top of another."""
    (x, y), (last_x, last_y) = points[0], points[-1]
    steps = [(x, y + HEIGHT / 2), *points[1:-1], (last_x, last_y - HEIGHT / 2)]
    text = f"M{steps[0][0]:.0f} {steps[0][1]:.0f}"
    for number, ((x0, y0), (x1, y1)) in enumerate(pairwise(steps), 2):
        if round(x0) == round(x1):
            if number == len(steps) or round(steps[number][0]) != round(x1):
                text += f"V{y1:.0f}"
            continue
        middle = (y0 + y1) / 2
        text += f"C{x0:.0f} {middle:.0f} {x1:.0f} {middle:.0f} {x1:.0f} {y1:.0f}"
    return text


def legend() -> str:
    """What the kinds of boxes mean, as a list."""
    items = "".join(
        f'<li><svg class="gw-graph" width="26" height="14" aria-hidden="true">'
        f'<g class="gw-node gw-{kind}"><rect x="1" y="1" width="24" height="12" '
        f'rx="{6 if kind in ("input", "constant") else 3}"/></g></svg>{escape(text)}</li>'
        for kind, text in KINDS.items())
    return f'<ul class="gw-legend">{items}</ul>'
