"""Splitting a joint graph into forward and backward, and what is saved in between.

What the gradients' part reads of the forward's values is saved, unless it can be recomputed
cheaply: a chain of views and pointwise ops that starts from other saved values, or from fewer
bytes than it replaces, as numbers do that are made of a mask of bools. Matrix products, reductions
and random numbers are never computed twice, except for those products and reductions that the
program says to recompute (RECOMPUTED). What no result is made of, as a normalised value may
be, is computed with the gradients unless its sources take distinctly more memory.

The caller may write to inputs and results before the backward runs. Eager execution notices that
only for what its gradients read; so an input or result is saved only if gradients read it, and
never to compute something else from it.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import RECOMPUTED, Node, map_leaves
from graphwright.ir.joint.joint import dense_like
from graphwright.ir.lowered_graph import Saved
from graphwright.ir.passes.algebra import same_sizes
from graphwright.ir.passes.keep_data_checks import may_refuse
from graphwright.ir.trace import bind_symbols
from graphwright.runtime.ops.table import TABLE, Kind, Op
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Sym
from graphwright.runtime.symbolic.symint import SymInt, hint_of

_GATHERS = frozenset(
    {"contiguous", "clone", "im2col", "constant_pad", "cat", "view_scatter", "index_select",
     "gather"})
LONGEST_CHAIN = 16
"""At most so many ops are recomputed for one saved value."""


class Partition(Record):
    """The halves of a joint graph; see `Lowered` for `saved`, `Origin` for `nodes`."""

    forward: GraphModule
    backward: GraphModule
    saved: list[Saved]
    nodes: list[Node]


def partition(
    joint: GraphModule, n_forward: int, n_inputs: int, mutated_inputs: Collection[int] = ()
) -> Partition:
    """Split `joint`.

    Args:
        n_forward: how many of its outputs are the forward's; the others are gradients.
        n_inputs: how many of its placeholders are the forward's; the others are tangents.
        mutated_inputs: inputs whose memory changes after the call: saved as copies.
    """
    return _Split(joint, n_forward, n_inputs, mutated_inputs).run()


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
    its results; `exposed` those of them that no gradient reads.
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
        self.exposed: set[Node] = set()
        self.order = {node: i for i, node in enumerate(joint.graph.nodes)}
        late: set[Node] = set(self.tangents)
        for node in joint.graph.nodes:
            if node.op != "output" and any(n in late for n in node.all_input_nodes):
                late.add(node)
        self.early = {n for n in self.order if n not in late and n.op != "output"}
        self.forwards = ancestors(n for n in self.results if isinstance(n, Node))

    def run(self) -> Partition:
        saved = self._choose()
        forward, positions = self._forward(saved)
        values = forward.graph.output_node().meta["val"]
        kept = {n: values[positions[n]] if n in positions else n.meta["val"] for n in saved}
        entries = [
            Saved("input", self.inputs[n]) if n not in positions else Saved("output", positions[n])
            for n in saved
        ]
        backward, sizes = self._backward(kept)
        return Partition(
            forward, backward, entries + [Saved("size", size=s) for s in sizes], saved)

    def rest(self, places: Mapping[Node, int], values: Sequence[Any]) -> Rest | None:
        """The backward from values that exist already: what `backward_from` returns."""
        chosen: dict[Node, int] = {}
        pending = list(self._needed())
        seen = set(pending)
        while pending:
            node = pending.pop()
            if node in places:
                chosen[node] = places[node]
            elif node.op == "placeholder" or _is_drawn(node):
                return None
            else:
                pending += [source for source in node.all_input_nodes if source not in seen]
                seen.update(node.all_input_nodes)
        backward, sizes = self._backward({n: values[place] for n, place in chosen.items()})
        return Rest(backward, list(chosen.values()), sizes)

    def _choose(self) -> list[Node]:
        """The values to save, in the joint graph's order."""
        saved = {self._viewed(n) for n in self._needed() if n.op != "get_attr"}
        self.exposed = self.free - saved
        for node in sorted(saved, key=self.order.__getitem__, reverse=True):
            sources = self._recomputed_from(node, saved)
            if sources is None and is_cheap(node):
                sources = self._recomputed_from(node, saved, bytes_of(node) // 2)
            if sources is not None:
                saved.discard(node)
                saved.update(sources)
        return sorted(saved, key=self.order.__getitem__)

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
        while _is_view(source) and isinstance(source.args[0], Node):
            source = source.args[0]
            if source in self.free or bytes_of(source) <= bytes_of(node):
                node = source
        return node

    def _recomputed_from(
        self, node: Node, saved: set[Node], little: int = -1
    ) -> set[Node] | None:
        """What must be saved besides the other `saved` to compute `node` again; None if it had
        better be saved.

        Values of at most `little` bytes on the way are saved, whatever they are made of.
        """
        wanted = is_recomputed(node)
        again = is_recomputed if wanted else is_cheap
        extra: set[Node] = set()
        seen: set[Node] = set()
        pending = [node]
        while pending:
            current = pending.pop()
            if current in seen or current.op == "get_attr" or (
                    current in saved and current is not node):
                continue
            if not wanted and current in self.exposed:
                return None
            narrow = current is not node and bytes_of(current) <= little
            if current in self.free or narrow or not again(current):
                extra.add(current)
                continue
            if not wanted and len(seen) == LONGEST_CHAIN:
                return None
            seen.add(current)
            pending += current.all_input_nodes
        if wanted and seen:
            return extra
        if not seen:
            return None
        added = sum(0 if n in self.free else bytes_of(n) for n in extra)
        own = bytes_of(node)
        return extra if added < (own if node in self.forwards else own + own // 8) else None

    def _forward(self, saved: Sequence[Node]) -> tuple[GraphModule, dict[Node, int]]:
        """The forward graph, and the outputs that saved values are."""
        graph = Graph()
        copies = _copy_ancestors(graph, self.placeholders[:len(self.inputs)],
                                 [*self.results, *saved, *self._refusing()], self.order)
        outputs = [copies[r] if isinstance(r, Node) else r for r in self.results]
        positions: dict[Node, int] = {}
        for node in saved:
            written = self.inputs.get(node) in self.mutated
            if node in self.inputs and not written:
                continue
            value = copies[node]
            dense = dense_like(node.meta["val"])
            if written or not same_sizes(dense.stride(), node.meta["val"].stride()):
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


def is_cheap(node: Node) -> bool:
    """Whether computing a node twice costs little: views, pointwise ops, gathers, fills."""
    op = node.target
    return isinstance(op, Op) and (
        op.is_view or op.kind in (Kind.POINTWISE, Kind.CREATION) or op.name in _GATHERS)


def is_recomputed(node: Node) -> bool:
    """Whether the program says to compute a node again; what was drawn at random is kept."""
    return RECOMPUTED in node.meta and not _is_drawn(node)


def _is_drawn(node: Node) -> bool:
    return isinstance(node.target, Op) and node.target.kind is Kind.RANDOM


def bytes_of(node: Node) -> int:
    """The size of a node's value in bytes, at the sizes of the trace."""
    value = node.meta["val"]
    if isinstance(value, tuple):
        return sum(v.dtype.itemsize * hint_of(v.numel()) for v in value)
    return int(value.dtype.itemsize * hint_of(value.numel()))


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


def _is_view(node: Node) -> bool:
    return isinstance(node.target, Op) and node.target.is_view


def _copy_ancestors(
    graph: Graph, placeholders: Sequence[Node], roots: Sequence[Any], order: dict[Node, int],
    copies: dict[Node, Node] | None = None,
) -> dict[Node, Node]:
    """Copy into `graph` what the roots need, down to what is in `copies`."""
    copies = {} if copies is None else copies
    for node in placeholders:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    needed: set[Node] = set()
    pending = [root for root in roots if isinstance(root, Node)]
    while pending:
        node = pending.pop()
        if node not in needed and node not in copies:
            needed.add(node)
            pending += node.all_input_nodes
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
