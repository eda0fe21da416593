"""Runs a graph that is cut into native segments and eager ops."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node
from graphwright.ir.graph.python_emitter import Script, leaves
from graphwright.runtime import _core
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops.table import Op
from graphwright.runtime.record import Record
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.generator import take_draws

Registers = Mapping[Node, str]


class NativeStep(Record):
    """values[results] = launch(values[inputs]); `staged` ones free inputs themselves."""

    launch: Any
    inputs: tuple[Any, ...]
    results: tuple[Node, ...]
    staged: bool = False

    def write(self, script: Script, registers: Registers, dead: set[Node]) -> None:
        """Add the step's statements; those of the `dead` that a staged one frees leave the set."""
        call = script.call(self.launch, script.values(self.inputs, registers))
        if self.staged:
            script.add(f"given = [{script.values(self.inputs, registers)}]")
            given = {leaf for leaf in leaves(self.inputs) if type(leaf) is Node and leaf in dead}
            script.free(sorted(registers[node] for node in given))
            dead -= given
            call = script.call(self.launch.consume, "given")
        script.add(f"[{', '.join([registers[node] for node in self.results])}] = {call}")


class EagerStep(Record):
    """values[node] = node.target(*node.args)."""

    node: Node

    @property
    def inputs(self) -> tuple[Any, ...]:
        return self.node.args

    @property
    def results(self) -> tuple[Node, ...]:
        return (self.node,)

    def write(self, script: Script, registers: Registers, dead: set[Node]) -> None:
        """Add the step's statement; an op with all of its arguments needs no wrapper."""
        target, args = self.node.target, self.node.args
        given = script.values(args, registers)
        if target is operator.getitem:
            owner, index = args
            call = f"{script.value(owner, registers)}[{script.value(index, registers)}]"
        elif type(target) is Op and len(args) == len(target.schema.params):
            call = script.call(dispatch, script.constant(target), f"({given})")
        else:
            call = script.call(target, given)
        script.add(f"{registers[self.node]} = {call}")


class ControlStep(EagerStep):
    """values[node] = what a branch or loop does with its compiled graphs."""

    launches: tuple[Callable[..., Any], ...]

    def write(self, script: Script, registers: Registers, dead: set[Node]) -> None:
        """Add the step's statement."""
        control = self.node.target.control  # type: ignore[union-attr]
        given = script.values(self.node.args, registers)
        run = functools.partial(control.run, self.launches)
        script.add(f"{registers[self.node]} = {script.call(run, f'({given})')}")


Step = NativeStep | EagerStep


class Unread(Record):
    """Takes so many draws of a device's generator that nothing reads."""

    device: Device
    count: int

    def __call__(self) -> None:
        take_draws(self.device, self.count)


class SegmentedProgram(functools.partial[tuple[Any, ...]]):
    """Runs native segments and eager ops in turn. Call it with the graph's inputs.

    Nothing is recorded: what needs gradients is a node of the joint graph already.

    script: the code, in which the registers are freed that no later step reads. module, steps,
    symbols, unread: what it was made from.
    """

    script: Script
    module: GraphModule
    steps: Sequence[Step]
    symbols: dict[str, tuple[int, int]]
    unread: Unread | None

    def __new__(
        cls, module: GraphModule, steps: Sequence[Step],
        symbols: dict[str, tuple[int, int]], unread: Unread | None = None,
    ) -> SegmentedProgram:
        """unread: the random ops after those that are read, which are drawn all the same."""
        script = _script(module, steps, symbols, unread)
        self = super().__new__(cls, _core.unrecorded, script.function())
        self.script, self.module, self.steps = script, module, steps
        self.symbols, self.unread = symbols, unread
        return self

    def consume(self, inputs: list[Any]) -> tuple[Any, ...]:
        """As a call, but empties the list: the last step that reads an input frees it."""
        result: tuple[Any, ...] = _core.unrecorded(self._consumer, inputs)
        return result

    @functools.cached_property
    def _consumer(self) -> Callable[[list[Any]], tuple[Any, ...]]:
        return self.script.consumer()


def _script(
    module: GraphModule, steps: Sequence[Step],
    symbols: dict[str, tuple[int, int]], unread: Unread | None,
) -> Script:
    graph = module.graph
    made = [node for step in steps for node in step.results]
    registers = {node: f"r{place}" for place, node in enumerate([*graph.placeholders, *made])}
    script = Script([registers[node] for node in graph.placeholders], symbols)
    held = {node: script.constant(module.attr(str(node.target)))
            for node in graph.nodes if node.op == "get_attr"}
    readable = {**held, **registers}
    results: Any = graph.output_node().args[0]
    for step, dead in zip(steps, _dead_after(steps, results), strict=True):
        dead.intersection_update(registers)
        step.write(script, readable, dead)
        script.free(sorted(registers[node] for node in dead))
    if unread is not None:
        script.add(script.call(unread))
    script.add(f"return ({script.values(tuple(results), readable)})")
    return script


def _dead_after(steps: Sequence[Step], results: Any) -> list[set[Node]]:
    """For each step what neither a later step nor the results read."""
    alive = {leaf for leaf in leaves(tuple(results)) if type(leaf) is Node}
    dead: list[set[Node]] = []
    for step in reversed(steps):
        read = {leaf for leaf in leaves(tuple(step.inputs)) if type(leaf) is Node}
        dead.append((read | set(step.results)) - alive)
        alive |= read
    return dead[::-1]
