"""From a lowered graph to a `NativeProgram`: scheduling, memory, and how results come out."""

from __future__ import annotations

from collections.abc import Sequence

from graphwright.codegen.lengthening import lengthened
from graphwright.codegen.loops import Check, Kernel
from graphwright.codegen.lowering.graph import LoweredGraph, TensorOutput
from graphwright.codegen.memory_plan import in_place, plan_memory, plan_stages
from graphwright.codegen.program import NativeProgram, Output, Slot, Step
from graphwright.codegen.scheduler.buffer_access import statements
from graphwright.codegen.scheduler.chained import chained_kernels
from graphwright.codegen.scheduler.schedule import Schedule, schedule
from graphwright.ir.rounds import Removed
from graphwright.runtime.record import replace
from graphwright.runtime.spans import Span, Timed


def build_program(
    graph: LoweredGraph, spans: list[Span] | None = None, staged: bool = False,
    removed: Removed | None = None,
) -> NativeProgram:
    """Schedule a lowered graph and plan its memory. `spans` gets when both were done.

    staged: inputs are freed, and outputs get memory, while the program runs. removed: what the
    graph has less than the one whose program is to be made, whose `symbols` it has already.

    Raises: NotPeriodic where that cannot be put back.
    """
    texts: tuple[str, ...] = ()
    with Timed("compile::schedule", into=spans):
        plan = schedule(graph)
        chained = chained_kernels(plan.steps)
        temps = {temp.name for temp in plan.temps}
        plan = replace(plan, steps=in_place(plan.steps, temps, chained))
        if removed is not None:
            longer = lengthened(plan, removed, chained)
            plan, texts, chained = longer.plan, longer.texts, longer.chained
    outputs = program_outputs(graph, plan)
    with Timed("compile::memory_plan", into=spans):
        results = [output.buffer for output in outputs]
        if staged:
            memory = plan_stages(
                plan.steps, plan.temps, results, plan.inputs, plan.mutated, chained)
        else:
            memory = plan_memory(plan.steps, plan.temps, results, chained)
    slots = {b.name: Slot("input", n) for n, b in enumerate(plan.inputs)}
    slots |= {o.buffer.name: Slot("output", n) for n, o in enumerate(outputs)}
    slots |= memory.slots
    return NativeProgram(
        inputs=plan.inputs, outputs=outputs, slots=slots, arena_bytes=memory.arena_bytes,
        steps=memory.steps, symbols=graph.symbols, rng_ops=graph.rng_ops, mutated=plan.mutated,
        messages=_messages(memory.steps, texts), stages=memory.stages, blocks=memory.blocks,
        chained=chained, texts=texts,
    )


def program_outputs(graph: LoweredGraph, plan: Schedule) -> tuple[Output, ...]:
    """The tensors that the program allocates and returns, in order."""
    return tuple(
        Output(plan.outputs[position], spec.shape, spec.strides)
        for position, spec in enumerate(graph.outputs) if isinstance(spec, TensorOutput))


def _messages(steps: Sequence[Step], texts: Sequence[str]) -> tuple[str, ...]:
    distinct = dict(zip(texts, steps, strict=True)).values() if texts else steps
    checks = (stmt for step in distinct if isinstance(step, Kernel)
              for stmt in statements(step.body) if isinstance(stmt, Check))
    return tuple(dict.fromkeys(check.text for check in checks))
