"""Compiled graphs as JSON, and back, so that another process runs them without compiling.

A program is written as its launch plans, with the keys of their code in the kernel cache; one in
segments as those and the eager ops between them. Only ops of the table are among these. Programs
for GPUs, branches and loops, and graphs with large constants are not written.
"""

from __future__ import annotations

import base64
import operator
from collections.abc import Callable, Sequence
from typing import Any

from graphwright.codegen.compile import CompiledGraph, Parts, Segment
from graphwright.codegen.emit.native import load_program
from graphwright.codegen.launch_plan import LaunchPlan, Layout, native_launcher, plan_results
from graphwright.codegen.lowering.graph import (
    ConstantOutput,
    InputOutput,
    SizeOutput,
)
from graphwright.codegen.results import Result
from graphwright.codegen.segment_runner import (
    ControlStep,
    EagerStep,
    NativeStep,
    SegmentedProgram,
    Step,
    Unread,
)
from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, map_nodes
from graphwright.ir.graph.plain_values import PlainReader, PlainWriter
from graphwright.ir.plain_lowered import exact_value
from graphwright.runtime.later import Later
from graphwright.runtime.tensor.device import cpu
from graphwright.runtime.tensor.from_data import frombuffer
from graphwright.runtime.tensor.tensor import Tensor

LARGEST_CONSTANTS = 1 << 20
"""Bytes of a segment's constants; what has more is compiled anew."""


def write_program(compiled: CompiledGraph, plain: PlainWriter) -> dict[str, Any]:
    """A compiled graph as JSON. Raises what `plain` raises for one that cannot be written."""
    segments = [_segment(segment, plain) for segment in compiled.segments]
    if not isinstance(compiled.launch, SegmentedProgram):
        return {"segments": segments}
    program, graph = compiled.launch, compiled.launch.module.graph
    constants = [node for node in graph.nodes if node.op == "get_attr"]
    made = [node for step in program.steps for node in step.results]
    names = {node: f"r{place}" for place, node in enumerate(
        [*graph.placeholders, *constants, *made])}
    steps = _Steps(program, names, plain)
    return {
        "segments": segments, "inputs": len(graph.placeholders),
        "constants": [_tensor(program.module.attr(str(node.target)), plain)
                      for node in constants],
        "steps": [steps.step(step) for step in program.steps],
        "results": steps.values(tuple(graph.output_node().args[0])),
        "symbols": {name: list(place) for name, place in program.symbols.items()},
        "unread": None if program.unread is None else program.unread.count,
    }


def _segment(segment: Any, plain: PlainWriter) -> dict[str, Any]:
    if not isinstance(segment, Segment):
        raise plain.refusal("programs for GPUs are not written")
    plan = segment.plan
    if sum(constant.nbytes for constant in plan.constants) > LARGEST_CONSTANTS:
        raise plain.refusal("a program has large constants")
    return {
        "key": segment.loaded.key, "kernels": segment.kernels, "n_inputs": plan.n_inputs,
        "outputs": [[one.name, shape, strides] for one, shape, strides in plan.outputs],
        "arena_bytes": plan.arena_bytes, "symbols": plan.symbols, "rng_ops": plan.rng_ops,
        "mutated": plan.mutated, "messages": plan.messages, "release_gil": plan.release_gil,
        "blas": plan.blas, "weights": plan.weights,
        "results": [_result(one, plan.constants, plain) for one in plan.results],
        "constants": [_tensor(constant, plain) for constant in plan.constants],
        "stages": plan.stages, "blocks": plan.blocks,
    }


def _result(one: Result, constants: Sequence[Any], plain: PlainWriter) -> Any:
    if one is None:
        return ["allocated"]
    if isinstance(one, InputOutput):
        return ["input", one.position]
    if isinstance(one, SizeOutput):
        return ["size", plain.expression(one.expr)]
    for place, constant in enumerate(constants):
        if one.value is constant:
            return ["constant", place]
    return ["value", exact_value(one.value, plain)]


def _tensor(value: Any, plain: PlainWriter) -> dict[str, Any]:
    known = type(value) is Tensor and value.device == cpu and value.is_contiguous()
    if not known or value.requires_grad or not value.numel():
        raise plain.refusal("a constant is no plain tensor on the CPU")
    content = base64.b64encode(value.numpy().tobytes()).decode()
    return {"dtype": value.dtype.name, "shape": list(value.shape), "bytes": content}


class _Steps:
    """Writes the steps of a program in segments: the registers are nodes of these names."""

    def __init__(
        self, program: SegmentedProgram, names: dict[Node, str], plain: PlainWriter
    ) -> None:
        self.names, self.plain = names, plain
        self.registers = Graph()
        self.stands_for: dict[Node, Node] = {}
        for node, name in names.items():
            register = self.stands_for[node] = self.registers.placeholder(name)
            register.name = name
        self.symbols = program.symbols
        self.number = -1

    def values(self, values: Any) -> Any:
        return self.plain.value(map_nodes(values, self.stands_for.__getitem__))

    def step(self, step: Step) -> Any:
        if isinstance(step, NativeStep):
            self.number += 1
            return ["staged" if step.staged else "native", self.number,
                    self.values(step.inputs), [self.names[node] for node in step.results]]
        if isinstance(step, ControlStep) or step.node.kwargs:
            raise self.plain.refusal("branches and loops are not written")
        name, args = self.plain.op(step.node.target), step.node.args
        return ["eager", name, self.values(args), self.names[step.node]]


# -- reading


def read_program(
    written: Any, plain: PlainReader, target: str, label: str, parts: Later[Parts]
) -> CompiledGraph | None:
    """What `write_program` wrote; None where the kernel cache has not all of its code.

    Args:
        target: "llvm" or "c"; label: what profiles call it.
        parts: of the same graph compiled anew, for people who look at it.

    Raises: what `plain` raises, KeyError, TypeError or ValueError, for what is malformed.
    """
    launches, launchers = [], []
    for one in written["segments"]:
        loaded = load_program(one["key"], target)
        if loaded is None:
            return None
        plan = _plan(one, plain)
        launchers.append(native_launcher(plan, loaded, label))
        launches.append(plan_results(plan, launchers[-1]))
    kernels = sum(plain.count(one["kernels"]) for one in written["segments"])
    launch = _segmented(written, launches, plain) if "steps" in written else launches[0]
    return CompiledGraph(launch, kernels, parts, tuple(launchers))


def _plan(one: Any, plain: PlainReader) -> LaunchPlan:
    constants = tuple([_read_tensor(constant, plain) for constant in one["constants"]])
    return LaunchPlan(
        one["n_inputs"], tuple([_read_layout(layout, plain) for layout in one["outputs"]]),
        one["arena_bytes"], tuple([(name, place, dim) for name, place, dim in one["symbols"]]),
        one["rng_ops"], tuple(one["mutated"]), tuple(one["messages"]), one["release_gil"],
        one["blas"], tuple([tuple(weight) for weight in one["weights"]]),
        tuple([_read_result(result, constants, plain) for result in one["results"]]),
        constants, tuple([(tuple(dead), tuple(born)) for dead, born in one["stages"]]),
        tuple(one["blocks"]))


def _read_layout(layout: Any, plain: PlainReader) -> Layout:
    name, shape, strides = layout
    if strides is None:
        return plain.dtype(name), plain.count(shape), None
    return plain.dtype(name), tuple(shape), tuple(strides)


def _read_result(result: Any, constants: Sequence[Any], plain: PlainReader) -> Result:
    kind, *rest = result
    if kind == "allocated":
        return None
    if kind == "input":
        return InputOutput(*rest)
    if kind == "size":
        return SizeOutput(plain.expression(*rest))
    if kind == "constant":
        return ConstantOutput(constants[rest[0]])
    return ConstantOutput(plain.value(*rest))


def _read_tensor(constant: Any, plain: PlainReader) -> Tensor:
    content = bytearray(base64.b64decode(constant["bytes"], validate=True))
    return frombuffer(content, dtype=plain.dtype(constant["dtype"])).reshape(constant["shape"])


def _segmented(
    written: Any, launches: Sequence[Callable[..., Any]], plain: PlainReader
) -> SegmentedProgram:
    """The program over a graph whose nodes are its registers."""
    module, nodes = GraphModule({}, Graph()), dict[str, Node]()
    values = PlainReader(plain.env, nodes, plain.refusal)

    def register(node: Node) -> Node:
        node.name = f"r{len(nodes)}"
        nodes[node.name] = node
        return node

    for place in range(plain.count(written["inputs"])):
        register(module.graph.placeholder(f"r{place}"))
    for constant in written["constants"]:
        path = module.add_attr("constant", _read_tensor(constant, plain))
        register(module.graph.get_attr(path))
    steps = [_read_step(one, module.graph, launches, values, register)
             for one in written["steps"]]
    module.graph.output(values.value(written["results"]))
    symbols = {name: (place, dim) for name, (place, dim) in written["symbols"].items()}
    unread = None if written["unread"] is None else Unread(cpu, plain.count(written["unread"]))
    return SegmentedProgram(module, steps, symbols, unread)


def _read_step(
    written: Any, graph: Graph, launches: Sequence[Callable[..., Any]], values: PlainReader,
    register: Callable[[Node], Node],
) -> Step:
    kind, which, inputs, results = written
    args = values.value(inputs)
    if kind in ("native", "staged"):
        call = graph.call_function(launches[which], args)
        made = [register(graph.call_function(operator.getitem, (call, place)))
                for place in range(len(results))]
        return NativeStep(launches[which], args, tuple(made), kind == "staged")
    return EagerStep(register(graph.call_function(values.op(which), args)))
