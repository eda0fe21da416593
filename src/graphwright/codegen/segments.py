"""Graphs with ops that have no lowering: native segments around eager ops.

    x -> [native: exp, add] -> sort (eager) -> [native: mul, sum] -> y
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from graphwright.codegen.lowering.graph import CannotLowerNode
from graphwright.codegen.placement import home_of, homes
from graphwright.codegen.segment_runner import (
    ControlStep,
    EagerStep,
    NativeStep,
    SegmentedProgram,
    Step,
    Unread,
)
from graphwright.ir.control import ControlOp, laid_out, results_of
from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, map_leaves
from graphwright.ir.pipeline import lower_part
from graphwright.runtime.symbolic.expr import Expr, Sym
from graphwright.runtime.tensor.device import cpu
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.tensor import Tensor

Compile = Callable[[GraphModule, Sequence[Any]], Any]


def split(
    module: GraphModule, eager: set[Node], symbols: dict[str, tuple[int, int]], compile: Compile,
    compile_whole: Compile,
) -> tuple[SegmentedProgram, list[Any]]:
    """Cut a graph at the nodes `eager`; the program, and the compiled segments.

    A node of which `compile` says `CannotLowerNode` is one of them too. Of a branch or loop the
    graphs are compiled by `compile_whole`, and their segments are among those returned.
    """
    cut = _Cut(eager, compile, compile_whole)
    for node in module.graph.nodes:
        if node.op not in ("placeholder", "get_attr", "output"):
            cut.add(node)
    cut.flush()
    unread = _unread(module, module.meta.get("rng_ops", 0) - cut.drawn)
    return SegmentedProgram(module, cut.steps, symbols, unread), cut.segments


def _unread(module: GraphModule, count: int) -> Unread | None:
    """What takes so many draws where the graph's random ops run; of a graph on several devices
    without other random ops, on the CPU."""
    if not count:
        return None
    drawing = [n for n in module.graph.nodes if getattr(n.target, "name", None) == "rng_uniform"]
    found = {home_of(n) for n in drawing} or homes(module)
    return Unread(found.pop() or cpu if len(found) == 1 else cpu, count)


class _Cut:
    """The steps so far, and in `pending` the nodes of the segment that has no end yet.

    drawn: how many random ops come before it; home: the device that it runs on.
    """

    def __init__(self, eager: set[Node], compile: Compile, compile_whole: Compile) -> None:
        self.eager = set(eager)
        self.compile = compile
        self.compile_whole = compile_whole
        self.steps: list[Step] = []
        self.segments: list[Any] = []
        self.pending: list[Node] = []
        self.home: Device | None = None
        self.drawn = 0

    def add(self, node: Node) -> None:
        if node in self.eager or (node.target is operator.getitem and node.args[0] in self.eager):
            self.eager.add(node)
            self.flush()
            control = isinstance(node.target, ControlOp)
            self.steps.append(self._control(node) if control else EagerStep(node))
            return
        home = home_of(node)
        if home != self.home:
            self.flush()
        self.home = home
        self.pending.append(node)

    def _control(self, node: Node) -> ControlStep:
        """A branch or loop, its graphs compiled for the values that it is given."""
        control = node.target.control  # type: ignore[union-attr]
        launches: list[Any] = []
        given = control.inputs([_example(arg) for arg in node.args])
        for graph, inputs in zip(control.graphs, given, strict=True):
            part = lower_part(laid_out(graph), inputs)
            compiled = self.compile_whole(part, inputs)
            self.segments += compiled.segments
            count = len(results_of(graph))
            more = len(results_of(part)) > count
            launches.append(partial(_first, count, compiled.launch) if more else compiled.launch)
        return ControlStep(node, tuple(launches))

    def flush(self) -> None:
        """End the segment. Where it cannot be lowered it is cut once more, and the rest tried."""
        while self.pending:
            nodes = [n for n in self.pending if n.users or _is_mutation(n)]
            self.pending = []
            if not nodes:
                return
            part, inputs, results, drawn = _segment(nodes, self.drawn)
            try:
                compiled = self.compile(part, [_example(i) for i in inputs])
            except CannotLowerNode as reason:
                self.eager.add(next(n for n in nodes if n.name == reason.node.name))
                for node in nodes:
                    self.add(node)
                continue
            self.drawn = drawn
            self.segments.append(compiled)
            self.steps.append(
                NativeStep(compiled.launch, tuple(inputs), tuple(results), compiled.staged))


def _first(count: int, launch: Callable[..., Any], *inputs: Any) -> Any:
    """The first `count` results; those after them are only computed because they may raise."""
    return launch(*inputs)[:count]


def _is_mutation(node: Node) -> bool:
    return bool(getattr(node.target, "is_inplace", False))


def _example(value: Any) -> Any:
    return value.meta["val"] if isinstance(value, Node) else value


def _segment(
    nodes: list[Node], drawn: int
) -> tuple[GraphModule, list[Any], list[Node], int]:
    """A graph of these nodes; what goes in (nodes, then sizes), what comes out, and how many
    random ops have been drawn by its end."""
    inside = set(nodes)
    outer = list(dict.fromkeys(
        i for n in nodes for i in n.all_input_nodes if i not in inside))
    results = [n for n in nodes if any(u not in inside for u in n.users)]
    graph = Graph()
    symbols: dict[str, tuple[int, int]] = {}
    copies: dict[Node, Node] = {}
    for position, source in enumerate(outer):
        copies[source] = copy = graph.placeholder(source.name)
        copy.meta = dict(source.meta)
        for d, size in enumerate(getattr(source.meta["val"], "shape", ())):
            expr = getattr(size, "expr", None)
            if isinstance(expr, Sym):
                symbols.setdefault(expr.name, (position, d))
    inputs: list[Any] = list(outer)
    for name, size in _symbols_of([*outer, *nodes]).items():
        if name not in symbols:
            symbols[name] = (len(inputs), -1)
            graph.placeholder(name).meta["val"] = size
            inputs.append(size)
    first = drawn
    for node in nodes:
        copies[node] = copy = graph.node_copy(node, copies.__getitem__)
        if getattr(node.target, "name", None) == "rng_uniform":
            copy.args = (*node.args[:3], node.args[3] - first)
            drawn = max(drawn, node.args[3] + 1)
    graph.output(tuple(copies[r] for r in results))
    module = GraphModule({}, graph)
    module.meta["symbols"] = symbols
    return module, inputs, results, drawn


def _symbols_of(nodes: list[Node]) -> dict[str, Sym]:
    """The symbols of sizes and strides in the nodes' arguments and results.

    A segment's inputs alone are not enough: their sizes may be products of symbols.
    """
    found: dict[str, Sym] = {}

    def note(leaf: Any) -> Any:
        layout = (*leaf.shape, *leaf.stride()) if isinstance(leaf, Tensor) else ()
        for size in (leaf, *layout):
            expr = size if isinstance(size, Expr) else getattr(size, "expr", None)
            if isinstance(expr, Expr):
                found.update((s.name, s) for s in expr.symbols())
        return leaf
    for node in nodes:
        map_leaves((node.args, node.meta.get("val")), note)
    return found
