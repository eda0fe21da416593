"""Runs a graph that is cut into native segments and eager ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphwright.ir.graph_module import GraphModule
from graphwright.ir.interpreter import call
from graphwright.ir.node import Node, map_leaves
from graphwright.runtime import _core
from graphwright.runtime.dispatch import without_autocast
from graphwright.runtime.records import Record
from graphwright.runtime.symbolic.expr import Expr
from graphwright.runtime.symbolic.places import value_at

Registers = list[Any]
Sizes = dict[str, int]


class NativeStep(Record):
    """values[results] = launch(values[inputs])."""

    launch: Callable[..., Any]
    inputs: tuple[Any, ...]
    results: tuple[Node, ...]


class EagerStep(Record):
    """values[node] = node.target(*node.args)."""

    node: Node

    @property
    def inputs(self) -> tuple[Any, ...]:
        return self.node.args

    @property
    def results(self) -> tuple[Node, ...]:
        return (self.node,)

    def launch(self, *args: Any) -> tuple[Any]:
        return (call(self.node.target, args, {}),)


class _Arguments:
    """Values that are read from registers, computed from sizes, or constant.

    What is constant is laid out once; values are put into a copy of it.
    """

    __slots__ = ("constant", "others", "plain")

    def __init__(self, values: Sequence[Any], places: Mapping[Node, int]) -> None:
        self.constant: list[Any] = [None] * len(values)
        self.plain: list[tuple[int, int]] = []
        self.others: list[tuple[int, Any, Mapping[Node, int]]] = []
        for position, value in enumerate(values):
            if type(value) is Node:
                self.plain.append((position, places[value]))
            elif _varies(value):
                self.others.append((position, value, places))
            else:
                self.constant[position] = value

    def read(self, registers: Registers, sizes: Sizes) -> list[Any]:
        values = self.constant.copy()
        for position, place in self.plain:
            values[position] = registers[place]
        for position, value, places in self.others:
            values[position] = _evaluated(value, registers, places, sizes)
        return values


class _Prepared(Record):
    """A step with its registers; those of `dead` are read by no later step."""

    launch: Callable[..., Any]
    arguments: _Arguments
    results: tuple[int, ...]
    dead: tuple[int, ...]


class SegmentedProgram:
    """Runs native segments and eager ops in turn. Call it with the graph's inputs.

    unread: how many random ops came after those that are read: they are drawn all the same.
    """

    def __init__(
        self, module: GraphModule, steps: Sequence[NativeStep | EagerStep],
        symbols: dict[str, tuple[int, int]], unread: int = 0,
    ) -> None:
        graph = module.graph
        self.unread = unread
        constants = {n: module.attr(str(n.target)) for n in graph.nodes if n.op == "get_attr"}
        made = [node for step in steps for node in step.results]
        nodes = [*constants, *made, *graph.placeholders]
        places = {node: place for place, node in enumerate(nodes)}
        self.before = [*constants.values(), *[None] * len(made)]
        self.symbols = symbols
        results: Any = graph.output_node.args[0]
        self.results = _Arguments(tuple(results), places)
        dead = _dead_after(steps, results, places)
        self.steps = tuple([
            _Prepared(step.launch, _Arguments(step.inputs, places),
                      tuple([places[node] for node in step.results]), found)
            for step, found in zip(steps, dead, strict=True)
        ])

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        """Nothing is recorded: what needs gradients is a node of the joint graph already."""
        return self.consume(list(inputs))

    def consume(self, inputs: list[Any]) -> tuple[Any, ...]:
        """The same, taking the inputs out of the list: the last step to read one lets it go."""
        return _core.with_grad_mode(False, without_autocast, self._run, inputs)

    def _run(self, inputs: list[Any]) -> tuple[Any, ...]:
        sizes = {name: value_at(inputs[position], place)
                 for name, (position, place) in self.symbols.items()}
        registers = [*self.before, *inputs]
        inputs.clear()
        for step in self.steps:
            found = step.launch(*step.arguments.read(registers, sizes))
            for place, value in zip(step.results, found, strict=True):
                registers[place] = value
            del found
            for place in step.dead:
                registers[place] = None
        if self.unread:
            _core.reserve_offset(self.unread)
        return tuple(self.results.read(registers, sizes))


def _leaves(value: Any) -> list[Any]:
    found: list[Any] = []
    map_leaves(value, found.append)
    return found


def _size(leaf: Any) -> Expr | None:
    expr = leaf if isinstance(leaf, Expr) else getattr(leaf, "expr", None)
    return expr if isinstance(expr, Expr) else None


def _varies(value: Any) -> bool:
    """Whether an argument has a node or a size in it."""
    return any(type(leaf) is Node or _size(leaf) is not None for leaf in _leaves(value))


def _evaluated(
    value: Any, registers: Registers, places: Mapping[Node, int], sizes: Sizes
) -> Any:
    def value_of(leaf: Any) -> Any:
        if type(leaf) is Node:
            return registers[places[leaf]]
        size = _size(leaf)
        return leaf if size is None else size.evaluate(sizes)

    return map_leaves(value, value_of)


def _dead_after(
    steps: Sequence[NativeStep | EagerStep], results: Any, places: Mapping[Node, int]
) -> list[tuple[int, ...]]:
    """For each step the registers that neither a later step nor the results read."""
    alive = {leaf for leaf in _leaves(tuple(results)) if type(leaf) is Node}
    dead: list[tuple[int, ...]] = []
    for step in reversed(steps):
        read = {leaf for leaf in _leaves(tuple(step.inputs)) if type(leaf) is Node}
        ended = (read | set(step.results)) - alive
        dead.append(tuple(sorted(places[node] for node in ended)))
        alive |= read
    return dead[::-1]
