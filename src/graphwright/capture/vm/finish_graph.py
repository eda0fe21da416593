"""Closing a graph: outputs, unused inputs, size symbols, and the call of the backend."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import Any

from graphwright.autograd.grad_mode import INFERENCE
from graphwright.capture import _eval_frame
from graphwright.capture.exc import Unsupported, unsupported
from graphwright.capture.guards.source import SizeSource, Source
from graphwright.capture.guards.tensor_data_aliases import memory_source, second_names
from graphwright.capture.trackers.effects.context import set_inference
from graphwright.capture.trackers.tensors.backward_hooks import refuse_watches
from graphwright.capture.vm.asserted_branches import assumed_nodes, confirming
from graphwright.capture.vm.output_graph import OutputGraph
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, map_leaves
from graphwright.ir.pieces import Piece, compiled_in_pieces, cut_apart, shared_by_pieces
from graphwright.runtime import _core
from graphwright.runtime.batching import boundary
from graphwright.runtime.fake.fake_tensor import FakeTensor, make_fake
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.places import WHOLE
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor.tensor import Tensor


class FinishedGraph(Record):
    """A closed graph: `run(*values of sources)` gives its outputs. None: nothing to run.

    kept: the inputs that it may have changed already where it fails. pieces: the graphs that the
    backend was given, each with its number of operations.
    """

    module: GraphModule | None
    run: Callable[..., Any] | None
    sources: tuple[Source, ...]
    n_ops: int
    kept: tuple[Source, ...] = ()
    pieces: tuple[tuple[GraphModule, int], ...] = ()


def finish_graph(
    output: OutputGraph,
    results: Sequence[Node],
    backend: Callable[[Any, Sequence[Any]], Callable[..., Any]],
) -> FinishedGraph:
    """Close the graph of a frame and compile it."""
    if not output.n_ops:
        return FinishedGraph(None, None, (), 0)
    _guard_mutation(output)
    _check_shared(output, results)
    graph = output.graph
    assumed = assumed_nodes(output.assumptions)
    graph.output((*results, *assumed))
    _start_without_gradients(output)
    symbols = _bind_symbols(output)
    for node in list(output.inputs):
        if not node.users and node not in symbols.values():
            graph.erase_node(node)
            del output.inputs[node]
    order = graph.placeholders
    module = GraphModule({}, graph)
    module.meta["shape_env"] = output.shape_env
    module.meta["symbols"] = {
        name: (order.index(node), _place_in(output, name)) for name, node in symbols.items()
    }
    module.meta["second_names"] = second_names(output)
    module.lint()
    examples = [_as_given(output, node) for node in order]
    sources = tuple(output.inputs[node] for node in order)
    parts = _cut_apart(output, module, examples) if output.watches else []
    with _modes_of_the_start(output):
        compiled = compiled_in_pieces(module, parts, backend) if parts else (
            backend(module, examples))
    certain = writes_last(compiled) and not output.assumptions
    written = () if certain else output.mutated_inputs()
    kept = tuple([output.inputs[node] for node in written])
    run = _shielded(compiled)
    if switches_inference(output):
        run = functools.partial(_in_mode, run, bool(output.inference))
    mapped = any(node.target is boundary.enter for node in module.graph.nodes)
    if output.grad_nodes or output.autocast_nodes or mapped or switches_inference(output):
        run = functools.partial(_core.keeping_modes, run)
    if output.assumptions:
        refuted = output.state.note_refutation
        run = confirming(run, output.assumptions, len(results), refuted)
    pieces = tuple([(part.module, part.n_ops) for part in parts if isinstance(part, Piece)])
    return FinishedGraph(
        module, run, sources, output.n_ops, kept, pieces or ((module, output.n_ops),))


def _cut_apart(
    output: OutputGraph, module: GraphModule, examples: Sequence[Any]
) -> list[Piece | Node]:
    """The pieces around calls of modules with backward hooks; a break where there can be none."""
    switches = output.grad_nodes or output.autocast_nodes or switches_inference(output)
    if switches:
        refuse_watches(output, "in a graph that switches gradients or autocast")
    if module.meta["second_names"] or shared_by_pieces(module):
        refuse_watches(output, "in a graph that writes to memory around it")
    return cut_apart(module, examples)


def _as_given(output: OutputGraph, node: Node) -> Any:
    """The value of an argument, without the history that the graph's own writes gave it."""
    fake, given = node.meta["val"], output.real_inputs().get(node)
    if not isinstance(given, Tensor) or given.requires_grad or fake.grad_fn is None:
        return fake
    return make_fake(fake.shape, fake.stride(), fake.dtype, fake.device)


def writes_last(run: Any) -> bool:
    """Whether a backend's callable changes inputs only once nothing can fail any more."""
    return isinstance(run, _core.Launcher) or bool(getattr(run, "writes_last", False))


def _start_without_gradients(output: OutputGraph) -> None:
    """A node that says so, where the graph switches gradients on later."""
    if output.initial_grad_mode or not output.grad_nodes:
        return
    graph = output.graph
    with graph.inserting_before(next(n for n in graph.nodes if n.op != "placeholder")):
        graph.call_function(_core.set_grad_enabled, (False,)).meta["val"] = None


@contextmanager
def _modes_of_the_start(output: OutputGraph) -> Iterator[None]:
    """Within the block modes are those in which the graph starts, not those in which it ends.

    Grad mode is on where any part of the graph records.
    """
    modes, recorded = _core.modes(), _core.grad_enabled()
    _core.set_modes(output.initial_modes)
    if output.inference is not None:
        set_inference(output.inference)
    _core.set_grad_enabled(output.initial_grad_mode or output.grad_nodes > 0)
    try:
        yield
    finally:
        _core.set_modes(modes)
        _core.set_grad_enabled(recorded)


def switches_inference(output: OutputGraph) -> bool:
    """Whether the operations of the graph run in another mode than the frame begins in."""
    return output.inference is (not output.initial_modes & INFERENCE)


def _in_mode(run: Callable[..., Any], inference: bool, *args: Any) -> Any:
    """Run a graph in inference mode, or out of it."""
    set_inference(inference)
    return run(*args)


_eval_frame.skip_code(_in_mode.__code__)
_eval_frame.skip_code(set_inference.__code__)


def _shielded(run: Callable[..., Any]) -> Callable[..., Any]:
    """Keep frames of a backend's Python code from being captured in their turn."""
    in_python = isinstance(run, (types.FunctionType, types.MethodType))
    if in_python or type(run).__flags__ & _HEAP_TYPE:
        return functools.partial(_eval_frame.run_unhooked, run)
    return run


_HEAP_TYPE = 1 << 9


def _bind_symbols(output: OutputGraph) -> dict[str, Node]:
    """Size symbol -> the placeholder from which its value is read."""
    names: dict[str, None] = {}

    def note(leaf: Any) -> Any:
        if isinstance(leaf, SymInt):
            names.update(dict.fromkeys(sorted(symbol.name for symbol in leaf.expr.symbols())))
        return leaf

    for node in output.graph.nodes:
        map_leaves(node.args, note)
        map_leaves(node.kwargs, note)
        value = node.meta.get("val")
        if node.op == "placeholder" and node.users and isinstance(value, FakeTensor):
            map_leaves((*value.shape, *value.stride()), note)
    return {name: _placeholder_of(output, name) for name in names}


def _placeholder_of(output: OutputGraph, name: str) -> Node:
    source = output.shape_env.symbol_sources[name]
    if isinstance(source, SizeSource):
        return next(node for node, known in output.inputs.items() if known == source.base)
    assert isinstance(source, Source)
    node = output.symbol_input(source)
    node.meta["val"] = SymInt(output.shape_env.symbols[name], output.shape_env)
    return node


def _place_in(output: OutputGraph, name: str) -> int:
    source = output.shape_env.symbol_sources[name]
    return source.place if isinstance(source, SizeSource) else WHOLE


def _guard_mutation(output: OutputGraph) -> None:
    """Where the graph writes inputs, no two inputs may share memory."""
    mutated = output.mutated_inputs()
    if not mutated:
        return
    real = {node: value for node, value in output.real_inputs().items() if node.users}
    names = {node: memory_source(output.inputs[node]) for node in real}
    sources = list(dict.fromkeys([names[node] for node in mutated]))
    written = set(sources)
    if _overlap([(*_extent(value), names[node]) for node, value in real.items()], written):
        unsupported("GB0008", "an input that is changed shares memory with another")
    others = list(dict.fromkeys([name for name in names.values() if name not in written]))
    if len(sources) + len(others) > 1:
        for source in (*sources, *others):
            source.require_comparable()
        output.guards.no_overlap(sources, others)


def _check_shared(output: OutputGraph, results: Sequence[Node]) -> None:
    """A break before results that share memory with arguments, where that could be seen."""
    kept = [node.meta["val"] for node in (*results, *output.inputs)]
    storages = [id(getattr(value, "_storage", None)) for value in kept]
    for fake, version, step in output.shared:
        storage = id(fake._storage)
        if fake._storage._version != version or storages.count(storage) > 1:
            reason = Unsupported("GB0015", "a result that is a view of an argument of a Function")
            reason.blame(step)
            raise reason


def _overlap(extents: Sequence[tuple[int, int, Source]], written: set[Source]) -> bool:
    """Whether the extents in memory of two inputs overlap, one of which is `written`."""
    reaching: list[tuple[int, Source]] = []
    for start, end, name in sorted((e for e in extents if e[0] < e[1]), key=itemgetter(0)):
        reaching = [(stop, other) for stop, other in reaching if stop > start]
        if any(other != name and (name in written or other in written) for _, other in reaching):
            return True
        reaching.append((end, name))
    return False


def _extent(tensor: Any) -> tuple[int, int]:
    """The first address of a tensor's elements and the one after the last."""
    if not tensor.numel():
        return 0, 0
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    last = sum((size - 1) * abs(stride) for size, stride in steps)
    start = tensor._address()
    return start, start + (last + 1) * tensor.element_size()
