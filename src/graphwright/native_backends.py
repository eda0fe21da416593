"""The built-in backends: a captured graph becomes native code, forward and backward.

A backend is a callable `(GraphModule, example_inputs) -> callable`. The example inputs are fake
tensors (and symbolic ints); the callable takes the graph's inputs and returns a tuple. This is the
one place where `ir` and `codegen` meet `capture`.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from graphwright.artifacts import KEY, Artifacts
from graphwright.capture._eval_frame import run_unhooked
from graphwright.capture.record import RUNS_EAGERLY
from graphwright.codegen import target as machine
from graphwright.codegen.cache import CacheCounts, kernel_cache
from graphwright.codegen.compile import CompiledGraph, compile_graph
from graphwright.ir.graph_module import GraphModule
from graphwright.ir.lowered import CannotLower, Lowered, OutputSpec, Saved
from graphwright.ir.node import Node as GraphNode
from graphwright.ir.pipeline import lower_graph
from graphwright.logs import log
from graphwright.runtime import _core
from graphwright.runtime.autograd.node import Node
from graphwright.runtime.autograd.saved import FREED, SavedValues, packing
from graphwright.runtime.dispatch import without_autocast
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.locks import Lock
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.tensor import Tensor
from graphwright.watched import Passages, Watch, Watched

Backend = Callable[[GraphModule, Sequence[Any]], Callable[..., Any]]


class CompilerError(RuntimeError):
    """A bug inside graphwright's compiler: which stage failed, and how to report it."""


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Turn an unexpected exception into a `CompilerError` that names the stage."""
    try:
        yield
    except (CannotLower, DataDependent, CompilerError, machine.CompilerMissing, KeyboardInterrupt):
        raise
    except Exception as error:
        raise CompilerError(
            f"graphwright failed in the stage '{name}': {type(error).__name__}: {error}\n"
            "This is a bug in graphwright, not in your code. Please report it with the output of "
            "`graphwright doctor` and the function that was compiled; backend='eager' or "
            "@graphwright.compiler.disable runs it meanwhile."
        ) from error


def resolve(name: str) -> str:
    """The backend that a name stands for on this machine.

    "auto" is LLVM, which needs no compiler and starts in a third of the C backend's time; both
    emit the same loop nests. "c" without a C compiler on PATH is LLVM too, after one warning.
    """
    if name == "auto":
        return "llvm"
    if name == "c":
        try:
            machine.find_compiler()
        except machine.CompilerMissing as missing:
            warn_once(f"graphwright: backend 'llvm' is used instead of 'c': {missing}")
            return "llvm"
    return name


_warned: set[str] = set()


def warn_once(message: str) -> None:
    """Warn the first time only."""
    if message not in _warned:
        _warned.add(message)
        warnings.warn(message, RuntimeWarning, stacklevel=2)


def eager(graph: GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
    """Run the captured graph as it is, op by op."""
    graph.meta[KEY] = Artifacts("eager")
    return graph


def _leaves_history(graph: GraphModule) -> bool:
    """Whether a result requires gradients, or an input has got a history, after the graph."""
    results = graph.graph.output_node.args[0]
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


def native(target: str, graph: GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
    """Compile the graph, and its backward on first use, for "llvm" or "c"."""
    artifacts = graph.meta[KEY] = Artifacts(resolve(target))
    needs_grad = _core.grad_enabled() and any(
        isinstance(value, Tensor) and value.requires_grad for value in example_inputs
    )
    needs_grad = needs_grad and _leaves_history(graph)
    try:
        with stage("ir"):
            lowered = lower_graph(graph, example_inputs, needs_grad=needs_grad)
    except (CannotLower, DataDependent) as reason:
        artifacts.target, artifacts.note = "eager", str(reason)
        graph.meta[RUNS_EAGERLY] = str(reason)
        return graph
    artifacts.lowered = lowered
    log("joint", lambda: joint_text(lowered))
    forward = compile_half(artifacts, "forward", lowered.forward)
    if lowered.backward is not None:
        return Training(artifacts, lowered, forward)
    if is_plain(lowered):
        return forward
    return Inference(lowered, forward)


def compile_half(artifacts: Artifacts, name: str, module: GraphModule) -> Callable[..., Any]:
    """Compile the forward or the backward graph, and keep it with the artifacts."""
    examples = [node.meta["val"] for node in module.graph.placeholders]
    before = copy.copy(kernel_cache().counts)
    with stage("codegen"):
        compiled: CompiledGraph = compile_graph(module, examples, target=artifacts.target)
    artifacts.programs[name] = compiled
    log("loops", lambda: f"{name}\n{compiled.sources['loops']}")
    log("kernels", lambda: f"{compiled.kernels} in the {name} graph, by {artifacts.target}")
    log("cache", lambda: cache_text(before, kernel_cache().counts))
    return compiled.launch


def joint_text(lowered: Lowered) -> str:
    """The graphs of primitives: forward, and backward where there is one."""
    halves = [("forward", lowered.forward), ("backward", lowered.backward)]
    return "\n".join(f"{name}\n{half.readable()}" for name, half in halves if half is not None)


def cache_text(before: CacheCounts, after: CacheCounts) -> str:
    """What happened in the kernel cache between two counts."""
    names = ("memory_hits", "disk_hits", "misses", "rebuilt")
    changes = {name: getattr(after, name) - getattr(before, name) for name in names}
    return ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in changes.items())


def is_plain(lowered: Lowered) -> bool:
    """Whether the forward's outputs are the captured graph's results as they stand."""
    straight = [OutputSpec("fresh", i) for i in range(len(lowered.outputs))]
    return (lowered.outputs == straight and len(straight) == lowered.n_user_outputs
            and all(output < 0 for _, output in lowered.mutated))


class Inference:
    """A forward whose results are put together from outputs, inputs and constants.

    Nothing that it writes gets a history: a leaf may be written here in any grad mode.
    writes_last: a call that raises has changed no input.
    """

    writes_last = True

    def __init__(self, lowered: Lowered, forward: Callable[..., Any]) -> None:
        self.lowered = lowered
        self.forward = forward

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        outputs = self.forward(*inputs)
        for number, output in self.lowered.mutated:
            if output >= 0:
                _core.with_grad_mode(False, inputs[number].copy_, outputs[output])
        return self.lowered.results(inputs, outputs)


class Training:
    """A compiled forward that hangs one node, with the compiled backward, on the tape.

    writes_last: a call that raises has changed no input.
    """

    writes_last = True

    def __init__(
        self, artifacts: Artifacts, lowered: Lowered, forward: Callable[..., Any]
    ) -> None:
        self.artifacts = artifacts
        self.lowered = lowered
        self.forward = forward
        self.saved = SavedPlaces(lowered)
        self.watch = Watch(lowered)
        self.passages = Passages(lowered)
        self.differentiated = tuple(lowered.grad_inputs)
        self.every_input = tuple(range(len(lowered.forward.graph.placeholders)))
        self.plain = is_plain(lowered)
        self.symbolic = bool(lowered.forward.symbols)
        self.tangents: Tangents | None = None
        self._backward: Callable[..., Any] | None = None
        self._lock = Lock()

    @property
    def backward(self) -> Callable[..., Any]:
        """The backward half, compiled when it is first needed."""
        return self._backward or self._compiled()

    def _compiled(self) -> Callable[..., Any]:
        with self._lock:
            if self._backward is None:
                assert self.lowered.backward is not None
                self._backward = _core.with_grad_mode(
                    True, run_unhooked,
                    compile_half, self.artifacts, "backward", self.lowered.backward)
            return self._backward

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        lowered = self.lowered
        rng = _core.rng_state() if lowered.rng_ops else None
        outputs = self.forward(*inputs)
        node = CompiledBackward(self, inputs, outputs, rng)
        for number, index in enumerate(lowered.tangents):
            output = outputs[index]
            output.grad_fn, output.output_nr = node, number
        for number, index in lowered.mutated:
            if index >= 0:
                inputs[number].copy_(outputs[index])
        node.watch(inputs, outputs)
        if self.plain:
            return outputs[:lowered.n_user_outputs]
        return lowered.results(inputs, outputs)

    def tangents_of(self, outputs: Sequence[Any]) -> Tangents:
        """Of a call's outputs: the same in each call unless sizes vary."""
        if self.tangents is None or self.symbolic:
            self.tangents = Tangents([outputs[i] for i in self.lowered.tangents])
        return self.tangents


class Tangents:
    """What the gradients of a compiled forward's outputs look like.

    layouts: the strides in which the backward takes them; outputs: as in `Node`.
    """

    __slots__ = ("layouts", "outputs")

    def __init__(self, outputs: Sequence[Any]) -> None:
        self.layouts = [output.stride() for output in outputs]
        self.outputs = [(output.shape, output.dtype, output.device) for output in outputs]


class SavedPlaces:
    """Where what the backward takes comes from: inputs, outputs and sizes, put in order.

    inputs, outputs: positions among the forward's; made: these outputs' own, once saved; sizes:
    expressions over the forward's symbols.
    """

    __slots__ = ("_order", "inputs", "made", "outputs", "sizes")

    def __init__(self, lowered: Lowered) -> None:
        kinds: dict[str, list[Saved]] = {"input": [], "output": [], "size": []}
        for saved in lowered.saved:
            kinds[saved.kind].append(saved)
        self.inputs = tuple([saved.index for saved in kinds["input"]])
        self.outputs = tuple([saved.index for saved in kinds["output"]])
        self.made = tuple(range(len(self.outputs)))
        self.sizes = [saved.size.expr for saved in kinds["size"] if saved.size is not None]
        grouped = [saved for group in kinds.values() for saved in group]
        self._order = [next(place for place, other in enumerate(grouped) if other is saved)
                       for saved in lowered.saved]

    def ordered(self, inputs: Sequence[Any], outputs: Sequence[Any], sizes: dict[str, int]
                ) -> list[Any]:
        """The backward's arguments before the tangents."""
        values = [*inputs, *outputs, *[size.evaluate(sizes) for size in self.sizes]]
        return [values[place] for place in self._order]


class CompiledBackward(Node):
    """The tape's node of a compiled forward: what it saved, and the backward to call."""

    __slots__ = ("closed", "inputs", "layouts", "made", "passed", "rng", "sizes", "training",
                 "watched")

    checked = True

    def __init__(
        self, training: Training, inputs: tuple[Any, ...], outputs: Sequence[Any], rng: Any
    ) -> None:
        super().__init__("CompiledBackward",
                         _core.gradient_edges(inputs, training.differentiated))
        self.training = training
        self.rng = rng
        tangents = training.tangents_of(outputs)
        self.layouts, self.outputs = tangents.layouts, tangents.outputs
        self.sizes = training.lowered.forward.bind_sizes(inputs) if training.symbolic else {}
        self.inputs: SavedValues | None = SavedValues(inputs)
        self.made: SavedValues | None = SavedValues(
            tuple([_core.detach(Tensor, outputs[i]) for i in training.saved.outputs]))
        self.watched: Watched | None = None
        self.closed = self.passed = 0

    def watch(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Note the versions of what eager execution would have saved, unless hooks replace it."""
        if self.training.watch.kept and not packing():
            assert self.inputs is not None
            self.watched = Watched(self.training.watch, self.inputs, inputs, outputs, self.sizes)

    def release(self) -> None:
        """Close the ways that gradients have gone; those of other results stay open."""
        self.closed |= self.passed
        if self.training.passages.end(self.closed):
            self.inputs = self.made = self.watched = None

    def check(self, grads: list[Any], wanted: Sequence[bool]) -> None:
        """Raise RuntimeError where eager execution finds a saved tensor released, or written."""
        given = [grad is not None for grad in grads]
        self.passed = self.training.passages.gone(given, wanted)
        if self.passed & self.closed:
            raise RuntimeError(FREED)
        if self.watched is not None:
            self.watched.check(given, wanted)

    def compute(self, grads: list[Any]) -> Sequence[Any]:
        """One gradient, or None, for each input that requires grad."""
        if self.inputs is None or self.made is None:
            raise RuntimeError(FREED)
        tangents = [
            self.tangent(grad, number) for number, grad in enumerate(grads)
        ]
        given = [grad is not None for grad in grads]
        if not _core.grad_enabled():
            places = self.training.saved
            made = self.made.unpack(self, places.made)
            saved = places.ordered(self.inputs.unpack(self, places.inputs), made, self.sizes)
            return self.led_to(self.training.backward(*saved, *tangents), given)
        results = self.led_to(self.differentiable(self.inputs, tangents), given)
        return results if self.watched is None else self.watched.follow(results, given)

    def led_to(self, gradients: Sequence[Any], given: Sequence[bool]) -> list[Any]:
        """The gradients without those of inputs that no output whose gradient has come depends on.

        They would be zeros; eager execution leaves such inputs out.
        """
        if all(given):
            return list(gradients)
        reaches = self.training.lowered.reaches
        return [gradient if any(given[number] for number in reach) else None
                for gradient, reach in zip(gradients, reaches, strict=True)]

    def tangent(self, grad: Any, number: int) -> Any:
        """The gradient of an output in that output's layout; zeros for an unused output."""
        shape, dtype, _ = self.outputs[number]
        if grad is None:
            return ops.zeros(shape, dtype=dtype)
        if grad.stride() == self.layouts[number] or _core.grad_enabled():
            return grad
        dense = _core.empty_strided(Tensor, shape, self.layouts[number], dtype)
        return dense.copy_(grad)

    def differentiable(self, inputs: SavedValues, tangents: list[Any]) -> Sequence[Any]:
        """The same gradients by eager ops over the joint graph, recorded on the tape.

        The forward part runs again with the random numbers of the first time.
        """
        joint = self.training.lowered.joint
        assert joint is not None
        values = inputs.unpack(self, self.training.every_input)
        with replaying(self.rng):
            results = without_autocast(joint, *values, *tangents)
        return list(results[len(results) - len(self.edges):])


@contextmanager
def replaying(rng: Any) -> Iterator[None]:
    """Draw the random numbers of an earlier state again; go on from the present one after."""
    if rng is None:
        yield
        return
    present = _core.rng_state()
    _core.set_rng_state(*rng)
    try:
        yield
    finally:
        _core.set_rng_state(*present)


BACKENDS: dict[str, Backend] = {
    "eager": eager,
    "llvm": partial(native, "llvm"),
    "c": partial(native, "c"),
    "auto": partial(native, "auto"),
}
