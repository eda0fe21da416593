"""Layered layout of directed acyclic graphs, after Sugiyama, Tagawa and Toda (1981).

Nodes get layers by their longest path, edges that cross layers get bends, the order within layers
follows the barycentres of the neighbours, and positions are the least squares to theirs that keep
order and distance (the pool-adjacent-violators algorithm).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from graphwright.runtime.record import Record, field

SWEEPS = 8
"""How often the layers are ordered, and placed, after their neighbours; down and up in turns."""
MOST_BENDS = 12_000
"""Edges beyond so many bends, the longest ones, are drawn without any."""
ROW, GAP = 74.0, 18.0
TALLEST = 4.0
"""A drawing whose height is more times its width is folded into columns, read from the left."""
COLUMN_GAP = 70.0
BEND_WIDTH, BEND_PULL = 6.0, 4.0

Point = tuple[float, float]


class Layout(Record):
    """Where everything is drawn, in units that are pixels at scale 1.

    Attributes:
        nodes: the centre of each node.
        layers: the layer of each node, from the top.
        edges: (source, target, points from source to target) of each edge.
        width, height: of the whole drawing, which begins at 0, 0.
    """

    nodes: list[Point]
    layers: list[int]
    edges: list[tuple[int, int, list[Point]]]
    width: float
    height: float


class _Layers(Record, frozen=False):
    """Nodes and, behind them, bends: the width, the layer and the neighbours above of each."""

    widths: list[float]
    layer: list[int]
    above: list[list[int]]
    below: list[list[int]] = field(default_factory=list)
    routes: dict[tuple[int, int], list[int]] = field(default_factory=dict)


def layered(widths: Sequence[float], inputs: Sequence[Sequence[int]]) -> Layout:
    """Lay out a graph whose node i has edges from the nodes `inputs[i]`, all of them before i.

    Args:
        widths: the width of each node's box.
        inputs: for each node the numbers of others.

    Raises:
        ValueError: an input does not come before its node.
    """
    for node, sources in enumerate(inputs):
        if any(not 0 <= source < node for source in sources):
            raise ValueError(f"node {node} has inputs {list(sources)}; they must come before it")
    if not widths:
        return Layout([], [], [], 0.0, 0.0)
    graph = _with_bends(list(widths), inputs, _layers_of(inputs))
    rows: list[list[int]] = [[] for _ in range(max(graph.layer) + 1)]
    for item in _depth_first(graph):
        rows[graph.layer[item]].append(item)
    _order(graph, rows)
    places = _place(graph, rows)
    points, columns, width, height = _folded(graph, rows, places)
    edges = [
        (source, target, _route(
            [(points[item], columns[item]) for item in
             (source, *graph.routes.get((source, target), ()), target)]))
        for target, sources in enumerate(inputs) for source in dict.fromkeys(sources)]
    count = len(widths)
    return Layout(points[:count], graph.layer[:count], edges, width, height)


def _folded(
    graph: _Layers, rows: list[list[int]], places: list[float]
) -> tuple[list[Point], list[int], float, float]:
    """Points and columns of everything, and the size of the drawing."""
    lefts = [min(places[n] - graph.widths[n] / 2 for n in row) for row in rows]
    rights = [max(places[n] + graph.widths[n] / 2 for n in row) for row in rows]
    width, height = max(rights) - min(lefts), len(rows) * ROW
    per_column = len(rows)
    if height > TALLEST * max(width, 300.0):
        per_column = math.ceil(math.sqrt(len(rows) * (width + COLUMN_GAP) / ROW / 1.6))
    points, columns = [(0.0, 0.0)] * len(places), [0] * len(places)
    edge = GAP
    for column, first in enumerate(range(0, len(rows), per_column)):
        chosen = range(first, min(first + per_column, len(rows)))
        left = min(lefts[number] for number in chosen)
        for number in chosen:
            for item in rows[number]:
                points[item] = (places[item] - left + edge, (number - first + 0.5) * ROW)
                columns[item] = column
        edge += max(rights[number] for number in chosen) - left + COLUMN_GAP
    return points, columns, edge - COLUMN_GAP + GAP, min(per_column, len(rows)) * ROW


def _route(places: Sequence[tuple[Point, int]]) -> list[Point]:
    """The points of an edge; from column to column it goes up beside the column that it leaves."""
    route = [places[0][0]]
    for (point, column), (target, other) in pairwise(places):
        for _ in range(column, other):
            side = target[0] - COLUMN_GAP * 0.9
            route += [(side, point[1] + ROW / 2), (side, target[1] - ROW / 2)]
        route.append(target)
    return route


def _layers_of(inputs: Sequence[Sequence[int]]) -> list[int]:
    """The longest path to each node; what has no inputs stands directly above its first user."""
    layer = [0] * len(inputs)
    for node, sources in enumerate(inputs):
        layer[node] = 1 + max((layer[source] for source in sources), default=-1)
    first: dict[int, int] = {}
    for node, sources in enumerate(inputs):
        for source in sources:
            first[source] = min(first.get(source, layer[node]), layer[node])
    return [first[node] - 1 if not sources and node in first else layer[node]
            for node, sources in enumerate(inputs)]


def _with_bends(
    widths: list[float], inputs: Sequence[Sequence[int]], layer: list[int]
) -> _Layers:
    """Long edges get a bend in each layer; all edges from one node share theirs."""
    reach: dict[int, int] = {}
    for node, sources in enumerate(inputs):
        for source in sources:
            reach[source] = max(reach.get(source, 0), layer[node])
    chains: dict[int, list[int]] = {}
    graph = _Layers(widths, layer, [[] for _ in widths])
    left = MOST_BENDS
    for source in sorted(reach, key=lambda node: reach[node] - layer[node]):
        length = reach[source] - layer[source] - 1
        if length > left:
            break
        left -= length
        chains[source] = []
        for depth in range(length):
            above = chains[source][-1] if depth else source
            chains[source].append(len(graph.layer))
            graph.layer.append(layer[source] + 1 + depth)
            graph.widths.append(BEND_WIDTH)
            graph.above.append([above])
    for node, sources in enumerate(inputs):
        for source in dict.fromkeys(sources):
            steps = layer[node] - layer[source] - 1
            if source in chains:
                route = graph.routes[source, node] = chains[source][:steps]
                graph.above[node].append(route[-1] if route else source)
    graph.below = [[] for _ in graph.layer]
    for item, neighbours in enumerate(graph.above):
        for other in neighbours:
            graph.below[other].append(item)
    return graph


def _depth_first(graph: _Layers) -> list[int]:
    """Everything, each before what is below it first: what belongs together stays together."""
    seen = [False] * len(graph.layer)
    found: list[int] = []
    roots = [item for item, above in enumerate(graph.above) if not above]
    pending = roots[::-1]
    while pending:
        item = pending.pop()
        if not seen[item]:
            seen[item] = True
            found.append(item)
            pending += reversed(graph.below[item])
    return found


def _sweeps(graph: _Layers, rows: list[list[int]]) -> Iterator[tuple[list[int], list[list[int]]]]:
    """Each row, and the neighbours of everything that it follows: down and up in turns."""
    for sweep in range(SWEEPS):
        for row in rows[::-1] if sweep % 2 else rows:
            yield row, graph.below if sweep % 2 else graph.above


def _mean(places: list[float], near: list[int], item: int) -> float:
    """The mean place of the neighbours of something; its own where it has none."""
    return sum(places[n] for n in near) / len(near) if near else places[item]


def _order(graph: _Layers, rows: list[list[int]]) -> None:
    """Sort each row by the mean place of the neighbours in the row before, up and down."""
    place = [0.0] * len(graph.layer)
    for row in rows:
        for number, item in enumerate(row):
            place[item] = float(number)
    for row, neighbours in _sweeps(graph, rows):
        row.sort(key={item: _mean(place, neighbours[item], item) for item in row}.__getitem__)
        for number, item in enumerate(row):
            place[item] = float(number)


def _place(graph: _Layers, rows: list[list[int]]) -> list[float]:
    """Horizontal centres."""
    x = [0.0] * len(graph.layer)
    for row in rows:
        edge = 0.0
        for item in row:
            x[item] = edge + graph.widths[item] / 2
            edge += graph.widths[item] + GAP
        for item in row:
            x[item] -= edge / 2
    for row, neighbours in _sweeps(graph, rows):
        widths = [graph.widths[item] for item in row]
        wanted = [_mean(x, neighbours[item], item) for item in row]
        pulls = [BEND_PULL if width == BEND_WIDTH else 1.0 for width in widths]
        for item, value in zip(row, _apart(widths, wanted, pulls), strict=True):
            x[item] = value
    return x


def _apart(widths: list[float], wanted: list[float], pulls: list[float]) -> list[float]:
    """The centres nearest to those `wanted`, weighted by `pulls`, at which boxes keep `GAP`."""
    offsets, edge = [], 0.0
    for width in widths:
        offsets.append(edge + width / 2)
        edge += width + GAP
    blocks: list[tuple[float, float, int]] = []    # mean, weight, number of boxes
    for want, offset, pull in zip(wanted, offsets, pulls, strict=True):
        mean, weight, count = want - offset, pull, 1
        while blocks and blocks[-1][0] > mean:
            other, more, number = blocks.pop()
            mean = (mean * weight + other * more) / (weight + more)
            weight, count = weight + more, count + number
        blocks.append((mean, weight, count))
    shifts = [mean for mean, _, count in blocks for _ in range(count)]
    return [shift + offset for shift, offset in zip(shifts, offsets, strict=True)]
