"""Splitting a joint graph into forward and backward, and what is saved in between.

What the gradients' part reads of the forward's values is saved, or recomputed from other saved
values: `saved_values` decides, by what both cost. Products and reductions that the program says to
recompute (RECOMPUTED) are never saved; random numbers are never drawn twice.

The caller may write to inputs and results before the backward runs. Eager execution notices that
only for what its gradients read; so of an input or result that gradients do not read a copy is
saved, where something is to be recomputed from it.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf
from typing import Any

from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import RECOMPUTED, Node, map_leaves
from graphwright.ir.joint.joint import dense_like
from graphwright.ir.joint.recompute_costs import bytes_of, is_drawn, is_view
from graphwright.ir.joint.saved_values import Problem, choose_saved
from graphwright.ir.lowered_graph import Saved
from graphwright.ir.passes.algebra import same_sizes
from graphwright.ir.passes.keep_data_checks import may_refuse
from graphwright.ir.trace import bind_symbols
from graphwright.runtime.ops.table import TABLE
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Sym
from graphwright.runtime.symbolic.symint import SymInt


class Partition(Record):
    """The halves of a joint graph; see `Lowered` for `saved`, `Origin` for `nodes`.

    recomputed: the operations of the forward that run in the backward, too.
    """

    forward: GraphModule
    backward: GraphModule
    saved: list[Saved]
    nodes: list[Node]
    recomputed: list[Node]


def partition(
    joint: GraphModule, n_forward: int, n_inputs: int, mutated_inputs: Collection[int] = (),
    budget: float = inf,
) -> Partition:
    """Split `joint`.

    Args:
        n_forward: how many of its outputs are the forward's; the others are gradients.
        n_inputs: how many of its placeholders are the forward's; the others are tangents.
        mutated_inputs: inputs whose memory changes after the call: saved as copies.
        budget: how many bytes should be saved at most, beside inputs and results.
    """
    return _Split(joint, n_forward, n_inputs, mutated_inputs).run(budget)


class Rest(Record):
    """A backward half: `places` of the values that it takes first, then `sizes`."""

    backward: GraphModule
    places: list[int]
    sizes: list[SymInt]


def backward_from(
    joint: GraphModule, n_forward: int, n_inputs: int, places: Mapping[Node, int],
    values: Sequence[Any],
) -> Rest | None:
    """The backward half of `joint` that takes what is there already; None if that is too little.

    Args:
        n_forward, n_inputs: as in `partition`.
        places: where in `values` the values of some nodes are.
        values: fake, as the half gets them.
    """
    return _Split(joint, n_forward, n_inputs, ()).rest(places, values)


class _Split:
    """One split of a joint graph into forward and backward.

    `early` holds the nodes that do not depend on a tangent; `forwards` those of them that results
    depend on; `free` those that exist after the forward anyway, since they are its arguments or
    its results; `copied` those of them that are saved as copies.
    """

    def __init__(
        self, joint: GraphModule, n_forward: int, n_inputs: int, mutated: Collection[int]
    ) -> None:
        self.joint = joint
        self.placeholders = joint.graph.placeholders
        self.inputs = {node: i for i, node in enumerate(self.placeholders[:n_inputs])}
        self.tangents = self.placeholders[n_inputs:]
        self.mutated = mutated
        results = joint.graph.output_node().args[0]
        self.results, self.gradients = results[:n_forward], results[n_forward:]
        self.free = {*self.inputs, *(r for r in self.results if isinstance(r, Node))}
        self.copied: set[Node] = set()
        self.order = {node: i for i, node in enumerate(joint.graph.nodes)}
        late: set[Node] = set(self.tangents)
        for node in joint.graph.nodes:
            if node.op != "output" and any(n in late for n in node.all_input_nodes):
                late.add(node)
        self.early = {n for n in self.order if n not in late and n.op != "output"}
        self.forwards = ancestors(n for n in self.results if isinstance(n, Node))

    def run(self, budget: float) -> Partition:
        saved = self._choose(budget)
        forward, positions = self._forward(saved)
        values = forward.graph.output_node().meta["val"]
        kept = {n: values[positions[n]] if n in positions else n.meta["val"] for n in saved}
        entries = [
            Saved("input", self.inputs[n]) if n not in positions else Saved("output", positions[n])
            for n in saved
        ]
        backward, sizes = self._backward(kept)
        again = ancestors(self._needed(), set(saved)) & self.forwards
        return Partition(
            forward, backward, entries + [Saved("size", size=s) for s in sizes], saved,
            [n for n in self.order if n in again and n.op == "call_function" and not is_view(n)])

    def rest(self, places: Mapping[Node, int], values: Sequence[Any]) -> Rest | None:
        """The backward from values that exist already: what `backward_from` returns."""
        chosen: dict[Node, int] = {}
        pending = list(self._needed())
        seen = set(pending)
        while pending:
            node = pending.pop()
            if node in places:
                chosen[node] = places[node]
            elif node.op == "placeholder" or is_drawn(node):
                return None
            else:
                pending += [source for source in node.all_input_nodes if source not in seen]
                seen.update(node.all_input_nodes)
        backward, sizes = self._backward({n: values[place] for n, place in chosen.items()})
        return Rest(backward, list(chosen.values()), sizes)

    def _choose(self, budget: float) -> list[Node]:
        """The values to save, in the joint graph's order.

        Of what the program says to recompute the sources are read, as eager execution does.
        """
        read = {self._viewed(n) for n in self._needed() if n.op != "get_attr"}
        again = {n for n in self.early if is_recomputed(n) and n not in self.free}
        held = self.free & read.union(*[n.all_input_nodes for n in again])
        held -= {n for n, i in self.inputs.items() if i in self.mutated}
        self.copied = self.free - held
        return choose_saved(
            Problem(self.order, read, self.early, self.forwards, held, self.copied, again), budget)

    def _needed(self) -> set[Node]:
        """The values of the forward part that the gradients' part reads."""
        needed = {
            n for node in self.order if node not in self.early and node.op != "output"
            for n in node.all_input_nodes if n in self.early
        }
        needed.update(n for n in self.gradients if isinstance(n, Node) and n in self.early)
        return needed

    def _viewed(self, node: Node) -> Node:
        """What `node` is a view of, where saving that takes no more memory."""
        source = node
        while is_view(source) and isinstance(source.args[0], Node):
            source = source.args[0]
            if source in self.free or bytes_of(source) <= bytes_of(node):
                node = source
        return node

    def _forward(self, saved: Sequence[Node]) -> tuple[GraphModule, dict[Node, int]]:
        """The forward graph, and the outputs that saved values are."""
        graph = Graph()
        copies = _copy_ancestors(graph, self.placeholders[:len(self.inputs)],
                                 [*self.results, *saved, *self._refusing()], self.order)
        outputs = [copies[r] if isinstance(r, Node) else r for r in self.results]
        positions: dict[Node, int] = {}
        for node in saved:
            copied = node in self.copied
            if node in self.inputs and not copied:
                continue
            value = copies[node]
            dense = dense_like(node.meta["val"])
            if copied or not same_sizes(dense.stride(), node.meta["val"].stride()):
                value = graph.call_function(TABLE["clone"], (value,))
                value.meta = {**node.meta, "val": dense}
            positions[node] = self._position(value, outputs)
            if positions[node] == len(outputs):
                outputs.append(value)
        return self._module(graph, outputs), positions

    def _refusing(self) -> list[Node]:
        """What may raise where the forward is called, though it needs no result of it."""
        return [node for node in self.early if may_refuse(node) and "stack" in node.meta]

    def _position(self, value: Node, outputs: list[Any]) -> int:
        """Where among the outputs a saved value stands as the backward takes it, or will stand.

        Results get the strides that eager execution gives them, which may be others.
        """
        promised = self.joint.meta.get("layouts", ())
        strides = value.meta["val"].stride()
        for place, output in enumerate(outputs):
            layout = promised[place] if place < len(promised) else None
            if output is value and (layout is None or same_sizes(layout, strides)):
                return place
        return len(outputs)

    def _backward(self, saved: dict[Node, Any]) -> tuple[GraphModule, list[SymInt]]:
        """The backward graph, and the sizes that it takes besides. `saved`: node -> its value."""
        graph = Graph()
        copies: dict[Node, Node] = {}
        arguments = {**saved, **{tangent: tangent.meta["val"] for tangent in self.tangents}}
        for node, value in arguments.items():
            copies[node] = graph.placeholder(node.name)
            copies[node].meta["val"] = value
        _copy_ancestors(graph, (), self.gradients, self._when_needed(copies), copies)
        module = self._module(
            graph, [copies[g] if isinstance(g, Node) else g for g in self.gradients])
        module.meta.update(layouts=[], rng_ops=0)
        sizes = _free_sizes(module)
        if sizes:
            with graph.inserting_before(copies[self.tangents[0]]):
                for size in sizes:
                    graph.placeholder(str(size)).meta["val"] = size
            bind_symbols(module)
        return module, sizes

    def _when_needed(self, given: Collection[Node]) -> dict[Node, int]:
        """The joint graph's order but for what is recomputed: that comes before its first
        reader, so that it need not be kept until then."""
        places: dict[Node, int] = {}
        known = set(given)
        for node in self.order:
            if node not in self.early:
                again = ancestors(node.all_input_nodes, known)
                for needed in (*sorted(again, key=self.order.__getitem__), node):
                    places[needed] = len(places)
                    known.add(needed)
        return places

    def _module(self, graph: Graph, outputs: list[Any]) -> GraphModule:
        output = graph.output(tuple(outputs))
        output.meta["val"] = map_leaves(
            tuple(outputs), lambda n: n.meta["val"] if isinstance(n, Node) else n)
        module = GraphModule(self.joint, graph)
        module.meta.update(self.joint.meta)
        bind_symbols(module)
        return module


def is_recomputed(node: Node) -> bool:
    """Whether the program says to compute a node again; what was drawn at random is kept."""
    return RECOMPUTED in node.meta and not is_drawn(node)


def ancestors(nodes: Iterable[Node], known: Collection[Node] = ()) -> set[Node]:
    """The nodes and all that their values are made of, without the `known` and what is behind."""
    found: set[Node] = set()
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if node not in found and node not in known:
            found.add(node)
            pending += node.all_input_nodes
    return found


def _copy_ancestors(
    graph: Graph, placeholders: Sequence[Node], roots: Sequence[Any], order: dict[Node, int],
    copies: dict[Node, Node] | None = None,
) -> dict[Node, Node]:
    """Copy into `graph` what the roots need, down to what is in `copies`."""
    copies = {} if copies is None else copies
    for node in placeholders:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    needed = ancestors((root for root in roots if isinstance(root, Node)), copies)
    for node in sorted(needed, key=order.__getitem__):
        copies[node] = graph.node_copy(node, copies.__getitem__)
    return copies


def _free_sizes(module: GraphModule) -> list[SymInt]:
    """The size symbols that a graph mentions and no placeholder's shape gives."""
    found: dict[Sym, SymInt] = {}

    def note(leaf: Any) -> Any:
        if type(leaf) is SymInt:
            for symbol in leaf.expr.symbols():
                found.setdefault(symbol, SymInt(symbol, leaf.env))
        return leaf

    for node in module.graph.nodes:
        map_leaves((node.args, node.kwargs), note)
        value = node.meta.get("val")
        for tensor in value if isinstance(value, tuple) else (value,):
            if hasattr(tensor, "shape") and node.target is not operator.getitem:
                map_leaves((tensor.shape, tensor.stride()), note)
    bound = module.symbols
    return [found[s] for s in sorted(found, key=lambda s: s.sort_key) if s.name not in bound]
