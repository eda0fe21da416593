"""Layered layout: inputs above their users, boxes apart, columns where it would be too tall."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from graphwright.report.layout import GAP, layered


def random_graph(seed: int, count: int) -> list[list[int]]:
    draws = random.Random(seed)
    return [sorted({draws.randrange(node) for _ in range(draws.randrange(3))}) if node else []
            for node in range(count)]


@pytest.mark.parametrize("seed", range(5))
def test_inputs_are_in_higher_layers_and_boxes_do_not_overlap(seed: int) -> None:
    inputs = random_graph(seed, 80)
    widths = [40.0 + 10 * (node % 7) for node in range(80)]
    layout = layered(widths, inputs)
    for node, sources in enumerate(inputs):
        assert all(layout.layers[source] < layout.layers[node] for source in sources)
    rows: dict[float, list[int]] = {}
    for node, (x, y) in enumerate(layout.nodes):
        assert widths[node] / 2 <= x <= layout.width - widths[node] / 2
        assert 0 < y < layout.height
        rows.setdefault(y, []).append(node)
    for row in rows.values():
        row.sort(key=lambda node: layout.nodes[node][0])
        for left, right in pairwise(row):
            distance = layout.nodes[right][0] - layout.nodes[left][0]
            assert distance >= (widths[left] + widths[right]) / 2 + GAP - 1e-6


def test_each_edge_goes_from_its_source_to_its_target() -> None:
    inputs = random_graph(9, 60)
    layout = layered([50.0] * 60, inputs)
    assert {(source, target) for source, target, _ in layout.edges} == {
        (source, target) for target, sources in enumerate(inputs) for source in sources}
    for source, target, points in layout.edges:
        assert points[0] == layout.nodes[source] and points[-1] == layout.nodes[target]


def test_a_chain_is_straight_and_what_has_no_inputs_stands_above_its_user() -> None:
    layout = layered([50.0] * 4, [[], [0], [], [1, 2]])
    assert layout.layers == [0, 1, 1, 2]
    chain = layered([50.0] * 3, [[], [0], [1]])
    assert len({x for x, _ in chain.nodes}) == 1


def test_a_long_chain_is_folded_into_columns() -> None:
    layout = layered([50.0] * 1500, [[], *([node] for node in range(1499))])
    assert layout.height < 2 * layout.width and layout.width < 3 * layout.height
    assert len(set(layout.nodes)) == 1500


def test_edges_beyond_the_limit_of_bends_are_direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphwright.report.layout.MOST_BENDS", 3)
    inputs = [[], [0], [1], [2], [3, 1], [4], [5, 0]]
    points = {(s, t): route for s, t, route in layered([50.0] * 7, inputs).edges}
    assert len(points[1, 4]) == 4
    assert len(points[0, 6]) == 2


def test_a_graph_that_is_not_in_order_is_an_error() -> None:
    with pytest.raises(ValueError, match="node 0 has inputs"):
        layered([1.0, 1.0], [[1], []])
    assert layered([], []).nodes == []
