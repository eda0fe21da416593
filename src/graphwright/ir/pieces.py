"""A graph in pieces: around nodes that Python has to run, whose work no graph can hold.

Before, with a `Cut` as the target of `enter`:

    a = add(x, 1)                       one graph, which cannot be compiled
    b = getitem(enter(a), 0)
    c = mul(b, 2)

After: `add` is a graph of its own, `enter` is called on its output, and `mul` is another graph,
of the result. On the tape they are one after another.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, map_leaves, map_nodes
from graphwright.runtime.fake.fake_tensor import FakeTensor, make_fake
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.symint import SymInt

Compile = Callable[[GraphModule, Sequence[Any]], Callable[..., Any]]


class Cut:
    """The target of a node at which a graph is cut. Called on fake tensors it gives their like."""

    def __call__(self, *args: Any) -> Any:
        raise NotImplementedError

    def run(self, state: dict[Any, Any], *args: Any) -> Any:
        """The work itself; `state` is that of one run of the whole graph."""
        raise NotImplementedError


def is_cut(node: Node) -> bool:
    """Whether the node is a `Cut`, at which the graph is split."""
    return isinstance(node.target, Cut)


class Piece(Record):
    """One graph of several: what it takes and gives, by the nodes of the whole."""

    module: GraphModule
    takes: tuple[Node, ...]
    gives: tuple[Node, ...]
    n_ops: int


def cut_apart(module: GraphModule, examples: Sequence[Any]) -> list[Piece | Node]:
    """The pieces of a graph, and between them the nodes that Python runs, in order.

    examples: what the placeholders stand for, as a backend is given it.
    """
    graph = module.graph
    given = dict(zip(graph.placeholders, examples, strict=True))
    parts: list[Piece | Node] = []
    waiting: list[Node] = []
    for node in graph.nodes:
        if is_cut(node) or _is_part_of_cut(node):
            parts += _pieces(module, waiting, given)
            parts.append(node)
            waiting = []
        elif node.op not in ("placeholder", "output"):
            waiting.append(node)
    return parts + _pieces(module, waiting, given)


def _is_part_of_cut(node: Node) -> bool:
    whole = node.args[0] if node.target is operator.getitem else None
    return isinstance(whole, Node) and is_cut(whole)


def shared_by_pieces(module: GraphModule) -> bool:
    """Whether memory that the graph writes to is seen by several pieces, or by a cut."""
    place = 0
    places: dict[int, set[int]] = {}
    written: set[int] = set()
    for node in module.graph.nodes:
        place += is_cut(node)
        for seen in (node, *node.all_input_nodes):
            memory = getattr(seen.meta.get("val"), "_storage", None)
            if memory is not None and node.op != "placeholder":
                places.setdefault(id(memory), set()).add(-1 if is_cut(node) else place)
                if memory._version:
                    written.add(id(memory))
    return any(len(places[memory]) > 1 for memory in written)


def _pieces(
    module: GraphModule, nodes: Sequence[Node], given: dict[Node, Any]
) -> list[Piece | Node]:
    """The graph of these nodes, if they do anything."""
    own = {node: None for node in nodes if node.op != "get_attr"}
    if not own:
        return []
    constants = {n: None for node in own for n in node.all_input_nodes if n.op == "get_attr"}
    takes: dict[Node, None] = {
        operand: None for node in own for operand in node.all_input_nodes
        if operand not in own and operand not in constants}
    places = {name: (module.graph.placeholders[place], at)
              for name, (place, at) in module.symbols.items()}
    names = _symbols((node.args, node.kwargs, node.meta.get("val")) for node in (*own, *takes))
    takes.update((places[name][0], None) for name in names)
    gives = tuple([node for node in own if any(user not in own for user in node.users)])
    graph, examples = Graph(), []
    copies: dict[Node, Node] = {}
    for node in takes:
        copies[node] = graph.placeholder(node.name)
        value = given[node] if node in given else _without_history(node.meta["val"])
        copies[node].meta.update(node.meta, val=value)
        examples.append(value)
    for node in (*constants, *own):
        copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.output(tuple([copies[node] for node in gives]))
    piece = GraphModule(module, graph)
    order = list(takes)
    piece.meta["shape_env"] = module.meta.get("shape_env")
    piece.meta["symbols"] = {
        name: (order.index(places[name][0]), places[name][1]) for name in names}
    piece.meta["second_names"] = {}
    piece.lint()
    n_ops = sum(node.target is not operator.getitem for node in own)
    return [Piece(piece, tuple(takes), gives, n_ops)]


def _symbols(values: Iterable[Any]) -> list[str]:
    """The names of the sizes that values depend on."""
    names: dict[str, None] = {}

    def note(leaf: Any) -> Any:
        if isinstance(leaf, SymInt):
            names.update(dict.fromkeys(sorted(symbol.name for symbol in leaf.expr.symbols())))
        elif isinstance(leaf, FakeTensor):
            map_leaves((*leaf.shape, *leaf.stride()), note)
        return leaf

    for value in values:
        map_leaves(value, note)
    return list(names)


def _without_history(value: Any) -> Any:
    """What another piece gives, as an argument: a tensor of which only the like is known."""
    if not isinstance(value, FakeTensor):
        return value
    return make_fake(value.shape, value.stride(), value.dtype, value.device, value.requires_grad)


def compiled_in_pieces(
    module: GraphModule, parts: Sequence[Piece | Node], compile_: Compile
) -> Callable[..., Any]:
    """What runs the whole graph: `compile_` is a backend, which is given each piece."""
    steps: list[tuple[Any, Piece | Node]] = []
    for part in parts:
        if isinstance(part, Piece):
            examples = [node.meta["val"] for node in part.module.graph.placeholders]
            steps.append((compile_(part.module, examples), part))
        else:
            steps.append((None, part))
    placeholders = module.graph.placeholders
    results = module.graph.output_node().args[0]

    def run(*args: Any) -> tuple[Any, ...]:
        known: dict[Node, Any] = dict(zip(placeholders, args, strict=True))
        state: dict[Any, Any] = {}
        for function, part in steps:
            if isinstance(part, Piece):
                made = function(*[known[node] for node in part.takes])
                known.update(zip(part.gives, made, strict=False))
                continue
            values = map_nodes(part.args, known.__getitem__)
            cut = part.target
            known[part] = cut.run(state, *values) if isinstance(cut, Cut) else (
                operator.getitem(*values))
        found = map_nodes(results, known.__getitem__)
        return tuple(found) if isinstance(found, (tuple, list)) else (found,)

    return run
