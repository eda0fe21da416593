"""Minimum cuts, against networkx."""

from __future__ import annotations

import random

import networkx
import pytest

from graphwright.ir.joint.min_cut import UNBOUNDED, FlowNetwork


@pytest.mark.parametrize("seed", range(40))
def test_a_cut_costs_as_little_as_networkx_finds(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(2, 30)
    edges: dict[tuple[int, int], int] = {}
    for _ in range(rng.randint(1, 5 * count)):
        source, target = rng.sample(range(count), 2)
        edges[source, target] = edges.get((source, target), 0) + rng.randint(0, 20)
    network, graph = FlowNetwork(count), networkx.DiGraph()
    graph.add_nodes_from(range(count))
    for (source, target), capacity in edges.items():
        network.add(source, target, capacity)
        graph.add_edge(source, target, capacity=capacity)
    side = network.cut(0, count - 1)
    value, _ = networkx.minimum_cut(graph, 0, count - 1)
    assert 0 not in side and count - 1 in side
    crossing = [capacity for (source, target), capacity in edges.items()
                if source not in side and target in side]
    assert sum(crossing) == value


def test_of_several_cuts_that_nearest_to_the_sink_is_taken() -> None:
    network = FlowNetwork(4)
    for node in range(3):
        network.add(node, node + 1, 5)
    assert network.cut(0, 3) == {3}


def test_no_cut_crosses_an_unbounded_edge() -> None:
    network = FlowNetwork(4)
    for node, capacity in enumerate((7, UNBOUNDED, UNBOUNDED)):
        network.add(node, node + 1, capacity)
    assert network.cut(0, 3) == {1, 2, 3}
