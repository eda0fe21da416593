"""Recorded calls of a compiled forward: one node on the tape, with a compiled backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from graphwright.gradient_layouts import GradientLayouts
from graphwright.ir.graph_module import GraphModule
from graphwright.ir.joint import ByResults
from graphwright.ir.lowered import Lowered, Saved
from graphwright.runtime import _core, dtypes
from graphwright.runtime.autograd.engine import endings
from graphwright.runtime.autograd.node import Leading, leading_to
from graphwright.runtime.autograd.saved import FREED, SavedValues, alias_of, packing
from graphwright.runtime.dispatch import without_autocast
from graphwright.runtime.locks import Lock
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.tensor import Tensor
from graphwright.unfolding import Foldable, ResultView, replaying
from graphwright.watched import Passages, Watch, Watched

T = TypeVar("T")


class Training:
    """A compiled forward that hangs one node, with the compiled backward, on the tape.

    writes: (input, output with its new value, whether that has a history): a leaf may be written
    what has none in any grad mode.
    writes_last: a call that raises has changed no input.
    default: the default dtype, which the graph is guarded by.
    result_views, input_views: (end, position) of the results with nodes of their own, and of the
    written inputs, where calls may be taken apart.
    """

    writes_last = True

    def __init__(
        self, lowered: Lowered, forward: Callable[..., Any],
        compile_backward: Callable[[], Callable[..., Any]],
    ) -> None:
        self.lowered = lowered
        self.forward = forward
        self.default = dtypes.get_default_dtype()
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
        views = list(enumerate(() if lowered.apart is None else lowered.apart.views,
                               len(lowered.tangents)))
        self.result_views = [(n, end.index) for n, end in views if end.kind == "result"]
        self.input_views = [(n, end.index) for n, end in views if end.kind == "input"]
        self.second_names: dict[int, int] = lowered.forward.meta.get("second_names", {})
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
        for number, index in self.input_views:
            ResultView(node, number, inputs[index])
        node.watch(inputs, outputs)
        if self.results is None:
            return outputs[:lowered.n_user_outputs]
        results = self.results(*inputs, outputs)
        for number, index in self.result_views:
            ResultView(node, number, results[index])
        return results

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


class CompiledBackward(Foldable):
    """The tape's node of a compiled forward: what it saved, and the backward to call.

    before: the inputs that the call writes, by position, as they were where gradients of
        gradients begin with that. ending: whether the gradients that come now are the last.
    """

    __slots__ = ("before", "closed", "ending", "inputs", "layouts", "made", "passed", "rng",
                 "sizes", "training", "watched")

    checked = True

    def __init__(
        self, training: Training, inputs: tuple[Any, ...], outputs: Sequence[Any], rng: Any
    ) -> None:
        super().__init__(
            "CompiledBackward", _core.gradient_edges(inputs, training.differentiated),
            training.lowered.apart)
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
        self.ending = False

    def hook_order(self, count: int) -> Sequence[int]:
        return self.training.lowered.latest_first

    def watch(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Note the versions of what eager execution would have saved, unless hooks replace it."""
        if self.training.watch.kept and not packing():
            assert self.inputs is not None
            self.watched = Watched(self.training.watch, self.inputs, inputs, outputs, self.sizes)

    def release(self) -> None:
        """Close the ways that gradients have gone; those of other results stay open."""
        if self.ends is None:
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
        if self.ends is not None:
            if self.watched is not None:
                self.watched.check(given, [True] * len(self.training.differentiated))
            return
        self.passed = self.training.passages.gone(given, wanted)
        if self.passed & self.closed:
            raise RuntimeError(FREED)
        if self.watched is not None:
            self.watched.check(given, wanted)
        self.ending = releases and self.training.passages.end(self.closed | self.passed)

    def compute(self, grads: list[Any]) -> Sequence[Any]:
        """One gradient, or None, for each input that requires grad."""
        if self.ends is not None:
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
        with replaying(self.rng), dtypes.default_dtype(self.training.default):
            results = without_autocast(joint, *values, *tangents)
        return list(results[len(results) - len(self.edges):])

    def run_again(self, run: Callable[[list[Any]], T]) -> T | None:
        inputs = self.inputs
        if inputs is None:
            return None
        values = self.values_before(inputs, own=True)
        for second, first in self.training.second_names.items():
            values[second] = values[first].data
        with replaying(self.rng):
            return run(values)

    def closed_ways(self) -> int:
        return self.closed

    def unfolded(self) -> None:
        """What was saved is not needed any more; whether it was written is still looked at."""
        self.inputs = self.made = None
        self.before = ()

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

    def values_before(self, inputs: SavedValues, own: bool = False) -> list[Any]:
        """The inputs as the call found them, with the histories that they had.

        own: whether what the call writes may be written again.
        """
        training = self.training
        unwritten = iter(inputs.unpack(self, training.unwritten))
        before = dict(self.before)
        if own:
            before = {index: _core.with_grad_mode(False, ops.clone, value)
                      for index, value in before.items()}
        for index, edge in zip(training.differentiated, self.edges, strict=True):
            if index in before and edge is not None:
                before[index] = leading_to(before[index], edge)
        count = len(training.unwritten) + len(before)
        return [before[i] if i in before else next(unwritten) for i in range(count)]


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
