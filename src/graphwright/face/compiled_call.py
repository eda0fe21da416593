"""Recorded calls of a compiled forward: one node on the tape, with a compiled backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from graphwright.face.backward_half import BackwardHalf, Compile
from graphwright.face.gradient_layouts import with_strides
from graphwright.face.retape import Foldable, ResultView, replaying
from graphwright.face.saved_versions import Passages, Watch, Watched
from graphwright.ir.joint.absent_gradients import given_op_by_op
from graphwright.ir.lowered_graph import Lowered
from graphwright.runtime import _core
from graphwright.runtime.dispatch import without_autocast
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tape.engine import endings
from graphwright.runtime.tape.node import Leading, leading_to
from graphwright.runtime.tape.saved import FREED, SavedValues, alias_of, packing
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.generator import rng_states
from graphwright.runtime.tensor.tensor import Tensor

T = TypeVar("T")
MOST_HALVES = 8
"""How many sets of results get a compiled backward of their own."""


class Training:
    """A compiled forward that hangs one node, with the compiled backward, on the tape.

    writes: (input, output with its new value, whether that has a history): a leaf may be written
    what has none in any grad mode.
    writes_last: a call that raises has changed no input.
    default: the default dtype, which the graph is guarded by.
    result_views, input_views: (end, position) of the results with nodes of their own, and of the
    written inputs, where calls may be decomposed.
    """

    writes_last = True

    def __init__(
        self, lowered: Lowered, forward: Callable[..., Any], compile_backward: Compile,
        lower_given: Callable[[Lowered, Sequence[int]], Lowered],
    ) -> None:
        """lower_given: see `ir.joint.absent_gradients`."""
        self.lowered = lowered
        self.forward = forward
        self.default = dtypes.get_default_dtype()
        self.saved_outputs = tuple([s.index for s in lowered.saved if s.kind == "output"])
        self._compile = compile_backward
        self._lower_given = lower_given
        self.whole = BackwardHalf("backward", lowered, range(len(lowered.tangents)),
                                  self.saved_outputs, compile_backward)
        self._halves: dict[tuple[int, ...], BackwardHalf] = {}
        self.watch = Watch(lowered)
        self.passages = Passages(lowered)
        self.differentiated = tuple(lowered.grad_inputs)
        self.written = [(index, index in lowered.read) for index in lowered.written()]
        self.unwritten = tuple(sorted(
            {*range(lowered.ends.n_inputs)}.difference(lowered.written())))
        self.results = None if lowered.is_plain() else lowered.results()
        self.writes = [(number, index, index in lowered.tangents)
                       for number, index in lowered.mutated if index >= 0]
        views = list(enumerate(() if lowered.apart is None else lowered.apart.views,
                               len(lowered.tangents)))
        self.result_views = [(n, end.index) for n, end in views if end.kind == "result"]
        self.input_views = [(n, end.index) for n, end in views if end.kind == "input"]
        self.second_names = lowered.ends.second_names
        self.symbolic = bool(lowered.ends.symbols)
        self.tangents: Tangents | None = None

    def half(self, numbers: tuple[int, ...]) -> BackwardHalf:
        """The backward for gradients of some results, positions in `Lowered.tangents`.

        Lowered when they first come; beyond `MOST_HALVES` sets of results it runs op by op.
        """
        found = self._halves.get(numbers)
        if found is not None:
            return found
        if len(self._halves) >= MOST_HALVES:
            return self._half(numbers, given_op_by_op(self.lowered, numbers))
        with replaying(rng_states()), dtypes.default_dtype(self.default):
            lowered = self._lower_given(self.lowered, numbers)
        return self._halves.setdefault(numbers, self._half(numbers, lowered))

    def _half(self, numbers: tuple[int, ...], lowered: Lowered) -> BackwardHalf:
        name = f"backward by {', '.join([str(place) for place in lowered.tangents])}"
        return BackwardHalf(name, lowered, numbers, self.saved_outputs, self._compile)

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        lowered = self.lowered
        rng = rng_states() if lowered.rng_ops else None
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
        self.sizes = training.lowered.ends.bind_sizes(inputs) if training.symbolic else {}
        self.before: Sequence[tuple[int, Any]] = ()
        self.inputs: SavedValues | None = SavedValues(inputs)
        self.made: SavedValues | None = SavedValues(
            tuple([_core.detach(Tensor, outputs[i]) for i in training.saved_outputs]))
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
        """Release what was saved, if no others are left."""
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
        given = [grad is not None for grad in grads]
        half, layouts = self.training.whole, self.layouts
        if not all(given):
            half = self.training.half(tuple([n for n, came in enumerate(given) if came]))
            grads, layouts = [grads[n] for n in half.numbers], [layouts[n] for n in half.numbers]
        results: Sequence[Any]
        if _core.grad_enabled():
            results = self.led_to(self.op_by_op(half, self.inputs, grads), given)
            return results if self.watched is None else self.watched.follow(results, given)
        if not half.is_compiled or any([grad.is_fake for grad in grads]):
            return self.led_to(self.op_by_op(half, self.inputs, grads), given)
        tangents = [grad if grad.stride() == layout else with_strides(grad, layout)
                    for grad, layout in zip(grads, layouts, strict=True)]
        places = half.saved
        made = self.made.unpack(self, places.made)
        saved = places.ordered(self.inputs.unpack(self, places.inputs), made, self.sizes)
        results = self.run(half, saved, made, tangents)
        came = [grad.stride() for grad in grads]
        if came != layouts:
            results = half.gradients.applied(
                results, came, [grad.shape for grad in grads], self.sizes)
        elif half.gradients.expands:
            results = half.gradients.expanded(results)
        return self.led_to(results, given)

    def run(
        self, half: BackwardHalf, saved: list[Any], made: list[Any], tangents: list[Any]
    ) -> Sequence[Any]:
        """Call the backward. If no other backward follows, it may free the saved tensors."""
        values = [*saved, *tangents]
        consume = getattr(half.backward, "consume", None)
        if consume is None or not self.ending:
            return half.backward(*values)
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

    def op_by_op(
        self, half: BackwardHalf, inputs: SavedValues, tangents: list[Any]
    ) -> Sequence[Any]:
        """The same gradients by eager ops over the joint graph, recorded in grad mode.

        The forward part runs again with the random numbers of the first time.
        """
        joint = half.op_by_op(self.result_edges() if _core.grad_enabled() else {})
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

    def result_edges(self) -> dict[int, tuple[Any, int]]:
        """By their positions in the joint graph, the edges of results at which gradients of
        gradients arrive: eager execution would have saved them."""
        arrived = self.training.passages.results(self.passed)
        return {index: (self, number)
                for number, index in enumerate(self.training.lowered.joint_tangents)
                if arrived >> number & 1}

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
