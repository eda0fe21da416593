"""Recorded calls of a compiled forward: one node on the tape, with a compiled backward."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import repeat, starmap
from typing import Any

from graphwright.gradient_layouts import GradientLayouts
from graphwright.ir.graph_module import GraphModule
from graphwright.ir.joint import ByResults, Results, Retaped
from graphwright.ir.lowered import Lowered, Saved
from graphwright.runtime import _core
from graphwright.runtime.autograd.engine import RETAINING, endings
from graphwright.runtime.autograd.node import (
    Leading,
    Node,
    gradient_edge,
    leading_to,
    next_sequence,
)
from graphwright.runtime.autograd.saved import FREED, SavedValues, alias_of, packing
from graphwright.runtime.dispatch import without_autocast
from graphwright.runtime.locks import Lock
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.overriding import FUNCTIONS
from graphwright.runtime.tensor import Tensor
from graphwright.watched import Passages, Watch, Watched

PER_NODE = 2
"""Sequence numbers left free for each node that eager execution records: the joint graph's
operations may record some more."""


class Training:
    """A compiled forward that hangs one node, with the compiled backward, on the tape.

    writes: (input, output with its new value, whether that has a history): a leaf may be written
    what has none in any grad mode.
    writes_last: a call that raises has changed no input.
    places: how many sequence numbers each call leaves free before its node's, for unfolding it.
    """

    writes_last = True

    def __init__(
        self, lowered: Lowered, forward: Callable[..., Any],
        compile_backward: Callable[[], Callable[..., Any]],
    ) -> None:
        self.lowered = lowered
        self.forward = forward
        self.saved = SavedPlaces(lowered)
        self.watch = Watch(lowered)
        self.passages = Passages(lowered)
        self.differentiated = tuple(lowered.grad_inputs)
        self.written = [(index, index in lowered.read) for index in lowered.written()]
        count = len(lowered.forward.graph.placeholders)
        self.unwritten = tuple(sorted({*range(count)}.difference(lowered.written())))
        self.results = None if lowered.is_plain() else lowered.results()
        self.writes = [(number, index, index in lowered.tangents)
                       for number, index in lowered.mutated if index >= 0]
        self.places = PER_NODE * lowered.tape if lowered.interior else 0
        self.symbolic = bool(lowered.forward.symbols)
        self.gradients = GradientLayouts(lowered)
        self.tangents: Tangents | None = None
        self._compile_backward = compile_backward
        self._backward: Callable[..., Any] | None = None
        self._lock = Lock()

    @property
    def backward(self) -> Callable[..., Any]:
        """The backward half, compiled when it is first needed."""
        return self._backward or self._compiled()

    def _compiled(self) -> Callable[..., Any]:
        with self._lock.now:
            if self._backward is None:
                self._backward = self._compile_backward()
            return self._backward

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        lowered = self.lowered
        rng = _core.rng_state() if lowered.rng_ops else None
        before = [(index, _core.with_grad_mode(False, ops.clone, inputs[index]) if read
                   else inputs[index]) for index, read in self.written]
        outputs = self.forward(*inputs)
        node = CompiledBackward(self, inputs, outputs, rng)
        node.before = before
        for number, index in enumerate(lowered.tangents):
            output = outputs[index]
            output.grad_fn, output.output_nr = node, number
        for number, index, recorded in self.writes:
            _core.with_grad_mode(recorded, inputs[number].copy_, outputs[index])
        node.watch(inputs, outputs)
        if self.results is None:
            return outputs[:lowered.n_user_outputs]
        return self.results(*inputs, outputs)

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
        places = {id(saved): place for place, saved in enumerate(grouped)}
        self._order = [places[id(saved)] for saved in lowered.saved]

    def ordered(self, inputs: Sequence[Any], outputs: Sequence[Any], sizes: dict[str, int]
                ) -> list[Any]:
        """The backward's arguments before the tangents."""
        values = [*inputs, *outputs, *[size.evaluate(sizes) for size in self.sizes]]
        return [values[place] for place in self._order]


class CompiledBackward(Node):
    """The tape's node of a compiled forward: what it saved, and the backward to call.

    Where somebody asks for what arrives at a result that others are computed from, it is unfolded:
    the forward runs again, by eager ops on the tape, and the node hands gradients on to that.

    before: the inputs that the call writes, by position, as they were where gradients of
        gradients begin with that. ending: whether the gradients that come now are the last.
    """

    __slots__ = ("before", "closed", "ending", "inputs", "layouts", "made", "passed", "rng",
                 "sizes", "training", "unfolded", "watched")

    checked = True

    def __init__(
        self, training: Training, inputs: tuple[Any, ...], outputs: Sequence[Any], rng: Any
    ) -> None:
        if training.places:
            deque(starmap(next_sequence, repeat((), training.places)), maxlen=0)
        super().__init__("CompiledBackward",
                         _core.gradient_edges(inputs, training.differentiated))
        self.training = training
        self.rng = rng
        tangents = training.tangents_of(outputs)
        self.layouts, self.outputs = tangents.layouts, tangents.outputs
        self.sizes = training.lowered.forward.bind_sizes(inputs) if training.symbolic else {}
        self.before: Sequence[tuple[int, Any]] = ()
        self.inputs: SavedValues | None = SavedValues(inputs)
        self.made: SavedValues | None = SavedValues(
            tuple([_core.detach(Tensor, outputs[i]) for i in training.saved.outputs]))
        self.watched: Watched | None = None
        self.closed = self.passed = 0
        self.ending = self.unfolded = False

    def watch(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Note the versions of what eager execution would have saved, unless hooks replace it."""
        if self.training.watch.kept and not packing():
            assert self.inputs is not None
            self.watched = Watched(self.training.watch, self.inputs, inputs, outputs, self.sizes)

    def release(self) -> None:
        """Close the ways that gradients have gone; those of other results stay open."""
        if not self.unfolded:
            self.close(self.passed)

    def close(self, ways: int) -> None:
        """Let go of what was saved, if no others are left."""
        self.closed |= ways
        if self.training.passages.end(self.closed):
            self.inputs = self.made = self.watched = None
            self.before = ()

    def check(self, grads: list[Any], wanted: Sequence[bool], releases: bool) -> None:
        """Raise RuntimeError where eager execution finds a saved tensor released, or written."""
        given = [grad is not None for grad in grads]
        if self.unfolded:
            wanted = [True] * len(self.training.differentiated)
        self.passed = self.training.passages.gone(given, wanted)
        if self.passed & self.closed:
            raise RuntimeError(FREED)
        if self.watched is not None:
            self.watched.check(given, wanted)
        self.ending = releases and self.training.passages.end(self.closed | self.passed)

    def compute(self, grads: list[Any]) -> Sequence[Any]:
        """One gradient, or None, for each input that requires grad."""
        if self.unfolded:
            return grads
        if self.inputs is None or self.made is None:
            raise RuntimeError(FREED)
        tangents = [
            self.tangent(grad, number) for number, grad in enumerate(grads)
        ]
        came = [layout if grad is None else grad.stride()
                for grad, layout in zip(grads, self.layouts, strict=True)]
        given = [grad is not None for grad in grads]
        shapes = [tangent.shape for tangent in tangents]
        if not _core.grad_enabled():
            places = self.training.saved
            made = self.made.unpack(self, places.made)
            saved = places.ordered(self.inputs.unpack(self, places.inputs), made, self.sizes)
            results = self.run(saved, made, tangents)
            if came != self.layouts:
                results = self.training.gradients.applied(results, came, shapes, self.sizes)
            elif self.training.gradients.expands:
                results = self.training.gradients.expanded(results)
            return self.led_to(results, given)
        results = self.led_to(self.differentiable(self.inputs, tangents), given)
        return results if self.watched is None else self.watched.follow(results, given)

    def run(self, saved: list[Any], made: list[Any], tangents: list[Any]) -> Sequence[Any]:
        """Call the backward. Where nothing comes after it, it may let go of what was saved."""
        values = [*saved, *tangents]
        consume = getattr(self.training.backward, "consume", None)
        if consume is None or not self.ending:
            return self.training.backward(*values)
        self.release()
        for names in (saved, made, tangents):
            names.clear()
        return consume(values)

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
        joint = self.by_results(self.training.lowered)
        values = self.values_before(inputs)
        for number, (index, edge) in enumerate(
                zip(self.training.differentiated, self.edges, strict=True)):
            ways = self.training.passages.again(self.passed, number)
            if ways and edge is not None:
                values[index] = Rereading(self, ways, edge).attach(alias_of(values[index]))
        with replaying(self.rng):
            results = without_autocast(joint, *values, *tangents)
        return list(results[len(results) - len(self.edges):])

    def place(self, number: int) -> tuple[Any, int]:
        """Where all that arrives at an output comes together."""
        if self.training.lowered.interior >> number & 1:
            self.unfold()
        edge = self.edges[number] if self.unfolded else None
        return (self, number) if edge is None else edge

    def hands_hooks_on(self) -> bool:
        """Whether hooks on its outputs run elsewhere: where all that arrives comes together."""
        assert self.output_hooks is not None
        interior = self.training.lowered.interior
        if any(hooks and interior >> _output_of(key) & 1
               for key, hooks in self.output_hooks.items()):
            self.unfold()
            if self.inputs is None and not self.unfolded:
                return True     # the pass will be refused here, before hooks
        if not self.unfolded:
            return False
        for edge in self.edges:
            if edge is not None:
                edge[0].output_hooks = {}
        for key, hooks in self.output_hooks.items():
            edge = self.edges[_output_of(key)]
            if edge is not None:
                place = edge[1] if key >= 0 else RETAINING - edge[1]
                edge[0].output_hooks.setdefault(place, {}).update(hooks)
        return True

    def unfold(self) -> None:
        """Lead to the tape of the forward's operations, unless all was released."""
        if self.unfolded or self.inputs is None:
            return
        lowered, values = self.training.lowered, self.values_before(self.inputs)
        with replaying(self.rng):
            results = _core.with_grad_mode(True, _results_of, lowered, values)
        edges = []
        for index in lowered.joint_tangents:
            edge = gradient_edge(results[index])
            if edge is not None and not _is_newer(edge[0], self):
                edge = gradient_edge(leading_to(results[index], edge))
            edges.append(edge)
        if not self._renumber(edges):
            return
        self.edges, self.unfolded = edges, True
        self.inputs = self.made = self.watched = None
        self.before = ()

    def _renumber(self, edges: Sequence[Any]) -> bool:
        """Put the nodes behind edges, as far as they are newer, right before this node.

        A pass then reaches them after all that was computed from this node. Returns: whether
        there are numbers enough.
        """
        found: set[Node] = set()
        pending = [edge[0] for edge in edges if edge is not None]
        while pending:
            node = pending.pop()
            if _is_newer(node, self) and node not in found:
                found.add(node)
                pending += [edge[0] for edge in node.edges if edge is not None]
        if len(found) > self.training.places:
            return False
        ordered = sorted(found, key=lambda node: -node.sequence)
        for place, node in enumerate(ordered, 1):
            node.sequence = self.sequence - place
        return True

    def by_results(self, lowered: Lowered) -> Callable[..., Any]:
        """The joint graph; gradients arrive at results that eager execution would have saved."""
        arrived = self.training.passages.results(self.passed)
        joint = lowered.joint
        assert joint is not None
        if not arrived or not isinstance(joint, GraphModule):
            return joint
        edges = {index: (self, number) for number, index in enumerate(lowered.joint_tangents)
                 if arrived >> number & 1}
        return ByResults(joint, edges).run

    def values_before(self, inputs: SavedValues) -> list[Any]:
        """The inputs as the call found them, with the histories that they had."""
        training = self.training
        unwritten = iter(inputs.unpack(self, training.unwritten))
        before = dict(self.before)
        for index, edge in zip(training.differentiated, self.edges, strict=True):
            if index in before and edge is not None:
                before[index] = leading_to(before[index], edge)
        count = len(training.unwritten) + len(before)
        return [before[i] if i in before else next(unwritten) for i in range(count)]


def _results_of(lowered: Lowered, values: list[Any]) -> Sequence[Any]:
    """What forward gives, by eager ops on the tape, which no override sees."""
    _core.set_overrides_enabled(False)
    _core.set_modes(_core.modes() & ~FUNCTIONS)
    joint = lowered.joint
    if isinstance(joint, Retaped):
        return without_autocast(joint.results, *values)
    assert isinstance(joint, GraphModule)
    count = len(joint.graph.output_node.args[0]) - len(lowered.grad_inputs)
    none = [None] * (len(joint.graph.placeholders) - len(values))
    return without_autocast(Results(joint, count).run, *values, *none)


def _is_newer(target: Any, node: Node) -> bool:
    """Whether a place on the tape is a node that was made after another."""
    return isinstance(target, Node) and target.sequence > node.sequence


def _output_of(key: int) -> int:
    """The output that hooks under a key of `output_hooks` belong to."""
    return key if key >= 0 else RETAINING - key


class Rereading(Leading):
    """The way from gradients of gradients to an input, by what the call's operations saved."""

    __slots__ = ("node", "ways")

    checked = True

    def __init__(self, node: CompiledBackward, ways: int, edge: tuple[Any, int]) -> None:
        super().__init__("AliasBackward0", [edge])
        self.node, self.ways = node, ways

    def check(self, grads: list[Any], wanted: Sequence[bool], releases: bool) -> None:
        """Raise RuntimeError where eager execution finds a saved tensor released."""
        if self.ways & self.node.closed:
            raise RuntimeError(FREED)

    def release(self) -> None:
        """Close the ways where the pass ends: it may go them as first gradients, too."""
        endings()[self] = partial(self.node.close, self.ways)


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
