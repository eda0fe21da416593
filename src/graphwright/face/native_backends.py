"""The built-in backends: a captured graph becomes native code, forward and backward.

A backend is a callable `(GraphModule, example_inputs) -> callable`. The example inputs are fake
tensors (and symbolic ints); the callable takes the graph's inputs and returns a tuple. This is the
one place where `ir` and `codegen` meet `capture`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

from graphwright.capture._eval_frame import run_unhooked
from graphwright.capture.frame.record import RUNS_EAGERLY
from graphwright.capture.frame.signal_handlers import raised_by_handler
from graphwright.codegen import target as machine
from graphwright.codegen.cache import CacheCounts, kernel_cache
from graphwright.codegen.compile import (
    CompiledGraph,
    Parts,
    compile_graph,
    compile_lengthened,
    emitters,
)
from graphwright.codegen.lengthening import NotPeriodic
from graphwright.face.compiled_call import Training
from graphwright.face.graph_cache import GraphEntry, entry_of, lowered_later
from graphwright.face.logs import log
from graphwright.face.notices import compiled_now, note_stage, watched
from graphwright.face.stage_dumps import KEY, Artifacts
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node as GraphNode
from graphwright.ir.joint.absent_gradients import lower_given
from graphwright.ir.lower_rounds import lower_rounds
from graphwright.ir.lowered_graph import CannotLower, Lowered, Shortened
from graphwright.ir.pipeline import lower_graph
from graphwright.runtime import _core
from graphwright.runtime.collecting import collector_at_rest
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.later import Later
from graphwright.runtime.spans import Span, Timed
from graphwright.runtime.stderr_notices import warn
from graphwright.runtime.tensor.tensor import Tensor

Backend = Callable[[GraphModule, Sequence[Any]], Callable[..., Any]]


class CompilerError(RuntimeError):
    """A bug inside graphwright's compiler: which stage failed, and how to report it."""


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Turn an unexpected exception into a `CompilerError` that names the stage."""
    try:
        yield
    except (CannotLower, DataDependent, CompilerError, machine.CompilerMissing,
            machine.TritonMissing, machine.KernelFailure, MemoryError):
        raise
    except Exception as error:
        if raised_by_handler(error):
            raise
        raise CompilerError(
            f"graphwright failed in the stage '{name}': {type(error).__name__}: {error}\n"
            "This is a bug in graphwright, not in your code. Please report it with the output of "
            "`graphwright doctor` and the function that was compiled; backend='eager' or "
            "@graphwright.compiler.disable runs it meanwhile."
        ) from error


def resolve(name: str) -> str:
    """The backend that a name stands for on this machine.

    "auto" is LLVM, which needs no compiler and starts in a third of the C backend's time; both
    emit the same loop nests. "c" without a working C compiler is LLVM too, after one warning.
    """
    if name == "auto":
        return "llvm"
    if name == "c":
        try:
            machine.find_compiler()
        except machine.CompilerMissing as missing:
            return _instead_of_c(missing)
    return name


def _instead_of_c(missing: machine.CompilerMissing) -> str:
    warn_once(f"graphwright: backend 'llvm' is used instead of 'c': {missing}")
    return "llvm"


_warned: set[str] = set()


def warn_once(message: str) -> None:
    """Warn the first time only."""
    if message not in _warned:
        _warned.add(message)
        warn(message, RuntimeWarning, 2)


def eager(
    graph: GraphModule, example_inputs: Sequence[Any], strict: bool = False, blas: bool = True,
    packed_weights: int | None = None, activation_memory_budget: float = 1.0,
    max_autotune: bool = False,
) -> Callable[..., Any]:
    """Run the captured graph as it is, op by op, which is strict anyway and saves what it saves.

    It is no module of the program's: hooks on the calls of all modules do not see it.
    """
    graph.meta[KEY] = Artifacts("eager")
    return graph.forward


def _leaves_history(graph: GraphModule) -> bool:
    """Whether a result requires gradients, or an input has got a history, after the graph."""
    results = graph.graph.output_node().args[0]
    if not isinstance(results, (tuple, list)):
        return True
    nodes = [result for result in results if isinstance(result, GraphNode)]
    if any("val" not in node.meta for node in (*nodes, *graph.graph.placeholders)):
        return True
    given = [node.meta["val"] for node in nodes]
    inputs = [node.meta["val"] for node in graph.graph.placeholders]
    return any(isinstance(value, Tensor) and value.requires_grad for value in given) or any(
        isinstance(value, Tensor) and value.grad_fn is not None for value in inputs
    )


def native(
    target: str, graph: GraphModule, example_inputs: Sequence[Any], strict: bool = False,
    blas: bool = True, packed_weights: int | None = None, activation_memory_budget: float = 1.0,
    max_autotune: bool = False,
) -> Callable[..., Any]:
    """Compile the graph, and its backward on first use, for "llvm" or "c".

    strict: half types are rounded where eager execution rounds them. blas: False takes matrix
    products, and convolutions, from the kernels that packages have. packed_weights: the most bytes
    in which parameters are kept packed, where nothing is differentiated; None leaves it to the
    limit of the process. activation_memory_budget: see `ir.pipeline.lower_graph`. max_autotune:
    whether the ways to make each product are measured, once for each shape.
    """
    artifacts = graph.meta[KEY] = Artifacts(
        resolve(target), strict=strict, blas=blas, function=compiled_now(),
        activation_memory_budget=activation_memory_budget, autotune=max_autotune)
    needs_grad = _core.grad_enabled() and any(
        isinstance(value, Tensor) and value.requires_grad for value in example_inputs
    )
    needs_grad = needs_grad and _leaves_history(graph)
    artifacts.packed_weights = packed_weights if blas and not needs_grad else 0
    with stage("graph cache"):
        entry = entry_of(graph, example_inputs, needs_grad, artifacts)
    try:
        lowered = _lowered(graph, example_inputs, needs_grad, artifacts, entry)
    except (CannotLower, DataDependent) as reason:
        artifacts.target, artifacts.note = "eager", str(reason)
        graph.meta[RUNS_EAGERLY] = str(reason)
        return graph
    artifacts.lowered = lowered
    log("joint", lambda: joint_text(lowered))
    forward = compile_half(artifacts, entry, "forward", lowered)
    if lowered.has_backward:
        return Training(lowered, forward, partial(_later, compile_half, artifacts, entry),
                        partial(_later, _lower_given))
    if lowered.is_plain():
        return forward
    run: Any = lowered.inference(forward)
    run.writes_last = True      # a call that raises has changed no input
    return cast(Callable[..., Any], run)


def _lowered(
    graph: GraphModule, example_inputs: Sequence[Any], needs_grad: bool, artifacts: Artifacts,
    entry: GraphEntry | None,
) -> Lowered:
    """The graph, lowered; from the graph cache where that has it."""
    if entry is not None:
        with Timed("compile::graph_cache", into=artifacts.spans), stage("graph cache"):
            known = entry.lowered()
        if known is not None:
            artifacts.loaded.append("lowered")
            return known
    note_stage(f"passes over a graph of {len(graph.graph.nodes)} nodes")
    with Timed("compile::passes", into=artifacts.spans), stage("ir"):
        graphs = lowered_later(graph, example_inputs, needs_grad, artifacts)
        lowered = None if needs_grad else lower_rounds(
            graph, example_inputs, graphs, artifacts.spans)
        if lowered is None:
            lowered = lower_graph(graph, example_inputs, needs_grad=needs_grad,
                                  activation_memory_budget=artifacts.activation_memory_budget,
                                  spans=artifacts.spans)
    if entry is not None:
        with stage("graph cache"):
            entry.keep_lowered(lowered)
    return lowered


def _later(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function of the compiler where compiled code needs it: within a backward pass."""
    return _core.with_grad_mode(True, _unmapped, function, args)


def _unmapped(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    _core.set_levels(())
    with collector_at_rest():
        return run_unhooked(function, *args)


def _lower_given(lowered: Lowered, given: Sequence[int]) -> Lowered:
    with stage("ir"):
        return lower_given(lowered, given)


def compile_half(
    artifacts: Artifacts, entry: GraphEntry | None, name: str, lowered: Lowered
) -> Callable[..., Any]:
    """Compile the forward graph, or the backward graph, and keep it with the artifacts.

    entry: has the program from the graph cache, or gets it.
    """
    before = copy.copy(kernel_cache().counts)
    short, lowered.shortened = lowered.shortened, None
    label = f"{name} {artifacts.function}"
    with (Timed(f"compile::native {label}", into=artifacts.spans),
          watched(f"the {name} graph of {artifacts.function}"), stage("codegen")):
        compiled = None
        kept = entry if name in KEPT else None
        if kept is not None:
            compiled = kept.program(name, label, partial(_parts, artifacts, name, lowered))
        if compiled is not None:
            artifacts.loaded.append(name)
        else:
            made = short and _lengthened(artifacts, label, short)
            compiled = made or _compiled(artifacts, name, label, lowered, artifacts.spans)
            if kept is not None:
                kept.keep_program(name, compiled)
            if made:
                made.parts = Later(partial(_parts, artifacts, name, lowered))
    artifacts.programs[name] = compiled
    artifacts.note = "; ".join([*filter(None, [artifacts.note]), *compiled.failures])
    log("loops", lambda: f"{name}\n{compiled.text}")
    log("kernels", lambda: f"{compiled.kernels} in the {name} graph, by "
                           f"{emitters(_half(name, lowered), artifacts.target)}")
    log("cache", lambda: cache_text(before, kernel_cache().counts)
        + (f", the program of the {name} graph" if name in artifacts.loaded else ""))
    return compiled.launch


KEPT = ("forward", "backward")
"""The programs that the graph cache keeps; others are for gradients of some results alone."""


def _half(name: str, lowered: Lowered) -> GraphModule:
    found = lowered.forward if name == "forward" else lowered.backward
    assert found is not None
    return found


def _compiled(
    artifacts: Artifacts, name: str, label: str, lowered: Lowered, spans: list[Span] | None
) -> CompiledGraph:
    module = _half(name, lowered)
    examples = [node.meta["val"] for node in module.graph.placeholders]
    note_stage(f"code generation by {emitters(module, artifacts.target)} for the {name} graph "
               f"of {len(module.graph.nodes)} nodes")
    compile_ = partial(compile_graph, module, examples, strict=artifacts.strict,
                       blas=artifacts.blas, packed_weights=artifacts.packed_weights,
                       label=label, spans=spans, staged=name != "forward",
                       trains=lowered.has_backward, autotune=artifacts.autotune)
    try:
        return compile_(target=artifacts.target)
    except machine.CompilerMissing as missing:
        if artifacts.target != "c":
            raise
        artifacts.target = _instead_of_c(missing)
        return compile_(target=artifacts.target)


def _lengthened(artifacts: Artifacts, label: str, short: Shortened) -> CompiledGraph | None:
    """The program of a graph with many rounds, made from that with few of them; None where the
    whole graph has to be compiled."""
    examples = [node.meta["val"] for node in short.forward.graph.placeholders]
    try:
        return compile_lengthened(
            short.forward, examples, short.removed, target=artifacts.target,
            strict=artifacts.strict, blas=artifacts.blas, packed_weights=artifacts.packed_weights,
            label=label, spans=artifacts.spans, autotune=artifacts.autotune)
    except NotPeriodic:
        more = short.longer and short.longer()
        return _lengthened(artifacts, label, more.shortened) if more and more.shortened else None
    except machine.CompilerMissing:
        return None


def _parts(artifacts: Artifacts, name: str, lowered: Lowered) -> Parts:
    """What a program that was loaded consists of, compiled for people who look at it."""
    parts: Parts = _later(_compiled, artifacts, name, name, lowered, None).made_parts()
    return parts


def joint_text(lowered: Lowered) -> str:
    """The graphs of primitives: forward, and backward where there is one."""
    halves = [("forward", lowered.forward), ("backward", lowered.backward)]
    return "\n".join(f"{name}\n{half.readable()}" for name, half in halves if half is not None)


def cache_text(before: CacheCounts, after: CacheCounts) -> str:
    """What happened in the kernel cache between two counts."""
    names = ("memory_hits", "disk_hits", "misses", "rebuilt")
    changes = {name: getattr(after, name) - getattr(before, name) for name in names}
    return ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in changes.items())


BACKENDS: dict[str, Callable[..., Callable[..., Any]]] = {
    "eager": eager,
    "llvm": partial(native, "llvm"),
    "c": partial(native, "c"),
    "auto": partial(native, "auto"),
}
