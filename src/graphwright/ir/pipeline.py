"""From a captured graph to functional graphs of primitives: `PASSES`, in order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import reduce
from operator import or_
from typing import Any

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node
from graphwright.ir.joint.eager_tape import History, history_of
from graphwright.ir.joint.gradient_strides import expanded_gradients
from graphwright.ir.joint.joint import Joint, Retaped, needs_tape, trace_joint
from graphwright.ir.joint.partition import partition
from graphwright.ir.joint.recompute_costs import bytes_of
from graphwright.ir.joint.retape_plan import apart_of
from graphwright.ir.lowered_graph import (
    Activations,
    Graphs,
    Lowered,
    Origin,
    OutputSpec,
    Saved,
    ends_of,
)
from graphwright.ir.passes.algebra import simplify
from graphwright.ir.passes.constants import fold_constants
from graphwright.ir.passes.cse import merge_common
from graphwright.ir.passes.dce import eliminate_dead_code
from graphwright.ir.passes.decompose import decompose
from graphwright.ir.passes.functionalise import functionalise
from graphwright.ir.passes.keep_data_checks import keep_refusals
from graphwright.ir.passes.normalise import normalise
from graphwright.ir.passes.own_outputs import own_outputs
from graphwright.ir.passes.write_back import write_back
from graphwright.runtime.record import Record, field
from graphwright.runtime.spans import Span, Timed

DEFAULT_BUDGET = 1.125
"""Saved bytes over those of eager execution where no less is asked for: the backward frees them
sooner, so the peak is no higher, and a product that would be recomputed for the rest is saved."""


class State(Record, frozen=False):
    """What the passes work on. `module` is the forward graph once `backward` is there.

    `captured` is the graph as it came, `functional` what the joint graph was made from; `budget`
    the part of what eager execution saves for gradients that may be saved.
    """

    module: GraphModule
    inputs: Sequence[Any]
    needs_grad: bool
    outputs: list[OutputSpec]
    budget: float = 1.0
    mutated: list[tuple[int, int]] = field(default_factory=list)
    captured: GraphModule | None = None
    functional: GraphModule | None = None
    joint: Joint | None = None
    history: History | None = None
    joint_graph: GraphModule | Retaped | None = None
    joint_tangents: list[int] = field(default_factory=list)
    backward: GraphModule | None = None
    saved: list[Saved] = field(default_factory=list)
    origin: Origin | None = None
    activations: Activations | None = None

    @property
    def graphs(self) -> list[GraphModule]:
        return [self.module] if self.backward is None else [self.module, self.backward]


class Pass(Record):
    """A step of the pipeline. It is skipped where a pass that it builds on is disabled."""

    name: str
    run: Callable[[State], None]
    after: tuple[str, ...] = ()


def _normalise(state: State) -> None:
    state.captured = state.module
    state.module = normalise(state.module, state.inputs)


def _functionalise(state: State) -> None:
    result = functionalise(state.module, state.inputs, state.needs_grad)
    state.module, state.outputs, state.mutated = result.module, result.outputs, result.mutated


def _joint(state: State) -> None:
    if state.needs_grad:
        state.joint = trace_joint(state.module, state.inputs)
        if state.joint is not None:
            if needs_tape(state.module):
                state.joint_graph = Retaped(
                    state.module, state.joint.tangents, state.joint.grad_inputs)
            assert state.captured is not None
            state.history = history_of(state.captured, state.inputs)
            state.functional, state.module = state.module, state.joint.module


def _decompose(state: State) -> None:
    state.module = decompose(state.module, placeholder_values(state.module))


def _each(rewrite: Callable[[GraphModule], None]) -> Callable[[State], None]:
    def run(state: State) -> None:
        for module in state.graphs:
            rewrite(module)
    return run


def _algebra(state: State) -> None:
    """Until the gradients run, the caller may write to the forward's arguments and results."""
    exposed: set[Node] = set()
    if state.joint is not None:
        graph = state.module.graph
        exposed.update(graph.placeholders[:len(state.inputs)])
        exposed.update(n for n in graph.output_node().args[0] if isinstance(n, Node))
    simplify(state.module, exposed)


def _cse(state: State) -> None:
    graph = state.module.graph
    if state.joint is None:
        merge_common(state.module)
        return
    results = graph.output_node().args[0][:state.joint.n_forward]
    merge_common(state.module, {r for r in results if isinstance(r, Node)},
                 graph.placeholders[len(state.inputs):])


def _partition(state: State) -> None:
    joint = state.joint
    if joint is None:
        return
    state.joint_graph = state.joint_graph or joint.module
    state.joint_tangents = joint.tangents
    first = state.module.meta.get("second_names", {})
    assert state.functional is not None and state.history is not None
    eager = state.history.saved_bytes(joint, state.outputs, state.mutated)
    halves = partition(state.module, joint.n_forward, len(state.inputs),
                       [first.get(index, index) for index, _ in state.mutated],
                       eager * (state.budget if state.budget < 1 else DEFAULT_BUDGET))
    state.origin = Origin(state.functional, state.inputs, joint, state.module, halves.nodes)
    state.module, state.backward, state.saved = halves.forward, halves.backward, halves.saved
    made = [(node.name, bytes_of(node))
            for value, node in zip(halves.saved, halves.nodes, strict=False)
            if value.kind == "output" and value.index >= joint.n_forward]
    state.activations = Activations(
        tuple(made), eager, tuple([node.name for node in halves.recomputed]))


def _refusals(state: State) -> None:
    keep_refusals(state.module)


def _write_back(state: State) -> None:
    """Renumbers the forward's outputs after `write_back`."""
    joint = state.joint
    tangents = [] if joint is None else joint.tangents
    keep = {*tangents, *(s.index for s in state.saved if s.kind == "output")}
    keep.update(place for index, place in state.mutated if _is_read_elsewhere(state, index))
    left = write_back(state.module, state.mutated, keep)
    state.mutated = [(index, left.get(place, -1)) for index, place in state.mutated]
    state.saved = [Saved(s.kind, left[s.index]) if s.kind == "output" else s for s in state.saved]
    if joint is not None:
        state.joint = Joint(joint.module, sum(place < joint.n_forward for place in left),
                            [left[place] for place in tangents], joint.grad_inputs)


def _is_read_elsewhere(state: State, index: int) -> bool:
    """Whether an input is written whose memory the graph reads under its first name."""
    first = state.module.meta.get("second_names", {}).get(index)
    return first is not None and bool(state.module.graph.placeholders[first].users)


PASSES: tuple[Pass, ...] = (
    Pass("normalise", _normalise),
    Pass("functionalise", _functionalise, after=("normalise",)),
    Pass("joint", _joint, after=("functionalise", "partition")),
    Pass("decompose", _decompose, after=("normalise", "functionalise")),
    Pass("constants", _each(fold_constants), after=("functionalise",)),
    Pass("algebra", _algebra, after=("functionalise",)),
    Pass("cse", _cse, after=("functionalise",)),
    Pass("dce", _each(eliminate_dead_code), after=("functionalise",)),
    Pass("partition", _partition, after=("joint",)),
    Pass("refusals", _refusals, after=("functionalise",)),
    Pass("outputs", _each(own_outputs), after=("functionalise",)),
    Pass("write_back", _write_back, after=("functionalise",)),
)


def lower_graph(
    module: GraphModule,
    fake_inputs: Sequence[Any],
    *,
    needs_grad: bool,
    activation_memory_budget: float = 1.0,
    disabled: Collection[str] = (),
    dump: Callable[[str, GraphModule], None] | None = None,
    spans: list[Span] | None = None,
) -> Lowered:
    """Run `PASSES` over a captured graph.

    Args:
        module: the captured graph; it is not changed.
        fake_inputs: what its placeholders stand for: fake tensors (those with `requires_grad`
            are differentiated), ints and `SymInt`s.
        needs_grad: whether to make a backward graph too.
        activation_memory_budget: the part of what eager execution saves for the gradients that
            may be saved; as far as that takes recomputing values.
        disabled: names of passes to skip; what builds on them is skipped with them.
        dump: called with the name of each pass and each graph it left.
        spans: gets when each pass ran.

    Raises: CannotLower for what the passes do not support; GraphError if one left a malformed
        graph; ValueError for an unknown name in `disabled`.
    """
    off = _closed(disabled)
    state = State(module.copy(), fake_inputs, needs_grad, _as_they_are(module),
                  activation_memory_budget)
    for step in PASSES:
        if step.name in off:
            continue
        with Timed(f"compile::pass {step.name}", into=spans):
            step.run(state)
        for graph in state.graphs:
            graph.lint(step.name)
            if dump is not None:
                dump(step.name, graph)
    return _lowered(state)


def _closed(disabled: Collection[str]) -> set[str]:
    """The disabled passes and those that build on them."""
    unknown = set(disabled) - {step.name for step in PASSES}
    if unknown:
        raise ValueError(f"no pass is called {', '.join(sorted(unknown))}; "
                         f"there are {', '.join(step.name for step in PASSES)}")
    off = set(disabled)
    while True:
        more = {step.name for step in PASSES if off.intersection(step.after)} - off
        if not more:
            return off
        off |= more


def _as_they_are(module: GraphModule) -> list[OutputSpec]:
    results = module.graph.output_node().args[0]
    count = len(results) if isinstance(results, (tuple, list)) else 1
    return [OutputSpec("fresh", index) for index in range(count)]


def placeholder_values(module: GraphModule) -> list[Any]:
    """What the placeholders of a traced graph stand for."""
    return [node.meta["val"] for node in module.graph.placeholders]


def _shapes(module: GraphModule) -> list[Any]:
    """Those of what a graph gives; None of what is no tensor."""
    values = [leaf.meta["val"] if isinstance(leaf, Node) else None
              for leaf in module.graph.output_node().args[0]]
    return [getattr(value, "shape", None) for value in values]


def lower_joint(joint: Joint, inputs: Sequence[Any]) -> GraphModule:
    """A joint graph, for these fake inputs of its forward part, as it is before it is split."""
    state = State(joint.module, inputs, True, [], joint=joint)
    names = [step.name for step in PASSES]
    for step in PASSES[names.index("joint") + 1:names.index("partition")]:
        step.run(state)
        state.module.lint(step.name)
    return state.module


def lower_part(module: GraphModule, inputs: Sequence[Any]) -> GraphModule:
    """A functional graph without gradients, for these fake inputs, as code generation takes it."""
    state = State(decompose(module, inputs), inputs, False, [])
    names = [step.name for step in PASSES]
    for step in PASSES[names.index("decompose") + 1:]:
        step.run(state)
        state.module.lint(step.name)
    return state.module


def _lowered(state: State) -> Lowered:
    joint = state.joint
    ends = ends_of(state.module)
    lowered = Lowered(
        Graphs(state.module), ends, state.outputs, ends.n_outputs, state.mutated,
        rng_ops=state.module.meta.get("rng_ops", 0),
    )
    if joint is not None and state.backward is not None:
        lowered.n_user_outputs = joint.n_forward
        lowered.graphs = Graphs(
            state.module, state.backward, state.joint_graph, state.origin)
        lowered.has_backward = True
        lowered.expanded = expanded_gradients(state.joint_graph, len(joint.grad_inputs))
        lowered.saved = state.saved
        lowered.activations = state.activations
        lowered.tangents = joint.tangents
        lowered.grad_inputs = joint.grad_inputs
        lowered.joint_tangents = state.joint_tangents
        assert state.history is not None
        lowered.kept = state.history.kept(joint, state.outputs, state.mutated)
        lowered.reaches = state.history.reaches(joint, state.outputs, state.mutated)
        lowered.passages = state.history.passages(joint, state.outputs, state.mutated)
        lowered.rereads = state.history.rereads(joint, state.outputs, state.mutated)
        lowered.arrivals = state.history.arrivals(joint, state.outputs, state.mutated)
        lowered.latest_first = state.history.latest_first(joint, state.outputs, state.mutated)
        assert state.captured is not None
        lowered.apart = apart_of(state.captured, state.history, joint, state.outputs,
                                 state.mutated, _shapes(state.module))
        lowered.reusable = any(
            not reach <= _passing(lowered.passages, gradient)
            for gradient, reach in enumerate(lowered.reaches))
        lowered.read = joint.read_by_gradients()
        unchanged = {("input", index) for index in range(len(state.inputs))}
        unchanged.difference_update(("input", index) for index, _ in state.mutated)
        places = {kept.place for kept in lowered.kept if kept.place is not None}
        lowered.made = sorted(places - unchanged)
    return lowered


def _passing(passages: Sequence[tuple[int, int]], gradient: int) -> set[int]:
    """The tangents with a passage to a gradient."""
    above = reduce(or_, [above for above, below in passages if below >> gradient & 1], 0)
    return {bit for bit in range(above.bit_length()) if above >> bit & 1}


__all__ = ["PASSES", "Lowered", "Pass", "lower_graph", "placeholder_values"]
