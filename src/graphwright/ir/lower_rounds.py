"""`lower_rounds`: how a graph of many rounds is called, from lowering it with few of them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.lowered_graph import CannotLower, Ends, Graphs, Lowered, Shortened
from graphwright.ir.pipeline import lower_graph
from graphwright.ir.rounds import KEPT, Removed, Rounds, find_rounds, shortened
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.later import Later
from graphwright.runtime.record import replace
from graphwright.runtime.spans import Span
from graphwright.runtime.tensor.generator import restore_rng, rng_states


def lower_rounds(
    graph: GraphModule, inputs: Sequence[Any], graphs: Later[Graphs],
    spans: list[Span] | None = None,
) -> Lowered | None:
    """What `lower_graph` gives for a captured graph that is not differentiated, whose `graphs` are
    left for later; `shortened` is what is compiled in their place.

    None where the graph has few rounds, or where these write to inputs, draw random numbers or
    have constants, so that no two are equal.
    """
    rounds = find_rounds(graph, inputs)
    return None if rounds is None else _lowered(graph, inputs, graphs, spans, rounds, KEPT)


def _lowered(
    graph: GraphModule, inputs: Sequence[Any], graphs: Later[Graphs], spans: list[Span] | None,
    rounds: Rounds, counts: Sequence[int],
) -> Lowered | None:
    """The same with the first of these counts of rounds."""
    found = shortened(graph, rounds, counts[0])
    if found is None:
        return None
    short, removed = found
    examples = [inputs[removed.position(place)] for place in range(len(removed.inputs))]
    random = rng_states()
    try:
        lowered = lower_graph(short, examples, needs_grad=False, spans=spans)
    except (CannotLower, DataDependent):    # lowering the whole graph says where
        return None
    finally:
        restore_rng(random)
    if lowered.mutated or lowered.rng_ops or lowered.forward.graph.find_nodes(op="get_attr"):
        return None
    whole = copy.copy(lowered)
    longer = partial(_lowered, graph, inputs, graphs, spans, rounds, counts[1:])
    whole.shortened = Shortened(lowered.forward, removed, longer if counts[1:] else None)
    whole.graphs, whole.ends = graphs, _ends(lowered.ends, removed)
    whole.outputs = [
        replace(spec, index=removed.position(spec.index)) if spec.kind == "input" else spec
        for spec in lowered.outputs]
    return whole


def _ends(ends: Ends, removed: Removed) -> Ends:
    """Those of the whole graph."""
    return replace(
        ends, n_inputs=len(removed.names),
        symbols={name: (removed.position(place), dim)
                 for name, (place, dim) in ends.symbols.items()},
        second_names={removed.position(one): removed.position(other)
                      for one, other in ends.second_names.items()})
